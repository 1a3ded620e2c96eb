// Cells numbered in C order, and their offsets in a strided array.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/annotate.hpp"

namespace nearfield {

/// Returns the element offset of cell number `cell` in an array of `size` cells along each of `rank` axes.
NF_HD inline std::int64_t offset_of(std::int64_t cell, const std::int64_t* size, const std::int64_t* stride, int rank) {
    std::int64_t offset = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
        const std::int64_t rest = cell / size[axis];
        offset += (cell - rest * size[axis]) * stride[axis];
        cell = rest;
    }
    return offset + cell * stride[0];
}

/// offset_of() for many cells of one array; it avoids divisions if the cells lie in even steps.
class cell_offsets {
public:
    cell_offsets(const std::int64_t* size, const std::int64_t* stride, int rank)
        : size_(size), stride_(stride), rank_(rank), step_(rank == 0 ? 0 : stride[rank - 1]) {
        for (int axis = rank - 1; axis > 0; --axis) even_ = even_ && stride[axis - 1] == stride[axis] * size[axis];
    }
    [[nodiscard]] std::int64_t of(std::int64_t cell) const {
        return even_ ? cell * step_ : offset_of(cell, size_, stride_, rank_);
    }

private:
    const std::int64_t *size_, *stride_;
    int rank_;
    std::int64_t step_;
    bool even_ = true;
};

/// Returns true if cell number c lies at element c.
inline bool is_contiguous(const std::int64_t* size, const std::int64_t* stride, int rank) {
    std::int64_t step = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
        if (size[axis] != 1 && stride[axis] != step) return false;
        step *= size[axis];
    }
    return true;
}

/// Returns the product of the sizes of axes [first, last).
inline std::int64_t cells_between(const std::int64_t* size, int first, int last) {
    std::int64_t product = 1;
    for (int axis = first; axis < last; ++axis) product *= size[axis];
    return product;
}

/// Calls body(offset, step, count, done) for the evenly spaced stretches of cells [first, first + count) in a strided
/// array: one stretch for a contiguous array, else one for each line of the last axis that contains such cells.
template <class Body>
void for_each_stretch(std::int64_t first, std::int64_t count, const std::int64_t* size, const std::int64_t* stride,
                      int rank, bool contiguous, Body&& body) {
    if (contiguous) return body(first, std::int64_t{1}, count, std::int64_t{0});
    const std::int64_t line = size[rank - 1];
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t cell = first + done;
        const std::int64_t length = std::min(count - done, line - cell % line);
        body(offset_of(cell, size, stride, rank), stride[rank - 1], length, done);
        done += length;
    }
}

}  // namespace nearfield
