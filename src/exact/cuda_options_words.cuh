// The image as bits, for the tiles of the engine with options: a word for 32 neighbouring cells of a line, words of a line
// one after another. What a bit says: that the cell is a site; that it is zero; or that its class is not that of the
// cell before it along an axis. Whatever the number of classes and the type of the image, no later kernel needs to know
// more.
#pragma once

#include "exact/cuda_options_marks.hpp"
#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int word_warps = 8;
constexpr int word_threads = word_warps * cuda::warp;
// Axes before the last one along which labels may change; problems with more go without tiles.
constexpr int most_other_axes = 3;
/// Distances along the last axis end here: more than any value of a tile stands for.
constexpr int farthest_bit = 255;

/// Bits along a line of the last axis, and what lies beyond its ends.
struct bit_lines {
    const std::uint32_t* bits = nullptr;
    std::int64_t words = 1;    ///< of a line
    std::int64_t length = 1;   ///< cells of a line
    bool changes = false;      ///< a bit is a change of class, not a site
    bool differences = false;  ///< of bits that say which cells are zero: changes are where neighbours differ
    bool periodic = false, closed = false;
};

/// A word as the tiles read it.
struct tile_word {
    std::uint32_t bits;
    std::uint32_t beside;  ///< cells between the word and the bit before it, and the bit after it << 16
};

/// A thread a word: 32 bytes of an image whose lines are whole words.
__global__ void __launch_bounds__(word_threads)
    pack_bytes(const uint4* image, bool zero_is_one, std::int64_t words, std::uint32_t* to) {
    const std::int64_t word = static_cast<std::int64_t>(blockIdx.x) * word_threads + threadIdx.x;
    if (word >= words) return;
    const uint4 low = image[2 * word], high = image[2 * word + 1];
    const std::uint32_t bits = nonzero_bytes(low) | nonzero_bytes(high) << 16;
    to[word] = zero_is_one ? ~bits : bits;
}

/// Which cells a warp packs: 32 words of a line at most.
struct word_stretch {
    std::int64_t line, word;
    int words;

    __device__ word_stretch(std::int64_t lines, std::int64_t words_of_line) {
        const std::int64_t stretches = (words_of_line + cuda::warp - 1) / cuda::warp;
        const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * word_warps + threadIdx.y;
        line = quotient(nth, stretches);
        word = (nth - line * stretches) * cuda::warp;
        words = line < lines ? static_cast<int>(min(words_of_line - word, static_cast<std::int64_t>(cuda::warp))) : 0;
    }
};

/// A lane a cell of each word in turn. `keep` takes the sign off floats.
template <class Bits>
__global__ void __launch_bounds__(word_threads)
    pack_cells(const Bits* image, Bits keep, bool zero_is_one, std::int64_t lines, std::int64_t length,
               std::int64_t words, std::uint32_t* to) {
    const word_stretch mine(lines, words);
    const int lane = threadIdx.x;
    std::uint32_t kept = 0;
#pragma unroll 8
    for (int w = 0; w < mine.words; ++w) {
        const std::int64_t x = (mine.word + w) * cuda::warp + lane;
        const bool one = x < length && ((image[mine.line * length + x] & keep) == 0) == zero_is_one;
        const std::uint32_t bits = __ballot_sync(cuda::every_lane, one);
        if (lane == w) kept = bits;
    }
    if (lane < mine.words) to[mine.line * words + mine.word + lane] = kept;
}

/// Where changes of class go.
struct packed_changes {
    std::uint32_t* along_last;
    std::uint32_t* zeros;  ///< null is not wanted
    std::uint32_t* along[most_other_axes];
    std::int64_t rows[most_other_axes];           ///< of those axes
    std::int64_t lines_between[most_other_axes];  ///< lines between two rows
    bool periodic[most_other_axes];
    bool periodic_last;
    std::int64_t lines, length, words;
};

/// The same of labels. Where there is no cell before, the cell itself stands for it.
template <class Bits, int Others>
__global__ void __launch_bounds__(word_threads)
    pack_changes(const Bits* image, const __grid_constant__ packed_changes to) {
    const word_stretch mine(to.lines, to.words);
    const int lane = threadIdx.x;
    const Bits* const line = image + mine.line * to.length;
    const Bits* before[Others];
#pragma unroll
    for (int i = 0; i < Others; ++i) {
        const std::int64_t above = quotient(mine.line, to.lines_between[i]);
        const bool first = above == quotient(above, to.rows[i]) * to.rows[i];
        const std::int64_t rows = !first ? -1 : to.periodic[i] ? to.rows[i] - 1 : 0;
        before[i] = line + rows * to.lines_between[i] * to.length;
    }
    std::uint32_t last = 0, zeros = 0, along[Others] = {};
#pragma unroll 4
    for (int w = 0; w < mine.words; ++w) {
        const std::int64_t x = (mine.word + w) * cuda::warp + lane, at = min(x, to.length - 1);
        const std::int64_t left = at > 0 ? at - 1 : to.periodic_last ? to.length - 1 : 0;
        const bool within = x < to.length;
        const Bits own = line[at];
        std::uint32_t bits = __ballot_sync(cuda::every_lane, within && own != line[left]);
        if (lane == w) last = bits;
        bits = __ballot_sync(cuda::every_lane, within && own == 0);
        if (lane == w) zeros = bits;
#pragma unroll
        for (int i = 0; i < Others; ++i) {
            bits = __ballot_sync(cuda::every_lane, within && own != before[i][at]);
            if (lane == w) along[i] = bits;
        }
    }
    if (lane >= mine.words) return;
    const std::int64_t word = mine.line * to.words + mine.word + lane;
    to.along_last[word] = last;
    if (to.zeros != nullptr) to.zeros[word] = zeros;
#pragma unroll
    for (int i = 0; i < Others; ++i) to.along[i][word] = along[i];
}

/// One line of bits. Positions beyond a periodic line's ends are those of its repetition.
class bit_line {
public:
    __device__ bit_line(const bit_lines& of, std::int64_t line) : of_(of), bits_(of.bits + line * of.words) {}

    /// Word w, without what lies beyond the line.
    __device__ std::uint32_t word(std::int64_t w) const {
        std::uint32_t own = bits_[w];
        if (of_.differences) {
            const std::int64_t end = of_.length - 1;
            const std::uint32_t before = w > 0          ? bits_[w - 1] >> 31
                                         : of_.periodic ? bits_[end / mark_bits] >> end % mark_bits & 1
                                                        : own & 1;
            own ^= own << 1 | before;
        }
        const auto rest = static_cast<int>(of_.length % mark_bits);
        if (rest != 0 && w + 1 == of_.words) own &= (1u << rest) - 1;
        return w == 0 && of_.changes && of_.closed ? own | 1 : own;
    }

    /// Word w, filled up with what lies beyond the line.
    __device__ std::uint32_t filled(std::int64_t w) const {
        std::uint32_t own = word(w);
        const auto rest = static_cast<int>(of_.length % mark_bits);
        if (rest == 0 || w + 1 != of_.words) return own;
        if (of_.closed) own |= 1u << rest;
        for (int i = rest; of_.periodic && i < mark_bits; ++i) {
            const std::int64_t at = (w * mark_bits + i) % of_.length;
            own |= (word(at / mark_bits) >> at % mark_bits & 1) << i;
        }
        return own;
    }

    /// Cells between word w and the next bit before it.
    __device__ std::int64_t before(std::int64_t w) const {
        const std::int64_t start = w * mark_bits;
        for (std::int64_t j = w - 1; j >= 0 && start - (j + 1) * mark_bits <= farthest_bit; --j)
            if (const std::uint32_t found = word(j)) return start - 1 - last_of(found, j);
        if (of_.closed && !of_.changes) return start;
        for (std::int64_t j = of_.words - 1; of_.periodic && j >= 0; --j) {
            if (const std::uint32_t found = word(j)) return start + of_.length - 1 - last_of(found, j);
            if (start + of_.length - (j + 1) * mark_bits > farthest_bit) break;
        }
        return farthest_bit;
    }

    /// Cells between word w and the next bit after it.
    __device__ std::int64_t after(std::int64_t w) const {
        const std::int64_t end = (w + 1) * mark_bits;
        if (end > of_.length && !of_.periodic) return farthest_bit;
        const std::int64_t from = of_.periodic ? end % of_.length : end;
        for (std::int64_t j = from / mark_bits; j < of_.words && j * mark_bits - from <= farthest_bit; ++j) {
            std::uint32_t found = word(j);
            if (j * mark_bits < from) found &= ~0u << (from - j * mark_bits);
            if (found != 0) return first_of(found, j) - from;
        }
        if (of_.closed) return of_.length - from;
        for (std::int64_t j = 0; of_.periodic && j < of_.words; ++j) {
            if (const std::uint32_t found = word(j)) return of_.length - from + first_of(found, j);
            if (of_.length - from + (j + 1) * mark_bits > farthest_bit) break;
        }
        return farthest_bit;
    }

private:
    static __device__ std::int64_t last_of(std::uint32_t found, std::int64_t w) {
        return w * mark_bits + 31 - __clz(static_cast<int>(found));
    }
    static __device__ std::int64_t first_of(std::uint32_t found, std::int64_t w) {
        return w * mark_bits + __ffs(static_cast<int>(found)) - 1;
    }

    const bit_lines& of_;
    const std::uint32_t* bits_;
};

/// A thread a word. Words are neighbours in memory, and so are the few that each looks at.
__global__ void __launch_bounds__(word_threads)
    look_beside(const __grid_constant__ bit_lines from, std::int64_t words, tile_word* to) {
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * word_threads + threadIdx.x;
    if (nth >= words) return;
    const std::int64_t line = quotient(nth, from.words), w = nth - line * from.words;
    const bit_line bits(from, line);
    const auto near = [](std::int64_t cells) {
        return static_cast<std::uint32_t>(min(cells, static_cast<std::int64_t>(farthest_bit)));
    };
    to[nth] = {bits.filled(w), near(bits.before(w)) | near(bits.after(w)) << 16};
}

}  // namespace
}  // namespace nearfield::exact
