// 32 bytes as planes, a word for each bit, which are compared 32 at a time.
#pragma once

#include "label/core.hpp"
#include "label/gpu/tiles/bundle.cuh"

namespace nearfield::labelling {

/// A word for each bit of 32 bytes.
struct byte_planes {
    static constexpr int count = 8;
    word of[count];
};

/// Transposes four words as a 4x4 matrix of bytes: byte i of word k becomes byte k of word i.
__device__ inline void exchange_bytes(word* w) {
    const word a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[2], w[3], 0x5140),
               c = __byte_perm(w[0], w[1], 0x7362), d = __byte_perm(w[2], w[3], 0x7362);
    w[0] = __byte_perm(a, b, 0x5410), w[1] = __byte_perm(a, b, 0x7632);
    w[2] = __byte_perm(c, d, 0x5410), w[3] = __byte_perm(c, d, 0x7632);
}

/// Transposes 8x8 squares of bits first, by exchanging pairs of bits, of pairs and of fours (Warren, "Hacker's
/// Delight", 7-3); then transposes bytes, so that each plane has one byte of every square.
__device__ inline byte_planes take_apart(const uint4& first, const uint4& second) {
    const word bytes[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    byte_planes planes;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        word half[2] = {bytes[2 * k], bytes[2 * k + 1]};
#pragma unroll
        for (word& h : half) {
            word t = (h ^ h >> 7) & 0x00aa00aaU;
            h ^= t ^ t << 7;
            t = (h ^ h >> 14) & 0x0000ccccU;
            h ^= t ^ t << 14;
        }
        const word t = (half[0] ^ half[1] << 4) & 0xf0f0f0f0U;
        planes.of[k] = half[0] ^ t, planes.of[4 + k] = half[1] ^ t >> 4;
    }
    exchange_bytes(planes.of), exchange_bytes(planes.of + 4);
    return planes;
}

/// Finds the bytes that differ, bit after bit from the lowest on.
struct unequal_words {
    word any = 0;
    __device__ void step(word a, word b, word, word) { any |= a ^ b; }
    __device__ void finish(word) {}
    [[nodiscard]] __device__ word differ() const { return any; }
    static constexpr bool transitive = true;
    [[nodiscard]] __device__ static bool alike(std::uint32_t a, std::uint32_t b, std::uint32_t) { return a == b; }
};
/// |a - b| > t: a - b + t lies beyond 0 to 2 t. `t` and `twice` are the same bit of t and of 2 t, in all places.
struct distant_words {
    word borrow = 0, carry = 0, above = 0;
    __device__ void step(word a, word b, word t, word twice) {
        const word d = a ^ b ^ borrow;
        borrow = (~a & (b | borrow)) | (b & borrow);
        const word e = d ^ t ^ carry;
        carry = (d & t) | (carry & (d ^ t));
        above = (e & ~twice) | (above & ~(e ^ twice));
    }
    /// Processes two more bits, for the carries; `twice` is the first one of 2 t.
    __device__ void finish(word twice) { step(0, 0, 0, twice), step(0, 0, 0, 0); }
    [[nodiscard]] __device__ word differ() const { return above; }
    static constexpr bool transitive = false;
    [[nodiscard]] __device__ static bool alike(std::uint32_t a, std::uint32_t b, std::uint32_t t) {
        return a - b + t <= 2 * t;
    }
};

/// Bytes in C order that can be read 16 at a time; `flip` maps them to natural numbers.
struct byte_source {
    const std::uint8_t* data;
    bool has_background;
    std::uint8_t background, flip;
    std::uint32_t tolerance;

    [[nodiscard]] __device__ std::uint32_t byte(std::int64_t at) const { return data[at] ^ flip; }
    [[nodiscard]] __device__ word foreground(const byte_planes& p) const {
        word differs = 0;
#pragma unroll
        for (int i = 0; i < byte_planes::count; ++i) differs |= p.of[i] ^ (word{0} - (background >> i & 1U));
        return has_background ? differs : ~word{0};
    }
    [[nodiscard]] __device__ bool foreground(std::uint32_t byte) const { return !has_background || byte != background; }
};

}  // namespace nearfield::labelling
