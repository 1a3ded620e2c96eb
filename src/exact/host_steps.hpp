// Planes of the host's dense engine: steps along the first axis in 16 bits, the numbers of lines, and the sites that
// winners name. Compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

#include "exact/host/terms.hpp"
#include "exact/room.hpp"

namespace nearfield::exact {

/// Steps of a column without a site, and the value of a cell without one. Every sum of 16-bit values saturates here: a
/// result below it is exact, a result equal to it is unresolved in 16 bits.
inline constexpr std::uint16_t no_site16 = 65535;

/// Numbers from here on mean that a search needs a wider type.
template <class N>
inline constexpr N unknown = sizeof(N) == 2 ? no_site16 : number<N>::infinite - 1;

/// Cells of a line of the image, as bytes: those that are zero, or those that are not, are sites.
struct site_bytes {
    const std::uint8_t* cell = nullptr;
    bool zero_is_site = true;
};

/// Numbering of cells: the linear index in the image, or packed coordinates.
struct cell_number {
    std::int32_t row = 0, line = 0, cell = 0;  ///< summand of a step along each of the axes
};

/// Loops over the steps of a line, for this machine's instruction set.
struct step_loops {
    /// Updates, for row `row` of a slab of `rows` rows, the steps from every column's first site back to the slab's
    /// first row, and from its last site on to the last row.
    void (*note_ends)(site_bytes line, std::int64_t count, int row, int rows, std::uint16_t* to_first,
                      std::uint16_t* from_last);
    /// further = min(further, steps + rows), saturated: carries the steps at one slab's end to the next slab's end.
    void (*carry_ends)(const std::uint16_t* steps, std::int64_t count, int rows, std::uint16_t* further);
    /// steps = 0 at a site, else one more than in the row before.
    void (*count_down)(site_bytes line, const std::uint16_t* before, std::int64_t count, std::uint16_t* steps);
    /// after = 0 at a site, else one more than in the row after, which it held; steps = the minimum of both directions.
    /// `toward`, if wanted, is the signed distance to the site in rows, negative for one before; of two the one before.
    void (*count_up)(std::uint16_t* after, std::int64_t count, std::uint16_t* steps, std::int16_t* toward);
    /// site[x] = start + toward[x] * number.row + x * number.cell: the site of each column along the first axis.
    void (*number_sites)(const std::int16_t* toward, std::int64_t count, std::int32_t start, const cell_number& number,
                         std::int32_t* site);
    /// Computes distances; every value is below no_site16. `past_caches`: the output bypasses the caches.
    void (*roots)(const std::uint16_t* squared, std::int64_t count, bool past_caches, float* out);
};

/// Term of steps along an axis: weight * steps^2.
struct step_term {
    std::uint16_t weight = 1;
    std::uint16_t most = 255;  ///< steps whose term is below no_site16
};
/// Low bits of a number, which hold the winner's coordinate (host_plane.hpp): `first` in the line's first cell, `step`
/// more in each further one.
struct low_bits {
    int bits = 0;
    std::int32_t first = 0, step = 0;
};
/// Few cells of a line, with their numbers.
template <class N>
struct few_cells {
    static constexpr int most = 12;
    int count = 0;
    std::int64_t cell[most];
    N number[most];
};

/// Loops over the numbers of lines: std::uint16_t without sites, std::int32_t, or std::int64_t with them.
template <class N>
struct number_loops {
    void (*numbers_of)(const std::uint16_t* steps, std::int64_t count, step_term term, low_bits low, N* number);
    /// to[c * to_pitch + r] = from[r * from_pitch + c]. `rows` and `cells` are rounded up to multiples of 8.
    void (*transpose)(const N* from, std::int64_t rows, std::int64_t cells, std::int64_t from_pitch, N* to,
                      std::int64_t to_pitch);
    /// best[x] = the least number of these plus the term of its distance, which stands at term[x - cell]. There are at
    /// least 32 cells.
    void (*relax_by_cells)(const few_cells<N>& few, const N* term, std::int64_t count, N* best);
    /// value[x] = what stands above the low `bits` bits of number[x], or no_site without one.
    void (*values_of)(const N* number, std::int64_t count, int bits, std::int32_t* value);
    /// After the middle axis: place[x] = the line in the low `from` bits of number[x], times `length`, plus x. Then the
    /// low bits, now `to` of them, become the cell's own coordinate for the search along the last axis.
    void (*take_lines)(N* number, std::int64_t count, int from, int to, std::int32_t length, std::int32_t* place);
    /// place[x] = the low `bits` bits of number[x], or `absent` without a site.
    void (*take_cells)(const N* number, std::int64_t count, int bits, std::int32_t absent, std::int32_t* place);
    /// Turns numbers into vectors from cells `first` on of line `line` of row `row` to `site`, which has the site's row
    /// above 16 bits of its line. Returns true if one is longer than most_way.
    bool (*ways)(const N* number, const std::int32_t* site, std::int64_t count, int bits, std::int32_t first,
                 std::int32_t row, std::int32_t line, const site_ways& to);
};

struct plane_loops : step_loops, number_loops<std::uint16_t>, number_loops<std::int32_t>, number_loops<std::int64_t> {};
const plane_loops& loops_of_planes();

}  // namespace nearfield::exact
