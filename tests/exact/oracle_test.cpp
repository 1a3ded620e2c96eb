// The two methods of the oracle against each other, and against values computed by hand.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {
namespace {

TEST(Oracle, HandWorked) {
    const oracle::answer a = oracle::by_cells({{2, 4}, {1, 1}, {1, 0, 0, 0, 0, 0, 0, 1}});
    EXPECT_EQ(a.exact, (std::vector<std::uint64_t>{0, 1, 2, 1, 1, 2, 1, 0}));
    EXPECT_EQ(a.index, (std::vector<std::int64_t>{0, 0, 7, 7, 0, 0, 7, 7}));
    // Cell (0, 2) ties between (0, 0) and (2, 2), both at 4: the last axis decides for column 0, before rows count.
    const oracle::answer tie = oracle::by_cells({{3, 3}, {1, 1}, {0, 0, 0, 1, 0, 0, 0, 1, 0}});
    EXPECT_EQ(tie.exact[4], 1U);
    EXPECT_EQ(tie.index[4], 3);
    EXPECT_EQ(tie.index[8], 7);
}

TEST(Oracle, LineByLineEqualsEveryCellAgainstEverySite) {
    for (const shape_case& c : small_shapes()) {
        if (cells_of(c.shape) > 1200) continue;
        for (fill kind : all_fills) {
            const flags_t sites = make_fill(kind, c.shape, 3);
            for (const spacing_case& cell : spacings()) {
                const oracle::problem p{c.shape, per_axis(cell, c.shape.size()), sites};
                const oracle::answer flat = oracle::by_cells(p), lines = oracle::by_lines(p);
                SCOPED_TRACE(text_of(c.shape) + " " + name_of(kind) + ", spacing " + cell.why);
                ASSERT_EQ(flat.squared, lines.squared);
                ASSERT_EQ(flat.exact, lines.exact);
                if (flat.type != oracle::width::f64) {
                    ASSERT_EQ(flat.index, lines.index);
                }
            }
        }
    }
}

TEST(Oracle, SquaredWidth) {
    EXPECT_EQ(oracle::squared_width({46341, 46341}, {1, 1}), oracle::width::u32);  // 2 * 46340^2 = 4294791200
    EXPECT_EQ(oracle::squared_width({46342, 46341}, {1, 1}), oracle::width::u32);  // 4294883881
    EXPECT_EQ(oracle::squared_width({46342, 46343}, {1, 1}), oracle::width::u64);  // 4295069245
    EXPECT_EQ(oracle::squared_width({65536}, {1}), oracle::width::u32);            // 4294836225
    EXPECT_EQ(oracle::squared_width({65537}, {1}), oracle::width::u64);            // 2^32
    EXPECT_EQ(oracle::squared_width({2}, {0.5}), oracle::width::f64);
    EXPECT_EQ(oracle::squared_width({2}, {2147483648.0}), oracle::width::f64);  // 2^62
    EXPECT_EQ(oracle::squared_width({2}, {2147483647.0}), oracle::width::u64);
}

}  // namespace
}  // namespace nearfield::test
