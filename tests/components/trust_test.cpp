// Values chosen to make a hash table slow, and calls that are stopped at any point.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "components/core.hpp"
#include "exact/cases.hpp"
#include "nearfield/components.hpp"

namespace nearfield::test {
namespace {

constexpr std::uint64_t inverse(std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
}

/// Values that the last step of MurmurHash3 alone would map to one place of a table.
std::vector<std::uint64_t> crafted(std::size_t count) {
    std::vector<std::uint64_t> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t x = static_cast<std::uint64_t>(i + 1) << 40;
        x ^= x >> 33, x *= inverse(0xc4ceb9fe1a85ec53u);
        x ^= x >> 33, x *= inverse(0xff51afd7ed558ccdu);
        all[i] = x ^ x >> 33;
    }
    return all;
}

/// Number of places that are tried until all values have one, by linear probing in a table of four times their number.
std::uint64_t probes(const std::vector<std::uint64_t>& values, const components::hash_seed& seed) {
    const std::uint64_t mask = std::bit_ceil(4 * values.size()) - 1;
    std::vector<bool> taken(mask + 1);
    std::uint64_t count = 0;
    for (const std::uint64_t value : values) {
        std::uint64_t at = components::scattered(value, seed) & mask;
        for (; taken[at]; at = (at + 1) & mask) ++count;
        taken[at] = true, ++count;
    }
    return count;
}

TEST(ComponentTrust, ChosenValuesMeetNoMoreThanOthers) {
    const std::size_t count = test_scale() < 1 ? 4000 : 20000;
    EXPECT_GT(probes(crafted(count), {}), count * count / 4) << "without a seed they would";
    EXPECT_LT(probes(crafted(count), components::process_seed()), 4 * count);
    std::vector<std::uint64_t> upper(count);
    for (std::size_t i = 0; i < count; ++i) upper[i] = static_cast<std::uint64_t>(i) << 44;
    EXPECT_LT(probes(upper, components::process_seed()), 4 * count);
}

TEST(ComponentTrust, ChosenValuesAreNumberedInOrder) {
    const std::vector<std::uint64_t> labels = crafted(20000);
    std::vector<std::int32_t> out(labels.size()), ascending(labels.size());
    std::iota(ascending.begin(), ascending.end(), 1);
    for (const int threads : {1, 3}) {
        relabel(host{threads}, view<const std::uint64_t, 2, host>(labels.data(), {100, 200}),
                view<std::int32_t, 2, host>(out.data(), {100, 200}));
        EXPECT_EQ(out, ascending);
    }
}

/// Checks that `call` asks often enough whether to stop, and that it stops at any of these points.
template <class Call>
void expect_stoppable(const Call& call, int fewest) {
    int asked = 0;
    call(host{2, [&](double) { return ++asked, true; }});
    EXPECT_GE(asked, fewest);
    for (int share = 0; share < 10; ++share) {
        int left = asked * share / 20;  // threads that ask at the same time get the answer only once
        try {
            call(host{2, [&](double) { return left-- > 0; }});
            ADD_FAILURE() << "went on after " << asked * share / 20 << " of " << asked << " questions";
        } catch (const error& stopped) {
            EXPECT_EQ(stopped.code(), error_code::cancelled);
        }
    }
}

TEST(ComponentTrust, StopIsHeardInEveryPhase) {
    constexpr std::int64_t side = 1024, cells = side * side;
    std::vector<std::int64_t> labels(cells), out(cells);
    for (std::size_t i = 0; i < cells; ++i) labels[i] = static_cast<std::int64_t>(mix(i) >> 1);
    const view<const std::int64_t, 2, host> image(labels.data(), {side, side});
    const view<std::int64_t, 2, host> numbers(out.data(), {side, side});
    expect_stoppable([&](const host& on) { relabel(on, image, numbers); }, 40);
    expect_stoppable([&](const host& on) { static_cast<void>(contacts(on, image)); }, 40);
    std::iota(labels.begin(), labels.end(), 1);
    std::vector<std::int64_t> offsets(cells + 1);
    const view<std::int64_t, 1, host> places(offsets.data(), {cells + 1});
    label_list_offsets(host{1}, image, places);
    expect_stoppable(
        [&](const host& on) { label_lists(on, image, places, view<std::int64_t, 1, host>(out.data(), {cells})); }, 40);
    expect_stoppable([&](const host& on) { static_cast<void>(shape_measures(on, image, cells)); }, 40);
    expect_stoppable(
        [&](const host& on) {
            component_tables<host> tables;
            tables.size = view<std::int64_t, 1, host>(out.data(), {cells});
            component_statistics(on, image, tables);
        },
        40);
}

}  // namespace
}  // namespace nearfield::test
