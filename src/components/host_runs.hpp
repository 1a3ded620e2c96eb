// Runs of equal cells in lines of any stride, and the pieces of lines that threads take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/parallel.hpp"
#include "base/with_integer.hpp"
#include "components/core.hpp"

namespace nearfield::components {

/// Cells side by side along the last axis.
template <class T>
struct line {
    const T* first = nullptr;
    std::int64_t step = 1;
    T operator[](std::int64_t x) const { return first[x * step]; }
};

template <class T>
line<T> line_of(const array3& a, std::int64_t number) {
    return {static_cast<const T*>(a.data) + a.line_at(number), a.step[2]};
}

/// The first place after x whose value differs from that at x; `end` if there is none before it.
template <class T>
std::int64_t run_end(const line<T>& cells, std::int64_t x, std::int64_t end) {
    const T value = cells[x];
    const auto scan = [&](std::int64_t until) {
        while (x < until && cells[x] == value) ++x;
        return x < until;
    };
    constexpr std::int64_t few = 8, at_once = 64 / static_cast<std::int64_t>(sizeof(T));
    if (scan(std::min(end, x + few)) || cells.step != 1) return scan(end), x;
    for (; x + at_once <= end; x += at_once) {
        unsigned char other = 0;  // one flag for all cells, which the compiler vectorizes
        for (std::int64_t i = 0; i < at_once; ++i)
            other = static_cast<unsigned char>(other | (cells.first[x + i] != value ? 1 : 0));
        if (other != 0) break;
    }
    scan(end);
    return x;
}

/// The part of a line that a thread takes at once.
struct piece {
    std::int64_t line, first, last;
};

/// Pieces in raster order.
class pieces {
public:
    /// Cuts lines into pieces of at most `cells` cells.
    explicit pieces(const array3& a, std::int64_t cells = at_once)
        : most_(cells), side_(a.side[2]), of_line_((side_ + most_ - 1) / most_), count_(a.lines() * of_line_) {}
    [[nodiscard]] std::int64_t count() const { return count_; }
    /// Number of pieces that make a task worth handing to a thread.
    [[nodiscard]] std::int64_t block() const {
        return std::max<std::int64_t>(1, at_once / std::max<std::int64_t>(1, std::min(side_, most_)));
    }
    [[nodiscard]] piece operator[](std::int64_t number) const {
        const std::int64_t line = number / of_line_, first = (number - line * of_line_) * most_;
        return {line, first, std::min(side_, first + most_)};
    }
    /// The pieces in another order: the first of each line, then the second of each, so that lines beside each other
    /// meet in the caches.
    [[nodiscard]] piece across(std::int64_t number) const {
        const std::int64_t lines = count_ / of_line_, first = number / lines * most_;
        return {number % lines, first, std::min(side_, first + most_)};
    }

private:
    static constexpr std::int64_t at_once = std::int64_t{1} << 16;
    std::int64_t most_, side_, of_line_, count_;
};

/// Calls body(value, first, end) for the runs of a piece, cut off where the piece ends.
template <class T, class Body>
void for_each_run(const line<T>& cells, const piece& p, const Body& body) {
    for (std::int64_t x = p.first, end = 0; x < p.last; x = end) {
        end = run_end(cells, x, p.last);
        body(cells[x], x, end);
    }
}

/// Calls body(value, first, end) for the whole runs that begin in the piece.
template <class T, class Body>
void for_each_whole_run(const line<T>& cells, const piece& p, std::int64_t side, const Body& body) {
    std::int64_t x = p.first;
    if (x > 0 && cells[x] == cells[x - 1]) x = run_end(cells, x, p.last);
    for (std::int64_t end = 0; x < p.last; x = end) {
        end = run_end(cells, x, p.last);
        if (end == p.last && end < side && cells[end] == cells[x]) end = run_end(cells, end, side);
        body(cells[x], x, end);
    }
}

/// Calls body(first, last) for [0, count) in steps, between which the call can be stopped.
template <class Body>
void in_steps(workers& team, std::int64_t count, const Body& body) {
    constexpr std::int64_t at_once = 1 << 18;
    for (std::int64_t first = 0; first < count; first += at_once) {
        body(first, std::min(first + at_once, count));
        if (count > at_once) team.go_on(0);
    }
}

}  // namespace nearfield::components
