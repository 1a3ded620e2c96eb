// Shared by host and device: the problem, and the access to cells and distances.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "base/annotate.hpp"
#include "nearfield/chessboard.hpp"

namespace nearfield::chessboard {

constexpr std::uint32_t most_rows_listed = 16;  ///< of an image: with more, a device does not take them one by one

struct problem {
    bool diagonal = true;  ///< true for chessboard, false for city block
    bool nonzero = false;  ///< true if nonzero cells are sites
    int rank = 1, batch = 0;
    std::int64_t size[max_rank] = {}, image_step[max_rank] = {}, out_step[max_rank] = {}, cells = 0;
    border ends[max_rank] = {};
    std::int8_t side[max_rank] = {};
    std::int64_t most = 0;   ///< upper bound of all distances
    std::int64_t limit = 0;  ///< larger distances count as no site
    const void* image = nullptr;
    void* out = nullptr;
    dtype image_type = dtype::uint8, out_type = dtype::int32;
    /// On a device: 16 or 4 if rows are contiguous bytes that begin at multiples of it, 1 at other places, else 0.
    int read_at_once = 0;
    const std::uint8_t* image_end = nullptr;  ///< on a device: behind the last byte of an image of such rows
    /// On a device: passes along axes do nothing if one of these is 0, because sets or few sites solved the problem.
    const std::uint32_t *general = nullptr, *crowded = nullptr;
    const std::uint32_t* rows_with_sites = nullptr;  ///< and if it is not null and says that few rows have sites

    NF_HD bool is_solved() const {
        return general != nullptr &&
               (*general == 0 || *crowded == 0 || (rows_with_sites != nullptr && *rows_with_sites <= most_rows_listed));
    }

    NF_HD std::int64_t product(int first, int last) const {
        std::int64_t cells_of_axes = 1;
        for (int axis = first; axis < last; ++axis) cells_of_axes *= size[axis];
        return cells_of_axes;
    }
};

/// Exchanges two axes, on whose order distances do not depend.
inline void exchange(problem& p, int a, int b) {
    std::swap(p.size[a], p.size[b]), std::swap(p.ends[a], p.ends[b]), std::swap(p.side[a], p.side[b]);
    std::swap(p.image_step[a], p.image_step[b]), std::swap(p.out_step[a], p.out_step[b]);
}
constexpr std::int64_t short_row = 32;  ///< rows of fewer cells give way to longer ones

/// Distance of cells without a site. Adding one does not overflow.
template <class T>
inline constexpr T unreached = std::numeric_limits<T>::max() - 1;

/// Calls body(Bits{}, mask): an element is zero if its masked bits are; the mask drops the sign of floats.
template <class Body>
NF_HD inline void with_bits(dtype type, const Body& body) {
    switch (type) {
        case dtype::float16: return body(std::uint16_t{}, std::uint16_t{0x7fff});
        case dtype::float32: return body(std::uint32_t{}, std::uint32_t{0x7fffffff});
        case dtype::float64: return body(std::uint64_t{}, std::uint64_t{0x7fffffffffffffff});
        default: break;
    }
    switch (size_of(type)) {
        case 1: return body(std::uint8_t{}, std::uint8_t{0xff});
        case 2: return body(std::uint16_t{}, std::uint16_t{0xffff});
        case 4: return body(std::uint32_t{}, ~std::uint32_t{0});
        default: return body(std::uint64_t{}, ~std::uint64_t{0});
    }
}

/// Calls body(Out{}, none), where none is the type's maximum, which stands for no site.
template <class Body>
NF_HD inline void with_output(dtype type, const Body& body) {
    switch (type) {
        case dtype::uint8: return body(std::uint8_t{}, 0xffU);
        case dtype::uint16: return body(std::uint16_t{}, 0xffffU);
        case dtype::uint32: return body(std::uint32_t{}, 0xffffffffU);
        default: return body(std::int32_t{}, 0x7fffffffU);
    }
}
/// The output value of a distance; `none` if it exceeds the limit or the type, whose maximum is `none`.
NF_HD constexpr std::uint32_t written(std::uint32_t distance, std::uint32_t limit, std::uint32_t none) {
    return distance > limit || distance > none ? none : distance;
}

void run(const host& on, const problem& p);
void run(const device& on, const problem& p);

}  // namespace nearfield::chessboard
