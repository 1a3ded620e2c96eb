#include "cli/tour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <numeric>
#include <utility>

namespace nearfield::cli {
namespace {

constexpr std::size_t near_points = 8;

double between(const point2& a, const point2& b) { return std::hypot(a[0] - b[0], a[1] - b[1]); }

/// The nearest points of each point: near_points of them, or fewer if there are not as many.
class vicinity {
public:
    explicit vicinity(const std::vector<point2>& points) : points_(points) {
        for (const point2& p : points)
            for (std::size_t k = 0; k < 2; ++k) low_[k] = std::min(low_[k], p[k]), high_[k] = std::max(high_[k], p[k]);
        const double area = std::max((high_[0] - low_[0]) * (high_[1] - low_[1]), 1e-12);
        side_ = std::max(std::sqrt(3 * area / static_cast<double>(points.size())),
                         std::max(high_[0] - low_[0], high_[1] - low_[1]) / 4096);
        side_ = std::max(side_, 1e-9);
        for (std::size_t k = 0; k < 2; ++k) count_[k] = 1 + static_cast<std::ptrdiff_t>((high_[k] - low_[k]) / side_);
        boxes_.resize(static_cast<std::size_t>(count_[0] * count_[1]));
        for (std::size_t i = 0; i < points.size(); ++i) boxes_[box(at(i, 0), at(i, 1))].push_back(i);
    }

    [[nodiscard]] std::vector<std::size_t> of(std::size_t i) const {
        std::vector<std::size_t> found;
        const auto nearer = [&](std::size_t a, std::size_t b) {
            return between(points_[a], points_[i]) < between(points_[b], points_[i]);
        };
        const std::ptrdiff_t widest = std::max(count_[0], count_[1]);
        for (std::ptrdiff_t ring = 0; ring <= widest; ++ring) {
            for (std::ptrdiff_t y = at(i, 1) - ring; y <= at(i, 1) + ring; ++y)
                for (std::ptrdiff_t x = at(i, 0) - ring; x <= at(i, 0) + ring; ++x) {
                    const bool edge = std::max(std::abs(y - at(i, 1)), std::abs(x - at(i, 0))) == ring;
                    if (!edge || x < 0 || y < 0 || x >= count_[0] || y >= count_[1]) continue;
                    for (const std::size_t other : boxes_[box(x, y)])
                        if (other != i) found.push_back(other);
                }
            if (found.size() < near_points) continue;
            std::stable_sort(found.begin(), found.end(), nearer);
            found.resize(near_points);
            if (between(points_[found.back()], points_[i]) <= static_cast<double>(ring) * side_) break;
        }
        std::stable_sort(found.begin(), found.end(), nearer);
        return found;
    }

private:
    [[nodiscard]] std::ptrdiff_t at(std::size_t i, std::size_t axis) const {
        return static_cast<std::ptrdiff_t>((points_[i][axis] - low_[axis]) / side_);
    }
    [[nodiscard]] std::size_t box(std::ptrdiff_t x, std::ptrdiff_t y) const {
        return static_cast<std::size_t>(y * count_[0] + x);
    }

    const std::vector<point2>& points_;
    point2 low_{1e300, 1e300}, high_{-1e300, -1e300};
    double side_ = 1;
    std::array<std::ptrdiff_t, 2> count_{1, 1};
    std::vector<std::vector<std::size_t>> boxes_;
};

class tour {
public:
    tour(const std::vector<point2>& points, std::vector<std::size_t> order)
        : points_(points), order_(std::move(order)), at_(points.size()) {
        for (std::size_t i = 0; i < order_.size(); ++i) at_[order_[i]] = i;
        const vicinity around(points);
        for (std::size_t i = 0; i < points.size(); ++i) near_.push_back(around.of(i));
    }

    std::vector<std::size_t> improved() {
        std::deque<std::size_t> waiting(order_.begin(), order_.end());
        std::vector<bool> waits(order_.size(), true);
        const auto wait = [&] {
            for (const std::size_t each : touched_)
                if (!waits[each]) waits[each] = true, waiting.push_back(each);
            touched_.clear();
        };
        uncross(), wait();
        if (order_.size() < near_points) return order_;  // moves need more points than they take
        while (!waiting.empty()) {
            const std::size_t city = waiting.front();
            waiting.pop_front(), waits[city] = false;
            while (exchange(city) || move(city)) {
            }
            wait();
            if (waiting.empty()) uncross(), wait();
        }
        return order_;
    }

private:
    [[nodiscard]] std::size_t next(std::size_t city, bool forward = true) const {
        const std::size_t n = order_.size(), at = at_[city];
        return order_[forward ? (at + 1 == n ? 0 : at + 1) : (at == 0 ? n - 1 : at - 1)];
    }
    [[nodiscard]] double length(std::size_t a, std::size_t b) const { return between(points_[a], points_[b]); }

    /// Reverses the cities from `first` to `last`, in tour order; or all others, if those are fewer.
    void turn(std::size_t first, std::size_t last) {
        const std::size_t n = order_.size();
        std::size_t i = at_[first], j = at_[last], inside = (j + n - i) % n + 1;
        if (2 * inside > n) {
            const std::size_t begin = (j + 1) % n, end = (i + n - 1) % n;
            i = begin, j = end, inside = n - inside;
        }
        for (std::size_t k = 0; k < inside / 2; ++k) {
            std::swap(order_[i], order_[j]);
            at_[order_[i]] = i, at_[order_[j]] = j;
            i = i + 1 == n ? 0 : i + 1, j = j == 0 ? n - 1 : j - 1;
        }
    }

    /// Replaces steps u-v and w-x, both in tour order or both against it, by u-w and v-x.
    void two_opt(std::size_t u, std::size_t v, std::size_t w, std::size_t x) {
        if (next(u) == v) turn(v, w);
        else turn(u, x);
    }

    /// Exchanges the ends of steps that meet, until no steps do. Long steps cross others between points far from both.
    void uncross() {
        for (std::vector<std::array<std::size_t, 4>> found = crossings(); !found.empty(); found = crossings()) {
            bool any = false;
            for (auto [a, b, c, d] : found) {
                if (next(a) != b) std::swap(a, b);
                if (next(c) != d) std::swap(c, d);
                if (next(a) != b || next(c) != d || length(a, c) + length(b, d) >= length(a, b) + length(c, d) - least)
                    continue;
                two_opt(a, b, c, d);
                touched_.insert(touched_.end(), {a, b, c, d});
                any = true;
            }
            if (!any) return;
        }
    }
    /// Returns the ends of all pairs of steps that have a point in common, but no end.
    [[nodiscard]] std::vector<std::array<std::size_t, 4>> crossings() const {
        std::vector<std::size_t> begins = order_;
        const auto low = [&](std::size_t a, std::size_t k) { return std::min(points_[a][k], points_[next(a)][k]); };
        const auto high = [&](std::size_t a, std::size_t k) { return std::max(points_[a][k], points_[next(a)][k]); };
        std::stable_sort(begins.begin(), begins.end(), [&](auto a, auto b) { return low(a, 0) < low(b, 0); });
        std::vector<std::array<std::size_t, 4>> found;
        for (std::size_t i = 0; i < begins.size(); ++i)
            for (std::size_t j = i + 1; j < begins.size() && low(begins[j], 0) <= high(begins[i], 0); ++j) {
                const std::size_t a = begins[i], b = next(a), c = begins[j], d = next(c);
                if (a == d || b == c || low(c, 1) > high(a, 1) || low(a, 1) > high(c, 1)) continue;
                if (side(a, b, c) * side(a, b, d) <= 0 && side(c, d, a) * side(c, d, b) <= 0)
                    found.push_back({a, b, c, d});
            }
        return found;
    }
    /// Returns on which side of the line from a to b a point lies: -1, 0 or 1.
    [[nodiscard]] int side(std::size_t a, std::size_t b, std::size_t c) const {
        const point2 &p = points_[a], &q = points_[b], &r = points_[c];
        const double area = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
        return area > 0 ? 1 : area < 0 ? -1 : 0;
    }

    /// Tries to exchange the ends of a's step and of a step from a point near it; true if that shortens the tour.
    bool exchange(std::size_t a) {
        for (const bool forward : {true, false}) {
            const std::size_t b = next(a, forward);
            const double ab = length(a, b);
            for (const std::size_t c : near_[a]) {
                const double ac = length(a, c);
                if (ac >= ab) break;
                const std::size_t d = next(c, forward);
                if (c == b || d == a || ac + length(b, d) >= ab + length(c, d) - least) continue;
                two_opt(a, b, c, d);
                touched_.insert(touched_.end(), {a, b, c, d});
                return true;
            }
        }
        return false;
    }

    /// Tries to move up to three cities, from `first` on in either direction, between two others.
    bool move(std::size_t first) {
        for (const bool forward : {true, false}) {
            std::size_t last = first;
            for (int count = 1; count <= 3; ++count, last = next(last, forward))
                if (move_run(first, last, count, forward)) return true;
        }
        return false;
    }
    bool move_run(std::size_t first, std::size_t last, int count, bool forward) {
        const std::size_t before = next(first, !forward), after = next(last, forward);
        const double saved = length(before, first) + length(last, after) - length(before, after);
        for (const std::size_t beside : near_[first]) {
            if (length(first, beside) >= saved) break;
            for (const bool on : {true, false}) {
                const std::size_t other = next(beside, on == forward), c = on ? beside : other, d = on ? other : beside;
                if (holds(first, count, forward, c) || holds(first, count, forward, d) || d == before) continue;
                if (length(beside, first) + length(last, other) - length(c, d) >= saved - least) continue;
                touched_.insert(touched_.end(), {before, after, first, last, c, d});
                // Turns before (first .. last) after .. c d into before after .. c (last .. first) d, by two reversals.
                two_opt(before, first, c, d);
                if (c != after) two_opt(before, c, after, last);
                if (on) two_opt(c, last, first, d);
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool holds(std::size_t first, int count, bool forward, std::size_t city) const {
        for (; count > 0; --count, first = next(first, forward))
            if (first == city) return true;
        return false;
    }

    static constexpr double least = 1e-9;  ///< length that a step must save at least

    const std::vector<point2>& points_;
    std::vector<std::size_t> order_, at_, touched_;
    std::vector<std::vector<std::size_t>> near_;
};

}  // namespace

std::vector<std::size_t> short_tour(const std::vector<point2>& points, std::vector<std::size_t> order) {
    return points.size() < 4 ? order : tour(points, std::move(order)).improved();
}

std::vector<std::size_t> along_curve(const std::vector<point2>& points, double width, double height) {
    // Hilbert's curve through 2^16 x 2^16 boxes: visits quarters in turn, rotated and mirrored.
    const double scale = 65535 / std::max({width, height, 1e-9});
    std::vector<std::uint64_t> key;
    for (const point2& p : points) {
        auto x = static_cast<std::uint32_t>(p[0] * scale), y = static_cast<std::uint32_t>(p[1] * scale);
        std::uint64_t k = 0;
        for (std::uint32_t s = 1U << 15; s > 0; s /= 2) {
            const bool right = (x & s) != 0, down = (y & s) != 0;
            k = 4 * k + (right ? (down ? 2 : 3) : (down ? 1 : 0));
            if (down) continue;
            if (right) x = ~x, y = ~y;
            std::swap(x, y);
        }
        key.push_back(k);
    }
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    return order;
}

std::vector<std::vector<point2>> cells_around(const std::vector<point2>& points,
                                              const std::vector<std::array<std::size_t, 2>>& neighbours, double width,
                                              double height) {
    std::vector<std::vector<point2>> all(points.size(), {{0, 0}, {width, 0}, {width, height}, {0, height}});
    const auto cut = [&](std::size_t i, std::size_t j) {
        // Keeps the part of the region that is at least as near to i as to j.
        const point2 &a = points[i], &b = points[j];
        const auto beyond = [&](const point2& p) {
            return (p[0] - (a[0] + b[0]) / 2) * (b[0] - a[0]) + (p[1] - (a[1] + b[1]) / 2) * (b[1] - a[1]);
        };
        std::vector<point2> kept;
        const std::vector<point2>& whole = all[i];
        for (std::size_t k = 0; k < whole.size(); ++k) {
            const point2 &p = whole[k], &q = whole[(k + 1) % whole.size()];
            const double from = beyond(p), to = beyond(q);
            if (from <= 0) kept.push_back(p);
            if ((from < 0 && to > 0) || (from > 0 && to < 0)) {
                const double t = from / (from - to);
                kept.push_back({p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])});
            }
        }
        all[i] = std::move(kept);
    };
    for (const auto& [i, j] : neighbours) cut(i, j), cut(j, i);
    return all;
}

}  // namespace nearfield::cli
