// The list of grids on which the exact engine is tested on every backend. Each shape names the path that it reaches.
#pragma once

#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "scale.hpp"

namespace nearfield::test {

struct shape_case {
    shape_t shape;
    const char* why;
};

/// Shapes small enough for all combinations of fill and spacing.
/// Over 40 lines because it is one table.
inline const std::vector<shape_case>& small_shapes() {
    static const std::vector<shape_case> list = {
        {{0}, "an empty line"},
        {{0, 5}, "no rows"},
        {{5, 0}, "rows of nothing"},
        {{3, 0, 4}, "an empty axis in the middle"},
        {{1}, "one cell"},
        {{1, 1, 1, 1, 1, 1, 1, 1}, "one cell of the highest rank"},
        {{2}, "the shortest line with a neighbour"},
        {{31}, "1-D, one below a word of the bit scan"},
        {{32}, "1-D, exactly one word"},
        {{33}, "1-D, one above a word"},
        {{1021}, "1-D, a prime just below a block of 1024"},
        {{1, 129}, "a single row: the pass along columns has length 1"},
        {{129, 1}, "a single column: the contiguous axis has length 1"},
        {{1, 1, 67}, "a row as a volume"},
        {{67, 1, 1}, "a column as a volume"},
        {{1, 67, 1}, "the middle axis alone"},
        {{2, 2}, "the smallest square"},
        {{7, 13}, "2-D, primes, less than one vector wide"},
        {{31, 33}, "2-D, one below and one above a tile of 32"},
        {{32, 32}, "2-D, exactly one tile"},
        {{33, 31}, "2-D, a tile and a row; a row less one column"},
        {{17, 64}, "2-D, whole words along the contiguous axis"},
        {{64, 17}, "2-D, whole tiles of rows, odd width"},
        {{61, 47}, "2-D, primes over one tile"},
        {{2, 200}, "2-D, wide and two high"},
        {{200, 2}, "2-D, tall and two wide"},
        {{3, 5, 7}, "3-D, smaller than any vector"},
        {{8, 8, 8}, "3-D, a cube of powers of two"},
        {{9, 16, 17}, "3-D, around 16 lanes"},
        {{13, 11, 12}, "3-D, odd sides"},
        {{33, 5, 31}, "3-D, more than one tile along the first axis"},
        {{5, 33, 32}, "3-D, more than one tile along the middle axis"},
        {{1, 19, 23}, "3-D, one plane: equals the image"},
        {{19, 1, 23}, "3-D, middle axis of length 1"},
        {{19, 23, 1}, "3-D, contiguous axis of length 1"},
        {{3, 4, 5, 6}, "4-D, every side different"},
        {{2, 9, 1, 33}, "4-D with an axis of length 1"},
        {{4, 3, 2, 3, 5}, "5-D"},
        {{2, 3, 2, 3, 2, 3}, "6-D"},
        {{3, 2, 2, 1, 2, 3, 4}, "7-D"},
        {{2, 2, 3, 2, 2, 1, 2, 5}, "8-D, the highest rank"},
    };
    return list;
}

/// Shapes for every fill, with a few spacings each.
inline const std::vector<shape_case>& medium_shapes() {
    static const std::vector<shape_case> list = {
        {{1023}, "1-D, one below 1024"},
        {{1024}, "1-D, one block of 1024"},
        {{1025}, "1-D, one above 1024"},
        {{1023, 33}, "2-D, columns one below 1024"},
        {{1024, 32}, "2-D, columns of 1024, one tile wide"},
        {{1025, 31}, "2-D, columns one above 1024"},
        {{129, 257}, "2-D, several tiles and one cell more, both ways"},
        {{255, 100}, "2-D, 255 rows"},
        {{65, 67, 3}, "3-D slab, 3 along the contiguous axis"},
        {{3, 65, 67}, "3-D slab, 3 along the first axis"},
        {{65, 3, 67}, "3-D slab, 3 along the middle axis"},
        {{40, 41, 43}, "3-D, several tiles, primes"},
        {{64, 64, 9}, "3-D, the longest lines that finish in their tiles, both passes"},
        {{60, 1501},
         "2-D, short lines along the first axis, sites far away along the other, whose lines begin anywhere"},
        {{131, 5, 37}, "3-D, first axis in five bands of 32, the last of 3"},
        {{1025, 3, 5}, "3-D, first axis beyond 1024"},
        {{3, 1025, 5}, "3-D, middle axis beyond 1024"},
        {{3, 5, 1025}, "3-D, contiguous axis beyond 1024"},
        {{2, 3, 129, 33}, "4-D over tiles"},
        {{9, 8, 7, 6, 5}, "5-D, 15120 cells"},
    };
    return list;
}

/// Lines around the limits of 15, 16 and 32 bits, for a few fills.
inline const std::vector<shape_case>& long_shapes() {
    static const std::vector<shape_case> list = {
        {{2, 32767}, "2-D, distances along a row up to 2^15 - 2"},
        {{2, 32768}, "2-D, row length 2^15: one past the largest int16"},
        {{2, 32769}, "2-D, squared distances up to 2^30 + 1"},
        {{32767, 2}, "2-D, columns just within int16"},
        {{32768, 2}, "2-D, columns of 2^15 rows"},
        {{32769, 2}, "2-D, columns beyond int16, squares beyond 2^30"},
        {{65536, 2}, "2-D, the longest columns of words"},
        {{2, 65536}, "2-D, the longest rows of words"},
        {{65537, 2}, "2-D, columns beyond uint16, squares beyond 2^32: uint64"},
        {{2, 65537}, "2-D, rows beyond uint16, squares beyond 2^32: uint64"},
    };
    return list;
}
inline constexpr fill long_fills[] = {fill::none, fill::one,     fill::corners, fill::diagonal, fill::rows,
                                      fill::half, fill::percent, fill::fifty,   fill::shells};

struct spacing_case {
    std::vector<double> values;  ///< repeated over the axes; empty: no spacing; one value: the same for all axes
    const char* why;
};

inline const std::vector<spacing_case>& spacings() {
    static const std::vector<spacing_case> list = {
        {{}, "not given"},
        {{1}, "unit, one value for all axes"},
        {{2, 1, 3}, "integral anisotropic"},
        {{3}, "integral, equal"},
        {{0.5}, "equal, not integral, exact in binary"},
        {{1.0 / 3}, "equal, squares not exact in binary: w * 1 + w * 4 and w * 5 may differ"},
        {{1.0 / 3, 0.1}, "near-degenerate: 0.3 * 0.3 against 0.1 * 0.9, ties made and broken by rounding"},
        {{0.7, 0.31}, "general"},
        {{5, 0.4, 0.4}, "a microscope's stack"},
        {{1, 1000003}, "extreme ratio, squares beyond 2^32: uint64"},
        {{1e-3, 1, 1e4}, "extreme ratio, not integral"},
        {{20000}, "integral and large: int32 holds the squares of very small grids only"},
        {{1e9}, "the same for int64"},
        {{1e12, 3}, "integral, but squares beyond 2^62: double"},
        {{16777216, 1}, "integral, small terms matter only in 64 bits"},
    };
    return list;
}

/// True if case k belongs to the share that runs.
inline bool chosen(std::uint64_t k) { return static_cast<double>(mix(k) % 1000) < 1000 * test_scale(); }

inline std::vector<double> per_axis(const spacing_case& s, std::size_t rank) {
    std::vector<double> values(rank, 1.0);
    for (std::size_t axis = 0; axis < rank && !s.values.empty(); ++axis)
        values[axis] = s.values[axis % s.values.size()];
    return values;
}

inline std::string text_of(const shape_t& shape) {
    std::string text;
    for (std::int64_t n : shape) {
        if (!text.empty()) text += 'x';
        text += std::to_string(n);
    }
    return text;
}

}  // namespace nearfield::test
