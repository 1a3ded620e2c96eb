// Maps values to numbers: an array serves small values, an open hash table all others. The table may take long to grow,
// so growing goes in steps between which a call can be stopped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/scratch.hpp"
#include "base/unwritten.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {

class value_map {
public:
    explicit value_map(workers& team) : team_(&team) {}

    /// The value's number, from 1; 0 if it has none. Changes nothing, so many threads may call it at once.
    [[nodiscard]] std::int64_t get(std::uint64_t value) const {
        if (value < small) return value < flat_.size() ? flat_[value] : 0;
        return capacity_ == 0 ? 0 : find(value).number;
    }
    /// Fetches what a call with this value reads first from a table that exceeds the second-level cache.
    void fetch(std::uint64_t value) const {
        constexpr std::int64_t cached = 1 << 16;
        if (capacity_ > cached && value >= small) __builtin_prefetch(places_.get() + place_of(value));
    }
    /// The value's number, 0 for 0; another value without one gets `number`.
    std::int64_t get_or_set(std::uint64_t value, std::int64_t number) {
        if (value < flat_.size()) {
            std::int64_t& its = flat_[value];
            if ((its != 0) | (value == 0)) return its;  // one branch: cells of 0 and others may alternate
            return its = number;
        }
        if (value < small) {
            flat_.resize(std::min(small, std::max<std::uint64_t>(256, 2 * (value + 1))));
            return get_or_set(value, number);
        }
        if (10 * (used_ + 1) > 7 * capacity_) grow();
        place& p = find(value);
        if (p.number == 0) p = {value, number}, ++used_;
        return p.number;
    }

private:
    static constexpr std::uint64_t small = std::uint64_t{1} << 20;
    struct place {
        std::uint64_t value;
        std::int64_t number;  ///< 0 marks an open place
    };
    /// The value's place, or the open place that it would take. The table always has one.
    [[nodiscard]] place& find(std::uint64_t value) const {
        const auto mask = static_cast<std::uint64_t>(capacity_ - 1);
        place* const all = places_.get();
        std::uint64_t at = place_of(value);
        while (all[at].number != 0 && all[at].value != value) at = (at + 1) & mask;
        return all[at];
    }
    [[nodiscard]] std::uint64_t place_of(std::uint64_t value) const {
        return scattered(value, seed_) & static_cast<std::uint64_t>(capacity_ - 1);
    }
    void grow() {
        const std::int64_t before = capacity_;
        capacity_ = std::max<std::int64_t>(1024, 2 * before);
        // Counts the caller's list of values too: it grows beside the table, in pieces too small to be checked.
        const std::int64_t bytes = capacity_ * static_cast<std::int64_t>(sizeof(place) + sizeof(std::uint64_t));
        if (bytes >= least_counted_bytes) require_memory_for_all(bytes, "the call's workspace");
        const host_scratch<place> old = std::exchange(places_, host_scratch<place>(capacity_));
        in_steps(*team_, capacity_, [&](std::int64_t first, std::int64_t last) {
            std::fill(places_.get() + first, places_.get() + last, place{});
        });
        in_steps(*team_, before, [&](std::int64_t first, std::int64_t last) {
            for (const place* p = old.get() + first; p != old.get() + last; ++p)
                if (p->number != 0) find(p->value) = *p;
        });
    }

    workers* team_;
    hash_seed seed_ = process_seed();
    std::vector<std::int64_t> flat_;  ///< number by small value, 0 without one
    host_scratch<place> places_;
    std::int64_t capacity_ = 0, used_ = 0;  ///< in places; the capacity is a power of 2
};

}  // namespace nearfield::components
