// Sums of a tile's parts, in shared memory and in the tile's own coordinates, for which 32 bits suffice.
#pragma once

#include "label/gpu/tiles/write.cuh"
#include "label/statistics_rows.hpp"

namespace nearfield::labelling {

/// Measures wanted besides cells, boxes, centroids and borders: faces, and values of one or two bytes.
template <bool Faces, class Value = void>
struct tile_wish {
    static constexpr bool faces = Faces, values = !std::is_void_v<Value>;
    using value = std::conditional_t<values, Value, std::uint8_t>;
    static constexpr bool bytes = sizeof(value) == 1;
    static constexpr int words = (faces ? 1 : 0) + (values ? 4 : 0);  ///< words of a device row besides its shape
};

/// An intensity image with the shape of the cells.
struct value_source {
    const void* data = nullptr;
    strides at{};
    std::uint32_t flip = 0;  ///< maps the values' bits to natural numbers
    bool quads = false;      ///< true if four adjacent bytes can be read at once
};

/// Measures of natural numbers of up to 16 bits, for at most the cells of a tile.
struct small_values {
    static constexpr std::uint32_t most = 0xffffU;
    std::uint32_t lowest = most, rest = most;  ///< `rest`: `most` minus the highest
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

/// Sums of a part in coordinates of its tile, for lattice axes from `first_axis` on.
template <class Tiling>
struct part_shape {
    static constexpr int first_axis = Tiling::deep > 1 ? 0 : 1, axes = 3 - first_axis;
    std::uint32_t cells, sum[axes], low[axes], high[axes];
};
template <class Tiling, class Wish>
struct part_sums : part_shape<Tiling> {
    std::uint32_t pairs = 0;  ///< pairs of cells that share a face
    small_values values;
};

/// Sums of cells of one word's columns in few words: of a bundle, or of consecutive bundles of a warp.
template <class Tiling, class Wish>
struct column_sums {
    /// Lines and, for volumes, the planes behind them, as bits, so that an end takes one operation.
    static constexpr int line_words =
        (Tiling::rows + (Tiling::deep > 1 ? Tiling::planes : 0) + word_cells - 1) / word_cells;
    static constexpr std::uint32_t half = 16, low_half = 0xffffU;
    static constexpr int most_rows = Tiling::bundle::count * cuda::warp;  ///< rows of a word's columns in a warp
    static_assert(Tiling::deep > 1
                      ? most_rows * word_cells * (Tiling::rows - 1) <= 0xffff
                      : Tiling::rows == most_rows && word_cells * most_rows * (most_rows - 1) / 2 <= 0xffff);
    static_assert(most_rows * 496 <= 0xffff && (Tiling::deep == 1 || line_words == 1));
    std::uint32_t cells_lines = 0,
                  places_planes = 0;  ///< halves: the sum of lines above the cells, of planes above places
    word columns = 0, lines[line_words] = {};
    std::uint32_t pairs = 0;
    small_values values;

    /// Adds `n` cells of one row, whose places in the word sum to `places`.
    __device__ void add_row(word row, std::uint32_t n, std::uint32_t places, int line, int plane) {
        columns |= row;
        cells_lines += n + (n * static_cast<std::uint32_t>(line) << half);
        places_planes += places;
        if constexpr (Tiling::deep > 1) {
            places_planes += n * static_cast<std::uint32_t>(plane) << half;
            lines[0] |= 1U << line | 1U << (Tiling::rows + plane);
        } else {
            if (line_words == 1 || line < word_cells) lines[0] |= 1U << line;
            else lines[line_words - 1] |= 1U << (line - word_cells);
        }
    }
    /// Extends the sums of the first of `n` bundles below each other, whose rows have the same columns, to all of them.
    __device__ void repeat(std::uint32_t n) {
        constexpr std::uint32_t step = Tiling::bundle::rows;
        cells_lines = n * cells_lines + (cells() * step * (n * (n - 1) / 2) << half);
        places_planes *= n, pairs *= n;
        const std::uint32_t by = step * (n - 1);  // bits between the ends are not used
        if constexpr (Tiling::deep > 1) {
            lines[0] |= (lines[0] & ((1U << Tiling::rows) - 1)) << by;
        } else if constexpr (line_words == 1) {
            lines[0] |= lines[0] << by;
        } else {
            const auto both = (static_cast<std::uint64_t>(lines[1]) << word_cells | lines[0]) << by;
            lines[0] |= static_cast<word>(both), lines[1] |= static_cast<word>(both >> word_cells);
        }
    }
    __device__ void reduce() {
        cells_lines = __reduce_add_sync(cuda::every_lane, cells_lines);
        places_planes = __reduce_add_sync(cuda::every_lane, places_planes);
        columns = __reduce_or_sync(cuda::every_lane, columns);
#pragma unroll
        for (word& each : lines) each = __reduce_or_sync(cuda::every_lane, each);
        if (Wish::faces) pairs = __reduce_add_sync(cuda::every_lane, pairs);
        if (Wish::values) values.reduce();
    }
    [[nodiscard]] __device__ std::uint32_t cells() const { return cells_lines & low_half; }
    [[nodiscard]] __device__ std::uint32_t line_sum() const { return cells_lines >> half; }
    [[nodiscard]] __device__ std::uint32_t plane_sum() const { return places_planes >> half; }
    [[nodiscard]] __device__ std::uint32_t column_sum(int first_column) const {
        return cells() * static_cast<std::uint32_t>(first_column) + (places_planes & low_half);
    }
    [[nodiscard]] __device__ int low_column() const { return __ffs(static_cast<int>(columns)) - 1; }
    [[nodiscard]] __device__ int high_column() const { return 31 - __clz(static_cast<int>(columns)); }
    /// Extracts the ends along lines and planes.
    __device__ static void put_ends(const word* lines, part_shape<Tiling>& to) {
        constexpr int y = part_shape<Tiling>::axes - 2;
        if constexpr (Tiling::deep > 1) {
            const word line = lines[0] & ((1U << Tiling::rows) - 1), plane = lines[0] >> Tiling::rows;
            to.low[y] = __ffs(static_cast<int>(line)) - 1, to.high[y] = 31 - __clz(static_cast<int>(line));
            to.low[0] = __ffs(static_cast<int>(plane)) - 1, to.high[0] = 31 - __clz(static_cast<int>(plane));
        } else if constexpr (line_words == 1) {
            to.low[y] = __ffs(static_cast<int>(lines[0])) - 1, to.high[y] = 31 - __clz(static_cast<int>(lines[0]));
        } else {
            const auto both = static_cast<std::uint64_t>(lines[1]) << word_cells | lines[0];
            to.low[y] = static_cast<std::uint32_t>(__ffsll(static_cast<long long>(both)) - 1);
            to.high[y] = static_cast<std::uint32_t>(63 - __clzll(static_cast<long long>(both)));
        }
    }
};

constexpr int bits_for(std::uint32_t most) { return most == 0 ? 0 : 1 + bits_for(most / 2); }

/// Sums of `Count` parts; atomic, so that all threads of a block may add.
template <class Tiling, class Wish, std::uint32_t Count>
struct part_tally {
    using added = column_sums<Tiling, Wish>;
    static constexpr bool deep = Tiling::deep > 1;
    static constexpr std::uint32_t most_cells = Tiling::row_words * word_cells;
    static constexpr int cell_bits = bits_for(most_cells);
    /// Cells and the sum of their lines share one word if there is room.
    static constexpr bool together = cell_bits + bits_for(most_cells / 2 * (Tiling::rows - 1)) <= 32;
    static constexpr std::uint32_t of_lines = together ? 1 : Count, of_planes = deep ? Count : 1,
                                   of_faces = Wish::faces ? Count : 1, of_values = Wish::values ? Count : 1,
                                   of_halves = Wish::values && !Wish::bytes ? Count : 1;
    std::uint32_t cells[Count], line_sum[of_lines], plane_sum[of_planes], column_sum[Count], low[Count], high[Count];
    word lines[added::line_words][Count];
    std::uint32_t pairs[of_faces], range[of_values], total[of_values], square[of_values], low_square[of_halves];

    __device__ void clear(std::uint32_t i) {
        cells[i] = 0, column_sum[i] = 0, low[i] = 0xffffffffU, high[i] = 0;
        if constexpr (!together) line_sum[i] = 0;
        if constexpr (deep) plane_sum[i] = 0;
#pragma unroll
        for (auto& each : lines) each[i] = 0;
        if (Wish::faces) pairs[i] = 0;
        if (Wish::values) range[i] = 0xffffffffU, total[i] = square[i] = 0;
        if (Wish::values && !Wish::bytes) low_square[i] = 0;
    }
    __device__ void add(std::uint32_t i, const added& s, int first_column) {
        if constexpr (together) {
            atomicAdd(cells + i, s.cells() | s.line_sum() << cell_bits);
        } else {
            atomicAdd(cells + i, s.cells()), atomicAdd(line_sum + i, s.line_sum());
        }
        atomicAdd(column_sum + i, s.column_sum(first_column));
        if constexpr (deep) atomicAdd(plane_sum + i, s.plane_sum());
        atomicMin(low + i, static_cast<std::uint32_t>(first_column + s.low_column()));
        atomicMax(high + i, static_cast<std::uint32_t>(first_column + s.high_column()));
#pragma unroll
        for (int k = 0; k < added::line_words; ++k)
            if (added::line_words == 1 || s.lines[k] != 0) atomicOr(lines[k] + i, s.lines[k]);
        if (Wish::faces && s.pairs != 0) atomicAdd(pairs + i, s.pairs);
        if (Wish::values) add_values(i, s.values);
    }
    [[nodiscard]] __device__ part_sums<Tiling, Wish> get(std::uint32_t i) const {
        part_sums<Tiling, Wish> s;
        constexpr int x = s.axes - 1;
        if constexpr (together) {
            s.cells = cells[i] & ((1U << cell_bits) - 1), s.sum[x - 1] = cells[i] >> cell_bits;
        } else {
            s.cells = cells[i], s.sum[x - 1] = line_sum[i];
        }
        s.sum[x] = column_sum[i], s.low[x] = low[i], s.high[x] = high[i];
        if constexpr (deep) s.sum[0] = plane_sum[i];
        word ends[added::line_words];
#pragma unroll
        for (int k = 0; k < added::line_words; ++k) ends[k] = lines[k][i];
        added::put_ends(ends, s);
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
        if (Wish::bytes) {  // at most 2^15 cells of 2^16
            atomicAdd(square + i, static_cast<std::uint32_t>(v.square));
        } else {
            atomicAdd(low_square + i, static_cast<std::uint32_t>(v.square & small_values::most));
            atomicAdd(square + i, static_cast<std::uint32_t>(v.square >> 16));
        }
    }
    /// Widens a range. Halves only fall: a stale value never hides a change that is due.
    __device__ static void widen(std::uint32_t* to, std::uint32_t range) {
        std::uint32_t seen = *static_cast<volatile std::uint32_t*>(to);
        for (std::uint32_t wanted = __vminu2(seen, range); wanted != seen; wanted = __vminu2(seen, range)) {
            const std::uint32_t before = atomicCAS(to, seen, wanted);
            if (before == seen) return;
            seen = before;
        }
    }
};

/// Returns the sum of the places of the bits.
__device__ inline std::uint32_t sum_of_places(word bits) {
    return static_cast<std::uint32_t>(__popc(bits & 0xaaaaaaaaU) + 2 * __popc(bits & 0xccccccccU) +
                                      4 * __popc(bits & 0xf0f0f0f0U) + 8 * __popc(bits & 0xff00ff00U) +
                                      16 * __popc(bits & 0xffff0000U));
}

/// Words of the cells before each cell of a bundle's row along every axis, for a binary image: there adjacent
/// foreground cells belong to one component.
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

/// Expands four bits to four bytes of all ones or all zeros.
__device__ inline std::uint32_t bytes_of_bits(std::uint32_t four) {
    return ((four * 0x00204081U) & 0x01010101U) * 0xffU;
}

/// Adds the values of the cells `row` of a word, whose first cell has the value `*first`, four bytes at a time.
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

/// The tile that is measured, and where its data lie.
template <class Tiling>
struct tile_view {
    const narrow_lattice& g;
    const tile_place<Tiling>& at;
    const tile_store& from;
    const value_source& values;
};

/// Sums over the cells of `columns` in a bundle. `Gapless`: they belong to one node and are contiguous.
template <bool Gapless, class Tiling, class Wish>
__device__ column_sums<Tiling, Wish> sums_of_columns(const tile_view<Tiling>& in, const tile_bundle<Tiling>& b,
                                                     word columns, const word* cells) {
    column_sums<Tiling, Wish> s;
    const int first = __ffs(static_cast<int>(columns)) - 1, last = 31 - __clz(static_cast<int>(columns));
#pragma unroll
    for (int r = 0; r < Tiling::bundle::count; ++r) {
        const word row = cells[r] & columns;
        if (row == 0) continue;
        constexpr bool always_full = Gapless && Tiling::bundle::count == 1;
        const auto n = static_cast<std::uint32_t>(always_full ? last - first + 1 : __popc(row));
        const bool full = always_full || static_cast<int>(n) == last - first + 1;
        s.add_row(row, n, full ? n * static_cast<std::uint32_t>(first + last) / 2 : sum_of_places(row), b.line(r),
                  b.plane(r));
        if constexpr (Wish::faces) s.pairs += rows_before<Tiling>(in.g, in.at, in.from, b, r).pairs(row);
        if constexpr (Wish::values) {
            using value = typename Wish::value;
            const strides& to = in.values.at;
            const auto* const values =
                static_cast<const value*>(in.values.data) + to.image(in.at.image) +
                to.cell(in.at.z + b.plane(r), in.at.y + b.line(r), (in.at.word + b.w) * word_cells);
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
