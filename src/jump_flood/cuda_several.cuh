// A round of jump flooding of an image between two arrays in shared memory, and the words that these hold, so that one
// kernel runs several rounds. docs/methods.md says which rounds share a kernel.
#pragma once

#include <cstdint>

#include "base/cuda.cuh"
#include "jump_flood/core.hpp"

namespace nearfield::methods::several {

using Key = std::int32_t;

/// A cell's word, 32 bits:
///
///   d << 16 | x << 8 | y    d is the squared distance of the cell to its site in units;
///                           x and y are the site's offset
///                           from the cell along each axis in units, plus 128
///
/// Equal distances compare as packed sites do. A step of q units along x makes of d and x: d + q (2 x + q), x + q.
struct word {
    static constexpr std::uint32_t whole = 1 << 16, x_unit = 1 << 8, low = 255, half = 128;
    static constexpr std::uint32_t here = half * x_unit + half;  ///< word of a cell that is a site
    static constexpr std::uint32_t fields = x_unit * low + low;

    /// Farther than every site of a class of 128 cells along each axis (2 * 127^2), but so far below 2^16 that steps
    /// may be added.
    static constexpr std::uint32_t none_of_class = 49152 * whole + here;
    static constexpr std::uint32_t no_site = 40000 * whole;  ///< least word without a site, with or without steps added

    // Limits if the unit halves from round to round: sites of up to 62 units are read, 4 d and 2 x replace d and x.
    static constexpr std::uint32_t nearest_cut = 62 * 62 + 1;  ///< a farther distance is read as this one
    static constexpr std::uint32_t cut = nearest_cut * whole + here;
    /// A number below (2 sqrt(nearest_cut) - sqrt(2))^2 = 15034 is exact.
    static constexpr std::uint32_t sure = 15024 * whole;
    static constexpr std::uint32_t none = ~0u, far = ~0u - 1;  ///< far: there is a site, but it is too far to be read

    static __device__ std::uint32_t in_halves(std::uint32_t w) {
        const std::uint32_t near = min(w, cut);
        return near * 4 - ((near & fields) * 2 + here);
    }
    static __device__ std::uint32_t of(std::int32_t dx, std::int32_t dy) {
        const std::int32_t d = dx * dx + dy * dy;
        if (d >= static_cast<std::int32_t>(nearest_cut)) return far;
        return static_cast<std::uint32_t>(d) * whole + (dx + half) * x_unit + (dy + half);
    }
    static __device__ std::int32_t dx(std::uint32_t w) { return static_cast<std::int32_t>(w >> 8 & low) - 128; }
    static __device__ std::int32_t dy(std::uint32_t w) { return static_cast<std::int32_t>(w & low) - 128; }
};

/// The cells of an array whose sites a round finds: columns and rows.
struct area {
    std::int32_t x_first, x_end, y_first, y_end;
};

/// Two arrays in shared memory. The next cell of a class is `Side` words on, the next row `pitch` words on. The words
/// beside a row, and those of `empty`, hold no site.
struct arrays {
    std::uint32_t *now, *next;
    const std::uint32_t* empty;
    std::int32_t pitch;

    __device__ void swap() {
        std::uint32_t* const was = now;
        now = next, next = was;
    }
};

/// A round whose step is `Step` cells. A thread finds the sites of `Cells` by `Rows` cells a step apart. `Side`: number
/// of classes side by side. `Halved`: words have units of two steps, results units of one; else the unit is a cell and
/// rows end with the area, or, if `Kept`, the array continues around the area.
template <int Step, int Side, int Cells, int Rows, bool Halved, bool Kept = false>
class round {
    static constexpr std::uint32_t q = Halved ? 1 : Step;  ///< a step, in units
    static constexpr std::uint32_t none = Halved ? word::none : word::none_of_class;

    /// Terms of a word seen a step away: a multiple of one of its fields, and a constant.
    static constexpr std::uint32_t forth = 2 * q * word::whole, back = 0u - forth;
    static constexpr std::uint32_t rest(bool on, std::uint32_t unit) {
        const std::uint32_t square = q * q * word::whole, middle = forth * word::half;
        return on ? square + middle - q * unit : square - middle + q * unit;
    }

public:
    /// Does the round with all threads of the block. True if a cell may have a site farther than its number can hold.
    static __device__ bool run(const arrays& in, const area& of) {
        const std::int32_t wide = (of.x_end - of.x_first + Step * Cells - 1) / (Step * Cells),
                           high = (of.y_end - of.y_first + Step * Rows - 1) / (Step * Rows),
                           tiles = Side * Step * wide * Step * high;
        bool far = false;
        for (auto t = static_cast<std::int32_t>(threadIdx.x); t < tiles; t += static_cast<std::int32_t>(blockDim.x)) {
            const std::int32_t rest = t / (Side * Step), line = rest / wide;
            const std::int32_t x = of.x_first + t / Side % Step + Step * Cells * (rest - line * wide),
                               y = of.y_first + line % Step + Step * Rows * (line / Step);
            if (x < of.x_end && y < of.y_end) far |= round(in, of, x, y, t % Side).walk();
        }
        return far;
    }

private:
    __device__ round(const arrays& in, const area& of, std::int32_t x, std::int32_t y, std::int32_t side)
        : in_(in),
          of_(of),
          y_(y),
          cells_(min(Cells, (of.x_end - 1 - x) / Step + 1)),
          rows_(min(Rows, (of.y_end - 1 - y) / Step + 1)),
          column_(x * Side + side) {}

    /// Walks over the rows of the thread's cells; reads the next row while it offers one.
    __device__ bool walk() {
        std::uint32_t* const to = in_.next + y_ * in_.pitch + column_;
        std::uint32_t now[Cells + 2], next[Cells + 2];
        read(next, 0);
#pragma unroll
        for (int row = 0; row < Rows + 2; ++row) {
#pragma unroll
            for (int c = 0; c < Cells + 2; ++c) now[c] = next[c];
            if (row <= Rows) read(next, row + 1);
            offer(now, row);
            if (row > 1 && row - 2 < rows_) write(to + (row - 2) * Step * in_.pitch, best_[(row + 2) % 3]);
        }
        return Halved && worst_ >= word::sure && nothing_ != word::none;
    }
    __device__ void read(std::uint32_t (&to)[Cells + 2], int row) const {
        const std::int32_t y = y_ + (row - 1) * Step;
        const std::uint32_t* line = in_.now + y * in_.pitch;
        if (!Halved && !Kept)
            line = static_cast<std::uint32_t>(y) < static_cast<std::uint32_t>(of_.y_end) ? line : in_.empty;
        else if (row > 1) line = row - 1 <= rows_ ? line : in_.empty;
#pragma unroll
        for (int c = 0; c < Cells + 2; ++c) {
            // A row of a class has only two cells.
            const bool outside = !Halved && !Kept && Cells == 2 && c % 3 == 0;
            to[c] = outside ? none : line[column_ + (c - 1) * Step * Side];
        }
    }

    /// Offers a row's words to the cells of the row after it, of the same row and of the row before it.
    __device__ void offer(std::uint32_t (&heard)[Cells + 2], int row) {
        std::uint32_t right[Cells + 2], left[Cells + 2], down[Cells + 2], up[Cells + 2];
#pragma unroll
        for (int c = 0; c < Cells + 2; ++c) {
            if constexpr (Halved) nothing_ &= heard[c], heard[c] = word::in_halves(heard[c]);
            if constexpr (Kept) heard[c] = min(heard[c], word::none_of_class);
            const std::uint32_t w = heard[c], x = w & word::low * word::x_unit, y = w & word::low;
            right[c] = x * (0u - forth / word::x_unit) + rest(true, word::x_unit) + w;
            left[c] = x * (forth / word::x_unit) + rest(false, word::x_unit) + w;
            down[c] = y * back + rest(true, 1), up[c] = y * forth + rest(false, 1);
        }
#pragma unroll
        for (int c = 0; c < Cells; ++c) {
            const std::uint32_t a = right[c], b = heard[c + 1], d = left[c + 2];
            if (row < Rows) {
                const std::uint32_t first = __viaddmin_u32(b, down[c + 1], a + down[c]);
                best_[(row + 1) % 3][c] = __viaddmin_u32(d, down[c + 2], first);
            }
            std::uint32_t& same = best_[row % 3][c];
            if (row > 0 && row <= Rows) same = min(__vimin3_u32(same, a, b), d);
            std::uint32_t& above = best_[(row + 2) % 3][c];
            if (row > 1)
                above = __viaddmin_u32(d, up[c + 2], __viaddmin_u32(b, up[c + 1], __viaddmin_u32(a, up[c], above)));
        }
    }

    __device__ void write(std::uint32_t* to, const std::uint32_t (&best)[Cells]) {
#pragma unroll
        for (int c = 0; c < Cells; ++c) {
            if (c >= cells_) break;
            if (Halved) worst_ = max(worst_, best[c]);
            to[c * Step * Side] = best[c];
        }
    }

    const arrays& in_;
    const area& of_;
    const std::int32_t y_, cells_, rows_, column_;
    std::uint32_t best_[3][Cells];
    std::uint32_t nothing_ = word::none;  ///< minimum of all words: `none` while none of them has a site
    std::uint32_t worst_ = 0;             ///< largest number of any cell
};

}  // namespace nearfield::methods::several
