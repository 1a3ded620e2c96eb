// Writes finished cells into whatever fields the caller wanted.
#pragma once

#include <array>
#include <cstdint>

#include "exact/plan.hpp"

namespace nearfield::exact {

/// One wanted field, with its strides over the problem's axes.
struct target {
    std::byte* data = nullptr;  ///< null: not wanted
    dtype type = dtype::float32;
    std::array<std::int64_t, max_rank> stride{};  ///< in elements
    bool contiguous = false;
};

class output_writer {
public:
    output_writer(const plan& p, const fields<host>& out);

    /// Cells [first, first + count) in C order, with their squared distances and, where sites are wanted, packed sites.
    template <class V, class K>
    void write(std::int64_t first, std::int64_t count, const V* squared, const K* key) const;

    /// Memory of a contiguous field with elements of `bytes` bytes that may serve as state until it is written; null if none.
    [[nodiscard]] std::byte* borrow(std::int64_t bytes) const;

private:
    template <class T, class Fill>
    void put(const target& to, std::int64_t first, std::int64_t count, const Fill& fill) const;

    const plan& p_;
    target distance_, squared_, index_;
    std::array<target, max_rank> coordinate_;   ///< a plane for each axis of the caller's image
    std::array<int, max_rank> problem_axis_{};  ///< of each axis of the caller's image; -1 for one of length 1
    std::array<std::int64_t, max_rank> linear_{};
};

}  // namespace nearfield::exact
