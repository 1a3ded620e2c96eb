// The image as bits, for the tiles of the engine with options: a word for 32 neighbouring cells of a line, words of a
// line one after another. What a bit says: that the cell is a site; that it is zero; or that its class is not that of
// the cell before it along an axis. Whatever the number of classes and the type of the image, no later kernel needs
// to know more.
#pragma once

#include <type_traits>

#include "exact/cuda_options_changes.cuh"
#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int word_warps = 8;
constexpr int word_threads = word_warps * cuda::warp;
/// Distances along the last axis end here: more than any value of a tile stands for.
constexpr int farthest_bit = 255;

/// Bits along a line of the last axis, and what lies beyond its ends.
struct bit_lines {
    const std::uint32_t* bits = nullptr;
    std::int64_t words = 1;    ///< of a line
    std::int64_t length = 1;   ///< cells of a line
    bool changes = false;      ///< a bit is a change of class, not a site
    bool differences = false;  ///< of bits that say which cells are zero: changes are where neighbours differ
    std::uint32_t flip = 0;    ///< all bits: bits of `bits` that are not set count
    bool periodic = false, closed = false;
    int reach = farthest_bit;  ///< what is farther does not count
};

/// A word as the tiles read it.
struct tile_word {
    std::uint32_t bits;
    std::uint32_t beside;  ///< cells between the word and the bit before it, and the bit after it << 16
};

/// A thread a word: 32 bytes of an image whose lines are whole words.
__global__ void __launch_bounds__(word_threads)
    pack_bytes(const uint4* image, bool zero_is_one, std::int64_t words, const tile_flags flags, std::uint32_t* to) {
    flags.clear();
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
               std::int64_t words, const tile_flags flags, std::uint32_t* to) {
    flags.clear();
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

/// One line of bits. Positions beyond a periodic line's ends are those of its repetition. Lines have fewer than 2^31
/// cells.
class bit_line {
public:
    __device__ bit_line(const bit_lines& of, std::int64_t line)
        : of_(of),
          bits_(of.bits + line * of.words),
          words_(static_cast<int>(of.words)),
          length_(static_cast<int>(of.length)) {}

    /// Word w, without what lies beyond the line.
    __device__ std::uint32_t word(int w) const {
        std::uint32_t own = bits_[w] ^ of_.flip;
        if (of_.differences) {
            std::uint32_t before = w > 0 ? bits_[w - 1] >> 31 : own & 1;
            if (w == 0 && of_.periodic) before = bits_[words_ - 1] >> (length_ - 1) % mark_bits & 1;
            own ^= own << 1 | before;
        }
        if (w + 1 == words_) own &= ~0u >> (words_ * mark_bits - length_);
        return w == 0 && of_.changes && of_.closed ? own | 1 : own;
    }

    /// Word w, filled up with what lies beyond the line.
    __device__ std::uint32_t filled(int w) const {
        std::uint32_t own = word(w);
        const int rest = length_ % mark_bits;
        if (w + 1 != words_ || rest == 0) return own;
        if (of_.closed) own |= 1u << rest;
        for (int i = rest; of_.periodic && i < mark_bits; ++i) {
            const int at = (w * mark_bits + i) % length_;
            own |= (word(at / mark_bits) >> at % mark_bits & 1) << i;
        }
        return own;
    }

    /// Cells between word w and the next bit before it; those that are farther than `reach` are not looked for.
    __device__ int before(int w) const {
        const int start = w * mark_bits;
        for (int j = w - 1, end = start; j >= 0 && start - end <= of_.reach; --j, end -= mark_bits)
            if (const std::uint32_t found = word(j)) return start - end + __clz(static_cast<int>(found));
        if (of_.closed && !of_.changes) return start;
        if (!of_.periodic) return farthest_bit;
        for (int j = words_ - 1; j >= 0 && start + length_ - (j + 1) * mark_bits <= of_.reach; --j)
            if (const std::uint32_t found = word(j))
                return start + length_ - (j + 1) * mark_bits + __clz(static_cast<int>(found));
        return farthest_bit;
    }

    /// Cells between word w and the next bit after it.
    __device__ int after(int w) const {
        const int end = (w + 1) * mark_bits;
        if (end > length_ && !of_.periodic) return farthest_bit;
        const int from = end >= length_ && of_.periodic ? end % length_ : end;
        for (int j = from / mark_bits; j < words_ && j * mark_bits - from <= of_.reach; ++j) {
            std::uint32_t found = word(j);
            if (j * mark_bits < from) found &= ~0u << (from - j * mark_bits);
            if (found != 0) return j * mark_bits - from + __ffs(static_cast<int>(found)) - 1;
        }
        if (of_.closed) return length_ - from;
        for (int j = 0; of_.periodic && j < words_ && length_ - from + j * mark_bits <= of_.reach; ++j)
            if (const std::uint32_t found = word(j))
                return length_ - from + j * mark_bits + __ffs(static_cast<int>(found)) - 1;
        return farthest_bit;
    }

private:
    const bit_lines& of_;
    const std::uint32_t* bits_;
    int words_, length_;
};

/// Word w of a line, with the nearest bits beside it that count.
__device__ inline tile_word word_in(const bit_lines& of, std::int64_t line, int w) {
    const bit_line bits(of, line);
    const int before = min(bits.before(w), farthest_bit), after = min(bits.after(w), farthest_bit);
    return {bits.filled(w), static_cast<std::uint32_t>(before | after << 16)};
}

constexpr int near_words = 2;  // to either side, with all that is 64 cells away

/// The same where what is farther than 64 cells does not count.
__device__ inline tile_word near_word_in(const bit_lines& of, std::int64_t line, int w) {
    if (w <= near_words || w + near_words + 1 >= of.words) return word_in(of, line, w);
    const std::uint32_t* const from = of.bits + line * of.words + w - near_words;
    std::uint32_t word[2 * near_words + 1];
#pragma unroll
    for (int i = 0; i <= 2 * near_words; ++i) word[i] = from[i] ^ of.flip;
    if (of.differences) {
        std::uint32_t before = from[-1];
#pragma unroll
        for (int i = 0; i <= 2 * near_words; ++i) {
            const std::uint32_t own = word[i];
            word[i] ^= own << 1 | before >> 31;
            before = own;
        }
    }
    const int before = word[1] != 0   ? __clz(static_cast<int>(word[1]))
                       : word[0] != 0 ? mark_bits + __clz(static_cast<int>(word[0]))
                                      : farthest_bit;
    const int after = word[3] != 0   ? __ffs(static_cast<int>(word[3])) - 1
                      : word[4] != 0 ? mark_bits + __ffs(static_cast<int>(word[4])) - 1
                                     : farthest_bit;
    return {word[2], static_cast<std::uint32_t>(before | after << 16)};
}

}  // namespace
}  // namespace nearfield::exact
