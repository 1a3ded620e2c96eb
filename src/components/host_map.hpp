// Maps values to numbers: an array serves small values, an open hash table all others. The table may take long to grow,
// so growing goes in steps between which a call can be stopped.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/scratch.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {

/// Numbers are from 1 and below 2^32. Value is unsigned.
template <class Value>
class value_map {
public:
    /// About `cells` values get numbers at most. Values below twice `cells` are small.
    value_map(workers& team, std::int64_t cells)
        : team_(&team),
          small_(std::max(std::uint64_t{1} << 20, 2 * static_cast<std::uint64_t>(cells))),
          enough_(std::bit_ceil(2 * static_cast<std::uint64_t>(cells))) {}

    /// The value's number, from 1; 0 if it has none. Changes nothing, so many threads may call it at once.
    [[nodiscard]] std::uint32_t get(Value value) const {
        if (value < small_) {
            const std::uint32_t more = value < flat_count_ ? flat_.get()[value] : 0;
            return more - (more != 0 ? 1 : 0);
        }
        return capacity_ == 0 ? 0 : find(value).number;
    }
    /// True if a table exceeds the second-level cache, so that fetch() pays.
    [[nodiscard]] bool is_large() const {
        constexpr std::uint64_t cached = 1 << 16;
        return std::max(flat_count_, capacity_) > cached;
    }
    /// Fetches what a call with this value reads first. GCC 12 drops calls that only prefetch, unless they are inlined
    /// early.
    [[gnu::always_inline]] void fetch(Value value) const {
        if (value < flat_count_) __builtin_prefetch(flat_.get() + value, 1);
        else if (capacity_ > 0) __builtin_prefetch(places_.get() + place_of(value), 1);
    }
    /// The value's number, 0 for 0; another value without one gets `number`.
    std::uint32_t get_or_set(Value value, std::uint32_t number) {
        if (value < flat_count_) {
            std::uint32_t& more = flat_.get()[value];
            if (more == 0) more = number + 1;
            return more - 1;
        }
        if (value < small_) {
            widen(value);
            return get_or_set(value, number);
        }
        if (8 * used_ >= 5 * capacity_) grow();
        place& p = find(value);
        if (p.number == 0) p = {value, number}, ++used_;
        return p.number;
    }

private:
    struct place {
        Value value;
        std::uint32_t number;  ///< 0 marks an open place
    };
    /// The value's place, or the open place that it would take. The table always has one.
    [[nodiscard]] place& find(Value value) const {
        const std::uint64_t mask = capacity_ - 1;
        place* const all = places_.get();
        std::uint64_t at = place_of(value);
        while (all[at].number != 0 && all[at].value != value) at = (at + 1) & mask;
        return all[at];
    }
    /// The upper bits of a hash, so that a table that grows copies its places in their order.
    [[nodiscard]] std::uint64_t place_of(Value value) const { return scattered(value, seed_) >> unused_bits_; }
    static std::int64_t signed_of(std::uint64_t count) { return static_cast<std::int64_t>(count); }
    [[gnu::noinline]] void widen(std::uint64_t value) {
        const std::uint64_t count = std::min(small_, std::max<std::uint64_t>(256, 2 * (value + 1)));
        host_scratch<std::uint32_t> wider(signed_of(count));
        std::copy_n(flat_.get(), flat_count_, wider.get());
        in_steps(*team_, signed_of(count - flat_count_), [&](std::int64_t first, std::int64_t last) {
            std::fill(wider.get() + flat_count_ + first, wider.get() + flat_count_ + last, 0);
        });
        wider.get()[0] = 1;
        flat_ = std::move(wider), flat_count_ = count;
    }
    [[gnu::noinline]] void grow() {
        const std::uint64_t before = capacity_;
        constexpr std::uint64_t least = 1 << 14;
        capacity_ = std::max({least, 2 * before, std::min(4 * before, enough_)});
        unused_bits_ = std::countl_zero(capacity_) + 1;
        const host_scratch<place> old = std::exchange(places_, host_scratch<place>(signed_of(capacity_)));
        in_steps(*team_, signed_of(capacity_), [&](std::int64_t first, std::int64_t last) {
            std::fill(places_.get() + first, places_.get() + last, place{});
        });
        in_steps(*team_, signed_of(before), [&](std::int64_t first, std::int64_t last) {
            for (const place* p = old.get() + first; p != old.get() + last; ++p)
                if (p->number != 0) find(p->value) = *p;
        });
    }

    workers* team_;
    hash_seed seed_ = process_seed();
    std::uint64_t small_, enough_, flat_count_ = 0;
    host_scratch<std::uint32_t> flat_;  ///< 1 more than the number, by small value; 0 without one. No branch tells 0
    host_scratch<place> places_;
    std::uint64_t capacity_ = 0, used_ = 0;  ///< in places; the capacity is a power of 2
    int unused_bits_ = 0;
};

}  // namespace nearfield::components
