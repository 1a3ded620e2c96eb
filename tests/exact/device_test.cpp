// The list of cases on the device, plain and under graph capture, equals the oracle.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/cuda.cuh"
#include "exact/device_engine.hpp"

namespace nearfield::test {
namespace {

template <class Base>
class on_device : public Base {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};
class Device : public on_device<testing::Test> {};
class DeviceSmall : public on_device<testing::TestWithParam<shape_case>> {};
class DeviceMedium : public on_device<testing::TestWithParam<shape_case>> {};
class DeviceLong : public on_device<testing::TestWithParam<shape_case>> {};

void check_on_device(const solved& s, std::uint64_t k) {
    EXPECT_EQ(check(device_engine(), s, outputs::all(), dress{}), "");
    EXPECT_EQ(check(device_engine(), s, outputs::number(1 + k % (output_combinations - 1)), dress::number(k)), "");
    EXPECT_EQ(
        check(graph_engine(), s, outputs::number(1 + mix(k) % (output_combinations - 1)), dress::number(mix(k) % 4096)),
        "");
}

template <class Fills, class SpacingsOf>
void check_fills(const shape_case& c, const Fills& fills, const SpacingsOf& spacings_of) {
    std::uint64_t k = mix(static_cast<std::uint64_t>(cells_of(c.shape)) + 1) % 1000;
    for (fill kind : fills) {
        const flags_t sites = make_fill(kind, c.shape, 7 + k);
        for (const spacing_case& cell : spacings_of(k)) {
            if (!chosen(++k)) continue;
            SCOPED_TRACE(c.why + (": " + name_of(kind)) + ", spacing " + cell.why);
            check_on_device(solve(c.shape, sites, cell), k);
            if (testing::Test::HasFailure()) return;
        }
    }
}

std::vector<spacing_case> three_spacings(std::uint64_t k) {
    const std::size_t others = spacings().size() - 2;
    return {spacings()[0], spacings()[2 + k % others], spacings()[2 + (k + 5) % others]};
}

TEST_P(DeviceSmall, EveryFillWithEverySpacing) {
    check_fills(GetParam(), all_fills, [](std::uint64_t) { return spacings(); });
}
TEST_P(DeviceMedium, EveryFillWithSomeSpacings) { check_fills(GetParam(), all_fills, three_spacings); }
TEST_P(DeviceLong, SomeFillsWithSomeSpacings) { check_fills(GetParam(), long_fills, three_spacings); }

std::string test_name(const testing::TestParamInfo<shape_case>& info) { return text_of(info.param.shape); }
INSTANTIATE_TEST_SUITE_P(Device, DeviceSmall, testing::ValuesIn(small_shapes()), test_name);
INSTANTIATE_TEST_SUITE_P(Device, DeviceMedium, testing::ValuesIn(medium_shapes()), test_name);
INSTANTIATE_TEST_SUITE_P(Device, DeviceLong, testing::ValuesIn(long_shapes()), test_name);

/// Lines packed in one stretch, and a line of several: a word's nearest site may be any number of stretches away.
TEST_F(Device, SitesOfOtherStretches) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{10, 1025}, shape_t{5, 2048}, shape_t{4, 2049}, shape_t{3, 4095},
                                 shape_t{2, 2, 4096}, shape_t{2, 4097}}) {
        const std::int64_t length = shape.back();
        for (const std::int64_t column :
             {std::int64_t{0}, std::int64_t{1023}, std::int64_t{1024}, length / 2, length - 1}) {
            flags_t sites(static_cast<std::size_t>(cells_of(shape)));
            // Every third line has no site; some lines have a second one.
            for (std::int64_t line = 0; line * length < cells_of(shape); ++line) {
                if (line % 3 == 1) continue;
                sites[static_cast<std::size_t>(line * length + column)] = true;
                if (line % 4 == 3)
                    sites[static_cast<std::size_t>(line * length + (column + length / 3) % length)] = true;
            }
            check_on_device(solve(shape, sites, spacings()[0]), k++);
        }
    }
}

TEST_F(Device, EveryCombinationOfOutputsInOneCall) {
    for (const shape_t& shape : {shape_t{37}, shape_t{19, 35}, shape_t{7, 18, 33}, shape_t{3, 4, 5, 6}}) {
        for (const spacing_case& cell : {spacings()[0], spacings()[7], spacings()[9]}) {
            for (fill kind : {fill::tenth, fill::none}) {
                const solved s = solve(shape, make_fill(kind, shape, 3), cell);
                for (std::uint64_t k = 1; k < output_combinations; ++k) {
                    ASSERT_EQ(check(device_engine(), s, outputs::number(k), dress::number(k)), "");
                }
            }
        }
    }
}

TEST_F(Device, EveryImageTypeInEveryLayout) {
    for (const shape_t& shape : {shape_t{37}, shape_t{19, 35}, shape_t{7, 18, 33}, shape_t{3, 4, 5, 6}}) {
        const solved s = solve(shape, make_fill(fill::tenth, shape, 5), spacings()[0]);
        for (std::uint64_t k = 0; k < 144; ++k) {
            dress d = dress::number(k % 72);
            d.sites_are_nonzero = k >= 72;
            ASSERT_EQ(check(device_engine(), s, outputs::all(), d), "");
        }
    }
}

TEST_F(Device, BroadcastImage) {
    const shape_t shape{9, 20, 33};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        flags_t sites(static_cast<std::size_t>(cells_of(shape)));
        for (std::size_t i = 0; i < sites.size(); ++i) {
            shape_t at = oracle::coordinates_of(static_cast<std::int64_t>(i), shape);
            at[axis] = 0;
            sites[i] = mix(static_cast<std::uint64_t>(at[0] * 10007 + at[1] * 101 + at[2])) % 20 == 0;
        }
        const solved s = solve(shape, sites, spacings()[2]);
        call c(s, outputs::all(), dress{});
        c.image = guarded::broadcast(dtype::int16, shape, axis);
        write_image(c.image, sites, false);
        const call before = c;
        device_engine()(c);
        EXPECT_EQ(verdict(c, before, s), "") << "axis " << axis;
    }
}

/// A graph reads the arrays' values at replay, not those at recording.
TEST_F(Device, AGraphReplaysOnOtherImages) {
    for (const shape_t& shape : {shape_t{60, 70}, shape_t{1100, 40}, shape_t{20, 30, 40}}) {
        const solved first = solve(shape, make_fill(fill::tenth, shape), spacings()[0]);
        call c(first, outputs::all(), dress{});
        const stream on;
        device_call there(c, on);
        const recorded graph(there, on);
        for (fill kind : {fill::one, fill::ninety, fill::none, fill::tenth}) {
            const solved s = solve(shape, make_fill(kind, shape, 99), spacings()[0]);
            c.refill(s.problem.site);
            const call before = c;
            there.upload();
            graph.replay();
            there.download();
            ASSERT_EQ(verdict(c, before, s), "") << text_of(shape) << ' ' << name_of(kind);
        }
    }
}

/// Blocks a stream until it is released, at most for ten seconds.
struct gate {
    std::atomic<bool> open{false}, late{false};
    static void CUDART_CB wait(void* self) {
        auto& g = *static_cast<gate*>(self);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!g.open && !g.late) {
            g.late = std::chrono::steady_clock::now() > end;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
};

TEST_F(Device, TheCallReturnsBeforeTheWorkIsDone) {
    for (const shape_t& shape : {shape_t{300, 200}, shape_t{1500, 64}, shape_t{40, 50, 60}}) {
        const solved s = solve(shape, make_fill(fill::percent, shape), spacings()[0]);
        call c(s, outputs::all(), dress{});
        const call before = c;
        const stream on;
        device_call there(c, on);
        there.start();  // loads the kernels, which makes the first call wait
        on.wait();
        gate g;
        expect_cuda(cudaLaunchHostFunc(on.get(), gate::wait, &g), "cudaLaunchHostFunc");
        there.start();
        const cudaError_t state = cudaStreamQuery(on.get());
        EXPECT_FALSE(g.late) << "the call waited for the stream";
        EXPECT_EQ(state, cudaErrorNotReady);
        g.open = true;
        there.download();
        EXPECT_EQ(verdict(c, before, s), "");
    }
}

TEST_F(Device, TwoStreamsAtOnce) {
    const shape_t shape{50, 60, 70};
    const solved a = solve(shape, make_fill(fill::percent, shape, 1), spacings()[0]);
    const solved b = solve(shape, make_fill(fill::fifty, shape, 2), spacings()[7]);
    call ca(a, outputs::all(), dress{}), cb(b, outputs::all(), dress{});
    const call before_a = ca, before_b = cb;
    const stream sa, sb;
    device_call da(ca, sa), db(cb, sb);
    for (int round = 0; round < 20; ++round) da.start(), db.start();
    da.download(), db.download();
    EXPECT_EQ(verdict(ca, before_a, a), "");
    EXPECT_EQ(verdict(cb, before_b, b), "");
}

/// No memory stays allocated after the work: the pool's used bytes return to their earlier value.
TEST_F(Device, WorkspaceIsGivenBack) {
    const shape_t shape{200, 210, 64};
    const solved s = solve(shape, make_fill(fill::one, shape), spacings()[0]);
    call c(s, outputs::all(), dress{});
    const stream on;
    device_call there(c, on);
    cudaMemPool_t pool = cuda::workspace_pool(0);
    const auto used = [&] {
        on.wait();
        std::uint64_t bytes = 0;
        expect_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes), "cudaMemPoolGetAttribute");
        return bytes;
    };
    const std::uint64_t before = used();
    for (int round = 0; round < 3; ++round) there.start();
    EXPECT_EQ(used(), before);
}

/// A wrong call throws before it uses the stream or the device, and leaves no CUDA error behind.
TEST_F(Device, WrongCallsThrow) {
    const shape_t shape{8, 9};
    const solved s = solve(shape, make_fill(fill::tenth, shape), spacings()[0]);
    call c(s, outputs::all(), dress{});
    const stream on;
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        device_call there(c, on);
        c.options.spacing = bad;
        EXPECT_THROW(there.start(), error);
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

/// One site at an end of the longest lines that words serve: the farthest cells' distance equals the word for
/// "none".
TEST_F(Device, SitesAtTheEndsOfTheLongestLines) {
    for (const shape_t& shape : {shape_t{65536, 2}, shape_t{2, 65536}})
        for (const bool at_the_end : {false, true}) {
            flags_t sites(static_cast<std::size_t>(cells_of(shape)));
            (at_the_end ? sites.back() : sites.front()) = true;
            check_on_device(solve(shape, sites, spacings()[0]), 1);
        }
}

/// A short walk through every kernel for compute-sanitizer, in arrays that end with their allocation.
/// Over 40 lines because it reaches every kernel.
TEST_F(Device, ShortWalkForTheSanitizer) {
    std::vector<shape_t> shapes{{1},
                                {1025},
                                {33, 31},
                                {61, 47},
                                {5, 33, 32},
                                {33, 5, 31},
                                {3, 1100, 5},
                                {1100, 3, 33},
                                {1100, 40},
                                {40, 600},
                                {100, 66, 5},
                                {2100, 5},
                                {5, 2100},
                                {3, 4095},
                                {40, 41, 43},
                                {2, 9, 1, 33},
                                {2, 2, 3, 2, 2, 1, 2, 5}};
    std::uint64_t k = 0;
    for (const shape_t& shape : shapes) {
        for (fill kind : {fill::one, fill::percent, fill::fifty}) {
            for (const spacing_case& cell : {spacings()[0], spacings()[7], spacings()[9]}) {
                dress d;
                constexpr dtype types[] = {dtype::uint8, dtype::float32, dtype::uint8, dtype::float16, dtype::int64};
                d.image = types[k % 5];
                // Strided arrays reach the kernels that copy from and to them.
                d.image_layout = d.output_layout = k % 4 == 3 ? layout::stepping : layout::tight;
                outputs wanted = outputs::all();
                if (k % 2 == 0) wanted = {outputs::distance_t::float32, outputs::squared_t::none, false, false};
                EXPECT_EQ(check(device_engine(), solve(shape, make_fill(kind, shape, k), cell), wanted, d), "");
                ++k;
            }
        }
    }
    // Distances that neither steps nor offers resolve, in one window and in several, for words and for values.
    for (const shape_t& shape : {shape_t{700, 40}, shape_t{1300, 40}, shape_t{40, 1100, 5}, shape_t{1100, 40, 5}})
        for (fill kind : {fill::circle, fill::border, fill::half}) {
            const solved s = solve(shape, make_fill(kind, shape, k++), spacings()[0]);
            const outputs distances{outputs::distance_t::float32, outputs::squared_t::none, false, false},
                sites{outputs::distance_t::none, outputs::squared_t::none, true, false};
            EXPECT_EQ(check(device_engine(), s, distances, dress{}), "");
            EXPECT_EQ(check(device_engine(), s, sites, dress{}), "");
        }
    // Large enough that the engine samples it for few sites or close sites.
    const shape_t volume{162, 162, 162};
    const outputs distances{outputs::distance_t::float32, outputs::squared_t::none, false, false},
        sites{outputs::distance_t::none, outputs::squared_t::none, true, false};
    for (const auto& [kind, wanted] :
         {std::pair{fill::one, distances}, std::pair{fill::one, sites}, std::pair{fill::tenth, sites}})
        EXPECT_EQ(check(device_engine(), solve(volume, make_fill(kind, volume, k++), spacings()[0]), wanted, dress{}),
                  "");
}

/// Lines of as many rows as fit a block's shared memory, and of one more, on GPUs with 64 KB and with 99 KB: where they
/// do not fit, pivot rows serve.
TEST_F(Device, LinesRoundWhatBlocksHold) {
    const outputs distances{outputs::distance_t::float32, outputs::squared_t::none, false, false},
        sites{outputs::distance_t::none, outputs::squared_t::none, true, false};
    for (const std::int64_t rows : {477, 478, 740, 741, 1000, 1024})
        for (fill kind : {fill::circle, fill::half}) {
            const solved s = solve({rows, 40}, make_fill(kind, {rows, 40}, 1), spacings()[0]);
            EXPECT_EQ(check(device_engine(), s, distances, dress{}), "");
            EXPECT_EQ(check(device_engine(), s, sites, dress{}), "");
        }
    const shape_t volume{480, 5, 33};
    const solved s = solve(volume, make_fill(fill::half, volume, 1), spacings()[0]);
    EXPECT_EQ(check(device_engine(), s, distances, dress{}), "");
    EXPECT_EQ(check(device_engine(), s, sites, dress{}), "");
}

/// Lines of at most 512 cells are packed many a block, in bytes at any alignment and in wider cells. The grids have
/// more rows than the kernel for small ones takes.
TEST_F(Device, PackedLinesOfEveryLength) {
    const outputs distances{outputs::distance_t::float32, outputs::squared_t::none, false, false},
        sites{outputs::distance_t::none, outputs::squared_t::none, true, false};
    constexpr dtype types[] = {dtype::uint8, dtype::int16, dtype::boolean, dtype::float32, dtype::int64};
    constexpr fill fills[] = {fill::fifty, fill::percent, fill::one};
    std::vector<shape_t> shapes{{66, 17, 3}, {17, 66, 40}, {17, 66, 100}, {17, 20, 511}};
    for (const std::int64_t length :
         {2, 3, 5, 8, 16, 31, 32, 33, 40, 64, 65, 96, 100, 128, 130, 256, 257, 384, 500, 511, 512, 513, 528})
        shapes.push_back({517, length});
    std::uint64_t k = 0;
    for (const shape_t& shape : shapes) {
        dress d;
        d.image = types[k % std::size(types)], d.sites_are_nonzero = k % 2 == 0;
        if (!chosen(++k)) continue;
        SCOPED_TRACE(text_of(shape));
        const solved s = solve(shape, make_fill(fills[k % std::size(fills)], shape, k), spacings()[0]);
        EXPECT_EQ(check(device_engine(), s, distances, d), "");
        EXPECT_EQ(check(graph_engine(), s, sites, d), "");
    }
}

}  // namespace
}  // namespace nearfield::test
