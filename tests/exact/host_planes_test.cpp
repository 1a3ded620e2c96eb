// The host's dense engine where it changes paths: distances and numbers beyond 16 or 32 bits, lines beyond its limits,
// slabs, images side by side, limits. Each shape names the path.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "base/scratch.hpp"

#include "exact/call.hpp"
#include "exact/host_plane.hpp"
#include "nearfield/plan.hpp"
#include "os/kept.hpp"

namespace nearfield::test {

/// Bytes of scratch memory, now and at their peak; the operators at the end of this file count them.
std::atomic<std::int64_t> taken{0}, most_taken{0};

namespace {

/// Counts of each way since the last call of this function.
struct ways {
    std::int64_t by_cells, by_columns, narrow, wide;
};
ways ways_taken() {
    exact::plane_ways& w = exact::plane_ways_taken;
    return {w.by_cells.exchange(0), w.by_columns.exchange(0), w.narrow.exchange(0), w.wide.exchange(0)};
}

const std::vector<shape_case>& plane_shapes() {
    static const std::vector<shape_case> list = {
        {{2, 32}, "the smallest: one vector, one slab"},
        {{9, 31}, "a cell too narrow"},
        {{9, 33}, "two vectors that overlap by all but one cell"},
        {{300, 40}, "distances along the first axis beyond 255"},
        {{40, 700}, "distances along the last axis beyond 255, and many blocks"},
        {{2, 4099}, "packed numbers of a line beyond 30 bits"},
        {{1030, 35}, "many slabs"},
        {{300, 3, 40}, "3-D, the first axis beyond 255"},
        {{3, 300, 40}, "3-D, the middle axis beyond 255: more lines than are looked at"},
        {{3, 40, 300}, "3-D, the last axis beyond 255"},
        {{2, 290, 32}, "3-D, a plane narrower than a tile of columns"},
        {{2, 3, 4099}, "3-D, packed numbers beyond 30 bits"},
        {{19, 21, 67}, "3-D, several slabs and vectors"},
        {{5, 2, 33}, "3-D, two lines a plane"},
        {{9, 64, 64}, "3-D, sites in 42 columns or fewer, or in more"},
    };
    return list;
}

constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr fill plane_fills[] = {fill::none,    fill::all,     fill::one,     fill::first,  fill::last,
                                fill::corners, fill::border,  fill::columns, fill::rows,   fill::half,
                                fill::sparse4, fill::sparse3, fill::percent, fill::ninety, fill::holes};

const spacing_case unit{{}, "not given"}, uneven{{2, 1, 3}, "integral anisotropic"},
    wide{{5}, "integral, 16 bits end at 51 cells"};

class Planes : public testing::TestWithParam<shape_case> {};

TEST_P(Planes, ValuesAndSites) {
    std::uint64_t k = 0;
    for (fill kind : plane_fills) {
        for (const spacing_case& cell : {unit, uneven, wide}) {
            if (!chosen(++k)) continue;
            SCOPED_TRACE(GetParam().why + (": " + name_of(kind)) + ", spacing " + cell.why);
            const solved s = solve(GetParam().shape, make_fill(kind, GetParam().shape, 31 + k), cell);
            for (const outputs& wanted : {outputs{outputs::distance_t::float32}, outputs{.index = true},
                                          outputs{.squared = outputs::squared_t::narrowest, .coordinates = true}})
                for (int threads : {1, 3}) ASSERT_EQ(check(host_engine(threads), s, wanted, dress{}), "");
            ASSERT_EQ(check(host_engine(2), s, outputs::number(1 + k % 47), dress::number(k)), "");
        }
    }
}

std::string test_name(const testing::TestParamInfo<shape_case>& info) { return text_of(info.param.shape); }
INSTANTIATE_TEST_SUITE_P(Host, Planes, testing::ValuesIn(plane_shapes()), test_name);

/// One site in the middle, so that all distances up to 305 cells occur.
TEST(PlanesLimits, EveryDistanceRoundTheEndOf16Bits) {
    for (const shape_t& shape : {shape_t{610, 33}, shape_t{33, 610}, shape_t{2, 610, 32}, shape_t{2, 3, 610}}) {
        flags_t sites(static_cast<std::size_t>(cells_of(shape)));
        sites[static_cast<std::size_t>(cells_of(shape) / 2)] = 1;
        for (const spacing_case& cell : {unit, spacing_case{{2, 2, 2}, "even"}}) {
            const solved s = solve(shape, sites, cell);
            ASSERT_EQ(check(host_engine(2), s, outputs{outputs::distance_t::float64}, dress{}), "") << text_of(shape);
            ASSERT_EQ(check(host_engine(1), s, outputs::all(), dress{}), "") << text_of(shape);
            EXPECT_GT(ways_taken().by_cells, 0);
        }
    }
}

/// Packed numbers of lines of 4099 cells end at distances of 362 cells, here inside a block, for all sites at once.
TEST(PlanesLimits, KnownValuesThatEndInsideABlock) {
    const shape_t shape{110, 4099};
    for (std::uint64_t seed = 0; seed < share(0, 4); ++seed) {
        flags_t sites(static_cast<std::size_t>(cells_of(shape)));
        // A column of sites, whose packed number is zero; each other column of the block has one site.
        for (std::int64_t row = 0; row < shape[0]; ++row) sites[static_cast<std::size_t>(row * shape[1])] = 1;
        for (std::int64_t x = 1; x < 16; ++x) {
            const auto row = static_cast<std::int64_t>(mix(seed * 64 + static_cast<std::uint64_t>(x)) % 110);
            sites[static_cast<std::size_t>(row * shape[1] + x)] = 1;
        }
        ASSERT_EQ(check(host_engine(1), solve(shape, sites, unit), outputs{.index = true}, dress{}), "") << seed;
        EXPECT_GT(ways_taken().wide, 0);
    }
}

/// The last cell of a block is beyond packed numbers for all columns but the column of sites, whose number is zero.
/// That column must not count as the cell's winner, or it would hide the one that wins in the middle of the block. In
/// the first row two columns change places within the first half of a block, whose cells are known from both, so no
/// search in wider numbers repeats them.
TEST(PlanesLimits, WinnersBeyondKnownValues) {
    const shape_t shape{110, 4099};
    const struct {
        const char* why;
        std::int64_t row, later, later_row;  ///< row of column 1; the column that wins from the change on, and its row
    } cases[] = {{"blocks of 16: change at 354 of 352 to 367, the last known cell is 362", 9, 2, 28},
                 {"blocks of 8: change at 361 of 360 to 367, the last known cell is 363", 3, 3, 38},
                 {"blocks of 4: change at 361 of 360 to 363, the last known cell is 362", 25, 5, 59}};
    for (const auto& c : cases) {
        flags_t sites(static_cast<std::size_t>(cells_of(shape)));
        const auto put = [&](std::int64_t row, std::int64_t column) {
            sites[static_cast<std::size_t>(row * shape[1] + column)] = 1;
        };
        for (std::int64_t row = 0; row < shape[0]; ++row) put(row, 0);
        put(c.row, 1);
        put(c.later_row, c.later);
        // These columns are out of reach; without them the line would have so few that each relaxes all cells.
        for (std::int64_t column = 3000; column < 3020; ++column) put(0, column);
        ASSERT_EQ(check(host_engine(1), solve(shape, sites, unit), outputs{.index = true}, dress{}), "") << c.why;
    }
}

/// Columns with sites: as many as relax lines one by one, two thirds of a line's cells, one more, and a single one; in
/// 16 bits and in more.
TEST(PlanesLimits, FewColumns) {
    std::int64_t wide_tiles = 0;
    for (const shape_t& shape : {shape_t{20, 64, 64}, shape_t{300, 8, 64}, shape_t{3, 300, 64}}) {
        const std::int64_t plane = shape[1] * shape[2], most = shape[2] * 2 / 3;
        for (std::int64_t columns : {std::int64_t{1}, most, most + 1, -most}) {
            // Spread over the plane, or beside each other, which makes distances large.
            const std::int64_t apart = columns < 0 ? 1 : plane / (most + 1);
            columns = std::abs(columns);
            flags_t sites(static_cast<std::size_t>(cells_of(shape)));
            for (std::int64_t k = 0; k < columns; ++k) {
                // Columns differ; most have one site, some have three.
                const auto number = mix(static_cast<std::uint64_t>(k + columns));
                const std::int64_t column =
                    k * apart + static_cast<std::int64_t>(number % static_cast<std::uint64_t>(apart));
                for (std::uint64_t nth = 0; nth < (number % 4 == 0 ? 3 : 1); ++nth) {
                    const auto row =
                        static_cast<std::int64_t>(mix(number + nth) % static_cast<std::uint64_t>(shape[0]));
                    sites[static_cast<std::size_t>(row * plane + column % plane)] = 1;
                }
            }
            for (const spacing_case& cell : {unit, uneven}) {
                const solved s = solve(shape, sites, cell);
                for (int threads : {1, 3}) {
                    ways_taken();
                    ASSERT_EQ(check(host_engine(threads), s, outputs{outputs::distance_t::float32}, dress{}), "")
                        << text_of(shape) << ", " << columns << " columns";
                    ASSERT_EQ(check(host_engine(threads), s, outputs::all(), dress{}), "")
                        << text_of(shape) << ", " << columns << " columns";
                    const ways taken = ways_taken();
                    EXPECT_EQ(taken.by_cells > 0, columns == 1) << text_of(shape);
                    EXPECT_EQ(taken.by_columns > 0, columns == most) << text_of(shape);
                    EXPECT_EQ(taken.narrow + taken.wide > 0, columns > 1) << text_of(shape);
                    wide_tiles += taken.wide;
                }
            }
        }
    }
    EXPECT_GT(wide_tiles, 0);
}

/// Checks that a limit only changes cells beyond it.
void check_limit(const solved& s, double most, int threads) {
    call c(s, outputs{outputs::distance_t::float32, {}, true}, dress{});
    c.options.max_distance = most;
    host_engine(threads)(c);
    for (std::int64_t i = 0; i < cells_of(s.problem.shape); ++i) {
        const double right = std::sqrt(s.answer.squared[static_cast<std::size_t>(i)]);
        const bool within = right <= most;
        ASSERT_EQ(c.distance->get<float>(i), within ? static_cast<float>(right) : infinity)
            << text_of(s.problem.shape) << ", at most " << most << ", cell " << i;
        ASSERT_EQ(c.index->get<std::int64_t>(i),
                  within ? s.answer.index[static_cast<std::size_t>(i)] : std::int64_t{-1})
            << text_of(s.problem.shape) << ", at most " << most << ", cell " << i;
    }
}

TEST(PlanesLimits, MaxDistance) {
    for (const shape_t& shape : {shape_t{300, 45}, shape_t{45, 300}, shape_t{4, 290, 40}}) {
        for (fill kind : {fill::one, fill::sparse3, fill::percent}) {
            const solved s = solve(shape, make_fill(kind, shape, 5), unit);
            for (double most : {0.0, 1.0, 2.5, 20.0, 25.0, 254.0, 255.0, 256.0, 257.0, 1000.0}) {
                check_limit(s, most, 2);
                if (HasFatalFailure()) return;
            }
        }
    }
}

/// A packed number of a line among 3000 holds squares up to 2^19, one of a cell among 40 larger ones. A limit between
/// the two must not accept results whose winner a line's number cannot hold.
TEST(PlanesLimits, LimitsBeyondTheNumbersOfLines) {
    const shape_t shape{2, 3000, 40};
    for (std::int64_t lines : {1, 100}) {  // few and many columns with sites
        flags_t sites(static_cast<std::size_t>(cells_of(shape)));
        std::fill_n(sites.begin() + 40 * 1000, lines == 1 ? 5 : 40 * lines, 1);
        const solved s = solve(shape, sites, spacing_case{{1, 5, 1}, "tall"});
        for (double most : {700.0, 1000.0, 1190.0, 1300.0}) {
            check_limit(s, most, 1);
            if (HasFatalFailure()) return;
        }
    }
}

/// Images side by side, with a thread for each, and images one after another with all threads.
TEST(PlanesBatch, ImagesAreALoop) {
    for (const shape_t& shape : {shape_t{30, 9, 35}, shape_t{3, 70, 40}, shape_t{13, 4, 5, 33}, shape_t{2, 9, 300, 32},
                                 shape_t{9, 5, 40, 64}}) {
        const shape_t inner(shape.begin() + 1, shape.end());
        const std::int64_t cells = cells_of(inner);
        // In the last case some images have sites in ten columns or fewer, others in more.
        const flags_t sites = make_random(shape, shape[2] == 40 ? 0.0006 : 0.01, 77);
        flags_t image(sites.size());
        for (std::size_t i = 0; i < sites.size(); ++i) image[i] = sites[i] == 0 ? 1 : 0;
        for (int threads : {1, 2, 5}) {
            std::vector<float> distance(sites.size());
            std::vector<std::int32_t> index(sites.size());
            const auto in = any_input<host>::contiguous(image.data(), dtype::uint8, shape);
            fields<host> first, second;
            first.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
            second.index = any_output<host>::contiguous(index.data(), dtype::int32, shape);
            distance_transform(host{threads, {}}, in, first, {.batch_axes = 1});
            distance_transform(host{threads, {}}, in, second, {.batch_axes = 1});
            for (std::int64_t k = 0; k < shape[0]; ++k) {
                const auto from = sites.begin() + k * cells;
                const solved s = solve(inner, flags_t(from, from + cells), unit);
                for (std::int64_t i = 0; i < cells; ++i) {
                    const auto own = static_cast<std::size_t>(i), all = static_cast<std::size_t>(k * cells + i);
                    ASSERT_EQ(distance[all], static_cast<float>(std::sqrt(s.answer.squared[own])));
                    ASSERT_EQ(index[all], s.answer.index[own]);
                }
            }
        }
    }
}

/// Memory that the library takes, counted by the allocation function that only its scratch memory uses here.
TEST(PlanesWorkspace, IsWhatThePlanSays) {
    const struct {
        shape_t shape;
        double bytes_a_cell;  ///< upper limit, with one thread
    } cases[] = {{{2048, 2048}, 0.6}, {{128, 128, 128}, 3}, {{300, 200, 300}, 3}, {{3, 500, 500}, 40}, {{40, 700}, 15}};
    for (const auto& c : cases) {
        const auto cells = cells_of(c.shape);
        for (fill kind : {fill::one, fill::percent}) {
            flags_t image = make_fill(kind, c.shape, 3);
            for (std::uint8_t& cell : image) cell = cell == 0 ? 1 : 0;
            std::vector<std::int64_t> out(image.size());
            const auto in = any_input<host>::contiguous(image.data(), dtype::uint8, c.shape);
            for (bool sites : {false, true}) {
                fields<host> wanted;
                (sites ? wanted.index : wanted.distance) =
                    any_output<host>::contiguous(out.data(), sites ? dtype::int64 : dtype::float32, c.shape);
                for (int threads : {1, 4}) {
                    const std::int64_t said = plan(host{threads, {}}, in, wanted).workspace_bytes;
                    os::free_kept();
                    taken = most_taken = 0;
                    distance_transform(host{threads, {}}, in, wanted);
                    os::free_kept();
                    EXPECT_EQ(taken, 0);
                    EXPECT_LE(most_taken, said) << text_of(c.shape) << ", " << threads << " threads";
                    EXPECT_LE(said, 8 * cells + (1 << 26));
                    if (threads == 1 && !sites) {
                        EXPECT_LE(static_cast<double>(said), c.bytes_a_cell * static_cast<double>(cells));
                    }
                }
            }
        }
    }
}

/// More threads than planes, which are too large for one each: the call uses the general engine's workspace.
TEST(PlanesWorkspace, StaysWithinBounds) {
    for (const shape_t& shape : {shape_t{2, 20000, 20000}, shape_t{16, 4096, 4096}, shape_t{1000, 1000, 1000}}) {
        fields<host> out;
        out.distance = any_output<host>::contiguous(nullptr, dtype::float32, shape);
        const auto image = any_input<host>::contiguous(nullptr, dtype::uint8, shape);
        for (int threads : {1, 2, 16, 128})
            EXPECT_LE(plan(host{threads, {}}, image, out).workspace_bytes, 8 * cells_of(shape) + (1 << 26))
                << text_of(shape) << ", " << threads << " threads";
    }
}

}  // namespace
}  // namespace nearfield::test

namespace {

struct header {
    std::size_t bytes;
};
constexpr std::size_t header_room = 128;
static_assert(header_room >= nearfield::scratch_alignment);

}  // namespace

void* operator new(std::size_t bytes, std::align_val_t, const std::nothrow_t&) noexcept {
    const std::size_t whole = (bytes + 2 * header_room - 1) / header_room * header_room;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(header_room, whole));
    if (memory == nullptr) return nullptr;
    new (memory) header{bytes};
    using nearfield::test::most_taken;
    const std::int64_t now = nearfield::test::taken += static_cast<std::int64_t>(bytes);
    for (std::int64_t most = most_taken; most < now && !most_taken.compare_exchange_weak(most, now);) {
    }
    return memory + header_room;
}
void operator delete(void* memory, std::align_val_t) noexcept {
    if (memory == nullptr) return;
    std::byte* const whole = static_cast<std::byte*>(memory) - header_room;
    nearfield::test::taken -= static_cast<std::int64_t>(reinterpret_cast<header*>(whole)->bytes);
    std::free(whole);
}
