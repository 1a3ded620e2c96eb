// Shared by host and device: a ray in integers, and its walk.
//
// A ray crosses the planes between cells. `ahead` is the distance of an axis's next plane from the origin, in units of
// 2^-16 cells; `speed` is the part of it that the ray covers in a unit of time. Crossing i comes before crossing j if
// ahead[i] / speed[i] < ahead[j] / speed[j], which products of 36 and 26 bits decide.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/annotate.hpp"
#include "chessboard/core.hpp"
#include "nearfield/raycast.hpp"

namespace nearfield::rays {

inline constexpr int fraction_bits = 16, speed_bits = 26;
inline constexpr std::int64_t unit = std::int64_t{1} << fraction_bits;
inline constexpr double farthest = 1 << 19;

/// The arguments of a call; images have a first axis of one cell.
struct problem {
    int rank = 3;
    std::int64_t size[3] = {1, 1, 1}, rays = 0;
    const double *origin = nullptr, *direction = nullptr;
    std::int64_t origin_step[2] = {}, direction_step[2] = {};
    std::int32_t *cells = nullptr, *steps = nullptr;
    std::int8_t* faces = nullptr;
    double* entry = nullptr;
    std::int64_t cells_step[2] = {}, faces_step = 0, entry_step = 0, steps_step = 0;
    ray_skips skips = ray_skips::cubes;

    NF_HD std::int64_t volume() const { return size[0] * size[1] * size[2]; }
};

struct ray {
    std::int64_t cell[3] = {}, ahead[3] = {}, speed[3] = {};
    double inverse[3] = {};  ///< 1 / speed
    double longest = 0;      ///< magnitude of the direction's largest component
    std::int8_t sign[3] = {1, 1, 1};
    bool valid = false;

    /// True if the ray crosses axis i's plane at distance `a` before axis j's plane at distance `b`.
    NF_HD bool before(int i, std::int64_t a, int j, std::int64_t b) const {
        const std::int64_t left = a * speed[j], right = b * speed[i];
        return left < right || (left == right && i > j);
    }
    /// Computes floor(x / speed[axis]) for 0 <= x < 2^62.
    NF_HD std::int64_t quotient(std::int64_t x, int axis) const {
        auto q = static_cast<std::int64_t>(static_cast<double>(x) * inverse[axis]);
        std::int64_t rest = x - q * speed[axis];
        while (rest < 0) rest += speed[axis], --q;
        while (rest >= speed[axis]) rest -= speed[axis], ++q;
        return q;
    }
    NF_HD void cross(int axis, std::int64_t planes) { cell[axis] += sign[axis] * planes, ahead[axis] += planes * unit; }
    /// Crosses `planes` planes of an axis, and all planes of other axes that come before the last of them.
    NF_HD void advance(int axis, std::int64_t planes) {
        const std::int64_t to = ahead[axis] + (planes - 1) * unit;
        for (int other = 0; other < 3; ++other) {
            if (other == axis || speed[other] == 0) continue;
            const std::int64_t product = to * speed[other] - (other > axis ? 0 : 1);
            if (product < 0) continue;
            const std::int64_t reach = quotient(product, axis) - ahead[other];
            if (reach >= 0) cross(other, (reach >> fraction_bits) + 1);
        }
        cross(axis, planes);
    }
    /// Time t at which the ray crossed the last plane of an axis.
    NF_HD double time_of(int axis) const {
        const double passed = static_cast<double>(ahead[axis] - unit) / static_cast<double>(unit);
        return passed /
               (static_cast<double>(speed[axis]) / static_cast<double>(std::int64_t{1} << speed_bits) * longest);
    }
};

NF_HD inline ray ray_of(const problem& p, std::int64_t which) {
    ray r;
    double d[3] = {}, o[3] = {};
    for (int axis = 3 - p.rank, k = 0; axis < 3; ++axis, ++k) {
        o[axis] = p.origin[which * p.origin_step[0] + k * p.origin_step[1]];
        d[axis] = p.direction[which * p.direction_step[0] + k * p.direction_step[1]];
        const double size = std::fabs(d[axis]);
        if (!(std::fabs(o[axis]) <= farthest) || !(size <= std::numeric_limits<double>::max())) return r;
        if (size > r.longest) r.longest = size;
    }
    if (r.longest == 0) return r;
    r.valid = true;
    for (int axis = 0; axis < 3; ++axis) {
        const auto at = static_cast<std::int64_t>(std::rint(o[axis] * static_cast<double>(unit)));
        const double share = std::fabs(d[axis]) / r.longest;
        r.speed[axis] =
            static_cast<std::int64_t>(std::rint(share * static_cast<double>(std::int64_t{1} << speed_bits)));
        r.inverse[axis] = r.speed[axis] > 0 ? 1 / static_cast<double>(r.speed[axis]) : 0;
        r.sign[axis] = d[axis] < 0 ? -1 : 1;
        r.cell[axis] = (at + unit / 2) >> fraction_bits;
        const std::int64_t centre = r.cell[axis] * unit;
        r.ahead[axis] = d[axis] < 0 ? at - (centre - unit / 2) : centre + unit / 2 - at;
    }
    return r;
}

struct found {
    bool hit = false;
    int face_axis = -1;
    std::int32_t steps = 0;
};

/// Moves a ray to its first cell in the grid; false if there is none. `axis` becomes that of the entry face.
NF_HD inline bool enter(const problem& p, ray& r, int& axis) {
    std::int64_t planes = 0;
    for (int k = 0; k < 3; ++k) {
        const std::int64_t away = r.cell[k] < 0 ? -r.cell[k] : r.cell[k] >= p.size[k] ? r.cell[k] - p.size[k] + 1 : 0;
        if (away == 0) continue;
        if (r.speed[k] == 0 || (r.cell[k] < 0) != (r.sign[k] > 0)) return false;
        const bool later =
            axis < 0 || r.before(axis, r.ahead[axis] + (planes - 1) * unit, k, r.ahead[k] + (away - 1) * unit);
        if (later) axis = k, planes = away;
    }
    if (axis >= 0) r.advance(axis, planes);
    for (int k = 0; k < 3; ++k)
        if (r.cell[k] < 0 || r.cell[k] >= p.size[k]) return false;
    return true;
}

/// Walks until a cell is occupied or the grid ends. reach(cell number) is 0 for occupied cells; for others it is the
/// number of planes of one axis that lead out of a cube of empty cells.
template <class Reach>
NF_HD inline found walk(const problem& p, ray& r, const Reach& reach) {
    found result;
    if (!r.valid || !enter(p, r, result.face_axis)) return result;
    while (true) {
        const std::int64_t planes = reach((r.cell[0] * p.size[1] + r.cell[1]) * p.size[2] + r.cell[2]);
        ++result.steps;
        if (planes == 0) break;
        int first = -1;
        for (int k = 2; k >= 0; --k) {
            if (r.speed[k] == 0) continue;
            const std::int64_t more = (planes - 1) * unit;
            if (first < 0 || r.before(k, r.ahead[k] + more, first, r.ahead[first] + more)) first = k;
        }
        if (planes == 1) r.cross(first, 1);
        else r.advance(first, planes);
        result.face_axis = first;
        for (int k = 0; k < 3; ++k)
            if (r.cell[k] < 0 || r.cell[k] >= p.size[k]) return result;
    }
    result.hit = true;
    return result;
}

NF_HD inline int octant_of(const ray& r) {
    return (r.sign[0] < 0 ? 4 : 0) + (r.sign[1] < 0 ? 2 : 0) + (r.sign[2] < 0 ? 1 : 0);
}

/// Walks ray `which` and writes its hit. `fields`: arrays of bytes, one, or with `octants` one for each octant.
NF_HD inline void cast(const problem& p, std::int64_t which, const std::uint8_t* const* fields) {
    ray r = ray_of(p, which);
    const std::uint8_t* const field = fields[p.skips == ray_skips::octants ? octant_of(r) : 0];
    const found result = walk(p, r, [field](std::int64_t cell) { return static_cast<std::int64_t>(field[cell]); });
    if (p.cells != nullptr)
        for (int axis = 3 - p.rank, k = 0; axis < 3; ++axis, ++k)
            p.cells[which * p.cells_step[0] + k * p.cells_step[1]] =
                result.hit ? static_cast<std::int32_t>(r.cell[axis]) : -1;
    const bool entered = result.hit && result.face_axis >= 0;
    if (p.faces != nullptr)
        p.faces[which * p.faces_step] = static_cast<std::int8_t>(
            entered ? 2 * (result.face_axis - 3 + p.rank) + (r.sign[result.face_axis] < 0 ? 1 : 0) : -1);
    if (p.entry != nullptr)
        p.entry[which * p.entry_step] = entered      ? r.time_of(result.face_axis)
                                        : result.hit ? 0
                                                     : std::numeric_limits<double>::infinity();
    if (p.steps != nullptr) p.steps[which * p.steps_step] = result.steps;
}

void run(const host& on, const problem& p, const any_input<host>& mask);
void run(const device& on, const problem& p, const any_input<device>& mask);

}  // namespace nearfield::rays
