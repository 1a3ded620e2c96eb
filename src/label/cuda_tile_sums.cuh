// What a tile's parts have, added up in shared memory and in the tile's own coordinates, where 32 bits suffice.
#pragma once

#include "label/cuda_tile_write.cuh"
#include "label/statistics_rows.hpp"

namespace nearfield::labelling {

/// What is asked of the parts besides cells, boxes, centroids and borders: faces, and values of one or two bytes.
template <bool Faces, class Value = void>
struct tile_wish {
    static constexpr bool faces = Faces, values = !std::is_void_v<Value>;
    using value = std::conditional_t<values, Value, std::uint8_t>;
    static constexpr bool bytes = sizeof(value) == 1;
    static constexpr int words = (faces ? 1 : 0) + (values ? 4 : 0);  ///< of a row in device memory, besides its shape
};

/// An intensity image beside the cells.
struct value_source {
    const void* data = nullptr;
    strides at{};
    std::uint32_t flip = 0;  ///< makes naturals of the values' bits
    bool quads = false;      ///< whether four bytes side by side can be read at once
};

/// Naturals of up to 16 bits, of as many cells as a tile has.
struct small_values {
    static constexpr std::uint32_t most = 0xffffU;
    std::uint32_t lowest = most, rest = most;  ///< `rest`: what the highest lacks of `most`
    std::uint32_t sum = 0;
    std::uint64_t square = 0;

    __device__ void add(std::uint32_t natural) {
        lowest = min(lowest, natural), rest = min(rest, most - natural);
        sum += natural, square += std::uint64_t{natural} * natural;
    }
    __device__ void reduce() {
        lowest = __reduce_min_sync(cuda::every_lane, lowest), rest = __reduce_min_sync(cuda::every_lane, rest);
        sum = __reduce_add_sync(cuda::every_lane, sum);
        const std::uint32_t low = __reduce_add_sync(cuda::every_lane, static_cast<std::uint32_t>(square & most));
        square = std::uint64_t{__reduce_add_sync(cuda::every_lane, static_cast<std::uint32_t>(square >> 16))} << 16;
        square += low;
    }
};

/// Sums of a part in coordinates of its tile. Lattice axes from `first_axis` on.
template <class Tiling, class Wish>
struct part_sums {
    static constexpr int first_axis = Tiling::deep > 1 ? 0 : 1, axes = 3 - first_axis;
    std::uint32_t cells = 0, sum[axes] = {}, low[axes], high[axes] = {};
    std::uint32_t pairs = 0;  ///< of cells that share a face
    small_values values;

    __device__ part_sums() {
#pragma unroll
        for (std::uint32_t& each : low) each = 0xffffffffU;
    }
    /// `n` cells of one row, whose columns add up to `sum_x`.
    __device__ void add_row(std::uint32_t n, std::uint32_t sum_x, int line, int plane) {
        cells += n;
        sum[axes - 1] += sum_x;
        sum[axes - 2] += n * static_cast<std::uint32_t>(line);
        reach(axes - 2, line, line);
        if constexpr (first_axis == 0) sum[0] += n * static_cast<std::uint32_t>(plane), reach(0, plane, plane);
    }
    __device__ void reach(int i, int first, int last) {
        low[i] = min(low[i], static_cast<std::uint32_t>(first)),
        high[i] = max(high[i], static_cast<std::uint32_t>(last));
    }
    __device__ void reduce() {
        cells = __reduce_add_sync(cuda::every_lane, cells);
#pragma unroll
        for (int i = 0; i < axes; ++i) {
            sum[i] = __reduce_add_sync(cuda::every_lane, sum[i]);
            low[i] = __reduce_min_sync(cuda::every_lane, low[i]);
            high[i] = __reduce_max_sync(cuda::every_lane, high[i]);
        }
        if (Wish::faces) pairs = __reduce_add_sync(cuda::every_lane, pairs);
        if (Wish::values) values.reduce();
    }
};

/// Sums of `Count` places; atomics, so that all of a block's threads may add.
template <class Tiling, class Wish, std::uint32_t Count>
struct part_tally {
    static constexpr int axes = part_sums<Tiling, Wish>::axes;
    static constexpr std::uint32_t of_faces = Wish::faces ? Count : 1, of_values = Wish::values ? Count : 1,
                                   of_halves = Wish::values && !Wish::bytes ? Count : 1;
    std::uint32_t cells[Count], sum[axes][Count], low[axes][Count], high[axes][Count], pairs[of_faces];
    std::uint32_t range[of_values], total[of_values], square[of_values], low_square[of_halves];

    __device__ void clear(std::uint32_t i) {
        cells[i] = 0;
#pragma unroll
        for (int a = 0; a < axes; ++a) sum[a][i] = high[a][i] = 0, low[a][i] = 0xffffffffU;
        if (Wish::faces) pairs[i] = 0;
        if (Wish::values) range[i] = 0xffffffffU, total[i] = square[i] = 0;
        if (Wish::values && !Wish::bytes) low_square[i] = 0;
    }
    __device__ void add(std::uint32_t i, const part_sums<Tiling, Wish>& s) {
        atomicAdd(cells + i, s.cells);
#pragma unroll
        for (int a = 0; a < axes; ++a)
            atomicAdd(sum[a] + i, s.sum[a]), atomicMin(low[a] + i, s.low[a]), atomicMax(high[a] + i, s.high[a]);
        if (Wish::faces && s.pairs != 0) atomicAdd(pairs + i, s.pairs);
        if (Wish::values) add_values(i, s.values);
    }
    [[nodiscard]] __device__ part_sums<Tiling, Wish> get(std::uint32_t i) const {
        part_sums<Tiling, Wish> s;
        s.cells = cells[i];
#pragma unroll
        for (int a = 0; a < axes; ++a) s.sum[a] = sum[a][i], s.low[a] = low[a][i], s.high[a] = high[a][i];
        if (Wish::faces) s.pairs = pairs[i];
        if (Wish::values) {
            s.values.lowest = range[i] & small_values::most, s.values.rest = range[i] >> 16, s.values.sum = total[i];
            s.values.square = Wish::bytes ? square[i] : (std::uint64_t{square[i]} << 16) + low_square[i];
        }
        return s;
    }

private:
    __device__ void add_values(std::uint32_t i, const small_values& v) {
        widen(range + i, v.lowest | v.rest << 16);
        atomicAdd(total + i, v.sum);
        if (Wish::bytes) {  // 2^15 cells of 2^16 at most
            atomicAdd(square + i, static_cast<std::uint32_t>(v.square));
        } else {
            atomicAdd(low_square + i, static_cast<std::uint32_t>(v.square & small_values::most));
            atomicAdd(square + i, static_cast<std::uint32_t>(v.square >> 16));
        }
    }
    /// Halves only fall: what is read first may be old, but never spares a change that is due.
    __device__ static void widen(std::uint32_t* to, std::uint32_t range) {
        std::uint32_t seen = *static_cast<volatile std::uint32_t*>(to);
        for (std::uint32_t wanted = __vminu2(seen, range); wanted != seen; wanted = __vminu2(seen, range)) {
            const std::uint32_t before = atomicCAS(to, seen, wanted);
            if (before == seen) return;
            seen = before;
        }
    }
};

/// Sum of the places of the bits.
__device__ inline std::uint32_t sum_of_places(word bits) {
    return static_cast<std::uint32_t>(__popc(bits & 0xaaaaaaaaU) + 2 * __popc(bits & 0xccccccccU) +
                                      4 * __popc(bits & 0xf0f0f0f0U) + 8 * __popc(bits & 0xff00ff00U) +
                                      16 * __popc(bits & 0xffff0000U));
}

/// Of a binary image, what each cell of a bundle's row has before it along every axis. Neighbours in foreground are of one component.
template <class Tiling>
struct rows_before {
    word west = 0, north = 0, front = 0;

    __device__ rows_before(const narrow_lattice& g, const tile_place<Tiling>& at, const tile_store& from,
                           const tile_bundle<Tiling>& b, int r) {
        const int line = b.line(r), plane = b.plane(r), across = tile_place<Tiling>::across(g, 2);
        const auto get = [&](int tile, int p, int l, int w) {
            return from.cells[std::int64_t{tile} * Tiling::row_words + (p * Tiling::rows + l) * Tiling::words + w];
        };
        west = get(at.number, plane, line, b.w) << 1;
        if (b.w > 0) west |= get(at.number, plane, line, b.w - 1) >> (word_cells - 1);
        else if (at.word > 0) west |= get(at.number - 1, plane, line, Tiling::words - 1) >> (word_cells - 1);
        if (line > 0) north = get(at.number, plane, line - 1, b.w);
        else if (at.y > 0) north = get(at.number - across, plane, Tiling::rows - 1, b.w);
        if constexpr (Tiling::deep > 1) {
            const int layer = across * tile_place<Tiling>::across(g, 1);
            if (plane > 0) front = get(at.number, plane - 1, line, b.w);
            else if (at.z > 0) front = get(at.number - layer, Tiling::planes - 1, line, b.w);
        }
    }
    [[nodiscard]] __device__ std::uint32_t pairs(word row) const {
        return static_cast<std::uint32_t>(__popc(row & west) + __popc(row & north) +
                                          (Tiling::deep > 1 ? __popc(row & front) : 0));
    }
};

/// Four bytes, of which those are all ones whose bit is set.
__device__ inline std::uint32_t bytes_of_bits(std::uint32_t four) {
    return ((four * 0x00204081U) & 0x01010101U) * 0xffU;
}

/// Adds the values of the cells `row` of a word whose first cell's value is `*first`: bytes by fours.
__device__ inline void add_byte_quads(small_values& to, const std::uint8_t* first, word row, std::uint32_t flip) {
    std::uint32_t low = 0xffffffffU, high = 0, sum = 0, square = 0;
    while (row != 0) {
        const int at = (__ffs(static_cast<int>(row)) - 1) & ~3;
        const std::uint32_t mask = bytes_of_bits(row >> at & 15U);
        const std::uint32_t v = (*reinterpret_cast<const std::uint32_t*>(first + at) ^ flip * 0x01010101U) & mask;
        row &= ~(word{15} << at);
        low = __vminu4(low, v | ~mask), high = __vmaxu4(high, v);
        sum = __dp4a(v, 0x01010101U, sum), square = __dp4a(v, v, square);
    }
    low = __vminu4(low, low >> 16), high = __vmaxu4(high, high >> 16);
    to.lowest = min(to.lowest, __vminu4(low, low >> 8) & 0xffU);
    to.rest = min(to.rest, small_values::most - (__vmaxu4(high, high >> 8) & 0xffU));
    to.sum += sum, to.square += square;
}

/// What a part is asked of, and where.
template <class Tiling>
struct tile_view {
    const narrow_lattice& g;
    const tile_place<Tiling>& at;
    const tile_store& from;
    const value_source& values;
};

/// What the cells of `columns` have in a bundle.
template <class Tiling, class Wish>
__device__ part_sums<Tiling, Wish> sums_of_columns(const tile_view<Tiling>& in, const tile_bundle<Tiling>& b,
                                                   word columns, const word* cells) {
    part_sums<Tiling, Wish> s;
    const int x0 = b.w * word_cells, first = x0 + __ffs(static_cast<int>(columns)) - 1,
              last = x0 + 31 - __clz(static_cast<int>(columns));
    s.reach(s.axes - 1, first, last);
#pragma unroll
    for (int r = 0; r < Tiling::bundle::count; ++r) {
        const word row = cells[r] & columns;
        if (row == 0) continue;
        const auto n = static_cast<std::uint32_t>(__popc(row));
        const bool full = static_cast<int>(n) == last - first + 1;
        s.add_row(n,
                  full ? n * static_cast<std::uint32_t>(first + last) / 2
                       : n * static_cast<std::uint32_t>(x0) + sum_of_places(row),
                  b.line(r), b.plane(r));
        if constexpr (Wish::faces) s.pairs += rows_before<Tiling>(in.g, in.at, in.from, b, r).pairs(row);
        if constexpr (Wish::values) {
            using value = typename Wish::value;
            const strides& to = in.values.at;
            const auto* const values = static_cast<const value*>(in.values.data) + to.image(in.at.image) +
                                       to.cell(in.at.z + b.plane(r), in.at.y + b.line(r), in.at.word * word_cells + x0);
            if constexpr (Wish::bytes)
                if (in.values.quads) {
                    add_byte_quads(s.values, values, row, in.values.flip);
                    continue;
                }
            for (word left = row; left != 0; left &= left - 1)
                s.values.add(values[(__ffs(static_cast<int>(left)) - 1) * to.along[2]] ^ in.values.flip);
        }
    }
    return s;
}

}  // namespace nearfield::labelling
