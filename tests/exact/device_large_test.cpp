// Large grids on the device equal the host engine bit for bit, which the oracle has checked; in grids beyond 2^31
// cells, sampled cells are checked by brute force.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "exact/device_engine.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/large.hpp"

namespace nearfield::test {
namespace {

class DeviceLarge : public testing::TestWithParam<shape_case> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

struct answers {
    std::vector<float> distance;
    std::vector<std::int64_t> index;
    std::vector<std::int32_t> narrow;  ///< the index as int32
    explicit answers(std::size_t cells) : distance(cells, -5), index(cells, -5), narrow(cells, -5) {}
};

template <class Place>
fields<Place> views(const shape_t& shape, void* distance, void* index, dtype index_type = dtype::int64) {
    fields<Place> out;
    if (distance != nullptr) out.distance = any_output<Place>::contiguous(distance, dtype::float32, shape);
    if (index != nullptr) out.index = any_output<Place>::contiguous(index, index_type, shape);
    return out;
}

distance_options with_spacing(const std::vector<double>& lengths) {
    distance_options options;
    options.spacing = spacing(lengths.data(), lengths.size());
    return options;
}

/// Computes distances and sites in separate calls, because a call for distances alone takes another path, and one for
/// indices alone ends in stores of their type.
answers on_device(const shape_t& shape, const std::vector<std::uint8_t>& image, const distance_options& options) {
    const stream on;
    const device_memory there(image.size()), distance(4 * image.size()), index(8 * image.size()),
        narrow(4 * image.size());
    answers a(image.size());
    const auto copy = [&](void* to, const void* from, std::size_t bytes) {
        expect_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.get()), "copy");
    };
    copy(there.data(), image.data(), image.size());
    copy(distance.data(), a.distance.data(), distance.bytes());
    copy(index.data(), a.index.data(), index.bytes());
    copy(narrow.data(), a.narrow.data(), narrow.bytes());
    const auto input = any_input<device>::contiguous(there.data(), dtype::uint8, shape);
    distance_transform(device{on.get()}, input, views<device>(shape, distance.data(), nullptr), options);
    distance_transform(device{on.get()}, input, views<device>(shape, nullptr, index.data()), options);
    distance_transform(device{on.get()}, input, views<device>(shape, nullptr, narrow.data(), dtype::int32), options);
    copy(a.distance.data(), distance.data(), distance.bytes());
    copy(a.index.data(), index.data(), index.bytes());
    copy(a.narrow.data(), narrow.data(), narrow.bytes());
    on.wait();
    return a;
}

template <class T>
std::string first_difference(const std::vector<T>& host_says, const std::vector<T>& device_says) {
    for (std::size_t i = 0; i < host_says.size(); ++i) {
        if (std::memcmp(&host_says[i], &device_says[i], sizeof(T)) == 0) continue;
        std::ostringstream text;
        text << "cell " << i << ": host " << host_says[i] << ", device " << device_says[i];
        return text.str();
    }
    return {};
}

void compare(const shape_t& shape, const flags_t& sites, const spacing_case& cell) {
    std::vector<std::uint8_t> image(sites.size());
    for (std::size_t i = 0; i < sites.size(); ++i) image[i] = sites[i] ? 0 : static_cast<std::uint8_t>(1 + i % 200);
    const distance_options options = with_spacing(per_axis(cell, shape.size()));
    answers on_host(image.size());
    distance_transform(host{}, any_input<host>::contiguous(image.data(), dtype::uint8, shape),
                       views<host>(shape, on_host.distance.data(), on_host.index.data()), options);
    std::copy(on_host.index.begin(), on_host.index.end(), on_host.narrow.begin());
    const answers device_says = on_device(shape, image, options);
    EXPECT_EQ(first_difference(on_host.distance, device_says.distance), "");
    EXPECT_EQ(first_difference(on_host.index, device_says.index), "");
    EXPECT_EQ(first_difference(on_host.narrow, device_says.narrow), "");
}

TEST_P(DeviceLarge, EveryBitEqualsTheHosts) {
    const shape_t& shape = GetParam().shape;
    std::uint64_t k = 0;
    for (fill kind : {fill::none, fill::one, fill::corners, fill::sparse4, fill::percent, fill::tenth, fill::fifty,
                      fill::ninety, fill::sparse3, fill::half, fill::diagonal}) {
        SCOPED_TRACE(GetParam().why + (": " + name_of(kind)));
        compare(shape, make_fill(kind, shape, 5), spacings()[0]);
        if (k % 3 == 1) compare(shape, make_fill(kind, shape, 6), spacings()[k % 2 == 1 ? 2 : 7]);
        if (k++ % 3 == 2) compare(shape, make_fill(kind, shape, 6), spacing_case{{0.65}, "equal"});
        if (HasFailure()) return;
    }
    for (fill kind : {fill::balls, fill::holes, fill::shells, fill::checkerboard, fill::border, fill::circle}) {
        SCOPED_TRACE(GetParam().why + (": enlarged " + name_of(kind)));
        compare(shape, enlarged(kind, shape, 5), spacings()[0]);
        if (HasFailure()) return;
    }
}

// Over 40 lines because it is one table.
const std::vector<shape_case>& large_shapes() {
    static const std::vector<shape_case> list = {
        {{4096, 4096}, "2-D, the usual benchmark"},
        {{2047, 2049}, "2-D, off the powers of two both ways"},
        {{1921, 65}, "2-D, sites: three windows of columns, the last strip with a row"},
        {{40000, 37}, "2-D, columns far beyond 32768, narrow"},
        {{37, 40000}, "2-D, rows far beyond 32768, low"},
        {{1024, 1024}, "2-D, the largest tiles of packed lines: by steps, by gathering and between pivot rows"},
        {{1023, 1001}, "2-D, tiles with a row less, lines that are no multiple of 16"},
        {{1025, 1057}, "2-D, windows of long lines: the fewest rows that take two"},
        {{2049, 1056}, "2-D, windows of the smaller tiles, the last one cut short"},
        {{1030, 12000}, "2-D, winners at pivot rows: values of a row that fill nearly all of 48 KB, more beside them"},
        {{5000, 33}, "2-D, windows of the larger tiles, a word and a cell wide"},
        {{1921, 1}, "one column of two windows and a row"},
        {{30000, 31}, "2-D, columns near the longest of int32, narrow"},
        {{31, 32000}, "2-D, packed lines of many stretches"},
        {{3, 1500, 700}, "3-D, windows in both passes after the first"},
        {{5, 700, 640}, "3-D, tiles of 12 rows a lane, the first axis next to nothing"},
        {{200, 200, 200}, "3-D, sides that are no multiple of 32"},
        {{256, 256, 256}, "3-D, powers of two; of a diagonal few sites, but many that can win"},
        {{512, 512, 40}, "3-D slab with a short contiguous axis"},
        {{40, 512, 512}, "3-D slab with a short first axis"},
        {{1500, 33, 9}, "3-D, first axis beyond 1024"},
        {{9, 1500, 33}, "3-D, middle axis beyond 1024"},
        {{33, 9, 1500}, "3-D, contiguous axis beyond 1024"},
        {{8, 1100, 1200}, "3-D, two axes beyond 1024"},
        {{1200, 8, 1100}, "3-D, first and last axis beyond 1024"},
        {{1100, 1200, 8}, "3-D, first and middle axis beyond 1024"},
        {{512, 512}, "2-D, the largest image of one kernel"},
        {{511, 509}, "2-D, the same, off by little"},
        {{64, 64, 64}, "3-D, the largest volume of one kernel"},
        {{63, 61, 59}, "3-D, the same, off by little"},
        {{40, 700}, "2-D, tiles of lines that a warp takes one at a time"},
        {{100, 700}, "2-D, of 52 pairs of rows, eight lines a warp"},
        {{127, 700}, "2-D, of 64 pairs"},
        {{190, 700}, "2-D, of 96 pairs, four lines a warp"},
        {{256, 700}, "2-D, of 128 pairs"},
        {{383, 700}, "2-D, of 192 pairs, two lines a warp"},
        {{500, 700}, "2-D, of 256 pairs"},
        {{766, 1030}, "2-D, of 384 pairs"},
        {{104, 9000}, "2-D, sites: two strips of 52 rows"},
        {{160, 200, 531}, "3-D, rows of the state that are longer than the image's"},
        {{300, 110, 531}, "3-D, the same, tiles by twos, an odd number a row"},
        {{1023, 31, 545}, "3-D, the same, of the largest tiles, a row less"},
        {{67, 1023, 36}, "3-D, sites: strips with rows beyond a line's end, in both passes"},
        {{5000003}, "1-D, a prime of millions"},
        {{30, 40, 50, 60}, "4-D"},
    };
    return list;
}
std::string test_name(const testing::TestParamInfo<shape_case>& info) { return text_of(info.param.shape); }
INSTANTIATE_TEST_SUITE_P(Device, DeviceLarge, testing::ValuesIn(large_shapes()), test_name);

class DeviceReal : public testing::TestWithParam<shape_case> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

/// Distances in double, with and without a limit: one spacing leads to short searches, one makes neighbouring rows
/// near, and one is counted in cells.
TEST_P(DeviceReal, DistancesEqualTheHosts) {
    const shape_t& shape = GetParam().shape;
    for (fill kind : {fill::none, fill::one, fill::corners, fill::half, fill::sparse3, fill::percent, fill::tenth,
                      fill::fifty, fill::balls, fill::border, fill::diagonal}) {
        const flags_t sites = make_fill(kind, shape, 5);
        std::vector<std::uint8_t> image(sites.size());
        for (std::size_t i = 0; i < sites.size(); ++i) image[i] = sites[i] ? 0 : 1;
        for (const spacing_case& cell :
             {spacing_case{{0.7, 0.31, 0.5}, "general"}, {{0.05, 0.7}, "near rows"}, {{0.65}, "equal"}}) {
            for (const double most : {std::numeric_limits<double>::infinity(), 2.9}) {
                SCOPED_TRACE(GetParam().why + (": " + name_of(kind)) + ", " + cell.why);
                distance_options options = with_spacing(per_axis(cell, shape.size()));
                options.max_distance = most;
                answers on_host(image.size());
                distance_transform(host{}, any_input<host>::contiguous(image.data(), dtype::uint8, shape),
                                   views<host>(shape, on_host.distance.data(), nullptr), options);
                ASSERT_EQ(first_difference(on_host.distance, on_device(shape, image, options).distance), "");
            }
        }
    }
}

const std::vector<shape_case>& real_shapes() {
    static const std::vector<shape_case> list = {
        {{1100, 64}, "words: more rows than relax a band (half), or looks at (one)"},
        {{65, 1100}, "words: a window and a row, stretches of lines"},
        {{1100, 3, 20}, "values: more rows than a band reads"},
        {{9, 70, 33}, "words and values, bands and words cut short"},
        {{5, 6, 40, 35}, "4-D: two passes of values, the second state"},
    };
    return list;
}
INSTANTIATE_TEST_SUITE_P(Device, DeviceReal, testing::ValuesIn(real_shapes()), test_name);

/// Labels are looked up for four neighbouring cells at a time, or singly if the image's size is no multiple of four.
TEST(DeviceLabels, EqualTheHosts) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    for (const shape_t& shape : {shape_t{8, 12, 20}, shape_t{7, 9, 11}, shape_t{2, 33, 35}}) {
        for (const int batch_axes : {0, 1}) {
            std::vector<std::uint32_t> seeds(static_cast<std::size_t>(cells_of(shape)));
            for (std::size_t i = 0; i < seeds.size(); ++i)
                if (mix(i) % 40 == 0) seeds[i] = static_cast<std::uint32_t>(mix(i + 1));
            std::vector<std::uint32_t> on_host(seeds.size()), device_says(seeds.size());
            distance_options options;
            options.sites = sites::nonzero, options.batch_axes = batch_axes;
            fields<host> wanted;
            wanted.label = any_output<host>::contiguous(on_host.data(), dtype::uint32, shape);
            distance_transform(host{}, any_input<host>::contiguous(seeds.data(), dtype::uint32, shape), wanted,
                               options);
            const stream on;
            const device_memory from(4 * seeds.size()), to(4 * seeds.size());
            expect_cuda(cudaMemcpyAsync(from.data(), seeds.data(), from.bytes(), cudaMemcpyDefault, on.get()), "copy");
            fields<device> there;
            there.label = any_output<device>::contiguous(to.data(), dtype::uint32, shape);
            distance_transform(device{on.get()}, any_input<device>::contiguous(from.data(), dtype::uint32, shape),
                               there, options);
            expect_cuda(cudaMemcpyAsync(device_says.data(), to.data(), to.bytes(), cudaMemcpyDefault, on.get()),
                        "copy");
            on.wait();
            EXPECT_EQ(first_difference(on_host, device_says), "") << text_of(shape) << ", batch axes " << batch_axes;
        }
    }
}

class DeviceBig : public DeviceLarge {
protected:
    void SetUp() override {
        DeviceLarge::SetUp();
        if (!IsSkipped() && !big_tests_wanted()) GTEST_SKIP() << "set NEARFIELD_TEST_BIG=1 to run it";
    }
};

/// A dozen sites. Distances come first and sites after, so that the memory of one is free for the other.
TEST_P(DeviceBig, SampledCellsAgainstEverySite) {
    const shape_t& shape = GetParam().shape;
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    const auto picked = sample_cells(cells_of(shape), 3000, 3);
    const stream on;
    const device_memory image(cells);
    expect_cuda(cudaMemsetAsync(image.data(), 1, cells, on.get()), "cudaMemsetAsync");
    std::vector<std::int64_t> sites;
    for (std::uint64_t k = 0; k < 12; ++k) {
        sites.push_back(static_cast<std::int64_t>(mix(k + 500) % cells));
        expect_cuda(cudaMemsetAsync(static_cast<char*>(image.data()) + sites.back(), 0, 1, on.get()),
                    "cudaMemsetAsync");
    }
    const auto input = any_input<device>::contiguous(image.data(), dtype::uint8, shape);
    sampled got{std::vector<float>(picked.size()), std::vector<std::int64_t>(picked.size())};
    const auto pick = [&](auto& to, const device_memory& from) {
        const std::size_t size = sizeof(to[0]);
        for (std::size_t k = 0; k < picked.size(); ++k) {
            const char* source = static_cast<const char*>(from.data()) + static_cast<std::size_t>(picked[k]) * size;
            expect_cuda(cudaMemcpyAsync(&to[k], source, size, cudaMemcpyDeviceToHost, on.get()), "download");
        }
        on.wait();
    };
    {
        const device_memory distance(4 * cells);
        distance_transform(device{on.get()}, input, views<device>(shape, distance.data(), nullptr));
        pick(got.distance, distance);
    }
    {
        const device_memory index(8 * cells);
        exact::gpu::trace counted;
        distance_transform(device{on.get()}, input, views<device>(shape, nullptr, index.data()));
        pick(got.index, index);
        if (shape[0] == 1300) {
            EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::few)], 0) << counted.text();
        }
    }
    EXPECT_EQ(wrong_sample(shape, std::vector<double>(shape.size(), 1.0), sites, picked, got), "");
}

/// Index of the nearest site at most `reach` cells away along every axis; ties follow the library's rule.
template <class IsSite>
std::int64_t nearest_around(const shape_t& shape, std::int64_t cell, std::int64_t reach, const IsSite& is_site) {
    const shape_t here = oracle::coordinates_of(cell, shape);
    shape_t from = here, to = here, best;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        from[axis] = std::max<std::int64_t>(here[axis] - reach, 0),
        to[axis] = std::min(here[axis] + reach, shape[axis] - 1);
    std::int64_t found = -1;
    for (shape_t at = from;;) {
        std::int64_t index = 0, squared = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            index = index * shape[axis] + at[axis];
            squared += (at[axis] - here[axis]) * (at[axis] - here[axis]);
        }
        shape_t order{squared};
        order.insert(order.end(), at.rbegin(), at.rend());
        if (is_site(index) && squared <= reach * reach && (found < 0 || order < best)) best = order, found = index;
        std::size_t axis = shape.size();
        while (axis > 0 && at[axis - 1] == to[axis - 1]) --axis, at[axis] = from[axis];
        if (axis == 0) return found;
        ++at[axis - 1];
    }
}

/// A repeated pattern of many sites, so that the nearest ones are a few cells away.
TEST_P(DeviceBig, SampledCellsAmongManySites) {
    const shape_t& shape = GetParam().shape;
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    std::vector<std::uint8_t> pattern(1000003);
    for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = mix(i) % 20 != 0 ? 1 : 0;
    const stream on;
    const device_memory image(cells), index(8 * cells);
    const auto copy = [&](void* to, const void* from, std::size_t bytes) {
        expect_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.get()), "copy");
    };
    copy(image.data(), pattern.data(), pattern.size());
    for (std::size_t done = pattern.size(); done < cells; done *= 2)
        copy(static_cast<char*>(image.data()) + done, image.data(), std::min(done, cells - done));
    distance_transform(device{on.get()}, any_input<device>::contiguous(image.data(), dtype::uint8, shape),
                       views<device>(shape, nullptr, index.data()));
    const auto is_site = [&](std::int64_t i) { return pattern[static_cast<std::size_t>(i) % pattern.size()] == 0; };
    for (const std::int64_t cell : sample_cells(cells_of(shape), 1000, 4)) {
        std::int64_t got = -5;
        copy(&got, static_cast<const char*>(index.data()) + 8 * cell, 8);
        on.wait();
        ASSERT_EQ(got, nearest_around(shape, cell, 12, is_site)) << "cell " << cell;
    }
}

const std::vector<shape_case>& big_shapes() {
    static const std::vector<shape_case> list = {
        {{1300, 1300, 1300}, "3-D, 2.197e9 cells, few sites whose keys need 33 bits"},
        {{50000, 50000}, "2-D, 2.5e9 cells, squares beyond 2^32"},
        {{65536, 65536}, "2-D, the largest of words, 2^32 cells"},
        {{66000, 3, 11000}, "3-D slab, 2.178e9 cells"},
    };
    return list;
}
INSTANTIATE_TEST_SUITE_P(Device, DeviceBig, testing::ValuesIn(big_shapes()), test_name);

}  // namespace
}  // namespace nearfield::test
