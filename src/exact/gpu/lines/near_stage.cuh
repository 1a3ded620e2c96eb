// Staging of near windows: a block converts a tile's keys to offsets from the lane's cell, to values, or, along the
// first of three axes, to words (near.cuh). Values of labels get a bit that says where runs begin.
#pragma once

#include <type_traits>

#include "exact/gpu/lines/near_blocks.cuh"

namespace nearfield::exact::gpu {
namespace {

/// Returns the offset that a field of a word stores as 0, for a cell `at` of an axis. Sites beyond a joined end have
/// the coordinates of the other end, so their numbers begin behind those of all others.
__device__ inline int least_offset(int bits, int at, int size, bool joined) {
    const int half = 1 << (bits - 1);
    if (!joined || (half <= at && at <= size - half)) return -half;
    return at < half ? -at : size - at;
}
/// True if staged values have a bit above them that says that a run begins (see values.cuh).
template <bool Sites, class C>
constexpr bool has_begins = !Sites && C::begins;
constexpr std::uint32_t begin_bit = 1u << 31;

/// Conversion of keys for staging: offsets from the lane's cell; values; or, along the first of three axes, words.
template <keys Stored, bool Sites, class C>
class near_stage {
public:
    using staged = std::conditional_t<Sites && is_position(Stored), std::int16_t, std::uint32_t>;

    __device__ near_stage(const C& c, const near_plan& plan) : c_(c), g_(c.g), plan_(plan) {}

    /// Stages the tile's rows [base, end).
    __device__ void fill(int base, int end, staged* to) const {
        with_threads<near_threads<Sites>>([&](auto threads) { fill_by(threads, base, end, to); });
        // Beyond both ends lie rows whose words reach the cap.
        const auto beyond = static_cast<staged>(Sites && is_position(Stored) ? plan_.cut[0] : plan_.cap);
        for (int i = static_cast<int>(threadIdx.x); i < rows_beyond * cuda::warp; i += static_cast<int>(blockDim.x))
            to[-1 - i] = to[(end - base) * cuda::warp + i] = beyond;
    }

private:
    /// Stands in for bits that are not staged.
    struct no_begins {
        __device__ no_begins(const line_pass<typename C::V>&, std::int64_t) {}
        __device__ std::uint32_t operator()(int) const { return 0; }
    };
    using begins_of = std::conditional_t<has_begins<Sites, C>, column_begins, no_begins>;

    template <class Threads>
    __device__ void fill_by(Threads threads, int base, int end, staged* to) const {
        using in = typename C::in;
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        constexpr int chunk = 16 / sizeof(in), chunks = cuda::warp / chunk;
        const auto* const from = static_cast<const in*>(g_.from);
        if (g_.inner % cuda::warp == 0 && g_.done_size[0] % cuda::warp == 0) {
            const int column = static_cast<int>(threadIdx.x) % chunks * chunk, x = c_.own(0) - lane + column;
            const int row = base + static_cast<int>(threadIdx.x) / chunks, rows = threads / chunks;
            const in* const first = from + c_.cell(0) - lane + column;
            const in* next = first + row * g_.inner;
            const begins_of begins(g_, c_.cell(0) - lane + column);
#pragma unroll 4
            for (int i = row; i < end; i += rows, next += rows * g_.inner) {
                const in* const here = c_.joined() ? first + c_.row_in(i) * g_.inner : next;
                put(__ldg(reinterpret_cast<const uint4*>(here)), x, to + (i - base) * cuda::warp + column,
                    begins(c_.row_in(i)));
            }
        } else {
            const begins_of begins(g_, c_.cell(0));
            for (int i = static_cast<int>(threadIdx.x) / cuda::warp; i < end - base; i += threads / cuda::warp) {
                const int row = c_.row_in(base + i);
                to[i * cuda::warp + lane] =
                    static_cast<staged>(one(from[c_.cell(row)], c_.own(0)) | begin(begins(row), 0));
            }
        }
    }
    /// Returns the bit above a value: bit k of `begins`.
    [[nodiscard]] static __device__ std::uint32_t begin(std::uint32_t begins, int k) {
        return has_begins<Sites, C> ? begins << (31 - k) & begin_bit : 0;
    }

    /// Converts the keys of 16 bytes, the first of which is that of column x; `begins`: a bit for each column.
    __device__ void put(const uint4& u, int x, staged* to, std::uint32_t begins) const {
        const std::uint32_t words[4] = {u.x, u.y, u.z, u.w};
        const auto position = [&](int k) { return one(static_cast<std::int32_t>(words[k]), x + k); };
        if constexpr (sizeof(staged) == 2 && sizeof(typename C::in) == 4) {
            *reinterpret_cast<uint2*>(to) = {halves(position(1), position(0)), halves(position(3), position(2))};
        } else if constexpr (sizeof(staged) == 2) {
            std::uint32_t two[4];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                two[k] = C::bent ? halves(one(static_cast<std::int16_t>(words[k] >> 16), x + 2 * k + 1),
                                          one(static_cast<std::int16_t>(words[k]), x + 2 * k))
                                 : cut(words[k], halves(-x - 2 * k - 1, -x - 2 * k));
            *reinterpret_cast<uint4*>(to) = {two[0], two[1], two[2], two[3]};
        } else if constexpr (sizeof(typename C::in) == 2) {
#pragma unroll
            for (int k = 0; k < 4; k += 2) {
                const auto half = [&](std::uint32_t key, int at) {
                    return one(static_cast<std::int16_t>(key), x + at) | begin(begins, at);
                };
                reinterpret_cast<uint4*>(to)[k / 2] = {half(words[k], 2 * k), half(words[k] >> 16, 2 * k + 1),
                                                       half(words[k + 1], 2 * k + 2),
                                                       half(words[k + 1] >> 16, 2 * k + 3)};
            }
        } else {
            const auto whole = [&](int k) { return position(k) | begin(begins, k); };
            *reinterpret_cast<uint4*>(to) = {whole(0), whole(1), whole(2), whole(3)};
        }
    }
    /// Converts the key of a cell of column x.
    [[nodiscard]] __device__ staged one(std::int32_t key, int x) const {
        constexpr std::uint32_t none = 1 << 30;
        if constexpr (Stored == keys::value) {
            return min(static_cast<std::uint32_t>(key), none);
        } else if constexpr (is_position(Stored)) {
            const int dx = offset(key, key, x, 0);
            if constexpr (Sites) return static_cast<std::int16_t>(dx);
            const int r = g_.m.half_cell ? max(2 * (dx < 0 ? -dx : dx) - 1, 0) : dx;
            return static_cast<std::uint32_t>(plan_.weight[0] * r * r);
        } else {
            const int y = c_.own(1);
            int dx, dy;
            if constexpr (C::bent) {
                dx = offset(key >> 16, key, x, 0), dy = offset(key & 0xffff, key, y, 1);
            } else {
                const auto both = static_cast<int>(cut(static_cast<std::uint32_t>(key), halves(-x, -y)));
                dx = both >> 16, dy = static_cast<std::int16_t>(both);
            }
            const auto value = min(static_cast<std::uint32_t>(dx * dx * plan_.weight[0] + dy * dy * plan_.weight[1]),
                                   plan_.cap >> plan_.shift);
            if constexpr (C::bent) return value << plan_.shift | field(dx, x, 0) | field(dy, y, 1);
            return (value << plan_.shift) +
                   static_cast<std::uint32_t>((dx << plan_.place[0]) + (dy << plan_.place[1]) + plan_.here);
        }
    }
    /// Returns an offset along finished axis i in its place of a word.
    [[nodiscard]] __device__ std::uint32_t field(int d, int own, int i) const {
        const int least = least_offset(plan_.bits[i], own, g_.done_size[i], joined(i));
        return static_cast<std::uint32_t>(((d - least) & ((1 << plan_.bits[i]) - 1)) << plan_.place[i]);
    }
    /// Returns the clamped offset of a site's coordinate along finished axis i from a cell's, the shorter way round.
    [[nodiscard]] __device__ int offset(int at, std::int32_t key, int own, int i) const {
        int d = at - own;
        if (C::bent && joined(i)) {
            const int n = g_.done_size[i];
            d = 2 * d > n ? d - n : 2 * d < -n ? d + n : d;
        }
        const int most = plan_.cut[i];
        return key < 0 ? most : max(min(d + most, 2 * most), 0) - most;
    }
    /// Clamps the offsets in both halves; `minus` is minus the cell. (It avoids __vneg2, which nvcc 13.0 turns into a
    /// complement if only one half is used.)
    [[nodiscard]] __device__ std::uint32_t cut(std::uint32_t key, std::uint32_t minus) const {
        return __vmaxs2(__viaddmin_s16x2(key, minus, plan_.cuts), plan_.minus_cuts);
    }
    [[nodiscard]] __device__ bool joined(int i) const { return g_.m.periodic[g_.m.rank - 1 - i]; }

    const C& c_;
    const line_pass<typename C::V>& g_;
    const near_plan& plan_;
};

}  // namespace
}  // namespace nearfield::exact::gpu
