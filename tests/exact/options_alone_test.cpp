// One contiguous field that a separate kernel of the device makes from its states equals the host's bit for bit: every
// kind of numbers, with limits, half cells, labels and batches, and in grids whose cells fill no block.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {
namespace {

const std::vector<named_options>& searched() {
    static const double real[] = {0.7, 0.31, 0.5};
    static const std::vector<named_options> list = {
        {"labels, far", {.sites = sites::other_labels}},
        {"labels, real spacing", {.spacing = spacing(real, 3), .sites = sites::other_labels}},
        {"labels, one spacing", {.spacing = 0.65, .sites = sites::other_labels}},
        {"labels, real spacing, limit",
         {.spacing = spacing(real, 3), .sites = sites::other_labels, .max_distance = 2.2}},
        {"faces, real spacing", {.spacing = spacing(real, 3), .half_cell = true}},
        {"faces, labels, limit", {.sites = sites::other_labels, .half_cell = true, .max_distance = 7}},
        {"periodic", {.border = border::periodic}},
        {"periodic, real spacing", {.spacing = spacing(real, 3), .border = border::periodic}},
        {"periodic batch", {.border = border::periodic, .batch_axes = 1}},
        {"periodic, limit", {.border = border::periodic, .max_distance = 9.5}},
        {"labels, closed", {.sites = sites::other_labels, .border = border::closed}},
    };
    return list;
}

TEST(OptionsAlone, EqualsTheHosts) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{5, 9, 33}, shape_t{2, 90, 100}, shape_t{3, 1, 7}}) {
        for (const named_options& each : searched()) {
            for (const wanted_fields& wanted :
                 {wanted_fields{.distance = dtype::float32}, wanted_fields{.index = dtype::int32},
                  wanted_fields{.index = dtype::int64},
                  wanted_fields{.index = dtype::int32, .output_layout = layout::transposed}}) {
                // In some cases few cells differ from their neighbours, in others all have one value.
                ++k;
                const codes_t codes = random_labels<std::uint32_t>(shape, 1, k % 3 == 0 ? 0.5 : 0.0005, k);
                ASSERT_EQ(differs(shape, k % 2 == 0 ? dtype::uint8 : dtype::int32, codes, each.options, wanted), "")
                    << each.name << ", " << text_of(shape) << ", case " << k;
            }
        }
    }
}

}  // namespace
}  // namespace nearfield::test
