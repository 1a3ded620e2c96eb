// What a thread of the value engine keeps: a row's classes, steps and costs, a tile, and the epilogue of a tile.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/lines.hpp"
#include "exact/host/lines.hpp"
#include "exact/host/roots.hpp"
#include "exact/host/rows.hpp"
#include "exact/host/values.hpp"
#include "exact/host_output.hpp"
#include "exact/sites.hpp"

namespace nearfield::exact {

/// Buffers of one thread.
template <class T>
struct value_buffers {
    value_buffers(const value_layout& s, bool first_wanted) : row(s.length) {
        std::int64_t rows = 0;
        for (const value_pass& pass : s.passes) rows = std::max(rows, pass.rows);
        const std::int64_t cells = rows * number<T>::columns;
        best = host_scratch<T>(cells), other = host_scratch<T>(cells), root = host_scratch<float>(cells);
        if (first_wanted) first = host_scratch<T>(cells);
        if (s.planes) plane = host_scratch<T>(s.plane_elements());
        classes = host_scratch<std::uint8_t>(4 * (s.length + row_slack));
    }
    [[nodiscard]] std::uint8_t* class_row(int which, std::int64_t length) const {
        return classes.get() + which * (length + row_slack);
    }
    row_scratch row;
    line_lists lists;
    host_scratch<T> plane, best, other, first;
    host_scratch<float> root;
    host_scratch<std::uint8_t> classes;  ///< two rows of classes, flags and bits
};

/// Rows of the image as classes of cells.
class class_rows {
public:
    class_rows(const plan& p, const any_input<host>& image, const class_field& labels)
        : p_(p),
          image_(image),
          labels_(labels),
          length_(p.size[static_cast<std::size_t>(p.rank - 1)]),
          step_(p.image_stride[static_cast<std::size_t>(p.rank - 1)]) {
        if (copies(p, image)) copy_ = host_scratch<std::uint8_t>(p.cells);
    }
    static bool copies(const plan& p, const any_input<host>& image) {
        const std::int64_t step = p.image_stride[static_cast<std::size_t>(p.rank - 1)];
        return p.by != classes::values && std::abs(step) * size_of(image.type) >= worth_copying;
    }

    /// Bytes of an element: those of a label, or one, for sites (1) and other cells, or in a signed field for zero and
    /// others.
    [[nodiscard]] int bytes() const { return by_value() ? static_cast<int>(size_of(image_.type)) : 1; }
    /// Row `line`, which is the labels' own memory or `buffer`.
    const void* row(std::int64_t line, std::uint8_t* buffer) const {
        if (by_value()) return labels_.elements(line * length_);
        if (copy_.get() != nullptr) return copy_.get() + line * length_;
        read(line, 0, length_, buffer);
        return buffer;
    }

    /// Rows whose cells lie far apart are copied in parts first, many rows at a time, so that each cache line comes
    /// once.
    [[nodiscard]] std::int64_t copy_jobs() const {
        return copy_.get() == nullptr ? 0 : parts() * ((lines() + most_lines - 1) / most_lines);
    }
    void copy(std::int64_t job) const {
        const std::int64_t from = job % parts() * part, first = job / parts() * most_lines;
        for (std::int64_t line = first; line < std::min(first + most_lines, lines()); ++line)
            read(line, from, std::min(part, length_ - from), copy_.get() + line * length_ + from);
    }

private:
    static constexpr std::int64_t worth_copying = 16, part = 512, most_lines = 128;

    [[nodiscard]] bool by_value() const { return p_.by == classes::values; }
    [[nodiscard]] std::int64_t parts() const { return (length_ + part - 1) / part; }
    [[nodiscard]] std::int64_t lines() const { return p_.cells / length_; }
    void read(std::int64_t line, std::int64_t from, std::int64_t count, std::uint8_t* to) const {
        const std::int64_t offset =
            p_.rank == 1 ? 0 : offset_of(line, p_.size.data(), p_.image_stride.data(), p_.rank - 1);
        const sites rule = p_.by == classes::zero ? sites::nonzero : p_.rule;
        read_sites(static_cast<const std::byte*>(image_.data) + (offset + from * step_) * size_of(image_.type),
                   image_.type, step_, count, rule, to);
    }

    const plan& p_;
    const any_input<host>& image_;
    const class_field& labels_;
    std::int64_t length_, step_;
    host_scratch<std::uint8_t> copy_;
};

/// Writes the fields of solved tiles. V is the number of the problem's plan.
template <class T, class V>
class value_epilogue {
    static constexpr int columns = number<T>::columns;

public:
    value_epilogue(const plan& p, const arrays<host>& a, const class_field& labels, const value_pass& s)
        : p_(p),
          s_(s),
          step_(s.after * p.size[static_cast<std::size_t>(p.rank - 1)]),
          writer_(p, a, labels),
          rule_(p),
          past_caches_(p.cells >= worth_streaming) {
        const fields<host>& out = a.out;
        const bool alone = out.distance.wanted() && out.distance.type == dtype::float32 && !out.squared.wanted() &&
                           !out.trusted.wanted();
        if (alone && p.closed_beside == std::numeric_limits<double>::infinity()) take_distance(writer_.distance());
        of_zero_ = static_cast<std::int8_t>(p.inside_is_nonzero ? p.outside_sign : p.inside_sign);
    }

    /// False where a result of 16 bits does not say how large it is.
    [[nodiscard]] bool resolved(const T* tile, std::int64_t rows, std::int64_t count) const {
        if (sizeof(T) != 2 || p_.limit < static_cast<double>(number<std::uint16_t>::infinite)) return true;
        for (std::int64_t r = 0; r < rows; ++r, tile += columns) {
            T most = 0;
            for (std::int64_t c = 0; c < count; ++c) most = std::max(most, tile[c]);
            if (most == number<T>::infinite) return false;
        }
        return true;
    }

    /// A tile whose first row has `count` cells from `first` on. `zero`: bits of cells of class zero, columns / 8 bytes
    /// a row; null where distances have no signs.
    void put(const T* tile, std::int64_t count, std::int64_t first, const std::uint8_t* zero, float* root) const {
        if (distance_ == nullptr) return put_fields(tile, count, first, zero);
        rule_.roots(tile, s_.rows * columns, root);
        if (zero != nullptr)
            for (std::int64_t r = 0; r < s_.rows; ++r) put_signs(root + r * columns, zero + r * (columns / 8));
        if (contiguous_)
            return copy_rows_out(root, count * 4, columns * 4, s_.rows, distance_ + first, step_ * 4, past_caches_);
        float* const to = distance_ + offset_of(first, p_.size.data(), stride_.data(), p_.rank);
        const std::int64_t apart = stride_[static_cast<std::size_t>(p_.rank - 1)];
        for (std::int64_t r = 0; r < s_.rows; ++r)
            for (std::int64_t c = 0; c < count; ++c)
                to[row_offset_[static_cast<std::size_t>(r)] + c * apart] = root[r * columns + c];
    }

private:
    static constexpr std::int64_t worth_streaming = std::int64_t{1} << 20;

    void take_distance(const target& to) {
        distance_ = reinterpret_cast<float*>(to.data), stride_ = to.stride, contiguous_ = to.contiguous;
        for (std::int64_t r = 0; r < s_.rows && !contiguous_; ++r)
            row_offset_.push_back(
                offset_of(r, p_.size.data() + s_.first, stride_.data() + s_.first, s_.last - s_.first + 1));
    }

    void put_signs(float* root, const std::uint8_t* zero) const {
        const auto of_zero = static_cast<float>(of_zero_);
        for (int c = 0; c < columns; ++c) root[c] *= (zero[c / 8] >> (c % 8) & 1) != 0 ? of_zero : -of_zero;
    }

    void put_fields(const T* tile, std::int64_t count, std::int64_t first, const std::uint8_t* zero) const {
        for (std::int64_t r = 0; r < s_.rows; ++r, tile += columns, first += step_) {
            V value[columns];
            std::int8_t sign[columns];
            for (int c = 0; c < columns; ++c) {
                if constexpr (std::is_same_v<T, V>) value[c] = tile[c];
                else value[c] = tile[c] < number<T>::infinite ? static_cast<V>(tile[c]) : no_site<V>();
            }
            if (zero != nullptr)
                for (int c = 0; c < columns; ++c) {
                    const bool is_zero = (zero[r * (columns / 8) + c / 8] >> (c % 8) & 1) != 0;
                    sign[c] = is_zero ? of_zero_ : static_cast<std::int8_t>(-of_zero_);
                }
            writer_.write(first, count, value, nullptr, zero == nullptr ? nullptr : sign);
        }
    }

    const plan& p_;
    const value_pass s_;       ///< the last one
    const std::int64_t step_;  ///< cells from row to row of a tile
    const output_writer<V, std::conditional_t<std::is_same_v<V, std::int32_t>, std::int32_t, std::int64_t>> writer_;
    const root_rule<T> rule_;
    const bool past_caches_;
    float* distance_ = nullptr;  ///< where float32 distances are the only field
    std::array<std::int64_t, max_rank> stride_{};
    bool contiguous_ = false;
    std::vector<std::int64_t> row_offset_;
    std::int8_t of_zero_ = 1;
};

}  // namespace nearfield::exact
