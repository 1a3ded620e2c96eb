// Connected components on the device: repeated runs give the same bytes; images of very many cells.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "label/device_engine.hpp"
#include "nearfield/system.hpp"

namespace nearfield::test {
namespace {

class LabelDeviceRuns : public device_test {};
using LabelDeviceLarge = LabelDeviceRuns;

/// Makes more than twenty runs from the same start, in which threads meet in different orders.
void check_runs(const label_call& c) { ASSERT_EQ(check(label_many_times(11), c), "") << text_of(c.how.shape); }

TEST_F(LabelDeviceRuns, TwentyRunsAreEqual) {
    for (const shape_t& shape : {shape_t{130, 257}, shape_t{20, 21, 64}})
        for (int connectivity = 1; connectivity <= static_cast<int>(shape.size()); ++connectivity) {
            label_call c({.shape = shape, .image_layout = layout::tight, .label_layout = layout::tight},
                         {.connectivity = connectivity});
            c.draw(make_figure(figure::percolation8, shape, 5));
            check_runs(c);
            if (HasFatalFailure()) return;
        }
}

/// Bytes and wider values use different links, values on periodic axes use links alone; filters number what remains.
TEST_F(LabelDeviceRuns, TwentyRunsOfCriteriaAndFiltersAreEqual) {
    std::uint64_t k = 95000;
    for (const shape_t& shape : {shape_t{130, 256}, shape_t{20, 21, 64}})
        for (const dtype element : {dtype::uint8, dtype::int16, dtype::float32})
            for (const criterion by : {criterion::equal, criterion::within})
                for (const bool rest : {false, true}) {
                    label_options o{.connectivity = 1 + static_cast<int>(++k % shape.size()),
                                    .criterion = by,
                                    .tolerance = 1,
                                    .has_background = k % 3 != 0};
                    if (rest) o.smallest = 2, o.keep_largest = 50, o.border = border::periodic;
                    label_call c({.shape = shape,
                                  .element = element,
                                  .image_layout = layout::tight,
                                  .label_layout = layout::tight},
                                 o);
                    c.write(over(shape, [&](const shape_t& at) {
                        return static_cast<std::int64_t>(grain_value(at, 1 + (k & 1), 5, k));
                    }));
                    check_runs(c);
                    if (HasFatalFailure()) return;
                }
}

/// The first `set` of every `period` cells are foreground, counted along all rows as one line; rows are whole periods,
/// or there is one row. Samples of the labels are checked.
void check_many_cells(const shape_t& shape, std::int64_t period, std::int64_t set, criterion by = criterion::nonzero) {
    const std::int64_t cells = cells_of(shape);
    if (query_system().devices[0].free_bytes < 16 * cells + (std::int64_t{1} << 30))
        GTEST_SKIP() << "too little memory";
    const stream on;
    const device_memory image(static_cast<std::size_t>(cells)), label(static_cast<std::size_t>(4 * cells)),
        count(sizeof(std::int64_t));
    expect_cuda(cudaMemsetAsync(image.data(), 0, image.bytes(), on.get()), "background");
    expect_cuda(cudaMemset2DAsync(image.data(), static_cast<std::size_t>(period), 1, static_cast<std::size_t>(set),
                                  static_cast<std::size_t>(cells / period), on.get()),
                "foreground");
    label_fields<device> out;
    out.label = any_output<device>::contiguous(label.data(), dtype::int32, shape);
    out.count = any_output<device>::contiguous(count.data(), dtype::int64, shape_t{1});
    nearfield::label(device{on.get()},
                     any_input<device>::contiguous(static_cast<const void*>(image.data()), dtype::uint8, shape), out,
                     {.criterion = by});
    std::int64_t found = 0;
    expect_cuda(cudaMemcpyAsync(&found, count.data(), sizeof(found), cudaMemcpyDeviceToHost, on.get()), "count");
    on.wait();
    EXPECT_EQ(found, cells / period);
    const std::int64_t last = cells / period - 1;
    for (const std::int64_t which : {std::int64_t{0}, std::int64_t{1}, last / 3, last / 2 + 1, last - 1, last})
        for (const std::int64_t at : {std::int64_t{0}, set / 2, set - 1, set, period - 1}) {
            std::int32_t got = -1;
            expect_cuda(cudaMemcpyAsync(&got, static_cast<std::int32_t*>(label.data()) + which * period + at,
                                        sizeof(got), cudaMemcpyDeviceToHost, on.get()),
                        "label");
            on.wait();
            EXPECT_EQ(got, at < set ? which + 1 : 0) << "cell " << at << " of " << which;
        }
}

/// A line whose tiles would have too many nodes to number, since it fills only one of their rows.
TEST_F(LabelDeviceLarge, LinesOfHundredsOfMillionsOfCells) { check_many_cells({300000000}, 1000, 600); }
TEST_F(LabelDeviceLarge, MoreThanTwoToThe31Cells) { check_many_cells({46400, 46400}, 3 * 46400, 46400); }
TEST_F(LabelDeviceLarge, MoreThanTwoToThe31CellsOfEqualValues) {
    check_many_cells({46400, 46400}, 3 * 46400, 46400, criterion::equal);
}

}  // namespace
}  // namespace nearfield::test
