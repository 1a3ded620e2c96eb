// Grids with long sides on a device, cells against all sites: images whose squared distances need more than 30 bits,
// volumes whose first axis is too long for shared memory, and volumes whose packed sites need more than 31 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exact/gpu/ground/ladder.hpp"
#include "exact/gpu/route/route.hpp"
#include "exact/large.hpp"
#include "exact/one_field.hpp"
#include "exact/options_device_engine.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

/// The fields of a call on the device, and those that the call is for.
struct answers {
    std::vector<double> distance;
    std::vector<std::int64_t> index;
    std::vector<std::int32_t> coordinates;
};
enum class call_for : std::uint8_t { distance, index, all };

answers on_device(const shape_t& shape, const std::vector<std::int64_t>& sites, double limit, call_for what) {
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    const stream on;
    const device_memory image(cells), distance(8 * cells), index(8 * cells), coordinates(4 * shape.size() * cells);
    expect_cuda(cudaMemsetAsync(image.data(), 1, cells, on.get()), "clear");
    for (const std::int64_t site : sites)
        expect_cuda(cudaMemsetAsync(static_cast<char*>(image.data()) + site, 0, 1, on.get()), "mark");
    shape_t planes = shape;
    planes.insert(planes.begin(), static_cast<std::int64_t>(shape.size()));
    fields<device> out;
    if (what != call_for::index) out.distance = any_output<device>::contiguous(distance.data(), dtype::float64, shape);
    if (what != call_for::distance) out.index = any_output<device>::contiguous(index.data(), dtype::int64, shape);
    if (what == call_for::all)
        out.coordinates = any_output<device>::contiguous(coordinates.data(), dtype::int32, planes);
    distance_transform(device{on.get()}, any_input<device>::contiguous(image.data(), dtype::uint8, shape), out,
                       {.max_distance = limit});
    answers a;
    const auto download = [&](auto& to, const device_memory& from) {
        to.resize(from.bytes() / sizeof(to[0]));
        expect_cuda(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDefault, on.get()), "download");
    };
    if (out.distance.wanted()) download(a.distance, distance);
    if (out.index.wanted()) download(a.index, index);
    if (out.coordinates.wanted()) download(a.coordinates, coordinates);
    on.wait();
    return a;
}

/// Returns "" or the first of some cells with a wrong answer.
std::string wrong_cell(const shape_t& shape, const std::vector<std::int64_t>& sites, double limit, call_for what) {
    const auto picked = sample_cells(cells_of(shape), 20000, 3);
    const auto expected = oracle::at_cells(shape, std::vector<double>(shape.size(), 1.0), sites, picked);
    const answers got = on_device(shape, sites, limit, what);
    for (std::size_t k = 0; k < picked.size(); ++k) {
        const auto cell = static_cast<std::size_t>(picked[k]);
        const double root = std::sqrt(static_cast<double>(expected.exact[k]));
        const bool within = root <= limit;
        const std::int64_t index = within ? expected.index[k] : -1;
        bool right =
            got.distance.empty() || got.distance[cell] == (within ? root : std::numeric_limits<double>::infinity());
        right = right && (got.index.empty() || got.index[cell] == index);
        const shape_t at = oracle::coordinates_of(std::max<std::int64_t>(index, 0), shape);
        for (std::size_t axis = 0; axis < shape.size() && !got.coordinates.empty(); ++axis)
            right = right && got.coordinates[axis * static_cast<std::size_t>(cells_of(shape)) + cell] ==
                                 (within ? at[axis] : -1);
        if (!right) return "cell " + std::to_string(cell) + ", of site " + std::to_string(index);
    }
    return "";
}

class LongSides : public testing::TestWithParam<shape_t> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

/// Sites in the last corner, in two opposite ones, and in four, which tie.
TEST_P(LongSides, OfCornersByEverySite) {
    const shape_t& shape = GetParam();
    const double all = std::numeric_limits<double>::infinity();
    const std::int64_t end = cells_of(shape) - 1, right = shape.back() - 1;
    const std::vector<std::int64_t> four{0, right, end - right, end};
    EXPECT_EQ(wrong_cell(shape, {end}, all, call_for::index), "");
    EXPECT_EQ(wrong_cell(shape, {0, end}, all, call_for::distance), "");
    EXPECT_EQ(wrong_cell(shape, four, 33000, call_for::distance), "");
    EXPECT_EQ(wrong_cell(shape, four, 33000, call_for::index), "");
    EXPECT_EQ(wrong_cell(shape, four, all, call_for::index), "");
    EXPECT_EQ(wrong_cell(shape, {0, end}, all, call_for::all), "");
}

INSTANTIATE_TEST_SUITE_P(Grids, LongSides,
                         testing::Values(shape_t{33, 65536}, shape_t{70, 33001}, shape_t{65536, 34},
                                         shape_t{1025, 20, 33}, shape_t{17, 1300, 18}, shape_t{20, 17, 2100}),
                         [](const auto& of) {
                             std::string name;
                             for (const std::int64_t side : of.param) name += "_" + std::to_string(side);
                             return name;
                         });

/// All rows of a square's lane are candidates where the winner changes, and more than 2^15 cells away: the host's bits.
TEST(LongSidesOfImages, WhoseSitesAreFarApart) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const shape_t shape{270, 33001};
    flags_t sites(static_cast<std::size_t>(cells_of(shape)));
    sites.front() = sites[static_cast<std::size_t>((shape[0] - 1) * shape[1])] = 1;
    const double all = std::numeric_limits<double>::infinity();
    EXPECT_EQ((one_field(shape, sites, all).differs<std::int64_t>(dtype::int64, 1, "index")), "");
    EXPECT_EQ((one_field(shape, sites, all).differs<float>(dtype::float32, 1, "distance", wanted::distance)), "");
}

/// Rows too long for positions in 16 bits, or for near windows of these, under every option: the host's bits.
TEST(LongRows, OfEveryForm) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const std::vector<distance_options> forms{
        {.spacing = {2.5, 0.7}},
        {.spacing = {1.4142135623730951, 1}},
        {.half_cell = true},
        {.border = border::closed},
        {.spacing = {2, 1}, .border = border::periodic},
        {.half_cell = true, .border = {border::open, border::periodic}},
        {.spacing = {2.5, 0.7}, .sign = sign::inside_negative},
        {.spacing = {2.5, 0.7}, .max_distance = 9},
        {.sites = sites::other_labels},
        {.spacing = {0.7, 2.5}, .sites = sites::other_labels, .border = border::closed},
        {.sites = sites::other_labels, .half_cell = true, .border = border::periodic},
    };
    const std::vector<wanted_fields> fields{
        {.distance = dtype::float32},
        {.index = dtype::int64},
        {.distance = dtype::float64, .index = dtype::int32, .coordinates = true},
        {.distance = dtype::float32, .output_layout = layout::stepping},
    };
    exact::gpu::trace counted;
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{40, 33024}, shape_t{9, 33001}, shape_t{3, 65536}, shape_t{34, 32600}})
        for (const distance_options& options : forms) {
            const bool labels = options.sites == sites::other_labels;
            const double share = std::array{0.01, 0.1, 0.0003, 0.0}[k % 4];
            codes_t codes;
            for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                const std::uint64_t dice = mix(static_cast<std::uint64_t>(labels ? i / 37 : i) + (k << 40));
                const bool zero = static_cast<double>(dice % 1'000'000) < 1e6 * share;
                codes.push_back(zero ? 0 : static_cast<std::uint32_t>(1 + (labels ? dice % 5 : 0)));
            }
            const wanted_fields& wanted = fields[options.sign == sign::none ? (k / 3) % fields.size() : 0];
            ASSERT_EQ(differs(shape, dtype::uint8, codes, options, wanted), "")
                << text_of(shape) << ", form " << k % forms.size() << ", share " << share;
            ++k;
        }
    EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::near)], 0) << counted.text();
    EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::values)], 0) << counted.text();
}

/// Near windows find sites on periodic axes whose squared distances need more than 30 bits: the host's bits.
TEST(LongRows, OfColumnsThatWrap) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const shape_t shape{66000, 33};
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i)
        codes.push_back(mix(static_cast<std::uint64_t>(i)) % 40 == 0 ? 0 : 1);
    exact::gpu::trace counted;
    EXPECT_EQ(
        differs(shape, dtype::uint8, codes, {.border = {border::periodic, border::open}}, {.index = dtype::int64}), "");
    EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::near)], 0) << counted.text();
}

/// Near and far sites in volumes whose first axis lines search after words: the host's bits.
TEST(LongSidesOfVolumes, ByWordsThenLines) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const double all = std::numeric_limits<double>::infinity();
    for (const shape_t& shape : {shape_t{1030, 20, 33}, shape_t{1025, 17, 40}}) {
        exact::gpu::trace counted;
        for (const double share : {0.1, 0.01, 0.0002}) {
            const flags_t sites = make_random(shape, share, 7);
            for (const double limit : {all, 100.0, 20.0}) {
                EXPECT_EQ((one_field(shape, sites, limit).differs<std::int32_t>(dtype::int32, 1, "int32")), "");
                EXPECT_EQ((one_field(shape, sites, limit).differs<float>(dtype::float32, 1, "float", wanted::distance)),
                          "");
            }
            EXPECT_EQ((one_field(shape, sites, all).differs<std::int64_t>(dtype::int64, 1, "int64")), "");
        }
        EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::words)], 0) << counted.text();
        EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::values)], 0) << counted.text();
        const flags_t none(static_cast<std::size_t>(cells_of(shape)));
        EXPECT_EQ((one_field(shape, none, all).differs<std::int64_t>(dtype::int64, 1, "no site")), "");
    }
}

/// The plan of a small volume gets the numbers and the key of a large one: 33 bits. Its near windows have narrow keys.
TEST(LongSidesOfVolumes, WithKeysOf33Bits) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const shape_t shape{40, 30, 50};
    const flags_t sites = make_random(shape, 0.01, 3);
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    const distance_options options{.sites = sites::nonzero};
    std::vector<std::int64_t> expected(cells), found(cells);
    fields<host> at_home;
    at_home.index = any_output<host>::contiguous(expected.data(), dtype::int64, shape);
    distance_transform(host{}, any_input<host>::contiguous(sites.data(), dtype::uint8, shape), at_home, options);
    const stream on;
    const device_memory image(cells), index(8 * cells), distance(4 * cells);
    expect_cuda(cudaMemcpyAsync(image.data(), sites.data(), cells, cudaMemcpyDefault, on.get()), "upload");
    const auto input = any_input<device>::contiguous(image.data(), dtype::uint8, shape);
    fields<device> out;
    out.index = any_output<device>::contiguous(index.data(), dtype::int64, shape);
    out.distance = any_output<device>::contiguous(distance.data(), dtype::float16, shape);
    exact::plan p = exact::make_plan(input, out, {options});
    const std::int64_t large[] = {1280, 1280, 1280};
    p.keys = exact::layout_for(large, 3), p.numbers = exact::tier::int64;
    exact::gpu::trace counted;
    exact::run(device{on.get()}, p, {input, out});
    expect_cuda(cudaMemcpyAsync(found.data(), index.data(), 8 * cells, cudaMemcpyDefault, on.get()), "download");
    on.wait();
    EXPECT_EQ(found, expected);
    EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::near)], 0) << counted.text();
}

}  // namespace
}  // namespace nearfield::test
