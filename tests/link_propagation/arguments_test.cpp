// Calls that label_by_propagation() refuses; a call that throws never changes `out`.
#include <gtest/gtest.h>

#include "link_propagation/call.hpp"

namespace nearfield::test {
namespace {

label_call any_call() { return drawn({9, 11}, make_figure(figure::half, {9, 11}), 1); }
std::string refused(const label_call& c, const propagation_options& how = {}) {
    return refusal(propagate_on_host, c, how);
}

TEST(LinkPropagationArguments, Switches) {
    EXPECT_TRUE(says(refused(any_call(), {.neighbours = false, .links = false}), "neither neighbours nor links"));
    EXPECT_TRUE(says(refused(any_call(), {.gather_length = 0}), "gather_length is 0"));
    EXPECT_TRUE(says(refused(any_call(), {.gather_length = 65536}), "gather_length is 65536"));
    EXPECT_TRUE(says(refused(any_call(), {.most_rounds = -1}), "most_rounds is -1"));
    EXPECT_EQ(refused(any_call()), "");
}

TEST(LinkPropagationArguments, OptionsOfLabelThatDoNotHold) {
    const auto with = [](const auto& change) {
        label_call c = any_call();
        change(c.options);
        return refused(c);
    };
    EXPECT_TRUE(says(with([](label_options& o) { o.batch_axes = 1; }), "batch_axes"));
    EXPECT_TRUE(says(with([](label_options& o) { o.smallest = 2; }), "filter"));
    EXPECT_TRUE(says(with([](label_options& o) { o.largest = 2; }), "filter"));
    EXPECT_TRUE(says(with([](label_options& o) { o.keep_largest = 2; }), "filter"));
    EXPECT_TRUE(says(with([](label_options& o) { o.clear_border = true; }), "filter"));
    EXPECT_TRUE(says(with([](label_options& o) { o.border = border::periodic; }), "border along axis 0"));
    EXPECT_TRUE(says(with([](label_options& o) { o.connectivity = 6; }), "connectivity is 6"));
    EXPECT_TRUE(says(with([](label_options& o) { o.criterion = criterion::within, o.tolerance = -1; }), "tolerance"));
    label_call steps = any_call();
    steps.steps.assign(9, 1);
    steps.options.steps = steps.steps;
    EXPECT_TRUE(says(refused(steps), "steps"));
}

TEST(LinkPropagationArguments, Views) {
    label_case how;
    how.shape = {2, 2, 2, 2};
    EXPECT_TRUE(says(refused(label_call(how, {})), "4 axes"));
    std::uint8_t image[4]{};
    std::int32_t label[4]{};
    const auto message = [](const any_input<host>& from, const any_output<host>& to, int threads = 1) {
        try {
            label_by_propagation(host{threads, {}}, from, to);
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const auto in = any_input<host>::contiguous(image, dtype::uint8, shape_t{4});
    const auto out = any_output<host>::contiguous(label, dtype::int32, shape_t{4});
    EXPECT_EQ(message(in, out), "");
    EXPECT_TRUE(says(message(in, out, -1), "threads is -1"));
    EXPECT_TRUE(says(message(in, {}), "out is not given"));
    EXPECT_TRUE(says(message(in, any_output<host>::contiguous(label, dtype::int32, shape_t{2})), "shape 2"));
    EXPECT_TRUE(says(message(in, any_output<host>::contiguous(label, dtype::float32, shape_t{4})), "float32"));
    EXPECT_TRUE(says(message(any_input<host>::contiguous(label, dtype::int32, shape_t{4}), out), "overlaps"));
    EXPECT_TRUE(says(message(any_input<host>::contiguous(image, dtype::float16, shape_t{2}), out), "float16"));
}

/// Every cell is a component: one more than uint16 can number.
TEST(LinkPropagationArguments, ATypeTooNarrowForTheComponents) {
    label_case how;
    how.shape = {65536}, how.label = dtype::uint16, how.element = dtype::int32;
    label_call c(how, {.criterion = criterion::equal, .has_background = false});
    c.write(over(how.shape, [](const shape_t& at) { return at[0]; }));
    EXPECT_TRUE(says(refused(c), "uint16"));
}

TEST(LinkPropagationArguments, StopsWhenToldTo) {
    label_call c = any_call();
    const host on{1, [](double) { return false; }};
    try {
        label_by_propagation(on, c.image.view_of<host>(static_cast<const void*>(c.image.bytes().data())),
                             c.label.view_of<host>(static_cast<void*>(c.label.bytes().data())));
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::cancelled);
    }
}

}  // namespace
}  // namespace nearfield::test
