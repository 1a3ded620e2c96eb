// The checked problem that the public calls hand to a backend, and the functions of the backends.
#pragma once

#include <array>
#include <cmath>

#include "base/lines.hpp"
#include "medial_axis/core.hpp"

namespace nearfield::medial_axes {

/// A batch of images seen as volumes. An image of two axes has them first and last, an image of one axis has it last;
/// the missing axes have length 1.
struct grid {
    int batch = 0;  ///< axes that number images
    std::int64_t images = 1;
    std::int64_t batch_size[max_rank]{};
    std::int64_t size[most_axes]{1, 1, 1};
    border beyond[most_axes]{};

    [[nodiscard]] NF_HD constexpr std::int64_t cells() const { return size[0] * size[1] * size[2]; }
};
/// The axis of three that holds axis `axis` of `axes`. An image's rows lie along the first axis, so that a walk along
/// that axis meets many cells.
constexpr int place_of(int axis, int axes) { return axis == axes - 1 ? 2 : axes == 2 ? 0 : axis; }

/// An array of the grid's shape, at any address and strides.
template <class Void>
struct array {
    Void* data = nullptr;
    dtype type = dtype::uint8;
    std::int64_t batch_step[max_rank]{};
    std::int64_t step[most_axes]{};

    [[nodiscard]] NF_HD std::int64_t first_of(const grid& g, std::int64_t image) const {
        return g.batch == 0 ? 0 : offset_of(image, g.batch_size, batch_step, g.batch);
    }
    [[nodiscard]] NF_HD constexpr std::int64_t offset(const std::int64_t* at) const {
        return at[0] * step[0] + at[1] * step[1] + at[2] * step[2];
    }
};
using source = array<const void>;
using target = array<void>;

template <class Void, class Place>
array<Void> array_of(const any_view<Void, Place>& v, int batch) {
    array<Void> a{v.data, v.type};
    const int axes = v.rank - batch;
    for (int axis = 0; axis < batch; ++axis) a.batch_step[axis] = v.stride[static_cast<std::size_t>(axis)];
    for (int axis = 0; axis < axes; ++axis)
        a.step[place_of(axis, axes)] = v.stride[static_cast<std::size_t>(batch + axis)];
    return a;
}

/// Reads the bits of an integer of any type, zero-extended.
NF_HD inline std::uint64_t bits_at(const source& a, std::int64_t offset) {
    switch (size_of(a.type)) {
        case 1: return static_cast<const std::uint8_t*>(a.data)[offset];
        case 2: return static_cast<const std::uint16_t*>(a.data)[offset];
        case 4: return static_cast<const std::uint32_t*>(a.data)[offset];
        default: return static_cast<const std::uint64_t*>(a.data)[offset];
    }
}
NF_HD inline std::int64_t index_at(const source& a, std::int64_t offset) {
    return a.type == dtype::int32 ? static_cast<const std::int32_t*>(a.data)[offset]
                                  : static_cast<const std::int64_t*>(a.data)[offset];
}

struct problem {
    grid where;
    int rank = 1, axes = 1;
    bool counted = true;        ///< true if rules compute in integers, else in double
    bool labels = false;        ///< true if neighbours with another value are sites
    bool unit = true;           ///< all lengths are 1
    double largest = 0;         ///< upper bound of a squared distance in the grid, in the rule's unit
    double unit2 = 1;           ///< a squared distance is unit2 times that of the rule
    double length[max_rank]{};  ///< cell lengths along each axis of the image, in the rule's unit
    rule<std::int64_t> whole;
    rule<double> real;
    distance_options options;  ///< the caller's options, for distance_transform
    axis_method method = axis_method::integer;

    /// The options with lengths in the rule's unit, whose squared distances are integers.
    [[nodiscard]] distance_options in_units() const {
        distance_options o = options;
        o.spacing = {length, static_cast<std::size_t>(rank)};
        return o;
    }
    /// True if 32 bits hold a squared difference of two vectors to sites, at most 6.25 `largest`.
    [[nodiscard]] bool fits_int32() const { return counted && largest < 0x1p28; }
    /// True if they hold the numbers of masks. Constant pruning takes squared distances in the grid, at most `largest`.
    [[nodiscard]] bool masks_fit_int32() const {
        return whole.prune == pruning::constant ? counted && largest < 0x1p30 : fits_int32();
    }
};

/// Arrays that the pass over nearest sites reads and writes.
struct pass {
    source image;  ///< set if there are labels
    source index;  ///< int32 or int64
    target axis;
    target second;  ///< optional
};

/// True for masks in unit spacing with open borders, for which devices have a special pass in 32 bits. `dense`: index
/// and axis are contiguous.
inline bool serves_masks(const problem& p, const pass& over, bool dense) {
    for (const border each : p.where.beyond)
        if (each != border::open) return false;
    return dense && !p.labels && p.unit && p.counted && over.second.data == nullptr &&
           over.index.type == dtype::int32 && p.where.cells() < std::int64_t{1} << 31 && p.masks_fit_int32();
}

void run(const host& on, const problem& p, const any_input<host>& image, const medial_axis_fields<host>& out);
void run(const device& on, const problem& p, const any_input<device>& image, const medial_axis_fields<device>& out);

/// Rebuilds a shape from its axis. `p.options` has sites::nonzero; `counted` radii are divided by p.unit2 and rounded.
void rebuild(const host& on, const problem& p, const any_input<host>& axis, const any_input<host>& squared,
             const any_output<host>& out);
void rebuild(const device& on, const problem& p, const any_input<device>& axis, const any_input<device>& squared,
             const any_output<device>& out);

/// Narrows a rule to 32 bits; problem::fits_int32() tells whether its numbers fit.
template <bool Unit>
rule<std::int32_t, Unit> narrowed(const rule<std::int64_t>& by) {
    rule<std::int32_t, Unit> made;
    for (int axis = 0; axis < most_axes; ++axis) made.weights[axis] = static_cast<std::int32_t>(by.weights[axis]);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    made.least = static_cast<std::int32_t>(by.least < most ? by.least : most);
    made.slack = static_cast<std::int32_t>(by.slack), made.prune = by.prune, made.obtuse = by.obtuse;
    made.share = by.share;
    return made;
}

/// The steps to a cell's neighbours: 8 in an image, 26 in a volume.
struct ball_steps {
    int count = 0;
    std::int64_t offset[26]{};  ///< difference of the cells' numbers
    std::uint64_t squared[26]{};
    std::int8_t by[26][most_axes]{};
};
inline ball_steps steps_of(const grid& g, const std::int64_t (&weight)[most_axes]) {
    ball_steps made;
    for (int number = 0; number < 27; ++number) {
        const int by[most_axes] = {number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1};
        bool leaves = false, moves = false;
        for (int axis = 0; axis < most_axes; ++axis) {
            moves = moves || by[axis] != 0, leaves = leaves || (by[axis] != 0 && g.size[axis] == 1);
            made.by[made.count][axis] = static_cast<std::int8_t>(by[axis]);
        }
        if (leaves || !moves) continue;
        made.offset[made.count] = (by[0] * g.size[1] + by[1]) * g.size[2] + by[2];
        made.squared[made.count++] = static_cast<std::uint64_t>(weight[0] * by[0] * by[0] + weight[1] * by[1] * by[1] +
                                                                weight[2] * by[2] * by[2]);
    }
    return made;
}

/// Number of the neighbour to which step `k` leads across the ends of the grid; -1 if there is none.
NF_HD inline std::int64_t neighbour_over_ends(const grid& g, const ball_steps& steps, int k, const std::int64_t* at) {
    std::int64_t there[most_axes]{};
    for (int axis = 0; axis < most_axes; ++axis) {
        there[axis] = at[axis] + steps.by[k][axis];
        if (there[axis] >= 0 && there[axis] < g.size[axis]) continue;
        if (g.beyond[axis] != border::periodic) return -1;
        there[axis] = there[axis] < 0 ? g.size[axis] - 1 : 0;
    }
    return (there[0] * g.size[1] + there[1]) * g.size[2] + there[2];
}

/// True if no neighbour's ball contains the ball of a cell. `squared` has the squared distances of the cell's image.
template <class Squared>
NF_HD bool keeps_ball(const grid& g, const ball_steps& steps, const Squared* squared, const std::int64_t* at) {
    constexpr Squared none = std::numeric_limits<Squared>::max();
    const std::int64_t own = (at[0] * g.size[1] + at[1]) * g.size[2] + at[2];
    const Squared r2 = squared[own];
    if (r2 == 0 || r2 == none) return false;
    bool inner = true;
    for (int axis = 0; axis < most_axes; ++axis)
        inner = inner && (g.size[axis] == 1 || (at[axis] > 0 && at[axis] + 1 < g.size[axis]));
    for (int k = 0; k < steps.count; ++k) {
        const std::int64_t there = inner ? own + steps.offset[k] : neighbour_over_ends(g, steps, k, at);
        if (there >= 0 && squared[there] > r2 && contains(squared[there], r2, steps.squared[k])) return false;
    }
    return true;
}

/// True if cell number `number` of all images has a site and a squared distance above 0.
NF_HD inline bool has_radius(const void* squared, dtype type, std::int64_t number) {
    if (type == dtype::uint32) {
        const std::uint32_t r2 = static_cast<const std::uint32_t*>(squared)[number];
        return r2 != 0 && r2 != std::numeric_limits<std::uint32_t>::max();
    }
    const std::uint64_t r2 = static_cast<const std::uint64_t*>(squared)[number];
    return r2 != 0 && r2 != std::numeric_limits<std::uint64_t>::max();
}

/// Returns whether the cells of an image lie in the order of their numbers.
NF_HD inline bool is_in_order(const grid& g, const target& a) {
    return a.step[2] == 1 && (g.size[1] == 1 || a.step[1] == g.size[2]) &&
           (g.size[0] == 1 || a.step[0] == g.size[1] * g.size[2]);
}
/// Offset of cell number `number` of an image in an array.
NF_HD inline std::int64_t offset_of_number(const grid& g, const target& a, std::int64_t number) {
    if (is_in_order(g, a)) return number;
    const std::int64_t line = number / g.size[2], plane = line / g.size[1];
    const std::int64_t at[most_axes] = {plane, line - plane * g.size[1], number - line * g.size[2]};
    return a.offset(at);
}

/// Reads a number of any type but float16 as a double.
NF_HD inline double number_at(const source& a, std::int64_t offset) {
    switch (a.type) {
        case dtype::int8: return static_cast<const std::int8_t*>(a.data)[offset];
        case dtype::int16: return static_cast<const std::int16_t*>(a.data)[offset];
        case dtype::uint16: return static_cast<const std::uint16_t*>(a.data)[offset];
        case dtype::int32: return static_cast<const std::int32_t*>(a.data)[offset];
        case dtype::uint32: return static_cast<const std::uint32_t*>(a.data)[offset];
        case dtype::int64: return static_cast<double>(static_cast<const std::int64_t*>(a.data)[offset]);
        case dtype::uint64: return static_cast<double>(static_cast<const std::uint64_t*>(a.data)[offset]);
        case dtype::float32: return static_cast<const float*>(a.data)[offset];
        case dtype::float64: return static_cast<const double*>(a.data)[offset];
        default: return static_cast<const std::uint8_t*>(a.data)[offset];
    }
}

NF_HD inline void clear_at(const target& a, std::int64_t offset) {
    switch (size_of(a.type)) {
        case 1: static_cast<std::uint8_t*>(a.data)[offset] = 0; break;
        case 2: static_cast<std::uint16_t*>(a.data)[offset] = 0; break;
        case 4: static_cast<std::uint32_t*>(a.data)[offset] = 0; break;
        default: static_cast<std::uint64_t*>(a.data)[offset] = 0; break;
    }
}

/// A squared radius in the rule's integer unit; 0 if the value is no valid radius.
NF_HD inline std::int64_t counted_radius(double squared, double unit2) {
    const double n = squared / unit2;
    return n > 0 && n < 0x1p53 ? static_cast<std::int64_t>(n + 0.5) : 0;
}

}  // namespace nearfield::medial_axes
