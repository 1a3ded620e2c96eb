// On the host: the lines of all jobs of a group, and the points in them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/parallel.hpp"
#include "metrics/core.hpp"

namespace nearfield::metrics {

inline constexpr std::int64_t cells_at_once = 1 << 14;

/// Numbers the lines of all jobs' boxes, and yields for each its job and its number within the job.
struct line_numbers {
    std::vector<std::int64_t> first;

    explicit line_numbers(const group& g) : first{0} {
        for (const job& j : g.jobs) first.push_back(first.back() + j.size[0] * j.size[1]);
    }
    template <class Body>
    void for_each(workers& team, const group& g, const Body& body) const {
        const std::int64_t cells = std::max<std::int64_t>(g.cells / first.back(), 1);
        team.for_each(first.back(), std::max<std::int64_t>(cells_at_once / cells, 1), cells,
                      [&](std::int64_t from, std::int64_t to, int) {
                          while (from < to) {
                              const auto at = std::upper_bound(first.begin(), first.end(), from) - first.begin() - 1;
                              const auto k = static_cast<std::size_t>(at);
                              const std::int64_t last = std::min(to, first[k + 1]);
                              body(k, from - first[k], last - first[k]);
                              from = last;
                          }
                      });
    }
};

/// Calls body(index) for the bytes that are not 0; skips eight zero bytes at once.
template <class Body>
void for_marked(const std::uint8_t* mask, std::int64_t count, const Body& body) {
    for (std::int64_t i = 0; i < count;) {
        std::uint64_t eight = 1;
        if (i + 8 <= count) std::memcpy(&eight, mask + i, 8);
        const std::int64_t end = std::min(i + 8, count);
        for (; eight != 0 && i < end; ++i)
            if (mask[i] != 0) body(i);
        i = end;
    }
}

}  // namespace nearfield::metrics
