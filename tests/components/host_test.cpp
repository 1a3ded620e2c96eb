// Tables, lists, numbers and contacts of labels on the host, with one, two and seven threads.
#include "components/checks.hpp"

namespace nearfield::test {
namespace {

class Components : public testing::TestWithParam<int> {
protected:
    host_runner run{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, Components, testing::Values(1, 2, 7));

constexpr dtype value_types[] = {dtype::uint8,  dtype::float32, dtype::int16,  dtype::float64,
                                 dtype::uint32, dtype::int8,    dtype::uint64, dtype::boolean,
                                 dtype::uint16, dtype::int64,   dtype::int32};

TEST_P(Components, TablesAreTheOracles) {
    for_each_drawn(label_image_shapes(), [&](const drawn& d) {
        check_tables(run, d, value_types[(d.seed / 3) % std::size(value_types)]);
        if (d.seed % 4 == 0) check_tables(run, d, {});
    });
}

TEST_P(Components, ListsAreTheOracles) {
    for_each_drawn(label_image_shapes(), [&](const drawn& d) {
        check_lists(run, d, list_of::cells);
        check_lists(run, d, list_of::runs);
    });
}

TEST_P(Components, NumbersFollowTheFirstCells) {
    constexpr dtype to[] = {dtype::int32, dtype::uint16, dtype::uint32, dtype::int64, dtype::uint64};
    for_each_drawn(label_image_shapes(),
                   [&](const drawn& d) { check_relabel(run, d, to[d.seed / 2 % std::size(to)]); });
}

/// Images with more cells than `out` has numbers, which are written only when all values are counted.
TEST_P(Components, NumbersOfFewerBitsThanCells) {
    std::uint64_t seed = 0;
    for (const pattern kind : {pattern::blocks, pattern::noise, pattern::each, pattern::far_apart, pattern::lines})
        for (const dtype type : {dtype::int32, dtype::uint64})
            check_relabel(run, {kind, {301, 302}, type, ++seed}, dtype::uint16);
}

TEST_P(Components, ContactsAreTheOracles) {
    for_each_drawn(label_image_shapes(), [&](const drawn& d) {
        if (d.type == dtype::uint64 && (d.kind == pattern::far_apart || d.kind == pattern::beyond)) return;
        check_contacts(run, d, 1 + static_cast<int>(d.seed % d.shape.size()));
    });
}

/// One thread's list gets more places twice, and is sorted in between. Values of 64 bits make the wide keys.
TEST_P(Components, ContactsOfLongLists) {
    check_contacts(run, {pattern::each, {400, 450}, dtype::int32, 1}, 2);
    check_contacts(run, {pattern::far_apart, {400, 450}, dtype::int64, 1}, 2);
    check_contacts(run, {pattern::noise, {400, 450}, dtype::uint16, 1}, 1);
}

/// Lists of threads are merged in rounds; with an odd number of lists one waits, in later rounds a merged one.
TEST(ContactsOfThreads, AnyNumberOfListsIsMerged) {
    const extent<2> shape{1200, 600};
    std::vector<std::int32_t> labels(static_cast<std::size_t>(shape.cells()));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = 1 + static_cast<std::int32_t>(i * 7919 % labels.size());
    const view<const std::int32_t, 2, host> image{labels.data(), shape};
    const std::vector<contact> expected = contacts(host{1}, image);
    for (const int threads : {3, 5, 6, 9, 11, 75, 300}) EXPECT_EQ(contacts(host{threads}, image), expected) << threads;
}

TEST_P(Components, SmallOnesAreRemoved) {
    for_each_drawn({{50}, {9, 31}, {40, 41}, {5, 6, 7}, {3, 20, 33}}, [&](const drawn& d) { check_remove(run, d); });
}

}  // namespace
}  // namespace nearfield::test
