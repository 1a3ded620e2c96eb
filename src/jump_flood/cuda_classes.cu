// Runs the rounds of long steps of jump flooding in volumes in one kernel; a block owns whole classes of cells.
#include "jump_flood/cuda_classes.cuh"

namespace nearfield::methods::tiles {
namespace {

constexpr int class_threads = 256;

/// The word of a site as seen from 8 cells of its class away along the axes that x, y and z select.
constexpr std::uint32_t first_word(int x, int y, int z) {
    constexpr int far = class_array::size / 2;
    const auto squares = static_cast<std::uint32_t>(far * far * (x * x + y * y + z * z));
    return squares * class_word::whole + class_word::centre +
           static_cast<std::uint32_t>(far) * (static_cast<std::uint32_t>(x) * class_word::unit(2) +
                                              static_cast<std::uint32_t>(y) * class_word::unit(1) +
                                              static_cast<std::uint32_t>(z) * class_word::unit(0));
}

/// The coordinates of a block's classes.
struct class_place {
    std::int32_t x, y, z;
    __device__ explicit class_place(const class_plan& p) {
        const auto block = static_cast<std::int32_t>(blockIdx.x), rows = block / p.x_blocks;
        x = block % p.x_blocks * class_array::side, y = rows & (1 << p.log_unit) - 1, z = rows >> p.log_unit;
    }
};

/// Does the first round while it reads cells: eight cells exchange sites. `Whole`: every class has all its cells.
template <bool Whole>
__device__ void first_round(const class_plan& p, const class_place& at, const Key* from, std::uint32_t* to) {
    const auto thread = static_cast<std::int32_t>(threadIdx.x), side = thread & 3, u = thread >> 2 & 7, v = thread >> 5;
    const std::int32_t far = 8 << p.log_unit, x = at.x + side + (u << p.log_unit), y = at.y + (v << p.log_unit);
    const std::int64_t plane = std::int64_t{p.nx} * p.ny;
#pragma unroll 2
    for (int k = 0; k < 8; ++k) {
        const std::int32_t z = at.z + (k << p.log_unit);
        std::uint32_t empty[2][2][2];
#pragma unroll
        for (int c = 0; c < 8; ++c) {
            const std::int32_t cx = x + (c & 1) * far, cy = y + (c >> 1 & 1) * far, cz = z + (c >> 2) * far;
            const bool there = Whole || (cx < p.nx && cy < p.ny && cz < p.nz);
            const Key site = there ? from[cz * plane + std::int64_t{cy} * p.nx + cx] : none<Key>;
            empty[c >> 2][c >> 1 & 1][c & 1] = static_cast<std::uint32_t>(site >> 31);
        }
#pragma unroll
        for (int c = 0; c < 8; ++c) {
            const int cx = c & 1, cy = c >> 1 & 1, cz = c >> 2;
            std::uint32_t best = class_plan::none;
#pragma unroll
            for (int s = 0; s < 8; ++s) {
                const int sx = s & 1, sy = s >> 1 & 1, sz = s >> 2;
                best = min(best, empty[sz][sy][sx] | first_word(sx - cx, sy - cy, sz - cz));
            }
            if (!Whole && !(x + cx * far < p.nx && y + cy * far < p.ny && z + cz * far < p.nz)) best = class_plan::none;
            to[class_array::of_x(u + 8 * cx) + side + class_array::of_y(v + 8 * cy) +
               (k + 8 * cz) * class_array::plane] = best;
        }
    }
}

// Over 40 lines because its rounds share arrays in shared memory.
template <bool Whole>
__global__ void __launch_bounds__(class_threads)
    flood_classes_of_volume(const __grid_constant__ class_plan p, const Key* from, Key* to) {
    extern __shared__ std::uint32_t memory[];
    std::uint32_t *const now = memory, *const next = memory + class_array::words,
                         *const nothing = memory + 2 * class_array::words;
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    const class_place at(p);
    // Clears the words beyond each row, and one row of words.
    for (std::int32_t k = thread; k < class_array::size * class_array::size * class_array::side; k += class_threads) {
        const std::int32_t row = k / 4, word = class_array::of_y(row & 15) + (row >> 4) * class_array::plane +
                                               class_array::beyond + (k & 3);
        now[word] = next[word] = class_plan::none;
    }
    if (thread < class_array::row) nothing[thread] = class_plan::none;
    cuda::wait_for_kernel_before();
    if (blockIdx.x == 0) {
        for (std::int32_t k = thread; k < p.nx; k += class_threads) p.also.nothing[k] = none<Key>;
        for (std::int32_t k = thread; k < p.also.count; k += class_threads) p.also.counts[k] = 0;
    }
    first_round<Whole>(p, at, from, now);
    __syncthreads();
    const auto there = [&](const auto& round, int step, int m, int t, int c) {
        return Whole ||
               (at.x + round.side + (round.x + c * step << p.log_unit) < p.nx &&
                at.y + (round.y + t * step << p.log_unit) < p.ny && at.z + (round.z + m * step << p.log_unit) < p.nz);
    };
    {
        class_round<2> round(p, threadIdx.x, nothing);
        round.run(now, [&](int m, int t, int c, int word, std::uint32_t best) {
            next[word] = there(round, 4, m, t, c) ? best : class_plan::none;
        });
    }
    __syncthreads();
    {
        class_round<1> round(p, threadIdx.x, nothing);
        round.run(next, [&](int m, int t, int c, int word, std::uint32_t best) {
            now[word] = there(round, 2, m, t, c) ? best : class_plan::none;
        });
    }
    __syncthreads();
    class_round<0> round(p, threadIdx.x, nothing);
    Key* const out = to +
                     (std::int64_t{at.z + (round.z << p.log_unit)} * p.ny + at.y + (round.y << p.log_unit)) * p.nx +
                     at.x + round.side + (round.x << p.log_unit);
    const std::int64_t row = std::int64_t{p.nx} << p.log_unit, plane = row * p.ny;
    round.run(now, [&](int m, int t, int c, int, std::uint32_t best) {
        if (there(round, 1, m, t, c)) out[m * plane + t * row + (c << p.log_unit)] = static_cast<Key>(best);
    });
}

}  // namespace

std::int64_t rounds_by_classes(const grid& g, const std::vector<std::int64_t>& steps) {
    if (rounds_by_offsets(g, steps) == 0) return 0;
    const std::int64_t unit = steps[0] / (class_array::size / 2);
    if (unit < class_array::side || cuda::limits().shared_bytes < class_array::bytes) return 0;
    // Missing cells of the arrays cost time too. H200, 2026-11-22, time of all rounds: 120 by 128 by 113 takes 79
    // instead of 104 microseconds, 230 by 255 by 256 takes 510 instead of 534.
    const std::int64_t held = 16 * unit * 16 * unit * 16 * unit;
    return held <= g.cells() + g.cells() / (g.cells() <= small_volume ? 2 : 8) ? class_array::log_size : 0;
}

void run_by_classes(const device& on, const grid& g, std::int64_t first_step, const std::int32_t* from,
                    std::int32_t* to, const to_prepare& also) {
    class_plan p{};
    p.also = also;
    const std::int64_t unit = first_step / (class_array::size / 2);
    p.nx = static_cast<std::int32_t>(g.size[2]), p.ny = static_cast<std::int32_t>(g.size[1]),
    p.nz = static_cast<std::int32_t>(g.size[0]);
    p.log_unit = std::countr_zero(static_cast<std::uint64_t>(unit));
    p.x_blocks = static_cast<std::int32_t>(unit) / class_array::side;
    for (int k = 0; k < 3; ++k)
        for (int axis = 0; axis < 3; ++axis) {
            // A cell k steps away sees d + 2 k x + k^2 and x + k in place of d and x.
            const std::uint32_t step = 1u << k, whole = class_word::whole;
            const std::uint32_t middle = 2 * step * whole * class_word::half;
            p.linear[k][axis] = 2 * step * whole / class_word::unit(axis),
            p.minus_linear[k][axis] = 0u - p.linear[k][axis];
            p.after[k][axis] = step * step * whole + step * class_word::unit(axis) - middle;
            p.before[k][axis] = step * step * whole - step * class_word::unit(axis) + middle;
        }
    const std::int64_t blocks = p.x_blocks * unit * unit;
    const bool whole = g.size[0] == 16 * unit && g.size[1] == 16 * unit && g.size[2] == 16 * unit;
    cuda::launch_overlapped(on, whole ? flood_classes_of_volume<true> : flood_classes_of_volume<false>, blocks,
                            dim3(class_threads), class_array::bytes, p, from, to);
}

}  // namespace nearfield::methods::tiles
