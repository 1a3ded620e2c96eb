// Halves blocks on the host. The eight halves of a block, or the eighths of its points, are the lanes of all loops.
// Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mesh_distance/host.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <utility>

#include "mesh_distance/blocks.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::nearest_faces::HWY_NAMESPACE {

constexpr int lanes = 8, stored = 512;

/// Result of nearest_of() for eight points, as arrays by lane.
struct lane_nearest {
    double e[3][lanes], squared[lanes], support[lanes];
};

using lane_points = double[3][lanes];

void measure(const triangle& t, const lane_points& at, lane_nearest* __restrict n) {
    for (int lane = 0; lane < lanes; ++lane) {
        const nearest one = nearest_of(t, at[0][lane], at[1][lane], at[2][lane]);
        n->e[0][lane] = one.e[0], n->e[1][lane] = one.e[1], n->e[2][lane] = one.e[2];
        n->squared[lane] = one.squared, n->support[lane] = one.support;
    }
}

/// The least squared distance of each point, and the place of its triangle in the list.
struct lane_best {
    double squared[lanes];
    std::int64_t place[lanes];
};

void take(const double* __restrict squared, std::int64_t place, lane_best* __restrict best) {
    for (int lane = 0; lane < lanes; ++lane) {
        const bool nearer = squared[lane] < best->squared[lane];
        best->place[lane] = nearer ? place : best->place[lane];
        best->squared[lane] = nearer ? squared[lane] : best->squared[lane];
    }
}

/// Does take() for a triangle without keeping its vectors to the points.
void take_triangle(const triangle& t, const lane_points& at, std::int64_t place, lane_best* __restrict best) {
    double squared[lanes];
    for (int lane = 0; lane < lanes; ++lane)
        squared[lane] = nearest_of(t, at[0][lane], at[1][lane], at[2][lane]).squared;
    take(squared, place, best);
}

/// Halves blocks; keeps its lists and buffers from call to call.
class halver {
public:
    explicit halver(const problem& p) : p_(p), found_(stored) {}

    /// Calls child(first, number of faces, faces) for each half, of a block of level 1 or more, that has cells. Halves
    /// of level 0 are written instead.
    void halve(const block& of, std::vector<block>& children) {
        place(of);
        lane_best best;
        std::fill_n(best.squared, lanes, std::numeric_limits<double>::infinity());
        std::fill_n(best.place, lanes, 0);
        const auto count = static_cast<std::int64_t>(of.faces.size());
        if (of.level == 1) {
            for (std::int64_t i = 0; i < count; ++i) take_triangle(triangle_at(of, i), at_, i, &best);
            return write(of, best);
        }
        for (std::int64_t i = 0; i < count; ++i) {
            lane_nearest& n = found_[static_cast<std::size_t>(i % stored)];
            measure(triangle_at(of, i), at_, &n);
            take(n.squared, i, &best);
        }
        set_bounds(of, best);
        children.resize(lanes);
        std::int32_t* to[lanes];
        for (int lane = 0; lane < lanes; ++lane) {
            block& child = children[static_cast<std::size_t>(lane)];
            child.level = of.level - 1;
            std::copy_n(first_[lane], 3, child.first);
            child.faces.resize(of.faces.size());
            to[lane] = child.faces.data();
        }
        for (std::int64_t i = 0; i < count; ++i) {
            lane_nearest& n = found_[static_cast<std::size_t>(i % stored)];
            const std::int32_t number = of.faces[static_cast<std::size_t>(i)];
            if (count > stored) measure(triangle_at(of, i), at_, &n);
            keep(n, number, to);
        }
        for (int lane = 0; lane < lanes; ++lane) {
            std::vector<std::int32_t>& faces = children[static_cast<std::size_t>(lane)].faces;
            faces.resize(static_cast<std::size_t>(to[lane] - faces.data()));
            if (outside_[lane]) faces.clear();
            else if (best.squared[lane] > far2_[lane]) fill_far(p_, first_[lane], of.level - 1), faces.clear();
            else drop_later(lane, triangle_at(of, best.place[lane]), faces);
        }
    }

private:
    void place(const block& of) {
        if (p_.points != nullptr) return place_points(of);
        double half[3];
        p_.in.half_of_block(of.level - 1, half);
        const std::int64_t side = std::int64_t{1} << (of.level - 1);
        for (int lane = 0; lane < lanes; ++lane) {
            outside_[lane] = false;
            for (int axis = 0; axis < 3; ++axis) {
                first_[lane][axis] = of.first[axis] + ((lane >> (2 - axis) & 1) != 0 ? side : 0);
                const double middle = static_cast<double>(first_[lane][axis]) + static_cast<double>(side - 1) / 2;
                at_[axis][lane] = p_.in.at(axis, middle), half_[axis][lane] = half[axis];
                outside_[lane] = outside_[lane] || first_[lane][axis] >= p_.in.shape[axis];
            }
        }
    }

    /// Computes the middles and half sides of the boxes of eighths.
    void place_points(const block& of) {
        for (int lane = 0; lane < lanes; ++lane) {
            const std::int64_t first = eighth(of.first[0], of.first[1], lane),
                               last = eighth(of.first[0], of.first[1], lane + 1);
            first_[lane][0] = first, first_[lane][1] = last, outside_[lane] = first == last;
            for (int axis = 0; axis < 3; ++axis) {
                double low = p_.points[of.first[0]].at[axis], high = low;
                if (first < last) low = high = p_.points[first].at[axis];
                for (std::int64_t i = first; i < last; ++i)
                    low = std::min(low, p_.points[i].at[axis]), high = std::max(high, p_.points[i].at[axis]);
                at_[axis][lane] = low + (high - low) / 2;
                half_[axis][lane] = std::max(high - at_[axis][lane], at_[axis][lane] - low);
            }
        }
    }

    /// If the nearest point of a half's nearest triangle is a corner for all of the half, drops all triangles that end
    /// there so but the first one: it is nearest. Near the tip of a cone these are all of them.
    void drop_later(int lane, const triangle& nearest, std::vector<std::int32_t>& faces) const {
        const double half[] = {half_[0][lane], half_[1][lane], half_[2][lane]};
        const ball in{{at_[0][lane], at_[1][lane], at_[2][lane]}, std::sqrt(dot(half, half))};
        in.for_corner(nearest, [&](const double* corner) {
            bool found = false;
            std::erase_if(faces, [&](std::int32_t face) {
                if (!in.ends_at(p_.triangles[static_cast<std::size_t>(face)], corner)) return false;
                return std::exchange(found, true);
            });
        });
    }

    const triangle& triangle_at(const block& of, std::int64_t place) const {
        return p_.triangles[static_cast<std::size_t>(of.faces[static_cast<std::size_t>(place)])];
    }

    void set_bounds(const block& of, const lane_best& best) {
        for (int lane = 0; lane < lanes; ++lane) {
            const double half[] = {half_[0][lane], half_[1][lane], half_[2][lane]}, most = p_.in.most;
            const double radius = std::sqrt(dot(half, half));
            far2_[lane] = bound::far2(radius, most);
            const triangle& t = triangle_at(of, best.place[lane]);
            const bound b = bound::of(nearest_of(t, at_[0][lane], at_[1][lane], at_[2][lane]), t.loss, radius, most);
            for (int k = 0; k < 3; ++k) bound_n_[k][lane] = b.n[k];
            plain2_[lane] = b.plain2, support_[lane] = b.support;
        }
    }

    void keep(const lane_nearest& n, std::int32_t number, std::int32_t** to) const {
        std::int64_t kept[lanes];
        for (int lane = 0; lane < lanes; ++lane) {
            const bound b{{bound_n_[0][lane], bound_n_[1][lane], bound_n_[2][lane]}, plain2_[lane], support_[lane]};
            const nearest one{{n.e[0][lane], n.e[1][lane], n.e[2][lane]}, n.squared[lane], n.support[lane]};
            const double half[] = {half_[0][lane], half_[1][lane], half_[2][lane]};
            kept[lane] = b.keeps(one, half) ? 1 : 0;
        }
        for (int lane = 0; lane < lanes; ++lane) *to[lane] = number, to[lane] += kept[lane];
    }

    void write(const block& of, const lane_best& best) const {
        for (int lane = 0; lane < lanes; ++lane)
            if (outside_[lane]) continue;
            else if (p_.points != nullptr) p_.points[first_[lane][0]].squared = best.squared[lane];
            else write_cell(p_, first_[lane], best.squared[lane], of.faces[static_cast<std::size_t>(best.place[lane])]);
    }

    const problem& p_;
    std::vector<lane_nearest> found_;
    std::int64_t first_[lanes][3] = {};
    bool outside_[lanes] = {};
    lane_points at_ = {}, half_ = {};  ///< middles of the halves, and their half sides
    double bound_n_[3][lanes] = {}, plain2_[lanes] = {}, support_[lanes] = {}, far2_[lanes] = {};
};

/// Holds the lists of a block and of all its descendants, by level.
class solver {
public:
    explicit solver(const problem& p) : halver_(p) {}
    void solve(const block& of) {
        if (of.faces.empty()) return;
        std::vector<block>& children = children_[of.level];
        halver_.halve(of, children);
        if (of.level > 1)
            for (const block& child : children) solve(child);
    }

private:
    halver halver_;
    std::vector<block> children_[24];
};

void solve_all(workers& team, const problem& p, block root) {
    constexpr std::size_t enough = 512;
    std::vector<block> blocks;
    blocks.push_back(std::move(root));
    while (blocks.size() < enough && !blocks.empty() && blocks.front().level > 3) {
        std::vector<std::vector<block>> halves(blocks.size());
        team.for_each(static_cast<std::int64_t>(blocks.size()), 1, 0, [&](std::int64_t first, std::int64_t last, int) {
            halver at(p);
            for (std::int64_t i = first; i < last; ++i)
                at.halve(blocks[static_cast<std::size_t>(i)], halves[static_cast<std::size_t>(i)]);
        });
        blocks.clear();
        for (auto& each : halves)
            for (block& half : each)
                if (!half.faces.empty()) half.faces.shrink_to_fit(), blocks.push_back(std::move(half));
    }
    team.for_each(static_cast<std::int64_t>(blocks.size()), 1, 1, [&](std::int64_t first, std::int64_t last, int) {
        solver one(p);
        for (std::int64_t i = first; i < last; ++i) one.solve(blocks[static_cast<std::size_t>(i)]);
    });
}

}  // namespace nearfield::nearest_faces::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::nearest_faces {
namespace {
HWY_EXPORT(solve_all);
}  // namespace

void solve(workers& team, const problem& p, block root) { HWY_DYNAMIC_DISPATCH(solve_all)(team, p, std::move(root)); }

}  // namespace nearfield::nearest_faces
#endif
