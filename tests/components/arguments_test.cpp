// Wrong calls are refused with a message that names the argument.
#include <gtest/gtest.h>

#include <functional>

#include "nearfield/components.hpp"

namespace nearfield::test {
namespace {

struct arrays {
    std::int32_t labels[6] = {1, 1, 0, 2, 2, 2};
    float values[6] = {1, 2, 3, 4, 5, 6};
    std::int64_t numbers[24] = {};
    double reals[24] = {};
    float floats[6] = {};

    template <int D>
    any_output<host> of_labels(extent<D> shape) {
        return view<std::int32_t, D, host>(labels, shape);
    }
    any_output<host> image() { return of_labels(extent<2>{2, 3}); }
    any_output<host> integers(std::initializer_list<std::int64_t> shape) {
        return any_output<host>::contiguous(numbers, dtype::int64, shape);
    }
    any_output<host> doubles(std::initializer_list<std::int64_t> shape) {
        return any_output<host>::contiguous(reals, dtype::float64, shape);
    }
    any_output<host> intensity() { return view<float, 2, host>(values, extent<2>{2, 3}); }
};

void expect_refused(const std::function<void()>& call, const char* names,
                    error_code code = error_code::invalid_argument) {
    try {
        call();
        ADD_FAILURE() << "nothing was wrong with " << names;
    } catch (const error& e) {
        EXPECT_EQ(e.code(), code) << e.what();
        EXPECT_NE(std::string(e.what()).find(names), std::string::npos) << e.what();
    }
}

class ComponentArguments : public testing::Test {
protected:
    arrays a;
    host on{1, {}};

    void refuse_tables(const component_tables<host>& t, const char* names) {
        expect_refused([&] { component_statistics(on, a.image(), t); }, names);
    }
};

TEST_F(ComponentArguments, Tables) {
    component_tables<host> t;
    refuse_tables(t, "tables asks for nothing");
    t.size = a.doubles({2});
    refuse_tables(t, "tables.size has element type float64");
    t.size = a.integers({2, 2});
    refuse_tables(t, "tables.size has shape 2x2; give one of shape N,");
    t = {}, t.box = a.integers({2, 2, 3});
    refuse_tables(t, "tables.box has shape 2x2x3; give one of shape Nx2x2");
    t = {}, t.mean = a.doubles({2});
    refuse_tables(t, "tables.mean is asked for, but tables.intensity");
    t.intensity = any_input<host>(view<const float, 1, host>(a.values, extent<1>{6}));
    refuse_tables(t, "tables.intensity has shape 6");
    t = {}, t.intensity = a.intensity(), t.sum = a.integers({2});
    refuse_tables(t, "tables.sum has element type int64; give an array of float64");
    t = {}, t.intensity = a.intensity(), t.lowest = a.doubles({2});
    refuse_tables(t, "tables.lowest has element type float64; give an array of float32");
    t = {}, t.size = a.integers({2}), t.faces = a.integers({2});
    refuse_tables(t, "tables.faces overlaps tables.size");
    t = {}, t.intensity = a.intensity(), t.highest = view<float, 1, host>(a.values, extent<1>{2});
    refuse_tables(t, "tables.highest overlaps tables.intensity");
    t = {}, t.size = a.integers({2}), t.size.data = nullptr;
    refuse_tables(t, "tables.size has no data");
}

TEST_F(ComponentArguments, Labels) {
    component_tables<host> t;
    t.size = a.integers({2});
    expect_refused([&] { component_statistics(on, a.of_labels(extent<4>{1, 1, 2, 3}), t); }, "labels has 4 axes");
    expect_refused([&] { component_statistics(on, a.intensity(), t); }, "labels has element type float32");
    expect_refused([&] { component_statistics(host{-1, {}}, a.image(), t); }, "threads is negative");
    component_tables<host> far;
    far.centroid = a.doubles({2, 1});
    any_input<host> line = a.of_labels(extent<1>{std::int64_t{1} << 34});
    line.stride[0] = 0;
    expect_refused([&] { component_statistics(on, line, far); }, "tables.centroid", error_code::unsupported);
}

TEST_F(ComponentArguments, Lists) {
    const any_output<host> offsets = a.integers({3});
    expect_refused([&] { label_list_offsets(on, a.image(), a.integers({0})); }, "offsets has shape 0");
    expect_refused([&] { label_list_offsets(on, a.image(), a.doubles({3})); }, "offsets has element type float64");
    expect_refused([&] { label_list_offsets(on, a.image(), offsets, static_cast<list_of>(7)); }, "what is 7");
    label_list_offsets(on, a.image(), offsets);
    std::int64_t memory[12] = {};
    const auto entries = [&](std::initializer_list<std::int64_t> shape) {
        return any_output<host>::contiguous(static_cast<void*>(memory), dtype::int64, shape);
    };
    expect_refused([&] { label_lists(on, a.image(), offsets, entries({2, 2})); }, "entries has shape 2x2");
    expect_refused([&] { label_lists(on, a.image(), offsets, entries({6}), list_of::runs); }, "Mx2 for runs");
    expect_refused([&] { label_lists(on, a.image(), offsets, entries({4})); }, "entries has room for 4 entries");
    a.numbers[1] = 1;
    expect_refused([&] { label_lists(on, a.image(), offsets, entries({5})); }, "offsets are not those of these labels");
    a.numbers[0] = -1;
    expect_refused([&] { label_lists(on, a.image(), offsets, entries({5})); }, "offsets are not those of these labels");
}

TEST_F(ComponentArguments, Relabel) {
    std::int32_t memory[6] = {};
    const any_output<host> out = view<std::int32_t, 2, host>(memory, extent<2>{2, 3});
    expect_refused([&] { relabel(on, a.image(), {}); }, "out has no axes");
    expect_refused([&] { relabel(on, a.image(), a.image()); }, "out overlaps labels");
    expect_refused([&] { relabel(on, a.image(), a.intensity()); }, "out has element type float32");
    expect_refused([&] { relabel(on, a.image(), out, a.integers({2})); }, "count has shape 2");
}

TEST_F(ComponentArguments, RemoveSmall) {
    expect_refused([&] { remove_small(on, a.image(), a.image(), -1); }, "smallest is -1");
    expect_refused([&] { remove_small(on, a.image(), a.intensity(), 2); }, "out has element type float32");
    any_output<host> shifted = a.of_labels(extent<2>{1, 3});
    any_input<host> same = shifted;
    shifted.data = a.labels + 1;
    expect_refused([&] { remove_small(on, same, shifted, 2); }, "out overlaps image");
    label_options options;
    options.criterion = criterion::equal;
    for (const scalar& background : {scalar(std::int64_t{1} << 31), scalar(-2147483649.0), scalar(0.5)}) {
        options.background = background;
        expect_refused([&] { remove_small(on, a.image(), a.image(), 2, options); }, "options.background");
    }
}

TEST_F(ComponentArguments, Contacts) {
    expect_refused([&] { static_cast<void>(contacts(on, a.image(), 3)); }, "connectivity is 3 for 2 axes");
    expect_refused([&] { static_cast<void>(contacts(on, a.image(), 1, {1.0, 2.0, 3.0})); }, "spacing has 3 values");
    EXPECT_EQ(contacts(on, a.image(), 8), contacts(on, a.image(), 2));
    EXPECT_EQ(contacts(on, a.image(), 4), contacts(on, a.image(), 1));
    std::uint64_t big[2] = {~std::uint64_t{0}, 1};
    expect_refused(
        [&] {
            static_cast<void>(contacts(on, any_input<host>(view<const std::uint64_t, 1, host>(big, extent<1>{2}))));
        },
        "which int64 cannot hold");
}

TEST_F(ComponentArguments, Shapes) {
    const auto refuse = [&](const any_input<host>& labels, std::int64_t rows, const spacing& cell, const char* names) {
        expect_refused([&] { static_cast<void>(shape_measures(on, labels, rows, cell)); }, names);
    };
    refuse(a.of_labels(extent<1>{6}), 2, {}, "labels has 1 axis; shapes are measured of 2 or 3");
    refuse(a.of_labels(extent<4>{1, 1, 2, 3}), 2, {}, "labels has 4 axes; shapes are measured of 2 or 3");
    refuse(a.intensity(), 2, {}, "labels has element type float32");
    refuse(a.image(), -1, {}, "rows is -1");
    refuse(a.image(), 2, {1.0, 2.0, 3.0}, "spacing has 3 values");
    refuse(a.image(), 2, {1.0, 0.0}, "spacing");
    expect_refused([&] { static_cast<void>(shape_measures(host{-1, {}}, a.image(), 2)); }, "threads is negative");
    any_input<host> wide = a.image();  // not read
    wide.shape[0] = wide.shape[1] = std::int64_t{1} << 30, wide.stride[0] = wide.stride[1] = 0;
    expect_refused([&] { static_cast<void>(shape_measures(on, wide, 2)); }, "could pass 64 bits",
                   error_code::unsupported);
    EXPECT_TRUE(shape_measures(on, a.image(), 0).empty());
}

TEST_F(ComponentArguments, DevicesSayWhyTheyAreMissing) {
#ifndef NEARFIELD_TESTS_HAVE_CUDA
    const any_input<device> labels = view<const std::int32_t, 2, device>(a.labels, extent<2>{2, 3});
    expect_refused([&] { static_cast<void>(contacts(device{nullptr}, labels)); },
                   "device: this build has no CUDA backend", error_code::unsupported);
#else
    GTEST_SKIP() << "built with CUDA: device_test asks";
#endif
}

}  // namespace
}  // namespace nearfield::test
