// The progress that methods report, and that a callback can stop every part of a call.
#include <gtest/gtest.h>

#include <algorithm>

#include "exact/fills.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::test {
namespace {

std::vector<method> every_method() {
    return {banding{},
            jump_flood{},
            jump_flood{.sites_per_cell = 2},
            jump_flood{.randomised = true, .seed = 3},
            plane_sweep{},
            plane_sweep{.independent = true},
            brushfire{.parallel = false},
            brushfire{.parallel = true},
            chamfer_method{.iterated = false},
            chamfer_method{.iterated = true}};
}

/// Collects the reported shares; stops the call at report number `most`.
std::vector<double> reports_of(const method& by, const shape_t& shape, std::size_t most) {
    std::vector<std::uint8_t> image(static_cast<std::size_t>(cells_of(shape)), 1);
    for (std::size_t at = 0; at < image.size(); at += 97) image[at] = 0;
    std::vector<float> distance(image.size());
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
    std::vector<double> shares;
    const host on{1, [&](double share) {
                      shares.push_back(share);
                      return shares.size() < most;
                  }};
    try {
        nearest_sites(by, on, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out);
        EXPECT_GT(most, shares.size()) << name_of(by) << " was not stopped";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::cancelled) << e.what();
        EXPECT_EQ(shares.size(), most) << name_of(by) << " went on";
    }
    return shares;
}

TEST(MethodProgress, TellsOfReadingAndWritingToo) {
    for (const shape_t& shape : {shape_t{400, 700}, shape_t{40, 70, 90}, shape_t{5, 50000}})
        for (const method& by : every_method()) {
            const auto shares = reports_of(by, shape, 1u << 20);
            SCOPED_TRACE(name_of(by));
            ASSERT_FALSE(shares.empty());
            EXPECT_EQ(shares.front(), 0) << "while the image is read";
            EXPECT_GE(std::count(shares.begin(), shares.end(), 1.0), 4) << "while fields are written";
            EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
        }
}

TEST(MethodProgress, AnyReportCanBeTheLast) {
    for (const method& by : every_method()) {
        const std::size_t all = reports_of(by, {300, 500}, 1u << 20).size();
        for (const std::size_t most : {std::size_t{1}, all / 3, all / 2, all - 1, all})
            reports_of(by, {300, 500}, most);
    }
}

}  // namespace
}  // namespace nearfield::test
