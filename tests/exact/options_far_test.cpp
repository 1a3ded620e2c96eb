// Signs and labels of wide classes, whose distances windows leave to strips on the device, equal the host's distances
// bit for bit. Borders are straight, bend and cross pivots; there are classes of one cell, images of one class, and
// distances at which pivots leave few and many rows.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {
namespace {

struct far_case {
    shape_t shape;
    int batch_axes = 0;
};

/// Yields the code of a cell, given its place in an image of `height` by `width` cells.
using picture = std::uint32_t (*)(std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width,
                                  std::uint64_t draw);
struct named_picture {
    const char* name;
    picture of;
};
const named_picture pictures[] = {
    {"left and right",
     [](std::int64_t, std::int64_t x, std::int64_t, std::int64_t width, std::uint64_t) -> std::uint32_t {
         return x < width / 2 ? 1 : 0;
     }},
    {"above and below",
     [](std::int64_t y, std::int64_t, std::int64_t height, std::int64_t, std::uint64_t) -> std::uint32_t {
         return y < height / 2 + 3 ? 1 : 0;
     }},
    {"a disc",
     [](std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width, std::uint64_t) -> std::uint32_t {
         const std::int64_t dy = 2 * y - height, dx = 2 * x - width, side = std::min(height, width);
         return 9 * (dy * dy + dx * dx) < 7 * side * side ? 0 : 1;
     }},
    {"a diagonal",
     [](std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width, std::uint64_t) -> std::uint32_t {
         return y * width + x * height < height * width ? 2 : 1;
     }},
    {"few",
     [](std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint64_t draw) -> std::uint32_t {
         return draw % 9000 != 0 ? 1 : 0;
     }},
    {"few of several classes",
     [](std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint64_t draw) -> std::uint32_t {
         return draw % 9000 != 0 ? 3 : static_cast<std::uint32_t>(draw / 9000 % 3);
     }},
    {"regions of blocks and noise",
     [](std::int64_t y, std::int64_t x, std::int64_t, std::int64_t, std::uint64_t draw) -> std::uint32_t {
         const auto block = static_cast<std::uint32_t>(1 + y / 210 * 7 + x / 170);
         return block % 5 == 0 ? static_cast<std::uint32_t>(draw % 3) : block;
     }},
    {"noise beside nothing",
     [](std::int64_t, std::int64_t x, std::int64_t, std::int64_t width, std::uint64_t draw) -> std::uint32_t {
         return x < width / 3 ? static_cast<std::uint32_t>(draw % 2) : 1;
     }},
    {"one cell",
     [](std::int64_t y, std::int64_t x, std::int64_t, std::int64_t, std::uint64_t) -> std::uint32_t {
         return y == 0 && x == 5 ? 0 : 1;
     }},
    {"one class",
     [](std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint64_t) -> std::uint32_t { return 1; }},
};

class OptionsFar : public testing::TestWithParam<far_case> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
    /// Draws the picture into all images of a batch; they differ only in its random parts.
    [[nodiscard]] codes_t drawn(const named_picture& p) const {
        const shape_t& shape = GetParam().shape;
        const std::int64_t width = shape.back(), height = shape[shape.size() - 2];
        codes_t codes;
        for (std::int64_t i = 0; i < cells_of(shape); ++i)
            codes.push_back(p.of(i / width % height, i % width, height, width, mix(static_cast<std::uint64_t>(i))));
        return codes;
    }
    void compare(const named_picture& p, dtype type, distance_options options, const char* what,
                 dtype distance = dtype::float32) const {
        options.batch_axes = GetParam().batch_axes;
        EXPECT_EQ(differs(GetParam().shape, type, drawn(p), options, {.distance = distance}), "")
            << p.name << ", " << what << ", " << text_of(GetParam().shape);
    }
};

TEST_P(OptionsFar, Signs) {
    for (const named_picture& p : pictures) {
        compare(p, dtype::uint8, {.sign = sign::inside_negative}, "signed");
        compare(p, dtype::uint8, {.sites = sites::nonzero, .sign = sign::outside_negative}, "signed, the other way");
        compare(p, dtype::uint8, {.sign = sign::inside_negative, .half_cell = true}, "signed, faces");
        compare(p, dtype::uint32, {.spacing = 0.3, .sign = sign::outside_negative, .half_cell = true}, "faces, spacing",
                dtype::float64);
        compare(p, dtype::uint8, {.sites = sites::nonzero, .half_cell = true}, "faces without a sign");
        compare(p, dtype::float32, {.half_cell = true}, "faces of cells that are zero");
    }
}

TEST_P(OptionsFar, Labels) {
    for (const named_picture& p : pictures) {
        compare(p, dtype::uint32, {.sites = sites::other_labels}, "labels");
        compare(p, dtype::uint8, {.sites = sites::other_labels, .sign = sign::inside_negative}, "labels with a sign");
    }
}

TEST_P(OptionsFar, Limits) {
    for (const named_picture& p : pictures) {
        compare(p, dtype::uint16, {.sites = sites::other_labels, .max_distance = 90}, "within a limit");
        compare(p, dtype::uint8, {.spacing = 0.3, .sign = sign::inside_negative}, "spacing");
    }
}

// Lines of whole tiles and other lines; a batch; few rows and few columns; columns of several windows.
INSTANTIATE_TEST_SUITE_P(Images, OptionsFar,
                         testing::Values(far_case{{450, 416}}, far_case{{333, 371}}, far_case{{2, 257, 300}, 1},
                                         far_case{{9, 2500}}, far_case{{2305, 41}}, far_case{{2, 1070, 530}, 1},
                                         far_case{{1030, 1050}}),
                         [](const auto& of) {
                             std::string name;
                             for (const std::int64_t size : of.param.shape)
                                 name += (name.empty() ? "" : "x") + std::to_string(size);
                             return name;
                         });

/// At the centre of a circle winners change from one end of a line to the other within a strip. Such strips are solved
/// by all warps of a block if their lines are longer than what it stages.
TEST(OptionsCircle, ABlockSolvesAStripWhoseWinnersAreFarApart) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    static const double real[] = {1.4142135623730951, 1}, whole[] = {2, 3};
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{700, 33}, shape_t{1000, 40}, shape_t{1500, 40}, shape_t{2300, 70}})
        for (const double* spacing : {static_cast<const double*>(nullptr), real, whole})
            for (const border beyond : {border::open, border::closed, border::periodic})
                for (const sites of : {sites::zero, sites::other_labels}) {
                    codes_t codes;
                    const std::int64_t radius = shape[0] / 2 - 3;
                    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                        const std::int64_t y = i / shape[1] - shape[0] / 2, x = i % shape[1] - shape[1] / 3;
                        codes.push_back(y * y + x * x < radius * radius ? 1 : 0);
                    }
                    distance_options options{.sites = of, .border = beyond};
                    if (spacing != nullptr) options.spacing = {spacing, 2};
                    for (const wanted_fields& wanted :
                         {wanted_fields{.distance = dtype::float32},
                          wanted_fields{.distance = dtype::float32, .index = dtype::int32, .coordinates = true}}) {
                        exact::gpu::trace counted;
                        ASSERT_EQ(differs(shape, dtype::uint8, codes, options, wanted), "")
                            << text_of(shape) << ", case " << ++k;
                        const bool by_words =
                            spacing == nullptr && beyond == border::open && of == sites::zero && !wanted.coordinates;
                        if (!by_words && shape[0] > 1024) {
                            EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::shared)], 0)
                                << text_of(shape) << ", case " << k << ": " << counted.text();
                        }
                    }
                }
}

}  // namespace
}  // namespace nearfield::test
