// How a tile of jump flooding compares sites, in one of two ways that find the same ones. What a cell holds is a word here; its
// terms are computed once for each axis and serve all cells of the tile that ask it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cuda.cuh"
#include "jump_flood/core.hpp"

namespace nearfield::methods::tiles {

using Key = std::int32_t;

/// What one axis adds for cells from which the word lies a step behind, at the same coordinate, and a step ahead.
struct terms {
    std::uint32_t at[3];
};

/// Distance and site in one number of 31 bits, so that one instruction, __viaddmin_s32, adds an axis and keeps the smaller:
///
///   d << (axes * bits) | fields    d: squared distance in units; a field for each axis, the last axis highest: how many
///                                  units the site lies from the cell, plus half the field's range
///
/// Equal distances so compare as packed sites do, and the fields say which site it is. A unit divides every distance between
/// cells and the sites that they have heard of: the shortest step so far. Offsets of words are cut off at `reach` units; hence
/// a number below `sure` is right, and another one says that the nearest candidate is farther, or that there is none.
struct packed {
    struct axis {
        std::int32_t shift;                             ///< from a packed site to units
        std::uint32_t mask;                             ///< of units
        std::uint32_t unit;                             ///< in a packed site
        std::uint32_t linear, constant, slope, slope0;  ///< see terms_of
    };
    axis of[3]{};
    std::int32_t log_unit = 0, reach = 0, widest = 0;  ///< 2 * reach
    std::uint32_t step2 = 0;                           ///< of a step
    std::uint32_t centre = 0;                          ///< packed site of fields that hold 0
    std::int32_t sure = 0;
    bool usable = false;
    bool all_near = false;  ///< every site that may come lies near enough: who is not below `sure` has none

    static constexpr std::uint32_t far = 1 << 20;  ///< units: no axis is so long
    static constexpr NF_HD int field_bits(bool volume) { return volume ? 6 : 8; }

    using kept = std::int32_t;
    using doubt = std::int32_t;  ///< the largest number that a cell was left with
    static constexpr int unrolled = 3;
    static __device__ kept nothing() { return INT32_MAX; }
    static __device__ bool counts(Key) { return true; }

    /// To be added to a word's units: makes a site at `position` `reach`.
    __device__ std::int32_t origin(std::int32_t position) const { return reach - (position >> log_unit); }

    /// With I = i - reach units: (whole * I + field) * I, and the same of I - step and I + step. In residues of 2^32; the sums
    /// over axes fit. A word without a site, which is -1, becomes one far away along the last axis.
    template <int Axis, bool Volume>
    __device__ terms terms_of(Key key, std::int32_t origin) const {
        constexpr std::uint32_t whole = 1u << field_bits(Volume) * (Volume ? 3 : 2);
        const axis& a = of[Axis];
        std::uint32_t units = 0;
        if constexpr (Axis == 2) units = min(static_cast<std::uint32_t>(key >> a.shift), far);
        else units = static_cast<std::uint32_t>(key) >> a.shift & a.mask;
        const auto i =
            static_cast<std::uint32_t>(__viaddmin_s32_relu(static_cast<std::int32_t>(units), origin, widest));
        const std::uint32_t here = i * (i * whole + a.linear) + a.constant, slope = i * a.slope + a.slope0;
        return {here - slope + step2, here, here + slope + step2};
    }
    static __device__ void offer(kept& best, std::uint32_t a, std::uint32_t b, Key) {
        best = __viaddmin_s32(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), best);
    }
    static __device__ void look_at(kept best, doubt& worst) { worst = max(worst, best); }
    __device__ bool decided(doubt worst) const { return worst < sure || all_near; }
    /// `cell` is one packed, less `centre`.
    template <bool Volume>
    __device__ Key site_of(kept best, std::uint32_t cell) const {
        const auto fields = static_cast<std::uint32_t>(best);
        constexpr int bits = field_bits(Volume);
        constexpr std::uint32_t low = (1u << bits) - 1;
        std::uint32_t site = cell;
        if constexpr (Volume)
            site += (fields >> 2 * bits & low) * of[2].unit + (fields >> bits & low) * of[1].unit +
                    (fields & low) * of[0].unit;
        else site += __byte_perm(fields, 0, 0x4441) * of[2].unit + __byte_perm(fields, 0, 0x4440) * of[1].unit;
        return best < sure ? static_cast<Key>(site) : none<Key>;
    }
};

/// For a round of step `step` on a grid that is solved in 32 bits, when all steps before were multiples of `unit`.
inline packed packed_of(const grid& g, std::int64_t step, std::int64_t unit, bool volume) {
    packed r;
    const int axes = volume ? 3 : 2, bits = packed::field_bits(volume);
    const std::int64_t stride = step / unit, half = std::int64_t{1} << (bits - 1);
    r.log_unit = std::countr_zero(static_cast<std::uint64_t>(unit));
    r.reach = static_cast<std::int32_t>(half - 1 - stride);
    double weight = 0;
    bool alike = true;
    for (int axis = 0; axis < 3; ++axis) {
        if (g.size[axis] == 1) continue;
        alike = alike && (weight == 0 || g.weight[axis] == weight);
        weight = g.weight[axis];
    }
    r.usable = alike && r.reach >= (volume ? 12 : 24) * stride;
    if (!r.usable) return r;
    const auto whole = std::int64_t{1} << (axes * bits), near = r.reach - stride;
    r.widest = 2 * r.reach;
    r.step2 = static_cast<std::uint32_t>(whole * stride * stride);
    r.sure = static_cast<std::int32_t>(whole * near * near);
    std::int64_t farthest2 = 0, centre = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t widest = (g.size[axis] - 1) / unit;
        farthest2 += widest * widest;
        packed::axis& a = r.of[axis];
        // The units of an axis that is shorter than one are 0.
        a.shift = g.size[axis] <= unit ? 31 : g.keys.shift[axis] + r.log_unit;
        a.unit = 1u << a.shift;
        a.mask = g.keys.mask[axis] >> r.log_unit;
        if (axis < 3 - axes) continue;
        const std::int64_t field = std::int64_t{1} << (axis - (3 - axes)) * bits;
        a.linear = static_cast<std::uint32_t>(field - 2 * whole * r.reach);
        a.constant = static_cast<std::uint32_t>(whole * r.reach * r.reach - field * r.reach + half * field);
        a.slope = static_cast<std::uint32_t>(2 * whole * stride);
        a.slope0 = static_cast<std::uint32_t>(field * stride - 2 * whole * r.reach * stride);
        centre += half << a.shift;
    }
    r.centre = static_cast<std::uint32_t>(centre);
    r.all_near = farthest2 < near * near;
    return r;
}

/// Distance and site in two numbers. For every grid that is solved in 32 bits.
struct separate {
    metric<std::int32_t> m;
    std::uint32_t twice_step[3]{};  ///< weight * 2 * step
    std::uint32_t step2[3]{};       ///< weight * squared step

    static constexpr std::uint32_t centre = 0;
    using kept = nearest<std::int32_t, Key>;
    struct doubt {};
    static constexpr int unrolled = 1;
    static __device__ kept nothing() { return {}; }
    static __device__ bool counts(Key key) { return key >= 0; }
    static __device__ std::int32_t origin(std::int32_t position) { return -position; }

    /// In residues of 2^32: the sums for cells that exist fit.
    template <int Axis, bool>
    __device__ terms terms_of(Key key, std::int32_t origin) const {
        const auto away = static_cast<std::uint32_t>(m.keys.coordinate(key, Axis) + origin);
        const std::uint32_t here = static_cast<std::uint32_t>(m.weight[Axis]) * away * away,
                            slope = twice_step[Axis] * away;
        return {here - slope + step2[Axis], here, here + slope + step2[Axis]};
    }
    static __device__ void offer(kept& best, std::uint32_t a, std::uint32_t b, Key key) {
        best.offer(static_cast<std::int32_t>(a + b), key);
    }
    static __device__ void look_at(const kept&, doubt&) {}
    static __device__ bool decided(doubt) { return true; }
    template <bool>
    __device__ Key site_of(const kept& best, std::uint32_t) const {
        return best.site;
    }
};

inline separate separate_of(const grid& g, std::int64_t step) {
    separate r{metric_of<std::int32_t>(g)};
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t weight = g.size[axis] == 1 ? 0 : static_cast<std::int64_t>(g.weight[axis]);
        r.m.weight[axis] = static_cast<std::int32_t>(weight);
        r.twice_step[axis] = static_cast<std::uint32_t>(2 * weight * step);
        r.step2[axis] = static_cast<std::uint32_t>(weight * step * step);
    }
    return r;
}

}  // namespace nearfield::methods::tiles
