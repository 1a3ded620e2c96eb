#include "components/hull.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/wide.hpp"

namespace nearfield::components {
namespace {

/// Adds a point below the others to the corners of a hull's left side (Andrew's monotone chain).
void add_corner(std::vector<half_point>& corners, const half_point& p) {
    if (!corners.empty() && corners.back().y == p.y) {
        if (corners.back().x <= p.x) return;
        corners.pop_back();
    }
    const auto is_hidden = [&](const half_point& a, const half_point& b) {
        return static_cast<int128>(b.x - a.x) * (p.y - a.y) >= static_cast<int128>(p.x - a.x) * (b.y - a.y);
    };
    while (corners.size() > 1 && is_hidden(corners.end()[-2], corners.back())) corners.pop_back();
    corners.push_back(p);
}

/// Finds the left side of the hull of edges' midpoints; with `sign` -1 the right side, mirrored in x. Between
/// neighbouring lines whose ends lie at most a cell apart, the midpoints of the edges above and below are no corners:
/// those of the edges beside them hide them.
void find_side(const std::vector<line_span>& lines, int sign, std::vector<half_point>& corners) {
    corners.clear();
    const auto end_of = [&](std::size_t k) { return sign > 0 ? lines[k].first : -lines[k].last; };
    const auto joins_next = [&](std::size_t k) {
        return k + 1 < lines.size() && lines[k + 1].line == lines[k].line + 1 &&
               std::abs(end_of(k + 1) - end_of(k)) <= 1;
    };
    bool joined = false;
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const std::int64_t y = 2 * lines[k].line, x = 2 * end_of(k);
        if (!joined) add_corner(corners, {y - 1, x});
        add_corner(corners, {y, x - 1});
        joined = joins_next(k);
        if (!joined) add_corner(corners, {y + 1, x});
    }
}

/// Finds the first cell of a line inside the hull's side; lines come in ascending order.
class first_inside {
public:
    explicit first_inside(const std::vector<half_point>& corners) : at_(corners.data()) {}
    std::int64_t operator()(std::int64_t line) {
        while (at_[1].y < 2 * line) ++at_;
        const std::int64_t height = at_[1].y - at_->y;
        const int128 x = static_cast<int128>(at_->x) * height +
                         static_cast<int128>(at_[1].x - at_->x) * (2 * line - at_->y);  // in units of 1 / height
        const int128 cell = 2 * static_cast<int128>(height), down = x / cell;
        return static_cast<std::int64_t>(down + (x % cell > 0 ? 1 : 0));
    }

private:
    const half_point* at_;
};

/// Sum of floor((a i + b) / m) for i from 0 to n - 1, by Euclid's algorithm; m is positive.
std::int64_t floor_sum(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
    const auto floor_of = [&](std::int64_t x) { return x / m - (x % m < 0 ? 1 : 0); };
    std::int64_t sum = 0;
    while (n > 0) {
        const std::int64_t whole_a = floor_of(a), whole_b = floor_of(b);
        sum += whole_a * (n * (n - 1) / 2) + whole_b * n;
        a -= whole_a * m, b -= whole_b * m;
        const std::int64_t end = a * n + b;
        n = end / m, b = end % m;
        std::swap(a, m);
    }
    return sum;
}

/// Sum of first_inside over the lines top .. bottom.
std::int64_t sum_inside(const std::vector<half_point>& corners, std::int64_t top, std::int64_t bottom) {
    std::int64_t sum = 0, line = top;
    for (std::size_t k = 1; k < corners.size() && line <= bottom; ++k) {
        const half_point &a = corners[k - 1], &b = corners[k];
        const std::int64_t end = std::min(b.y >> 1, bottom) + 1, height = b.y - a.y, slope = b.x - a.x;
        if (end <= line) continue;
        const std::int64_t first = a.x * height + slope * (2 * line - a.y), cell = 2 * height;
        sum += floor_sum(end - line, cell, 2 * slope, first + cell - 1);
        line = end;
    }
    return sum;
}

}  // namespace

void convex_hull::take(std::span<const std::int64_t> runs, std::int64_t side) {
    lines_.clear();
    for (std::size_t k = 0; k + 1 < runs.size(); k += 2) {
        const std::int64_t line = runs[k] / side, first = runs[k] % side, last = first + runs[k + 1] - 1;
        if (lines_.empty() || line > lines_.back().line) lines_.push_back({line, first, last});
        else lines_.back().last = std::max(lines_.back().last, last);
    }
    find_side(lines_, 1, left_), find_side(lines_, -1, right_);
    const bool scattered = !lines_.empty() && lines_.back().line - lines_.front().line > 4 * std::ssize(lines_);
    if (scattered) fill_ends(side);
    else fill(0, 0);
    find_side(filled_, 1, left_), find_side(filled_, -1, right_);
}

/// Lists the spans of cells in the hull, and counts these, but for lines skip_first .. skip_end - 1.
void convex_hull::fill(std::int64_t skip_first, std::int64_t skip_end) {
    filled_.clear(), cells_ = 0;
    if (lines_.empty()) return;
    first_inside left(left_), right(right_);
    for (std::int64_t line = lines_.front().line; line <= lines_.back().line; ++line) {
        if (line == skip_first && line < skip_end) line = skip_end;
        const line_span inside{line, left(line), -right(line)};
        if (inside.first > inside.last) continue;
        filled_.push_back(inside), cells_ += inside.last - inside.first + 1;
    }
}

/// As fill() for cells that lie far apart: leaves out lines between the first and the last ones that do not change the
/// diameter. The cells of its ends lie at least so far apart as those of the label, less half a cell at each; and two
/// cells are no farther apart than the hull is wide and their lines are.
void convex_hull::fill_ends(std::int64_t side) {
    const std::int64_t top = lines_.front().line, bottom = lines_.back().line;
    if (side >= std::int64_t{1} << 29 || bottom >= std::int64_t{1} << 29) return fill(0, 0);  // products beyond 64 bits
    std::int64_t first = side, last = 0;
    for (const line_span& each : lines_) first = std::min(first, each.first), last = std::max(last, each.last);
    const double apart = std::sqrt(diameter2()) * (1 - 1e-12) - std::max(cell_y_, cell_x_);
    const double wide = static_cast<double>(last - first) * cell_x_, high2 = apart * apart - wide * wide;
    const auto lines = static_cast<std::int64_t>(std::sqrt(std::max(apart > 0 ? high2 : 0, 0.0)) / cell_y_);
    fill(bottom - lines + 1, top + lines);
    cells_ = bottom - top + 1 - sum_inside(left_, top, bottom) - sum_inside(right_, top, bottom);
}

double convex_hull::diameter2() const {
    double most = 0;
    const auto measure = [&](const half_point& a, double ax, const half_point& b, double bx) {
        const double dy = static_cast<double>(a.y - b.y) * 0.5 * cell_y_, dx = (ax - bx) * 0.5 * cell_x_;
        most = std::max(most, dy * dy + dx * dx);
    };
    const auto x_of = [](const half_point& p, double sign) { return sign * static_cast<double>(p.x); };
    for (std::size_t i = 0; i < left_.size(); ++i) {
        for (const half_point& b : right_) measure(left_[i], x_of(left_[i], 1), b, x_of(b, -1));
        for (std::size_t j = 0; j < i; ++j) measure(left_[i], x_of(left_[i], 1), left_[j], x_of(left_[j], 1));
    }
    for (std::size_t i = 0; i < right_.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) measure(right_[i], x_of(right_[i], 1), right_[j], x_of(right_[j], 1));
    return most;
}

}  // namespace nearfield::components
