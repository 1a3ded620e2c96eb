// The Voronoi diagram of a round on the host, and sums over its regions.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "centroidal/core.hpp"

namespace nearfield::centroidal {

/// Copies the density's cells as uint16 in C order.
[[nodiscard]] host_scratch<std::uint16_t> density_of(const host& on, const any_input<host>& density);

/// Adds to a sum; atomically if it is shared by threads.
template <class T>
void add_to(T& to, T by, bool shared) {
    if (shared) std::atomic_ref(to).fetch_add(by, std::memory_order_relaxed);
    else to += by;
}

/// A run of parts along the last axis that belong to one site: sums of density times step^0, step^1 and step^2 along
/// this axis, and the steps along the others.
struct run_sums {
    std::uint64_t mass = 0;
    std::int64_t first = 0;
    std::uint64_t second = 0;
    std::int64_t step[2] = {};
    std::int64_t parts = 0;
};

class regions {
public:
    regions(const host& on, const problem& p);

    /// Sets the sites, which are different parts.
    void put(std::span<const std::int32_t> sites);
    /// Moves each site to its target unless that is taken; returns how many moved.
    std::int64_t move(std::span<std::int32_t> sites, std::span<const sums> of, std::int64_t relax);
    /// Finds the nearest site of every part.
    void find();
    /// Returns the number of the site nearest to a part.
    [[nodiscard]] std::int32_t owner(std::int64_t part) const { return number_.get()[nearest_.get()[part]]; }

    /// Calls add(number of the site, its run, thread) for all runs, from several threads if threads() > 1.
    template <class Add>
    void for_each_run(const std::uint16_t* density, const Add& add) const;
    [[nodiscard]] int threads() const { return workers(on_, 1).threads(); }

private:
    template <class Add>
    void runs_of_row(std::int64_t row, const std::uint16_t* weight, const Add& add) const;

    const host on_;  ///< does not report progress
    const problem& p_;
    host_scratch<std::uint8_t> seed_;
    host_scratch<std::int32_t> nearest_, number_;
    std::vector<place> place_;
};

template <class Add>
void regions::for_each_run(const std::uint16_t* density, const Add& add) const {
    const std::int64_t rows = p_.size[0] * p_.size[1], n = p_.size[2], factor = p_.factor[2];
    workers team(on_, rows);
    team.for_each(rows, std::max<std::int64_t>(1, (std::int64_t{1} << 14) / n), 1,
                  [&](std::int64_t first, std::int64_t last, int thread) {
                      std::vector<std::uint16_t> spread(static_cast<std::size_t>(factor > 1 ? n : 0));
                      std::int64_t there = -1;
                      for (std::int64_t row = first; row < last; ++row) {
                          const std::int64_t z = row / p_.size[1] / p_.factor[0], y = row % p_.size[1] / p_.factor[1],
                                             cell = (z * p_.cells_along(1) + y) * p_.cells_along(2);
                          if (factor > 1 && cell != there) {
                              for (std::int64_t x = 0; x < n; ++x)
                                  spread[static_cast<std::size_t>(x)] = density[cell + x / factor];
                              there = cell;
                          }
                          runs_of_row(row, factor > 1 ? spread.data() : density + cell,
                                      [&](std::int32_t site, const run_sums& run) { add(site, run, thread); });
                      }
                  });
}

template <class Add>
void regions::runs_of_row(std::int64_t row, const std::uint16_t* weight, const Add& add) const {
    const std::int64_t n = p_.size[2];
    const std::int32_t* const nearest = nearest_.get() + row * n;
    for (std::int64_t x = 0; x < n;) {
        const std::int32_t part = nearest[x], site = number_.get()[part];
        const place& at = place_[static_cast<std::size_t>(site)];
        run_sums run;
        const std::int64_t begin = x;
        for (; x < n && nearest[x] == part; ++x) {
            const std::int64_t d = step(p_, 2, at.at[2], x);
            const auto w = static_cast<std::int64_t>(weight[x]);
            run.mass += static_cast<std::uint64_t>(w), run.first += w * d;
            run.second += static_cast<std::uint64_t>(w * d * d);
        }
        run.parts = x - begin;
        run.step[0] = step(p_, 0, at.at[0], row / p_.size[1]), run.step[1] = step(p_, 1, at.at[1], row % p_.size[1]);
        add(site, run);
    }
}

}  // namespace nearfield::centroidal
