// Bits of classes for the tiles of all passes: where a cell differs from the one before along an axis, and where it is
// zero.
#pragma once

#include <array>
#include <cstring>

#include "exact/host/buffers.hpp"

namespace nearfield::exact {

class class_bits {
public:
    /// `columns`: lines of a tile.
    class_bits(const plan& p, const pass_layout& shape, const class_rows& rows, std::int64_t columns)
        : p_(p), shape_(shape), rows_(rows), row_bytes_(columns / 8) {
        const std::int64_t bytes = shape.field_elements(1) / 8 + row_slack;
        for (int axis = p.first_axis; p.by != classes::none && axis < shape.row_axis; ++axis)
            cut_[static_cast<std::size_t>(axis)] = host_scratch<std::uint8_t>(bytes);
        if (p.is_signed()) zero_ = host_scratch<std::uint8_t>(bytes);
    }

    /// Writes the bits of a row of classes.
    template <class Buffers>
    void put(std::int64_t line, const void* row, const Buffers& mine) const {
        const std::int64_t n = shape_.length;
        std::uint8_t *const flags = mine.class_row(2, n), *const bits = mine.class_row(3, n);
        std::int64_t step = 1;
        for (int axis = shape_.row_axis - 1; axis >= p_.first_axis; --axis) {
            const auto i = static_cast<std::size_t>(axis);
            const std::int64_t size = p_.size[i], at = line / step % size;
            if (at > 0 || p_.borders[i] == border::periodic) {
                const std::int64_t before = at > 0 ? line - step : line + (size - 1) * step;
                differing(row, rows_.row(before, mine.class_row(1, n)), rows_.bytes(), n, shape_.lead, flags, bits);
                scatter(shape_.pass_of(axis), line, bits, cut_[i].get());
            }
            step *= size;
        }
        if (zero_.get() == nullptr) return;
        zeros(row, rows_.bytes(), n, shape_.lead, flags, bits);
        scatter(shape_.passes.back(), line, bits, zero_.get());
    }
    /// Returns a tile's bits along an axis; null if classes do not matter.
    [[nodiscard]] const std::uint8_t* cut(const line_pass& s, std::size_t axis, std::int64_t tile) const {
        return cut_[axis].get() == nullptr ? nullptr : cut_[axis].get() + tile * s.rows * row_bytes_;
    }
    /// Returns a tile's bits of cells of class zero; null if distances have no signs.
    [[nodiscard]] const std::uint8_t* zero(const line_pass& s, std::int64_t tile) const {
        return zero_.get() == nullptr ? nullptr : zero_.get() + tile * s.rows * row_bytes_;
    }

private:
    /// Copies a row's bits to the tiles of a pass.
    void scatter(const line_pass& s, std::int64_t line, const std::uint8_t* bits, std::uint8_t* to) const {
        const std::int64_t after = line % s.after, r = line / s.after % s.rows, before = line / s.after / s.rows;
        to += ((before * s.after + after) * shape_.tiles * s.rows + r) * row_bytes_;
        const auto bytes = static_cast<std::size_t>(row_bytes_);
        for (std::int64_t t = 0; t < shape_.tiles; ++t)
            std::memcpy(to + t * s.rows * row_bytes_, bits + t * row_bytes_, bytes);
    }

    const plan& p_;
    const pass_layout& shape_;
    const class_rows& rows_;
    const std::int64_t row_bytes_;
    std::array<host_scratch<std::uint8_t>, max_rank> cut_;
    host_scratch<std::uint8_t> zero_;
};

}  // namespace nearfield::exact
