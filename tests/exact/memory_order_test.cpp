// Any order of axes in memory: an image with the first axis contiguous is solved as its transpose, with equal results.
#include <gtest/gtest.h>

#include "exact/orders.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

/// A view of an image of this shape with the last axis contiguous in memory, or the first.
template <class View>
View view_of(dtype type, const shape_t& shape, bool first_closest) {
    View view = View::contiguous(nullptr, type, shape);
    std::int64_t step = 1;
    for (std::size_t axis = 0; axis < shape.size() && first_closest; ++axis)
        view.stride[axis] = step, step *= shape[axis];
    return view;
}

/// The axis along which a call has its rows, by its plan.
int axis_of_rows(const fields<host>& out, const distance_options& options, const shape_t& shape) {
    const auto image = view_of<any_input<host>>(dtype::uint8, shape, true);
    for (const pass_plan& pass : plan(host{1}, image, out, options).passes)
        if (pass.method.starts_with("rows") || pass.method.starts_with("lines, transposed")) return pass.axis;
    return -1;
}

TEST(MemoryOrder, ValuesFollowTheImageAndItsFields) {
    const shape_t shape{40, 50, 60};
    fields<host> out;
    out.distance = view_of<any_output<host>>(dtype::float32, shape, true);
    EXPECT_EQ(axis_of_rows(out, {}, shape), 0);
    EXPECT_EQ(axis_of_rows(out, {.spacing = {2.5, 0.7, 0.7}}, shape), 0) << "counted in whole numbers";
    EXPECT_EQ(axis_of_rows(out, {.spacing = {1.4142135623730951, 1, 1}}, shape), 2) << "sums of doubles have an order";
    EXPECT_EQ(axis_of_rows(out, {.batch_axes = 1}, shape), 1) << "images are solved one by one";
    out.distance = view_of<any_output<host>>(dtype::float32, shape, false);
    EXPECT_EQ(axis_of_rows(out, {}, shape), 2) << "the field lies in another order";
    out.distance = {}, out.index = view_of<any_output<host>>(dtype::int32, shape, true);
    EXPECT_EQ(axis_of_rows(out, {}, shape), 2) << "ties follow the axes";
}

TEST(MemoryOrder, HostEqualsAllPairs) {
    check_orders(
        [](const shape_t& shape, const codes_t& codes, const distance_options& options, const wanted_fields& wanted) {
            option_call c;
            c.threads = 2, c.options = options;
            c.items.emplace_back(shape, dtype::uint8, codes, options, wanted, 1);
            c.items[0].solve();
            return check(host_options_engine(), c);
        });
}

}  // namespace
}  // namespace nearfield::test
