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

    /// The value's number, or -1 if it has none. Changes nothing, so many threads may call it at once.
    [[nodiscard]] std::int64_t get(std::uint64_t value) const {
        if (value < small) return value < flat_.size() ? flat_[value] - 1 : -1;
        return capacity_ == 0 ? -1 : find(value).number_and_1 - 1;
    }
    /// The value's number; a value without one gets `number`.
    std::int64_t get_or_set(std::uint64_t value, std::int64_t number) {
        if (value < small) {
            if (value >= flat_.size()) flat_.resize(std::min(small, std::max<std::uint64_t>(256, 2 * (value + 1))));
            if (flat_[value] == 0) flat_[value] = number + 1;
            return flat_[value] - 1;
        }
        if (10 * (used_ + 1) > 7 * capacity_) grow();
        place& p = find(value);
        if (p.number_and_1 == 0) p = {value, number + 1}, ++used_;
        return p.number_and_1 - 1;
    }

private:
    static constexpr std::uint64_t small = std::uint64_t{1} << 20;
    struct place {
        std::uint64_t value;
        std::int64_t number_and_1;  ///< number + 1; 0 marks an open place
    };
    /// The value's place, or the open place that it would take. The table always has one.
    [[nodiscard]] place& find(std::uint64_t value) const {
        const auto mask = static_cast<std::uint64_t>(capacity_ - 1);
        place* const all = places_.get();
        std::uint64_t at = scattered(value, seed_) & mask;
        while (all[at].number_and_1 != 0 && all[at].value != value) at = (at + 1) & mask;
        return all[at];
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
                if (p->number_and_1 != 0) find(p->value) = *p;
        });
    }

    workers* team_;
    hash_seed seed_ = process_seed();
    std::vector<std::int64_t> flat_;  ///< number + 1, by small value
    host_scratch<place> places_;
    std::int64_t capacity_ = 0, used_ = 0;  ///< in places; the capacity is a power of 2
};

}  // namespace nearfield::components
