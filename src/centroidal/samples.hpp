// Samples of a density, on host and device: one from each stretch of equal mass along a curve that fills the grid.
#pragma once

#include "base/hash.hpp"
#include "centroidal/core.hpp"

namespace nearfield::centroidal {

/// Returns a point's position along Hilbert's curve through a cube of 2^bits a side. Changes `x`.
///
/// Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004.
NF_HD inline std::uint64_t along_curve(std::uint32_t (&x)[3], int axes, int bits) {
    const int first = 3 - axes, last = 2;
    for (std::uint32_t q = std::uint32_t{1} << (bits - 1); q > 1; q /= 2)
        for (int k = first; k <= last; ++k) {
            const std::uint32_t low = (x[k] & q) != 0 ? q - 1 : 0, swapped = (x[first] ^ x[k]) & (q - 1) & ~low;
            x[first] ^= low | swapped;
            x[k] ^= swapped;
        }
    for (int k = first + 1; k <= last; ++k) x[k] ^= x[k - 1];
    std::uint32_t turned = 0;
    for (std::uint32_t q = std::uint32_t{1} << (bits - 1); q > 1; q /= 2)
        if ((x[last] & q) != 0) turned ^= q - 1;
    std::uint64_t key = 0;
    for (int bit = bits - 1; bit >= 0; --bit)
        for (int k = first; k <= last; ++k) key = 2 * key + (((x[k] ^ turned) >> bit) & 1);
    return key;
}

/// Cubes of cells, clipped to the grid: at most 2^14 of them, or as many as there are samples.
struct tile_grid {
    std::int64_t side = 1, cells[3];  ///< cells: of the grid along each axis
    int axes, bits = 1;               ///< bits: of a tile's position along the axis with most tiles

    tile_grid(const problem& p, std::int64_t samples)
        : cells{p.cells_along(0), p.cells_along(1), p.cells_along(2)}, axes(p.axes) {
        while (count() > (samples < 1 << 14 ? 1 << 14 : samples)) side *= 2;
        for (int axis = 0; axis < 3; ++axis)
            while (std::int64_t{1} << bits < along(axis)) ++bits;
    }
    [[nodiscard]] NF_HD std::int64_t along(int axis) const { return (cells[axis] + side - 1) / side; }
    [[nodiscard]] NF_HD std::int64_t count() const { return along(0) * along(1) * along(2); }
    [[nodiscard]] NF_HD std::uint64_t key_of(const std::int64_t* first) const {
        std::uint32_t at[3];
        for (int k = 0; k < 3; ++k) at[k] = static_cast<std::uint32_t>(first[k] / side);
        return along_curve(at, axes, bits);
    }
    /// Calls body(cell) for the cells of the tile that begins at `first`, in raster order, until it returns false.
    template <class Body>
    NF_HD void for_cells(const std::int64_t* first, const Body& body) const {
        std::int64_t end[3];
        for (int k = 0; k < 3; ++k) end[k] = first[k] + side < cells[k] ? first[k] + side : cells[k];
        for (std::int64_t z = first[0]; z < end[0]; ++z)
            for (std::int64_t y = first[1]; y < end[1]; ++y)
                for (std::int64_t x = first[2]; x < end[2]; ++x)
                    if (!body((z * cells[1] + y) * cells[2] + x)) return;
    }
    /// Returns the cell of a tile where its mass, summed in raster order, first exceeds `rest`.
    NF_HD std::int64_t cell_at(const std::int64_t* first, const std::uint16_t* density, std::uint64_t rest) const {
        std::int64_t found = -1;
        for_cells(first, [&](std::int64_t cell) {
            found = cell;
            const bool beyond = rest >= density[cell];
            rest -= beyond ? density[cell] : 0;
            return beyond;
        });
        return found;
    }
};

/// An attempt to place a sample: the mass before its cell along the curve, and a choice among the cell's parts.
struct attempt {
    static constexpr std::uint64_t most = 16;  ///< attempts per sample
    std::uint64_t mass, choice;

    /// Attempt `k` of sample `i` of `count`, within its stretch of `all`.
    NF_HD static attempt of(std::int64_t i, std::int64_t count, std::uint64_t k, std::uint64_t seed,
                            std::uint64_t all) {
        const std::uint64_t bits = mixed(mixed(seed) + static_cast<std::uint64_t>(i) * most + k);
        const uint128 at = (static_cast<uint128>(static_cast<std::uint64_t>(i)) * all + bits % all) /
                           static_cast<std::uint64_t>(count);
        return {static_cast<std::uint64_t>(at), mixed(bits)};
    }
};

/// Returns one of the parts of a cell.
NF_HD inline std::int32_t part_in(const problem& p, std::int64_t cell, std::uint64_t choice) {
    std::int64_t part = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t before = axis == 0 ? p.cells_along(1) * p.cells_along(2) : axis == 1 ? p.cells_along(2) : 1;
        const auto factor = static_cast<std::uint64_t>(p.factor[axis]);
        part = part * p.size[axis] + cell / before * p.factor[axis] + static_cast<std::int64_t>(choice % factor);
        cell %= before, choice /= factor;
    }
    return static_cast<std::int32_t>(part);
}

}  // namespace nearfield::centroidal
