// Chessboard and city-block distances on a GPU, plain and recorded as a graph, against all pairs and the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "chessboard/on_device.hpp"
#include "nearfield/system.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

/// The ways of larger grids.
class ChessboardWays : public ChessboardDevice {
protected:
    void SetUp() override {
        ChessboardDevice::SetUp();
        chessboard::limit_of_ways = {.small = false};
    }
    void TearDown() override { chessboard::limit_of_ways = {}; }
};

TEST_F(ChessboardDevice, RandomCases) {
    check_steps([](const step_case& c) { return on_device(c, false); }, false, 0, 400);
}
TEST_F(ChessboardWays, RandomCases) {
    check_steps([](const step_case& c) { return on_device(c, false); }, false, 0, 400);
}
TEST_F(ChessboardDevice, RandomCasesInAGraph) {
    check_steps([](const step_case& c) { return on_device(c, true); }, false, 500, 540);
}
TEST_F(ChessboardWays, RandomCasesInAGraph) {
    check_steps([](const step_case& c) { return on_device(c, true); }, false, 500, 540);
}

TEST_F(ChessboardDevice, Lengths) {
    check_lengths([](const step_case& c) { return on_device(c, false); });
}
TEST_F(ChessboardWays, Lengths) {
    check_lengths([](const step_case& c) { return on_device(c, false); });
}

TEST_F(ChessboardDevice, Dense) {
    check_dense([](const step_case& c) { return on_device(c, false); });
}
TEST_F(ChessboardWays, Dense) {
    check_dense([](const step_case& c) { return on_device(c, false); });
}

/// The host answers for grids that are too large for all pairs: sites close by and far away, in tiles and beyond them;
/// sets within the limit, sets that suffice without one, and images that give them up.
TEST_F(ChessboardWays, AsTheHost) {
    for (const shape_t& shape : {shape_t{50, 60, 70}, shape_t{3, 700, 70}, shape_t{1500, 90}, shape_t{5, 4, 6, 7, 40}})
        for (const auto& [density, limit] : {std::pair{0.0005, 1e9}, {0.0005, 4.0}, {0.03, 1e9}, {0.2, 1e9}})
            for (const border ends : {border::open, border::closed, border::periodic})
                for (const bool diagonal : {true, false}) {
                    step_case c;
                    c.options.max_distance = limit;
                    c.shape = shape, c.diagonal = diagonal, c.mask = make_random(shape, density, 5);
                    c.options.sites = sites::nonzero, c.options.border = ends;
                    c.options.batch_axes = shape[0] == 3 ? 1 : 0;
                    EXPECT_EQ(on_device(c, false), on_host(c));
                }
}

/// Rounds of sets, which take 2^19 cells of an image or 2^22 of a volume. Random sites of these shares need one to four
/// rounds, or more than there are. The last one ends in the second round, by its limit, and has closed ends.
TEST_F(ChessboardWays, RoundsOfSets) {
    struct expected {
        double density, limit;
        int rounds[4];  // of images by chessboard and city block, then of volumes; 0: they do not suffice
    };
    for (const auto& [density, limit, rounds] : {expected{0.2, 1e9, {1, 1, 1, 1}},
                                                 {0.01, 1e9, {2, 2, 1, 2}},
                                                 {0.003, 1e9, {3, 4, 2, 3}},
                                                 {0.0012, 1e9, {0, 0, 0, 0}},
                                                 {0.004, 20.0, {2, 2, 1, 2}}})
        for (const shape_t& shape : {shape_t{1051, 577}, shape_t{161, 163, 177}})
            for (const bool diagonal : {true, false}) {
                step_case c;
                c.shape = shape, c.diagonal = diagonal, c.mask = make_random(shape, density, 7);
                c.options.sites = sites::nonzero, c.options.max_distance = limit;
                c.options.border = limit < 1e9 ? border::closed : border::open;
                const chessboard::ways taken = checked(c);
                EXPECT_FALSE(taken.few);
                EXPECT_EQ(taken.rounds, rounds[(shape.size() == 3 ? 2 : 0) + (diagonal ? 0 : 1)])
                    << density << (diagonal ? " chessboard" : " city block") << ", axes " << shape.size();
            }
}

/// Sweeps of the last two axes: strips and groups of them with rests, rims that windows carry across tiles of 1024
/// columns, closed ends, limits, far sites on one side of all strips, and a volume's planes.
TEST_F(ChessboardWays, Sweeps) {
    chessboard::limit_of_ways.cells_a_site = std::int64_t{1} << 40, chessboard::limit_of_ways.few_rows = false;
    for (const shape_t& shape : {shape_t{1057, 1103}, shape_t{512, 2100}, shape_t{3000, 63}, shape_t{33, 4300},
                                 shape_t{2, 700, 301}, shape_t{67, 90, 81}})
        for (const int kind : {0, 1, 2, 3, 4})
            for (const bool diagonal : {true, false}) {
                step_case c;
                c.shape = shape, c.diagonal = diagonal, c.options.sites = sites::nonzero;
                c.mask = make_random(shape, kind == 2 ? 0.0005 : 0.0, 3);
                const std::size_t cells = c.mask.size();
                if (kind == 0) c.mask[cells / 3] = c.mask[cells - 5] = 1;
                if (kind == 1) c.mask[7] = 1;
                if (kind == 3) c.mask[cells - 1] = 1;
                if (kind == 4) std::fill_n(c.mask.begin() + static_cast<std::ptrdiff_t>(cells / 2), cells / 7, 1);
                if (kind == 2) c.options.border = border::closed;
                if (kind == 3) c.options.max_distance = 640;
                c.options.batch_axes = shape[0] == 2 ? 1 : 0;
                EXPECT_TRUE(checked(c).swept) << kind;
                chessboard::limit_of_ways.sweeps = false;
                EXPECT_FALSE(checked(c).swept);
                chessboard::limit_of_ways.sweeps = true;
            }
}

/// Checks that small grids take a way: with no site, one, two in corners, few within a limit, some, and zeros as sites.
/// A first axis of two is a batch.
void expect_small(const shape_t& shape, bool chessboard::ways::*way) {
    for (const int kind : {0, 1, 2, 3, 4, 5})
        for (const border ends : {border::open, border::closed, border::periodic})
            for (const bool diagonal : {true, false}) {
                if (cells_of(shape) > 300000 && kind != 1 && kind != 4) continue;
                step_case c;
                c.shape = shape, c.diagonal = diagonal, c.options.sites = sites::nonzero;
                const double densities[] = {0, 0, 0, 0.0005, 0.05, 0.6};
                c.mask = make_random(shape, densities[kind], 3);
                if (kind == 1) c.mask[c.mask.size() / 3] = 1;
                if (kind == 2) c.mask.front() = c.mask.back() = 1;
                if (kind == 3) c.options.max_distance = 20;
                if (kind == 5) c.options.sites = sites::zero;
                c.options.border = ends, c.options.batch_axes = shape[0] == 2 && shape.size() > 2 ? 1 : 0;
                const chessboard::ways taken = checked(c);
                EXPECT_TRUE(taken.*way && taken.small) << kind << ", ends " << static_cast<int>(ends);
                EXPECT_EQ(taken.image || taken.cube, way != &chessboard::ways::small);
                if (testing::Test::HasFailure()) return;
            }
}

/// One kernel for each axis: lines of 1, 2 and up to 2048 cells, rows of two stretches, lines that end within a block's
/// columns; rings, closed ends and limits.
TEST_F(ChessboardDevice, Small) {
    for (const shape_t& shape : {shape_t{1, 700}, shape_t{700, 1}, shape_t{511, 513}, shape_t{2048, 33},
                                 shape_t{31, 2047}, shape_t{1023, 1025}, shape_t{256, 2048}, shape_t{64, 63, 65},
                                 shape_t{3, 5, 1000}, shape_t{2, 600, 77}, shape_t{5, 4, 6, 7, 40}})
        expect_small(shape, &chessboard::ways::small);
}

/// One kernel for both axes: images of up to 512 cells along each, alone or two of them; rows at any address.
TEST_F(ChessboardDevice, Images) {
    if (query_system().devices.front().compute_major < 9) GTEST_SKIP() << "no clusters of blocks";
    for (const shape_t& shape : {shape_t{1, 1}, shape_t{2, 3}, shape_t{1, 500}, shape_t{500, 1}, shape_t{512, 512},
                                 shape_t{511, 509}, shape_t{300, 33}, shape_t{67, 480}, shape_t{2, 257, 130}})
        expect_small(shape, &chessboard::ways::image);
}

/// Grids that are just small enough, and just too large.
TEST_F(ChessboardDevice, SmallOrNot) {
    for (const bool diagonal : {true, false})
        for (const auto& [shape, small] : {std::pair{shape_t{2048, 2048}, true},
                                           {shape_t{127, 128, 129}, true},
                                           {shape_t{2049, 3}, false},
                                           {shape_t{3, 2049}, false},
                                           {shape_t{1, 5000}, false},
                                           {shape_t{129, 128, 128}, false}}) {
            step_case c;
            c.shape = shape, c.mask = make_random(shape, 0.5, 3), c.diagonal = diagonal;
            const chessboard::ways taken = checked(c);
            EXPECT_TRUE(taken.small == small && !taken.image);
        }
}

/// One kernel for all axes: volumes of up to 64 cells along each, alone or two of them.
TEST_F(ChessboardDevice, Cubes) {
    if (query_system().devices.front().compute_major < 9) GTEST_SKIP() << "no clusters of blocks";
    for (const shape_t& shape : {shape_t{64, 64, 64}, shape_t{63, 61, 64}, shape_t{5, 64, 33}, shape_t{64, 7, 2},
                                 shape_t{1, 1, 1}, shape_t{3, 2, 63}, shape_t{2, 40, 30, 50}})
        expect_small(shape, &chessboard::ways::cube);
    step_case c;
    c.shape = {65, 20, 20}, c.mask = make_random(c.shape, 0.9, 3);
    const chessboard::ways taken = checked(c);
    EXPECT_TRUE(taken.small && !taken.cube);
}

/// A call on both sides, whose arrays have these strides; compares all of the output's memory.
void check_layout(dtype type, dtype out_type, const shape_t& shape, const std::array<std::int64_t, 3>& strides,
                  bool diagonal) {
    static const stream on;
    std::size_t elements = 2;
    for (std::size_t axis = 0; axis < 3; ++axis)
        elements += static_cast<std::size_t>((shape[axis] - 1) * std::abs(strides[axis]));
    const auto bytes = static_cast<std::size_t>(size_of(type));
    std::vector<unsigned char> image(elements * bytes, 1), wanted(elements * 4, 7), found(elements * 4, 9);
    for (std::size_t i = 0; i < elements; ++i) {
        const std::uint64_t kind = mix(i) % (elements > 100000 ? 10 : 80);
        if (kind < 2) std::fill_n(&image[i * bytes], bytes, std::uint8_t{0});
        if (kind == 1) image[(i + 1) * bytes - 1] = 0x80;  // no zero, unless it is the -0.0 of a float
    }
    const device_memory in(image.size()), out(wanted.size());
    expect_cuda(cudaMemcpyAsync(in.data(), image.data(), image.size(), cudaMemcpyHostToDevice, on.get()), "in");
    expect_cuda(cudaMemcpyAsync(out.data(), wanted.data(), wanted.size(), cudaMemcpyHostToDevice, on.get()), "out");
    const auto laid_out = [&](auto view, auto* start, std::int64_t size) {
        view.stride = {strides[0], strides[1], strides[2]};
        view.data = start + (strides[0] < 0 ? (1 - shape[0]) * strides[0] * size : 0);
        return view;
    };
    const auto start = [&]<class Place>(const Place& place, const void* from, void* to) {
        call_of<Place>(diagonal)(place,
                                 laid_out(any_input<Place>::contiguous(from, type, shape),
                                          static_cast<const std::byte*>(from), size_of(type)),
                                 laid_out(any_output<Place>::contiguous(to, out_type, shape),
                                          static_cast<std::byte*>(to), size_of(out_type)),
                                 {});
    };
    start(host{}, image.data(), wanted.data());
    start(device(on.get()), in.data(), out.data());
    expect_cuda(cudaMemcpyAsync(found.data(), out.data(), found.size(), cudaMemcpyDeviceToHost, on.get()), "found");
    on.wait();
    EXPECT_EQ(found, wanted);
}

/// Gaps between elements, columns first, a negative stride.
void check_layouts() {
    for (const dtype type : {dtype::uint8, dtype::int16, dtype::uint64, dtype::float16, dtype::float32, dtype::float64})
        for (const dtype out_type : {dtype::uint8, dtype::uint16, dtype::int32, dtype::uint32})
            for (const std::array<std::int64_t, 3> strides :
                 {std::array<std::int64_t, 3>{6750, 150, 2}, {1, 3, 135}, {-3150, 70, 1}})
                check_layout(type, out_type, {3, 45, 70}, strides, out_type != dtype::uint16);
    for (const bool diagonal : {true, false})  // enough cells for sets
        for (const std::array<std::int64_t, 3> strides :
             {std::array<std::int64_t, 3>{45500, 350, 2}, {1, 6, 780}, {-22100, 170, 1}}) {
            check_layout(dtype::float64, dtype::uint8, {6, 130, 170}, strides, diagonal);
            check_layout(dtype::uint8, dtype::uint16, {6, 130, 170}, strides, diagonal);
        }
}
TEST_F(ChessboardDevice, TypesAndLayouts) { check_layouts(); }
TEST_F(ChessboardWays, TypesAndLayouts) { check_layouts(); }

}  // namespace
}  // namespace nearfield::test
