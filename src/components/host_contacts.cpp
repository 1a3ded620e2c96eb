// contacts() on the host: every thread collects the pairs that it sees in a table of its own; the tables are added up.
#include <fmt/format.h>

#include "base/check.hpp"
#include "components/engine.hpp"
#include "components/host_map.hpp"
#include "components/host_runs.hpp"

namespace nearfield::components {
namespace {

struct pair_of_values {
    std::int64_t a = 0, b = 0;
    friend bool operator==(const pair_of_values&, const pair_of_values&) = default;
    [[nodiscard]] std::uint64_t hash() const {
        return scattered(scattered(static_cast<std::uint64_t>(a)) + static_cast<std::uint64_t>(b));
    }
};

struct counted {
    std::uint64_t pairs = 0, faces[3] = {0, 0, 0};
};
using table = open_map<pair_of_values, counted>;

/// Adds pairs to a table, those that repeat themselves along a line at once.
class collector {
public:
    collector(table& to, const step3& step) : to_(to), face_(step.changes() == 1 ? step.axis() : -1) {}
    ~collector() { put(); }
    collector(const collector&) = delete;
    collector& operator=(const collector&) = delete;

    void add(std::int64_t x, std::int64_t y) {
        const pair_of_values pair{std::min(x, y), std::max(x, y)};
        if (!(pair == pair_)) put(), pair_ = pair;
        ++times_;
    }

private:
    void put() {
        if (times_ == 0) return;
        counted& mine = to_.find_or_make(pair_, pair_.hash()).first;
        mine.pairs += times_;
        if (face_ >= 0) mine.faces[face_] += times_;
        times_ = 0;
    }
    table& to_;
    int face_;
    pair_of_values pair_;
    std::uint64_t times_ = 0;
};

template <class T>
std::int64_t checked_value(T value) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            fail(fmt::format("labels has the value {}, which int64 cannot hold; relabel() makes small ones", value));
    return static_cast<std::int64_t>(value);
}

/// Pairs of here[x] and there[x + by], x in [first, last).
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
void collect_piece(const array3& labels, const steps3& steps, const piece& p, table& to) {
    const std::int64_t plane = p.line / labels.side[1], row = p.line % labels.side[1];
    for (int k = 0; k < steps.count; ++k) {
        const auto& [by] = steps.all[k];
        if (plane + by[0] >= labels.side[0] || row + by[1] < 0 || row + by[1] >= labels.side[1]) continue;
        const line<T> here = line_of<T>(labels, p.line),
                      there = line_of<T>(labels, p.line + by[0] * labels.side[1] + by[1]);
        collector mine(to, steps.all[k]);
        collect(here, there, std::max<std::int64_t>(p.first, by[2] < 0 ? 1 : 0),
                std::min(p.last, labels.side[2] - (by[2] > 0 ? 1 : 0)), by[2], mine);
    }
}

}  // namespace

std::vector<touch> touching(const host& on, const any_input<host>& labels, const steps3& steps) {
    const array3 a = array3_of(labels);
    const pieces all(a);
    workers team(on, all.count());
    std::vector<table> tables(static_cast<std::size_t>(team.threads()));
    with_integer(labels.type, [&]<class T>(T) {
        team.for_each(all.count(), all.block(), 1, [&](std::int64_t first, std::int64_t last, int thread) {
            for (std::int64_t k = first; k < last; ++k)
                collect_piece<T>(a, steps, all[k], tables[static_cast<std::size_t>(thread)]);
        });
    });
    table& sum = tables[0];
    for (std::size_t k = 1; k < tables.size(); ++k)
        tables[k].for_each([&](const pair_of_values& pair, const counted& more) {
            counted& to = sum.find_or_make(pair, pair.hash()).first;
            to.pairs += more.pairs;
            for (int axis = 0; axis < 3; ++axis) to.faces[axis] += more.faces[axis];
        });
    std::vector<touch> found;
    sum.for_each([&](const pair_of_values& pair, const counted& c) {
        found.push_back({pair.a, pair.b, c.pairs, {c.faces[0], c.faces[1], c.faces[2]}});
    });
    return found;
}

}  // namespace nearfield::components
