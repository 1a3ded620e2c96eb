// Watersheds, and other results from the lowest pass between two cells: extrema of a given height, grey
// a hierarchy of basins.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct watershed_options {
    /// Number of coordinates that a step to a neighbour may change, 1 to the number of axes; or the number of
    /// neighbours: 2 in 1-D, 4 or 8 in 2-D, 6, 18 or 26 in 3-D.
    int connectivity = 1;
    borders border{};     ///< open or periodic, one per axis
    bool maxima = false;  ///< invert the image: basins lie round maxima, passes are highest
    bool lines = false;   ///< cells between labels get 0
    /// Without markers: minimum height. The height of a minimum is the rise to its lowest pass to a lower one (of equal
    /// ones the first in raster order counts as lower). 0: every minimum.
    double h = 0;
    /// Values are squared lengths and h is a length: the height is the difference of the roots.
    bool roots = false;
};

template <class Place>
struct watershed_fields {
    any_output<Place> label{};   ///< type of the markers; without markers int32, the minima in raster order from 1
    any_output<Place> passes{};  ///< type of the image: level of water from the markers when it reaches the cell
    /// bool or uint8, without markers: all cells of the minima of height `h`. Only a strictly lower minimum counts as
    /// lower here, so that all of several equal ones are marked.
    any_output<Place> extrema{};
};

/// Computes the watershed of an image: every cell gets the label of the marker from which water reaches it first.
///
/// With v the image: L(p) is the least, over all paths to p from cells with a marker, of the largest v on the path.
/// s(p) is the number of steps from where such a path reached L(p): 0 at a marker and in a cell that has a neighbour
/// with a smaller L. A cell without a marker takes the label of the neighbour with the smallest (L, s); of several that
/// with the smallest coordinates, the last axis first. So the answer does not depend on an order of work: equal bits on
/// host and device, whatever the number of threads; and equal partitions for all increasing maps of v.
///
/// Without markers the first cell, in raster order, of each minimum of height `h` is a marker. `lines`: a cell without
/// a marker gets 0 if a neighbour with another label has a smaller (L, s), or an equal one and smaller coordinates.
///
/// Heights of integral images are exact; so are heights in roots, with h rounded to a multiple of 2^-16 and values
/// below 2^60. Heights of floating-point values are rounded once, as double.
///
///   on       host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image    1 to 8 axes (device: 1 to 4, with a periodic one 1 to 3), fewer than 2^31 cells with a frame of one cell;
///            bool, integers, float32 or float64; any strides; not changed. NaN is no cell
///   out      at least one field. Without a way to a marker: label 0, passes the largest value (maxima: the least)
///   markers  shape of the image, any integer type: cells that are not 0 are markers, and their values the labels
///   mask     shape of the image, bool or uint8: cells that count; all if it is left out
///
/// Time O(cells), and a sort of the passes between basins. Workspace, bytes a cell: host 10 (14 for types of 8 bytes; 4
/// more with lines), up to 36 (48) for each basin and each pair of basins that touch, 12 a cell of a plateau, 32 a
/// marker; minima of height 0 alone take 5 (9). Device 37, with room for a pair in 4 cells, and 25 more for types of 8
/// bytes, which it sorts (50 with seeds, in fewer than 2^30 cells). If a device finds more pairs, its rounds visit all
/// cells instead, which takes more time. Images of four axes are copied first.
///
/// Throws nearfield::error before any work is started.
///
/// Meyer, "Minimum spanning forests for morphological segmentation", ISMM 1994; Cousty, Bertrand, Najman, Couprie,
/// "Watershed cuts: minimum spanning forests and the drop of water principle", IEEE TPAMI 31(8), 2009.
void watershed(const host& on, const any_input<host>& image, const watershed_fields<host>& out,
               const watershed_options& options = {}, const any_input<host>& markers = {},
               const any_input<host>& mask = {});
void watershed(const device& on, const any_input<device>& image, const watershed_fields<device>& out,
               const watershed_options& options = {}, const any_input<device>& markers = {},
               const any_input<device>& mask = {});

/// A minimum or maximum of an image.
struct peak {
    std::int64_t cell = 0;  ///< linear index of its first cell in raster order
    double value = 0;       ///< value of the image there
    friend bool operator==(const peak&, const peak&) = default;
};

/// Finds the minima (maxima) of height options.h in raster order: the markers of a watershed without markers.
///
///   labels  shape of the image, integers: cells with different labels are not neighbours, so that each label has its
///           own minima; 0 excludes a cell. Left out: one label
///
/// Otherwise as watershed(). Returns a host value: a device call waits. Throws if labels of 8 bytes are negative or
/// 2^32 or more.
[[nodiscard]] std::vector<peak> peaks(const host& on, const any_input<host>& image,
                                      const watershed_options& options = {}, const any_input<host>& mask = {},
                                      const any_input<host>& labels = {});
[[nodiscard]] std::vector<peak> peaks(const device& on, const any_input<device>& image,
                                      const watershed_options& options = {}, const any_input<device>& mask = {},
                                      const any_input<device>& labels = {});

/// Peaks of an image of that shape in the order of their values, maxima the highest first, minima the lowest; of equal
/// ones the first cell. Of two nearer to each other than `apart`, in cells, only the first stays. With a device it
/// sorts and thins long lists; the call waits.
[[nodiscard]] std::vector<peak> sorted_peaks(std::vector<peak> found, const std::vector<std::int64_t>& shape,
                                             bool maxima, double apart = 0);
[[nodiscard]] std::vector<peak> sorted_peaks(const device& on, std::vector<peak> found,
                                             const std::vector<std::int64_t>& shape, bool maxima, double apart = 0);

/// An extremum of an image, by its first cell in raster order.
struct extremum {
    std::int64_t cell = 0;   ///< linear index
    double value = 0;        ///< value of the image there
    double saddle = 0;       ///< value of the pass to a lower one (maxima: higher); infinite without one
    std::int64_t into = -1;  ///< number of that lower one in the list; -1: none
    friend bool operator==(const extremum&, const extremum&) = default;
};

/// Attribute of regions, compared when two regions meet at a pass as water rises from the minima: the region with most
/// continues, the others end. A region's lake is the set of cells below the pass that are connected with its minimum.
enum class attribute : std::uint8_t {
    height,  ///< from the lowest cell of the lake to the pass: the dynamics of the minimum
    area,    ///< cells of the lake
    volume,  ///< sum of (pass - value) over the cells of the lake
};

/// A minimum (maximum) and the end of its region.
struct extinction {
    std::int64_t cell = 0;   ///< linear index of its first cell
    double amount = 0;       ///< the attribute when it ends, rounded once; infinite if it does not end
    std::int64_t into = -1;  ///< number in the list of the region that continues; -1: none
    friend bool operator==(const extinction&, const extinction&) = default;
};

struct cut_options {
    attribute by = attribute::height;
    double least = 0;          ///< regions that end with less than that merge into those that continue
    std::int64_t regions = 0;  ///< if positive, instead: number of regions that stay, those of the largest amounts
    bool roots = false;        ///< for `height`: values are squared lengths, as in watershed_options
};

/// The basins of an image and the lowest passes between them: computed once, queried many times. A query costs its
/// output and some steps for each basin; an area or a volume costs one more pass over the cells.
///
/// Basins made on a device keep their cells there, in 45 bytes each (70 for types of 8 bytes), and their tree there and
/// on the host. Queries with an output go to the place of the basins; all of them wait, also on a device.
class basins {
public:
    /// Arguments as those of watershed(), on a device of 1 to 3 axes; options for markers are ignored. The image is not
    /// kept.
    basins(const host& on, const any_input<host>& image, const watershed_options& options = {},
           const any_input<host>& mask = {});
    basins(const device& on, const any_input<device>& image, const watershed_options& options = {},
           const any_input<device>& mask = {});
    basins(basins&&) noexcept;
    basins& operator=(basins&&) noexcept;
    ~basins();

    /// Returns the minima (maxima) of a height, in raster order; `into` uses the numbers of this list.
    [[nodiscard]] std::vector<extremum> extrema(double h = 0, bool roots = false) const;
    /// Returns their cells, the lowest minimum (highest maximum) first; equal ones in raster order.
    [[nodiscard]] std::vector<peak> peaks(double h = 0, bool roots = false) const;

    /// Marks all cells of the minima (maxima) of a height: bool or uint8. Unlike in extrema() only a strictly lower
    /// (higher) one counts as lower, so that all of several equal ones are marked.
    void mark(const host& on, double h, bool roots, const any_output<host>& out) const;
    void mark(const device& on, double h, bool roots, const any_output<device>& out) const;

    /// Computes the watershed from these basins, as the function does. Uses the options `lines`, `h` and `roots`.
    void watershed(const host& on, const watershed_fields<host>& out, const watershed_options& options = {},
                   const any_input<host>& markers = {}) const;
    void watershed(const device& on, const watershed_fields<device>& out, const watershed_options& options = {},
                   const any_input<device>& markers = {}) const;

    /// Returns all minima (maxima) in raster order, and the end of their regions. Of equal amounts that of the lower
    /// minimum continues, of equal minima the first. If more than two meet at one pass, all but one end there.
    ///
    /// Areas and volumes are exact integers. For volumes floating-point values are rounded to multiples of 2^(e - 62),
    /// where 2^e is above all finite ones, and infinite ones count as 2^e.
    ///
    /// Vachier, Meyer, "Extinction value: a new measurement of persistence", IEEE Workshop on Nonlinear Signal and
    /// Image Processing, 1995.
    [[nodiscard]] std::vector<extinction> extinctions(attribute by, bool roots = false) const;

    /// Cuts the hierarchy of regions: the watershed from all minima, whose regions merge as the options say. Regions
    /// are numbered in raster order of their minima. A cut with a larger `least`, or fewer `regions`, only merges
    /// regions. Every connected part keeps at least one.
    ///
    ///   out  int32, shape of the image
    void cut(const host& on, const any_output<host>& out, const cut_options& options = {}) const;
    void cut(const device& on, const any_output<device>& out, const cut_options& options = {}) const;

    /// Returns, pair by pair, the lowest value at which cells of two lists of linear indices are connected, as double;
    /// infinite (maxima: minus infinite) if they are not.
    [[nodiscard]] std::vector<double> passes(const std::vector<std::int64_t>& a,
                                             const std::vector<std::int64_t>& b) const;

    struct room;  ///< belongs to the implementation

private:
    std::unique_ptr<room> room_;
};

/// Reconstructs an image by erosion: the least, over all paths to p, of the largest of the seed where the path begins
/// and of the image along it. options.maxima reconstructs by dilation: the greatest of the least. A seed below the
/// image (maxima: above) counts as the image.
///
///   seed  shape and type of the image
///   out   shape and type of the image; may overlap neither
///
/// Otherwise as watershed(); workspace 8 or 12 bytes a cell on the host, and for basins.
void reconstruct_gray(const host& on, const any_input<host>& seed, const any_input<host>& image,
                      const any_output<host>& out, const watershed_options& options = {});
void reconstruct_gray(const device& on, const any_input<device>& seed, const any_input<device>& image,
                      const any_output<device>& out, const watershed_options& options = {});

}  // namespace nearfield
