// pass_along: one pass of a partial field, against a search over all pairs of cells of a line.
#include "nearfield/chunks.hpp"

#include <gtest/gtest.h>

#include "exact/partial_fields.hpp"
#include "nearfield/distance.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

TEST(PartialPass, EqualsTheSearchOverAllPairs) {
    const auto run = [](auto& from, auto& to, bool sites, bool labels, const partial_options& options) {
        pass_along(host{2, {}}, from.template view<const void>(sites, labels), 0, to.template view<void>(sites, labels),
                   options);
    };
    expect_all_searched(run);
    expect_all_searched(run, true);
}

/// Slabs, then pencils, are the field of the whole grid.
TEST(PartialPass, PassesMakeTheWholeField) {
    const shape_t shape{23, 17, 29};
    std::mt19937 random(4);
    std::vector<std::uint8_t> image(23 * 17 * 29);
    for (auto& cell : image) cell = random() % 50 != 0;
    std::vector<double> wanted(image.size());
    std::vector<std::int64_t> nearest(image.size());
    fields<host> out;
    out.squared = any_output<host>::contiguous(wanted.data(), dtype::float64, shape);
    out.index = any_output<host>::contiguous(nearest.data(), dtype::int64, shape);
    const double lengths[] = {0.1234567, 0.7182818, 1.0 / 3};
    distance_options whole;
    whole.spacing = spacing(lengths, 3);
    distance_transform(host{1, {}}, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out, whole);
    field<double, std::int64_t> made{shape, {}, {}, {}};
    for (std::size_t i = 0; i < image.size(); ++i) {
        made.squared.push_back(image[i] == 0 ? 0 : nothing<double>);
        made.site.push_back(image[i] == 0 ? static_cast<std::int64_t>(i) : -1);
    }
    for (int axis = 2; axis >= 0; --axis)
        pass_along(host{2, {}}, made.view<const void>(true, false), axis, made.view<void>(true, false),
                   {lengths[axis], border::open, shape});
    EXPECT_EQ(made.squared, wanted);
    EXPECT_EQ(made.site, nearest);
}

TEST(PartialPass, RefusesWhatItCannotDo) {
    const shape_t shape{4, 5};
    auto f = random_field<std::uint32_t, std::int32_t>(shape, 9, 1, 1);
    const auto expect = [&](bool sites, bool labels, int axis, const partial_options& options, const char* words) {
        const auto call = [&] {
            pass_along(host{1, {}}, f.view<const void>(sites, labels), axis, f.view<void>(sites, labels), options);
        };
        expect_refused(call, {words});
    };
    expect(false, false, 2, {}, "axis is 2");
    expect(false, false, 0, {0.5}, "integral");
    expect(false, true, 0, {}, "label is given without site");
    expect(true, false, 0, {}, "grid has 0 axes");
    expect(true, false, 0, {1, border::open, {5, 5}}, "whole lines");
    expect(false, false, 0, {1, border::closed}, "closed");
    expect(false, false, 0, {65536}, "beyond its type");
}

}  // namespace
}  // namespace nearfield::test
