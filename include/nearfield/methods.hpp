// One interface to every published method of the field: nearest sites and distances, exact or approximate, and their
// cost. Use distance_transform for work; this interface is for study, comparison and teaching.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// The library's own engine. Exact.
struct exact_method {};

/// Parallel banding: flood in bands and merge them along the first axis treated, prune each line to the proximate sites
/// in bands and merge these, colour in blocks. Exact, the same bits as exact_method. Unit or integral spacing.
///
/// Cao, Tang, Mohamed, Tan, "Parallel banding algorithm to compute exact distance transform with the GPU", I3D 2010.
struct banding {
    int m1 = 0;  ///< bands of phase 1; 0: the measured best for the size
    int m2 = 0;  ///< bands of phase 2
    int m3 = 0;  ///< rows coloured together in phase 3
};

/// Jump flooding: in each round every cell asks the cells k away; k is halved or doubled from round to round. Nearly
/// exact.
///
/// Rong, Tan, "Jump flooding in GPU with applications to Voronoi diagram and distance transform", I3D 2006; the same,
/// "Variants of jump flooding algorithm for computing discrete Voronoi diagrams", ISVD 2007.
struct jump_flood {
    enum class order : std::uint8_t { halving, doubling };
    order steps = order::halving;
    int rounds_before = 0;    ///< rounds of step 1 before the series: 1 is 1+JFA
    int rounds_after = 0;     ///< rounds after it, of step 1, or of 2 then 1 and so on: JFA+k
    int sites_per_cell = 1;   ///< 2: JFA2, which keeps the two nearest
    int runs = 1;             ///< 2: JFA squared, the whole series run again from its own result
    bool randomised = false;  ///< a cell without a site asks on behalf of one drawn from a table of the sites
    std::uint64_t seed = 0;   ///< seed of that draw; unused otherwise
};

/// Propagation by sweeps along every axis, in both directions, line after line. Nearly exact.
struct plane_sweep {
    /// False: each sweep starts from the result of those before. True: all start from the sites; results are merged.
    bool independent = false;
    /// Device launches for the lines, all with the same answer. cooperative: one launch whose blocks synchronise after
    /// every line. banded: a launch for each band of lines, whose blocks keep overlapping stretches of a line in shared
    /// memory. shuffled: the same in the registers of a warp, whose lanes exchange values by shuffles (images only).
    /// The host takes automatic only.
    enum class form : std::uint8_t { automatic, cooperative, banded, shuffled };
    form launch = form::automatic;  ///< the fastest as measured
};

/// Brushfire: cells are reached in order of distance from a priority queue (host), or in rounds in which all cells ask
/// their neighbours, until nothing changes. Nearly exact.
struct brushfire {
    bool parallel = false;  ///< the naive parallel form: the only one on a device
};

/// Shortest paths of weighted steps, such as (3, 4, 5). The distance field is the price in units of the first weight;
/// the site is the one where that path ends.
struct chamfer_method {
    /// One weight for each number of changed coordinates, see step_weights; in 2-D the third one is for the knight's
    /// move, as in (5, 7, 11). A 0 ends the list. Empty: 3, 4, 5, as many as there are axes.
    std::array<std::int32_t, 3> weights{};
    bool iterated = false;  ///< repeat gathering until nothing changes, instead of raster passes: required on a device
};

using method = std::variant<exact_method, banding, jump_flood, plane_sweep, brushfire, chamfer_method>;

/// Returns "exact", "banding", "jump-flood", "plane-sweep", "brushfire" or "chamfer".
[[nodiscard]] const char* name_of(const method& by);

/// Parses a method and its switches: "brushfire:parallel", "jump-flood:order=doubling,before=1,after=2,sites=2,runs=2",
/// "jump-flood:randomised,seed=7", "plane-sweep:independent,launch=banded", "banding:m1=4,m2=2,m3=8",
/// "chamfer:weights=5/7/11,iterated". Throws nearfield::error for other texts; nearest_sites checks the ranges.
[[nodiscard]] method method_from(const std::string& text);
/// Formats a method as method_from parses it; omits switches that have their default.
[[nodiscard]] std::string text_of(const method& by);

/// One stage of a run as the literature counts it, or several that a device fuses: "steps 1, 512 to 1".
struct method_stage {
    std::string name;         ///< "initialise", "step 512", "phase 1", "down", ...
    double seconds = 0;       ///< device: between events on the stream
    std::int64_t rounds = 0;  ///< passes over the grid
    std::int64_t bytes = 0;   ///< lower bound of the bytes read and written, counted once for each cell and pass
};

struct method_report {
    std::int64_t rounds = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
    std::vector<method_stage> stages{};
};

/// Runs distance_transform by a chosen method. Its contract for images and fields holds, except:
///
///   image    1 to 3 axes, fewer than 2^31 - 1 cells
///   out      distance (float32 or float64), squared (uint32, uint64 or float64, if it holds every answer; not for
///            chamfer), index, coordinates, label
///   options  spacing (banding: integral; chamfer: none), sites (zero or nonzero), max_distance; nothing else
///
/// exact_method accepts everything that distance_transform does. Other methods give a cell a site, if there is one and
/// the method reaches it, that may not be the nearest; the distance is the true one to that site (chamfer: the price of
/// the path, divided by the first weight). Ties are decided as in distance_transform wherever two candidates meet.
/// Results are deterministic, and equal on host and device for equal switches. Unknown combinations are errors. The
/// call waits on a device; it cannot be captured in a graph.
///
/// Workspace: two packed sites of 4 bytes a cell, 8 if the coordinates of the grid take more than 31 bits in all.
/// Chamfer takes 20 bytes a cell more; jump flooding up to 4 bytes more, with two sites a cell twice as much in
/// addition, randomised a third packed site; for banding see its struct.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; no memory; no GPU.
method_report nearest_sites(const method& by, const host& on, const any_input<host>& image, const fields<host>& out,
                            const distance_options& options = {});
method_report nearest_sites(const method& by, const device& on, const any_input<device>& image,
                            const fields<device>& out, const distance_options& options = {});

/// Differences between a field of nearest sites and the exact one.
struct method_errors {
    std::int64_t cells = 0;
    std::int64_t wrong_sites = 0;  ///< cells whose site is farther than the nearest one
    std::int64_t other_ties = 0;   ///< cells whose site is equally near, but not the one that the tie rule names
    std::int64_t missing = 0;      ///< cells without a site although there is one
    double mean_error = 0;  ///< mean over the cells with a wrong site, in units of `spacing`; missing sites not counted
    double largest_error = 0;
    double largest_relative_error = 0;
};

/// Compares int32 or int64 linear indices with the exact answer for this image, on the host. `error`, when wanted
/// (float32 of the image's shape), gets each cell's distance minus the exact one; +inf if the site is missing.
[[nodiscard]] method_errors compare_sites(const host& on, const any_input<host>& image, const any_input<host>& index,
                                          const any_output<host>& error = {}, const distance_options& options = {});

}  // namespace nearfield
