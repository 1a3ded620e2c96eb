// Every published method of the field behind the one interface: nearest sites and distances, exact or nearly so, and
// what they took. For work use distance_transform; this is for study, comparison and teaching.
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
/// in bands and merge these, colour in blocks. Exact, the same bits as exact_method. Unit spacing or integral.
///
/// Cao, Tang, Mohamed, Tan, "Parallel banding algorithm to compute exact distance transform with the GPU", I3D 2010.
struct banding {
    int m1 = 0;  ///< bands of phase 1; 0: the measured best for the size
    int m2 = 0;  ///< bands of phase 2
    int m3 = 0;  ///< rows coloured together in phase 3
};

/// Jump flooding: rounds in which every cell asks the cells k away, for k halved or doubled from round to round. Nearly
/// exact.
///
/// Rong, Tan, "Jump flooding in GPU with applications to Voronoi diagram and distance transform", I3D 2006; the same,
/// "Variants of jump flooding algorithm for computing discrete Voronoi diagrams", ISVD 2007.
struct jump_flood {
    enum class order : std::uint8_t { halving, doubling };
    order steps = order::halving;
    int rounds_before = 0;    ///< of step 1: 1 is 1+JFA
    int rounds_after = 0;     ///< of step 1, or 2 then 1 and so on: JFA+k
    int sites_per_cell = 1;   ///< 2: JFA2, which keeps the two nearest
    int runs = 1;             ///< 2: JFA squared, the whole series run again from its own result
    bool randomised = false;  ///< cells without a site ask on behalf of one drawn from a table of the sites
    std::uint64_t seed = 0;   ///< of that draw; 0 without one
};

/// Propagation by sweeps along every axis, forth and back, line after line. Nearly exact.
struct plane_sweep {
    /// One sweep starts from what those before it found; or all start from the sites and are merged at the end.
    bool independent = false;
    /// How a device goes from line to line, all with the same answer: one launch whose blocks wait for each other after
    /// every line; a launch for each band of lines, whose blocks keep overlapping stretches of a line in shared memory;
    /// or the same in the registers of a warp, whose lanes tell each other what they hold (images only). The host knows
    /// automatic only.
    enum class form : std::uint8_t { automatic, cooperative, banded, shuffled };
    form launch = form::automatic;  ///< the fastest as measured
};

/// Brushfire: cells are reached in order of distance from a priority queue (host), or all at once, neighbour from
/// neighbour, round after round until nothing changes. Nearly exact.
struct brushfire {
    bool parallel = false;  ///< the naive parallel form: the only one on a device
};

/// Shortest paths of weighted steps: (3, 4, 5) and the like. The distance field is the price in units of the first
/// weight; the site is the one that path leads to.
struct chamfer_method {
    /// By number of coordinates changed, see step_weights; in 2-D a third one is that of the knight's move, as in (5,
    /// 7, 11). They end at the first 0. None: 3, 4, 5, as many as there are axes.
    std::array<std::int32_t, 3> weights{};
    bool iterated = false;  ///< gather until nothing changes instead of raster passes: the only one on a device
};

using method = std::variant<exact_method, banding, jump_flood, plane_sweep, brushfire, chamfer_method>;

/// "exact", "banding", "jump-flood", "plane-sweep", "brushfire", "chamfer".
[[nodiscard]] const char* name_of(const method& by);

/// A method by name and switches: "brushfire:parallel", "jump-flood:order=doubling,before=1,after=2,sites=2,runs=2",
/// "jump-flood:randomised,seed=7", "plane-sweep:independent,launch=banded", "banding:m1=4,m2=2,m3=8",
/// "chamfer:weights=5/7/11,iterated". Throws nearfield::error for what is none; ranges are checked by the call.
[[nodiscard]] method method_from(const std::string& text);
/// The same back; switches only where they are not the default.
[[nodiscard]] std::string text_of(const method& by);

/// One stage of a run as the literature counts it, or several that a device goes through as one: "steps 1, 512 to 1".
struct method_stage {
    std::string name;         ///< "initialise", "step 512", "phase 1", "down", ...
    double seconds = 0;       ///< device: between events on the stream
    std::int64_t rounds = 0;  ///< passes over the grid
    std::int64_t bytes = 0;   ///< read and written at least, counted once for each cell and pass
};

struct method_report {
    std::int64_t rounds = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
    std::vector<method_stage> stages{};
};

/// distance_transform by a method of choice; what it says of images and fields holds but for this:
///
///   image    1 to 3 axes, fewer than 2^31 - 1 cells
///   out      distance (float32 or float64), squared (uint32, uint64 or float64, where it holds every answer; not for
///            chamfer), index, coordinates, label
///   options  spacing (banding: integral; chamfer: none), sites (zero or nonzero), max_distance; nothing else
///
/// exact_method takes all that distance_transform does. Methods that are not exact give every cell a site, where there
/// is one at all and the method reaches it, that may not be the nearest; its distance is that site's true one (chamfer:
/// the price of the path, divided by the first weight). Ties as in distance_transform wherever two candidates meet.
/// Deterministic; equal on host and device for equal switches. Unknown combinations are errors. Waits on a device;
/// cannot be captured in a graph.
///
/// Workspace: two packed sites of 4 bytes a cell, 8 where the coordinates of the grid take more than 31 bits in all;
/// chamfer 20 bytes a cell more; jump flooding up to 4 bytes more, with two sites a cell twice as many besides,
/// randomised a third packed site; banding see there.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; no memory; no GPU.
method_report nearest_sites(const method& by, const host& on, const any_input<host>& image, const fields<host>& out,
                            const distance_options& options = {});
method_report nearest_sites(const method& by, const device& on, const any_input<device>& image,
                            const fields<device>& out, const distance_options& options = {});

/// How far a field of nearest sites is from the exact one.
struct method_errors {
    std::int64_t cells = 0;
    std::int64_t wrong_sites = 0;  ///< farther than the nearest site; another one equally near is not wrong
    std::int64_t other_ties = 0;   ///< equally near, but not the one that the tie rule names
    std::int64_t missing = 0;      ///< no site although there is one
    double mean_error = 0;  ///< of the distance, over the cells with a wrong site that have one, in units of `spacing`
    double largest_error = 0;
    double largest_relative_error = 0;
};

/// Compares int32 or int64 linear indices with the exact answer for this image, on the host. `error`, when wanted
/// (float32 of the image's shape), gets each cell's distance less the exact one; +inf where a site is missing.
[[nodiscard]] method_errors compare_sites(const host& on, const any_input<host>& image, const any_input<host>& index,
                                          const any_output<host>& error = {}, const distance_options& options = {});

}  // namespace nearfield
