// Tests for simple cells, against flood fills of their neighbourhoods.
#include <gtest/gtest.h>

#include <bit>

#include "skeleton/cases.hpp"
#include "skeleton/core.hpp"

namespace nearfield::test {
namespace {

using skeleton::word;

surroundings cells_of_word(word shape) {
    surroundings s{};
    for (std::size_t n = 0; n < 27; ++n) s[n] = (shape >> n & 1) != 0;
    return s;
}

/// Compares all verdicts about a cell with counts of components.
void check_word(word shape, int rank) {
    const surroundings s = cells_of_word(shape);
    for (const bool faces : {false, true}) {
        const int inside = components_round(s, true, rank, faces), outside = components_round(s, false, rank, !faces);
        const bool simple = inside == 1 && outside == 1;
        const auto said = [&](kept_cells keep) { return skeleton::look_at(shape, shape, {faces, keep}); };
        using skeleton::verdict;
        ASSERT_EQ(said(kept_cells::nothing), simple ? verdict::removed : verdict::waiting) << std::hex << shape;
        const bool end = std::popcount(faces ? shape & skeleton::face_cells : shape & skeleton::round_middle) == 1;
        ASSERT_EQ(said(kept_cells::ends), end      ? verdict::held
                                          : simple ? verdict::removed
                                                   : verdict::waiting)
            << std::hex << shape;
        ASSERT_EQ(said(kept_cells::isthmuses), inside > 1 ? verdict::held
                                               : simple   ? verdict::removed
                                                          : verdict::waiting)
            << std::hex << shape;
    }
}

TEST(SimpleCells, AllNeighbourhoodsOfAnImage) {
    for (word n = 0; n < 256; ++n) check_word((n & 15) << 9 | (n >> 4) << 14, 2);
    for (word n = 0; n < 4; ++n) check_word((n & 1) << 12 | (n >> 1) << 14, 1);
}

/// An image is a plane of a volume with nothing above and below.
TEST(SimpleCells, AnImageIsAPlaneOfAVolume) {
    for (word n = 0; n < 256; ++n) check_word((n & 15) << 9 | (n >> 4) << 14, 3);
}

TEST(SimpleCells, FewCellsInAVolumeAndFewMissing) {
    for (int count = 0; count <= 4; ++count)
        for (word cells = (word{1} << count) - 1; cells < word{1} << 26;) {
            const word shape = (cells & 0x1fff) | (cells & ~word{0x1fff}) << 1;
            check_word(shape, 3), check_word(~shape & skeleton::round_middle, 3);
            if (HasFatalFailure() || cells == 0) break;
            const word lowest = cells & (~cells + 1), next = cells + lowest;  // next number with as many bits set
            cells = next | ((cells ^ next) / lowest) >> 2;
        }
}

TEST(SimpleCells, RandomNeighbourhoods) {
    std::uint64_t state = 1;
    for (int n = 0; n < 240000 && !HasFatalFailure(); ++n) {
        state = mix(state + static_cast<std::uint64_t>(n));
        auto shape = static_cast<word>(state) & skeleton::cube;
        if (n % 3 == 1) shape &= static_cast<word>(state >> 32);
        if (n % 3 == 2) shape |= static_cast<word>(state >> 32) & skeleton::cube;
        check_word(shape, 3);
    }
}

/// Cells of the same turn never touch, not even across a periodic end.
TEST(SimpleCells, NoTwoOfATurnTouch) {
    for (std::int64_t size = 1; size < 10; ++size)
        for (const bool wraps : {false, true}) {
            skeleton::shape_of_call shape;
            shape.size[2] = size, shape.wraps[2] = wraps && size > 1;
            for (std::int64_t x = 0; x < size; ++x) {
                const std::int64_t next = shape.wraps[2] ? (x + 1) % size : x + 1;
                if (next < size) {
                    EXPECT_NE(shape.turn(0, 0, x), shape.turn(0, 0, next)) << size << ' ' << x;
                }
                EXPECT_LT(shape.turn(0, 0, x), shape.turns());
            }
        }
}

}  // namespace
}  // namespace nearfield::test
