// Makes a maze by depth-first search, and vessels that branch.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/generator.hpp"
#include "cli/sample_shapes.hpp"

namespace nearfield::cli {
namespace {

void fill_box(const canvas& on, const point& from, const point& size) {
    for (std::int64_t z = from[0]; z < from[0] + size[0]; ++z)
        for (std::int64_t y = from[1]; y < from[1] + size[1]; ++y)
            std::fill_n(&on.at({z, y, from[2]}), size[2], std::uint8_t{255});
}

/// Rooms of `corridor` cells, with walls of `wall` cells between and around them.
class maze {
public:
    maze(const canvas& on, std::uint64_t seed, std::int64_t corridor) : on_(on), random_(seed), corridor_(corridor) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            rooms_[axis] = on.used(axis) ? (on.size[axis] - wall_) / (corridor_ + wall_) : 1;
            if (rooms_[axis] > 0) continue;
            throw error(error_code::invalid_argument,
                        fmt::format("size has an axis of {} cells, too short for a maze with corridors of {}; give at "
                                    "least {}, or a smaller --scale",
                                    on.size[axis], corridor_, corridor_ + 2 * wall_));
        }
        seen_.resize(static_cast<std::size_t>(rooms_[0] * rooms_[1] * rooms_[2]));
    }

    void carve() {
        std::vector<point> trail{{0, 0, 0}};
        open(trail.back(), trail.back());
        while (!trail.empty()) {
            const point here = trail.back();
            point next{};
            if (unseen_neighbour(here, next)) {
                open(here, next);
                trail.push_back(next);
            } else {
                trail.pop_back();
            }
        }
    }

private:
    [[nodiscard]] std::size_t number(const point& room) const {
        return static_cast<std::size_t>((room[0] * rooms_[1] + room[1]) * rooms_[2] + room[2]);
    }

    bool unseen_neighbour(const point& here, point& next) {
        point found[6];
        int count = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (int step : {-1, 1}) {
                point room = here;
                room[axis] += step;
                if (room[axis] >= 0 && room[axis] < rooms_[axis] && !seen_[number(room)]) found[count++] = room;
            }
        if (count > 0) next = found[random_.below(count)];
        return count > 0;
    }

    /// Opens the room `b`, and the passage to it from its neighbour `a`.
    void open(const point& a, const point& b) {
        seen_[number(b)] = true;
        point from{}, size{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::int64_t pitch = corridor_ + wall_;
            from[axis] = on_.used(axis) ? wall_ + std::min(a[axis], b[axis]) * pitch : 0;
            size[axis] = on_.used(axis) ? corridor_ + (a[axis] != b[axis] ? pitch : 0) : 1;
        }
        fill_box(on_, from, size);
    }

    const canvas& on_;
    generator random_;
    std::int64_t corridor_, wall_ = std::max<std::int64_t>(1, corridor_ / 3);
    point rooms_{};
    std::vector<bool> seen_;
};

/// Unit of positions, directions and radii of vessels: 1/4096 of a cell.
constexpr std::int64_t one = 4096;
/// Vessels with a smaller radius end.
constexpr std::int64_t least_radius = one * 5 / 8;

struct twig {
    point at, direction;
    std::int64_t radius;
};

point scaled_to(const point& v, std::int64_t length) {
    std::int64_t sum = 0;
    for (std::int64_t c : v) sum += c * c;
    const std::int64_t now = std::max<std::int64_t>(1, integer_root(sum));
    return {v[0] * length / now, v[1] * length / now, v[2] * length / now};
}

class vessels {
public:
    vessels(const canvas& on, std::uint64_t seed) : on_(on), random_(seed) {}

    void grow(const twig& root) {
        std::vector<twig> open{root};
        while (!open.empty()) {
            twig now = open.back();
            open.pop_back();
            if (!walk(now)) continue;
            // Nearly Murray's law, by which the cubes of the children's radii add up to the cube of the parent's:
            // 0.93^3 + 0.55^3 = 0.97.
            const point aside = sideways();
            open.push_back({now.at, turned(now.direction, aside, one / 4), now.radius * 93 / 100});
            open.push_back({now.at, turned(now.direction, aside, -one), now.radius * 55 / 100});
        }
    }

    point sideways() {
        point v{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (on_.used(axis)) v[axis] = random_.between(-one, one);
        return scaled_to(v, one);
    }

private:
    static point turned(const point& direction, const point& aside, std::int64_t share) {
        point v = direction;
        for (std::size_t axis = 0; axis < 3; ++axis) v[axis] += aside[axis] * share / one;
        return scaled_to(v, one);
    }

    /// Draws one piece without branches; false if it has left the grid or is too thin to continue.
    bool walk(twig& now) {
        if (now.radius < least_radius) return false;
        const std::int64_t steps = now.radius * random_.between(8, 18) / one + 4;
        point bend = sideways();
        for (std::int64_t step = 0; step < steps; ++step) {
            if (step % 8 == 0) bend = sideways();
            now.direction = turned(now.direction, bend, one / 24);
            for (std::size_t axis = 0; axis < 3; ++axis) now.at[axis] += now.direction[axis];
            const point cell{now.at[0] / one, now.at[1] / one, now.at[2] / one};
            if (!on_.holds(cell)) return false;
            stamp(now);
        }
        return true;
    }

    void stamp(const twig& now) {
        point low{}, high{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            low[axis] = std::max<std::int64_t>(0, (now.at[axis] - now.radius) / one);
            high[axis] = std::min(on_.size[axis] - 1, (now.at[axis] + now.radius) / one);
        }
        point p{};
        for (p[0] = low[0]; p[0] <= high[0]; ++p[0])
            for (p[1] = low[1]; p[1] <= high[1]; ++p[1])
                for (p[2] = low[2]; p[2] <= high[2]; ++p[2]) {
                    std::int64_t sum = 0;
                    for (std::size_t axis = 0; axis < 3; ++axis) {
                        const std::int64_t off = on_.used(axis) ? p[axis] * one + one / 2 - now.at[axis] : 0;
                        sum += off * off;
                    }
                    if (sum <= now.radius * now.radius) on_.at(p) = 255;
                }
    }

    const canvas& on_;
    generator random_;
};

}  // namespace

void draw_maze(const canvas& on, std::uint64_t seed, std::int64_t scale) { maze(on, seed, scale).carve(); }

void draw_vessels(const canvas& on, std::uint64_t seed, std::int64_t scale) {
    vessels tree(on, seed);
    generator random(scramble(seed));
    const int roots = on.axes == 2 ? 3 : 6;
    for (int root = 0; root < roots; ++root) {
        // A vessel starts at a random place on a face, each face in turn, and heads towards the middle.
        twig start{{}, {}, std::max(least_radius, scale * one / 2)};
        const std::size_t face = static_cast<std::size_t>(2 - root % on.axes);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::int64_t size = on.size[axis] * one;
            start.at[axis] = axis != face
                                 ? size / 8 + random.below(std::max<std::int64_t>(1, on.size[axis] * 3 / 4)) * one
                                 : (root / on.axes % 2 == 0 ? one / 2 : size - one / 2);
            if (on.used(axis)) start.direction[axis] = size / 2 - start.at[axis];
        }
        start.direction = scaled_to(start.direction, one);
        tree.grow(start);
    }
}

}  // namespace nearfield::cli
