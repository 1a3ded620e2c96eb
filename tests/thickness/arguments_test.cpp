// Calls that local_thickness() and union_of_balls() refuse, and the types that they accept.
#include <gtest/gtest.h>

#include "refused.hpp"
#include "thickness/call.hpp"

namespace nearfield::test {
namespace {

thickness_call any_call() { return plain_call({4, 5, 6}, std::vector<std::int64_t>(120, 1)); }

void expect_refused_with(const std::function<void(thickness_call&)>& change, std::initializer_list<const char*> words) {
    thickness_call c = any_call();
    change(c);
    if (c.thickness) c.thickness->paint();
    expect_refused([&] { thickness_on_host(c); }, words);
    EXPECT_EQ(c.thickness ? c.thickness->guards_broken() : "", "");
}

TEST(ThicknessArguments, Options) {
    expect_refused_with([](auto& c) { c.threads = -1; }, {"threads is -1"});
    expect_refused_with([](auto& c) { c.sizes = {1, 0}; }, {"sizes[1] is 0"});
    expect_refused_with([](auto& c) { c.sizes = {3, 2}; }, {"sizes[1] is 2", "ascending"});
    expect_refused_with([](auto& c) { c.cells.spacing[1] = -1; }, {"spacing"});
    expect_refused_with(
        [](auto& c) {
            c.cells.spacing = {1e-60, 1e-60, 1e-60};
            c.squared.reset();
        },
        {"out.thickness", "float64"});
    expect_refused_with([](auto& c) { c.thickness.reset(), c.squared.reset(); }, {"no field"});
}

TEST(ThicknessArguments, ShapesAndTypes) {
    expect_refused_with([](auto& c) { c.thickness.emplace(dtype::float32, shape_t{4, 5, 7}, layout::tight); },
                        {"out.thickness", "4x5x7"});
    expect_refused_with([](auto& c) { c.thickness.emplace(dtype::float16, c.shape, layout::tight); },
                        {"out.thickness", "float16"});
    expect_refused_with([](auto& c) { c.squared.emplace(dtype::uint16, c.shape, layout::tight); },
                        {"out.squared", "uint16"});
    expect_refused_with([](auto& c) { c.cells.spacing = {0.5, 0.5, 0.5}; }, {"out.squared", "float64"});
    expect_refused_with([](auto& c) { c.multilabel = true, c.image = guarded(dtype::float32, c.shape, layout::tight); },
                        {"float32", "multilabel"});
    thickness_call four = plain_call({2, 3, 4, 5}, std::vector<std::int64_t>(120, 1));
    expect_refused([&] { thickness_on_host(four); }, {"4 axes", "batch_axes"});
    four.batch_axes = 4;
    expect_refused([&] { thickness_on_host(four); }, {"batch_axes is 4"});
}

TEST(ThicknessArguments, Overlap) {
    std::vector<std::uint32_t> memory(30, 1);
    const view<std::uint32_t, 1, host> all(memory.data(), {30});
    thickness_fields<host> out;
    out.squared = all;
    expect_refused([&] { local_thickness(host{1}, view<const std::uint32_t, 1, host>(all), out); }, {"overlap"});
}

TEST(ThicknessArguments, GivenRadii) {
    expect_refused_with(
        [](auto& c) { c.radii_given = true, c.image = guarded(dtype::float32, c.shape, layout::tight); },
        {"squared_radii", "float32"});
    expect_refused_with([](auto& c) { c.radii_given = true, c.cells.spacing = {0.5, 1, 1}, c.squared.reset(); },
                        {"spacing", "integral"});
}

TEST(ThicknessArguments, Inlets) {
    thickness_call c = any_call();
    const auto image = c.image.view_of<host>(static_cast<const void*>(c.image.bytes().data()));
    const auto out = c.fields_in<host>(c.thickness->bytes().data(), c.squared->bytes().data());
    const std::vector<float> inlets(120);
    const auto of = [&](const shape_t& shape, dtype type) {
        return any_input<host>::contiguous(inlets.data(), type, shape);
    };
    expect_refused([&] { porosimetry(host{1}, image, {}, out); }, {"inlets has no axes"});
    expect_refused([&] { porosimetry(host{1}, image, of({4, 5}, dtype::uint8), out); }, {"inlets", "4x5"});
    expect_refused([&] { porosimetry(host{1}, image, of({4, 5, 6}, dtype::float32), out); }, {"inlets", "float32"});
    expect_refused([&] { porosimetry(host{1}, image, any_input<host>(out.squared), out); }, {"overlap"});
    // The search for ways is checked before any work: distances would lie in the output.
    const std::vector<std::byte> before(c.squared->bytes().begin(), c.squared->bytes().end());
    expect_refused([&] { porosimetry(host{1}, image, of({4, 5, 6}, dtype::uint8), out, {.connectivity = 5}); },
                   {"connectivity is 5"});
    EXPECT_TRUE(std::equal(before.begin(), before.end(), c.squared->bytes().begin()));
}

TEST(ThicknessArguments, EmptyAxes) {
    for (const shape_t& shape : {shape_t{0}, {0, 5}, {3, 0, 4}}) {
        thickness_call c = plain_call(shape, {});
        EXPECT_EQ(check_thickness(thickness_on_host, c), "");
    }
}

TEST(ThicknessArguments, ProgressStops) {
    thickness_call c = plain_call({40, 64, 64}, soft_shapes({40, 64, 64}, 3, 0.6, 1));
    int calls = 0;
    const host on{1, [&](double share) {
                      EXPECT_TRUE(share >= 0 && share <= 1);
                      return ++calls < 3;
                  }};
    for (std::size_t i = 0; i < c.value.size(); ++i)
        *c.image.element(static_cast<std::int64_t>(i)) = static_cast<std::byte>(c.value[i]);
    try {
        local_thickness(on, c.image.view_of<host>(static_cast<const void*>(c.image.bytes().data())),
                        c.fields_in<host>(c.thickness->bytes().data(), c.squared->bytes().data()));
        ADD_FAILURE() << "was not stopped";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::cancelled);
    }
}

}  // namespace
}  // namespace nearfield::test
