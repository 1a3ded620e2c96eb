// Two ways to compare sites in a tile of jump flooding, which find the same sites. A word is what a cell holds; its
// terms are computed once for each axis and serve all cells of the tile that read it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cuda.cuh"
#include "jump_flood/core.hpp"

namespace nearfield::methods::tiles {

using Key = std::int32_t;

/// Upper limits of a tile's cells: along the last axis, and in all.
inline constexpr int most_cells = 8, most_in_a_tile = 16;

/// Terms of a site that all cells which receive it share. A cell's number is
///
///   sum + x * cells_x[its place along the last axis] + y * rows_y[its place along the middle one]
///
/// plus `before` if the cell lies a step after the word along the walked axis, or plus `after` if it lies a step before
/// it. The square of the cell's own place is left out, since it is the same for all sites: (s - c)^2 = s^2 - 2 s c +
/// c^2. All numbers fit 32 bits and are computed modulo 2^32.
struct heard {
    std::uint32_t sum, x, y, before, after;
};

/// Distance and site in one number of 31 bits, so that one instruction, __viaddmin_s32, adds an axis and keeps the
/// smaller number:
///
///   d << (axes * bits) | fields    d: squared distance in units. A field for each axis, the last axis highest: the
///                                  site's offset in units from the tile's first cell,
///                                  or along the walked axis from the cell's plane,
///                                  plus half the field's range
///
/// So equal distances compare as packed sites do, and the fields name the site. A unit divides every distance
/// between a cell and a site that it has received: it is the shortest step so far. Offsets are clamped to `reach`
/// units. So a number below `sure` is exact. Any other number means that the nearest candidate is farther, or that
/// there is none.
struct packed {
    struct axis {
        std::uint32_t lift;  ///< turns a packed site into units: multiply, then shift; the last axis is only shifted
        std::int32_t shift;
        std::int32_t reach, widest;  ///< 2 * reach
        std::uint32_t linear;
        std::uint32_t unit;  ///< of the axis, in a packed site
    };
    axis of[3]{};
    std::int32_t log_unit = 0;
    std::uint32_t whole = 0;  ///< a squared distance of 1; a variable, so that the multiplication pipe takes it
    std::uint32_t constant = 0, slope = 0, minus_slope = 0, before = 0, after = 0;
    std::uint32_t cells_x[most_cells]{}, rows_y[most_cells]{};
    std::uint32_t own[most_in_a_tile]{};  ///< the squares that `heard` leaves out
    std::uint32_t rest[most_cells]{};     ///< remainder of a cell's place by the unit, packed
    std::uint32_t centre = 0;             ///< packed site whose fields hold 0
    std::uint32_t sure = 0;
    bool usable = false;
    bool all_near = false;       ///< every site is near enough, so a cell that is not below `sure` has none
    bool all_near_next = false;  ///< the same for a round of half the step

    static constexpr std::uint32_t far = 1 << 20;  ///< in units; longer than any axis
    static constexpr NF_HD int field_bits(bool volume) { return volume ? 6 : 8; }

    using kept = std::int32_t;
    using number = std::uint32_t;
    using doubt = std::uint32_t;  ///< the largest number of any cell
    /// Exceeds every number, but is so far below 2^31 that the squares left out may be added.
    static __device__ kept nothing() { return 0x60000000; }
    static __device__ bool counts(Key) { return true; }

    /// Offset that is added to a site's units, so that a site at `position` gets `reach`.
    template <int Axis>
    __device__ std::int32_t origin(std::int32_t position) const {
        return of[Axis].reach - (position >> log_unit);
    }

    /// Computes the terms of a word. A word without a site, which is -1, becomes a site far away along the last axis.
    template <bool Volume>
    __device__ heard hear(Key key, std::int32_t x_origin, std::int32_t y_origin, std::int32_t along_origin) const {
        constexpr int along_axis = Volume ? 0 : 1;
        const std::uint32_t x = cut<2>(min(static_cast<std::uint32_t>(key >> of[2].shift), far), x_origin),
                            along = cut<along_axis>(units<along_axis>(key), along_origin);
        heard h{along * (along * whole + of[along_axis].linear) + constant, x, 0, along * minus_slope + before,
                along * slope + after};
        if constexpr (Volume) {
            h.y = cut<1>(units<1>(key), y_origin);
            h.sum = h.y * (h.y * whole + of[1].linear) + h.sum;
        }
        h.sum = x * (x * whole + of[2].linear) + h.sum;
        return h;
    }
    static __device__ void offer(kept& best, std::uint32_t a, Key) { best = min(best, static_cast<std::int32_t>(a)); }
    static __device__ void offer(kept& best, std::uint32_t a, std::uint32_t b, Key) {
        best = __viaddmin_s32(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), best);
    }
    __device__ number with_own(kept best, int cell) const { return static_cast<number>(best) + own[cell]; }
    static __device__ void look_at(number best, doubt& worst) { worst = max(worst, best); }
    __device__ bool near(doubt worst) const { return worst < sure; }
    /// The site that `fields` name. `first`: the tile's first cell in the cell's plane, packed, minus `centre`.
    template <bool Volume>
    __device__ Key site_of(number fields, std::uint32_t first) const {
        constexpr int bits = field_bits(Volume);
        constexpr std::uint32_t low = (1u << bits) - 1;
        std::uint32_t site = first;
        if constexpr (Volume)
            site += (fields >> 2 * bits & low) * of[2].unit + (fields >> bits & low) * of[1].unit +
                    (fields & low) * of[0].unit;
        else site += __byte_perm(fields, 0, 0x4441) * of[2].unit + __byte_perm(fields, 0, 0x4440) * of[1].unit;
        return fields < sure ? static_cast<Key>(site) : none<Key>;
    }

private:
    template <int Axis>
    __device__ std::uint32_t units(Key key) const {
        return static_cast<std::uint32_t>(key) * of[Axis].lift >> of[Axis].shift;
    }
    template <int Axis>
    __device__ std::uint32_t cut(std::uint32_t units, std::int32_t origin) const {
        return static_cast<std::uint32_t>(
            __viaddmin_s32_relu(static_cast<std::int32_t>(units), origin, of[Axis].widest));
    }
};

/// Shape of a tile: its cells along the last axis, the place of each, and its rows along the middle axis.
struct tile_shape {
    bool volume;
    int cells, rows;
    const std::int64_t* away;
};

/// Computes the constants for a round of step `step` on a grid that is solved in 32 bits, if all steps before were
/// multiples of `unit` and no site lies farther from a cell than `heard` along an axis.
/// Over 40 lines because the constants follow from each other.
inline packed packed_of(const grid& g, std::int64_t step, std::int64_t unit, std::int64_t heard,
                        const tile_shape& tile) {
    packed r;
    const int axes = tile.volume ? 3 : 2, bits = packed::field_bits(tile.volume), along = 3 - axes;
    const std::int64_t stride = step / unit, half = std::int64_t{1} << (bits - 1);
    const auto place_x = [&](int cell) { return tile.away[cell] / unit; };
    const std::int64_t widest_tile = std::max(place_x(tile.cells - 1), (tile.rows - 1) * stride);
    const std::int64_t near = half - 1 - std::max(widest_tile, 2 * stride);
    double weight = 0;
    bool alike = true;
    for (int axis = 0; axis < 3; ++axis) {
        if (g.size[axis] == 1) continue;
        alike = alike && (weight == 0 || g.weight[axis] == weight);
        weight = g.weight[axis];
    }
    r.usable = alike && near >= (tile.volume ? 10 : 22) * stride;
    if (!r.usable) return r;
    const auto residue = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
    const std::int64_t whole = std::int64_t{1} << (axes * bits);
    r.log_unit = std::countr_zero(static_cast<std::uint64_t>(unit));
    r.whole = residue(whole);
    r.sure = residue(whole * near * near);
    std::int64_t farthest2 = 0, centre = 0, constant = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t widest = (g.size[axis] - 1) / unit;
        const std::int64_t farthest = std::min(widest, heard / unit);
        farthest2 += farthest * farthest;
        packed::axis& a = r.of[axis];
        const std::int64_t field = axis < along ? 0 : std::int64_t{1} << (axis - along) * bits;
        const std::int64_t reach = half - 1 - (axis == along ? stride : 0);
        a.reach = static_cast<std::int32_t>(reach), a.widest = static_cast<std::int32_t>(2 * reach);
        a.linear = residue(field - 2 * whole * reach);
        // An axis shorter than a unit has units of 0.
        const bool some = g.size[axis] > unit;
        const int width = std::bit_width(g.keys.mask[axis]), shift = g.keys.shift[axis];
        a.unit = some ? 1u << (shift + r.log_unit) : 0;
        a.lift = some ? 1u << (32 - width - shift) : 0;
        if (axis == 2) a.shift = some ? shift + r.log_unit : 31;
        else a.shift = some ? 32 - width + r.log_unit : 31;
        if (axis < along) continue;
        constant += whole * reach * reach + field * (half - reach);
        centre += half * a.unit;
        if (axis != along) continue;
        r.slope = residue(2 * whole * stride), r.minus_slope = residue(-2 * whole * stride);
        r.before = residue(whole * (2 * stride * reach + stride * stride) - field * stride);
        r.after = residue(whole * (stride * stride - 2 * stride * reach) + field * stride);
    }
    r.constant = residue(constant), r.centre = residue(centre);
    for (int cell = 0; cell < tile.cells; ++cell) {
        r.cells_x[cell] = residue(-2 * whole * place_x(cell));
        r.rest[cell] = residue(tile.away[cell] % unit << g.keys.shift[2]);
    }
    for (int row = 0; row < tile.rows; ++row) {
        const std::int64_t y = row * stride;
        r.rows_y[row] = residue(-2 * whole * y);
        for (int cell = 0; cell < tile.cells; ++cell) {
            const std::int64_t x = place_x(cell);
            r.own[row * tile.cells + cell] =
                residue(whole * (x * x + 2 * x * r.of[2].reach + y * y + 2 * y * r.of[1].reach));
        }
    }
    r.all_near = farthest2 < near * near, r.all_near_next = 4 * farthest2 < near * near;
    return r;
}

/// Distance and site as two numbers. Serves every grid that is solved in 32 bits.
struct separate {
    metric<std::int32_t> m;
    std::uint32_t cells_x[most_cells]{}, rows_y[most_cells]{};
    std::uint32_t slope = 0, minus_slope = 0,
                  step2 = 0;  ///< of the walked axis: slope = weight * 2 * step, step2 = weight * step^2

    static constexpr std::uint32_t centre = 0;
    std::int32_t far2 = 0;  ///< squared distance from which the next round cannot use one number

    using kept = nearest<std::int32_t, Key>;
    using doubt = std::int32_t;  ///< the largest squared distance of any cell
    static __device__ kept nothing() { return {}; }
    static __device__ bool counts(Key key) { return key >= 0; }
    template <int>
    static __device__ std::int32_t origin(std::int32_t position) {
        return -position;
    }

    /// Computes the terms of a word. The sums of cells that exist fit 32 bits.
    template <bool Volume>
    __device__ heard hear(Key key, std::int32_t x_origin, std::int32_t y_origin, std::int32_t along_origin) const {
        const std::uint32_t x = away<2>(key, x_origin), y = Volume ? away<1>(key, y_origin) : 0,
                            along = away < Volume ? 0 : 1 > (key, along_origin);
        std::uint32_t sum = weight<2>() * x * x + weight < Volume ? 0 : 1 > () * along * along;
        if constexpr (Volume) sum += weight<1>() * y * y;
        return {sum, x, y, along * minus_slope + step2, along * slope + step2};
    }
    static __device__ void offer(kept& best, std::uint32_t a, Key key) {
        best.offer(static_cast<std::int32_t>(a), key);
    }
    static __device__ void offer(kept& best, std::uint32_t a, std::uint32_t b, Key key) { offer(best, a + b, key); }
    static __device__ const kept& with_own(const kept& best, int) { return best; }
    static __device__ void look_at(const kept& best, doubt& worst) { worst = max(worst, best.distance2); }
    __device__ bool near(doubt worst) const { return worst < far2; }
    template <bool>
    __device__ Key site_of(const kept& best, std::uint32_t) const {
        return best.site;
    }

private:
    template <int Axis>
    __device__ std::uint32_t weight() const {
        return static_cast<std::uint32_t>(m.weight[Axis]);
    }
    template <int Axis>
    __device__ std::uint32_t away(Key key, std::int32_t origin) const {
        return static_cast<std::uint32_t>(m.keys.coordinate(key, Axis) + origin);
    }
};

inline separate separate_of(const grid& g, std::int64_t step, const tile_shape& tile) {
    separate r{metric_of<std::int32_t>(g)};
    std::int64_t weight[3];
    for (int axis = 0; axis < 3; ++axis) {
        weight[axis] = g.size[axis] == 1 ? 0 : static_cast<std::int64_t>(g.weight[axis]);
        r.m.weight[axis] = static_cast<std::int32_t>(weight[axis]);
    }
    const std::int64_t along = weight[tile.volume ? 0 : 1];
    r.slope = static_cast<std::uint32_t>(2 * along * step), r.minus_slope = 0 - r.slope,
    r.step2 = static_cast<std::uint32_t>(along * step * step);
    for (int cell = 0; cell < tile.cells; ++cell)
        r.cells_x[cell] = static_cast<std::uint32_t>(-2 * weight[2] * tile.away[cell]);
    for (int row = 0; row < tile.rows; ++row) r.rows_y[row] = static_cast<std::uint32_t>(-2 * weight[1] * row * step);
    return r;
}

}  // namespace nearfield::methods::tiles
