// Several classes: after the search along an axis, the nearest cell of another class on the same line is folded in.
//
// The search itself runs over the states of all rows, whatever their class. A row r of the cell's own class has the
// right candidates. A row r of another class may have sites that are of the cell's class; but its own cell is a
// candidate, at weight * (q - r)^2, which is less than any other value of that row, and the nearest such rows come from
// marks. So a wrong candidate never wins, except by the rounding of equal doubles, where the site's class is looked up.
#pragma once

#include "exact/cuda_options_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int fold_threads = 256;

/// Whether two cells of the contiguous image are of different classes.
struct class_test {
    elements image;
    bool by_zero = false;

    __device__ bool differ(std::int64_t a, std::int64_t b) const {
        const std::uint64_t x = load_bits(image.data, image.bytes, a), y = load_bits(image.data, image.bytes, b);
        if (!by_zero) return x != y;
        return is_zero(x, image.bytes, image.floating) != is_zero(y, image.bytes, image.floating);
    }
};

/// A thread a word of marks: 32 rows of a column.
template <class V, class K, bool Keyed>
__global__ void __launch_bounds__(fold_threads)
    fold_classes(const gate when, const __grid_constant__ pass g, const __grid_constant__ rules<V> by,
                 const marked marks, const class_test classes, state_of<V, K, Keyed>* cells) {
    each_block(when, [&](std::int64_t block) {
        const std::int64_t nth = block * fold_threads + threadIdx.x;
        if (nth >= marks.words * marks.columns) return;
        const std::int64_t word = quotient(nth, marks.columns), column = nth - word * marks.columns;
        const std::uint32_t bits = marks.bits[nth], before = marks.to_before[nth], after = marks.to_after[nth];
        const any_line<V, K, Keyed> line(by, g, cells, column);
        const std::int64_t first = word * mark_bits;
        const int rows = static_cast<int>(min(g.rows - first, static_cast<std::int64_t>(mark_bits)));
        for (int i = 0; i < rows; ++i) {
            const gaps near(bits, before, after, i, true);
            if (near.none()) continue;
            const std::int64_t q = first + i;
            const V value = line.term(near.nearest());
            if (value > by.limit) continue;
            auto& cell = cells[line.cell(q)];
            if constexpr (Keyed) {
                const auto s = cell;
                const V known = by.value(s, line.own(q), g.axis);
                if (known < value) continue;
                const K key = line.own(near.where(q, g.rows));
                if (known == value && s < key) {
                    if constexpr (!std::is_floating_point_v<V>) continue;
                    if (classes.differ(line.cell(q), by.element(s, g.axis, line.start()))) continue;
                }
                cell = key;
            } else if (value < cell) {
                cell = value;
            }
        }
    });
}

}  // namespace
}  // namespace nearfield::exact
