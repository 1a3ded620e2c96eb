// A caller's array, as host and device access it.
#pragma once

#include <cstdint>

#include "base/annotate.hpp"
#include "base/quotient.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::geodesics {

/// An array of cells by the axes of a call; `component` is the stride from one coordinate to the next.
struct cell_array {
    void* data = nullptr;
    dtype type = dtype::uint8;
    std::int64_t component = 0, step[max_rank]{};

    template <int Axes, class Number>
    NF_HD std::int64_t at(const Number* cell) const {
        std::int64_t offset = 0;
        for (int axis = 0; axis < Axes; ++axis) offset += cell[axis] * step[axis];
        return offset;
    }
    [[nodiscard]] NF_HD bool is_zero(std::int64_t i) const {
        switch (type) {
            case dtype::float16: return (static_cast<const std::uint16_t*>(data)[i] & 0x7fffU) == 0;
            case dtype::float32: return static_cast<const float*>(data)[i] == 0;
            case dtype::float64: return static_cast<const double*>(data)[i] == 0;
            default: break;
        }
        switch (size_of(type)) {
            case 1: return static_cast<const std::uint8_t*>(data)[i] == 0;
            case 2: return static_cast<const std::uint16_t*>(data)[i] == 0;
            case 4: return static_cast<const std::uint32_t*>(data)[i] == 0;
            default: return static_cast<const std::uint64_t*>(data)[i] == 0;
        }
    }
};

}  // namespace nearfield::geodesics
