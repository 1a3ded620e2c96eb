// Conversion of cells to bits: any predicate of cells becomes words. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "label/core.hpp"

namespace nearfield::labelling {

/// Contiguous cells of `channels` values each.
struct cell_row {
    dtype type = dtype::uint8;
    int channels = 1;
    const void* data = nullptr;
};

/// Calls f with a pointer of the row's element type. A colour with one channel is treated as a plain value.
template <class F>
auto with_elements(const cell_row& row, const F& f) {
    switch (row.type) {
        case dtype::boolean:
        case dtype::uint8: return f(static_cast<const std::uint8_t*>(row.data));
        case dtype::int8: return f(static_cast<const std::int8_t*>(row.data));
        case dtype::int16: return f(static_cast<const std::int16_t*>(row.data));
        case dtype::uint16: return f(static_cast<const std::uint16_t*>(row.data));
        case dtype::int32: return f(static_cast<const std::int32_t*>(row.data));
        case dtype::uint32: return f(static_cast<const std::uint32_t*>(row.data));
        case dtype::int64: return f(static_cast<const std::int64_t*>(row.data));
        case dtype::uint64: return f(static_cast<const std::uint64_t*>(row.data));
        case dtype::float32: return f(static_cast<const float*>(row.data));
        default: return f(static_cast<const double*>(row.data));
    }
}

/// Writes words of foreground bits, and a word of zeros behind them. `bytes`: scratch of `cells` bytes.
void foreground_words(const label_options& o, const cell_row& row, std::int64_t cells, std::uint8_t* bytes,
                      std::uint64_t* words);

/// Bit x: cells x and x - 1 would be linked if they were foreground. Writes no word behind them.
void west_words(const problem& p, const cell_row& row, std::int64_t cells, std::uint8_t* bytes, std::uint64_t* words);

/// Bit x: cells x of two rows, `there` being (dz, dy) from `here`, would be linked if they were foreground.
void straight_words(const problem& p, int dz, int dy, const cell_row& here, const cell_row& there, std::int64_t cells,
                    std::uint64_t* words);

/// Bit i: cells i of `here` and of `there`, which have the same type, would be linked if they were foreground. For at
/// most 64 cells.
std::uint64_t linked_cells(const label_options& o, link_pair by, const cell_row& here, const void* there,
                           std::int64_t cells);

/// Finds the starts of runs from `west`, the cells linked to the cell before them; counts them per word and returns the
/// total. `starts` may be null: then runs start where the foreground does.
std::int64_t find_starts(const std::uint64_t* foreground, const std::uint64_t* west, std::int64_t words,
                         std::uint64_t* starts, std::uint32_t* before);

}  // namespace nearfield::labelling
