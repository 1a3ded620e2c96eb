// Few sites on a GPU, which are compared with all cells, against the host.
#include <algorithm>
#include <array>

#include "chessboard/on_device.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

class FewSitesOfSteps : public ChessboardDevice {
protected:
    void SetUp() override {
        ChessboardDevice::SetUp();
        chessboard::limit_of_ways = {.small = false, .least_of_sets = 1, .cells_a_site = 1, .sites_of_box = 4096};
    }
    void TearDown() override { chessboard::limit_of_ways = {}; }
};

/// Grids of up to several coarse boxes, whose last ones end within a tile; no site, one, some, or too many; limits,
/// batches and closed ends.
TEST_F(FewSitesOfSteps, AsTheHost) {
    for (const shape_t& shape : {shape_t{66, 70, 130}, shape_t{90, 70, 81}, shape_t{2, 20, 40, 90}})
        for (const std::int64_t count : {0, 1, 2, 60, 9000})
            for (const double limit : {1e9, 14.0})
                for (const bool diagonal : {true, false}) {
                    step_case c;
                    c.shape = shape, c.diagonal = diagonal;
                    c.options.sites = sites::nonzero, c.options.max_distance = limit;
                    c.options.border = count % 4 == 0 ? border::closed : border::open;
                    c.options.batch_axes = shape.size() == 4 ? 1 : 0;
                    c.mask.assign(static_cast<std::size_t>(cells_of(shape)), 0);
                    for (std::int64_t k = 0; k < count; ++k)
                        c.mask[mix(static_cast<std::uint64_t>(k) + 5) % c.mask.size()] = 1;
                    EXPECT_EQ(checked(c).few, count < 9000) << count << ", limit " << limit;
                    if (HasFailure()) return;
                }
}

/// All sites are equally near to the middle. Its fine boxes have no room for them, with fewer than 512 a coarse one has
/// none either.
TEST_F(FewSitesOfSteps, Cubes) {
    step_case c;
    c.shape = {90, 92, 94}, c.options.sites = sites::nonzero;
    c.mask.assign(static_cast<std::size_t>(cells_of(c.shape)), 0);
    for (std::int64_t z = 4; z <= 84; z += 8)
        for (std::int64_t y = 4; y <= 84; y += 8)
            for (std::int64_t x = 4; x <= 84; x += 4)
                if (std::max({std::abs(z - 44), std::abs(y - 44), std::abs(x - 44)}) == 40)
                    c.mask[static_cast<std::size_t>((z * 92 + y) * 94 + x)] = 1;
    EXPECT_TRUE(checked(c).few);
    chessboard::limit_of_ways.sites_of_box = 500;
    EXPECT_FALSE(checked(c).few);
}

/// Balls and boxes, of which only the outer cells are listed; some end with the grid.
TEST_F(FewSitesOfSteps, Objects) {
    for (const shape_t& shape : {shape_t{70, 90, 110}, shape_t{2, 60, 70, 80}})
        for (const int count : {1, 5})
            for (const bool diagonal : {true, false}) {
                step_case c;
                c.shape = shape, c.diagonal = diagonal;
                c.options.sites = sites::nonzero;
                c.options.border = count == 5 ? border::closed : border::open;
                c.options.batch_axes = shape.size() == 4 ? 1 : 0;
                c.mask.assign(static_cast<std::size_t>(cells_of(shape)), 0);
                for (std::int64_t cell = 0; cell < cells_of(shape); ++cell)
                    for (int k = 0; k < count; ++k) {
                        const std::int64_t middle =
                            static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(k) + 3) % c.mask.size());
                        std::int64_t sum = 0, most = 0, a = cell, b = middle;
                        for (std::size_t axis = shape.size(); axis-- > 0; a /= shape[axis], b /= shape[axis]) {
                            const std::int64_t apart = a % shape[axis] - b % shape[axis];
                            sum += apart * apart, most = std::max(most, std::abs(apart));
                        }
                        constexpr std::int64_t size = 6;
                        if (k % 2 == 0 ? sum <= size * size : most <= size) c.mask[static_cast<std::size_t>(cell)] = 1;
                    }
                EXPECT_TRUE(checked(c).few) << count;
                if (HasFailure()) return;
            }
}

TEST_F(FewSitesOfSteps, CrowdedGridsTakeOtherWays) {
    chessboard::limit_of_ways.cells_a_site = 100;
    step_case c;
    c.shape = {70, 80, 100}, c.options.sites = sites::nonzero;
    c.mask = make_random(c.shape, 0.02, 3);
    EXPECT_FALSE(checked(c).few);
    c.mask = make_random(c.shape, 0.0001, 3);
    EXPECT_TRUE(checked(c).few);
}

TEST_F(FewSitesOfSteps, RandomCases) {
    int few = 0;
    check_steps(
        [&](const step_case& c) {
            chessboard::ways taken;
            chessboard::watched = &taken;
            const std::vector<std::int32_t> found = on_device(c, false);
            chessboard::watched = nullptr;
            few += taken.few ? 1 : 0;
            return found;
        },
        false, 1000, 1400);
    EXPECT_GE(few, static_cast<int>(share(0, 400)) / 40);
}
TEST_F(FewSitesOfSteps, RandomCasesInAGraph) {
    check_steps([](const step_case& c) { return on_device(c, true); }, false, 1500, 1540);
}
TEST_F(FewSitesOfSteps, RandomCasesOfSets) {
    chessboard::limit_of_ways.cells_a_site = std::int64_t{1} << 40;
    check_steps([](const step_case& c) { return on_device(c, false); }, false, 2000, 2200);
}

/// Images with up to 16 rows that have sites, and with one more; sites in any word of a row, and closed ends.
TEST_F(FewSitesOfSteps, Rows) {
    chessboard::limit_of_ways.cells_a_site = std::int64_t{1} << 40;
    for (const shape_t& shape : {shape_t{290, 70}, shape_t{700, 65}, shape_t{33, 1027}, shape_t{1, 61, 900}})
        for (const std::int64_t count : {0, 1, 2, 16, 17})
            for (const bool diagonal : {true, false})
                for (const border ends : {border::open, border::closed}) {
                    step_case c;
                    c.shape = shape, c.diagonal = diagonal;
                    c.options.sites = sites::nonzero;
                    if (count == 2) c.options.max_distance = 40;
                    const std::int64_t n = shape.back(), rows = cells_of(shape) / n;
                    std::array<border, 3> all{};
                    all[shape.size() - 2] = ends;
                    c.options.border = {all.data(), shape.size()};
                    c.mask.assign(static_cast<std::size_t>(cells_of(shape)), 0);
                    for (std::int64_t k = 0; k < count; ++k)
                        for (std::int64_t j = 0; j < 1 + k % 3; ++j)
                            c.mask[static_cast<std::size_t>((k * 2 + 5) % rows * n + (k * 37 + 90 * j) % n)] = 1;
                    const chessboard::ways taken = checked(c);
                    EXPECT_EQ(taken.rows, count <= 16) << count << " in " << shape[0];
                    EXPECT_EQ(taken.swept, count > 16) << count << " in " << shape[0];
                    if (HasFailure()) return;
                }
}

/// Images of which neither sets nor few rows solve the lines: chunks, of columns of up to 11,000 cells.
TEST_F(ChessboardDevice, MiddlingImages) {
    for (const shape_t& shape : {shape_t{2049, 70}, shape_t{70, 2050}, shape_t{11000, 33}})
        for (const int kind : {0, 1, 2, 3})
            for (const bool diagonal : {true, false}) {
                step_case c;
                c.shape = shape, c.diagonal = diagonal, c.options.sites = sites::nonzero;
                c.mask = make_random(shape, 0, 3);
                const std::size_t n = c.mask.size();
                for (std::size_t k = 0; k < 30; ++k)
                    c.mask[n / 2 + k * static_cast<std::size_t>(shape.back()) + k % 7] = 1;
                if (kind == 1) c.options.border = border::closed;
                if (kind == 2) c.options.max_distance = 300;
                if (kind == 3) c.mask[5] = c.mask[n - 1] = 1;
                const chessboard::ways taken = checked(c);
                EXPECT_TRUE(taken.chunks) << kind;
                EXPECT_FALSE(taken.swept || taken.small || taken.rows) << kind;
                if (HasFailure()) return;
            }
}

/// Volumes whose planes are thin change the order of their axes.
TEST_F(ChessboardDevice, ThinPlanes) {
    for (const shape_t& shape :
         {shape_t{700, 650, 5}, shape_t{700, 5, 650}, shape_t{5, 31, 14000}, shape_t{2, 600, 600, 3}})
        for (const double density : {0.0001, 0.2})
            for (const bool diagonal : {true, false}) {
                step_case c;
                c.shape = shape, c.diagonal = diagonal, c.options.sites = sites::nonzero;
                c.mask = make_random(shape, density, 3);
                const std::array ends{border::open, border::closed, border::open};
                if (shape.size() == 3) c.options.border = {ends.data(), 3};
                c.options.batch_axes = shape.size() == 4 ? 1 : 0;
                checked(c);
                if (HasFailure()) return;
            }
}

}  // namespace
}  // namespace nearfield::test
