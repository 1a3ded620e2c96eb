// The options on the device: random cases equal the oracle, plain and under graph capture, and larger grids equal the
// host bit for bit.
#include <gtest/gtest.h>

#include "base/cuda.cuh"
#include "device_test.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"
#include "exact/options_property.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

class OptionsDevice : public device_test {};

TEST_F(OptionsDevice, RandomCasesOfEveryPairOfOptions) {
    run_random_options(device_options_engine(), {.cases = scaled_cases(4000), .most_cells = 400, .every_pair = true});
}
TEST_F(OptionsDevice, RandomCasesUnderGraphCapture) {
    run_random_options(graph_options_engine(), {.cases = scaled_cases(1000), .most_cells = 400, .salt = 3});
}
TEST_F(OptionsDevice, LargerGrids) {
    run_random_options(device_options_engine(), {.cases = scaled_cases(300), .most_cells = 3000, .salt = 4});
}
TEST_F(OptionsDevice, GridsOfSeveralTiles) {
    run_random_options(device_options_engine(), {.cases = scaled_cases(20), .most_cells = 12000, .salt = 5});
}

codes_t codes_for(const shape_t& shape, double zeros, std::uint64_t seed) {
    return random_labels<std::uint32_t>(shape, 9, zeros, seed);
}

constexpr wanted_fields every_field{.squared = dtype::float64,
                                    .distance = dtype::float32,
                                    .index = dtype::int64,
                                    .trusted = dtype::uint8,
                                    .coordinates = true,
                                    .label = true};

option_call call_of(const std::vector<shape_t>& shapes, const distance_options& options, double zeros,
                    const wanted_fields& wanted = every_field) {
    option_call c;
    c.options = options;
    c.threads = 0;
    c.form = shapes.size() > 1 ? form_value::list : form_value::call;
    for (const shape_t& shape : shapes)
        c.items.emplace_back(shape, dtype::uint16, codes_for(shape, zeros, c.items.size()), options, wanted,
                             c.items.size());
    return c;
}

/// Returns "" or the first array that host and device fill differently.
std::string differs(const option_call& c, const option_engine& run) {
    option_call here = c, there = c;
    host_options_engine()(here);
    run(there);
    const auto a = here.arrays(), b = there.arrays();
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k]->bytes() == b[k]->bytes()) continue;
        std::int64_t i = 0;
        const auto size = static_cast<std::size_t>(size_of(a[k]->type()));
        while (i < a[k]->cells() && std::memcmp(a[k]->element(i), b[k]->element(i), size) == 0) ++i;
        return "array " + std::to_string(k) + " (" + name_of(a[k]->type()) + ") differs at element " +
               std::to_string(i) + " of " + std::to_string(a[k]->cells());
    }
    return {};
}

TEST_F(OptionsDevice, HostAndDeviceGiveTheSameBits) {
    const std::pair<shape_t, int> grids[] = {
        {{9000}, 0},        {{40, 1100}, 0},    {{1100, 40}, 0},      {{300, 410}, 0},       {{70, 80, 90}, 0},
        {{3, 40, 1100}, 0}, {{1100, 3, 40}, 0}, {{2100, 33}, 0},      {{16384, 5}, 0},       {{5, 16384}, 0},
        {{12, 90, 70}, 1},  {{40, 3000}, 1},    {{5, 30, 31, 32}, 1}, {{3, 4, 1030, 20}, 2}, {{4, 5, 6, 7, 8, 9}, 1},
    };
    for (const auto& [shape, batch_axes] : grids) {
        for (const named_options& each : some_options()) {
            for (double zeros : {0.002, 0.3}) {
                distance_options options = each.options;
                options.batch_axes = batch_axes;
                option_call c = call_of({shape}, options, zeros);
                EXPECT_EQ(differs(c, device_options_engine()), "")
                    << each.name << ", " << text_of(shape) << ", zeros " << zeros;
                c.form = form_value::power;
                c.options = {.spacing = options.spacing, .batch_axes = batch_axes};
                if (options.border[0] != border::closed) c.options.border = options.border;
                c.items[0].distance.reset(), c.items[0].trusted.reset();
                c.items[0].weigh(zeros > 0.1 ? dtype::float32 : dtype::int32, layout::contiguous, 5);
                EXPECT_EQ(differs(c, device_options_engine()), "")
                    << each.name << ", " << text_of(shape) << ", zeros " << zeros << ", power diagram";
                if (HasFailure()) return;
            }
        }
    }
}

TEST_F(OptionsDevice, ListsGiveTheBitsOfTheHost) {
    std::vector<shape_t> many;
    for (std::uint64_t k = 0; k < 400; ++k)
        many.push_back({static_cast<std::int64_t>(mix(k) % 70), static_cast<std::int64_t>(1 + mix(k) / 128 % 90)});
    const std::vector<std::vector<shape_t>> lists = {
        {},
        {{0, 4}, {3, 0}},
        {{1200, 30}, {30, 1200}, {1, 1}, {500, 600}, {0, 9}, {64, 64}, {65, 63}, {1300, 1}},
        {{9}, {4000}, {1}, {0}, {129}},
        {{30, 31, 32}, {1, 40, 2}, {64, 2, 70}, {2, 1100, 3}, {0, 1, 2}},
        many,
    };
    for (const auto& shapes : lists) {
        for (const named_options& each : some_options()) {
            option_call c = call_of(shapes, each.options, 0.05);
            c.form = form_value::list;
            EXPECT_EQ(differs(c, device_options_engine()), "") << each.name << ", " << shapes.size() << " jobs";
            EXPECT_EQ(differs(c, graph_options_engine()), "") << each.name << ", " << shapes.size() << " jobs, graph";
            if (HasFailure()) return;
        }
    }
}

TEST_F(OptionsDevice, Float16IsRoundedOnce) {
    wanted_fields half;
    half.distance = dtype::float16;
    for (double cell : {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, 1 + 0x3p-11 + 0x1p-40, 1 + 0x3p-11 - 0x1p-40,
                        0x1.8p-24 + 0x1p-60, 0x1.8p-25, 1000.0 / 3}) {
        const distance_options options{.spacing = cell, .sign = sign::inside_negative};
        EXPECT_EQ(differs(call_of({{2, 60}}, options, 0.3, half), device_options_engine()), "") << cell;
    }
}

/// The workspace that nearfield::plan reports is what the stream's memory pool hands out, and all of it is returned.
TEST_F(OptionsDevice, WorkspaceIsWhatThePlanSays) {
    cudaMemPool_t pool = cuda::workspace_pool(0);
    const auto attribute = [&](cudaMemPoolAttr which) {
        std::uint64_t bytes = 0;
        expect_cuda(cudaMemPoolGetAttribute(pool, which, &bytes), "cudaMemPoolGetAttribute");
        return bytes;
    };
    for (const shape_t& shape : {shape_t{600, 700}, shape_t{90, 100, 110}, shape_t{1500, 300}, shape_t{200000}}) {
        for (const named_options& each : some_options()) {
            option_call c = call_of({shape}, each.options, 0.05);
            const stream on;
            device_option_call there(c, on);
            const auto made_up = [](const std::optional<guarded>& field) {
                return field->view_of<device, void>(nullptr);
            };
            const option_item& item = c.items[0];
            const fields<device> out{made_up(item.distance),    made_up(item.squared), made_up(item.index),
                                     made_up(item.coordinates), made_up(item.label),   made_up(item.trusted)};
            const auto image = item.image.view_of<device, const void>(nullptr);
            const auto said = plan(device{on.get()}, image, out, each.options).workspace_bytes;
            on.wait();
            const std::uint64_t before = attribute(cudaMemPoolAttrUsedMemCurrent);
            std::uint64_t zero = 0;
            expect_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero), "cudaMemPoolSetAttribute");
            there.start();
            on.wait();
            const auto used = static_cast<double>(attribute(cudaMemPoolAttrUsedMemHigh) - before);
            // The pool rounds each piece up; a piece is at most one of a dozen.
            EXPECT_LE(used, 1.02 * static_cast<double>(said) + 65536) << each.name << ' ' << text_of(shape);
            EXPECT_GE(used, 0.98 * static_cast<double>(said) - 65536) << each.name << ' ' << text_of(shape);
            EXPECT_EQ(attribute(cudaMemPoolAttrUsedMemCurrent), before) << each.name;
        }
    }
}

/// A wrong option throws before it uses the stream or the device, and leaves no CUDA error behind.
TEST_F(OptionsDevice, WrongOptionsThrow) {
    for (const distance_options& wrong : {distance_options{.max_distance = -1}, distance_options{.batch_axes = 2},
                                          distance_options{.border = {border::open, border::open, border::open}}}) {
        option_call c = call_of({{8, 9}}, {}, 0.1);
        const stream on;
        device_option_call there(c, on);
        c.options = wrong;
        EXPECT_THROW(there.start(), error);
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// Short walks through the kernels for compute-sanitizer, in arrays that end with their allocation. There are several,
// since racecheck takes minutes for each.
TEST_F(OptionsDevice, DrawnCasesForTheSanitizer) {
    std::uint64_t seed = 20;
    const auto walk = [&](choice c, std::int64_t most_cells) {
        dice random(++seed);
        const int strided = static_cast<int>(seed % 4 == 0 ? layout::stepping : layout::tight);
        for (dim d : {dim::image_layout, dim::output_layout})
            c.value[static_cast<std::size_t>(d)] = static_cast<std::uint8_t>(strided);
        option_call call = make_case(c, random, most_cells);
        EXPECT_EQ(check(device_options_engine(), call), "");
    };
    for (std::uint64_t k = 0; k < 60; ++k) {
        dice random(k);
        walk(draw(random), k % 3 == 0 ? 1500 : 200);
    }
}

TEST_F(OptionsDevice, EachOptionForTheSanitizer) {
    for (const shape_t& shape : {shape_t{1100, 5}, shape_t{33, 40}, shape_t{3, 1030, 2}, shape_t{2100}}) {
        for (const named_options& each : some_options()) {
            // Tiles serve calls without sites, and labels alone are looked up.
            for (wanted_fields wanted :
                 {every_field, wanted_fields{.distance = dtype::float32, .trusted = dtype::uint8},
                  wanted_fields{.squared = dtype::float64}, wanted_fields{.label = true}}) {
                wanted.image_layout = wanted.output_layout = layout::tight;
                option_call c = call_of({shape}, each.options, 0.05, wanted);
                device_options_engine()(c);
            }
        }
    }
}

TEST_F(OptionsDevice, SitesForTheSanitizer) {
    // Nearest cells of another label, which the device finds through their distances.
    for (const shape_t& shape : {shape_t{40, 70}, shape_t{9, 20, 33}}) {
        for (wanted_fields wanted :
             {wanted_fields{.index = dtype::int64},
              wanted_fields{.distance = dtype::float32, .index = dtype::int32, .coordinates = true}}) {
            wanted.image_layout = wanted.output_layout = layout::tight;
            option_call c = call_of({shape}, {.sites = sites::other_labels}, 0.05, wanted);
            device_options_engine()(c);
        }
    }
    // Words on periodic axes; where they decline, a single field is made by itself.
    for (const shape_t& shape : {shape_t{130, 129}, shape_t{128, 3, 130}}) {
        for (const double share : {0.05, 0.0001}) {
            for (wanted_fields wanted :
                 {wanted_fields{.index = dtype::int32}, wanted_fields{.index = dtype::int64},
                  wanted_fields{.distance = dtype::float32, .index = dtype::int32, .coordinates = true}}) {
                wanted.image_layout = wanted.output_layout = layout::tight;
                const borders ends = shape.size() == 2 ? borders(border::periodic)
                                                       : borders{border::periodic, border::open, border::periodic};
                option_call c = call_of({shape}, {.border = ends}, share, wanted);
                device_options_engine()(c);
            }
        }
    }
}

}  // namespace
}  // namespace nearfield::test
