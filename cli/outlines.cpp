#include "cli/outlines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nearfield::cli {
namespace {

constexpr double off_curve = 1.0 / 1024, touching = 1e-6;  // pixels
/// From an edge to the two places that say whether one of its sides is outside.
constexpr double aside = 1e-4;

place operator+(place a, place b) { return {a.y + b.y, a.x + b.x}; }
place operator-(place a, place b) { return {a.y - b.y, a.x - b.x}; }
place operator*(double t, place a) { return {t * a.y, t * a.x}; }
double length2(place a) { return a.y * a.y + a.x * a.x; }
double length(place a) { return std::sqrt(length2(a)); }
double cross(place a, place b) { return a.y * b.x - a.x * b.y; }
/// Returns the foot of a perpendicular on an edge, from 0 to 1 between its ends.
double along(const edge& e, place p) {
    const place v = e.to - e.from, w = p - e.from;
    return (w.y * v.y + w.x * v.x) / length2(v);
}
place at(const edge& e, double t) { return e.from + t * (e.to - e.from); }
double distance2(const edge& e, place p) { return length2(p - at(e, std::clamp(along(e, p), 0.0, 1.0))); }

/// The edges that touch a column of pixels, and how often they wind around a place in it.
class by_column {
public:
    explicit by_column(const std::vector<edge>& edges) : edges_(edges) {
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (const edge& e : edges)
            least = std::min({least, e.from.x, e.to.x}), most = std::max({most, e.from.x, e.to.x});
        if (edges.empty()) return;
        first_ = column_of(least), columns_.resize(static_cast<std::size_t>(column_of(most) - first_ + 1));
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const auto [low, high] = std::minmax(edges[i].from.x, edges[i].to.x);
            for (std::int64_t k = column_of(low); k <= column_of(high); ++k)
                columns_[static_cast<std::size_t>(k - first_)].push_back(i);
        }
    }
    [[nodiscard]] const std::vector<std::vector<std::size_t>>& all() const { return columns_; }

    /// Calls body(y, turn) for each edge that crosses the vertical line at x.
    template <class Body>
    void crossings(double x, const Body& body) const {
        const std::int64_t k = column_of(x) - first_;
        if (k < 0 || k >= static_cast<std::int64_t>(columns_.size())) return;
        for (const std::size_t i : columns_[static_cast<std::size_t>(k)]) {
            const auto& [from, to] = edges_[i];
            if ((from.x <= x) == (to.x <= x)) continue;
            body(from.y + (x - from.x) / (to.x - from.x) * (to.y - from.y), from.x < to.x ? 1 : -1);
        }
    }
    [[nodiscard]] bool is_inside(place p) const {
        int turns = 0;
        crossings(p.x, [&](double y, int turn) { turns += y < p.y ? turn : 0; });
        return turns != 0;
    }

private:
    static std::int64_t column_of(double x) { return static_cast<std::int64_t>(std::floor(x)); }

    const std::vector<edge>& edges_;
    std::int64_t first_ = 0;
    std::vector<std::vector<std::size_t>> columns_;
};

/// Adds the places along e where f meets it.
void meet(const edge& e, const edge& f, std::vector<double>& cuts) {
    const auto add = [&](double t) {
        if (t > 0 && t < 1) cuts.push_back(t);
    };
    for (const place end : {f.from, f.to})
        if (const double t = along(e, end); length(end - at(e, t)) < touching) add(t);
    const place u = e.to - e.from, v = f.to - f.from, w = f.from - e.from;
    const double area = cross(u, v);
    if (const double s = cross(w, u) / area; area != 0 && s > 0 && s < 1) add(cross(w, v) / area);
}

/// Keeps the parts of edges that have the inside on one side only.
std::vector<edge> boundary_of(const std::vector<edge>& edges) {
    const by_column columns(edges);
    std::vector<std::vector<double>> cuts(edges.size(), {0, 1});
    for (const std::vector<std::size_t>& column : columns.all())
        for (const std::size_t i : column)
            for (const std::size_t j : column)
                if (i != j) meet(edges[i], edges[j], cuts[i]);
    std::vector<edge> kept;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        std::sort(cuts[i].begin(), cuts[i].end());
        for (std::size_t k = 1; k < cuts[i].size(); ++k) {
            const edge part{at(edges[i], cuts[i][k - 1]), at(edges[i], cuts[i][k])};
            const place v = part.to - part.from, middle = at(part, 0.5);
            if (length(v) < 2 * aside) continue;
            const place step = aside / length(v) * place{-v.x, v.y};
            if (columns.is_inside(middle + step) != columns.is_inside(middle - step)) kept.push_back(part);
        }
    }
    return kept;
}

/// Measures pixels: a part of the picture keeps the edges that can be nearest to one of its pixels.
struct nearest {
    float* to;
    std::int64_t step;

    void solve(std::int64_t y, std::int64_t x, std::int64_t rows, std::int64_t columns,
               const std::vector<edge>& from) const {
        constexpr std::int64_t few = 16;
        if (rows * columns <= few) return measure(y, x, rows, columns, from);
        const place middle{static_cast<double>(2 * y + rows - 1) / 2, static_cast<double>(2 * x + columns - 1) / 2};
        std::vector<double> away(from.size());
        std::transform(from.begin(), from.end(), away.begin(), [&](const edge& e) { return distance2(e, middle); });
        const double reach = length({static_cast<double>(rows - 1), static_cast<double>(columns - 1)});
        const double most = std::sqrt(*std::min_element(away.begin(), away.end())) + reach + touching;
        std::vector<edge> left;
        for (std::size_t k = 0; k < from.size(); ++k)
            if (away[k] <= most * most) left.push_back(from[k]);
        const std::int64_t down = rows >= columns ? rows / 2 : rows, right = rows >= columns ? columns : columns / 2;
        solve(y, x, down, right, left);
        if (down < rows) solve(y + down, x, rows - down, columns, left);
        else solve(y, x + right, rows, columns - right, left);
    }
    void measure(std::int64_t y, std::int64_t x, std::int64_t rows, std::int64_t columns,
                 const std::vector<edge>& from) const {
        for (std::int64_t i = y; i < y + rows; ++i)
            for (std::int64_t j = x; j < x + columns; ++j) {
                double least = std::numeric_limits<double>::infinity();
                for (const edge& e : from)
                    least = std::min(least, distance2(e, {static_cast<double>(i), static_cast<double>(j)}));
                to[i * step + j] = static_cast<float>(std::sqrt(least));
            }
    }
};

}  // namespace

void outlines::line(place to) {
    if (to.y != at_.y || to.x != at_.x) edges_.push_back({at_, to});
    at_ = to;
}
void outlines::curve(place control, place to) {
    curve(1.0 / 3 * at_ + 2.0 / 3 * control, 2.0 / 3 * control + 1.0 / 3 * to, to);
}
void outlines::curve(place first, place second, place to) {
    const place from = at_;
    const double bend = std::max(length(from - 2 * first + second), length(first - 2 * second + to));
    const double pieces = std::max(1.0, std::ceil(std::sqrt(0.75 * bend / off_curve)));  // |B''| <= 6 bend
    for (double k = 1; k <= pieces; ++k) {
        const double t = k / pieces, r = 1 - t;
        line(k == pieces ? to : r * r * r * from + 3 * r * r * t * first + 3 * r * t * t * second + t * t * t * to);
    }
}

void outlines::write(float* to, std::int64_t rows, std::int64_t columns, std::int64_t step, bool down,
                     bool across) const {
    std::vector<edge> boundary = boundary_of(edges_);
    if (boundary.empty()) {
        for (std::int64_t y = 0; y < rows; ++y)
            std::fill_n(to + y * step, columns, -std::numeric_limits<float>::infinity());
        return;
    }
    const std::size_t own = boundary.size();
    const std::int64_t far_down = down ? rows : 0, far_across = across ? columns : 0;
    for (std::int64_t y = -far_down; y <= far_down; y += rows)
        for (std::int64_t x = -far_across; x <= far_across; x += columns)
            for (std::size_t i = 0; (y != 0 || x != 0) && i < own; ++i) {
                const place by{static_cast<double>(y), static_cast<double>(x)};
                boundary.push_back({boundary[i].from + by, boundary[i].to + by});
            }
    nearest{to, step}.solve(0, 0, rows, columns, boundary);
    const by_column sides(edges_);
    std::vector<std::pair<double, int>> turns;
    for (std::int64_t x = 0; x < columns; ++x) {
        turns.clear();
        sides.crossings(static_cast<double>(x), [&](double y, int turn) { turns.emplace_back(y, turn); });
        std::sort(turns.begin(), turns.end());
        int inside = 0;
        auto next = turns.begin();
        for (std::int64_t y = 0; y < rows; ++y) {
            for (; next != turns.end() && next->first < static_cast<double>(y); ++next) inside += next->second;
            if (inside == 0) to[y * step + x] = -to[y * step + x];
        }
    }
}

}  // namespace nearfield::cli
