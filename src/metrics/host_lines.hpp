// On the host: the lines of all jobs of a group, and the points in them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
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

/// Calls body(index) for the bytes that are not 0; skips zero bytes by 32 and by eight.
template <class Body>
void for_marked(const std::uint8_t* mask, std::int64_t count, const Body& body) {
    constexpr std::int64_t word = 8, many = 4 * word;
    const auto load = [&](std::int64_t at, std::int64_t bytes) {
        std::uint64_t loaded = 0;
        std::memcpy(&loaded, mask + at, static_cast<std::size_t>(bytes));
        return loaded;
    };
    for (std::int64_t i = 0; i < count; i += word) {
        while (i + many <= count &&
               (load(i, word) | load(i + word, word) | load(i + 2 * word, word) | load(i + 3 * word, word)) == 0)
            i += many;
        std::uint64_t left = i + word <= count ? load(i, word) : load(i, std::max<std::int64_t>(count - i, 0));
        while (left != 0) {  // the lowest byte has the lowest address
            const int bit = std::countr_zero(left) / 8 * 8;
            body(i + bit / 8);
            left &= ~(std::uint64_t{255} << bit);
        }
    }
}

}  // namespace nearfield::metrics
