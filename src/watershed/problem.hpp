// The checked problem that the public calls hand to a backend, and the backends' entry points.
#pragma once

#include <array>
#include <vector>

#include "watershed/core.hpp"

namespace nearfield::watersheds {

struct problem {
    frame where;
    frame unfolded;           ///< if it has axes: of the image whose padded array `where` is a line of
    std::vector<step> steps;  ///< sorted in the order of ties
    bool maxima = false, lines = false;
    height least;                              ///< height that minima need, used without markers
    source image, markers, mask, seed, parts;  ///< parts: labels; cells of different labels are no neighbours
    target label, passes, extrema;
};

[[noreturn]] void fail_wide_label();

void run(const host& on, const problem& p);
void run(const device& on, const problem& p);

std::vector<peak> find_peaks(const host& on, const problem& p);
std::vector<peak> find_peaks(const device& on, const problem& p);

/// Computes passes from seeds, each of which has a value of its own.
void reconstruct(const host& on, const problem& p);
void reconstruct(const device& on, const problem& p);

/// Builds the padded array of an image, without axes of length 1, and the image's strides in it.
template <class Void, class Place>
array<Void> array_of(const any_view<Void, Place>& v) {
    array<Void> a{v.data, v.type, {}};
    int axes = 0;
    for (int axis = 0; axis < v.rank; ++axis)
        if (const auto k = static_cast<std::size_t>(axis); v.shape[k] != 1) a.stride[axes++] = v.stride[k];
    return a;
}
inline constexpr std::int64_t frame_step = 8;  ///< places in a sector of 32 bytes

/// Returns the places from one row to the next. Long rows begin at sectors, so that those of a tile fill its loads and
/// stores: with one place between rows a warp's 32 cells lie in five sectors instead of four.
inline std::int64_t row_pitch_for(const frame& f) {
    constexpr std::int64_t long_row = 64, most_cells = std::int64_t{1} << 30;
    std::int64_t cells = 1;
    for (int axis = 0; axis < f.axes; ++axis) cells *= f.size[axis];
    const std::int64_t row = f.row_size();
    return row < long_row || f.axes == 1 || cells > most_cells ? row + 1 : (row + frame_step) / frame_step * frame_step;
}
inline frame frame_of(const std::int64_t* shape, const border* beyond, int rank) {
    frame f;
    for (int axis = 0; axis < rank; ++axis) {
        if (shape[axis] == 1) continue;
        f.size[f.axes] = shape[axis], f.wraps[f.axes] = beyond[axis] == border::periodic;
        f.any_wraps = f.any_wraps || f.wraps[f.axes];
        ++f.axes;
    }
    if (f.axes == 0) f.size[0] = 1, f.axes = 1;
    std::int64_t pitch = f.row_pitch = row_pitch_for(f);
    for (int axis = f.axes - 2; axis >= 0; --axis) f.pitch[axis] = pitch, f.base += pitch, pitch *= f.size[axis] + 1;
    f.pitch[f.axes - 1] = 1, f.base = (f.base + frame_step) / frame_step * frame_step;
    f.rows = f.axes == 1 ? 1 : f.pitch[0] * f.size[0] / f.row_pitch;
    f.places = 2 * f.base + f.rows * f.row_pitch;
    return f;
}

/// Lists the steps that change at most `changes` of the image's `rank` coordinates; they include axes of length 1.
inline std::vector<step> steps_of(const frame& f, int changes) {
    std::vector<step> made;
    std::int64_t all = 1;
    for (int axis = 0; axis < f.axes; ++axis) all *= 3;
    for (std::int64_t number = 0; number < all; ++number) {
        step s;
        std::int64_t rest = number, offset = 0;
        int changed = 0;
        for (int axis = 0; axis < f.axes; ++axis, rest /= 3) {  // the first axis changes fastest
            s.by[axis] = static_cast<std::int8_t>(rest % 3 - 1);
            changed += s.by[axis] != 0 ? 1 : 0, offset += s.by[axis] * f.pitch[axis];
        }
        s.offset = static_cast<std::int32_t>(offset);
        if (changed > 0 && changed <= changes) made.push_back(s);
    }
    return made;
}

/// Reads the key of a cell, reversed if maxima are sought; returns `outside` if the cell is masked or not a number.
template <class Key, class Value>
NF_HD Key read_key(const source& image, const source& mask, const std::int64_t* at, int axes, bool maxima) {
    if (mask.data != nullptr && static_cast<const std::uint8_t*>(mask.data)[mask.offset(at, axes)] == 0)
        return outside<Key>;
    const Value v = static_cast<const Value*>(image.data)[image.offset(at, axes)];
    return is_number(v) ? turned(ordered<Key>(v), maxima) : outside<Key>;
}

/// Converts a pass's key to the caller's value. `reached` tells whether water from a marker reaches the cell at all.
template <class Value, class Key>
NF_HD Value pass_value(Key key, bool reached, bool maxima, dtype type) {
    using limits = std::numeric_limits<Value>;
    if (reached) return value_of<Value>(turned(key, maxima));
    if (type == dtype::boolean) return static_cast<Value>(maxima ? 0 : 1);
    if constexpr (limits::has_infinity) return maxima ? -limits::infinity() : limits::infinity();
    else return maxima ? limits::lowest() : limits::max();
}

}  // namespace nearfield::watersheds
