// contacts() on the host: every thread lists the pairs that it sees. It sorts them in short lists and merges
// lists of like length, as a binary counter carries, so a pair takes little more memory however often it is
// seen.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "base/wide.hpp"
#include "components/engine.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

constexpr unsigned no_face = 3;

/// Counts how often two values a < b touch, by faces normal to one axis, or by edges and corners only.
struct seen {
    std::int64_t a, b;
    std::uint64_t times : 62, face : 2;

    friend bool operator<(const seen& x, const seen& y) {
        // Each pair is compared as one number, because a branch on equal `a` would be mispredicted.
        const auto key = [](const seen& s) {
            constexpr std::uint64_t sign = std::uint64_t{1} << 63;
            return static_cast<uint128>(static_cast<std::uint64_t>(s.a) ^ sign) << 64 |
                   (static_cast<std::uint64_t>(s.b) ^ sign);
        };
        const uint128 one = key(x), other = key(y);
        return one < other || (one == other && x.face < y.face);
    }
    [[nodiscard]] bool like(const seen& other) const { return a == other.a && b == other.b && face == other.face; }
};

/// A sorted list, in which each pair comes once for each kind of face.
using sorted_pairs = std::vector<seen, asking_allocator<seen>>;

void append(sorted_pairs& to, const seen& next) {
    if (!to.empty() && to.back().like(next)) to.back().times += next.times;
    else to.push_back(next);
}

void merge(workers& team, const sorted_pairs& x, const sorted_pairs& y, sorted_pairs& all) {
    all.clear();
    all.reserve(x.size() + y.size());
    const seen *a = x.data(), *b = y.data(), *const end_a = a + x.size(), *const end_b = b + y.size();
    while (a != end_a || b != end_b) {
        constexpr std::ptrdiff_t at_once = 1 << 16;
        const std::ptrdiff_t both = std::min({end_a - a, end_b - b, at_once});
        for (std::ptrdiff_t i = 0; i < both; ++i) {  // without branches, which would be mispredicted
            const bool second = *b < *a;
            append(all, second ? *b : *a);
            a += second ? 0 : 1, b += second ? 1 : 0;
        }
        if (a == end_a || b == end_b) {
            for (std::ptrdiff_t i = 0; i < at_once && a != end_a; ++i) append(all, *a++);
            for (std::ptrdiff_t i = 0; i < at_once && b != end_b; ++i) append(all, *b++);
        }
        team.go_on(0);
    }
}

/// The pairs that one thread has seen.
class pair_list {
public:
    explicit pair_list(workers& team) : team_(&team) {}

    void add(const seen& pair) {
        // Allocated on first use: there may be many more threads than pairs.
        if (place_.empty()) place_.assign(places, open), recent_.reserve(most);
        const std::uint64_t mixed = static_cast<std::uint64_t>(pair.a) * 0x9e3779b97f4a7c15u +
                                    static_cast<std::uint64_t>(pair.b) * 0xc2b2ae3d27d4eb4fu + pair.face;
        std::size_t at = (mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15u >> 40 & (places - 1);
        for (int i = 0; i < tries && place_[at] != open; ++i, at = (at + 1) & (places - 1))
            if (seen& before = recent_[place_[at]]; before.like(pair)) {
                before.times += pair.times;
                return;
            }
        if (place_[at] == open) place_[at] = static_cast<std::uint16_t>(recent_.size());
        recent_.push_back(pair);
        if (recent_.size() == most) carry();
    }
    [[nodiscard]] sorted_pairs take() {
        carry();
        sorted_pairs all;
        for (sorted_pairs& each : digits_) {
            merge(*team_, each, all, spare_);
            std::swap(all, spare_);
            each = {};
        }
        spare_ = {};
        return all;
    }

private:
    static constexpr std::size_t most = std::size_t{1} << 14, places = std::size_t{1} << 15;
    static constexpr std::uint16_t open = 0xffff;
    static constexpr int tries = 8;  ///< a pair that finds no place is listed once more

    /// Sorts the recent pairs into a list, then merges lists of like length.
    void carry() {
        std::sort(recent_.begin(), recent_.end());
        carried_.clear();
        for (const seen& each : recent_) append(carried_, each);
        recent_.clear();
        std::fill(place_.begin(), place_.end(), open);
        for (sorted_pairs& digit : digits_) {
            if (digit.empty()) return std::swap(digit, carried_);
            merge(*team_, digit, carried_, spare_);
            std::swap(carried_, spare_);
            digit.clear();
        }
        digits_.push_back(std::exchange(carried_, {}));
    }

    workers* team_;
    std::vector<seen> recent_;
    std::vector<std::uint16_t> place_;  ///< a hash table of pairs by their index in recent_
    std::vector<sorted_pairs> digits_;
    sorted_pairs carried_, spare_;  ///< kept for their memory: fresh pages would cost as much as merging
};

/// Adds pairs to a list; adds a pair that repeats along a line only once, with its count.
class collector {
public:
    collector(pair_list& to, const step3& step) : to_(to) {
        if (step.changes() == 1) pair_.face = static_cast<unsigned>(step.axis()) & no_face;
    }

    void add(std::int64_t x, std::int64_t y) {
        const std::int64_t a = std::min(x, y), b = std::max(x, y);
        if (pair_.a != a || pair_.b != b) put(), pair_.a = a, pair_.b = b;
        ++pair_.times;
    }
    /// Adds the last pair to the list.
    void put() {
        if (pair_.times > 0) to_.add(pair_);
        pair_.times = 0;
    }

private:
    pair_list& to_;
    seen pair_{0, 0, 0, no_face};
};

template <class T>
std::int64_t checked_value(T value) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            fail(fmt::format("labels has the value {}, which int64 cannot hold; relabel() makes small ones", value));
    return static_cast<std::int64_t>(value);
}

/// Collects the pairs of here[x] and there[x + by] for x in [first, last).
template <class T>
void collect(const line<T>& here, const line<T>& there, std::int64_t first, std::int64_t last, int by, collector& to) {
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
            if (a != b && a != 0 && b != 0) to.add(checked_value(a), checked_value(b));
        }
    }
}

template <class T>
void collect_piece(const array3& labels, const steps3& steps, const piece& p, pair_list& to) {
    const std::int64_t plane = p.line / labels.side[1], row = p.line % labels.side[1];
    for (int k = 0; k < steps.count; ++k) {
        const auto& [by] = steps.all[k];
        if (plane + by[0] >= labels.side[0] || row + by[1] < 0 || row + by[1] >= labels.side[1]) continue;
        const line<T> here = line_of<T>(labels, p.line),
                      there = line_of<T>(labels, p.line + by[0] * labels.side[1] + by[1]);
        collector mine(to, steps.all[k]);
        collect(here, there, std::max<std::int64_t>(p.first, by[2] < 0 ? 1 : 0),
                std::min(p.last, labels.side[2] - (by[2] > 0 ? 1 : 0)), by[2], mine);
        mine.put();
    }
}

}  // namespace

std::vector<touch> touching(const host& on, const any_input<host>& labels, const steps3& steps) {
    const array3 a = array3_of(labels);
    const pieces all(a);
    workers team(on, all.count());
    std::vector<pair_list> lists;
    for (int thread = 0; thread < team.threads(); ++thread) lists.emplace_back(team);
    with_integer(labels.type, [&]<class T>(T) {
        team.for_each(all.count(), all.block(), 1, [&](std::int64_t first, std::int64_t last, int thread) {
            for (std::int64_t k = first; k < last; ++k)
                collect_piece<T>(a, steps, all[k], lists[static_cast<std::size_t>(thread)]);
        });
    });
    std::vector<sorted_pairs> pairs(lists.size());
    const auto count = static_cast<std::int64_t>(pairs.size());
    team.for_each(count, 1, 0, [&](std::int64_t k, std::int64_t, int) {
        pairs[static_cast<std::size_t>(k)] = lists[static_cast<std::size_t>(k)].take();
    });
    for (std::int64_t apart = 1; apart < count; apart *= 2)
        team.for_each((count - 1) / (2 * apart) + 1, 1, 0, [&](std::int64_t k, std::int64_t, int) {
            const auto at = static_cast<std::size_t>(2 * apart * k), other = at + static_cast<std::size_t>(apart);
            if (other >= pairs.size()) return;
            sorted_pairs both;
            merge(team, pairs[at], pairs[other], both);
            pairs[at] = std::move(both), pairs[other] = {};
        });
    std::vector<touch> found;
    require_memory_for_all(std::ssize(pairs[0]) * static_cast<std::int64_t>(sizeof(touch)), "the list of contacts");
    found.reserve(pairs[0].size());
    in_steps(team, static_cast<std::int64_t>(pairs[0].size()), [&](std::int64_t first, std::int64_t last) {
        for (; first < last; ++first) {
            const seen& s = pairs[0][static_cast<std::size_t>(first)];
            if (found.empty() || found.back().a != s.a || found.back().b != s.b) found.push_back({s.a, s.b, 0, {}});
            found.back().pairs += s.times;
            if (s.face != no_face) found.back().faces[s.face] += s.times;
        }
    });
    return found;
}

}  // namespace nearfield::components
