// component_statistics() on a device: clears the rows' sums, adds up, and finishes the rows.
#include <optional>

#include "components/cuda_shapes.cuh"
#include "components/cuda_values.cuh"
#include "components/engine.hpp"
#include "components/tables.hpp"

namespace nearfield::components {
namespace {

using statistics::columns;
using statistics::shape_sums;

/// Labels up to this one are measured before the largest is known, larger ones by a second pass. A row takes 88 bytes.
constexpr std::int64_t rows_of_guess = 1 << 17;

/// Finishes rows; a thread owns a row.
__global__ void __launch_bounds__(threads_of_block)
    put_shapes(const columns to, const walk by, int axes, std::int64_t rows, const word* words) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (row >= rows) return;
    const word* const of = words + row * shape_words;
    shape_sums<most_axes> sums;
    sums.size = of[size_at];
    const std::int64_t side[] = {by.folded != 0 ? by.cells : by.size_x, by.size_w, by.size_p};
    const int axis_of[] = {axes - 1, by.axis_w - (most_axes - axes), by.axis_p - (most_axes - axes)};
    for (int i = 0; i < axes; ++i) {
        const int axis = axis_of[i];
        sums.sum[axis] = of[sum_x_at + i];
        sums.first[axis] = static_cast<std::int64_t>(of[low_x_at + 2 * i]);
        sums.end[axis] = static_cast<std::int64_t>(of[end_x_at + 2 * i]);
        sums.border = sums.border || (sums.size != 0 && (sums.first[axis] == 0 || sums.end[axis] == side[i]));
    }
    statistics::put_shape(to, row, sums, axes);
    if (to.faces.has(row)) to.faces.put(row, static_cast<std::int64_t>(of[faces_at]));
}

template <class Value>
__global__ void __launch_bounds__(threads_of_block)
    put_values(const columns to, std::int64_t rows, const word* shapes, const word* values) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (row >= rows) return;
    const word* const of = values + row * value_words;
    const value_range range{of[lowest_at], of[highest_at]};
    statistics::put_range<Value>(to, row, range);
    if (!to.want_sums()) return;
    const value_sums all{{of[sum_at], of[sum_at + 1]}, {of[square_at], of[square_at + 1], of[square_at + 2]}};
    statistics::put_sums<Value>(to, row, shapes[row * shape_words + size_at], range, all);
}

/// Owns the sums of one call and launches its kernels.
class measuring {
public:
    measuring(const device& on, const any_input<device>& labels, std::int64_t rows)
        : on_(on), axes_(labels.rank), rows_(rows), labels_(labels, rows), memory_(on) {
        const auto copy = memory_.reserve<std::uint32_t>(labels_.copied ? labels_.at.cells() : 0);
        const auto shapes = memory_.reserve<word>(rows_ * shape_words);
        const auto largest = memory_.reserve<std::uint32_t>(1);
        memory_.allocate();
        shapes_ = memory_.get<word>(shapes), largest_ = memory_.get<std::uint32_t>(largest);
        labels_.copy(on, labels, memory_.get<std::uint32_t>(copy));
    }
    /// Adds up shapes.
    void add_up(bool faces) const {
        if (faces) launch_shapes<tally::shapes_and_faces>(on_, labels_, axes_, rows_, shapes_);
        else launch_shapes<tally::shapes>(on_, labels_, axes_, rows_, shapes_);
    }
    /// Does the same, and returns the largest label, for which it waits. Sums are useless if that exceeds the rows.
    [[nodiscard]] std::int64_t add_up_and_find_largest() const {
        std::uint32_t largest = 0;
        cuda::clear(on_, largest_, sizeof(largest));
        launch_shapes<tally::shapes_and_faces>(on_, labels_, axes_, rows_, shapes_, largest_);
        cuda::fetch(on_, &largest, largest_, sizeof(largest));
        return largest;
    }
    /// Fills the tables after add_up(), whose rows they may have or fewer.
    void fill(const component_tables<device>& tables) {
        tables_ = tables, to_ = columns::of(tables);
        labels_.rows = std::min(labels_.rows, static_cast<std::uint32_t>(to_.rows()));
        rows_ = to_.rows();
        finish(put_shapes, to_, walk(labels_.at, axes_), axes_, rows_, shapes_);
        if (!has_values()) return;
        cuda::workspace memory(on_);
        const auto values = memory.reserve<word>(rows_ * value_words);
        memory.allocate();
        values_ = memory.get<word>(values);
        switch (tables_.intensity.type) {
            case dtype::int8: return run_values<std::int8_t>();
            case dtype::int16: return run_values<std::int16_t>();
            case dtype::uint16: return run_values<std::uint16_t>();
            case dtype::int32: return run_values<std::int32_t>();
            case dtype::uint32: return run_values<std::uint32_t>();
            case dtype::int64: return run_values<std::int64_t>();
            case dtype::uint64: return run_values<std::uint64_t>();
            case dtype::float32: return run_values<float>();
            case dtype::float64: return run_values<double>();
            default: return run_values<std::uint8_t>();
        }
    }

private:
    [[nodiscard]] bool has_values() const { return to_.want_range() || to_.want_sums(); }
    template <class... Parameters, class... Arguments>
    void finish(void (*kernel)(Parameters...), const Arguments&... arguments) const {
        cuda::launch(on_, kernel, blocks_for(rows_, threads_of_block), dim3(threads_of_block), 0, arguments...);
    }
    template <class Value, bool Ranges, bool Sums>
    void look(std::uint64_t flip = 0) const {
        if (labels_.at.cells() == 0) return;
        const walk by(labels_.at, axes_);
        cuda::launch(on_, add_up_values<Value, Ranges, Sums>, by.tiles, dim3(threads_of_block), 0, by,
                     by.with_steps_of(array3_of(tables_.intensity)), labels_,
                     static_cast<const Value*>(tables_.intensity.data), flip, to_.want_squares(), values_);
    }
    template <class Value>
    void run_values() const {
        finish(clear_value_rows, values_, rows_);
        if constexpr (std::is_floating_point_v<Value>) {
            look<Value, true, false>();
            if (to_.want_sums()) look<Value, false, true>();
        } else {
            look<statistics::bits_of<Value>, true, true>(statistics::natural_zero<Value>);
        }
        finish(put_values<Value>, to_, rows_, shapes_, values_);
    }

    const device& on_;
    component_tables<device> tables_{};
    columns to_{};
    int axes_;
    std::int64_t rows_;
    labels32 labels_;
    cuda::workspace memory_;
    word *shapes_ = nullptr, *values_ = nullptr;
    std::uint32_t* largest_ = nullptr;
};

}  // namespace

void measure(const device& on, const any_input<device>& labels, const component_tables<device>& tables) {
    const columns to = columns::of(tables);
    if (to.rows() == 0) return;
    const cuda::device_guard guard(on);
    measuring sums(on, labels, to.rows());
    sums.add_up(to.faces.wanted());
    sums.fill(tables);
}

void measure(const device& on, const any_input<device>& labels, const table_maker& make_tables) {
    const cuda::device_guard guard(on);
    measuring sums(on, labels, rows_of_guess);
    const std::int64_t largest = sums.add_up_and_find_largest();
    const component_tables<device> tables = make_tables(largest);
    check_tables(labels, tables);
    const std::int64_t rows = columns::of(tables).rows();
    if (std::max(largest, rows) > rows_of_guess) measure(on, labels, tables);
    else if (rows > 0) sums.fill(tables);
}

}  // namespace nearfield::components
