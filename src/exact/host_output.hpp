// Finishes cells (borders, limit, sign, trust) and writes the fields that the caller wants.
#pragma once

#include <array>
#include <cstdint>

#include "exact/host/roots.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// One wanted field, with its strides over the problem's axes.
struct target {
    std::byte* data = nullptr;  ///< null: not wanted
    dtype type = dtype::float32;
    std::array<std::int64_t, max_rank> stride{};  ///< in elements
    bool contiguous = false;
};

/// Writes the negative half of a signed field: minus the root, unless that is 0.
void put_negative(const float* root, std::int64_t count, float* to);

template <class V, class K>
class output_writer {
public:
    output_writer(const plan& p, const arrays<host>& a);

    /// Writes cells [first, first + count) in C order, from the values of the last pass and, if sites are wanted,
    /// packed sites. `sign`: signs of the distances of a signed field, if the caller knows them.
    void write(std::int64_t first, std::int64_t count, const V* value, const K* key,
               const std::int8_t* sign = nullptr) const;
    [[nodiscard]] const target& distance() const { return distance_; }
    [[nodiscard]] const target& index() const { return index_; }
    /// Returns the field of coordinates along an axis of the problem.
    [[nodiscard]] const target& coordinate(int axis) const {
        return coordinate_[static_cast<std::size_t>(p_.source_axis[static_cast<std::size_t>(axis)])];
    }
    /// True if only float32 distances, coordinates and linear indices are wanted, without borders: value and site then
    /// determine everything.
    [[nodiscard]] bool plain_sites() const { return plain_sites_; }
    [[nodiscard]] bool contiguous() const { return contiguous_; }  ///< distances, indices and coordinates
    /// Computes linear indices of sites.
    template <class T>
    void linear(const K* site, std::int64_t count, T* to) const;
    /// Returns the contiguous distances if they are the only field, of a plain or half a signed call; else null.
    [[nodiscard]] float* only_distances() const { return only_distances_; }
    /// Returns the field of linear indices if it is the only one; else null.
    [[nodiscard]] const target* only_index() const { return only_index_ ? &index_ : nullptr; }

private:
    /// Finished cells, which determine all outputs.
    struct cells {
        std::int64_t first, count;
        const V* value;           ///< no_site if there is none
        const K* key;             ///< -1 if there is none
        const std::int8_t* sign;  ///< signs of the distances; null: all positive
        const std::uint8_t* trusted;
    };
    void write_distances(const V* value, std::int64_t count, float* to) const;
    void finish(std::int64_t first, std::int64_t count, const V* value, const K* key, const std::int8_t* sign) const;
    void to_border(border kind, double beside, std::int64_t first, std::int64_t count, V* value) const;
    void write_cells(const cells& c) const;
    void write_distance(const cells& c) const;
    void write_squared(const cells& c) const;
    void write_sites(const cells& c) const;
    void write_label(const cells& c) const;
    template <class T, class Fill>
    void put(const target& to, const cells& c, const Fill& fill) const;

    const plan& p_;
    const metric<V> m_;
    const any_input<host>& image_;
    const field_roots<V> roots_;
    const bool closed_, open_;
    const bool finished_;  ///< values and sites of the last pass are those of the fields
    const bool past_caches_;
    float* only_distances_ = nullptr;
    bool only_index_ = false, plain_sites_ = false, contiguous_ = true;
    target distance_, squared_, index_, label_, trusted_;
    std::array<target, max_rank> coordinate_;   ///< a plane for each axis of the caller's image that is searched
    std::array<int, max_rank> problem_axis_{};  ///< for each axis of the caller's image; -1 for one of length 1
    std::array<std::int64_t, max_rank> linear_{};
};

}  // namespace nearfield::exact
