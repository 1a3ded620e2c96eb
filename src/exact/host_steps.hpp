// Planes of the host's dense engine: steps along the first axis in 16 bits, and their way to squares and to roots.
// Compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

namespace nearfield::exact {

/// Steps of a column without a site, and the value of a cell without one. Every sum of 16-bit values saturates here,
/// so a result below it is exact and a result equal to it says that 16 bits do not tell.
inline constexpr std::uint16_t no_site16 = 65535;

/// Cells of a line of the image: bytes of which those that are zero, or those that are not, are sites.
struct site_bytes {
    const std::uint8_t* cell = nullptr;
    bool zero_is_site = true;
};

/// Steps from every column's first site back to row `row` of a slab of `rows` rows, and from its last site on to the
/// last row, as far as known after this row.
void note_ends(site_bytes line, std::int64_t count, int row, int rows, std::uint16_t* to_first,
               std::uint16_t* from_last);

/// further = min(further, steps + rows), saturated: what one slab's end means to the next slab's end.
void carry_ends(const std::uint16_t* steps, std::int64_t count, int rows, std::uint16_t* further);

/// steps = 0 at a site, else one more than in the row before.
void count_down(site_bytes line, const std::uint16_t* before, std::int64_t count, std::uint16_t* steps);

/// after = 0 at a site, else one more than in the row after, which it held; steps = the smaller one of both directions.
/// `toward`, if wanted, is by how many rows the site lies further on, negative for one before; of two the one before.
void count_up(std::uint16_t* after, std::int64_t count, std::uint16_t* steps, std::int16_t* toward);

/// What steps along an axis add to a value: weight * reach(steps)^2.
struct step_term {
    std::uint16_t weight = 1;
    bool half_cell = false;
    std::uint16_t most = 255;  ///< steps whose term is below no_site16
};
/// Low bits of a number, which tell the winner's coordinate (host_rows.hpp): `first` in the line's first cell, `step`
/// more in each further one.
struct low_bits {
    int bits = 0;
    std::int32_t first = 0, step = 0;
};
void numbers_of(const std::uint16_t* steps, std::int64_t count, step_term term, low_bits low, std::uint16_t* number);
void numbers_of(const std::uint16_t* steps, std::int64_t count, step_term term, low_bits low, std::int32_t* number);
void numbers_of(const std::uint16_t* steps, std::int64_t count, step_term term, low_bits low, std::int64_t* number);

/// Distances; every value is below no_site16. `past_caches`: written without being read or kept.
void roots16(const std::uint16_t* squared, std::int64_t count, bool past_caches, float* out);
/// Other threads see what roots16 has written past the caches.
void end_roots16();

}  // namespace nearfield::exact
