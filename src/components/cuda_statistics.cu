// component_statistics() on a device: clears the rows' sums, adds up, and finishes the rows.
#include <optional>

#include "components/cuda_shapes.cuh"
#include "components/cuda_values.cuh"
#include "components/engine.hpp"

namespace nearfield::components {
namespace {

using statistics::columns;
using statistics::shape_sums;

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
    measuring(const device& on, const any_input<device>& labels, const component_tables<device>& tables)
        : on_(on),
          tables_(tables),
          to_(columns::of(tables)),
          axes_(labels.rank),
          rows_(to_.rows()),
          labels_(labels, rows_),
          memory_(on) {
        const auto copy = memory_.reserve<std::uint32_t>(labels_.copied ? labels_.at.cells() : 0);
        const auto shapes = memory_.reserve<word>(rows_ * shape_words);
        const auto values = memory_.reserve<word>(has_values() ? rows_ * value_words : 0);
        memory_.allocate();
        shapes_ = memory_.get<word>(shapes), values_ = memory_.get<word>(values);
        labels_.copy(on, labels, memory_.get<std::uint32_t>(copy));
    }
    void run() {
        if (to_.faces.wanted()) launch_shapes<tally::shapes_and_faces>(on_, labels_, axes_, rows_, shapes_);
        else launch_shapes<tally::shapes>(on_, labels_, axes_, rows_, shapes_);
        finish(put_shapes, to_, walk(labels_.at, axes_), axes_, rows_, shapes_);
        if (!has_values()) return;
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
    const component_tables<device>& tables_;
    columns to_;
    int axes_;
    std::int64_t rows_;
    labels32 labels_;
    cuda::workspace memory_;
    word *shapes_ = nullptr, *values_ = nullptr;
};

}  // namespace

void measure(const device& on, const any_input<device>& labels, const component_tables<device>& tables) {
    if (columns::of(tables).rows() == 0) return;
    const cuda::device_guard guard(on);
    measuring(on, labels, tables).run();
}

}  // namespace nearfield::components
