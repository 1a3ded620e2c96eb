// Columns of component shapes: size, box, sums of coordinates, border and faces, in the caller's own tables if those
// can hold them, so that nothing is written twice.
#pragma once

#include <algorithm>

#include "base/scratch.hpp"
#include "label/host/shapes.hpp"
#include "label/statistics_rows.hpp"

namespace nearfield::labelling {

/// Position of the cells of a row: on the grid, and in the intensity.
template <int Axes>
struct row_place {
    std::int64_t at[Axes] = {};
    bool at_end = false;                ///< true if all of them lie at the end of an axis
    std::int64_t first = -1, end = -1;  ///< ends of the row, if the last axis has ends
    std::int64_t offset = 0, step = 1;
};

/// For up to three axes `Axes` is exact, so that loops over them are unrolled.
template <int Axes>
class shape_columns {
public:
    using shape = statistics::shape_sums<Axes>;

    /// `side` are the sizes of the image, which has up to `rank` axes. clear() initialises the columns.
    shape_columns(const statistics::columns& to, const std::int64_t* side, int rank, std::int64_t rows, bool needs_size)
        : axes_(Axes <= 3 ? Axes : rank), rows_(rows), rest_(to) {
        take(box_, rest_.box, 2 * axes_, false);
        take(size_, rest_.size, 1, needs_size || to.centroid.wanted() || rest_.box.wanted());
        take(border_, rest_.border, 1, false);
        take(faces_, rest_.faces, 1, false);
        take(sum_, rest_.centroid, axes_, false);
        divide_there_ = sum_.data != nullptr && !rest_.centroid.wanted();
        uint128 most = 1;
        for (int axis = 0; axis < axes_; ++axis) most *= static_cast<uint128>(side[axis]);
        for (int axis = 0; axis < axes_; ++axis)
            small_sums_ = small_sums_ && most * static_cast<uint128>(side[axis]) < uint128{1} << 63;
    }

    [[nodiscard]] bool with_faces() const { return faces_.data != nullptr; }
    /// Returns the columns from `component` on.
    [[nodiscard]] shape_memory from(std::int64_t component) const {
        const auto at = [&](auto* data, int width) { return data == nullptr ? nullptr : data + component * width; };
        return {at(size_.data, 1), at(box_.data, 2 * axes_), at(sums(), axes_), at(border_.data, 1),
                at(faces_.data, 1)};
    }

    void add(std::int64_t component, const row_place<Axes>& here, const row_run& run) const {
        const int axes = Axes <= 3 ? Axes : axes_, last = axes - 1;
        const std::int64_t n = run.end - run.first;
        if (size_.data) size_.data[component] += n;
        if (std::int64_t* const box = box_.data ? box_.data + component * 2 * axes : nullptr) {
            for (int axis = 0; axis < last; ++axis) {
                box[axis] = std::min(box[axis], here.at[axis]);
                box[axes + axis] = std::max(box[axes + axis], here.at[axis] + 1);
            }
            box[last] = std::min(box[last], run.first);
            box[axes + last] = std::max(box[axes + last], run.end);
        }
        if (shared_sum* const sum = sum_.data ? sums() + component * axes : nullptr) {
            const auto cells = static_cast<std::uint64_t>(n);
            for (int axis = 0; axis < last; ++axis) sum[axis] += cells * static_cast<std::uint64_t>(here.at[axis]);
            sum[last] += cells * static_cast<std::uint64_t>(run.first) + shape::sum_below(cells);
        }
        if (border_.data)
            border_.data[component] |=
                static_cast<std::uint8_t>(here.at_end | (run.first == here.first) | (run.end == here.end));
        if (faces_.data) faces_.data[component] += static_cast<std::int64_t>(run.faces);
    }

    void add(std::int64_t component, const shape& other, std::uint64_t faces) const {
        shape all = get(component);
        all.add(other, axes_);
        if (size_.data) size_.data[component] = static_cast<std::int64_t>(all.size);
        for (int axis = 0; box_.data && axis < axes_; ++axis) {
            box_.data[component * 2 * axes_ + axis] = all.first[axis];
            box_.data[(component * 2 + 1) * axes_ + axis] = all.end[axis];
        }
        for (int axis = 0; sum_.data && axis < axes_; ++axis) sums()[component * axes_ + axis] = all.sum[axis];
        if (border_.data) border_.data[component] = all.border ? 1 : 0;
        if (faces_.data) faces_.data[component] += static_cast<std::int64_t>(faces);
    }

    [[nodiscard]] shape get(std::int64_t component) const {
        shape s;
        if (size_.data) s.size = size(component);
        for (int axis = 0; box_.data && axis < axes_; ++axis) {
            s.first[axis] = box_.data[component * 2 * axes_ + axis];
            s.end[axis] = box_.data[(component * 2 + 1) * axes_ + axis];
        }
        for (int axis = 0; sum_.data && axis < axes_; ++axis) s.sum[axis] = sums()[component * axes_ + axis];
        s.border = border_.data && border_.data[component] != 0;
        return s;
    }
    [[nodiscard]] std::uint64_t size(std::int64_t component) const {
        return static_cast<std::uint64_t>(size_.data[component]);
    }

    /// Writes the entries that the caller's tables do not hold yet.
    void put(std::int64_t first, std::int64_t last) const {
        const bool all_there = !rest_.want_shape() && !rest_.faces.wanted();
        for (std::int64_t c = first; !all_there && c < last; ++c) {
            statistics::put_shape(rest_, c, get(c), axes_);
            if (rest_.faces.has(c)) rest_.faces.put(c, faces_.data[c]);
        }
        const shape_memory there = from(first);
        if (divide_there_) divide_sums(axes_, there.sum, there.size, last - first, small_sums_);
    }

    void clear() const {
        if (size_.data) std::fill_n(size_.data, rows_, 0);
        for (std::int64_t row = 0; box_.data && row < rows_; ++row) {
            std::fill_n(box_.data + row * 2 * axes_, axes_, std::numeric_limits<std::int64_t>::max());
            std::fill_n(box_.data + (row * 2 + 1) * axes_, axes_, 0);
        }
        if (sum_.data) std::fill_n(sums(), rows_ * axes_, 0);
        if (border_.data) std::fill_n(border_.data, rows_, 0);
        if (faces_.data) std::fill_n(faces_.data, rows_, 0);
    }

private:
    [[nodiscard]] shared_sum* sums() const { return reinterpret_cast<shared_sum*>(sum_.data); }

    template <class T>
    struct column {
        T* data = nullptr;
        host_scratch<T> own;
    };

    /// Takes a column of `width` values a row. A column in the caller's table is removed from the remaining work.
    template <class T>
    void take(column<T>& c, statistics::column& table, int width, bool needed) const {
        const bool pairs = &table == &rest_.box;
        const bool tight =
            width == 1 || (pairs ? table.inner[1] == 1 && table.inner[0] == width / 2 : table.inner[0] == 1);
        if (table.wanted() && table.rows >= rows_ && table.step == width && tight) {
            c.data = static_cast<T*>(table.data);
            table.data = nullptr;
        } else if (table.wanted() || needed) {
            c.own = host_scratch<T>(rows_ * width);
            c.data = c.own.get();
        }
    }

    int axes_;
    std::int64_t rows_;
    statistics::columns rest_;
    column<std::int64_t> size_, box_, faces_;
    column<double> sum_;  ///< integers, until they are divided
    column<std::uint8_t> border_;
    bool divide_there_ = false, small_sums_ = true;
};

}  // namespace nearfield::labelling
