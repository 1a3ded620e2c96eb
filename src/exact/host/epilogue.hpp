// The epilogue: writes the fields of a solved tile while it is in the first-level cache.
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include "base/lines.hpp"
#include "exact/host/buffers.hpp"
#include "exact/host/roots.hpp"
#include "exact/host/sites.hpp"
#include "exact/host_output.hpp"

namespace nearfield::exact {

/// Writes the fields of solved tiles. V is the number type of the problem's plan.
template <class T, class V>
class epilogue {
    using K = std::conditional_t<std::is_same_v<V, std::int32_t>, std::int32_t, std::int64_t>;
    static constexpr int columns = number<T>::columns;

public:
    /// Packed values have `base` subtracted.
    epilogue(const plan& p, const arrays<host>& a, const pass_layout& shape, std::int64_t base)
        : p_(p),
          s_(shape.passes.back()),
          base_(base),
          step_(s_.after * shape.length),
          writer_(p, a),
          rule_(p),
          past_caches_(p.cells >= least_streamed_cells) {
        const fields<host>& out = a.out;
        const bool only_distance = !number<T>::sited && !p.negative_side && out.distance.wanted() &&
                                   out.distance.type == dtype::float32 && !out.squared.wanted() &&
                                   !out.trusted.wanted();
        // Cells of a row have one stride.
        const bool even = writer_.contiguous() || shape.row_axis == p.rank - 1;
        only_distance_ = only_distance && even && p.closed_beside == std::numeric_limits<double>::infinity();
        whole_tiles_ = even && writer_.plain_sites();
        if constexpr (!number<T>::wide)
            limit_fits_ =
                std::ldexp(p.limit + 1, number<T>::sited ? p.keys.total() : 0) < static_cast<double>(number<T>::end);
        of_zero_ = static_cast<std::int8_t>(p.inside_is_nonzero ? p.outside_sign : p.inside_sign);
    }

    /// Returns false if a result may be too large for the number type, so that its size or site is unknown, or if a
    /// cell may have no site.
    [[nodiscard]] bool resolved(const T* tile) const {
        if constexpr (number<T>::wide) return true;
        else
            return limit_fits_ ||
                   largest(reinterpret_cast<const lane_of_number<T>*>(tile), s_.rows * columns) < number<T>::end;
    }

    /// Writes a tile whose first row has `count` cells from `first` on, after `skip` columns that are no cells. `zero`:
    /// bits of cells of class zero, columns / 8 bytes a row; null if distances have no signs.
    void put(const T* tile, std::int64_t skip, std::int64_t count, std::int64_t first, const std::uint8_t* zero,
             const thread_buffers<T>& mine) const {
        if constexpr (number<T>::sited) put_sites(tile, count, first, zero, mine);
        else if (!only_distance_) put_fields(tile, skip, count, first, zero);
        else put_distance(tile, skip, count, first, zero, mine.root.get());
    }

private:
    void put_distance(const T* tile, std::int64_t skip, std::int64_t count, std::int64_t first,
                      const std::uint8_t* zero, float* root) const {
        rule_.roots(tile, s_.rows * columns, root);
        if (zero != nullptr) put_signs(root, zero, s_.rows * columns, of_zero_);
        leave(root + skip, count, first, writer_.distance());
    }

    /// Copies a tile of a field to its destination.
    template <class E>
    void leave(const E* from, std::int64_t count, std::int64_t first, const target& to) const {
        constexpr auto bytes = static_cast<std::int64_t>(sizeof(E));
        E* const data = reinterpret_cast<E*>(to.data);
        if (to.contiguous)
            return copy_rows_out(from, count * bytes, columns * bytes, s_.rows, data + first, step_ * bytes,
                                 past_caches_);
        E* const start = data + offset_of(first, p_.size.data(), to.stride.data(), p_.rank);
        const std::int64_t apart = to.stride[static_cast<std::size_t>(p_.rank - 1)];
        for (std::int64_t r = 0; r < s_.rows; ++r, from += columns) {
            E* const row =
                start + offset_of(r, p_.size.data() + s_.first, to.stride.data() + s_.first, s_.last - s_.first + 1);
            for (std::int64_t c = 0; c < count; ++c) row[c * apart] = from[c];
        }
    }

    void put_sites(const T* tile, std::int64_t count, std::int64_t first, const std::uint8_t* zero,
                   const thread_buffers<T>& mine) const {
        // The buffers are large enough for the widest numbers.
        V* const value = reinterpret_cast<V*>(mine.value.get());
        K* const site = reinterpret_cast<K*>(mine.site.get());
        if constexpr (number<T>::wide) split_sites(tile, s_.rows, value, site);
        else
            loops_of_sites().split(reinterpret_cast<const double*>(tile), s_.rows * columns, p_.keys.total(), base_,
                                   value, site);
        if (whole_tiles_) return put_tile(value, site, count, first, zero, mine);
        for (std::int64_t r = 0; r < s_.rows; ++r, first += step_) {
            std::int8_t sign[columns];
            if (zero != nullptr) signs_of(zero + r * (columns / 8), sign);
            writer_.write(first, count, value + r * columns, site + r * columns, zero == nullptr ? nullptr : sign);
        }
    }

    /// Writes distances, coordinates and linear indices of a tile, one field after the other.
    void put_tile(V* value, K* site, std::int64_t count, std::int64_t first, const std::uint8_t* zero,
                  const thread_buffers<T>& mine) const {
        const std::int64_t cells = s_.rows * columns;
        if (p_.limit < std::numeric_limits<double>::infinity()) {
            const V limit = plan::bound<V>(p_.limit);
            for (std::int64_t i = 0; i < cells; ++i) site[i] = value[i] > limit ? no_key<K> : site[i];
        }
        if (const target& to = writer_.distance(); to.data != nullptr) {
            if constexpr (std::is_same_v<V, std::int64_t>) rule_.roots(as_reals(value, cells), cells, mine.root.get());
            else rule_.roots(value, cells, mine.root.get());
            if (zero != nullptr) put_signs(mine.root.get(), zero, cells, of_zero_);
            leave(mine.root.get(), count, first, to);
        }
        for (int axis = p_.first_axis; axis < p_.rank; ++axis)
            if (const target& to = writer_.coordinate(axis); to.data != nullptr) {
                auto* const part = reinterpret_cast<std::int32_t*>(mine.root.get());
                loops_of_sites().coordinates(site, cells, p_.keys.shift[axis], p_.keys.bits[axis], part);
                leave(part, count, first, to);
            }
        if (const target& to = writer_.index(); to.data != nullptr) {
            // The values are no longer needed.
            const auto put_index = [&]<class E>(E* number) {
                writer_.linear(site, cells, number);
                leave(number, count, first, to);
            };
            if (to.type == dtype::int64) put_index(mine.value.get());
            else put_index(reinterpret_cast<std::int32_t*>(mine.value.get()));
        }
    }

    void signs_of(const std::uint8_t* zero, std::int8_t* sign) const {
        for (int c = 0; c < columns; ++c)
            sign[c] = (zero[c / 8] >> (c % 8) & 1) != 0 ? of_zero_ : static_cast<std::int8_t>(-of_zero_);
    }

    void put_fields(const T* tile, std::int64_t skip, std::int64_t count, std::int64_t first,
                    const std::uint8_t* zero) const {
        for (std::int64_t r = 0; r < s_.rows; ++r, tile += columns, first += step_) {
            V value[columns];
            std::int8_t sign[columns];
            for (int c = 0; c < columns; ++c) {
                if constexpr (std::is_same_v<T, V>) value[c] = tile[c];
                else value[c] = tile[c] < number<T>::infinite ? static_cast<V>(tile[c]) : no_site<V>();
            }
            if (zero != nullptr) signs_of(zero + r * (columns / 8), sign);
            writer_.write(first, count, value + skip, nullptr, zero == nullptr ? nullptr : sign + skip);
        }
    }

    const plan& p_;
    const line_pass s_;  ///< the last pass
    const std::int64_t base_;
    const std::int64_t step_;  ///< cells from row to row of a tile
    const output_writer<V, K> writer_;
    const root_rule<std::conditional_t<!number<T>::sited, T, std::conditional_t<sizeof(V) == 4, V, double>>> rule_;
    const bool past_caches_;
    bool only_distance_ = false;  ///< float32 distances are the only field
    bool whole_tiles_ = false;    ///< put_tile() writes all fields
    bool limit_fits_ = false;     ///< values up to the limit fit the numbers
    std::int8_t of_zero_ = 1;
};

}  // namespace nearfield::exact
