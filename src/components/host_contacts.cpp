// contacts() on the host: every thread lists the pairs that it sees. A full list is sorted by radix, and equal pairs
// become one, so a pair takes little more memory however often it is seen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/scratch.hpp"
#include "base/wide.hpp"
#include "components/engine.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

constexpr unsigned no_face = 3, faces = 4;

/// Counts how often two values touch, by faces normal to one axis, or by edges and corners only (no_face). The key has
/// the smaller value in its upper half, the other in its lower half.
template <class Key>
struct seen {
    Key key;
    std::uint64_t counted;  ///< how often, times 4, plus the kind of face

    [[nodiscard]] std::uint64_t times() const { return counted / faces; }
    [[nodiscard]] std::size_t face() const { return counted % faces; }
    void add(const seen& other) { counted += other.counted - other.face(); }
};

int bit_width(std::uint64_t x) { return static_cast<int>(std::bit_width(x)); }
int bit_width(uint128 x) {
    const auto high = static_cast<std::uint64_t>(x >> 64);
    return high != 0 ? 64 + bit_width(high) : bit_width(static_cast<std::uint64_t>(x));
}

/// Sorts few pairs by their keys.
template <class Key>
void insert_each(seen<Key>* pairs, std::int64_t count) {
    for (std::int64_t i = 1, at = 1; i < count; at = ++i) {
        const seen<Key> next = pairs[i];
        for (; at > 0 && next.key < pairs[at - 1].key; --at) pairs[at] = pairs[at - 1];
        pairs[at] = next;
    }
}

/// Sorts pairs by the upper bits in which their keys differ, then those with equal bits by the bits below. The result
/// is in `pairs` if `stay` is set, else in `other`, which has as many places.
template <class Key>
void sort(workers& team, seen<Key>* pairs, seen<Key>* other, std::int64_t count, bool stay) {
    constexpr std::int64_t few = 16, asked = 1 << 16;
    constexpr int most_bits = 8;
    Key differ = 0;
    if (count > few)
        for (std::int64_t i = 1; i < count; ++i) differ |= pairs[i].key ^ pairs[0].key;
    if (differ == 0) {
        if (!stay) pairs = std::copy_n(pairs, count, other) - count;
        if (count <= few) insert_each(pairs, count);
        return;
    }
    if (count > asked) team.go_on(0);
    const int bits = std::min(most_bits, bit_width(static_cast<std::uint64_t>(count)) - 3),
              below = std::max(0, bit_width(differ) - bits);
    const auto mask = (std::size_t{1} << bits) - 1;
    const auto part_of = [&](Key key) { return static_cast<std::size_t>(key >> below) & mask; };
    std::array<std::int64_t, 1 << most_bits> end;
    std::fill_n(end.begin(), 1 << bits, 0);
    for (std::int64_t i = 0; i < count; ++i) ++end[part_of(pairs[i].key)];
    for (std::int64_t part = 0, sum = 0; part < 1 << bits; ++part)
        sum += std::exchange(end[static_cast<std::size_t>(part)], sum);
    for (std::int64_t i = 0; i < count; ++i) other[end[part_of(pairs[i].key)]++] = pairs[i];
    for (std::int64_t part = 0, first = 0; part < 1 << bits; ++part) {
        const std::int64_t last = end[static_cast<std::size_t>(part)];
        if (last > first) sort(team, other + first, pairs + first, last - first, !stay);
        first = last;
    }
}

/// Makes one entry of all that have the same pair and face; returns how many are left.
template <class Key>
std::int64_t unite(seen<Key>* sorted, std::int64_t count) {
    std::int64_t kept = 0;
    for (std::int64_t i = 0, end = 1; i < count; i = end) {
        const Key key = sorted[i].key;
        for (end = i + 1; end < count && sorted[end].key == key;) ++end;
        if (end == i + 1) {
            sorted[kept++] = sorted[i];
            continue;
        }
        std::array<seen<Key>, faces> each{};
        for (; i < end; ++i) {
            seen<Key> next = sorted[i];
            next.add(each[next.face()]);
            each[next.face()] = next;
        }
        for (const seen<Key>& all : each)
            if (all.counted != 0) sorted[kept++] = all;
    }
    return kept;
}

/// The pairs that one thread has seen.
template <class Key>
class pair_list {
public:
    explicit pair_list(workers& team) : team_(&team) {}

    void add(const seen<Key>& pair) {
        if (recent_.empty()) recent_.resize(places);  // on first use: there may be many more threads than pairs
        seen<Key>& place = recent_[place_of(pair)];
        if (place.key == pair.key && place.face() == pair.face()) return place.add(pair);
        if (place.counted != 0) append(place);
        place = pair;
    }
    /// Returns all pairs, sorted.
    [[nodiscard]] std::span<const seen<Key>> take() {
        for (const seen<Key>& each : recent_)
            if (each.counted != 0) append(each);
        recent_ = {};
        if (count_ > 0) sort_all();
        spare_ = {};
        return {pairs_.get(), static_cast<std::size_t>(count_)};
    }

private:
    static constexpr std::size_t places = std::size_t{1} << 13;

    [[nodiscard]] static std::size_t place_of(const seen<Key>& pair) {
        constexpr int half = 4 * sizeof(Key);
        const auto a = static_cast<std::uint64_t>(pair.key >> half), b = static_cast<std::uint64_t>(pair.key);
        return (a * 0x9e3779b97f4a7c15u + b * 0xc2b2ae3d27d4eb4fu + pair.face() * 0xd6e8feb86659fd93u) >> 51;
    }
    void append(const seen<Key>& pair) {
        if (count_ == capacity_) make_room();
        pairs_.get()[count_++] = pair;
    }
    void sort_all() {
        sort(*team_, pairs_.get(), spare_.get(), count_, true);
        count_ = unite(pairs_.get(), count_);
    }
    /// Sorts the list. If few pairs are equal, it also gets more places: short lists many more, so that the pairs of a
    /// long one have been sorted once or twice.
    void make_room() {
        if (count_ > 0) sort_all();
        if (2 * count_ < capacity_) return;
        constexpr std::int64_t least = 1 << 14, is_long = 1 << 18;
        capacity_ = std::max(least, (capacity_ < is_long ? 16 : 4) * capacity_);
        host_scratch<seen<Key>> larger(capacity_);
        std::copy_n(pairs_.get(), count_, larger.get());
        pairs_ = std::move(larger);
        spare_ = {};
        spare_ = host_scratch<seen<Key>>(capacity_);
    }

    workers* team_;
    std::vector<seen<Key>> recent_;  ///< a pair's last occurrences, at a place that follows from the pair
    host_scratch<seen<Key>> pairs_, spare_;
    std::int64_t count_ = 0, capacity_ = 0;
};

/// Adds pairs to a list; adds a pair that repeats along a line only once, with its count.
template <class Key>
class collector {
public:
    collector(pair_list<Key>& to, const step3& step, std::int64_t least)
        : to_(to), least_(least), face_(step.changes() == 1 ? static_cast<unsigned>(step.axis()) : no_face) {}

    template <class T>
    void add(T x, T y) {
        constexpr int half = 4 * sizeof(Key);
        const Key key = static_cast<Key>(number_of(std::min(x, y))) << half | number_of(std::max(x, y));
        if (key != key_) put(), key_ = key;
        ++times_;
    }
    /// Adds the last pair to the list.
    void put() {
        if (times_ > 0) to_.add({key_, faces * times_ + face_});
        times_ = 0;
    }

private:
    template <class T>
    [[nodiscard]] std::uint64_t number_of(T value) const {
        if constexpr (std::is_same_v<T, std::uint64_t>)
            if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                fail(
                    fmt::format("labels has the value {}, which int64 cannot hold; relabel() makes small ones", value));
        return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least_);
    }

    pair_list<Key>& to_;
    std::int64_t least_;
    unsigned face_;
    Key key_ = 0;
    std::uint64_t times_ = 0;
};

/// Collects the pairs of here[x] and there[x + by] for x in [first, last).
template <class T, class Key>
void collect(const line<T>& here, const line<T>& there, std::int64_t first, std::int64_t last, int by,
             collector<Key>& to) {
    constexpr std::int64_t at_once = 64 / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t x = first; x < last;) {
        std::int64_t end = std::min(last, x + at_once);
        if (here.step == 1 && there.step == 1 && end == x + at_once) {
            unsigned char touch = 0;
            for (std::int64_t i = x; i < end; ++i) {
                const T a = here.first[i], b = there.first[i + by];
                touch = static_cast<unsigned char>(touch | ((a != b) & (a != 0) & (b != 0) ? 1 : 0));
            }
            if (touch == 0) {
                x = end;
                continue;
            }
        }
        for (; x < end; ++x) {
            const T a = here[x], b = there[x + by];
            if (a != b && a != 0 && b != 0) to.add(a, b);
        }
    }
}

template <class T, class Key>
void collect_piece(const array3& labels, const steps3& steps, const piece& p, std::int64_t least, pair_list<Key>& to) {
    const std::int64_t plane = p.line / labels.side[1], row = p.line % labels.side[1];
    for (int k = 0; k < steps.count; ++k) {
        const auto& [by] = steps.all[k];
        if (plane + by[0] >= labels.side[0] || row + by[1] < 0 || row + by[1] >= labels.side[1]) continue;
        const line<T> here = line_of<T>(labels, p.line),
                      there = line_of<T>(labels, p.line + by[0] * labels.side[1] + by[1]);
        collector<Key> mine(to, steps.all[k], least);
        collect(here, there, std::max<std::int64_t>(p.first, by[2] < 0 ? 1 : 0),
                std::min(p.last, labels.side[2] - (by[2] > 0 ? 1 : 0)), by[2], mine);
        mine.put();
    }
}

/// Calls put(pair) for the pairs of both sorted lists, in order.
template <class Key, class Put>
void merge(workers& team, std::span<const seen<Key>> x, std::span<const seen<Key>> y, const Put& put) {
    constexpr std::size_t at_once = 1 << 16;
    while (!x.empty() || !y.empty()) {
        std::size_t a = 0, b = 0;
        while (a + b < at_once && a < x.size() && b < y.size()) {  // which list is next would be mispredicted
            const bool second = y[b].key < x[a].key;
            put(second ? y[b] : x[a]);
            a += second ? 0 : 1, b += second ? 1 : 0;
        }
        for (; y.empty() && a < std::min(x.size(), at_once); ++a) put(x[a]);
        for (; x.empty() && b < std::min(y.size(), at_once); ++b) put(y[b]);
        x = x.subspan(a), y = y.subspan(b);
        team.go_on(0);
    }
}

/// Merges lists until two are left, each round with half as many. `memory` holds the merged ones.
template <class Key>
void halve(workers& team, std::vector<std::span<const seen<Key>>>& lists,
           std::vector<host_scratch<seen<Key>>>& memory) {
    while (lists.size() > 2) {
        const std::size_t left = (lists.size() + 1) / 2;
        std::vector<host_scratch<seen<Key>>> merged(left);
        const bool one_waits = lists.size() % 2 == 1 && !memory.empty();  // the list in the middle
        if (one_waits) merged.back() = std::move(memory[left - 1]);
        team.for_each(static_cast<std::int64_t>(lists.size() / 2), 1, 0, [&](std::int64_t k, std::int64_t, int) {
            const auto at = static_cast<std::size_t>(k);
            const std::span x = lists[at], y = lists[left + at];
            merged[at] = host_scratch<seen<Key>>(std::ssize(x) + std::ssize(y));
            seen<Key>* end = merged[at].get();
            merge<Key>(team, x, y, [&](const seen<Key>& each) { *end++ = each; });
            const std::int64_t count = unite(merged[at].get(), end - merged[at].get());
            lists[at] = {merged[at].get(), static_cast<std::size_t>(count)};
        });
        lists.resize(left);
        std::swap(memory, merged);
    }
    lists.resize(2);
}

template <class T, class Key>
void find(const host& on, const array3& a, const steps3& steps, std::int64_t least, contact_list& to) {
    const pieces all(a);
    workers team(on, all.count());
    std::vector<pair_list<Key>> found;
    for (int thread = 0; thread < team.threads(); ++thread) found.emplace_back(team);
    team.for_each(all.count(), all.block(), 1, [&](std::int64_t first, std::int64_t last, int thread) {
        for (std::int64_t k = first; k < last; ++k)
            collect_piece<T>(a, steps, all[k], least, found[static_cast<std::size_t>(thread)]);
    });
    std::vector<std::span<const seen<Key>>> lists(found.size());
    team.for_each(static_cast<std::int64_t>(found.size()), 1, 0, [&](std::int64_t k, std::int64_t, int) {
        lists[static_cast<std::size_t>(k)] = found[static_cast<std::size_t>(k)].take();
    });
    std::vector<host_scratch<seen<Key>>> memory;
    halve(team, lists, memory);
    to.expect(std::ssize(lists[0]) + std::ssize(lists[1]));
    touch next;
    Key key = 0;
    merge<Key>(team, lists[0], lists[1], [&](const seen<Key>& each) {
        if (each.key != key) {
            if (key != 0) to.add(next);
            constexpr int half = 4 * sizeof(Key);
            constexpr auto lower = (Key{1} << half) - 1;
            const auto value = [&](Key number) {
                return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) +
                                                 static_cast<std::uint64_t>(least));
            };
            key = each.key, next = {value(key >> half), value(key & lower), 0, {}};
        }
        next.pairs += each.times();
        if (each.face() != no_face) next.faces[each.face()] += each.times();
    });
    if (key != 0) to.add(next);
}

/// The least and the largest value besides 0, each in its bits as an int64; the first is larger if there is none.
template <class T>
std::array<std::int64_t, 2> range_of(const host& on, const array3& a) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max(), fewest = std::numeric_limits<std::int64_t>::min();
    const pieces all(a);
    workers team(on, 0);
    std::vector<std::array<std::int64_t, 2>> ranges(static_cast<std::size_t>(team.threads()), {most, fewest});
    team.for_each(all.count(), all.block(), 0, [&](std::int64_t first, std::int64_t last, int thread) {
        auto [least, largest] = ranges[static_cast<std::size_t>(thread)];
        for (; first < last; ++first) {
            const piece p = all[first];
            const line<T> cells = line_of<T>(a, p.line);
            for (std::int64_t x = p.first; x < p.last; ++x) {
                const auto value = static_cast<std::int64_t>(cells[x]);
                least = std::min(least, value == 0 ? most : value),
                largest = std::max(largest, value == 0 ? fewest : value);
            }
        }
        ranges[static_cast<std::size_t>(thread)] = {least, largest};
    });
    for (const auto& [least, largest] : ranges)
        ranges[0] = {std::min(ranges[0][0], least), std::max(ranges[0][1], largest)};
    return ranges[0];
}

}  // namespace

void find_touching(const host& on, const any_input<host>& labels, const steps3& steps, contact_list& to) {
    const array3 a = array3_of(labels);
    with_integer(labels.type, [&]<class T>(T) {
        if constexpr (sizeof(T) < sizeof(std::int64_t)) {
            find<T, std::uint64_t>(on, a, steps, std::numeric_limits<T>::min(), to);
        } else {
            const auto [least, largest] = range_of<T>(on, a);
            if (least > largest) return;
            const std::uint64_t apart = static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(least);
            if (apart >> 32 == 0) find<T, std::uint64_t>(on, a, steps, least, to);
            else find<T, uint128>(on, a, steps, std::numeric_limits<std::int64_t>::min(), to);
        }
    });
}

}  // namespace nearfield::components
