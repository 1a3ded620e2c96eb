// Finds the cells that differ as words of bits, and lists the runs of equal cells between them. Compiled once for each
// instruction set.
#pragma once

#include <algorithm>
#include <cstdint>

#include "components/host_runs.hpp"

namespace nearfield::components {

inline constexpr std::int64_t word_bits = 64;
constexpr std::int64_t words_for(std::int64_t cells) { return (cells + word_bits - 1) / word_bits; }

/// Sets bit x if cells x of two arrays differ, and clears the bits behind the last cell. Cells have 1, 2, 4 or 8 bytes.
void find_different(const void* here, const void* there, std::int64_t bytes, std::int64_t cells, std::uint64_t* words);

/// Does the same for lines, whose cells may lie apart in memory.
template <class T>
void find_different(const line<T>& here, const line<T>& there, std::int64_t cells, std::uint64_t* words) {
    if (here.step == 1 && there.step == 1)
        return find_different(here.first, there.first, std::int64_t{sizeof(T)}, cells, words);
    for (std::int64_t first = 0; first < cells; first += word_bits) {
        const std::int64_t count = std::min(word_bits, cells - first);
        T a[word_bits], b[word_bits];
        for (std::int64_t x = 0; x < count; ++x) a[x] = here[first + x], b[x] = there[first + x];
        find_different(a, b, std::int64_t{sizeof(T)}, count, words++);
    }
}

/// Cells [first, end) of equal value, the row that measures them, and how many faces they show.
struct found_run {
    std::int64_t row, first, end;
    std::uint64_t faces;
};

/// Words of the lines beside a line: a set bit marks a cell that shows a face to that line.
struct beside_words {
    const std::uint64_t* of[4] = {};
    int count = 0;
};

/// Lists the runs of a line and returns how many there are. A run ends with a cell whose bit is set in `ends`. It shows
/// a face at either end and one for each of its bits in `beside`. `to` has room for as many runs as cells.
std::int64_t list_runs(const std::uint64_t* ends, const beside_words& beside, std::int64_t words, found_run* to);

}  // namespace nearfield::components
