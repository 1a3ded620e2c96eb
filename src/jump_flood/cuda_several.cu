// Runs several rounds of jump flooding in one kernel, for images so small that separate kernels would mostly wait.
// While steps are s or more, a cell receives sites only from cells whose coordinates equal its own modulo s (its
// class). So each block first takes whole classes, then a tile of the image with the halo that the shorter steps reach.
#include <algorithm>
#include <type_traits>

#include "jump_flood/cuda_several_far.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods::several {
namespace {

constexpr int log_unit = 4, unit = 1 << log_unit;  ///< modulus of the classes; tiles serve smaller steps
constexpr int side =
    2;  ///< classes of a block, adjacent along the last axis: makes 128 blocks, which read 8 bytes at once
constexpr int class_threads = 1024, class_warps = class_threads / cuda::warp;
/// Cells along the last axis and rows of a thread's tile within a class, unless only two cells lie a step apart.
constexpr int cells = 4, rows = 4;
constexpr int most_listed = 8;  ///< limit of the sites that a block lists
constexpr std::size_t most_shared =
    227 * 1024 - 256;                              ///< shared bytes of a block beside that list, if the device has them
constexpr std::int64_t most_pixels = 1536 * 1536;  ///< squares end at 1408^2, limited by shared memory
constexpr std::int64_t most_cells = 128;           ///< of a class along an axis, limited by a word's fields

/// Classes in shared memory: `gap` words without a site precede the first row and follow each row.
struct class_plan {
    image of;
    std::int32_t nx, ny;  ///< sides of a class
    std::int32_t rounds, gap, pitch;

    [[nodiscard]] NF_HD std::int32_t words() const { return pitch * ny + gap; }  ///< words of an array
    [[nodiscard]] std::size_t bytes() const { return 4 * static_cast<std::size_t>(2 * words() + gap + pitch); }
};

constexpr bool by_twos(std::int32_t cells_of_class, int step) { return cells_of_class <= 2 * step; }

class_plan classes_of(const grid& g, int rounds) {
    class_plan p{};
    p.of = {static_cast<std::int32_t>(g.size[2]), static_cast<std::int32_t>(g.size[1]), g.keys.shift[2],
            g.keys.mask[1]};
    p.nx = (p.of.nx + unit - 1) / unit, p.ny = (p.of.ny + unit - 1) / unit, p.rounds = rounds;
    // The number of cells that a thread's tile reads beyond its row.
    std::int32_t beyond = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::int32_t step = 1 << round, tile = (by_twos(p.nx, step) ? 2 : cells) * step,
                           more = by_twos(p.nx, step) ? 0 : step;
        beyond = std::max({beyond, more, (p.nx + tile - 1) / tile * tile + more - p.nx});
    }
    p.gap = beyond * side;
    // With `side` classes, and rows 8 words apart in the banks, a warp's words lie in different banks.
    constexpr std::int32_t banks = 32;
    p.pitch = ((p.nx + beyond) * side + banks - 9) / banks * banks + 8;
    return p;
}

/// Does one round of a block's classes.
template <int Step>
__device__ void class_round(const class_plan& p, const arrays& in, const area& of) {
    if (by_twos(p.nx, Step)) round<Step, side, 2, 2, false>::run(in, of);
    else round<Step, side, cells, rows, false>::run(in, of);
}

/// List of the sites of a block's classes, if they are few: a class's number above its cell's two coordinates.
struct site_list {
    int count, meeting;
    std::uint32_t site[most_listed];

    __device__ void add(std::int32_t which, std::int32_t u, std::int32_t v) {
        if (*static_cast<volatile int*>(&count) > most_listed) return;
        const int k = atomicAdd(&count, 1);
        if (k < most_listed) site[k] = static_cast<std::uint32_t>(which << 16 | u << 8 | v);
    }
};

/// Skips the rounds in which no two sites can meet, and returns how many rounds remain. While steps are m or more,
/// cells receive sites only from cells with equal coordinates modulo m. As long as no such set has two sites, all its
/// cells get its one site, which is written to them at once.
__device__ int rounds_from_the_first_meeting(const class_plan& p, const arrays& in, site_list& sites) {
    const auto thread = static_cast<std::int32_t>(threadIdx.x), count = sites.count;
    if (count > most_listed) return p.rounds;
    for (std::int32_t pair = thread; pair < count * count; pair += class_threads) {
        const std::uint32_t a = sites.site[pair / count], b = sites.site[pair % count], differ = a ^ b;
        if (differ == 0 || differ >> 16 != 0) continue;
        atomicMax(&sites.meeting, __ffs(static_cast<int>((differ | differ >> 8) & 255)));
    }
    __syncthreads();
    const int rounds = sites.meeting;
    if (rounds >= p.rounds) return p.rounds;
    const std::int32_t apart = 1 << rounds;
    for (std::int32_t k = 0; k < count; ++k) {
        const auto site = static_cast<std::int32_t>(sites.site[k]);
        const std::int32_t which = site >> 16, u = site >> 8 & 255, v = site & 255, u0 = u % apart, v0 = v % apart,
                           wide = (p.nx - 1 - u0) / apart + 1, high = (p.ny - 1 - v0) / apart + 1;
        for (std::int32_t cell = thread; cell < wide * high; cell += class_threads) {
            const std::int32_t du = u - u0 - cell % wide * apart, dv = v - v0 - cell / wide * apart;
            in.now[(v - dv) * p.pitch + (u - du) * side + which] = static_cast<std::uint32_t>(
                (du * du + dv * dv) * static_cast<std::int32_t>(word::whole) +
                du * static_cast<std::int32_t>(word::x_unit) + dv + static_cast<std::int32_t>(word::here));
        }
    }
    __syncthreads();
    return rounds;
}

/// Runs all rounds whose steps are multiples of `unit`. A block owns classes of one row modulo `unit`. It reads and
/// writes `side` cells at a time, and neighbouring blocks share their cache lines.
/// Over 40 lines because its rounds share arrays in shared memory.
__global__ void __launch_bounds__(class_threads, 1)
    flood_classes(const __grid_constant__ class_plan p, const Key* from, Key* to) {
    extern __shared__ std::uint32_t memory[];
    const std::int32_t block = static_cast<std::int32_t>(blockIdx.x), x0 = block % (unit / side) * side,
                       y0 = block / (unit / side), thread = static_cast<std::int32_t>(threadIdx.x);
    if (x0 >= p.of.nx || y0 >= p.of.ny) return;
    __shared__ site_list sites;
    if (thread == 0) sites.count = sites.meeting = 0;
    arrays in{memory + p.gap, memory + p.gap + p.words(), memory + p.gap + 2 * p.words(), p.pitch};
    for (std::int32_t k = thread; k < 2 * p.words() + p.gap + p.pitch; k += class_threads)
        memory[k] = word::none_of_class;
    __syncthreads();
    const std::int32_t high = (p.of.ny - 1 - y0) / unit + 1;
    const auto each = [&](const auto& body) {
        for (std::int32_t v = thread / cuda::warp; v < high; v += class_warps)
#pragma unroll 4
            for (std::int32_t k = thread % cuda::warp; k < p.nx * side; k += cuda::warp) {
                const std::int32_t x = x0 + k % side + k / side * unit, y = y0 + v * unit;
                if (x < p.of.nx) body(x, y, v * p.pitch + k);
            }
    };
    each([&](std::int32_t x, std::int32_t y, std::int32_t k) {
        if (from[static_cast<std::int64_t>(y) * p.of.nx + x] < 0) return;
        in.now[k] = word::here;
        sites.add(x % unit - x0, x / unit, y / unit);
    });
    __syncthreads();
    const area all{0, (p.of.nx - 1 - x0 - thread % side) / unit + 1, 0, high};
    for (int k = rounds_from_the_first_meeting(p, in, sites) - 1; k >= 0; --k) {
        switch (k) {
            case 6: class_round<64>(p, in, all); break;
            case 5: class_round<32>(p, in, all); break;
            case 4: class_round<16>(p, in, all); break;
            case 3: class_round<8>(p, in, all); break;
            case 2: class_round<4>(p, in, all); break;
            case 1: class_round<2>(p, in, all); break;
            default: class_round<1>(p, in, all); break;
        }
        in.swap();
        __syncthreads();
    }
    each([&](std::int32_t x, std::int32_t y, std::int32_t k) {
        const std::uint32_t w = in.now[k];
        const Key site = p.of.site(x + word::dx(w) * unit, y + word::dy(w) * unit);
        to[static_cast<std::int64_t>(y) * p.of.nx + x] = w >= word::none_of_class ? none<Key> : site;
    });
}

/// Sides of an image's tiles, and for each of the four steps the cells along the last axis and the rows of a thread.
/// `After` more rounds, of steps 2 and 1 or of step 1, follow. H200, 2026-11-22, all rounds: 512^2 takes 24
/// microseconds, 1024^2 54, 1280^2 86.
template <int Wide, int High, int C8, int R8, int C4, int R4, int C2, int R2, int C1, int R1, int After>
struct tiling {
    static constexpr int after = After, more = (1 << After) - 1;  ///< cells that the later rounds reach
    static constexpr int halo = unit - 1 + more;                  ///< cells that all rounds reach
    static constexpr int wide = Wide, high = High, threads = 512, warps = threads / cuda::warp, rows = High + 2 * halo;
    static constexpr int cells_of(int step) { return step == 8 ? C8 : step == 4 ? C4 : step == 2 ? C2 : C1; }
    static constexpr int rows_of(int step) { return step == 8 ? R8 : step == 4 ? R4 : step == 2 ? R2 : R1; }
    /// Number of words that a round reads along a row, if the last thread's tile ends beyond the cells it finds. Beside
    /// the image's first column the round begins later.
    static constexpr int reads(int step, int tile) {
        const auto whole = [tile](int cells) { return (cells + tile - 1) / tile * tile; };
        const int beyond = step - 1 + more;
        return halo + std::max(step - beyond + whole(Wide + 2 * beyond), step + whole(Wide + beyond));
    }
    static constexpr int pitch =
        std::max({Wide + 2 * halo, reads(8, 8 * C8), reads(4, 4 * C4), reads(2, 2 * C2), reads(1, C1)}) | 1;
    static constexpr int words = pitch * rows;
    static constexpr std::size_t bytes = 4 * (2 * words + pitch);
    static_assert(bytes <= most_shared);
};
template <int After>
using small_tiles = tiling<64, 32, 5, 2, 5, 2, 5, 2, 5, 2, After>;
template <int After>
using middle_tiles = tiling<64, 64, After == 2 ? 4 : 5, 4, 4, 4, 4, 4, 4, 2, After>;
template <int After>
using large_tiles = tiling<80, 80, 4, 6, 4, 6, 4, 4, 4, 4, After>;

/// Runs the rounds after the one of step 1, in units of a cell: a site is at most 3 cells farther than the distance up
/// to which one number was exact.
template <class Tiling>
__device__ void rounds_after(const image& of, arrays& in, const tile_place<Tiling>& at) {
    for (int k = static_cast<int>(threadIdx.x); k < Tiling::words; k += Tiling::threads)
        if (in.now[k] >= word::sure) in.now[k] = word::none_of_class;
    __syncthreads();
    const auto step = [&]<int Step>(std::integral_constant<int, Step>) {
        round<Step, 1, Tiling::cells_of(Step), Tiling::rows_of(Step), false, true>::run(in, at.around(of, Step - 1));
        in.swap();
        __syncthreads();
    };
    if constexpr (Tiling::after > 1) step(std::integral_constant<int, 2>{});
    step(std::integral_constant<int, 1>{});
}

/// Runs the last rounds of a tile, from step 8 on.
/// Over 40 lines because its rounds share arrays in shared memory.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads, 2)
    flood_tiles(const __grid_constant__ image of, std::int32_t tiles_across, const Key* from, Key* to) {
    extern __shared__ std::uint32_t memory[];
    const std::int32_t block = static_cast<std::int32_t>(blockIdx.x);
    const tile_place<Tiling> at{block % tiles_across * Tiling::wide - Tiling::halo,
                                block / tiles_across * Tiling::high - Tiling::halo};
    arrays in{memory, memory + Tiling::words, memory + 2 * Tiling::words, Tiling::pitch};
    // True if most threads have many words without a site, or with one that is too far to be read.
    const auto fill = [&](const auto& word_of) {
        int all = 0, far = 0;
        at.template each<false>([&](std::int32_t x, std::int32_t y, std::int32_t k) {
            const bool inside = static_cast<std::uint32_t>(x) < static_cast<std::uint32_t>(of.nx) &&
                                static_cast<std::uint32_t>(y) < static_cast<std::uint32_t>(of.ny);
            const Key site = inside ? from[static_cast<std::int64_t>(y) * of.nx + x] : none<Key>;
            const std::uint32_t w = site < 0 ? word::none : word_of(site, x, y);
            in.now[k] = in.next[k] = w;
            all += inside, far += inside && w >= word::far;
        });
        return 2 * __syncthreads_count(4 * far > all) > Tiling::threads;
    };
    const auto put = [&](const auto& site_of) {
        at.template each<true>([&](std::int32_t x, std::int32_t y, std::int32_t k) {
            if (x < of.nx && y < of.ny) to[static_cast<std::int64_t>(y) * of.nx + x] = site_of(in.now[k], x, y);
        });
    };
    for (int u = static_cast<int>(threadIdx.x); u < Tiling::pitch; u += Tiling::threads)
        memory[2 * Tiling::words + u] = word::none;
    cuda::wait_for_kernel_before();
    bool far = fill([&](Key site, std::int32_t x, std::int32_t y) {
        return word::of((of.x_of(site) - x) >> log_unit, (of.y_of(site) - y) >> log_unit);
    });
    const auto step = [&]<int Step>(std::integral_constant<int, Step>) {
        if (far) return;
        const bool some = round<Step, 1, Tiling::cells_of(Step), Tiling::rows_of(Step), true>::run(
            in, at.around(of, Step - 1 + Tiling::more));
        in.swap();
        far = __syncthreads_or(some) != 0;
    };
    step(std::integral_constant<int, 8>{}), step(std::integral_constant<int, 4>{});
    step(std::integral_constant<int, 2>{}), step(std::integral_constant<int, 1>{});
    if (!far) {
        if constexpr (Tiling::after > 0) rounds_after<Tiling>(of, in, at);
        put([&](std::uint32_t w, std::int32_t x, std::int32_t y) {
            const bool some = w < (Tiling::after > 0 ? word::no_site : word::sure);
            return some ? of.site(x + word::dx(w), y + word::dy(w)) : none<Key>;
        });
        return;
    }
    // `none` is a word without a site in both representations.
    fill([](Key site, std::int32_t, std::int32_t) { return static_cast<std::uint32_t>(site); });
    far_round<8, Tiling>::run(of, in, at), far_round<4, Tiling>::run(of, in, at);
    far_round<2, Tiling>::run(of, in, at), far_round<1, Tiling>::run(of, in, at);
    if constexpr (Tiling::after > 1) far_round<2, Tiling, 1>::run(of, in, at);
    if constexpr (Tiling::after > 0) far_round<1, Tiling, 0>::run(of, in, at);
    put([](std::uint32_t site, std::int32_t, std::int32_t) { return static_cast<Key>(site); });
}

template <class Tiling>
void launch_tiles(const device& on, const image& of, const Key* from, Key* to) {
    const std::int32_t across = (of.nx + Tiling::wide - 1) / Tiling::wide,
                       down = (of.ny + Tiling::high - 1) / Tiling::high;
    cuda::launch_overlapped(on, flood_tiles<Tiling>, std::int64_t{across} * down, dim3(Tiling::threads), Tiling::bytes,
                            of, across, from, to);
}

}  // namespace

std::int64_t rounds_at_once(const grid& g, const std::vector<std::int64_t>& steps) {
    const std::int64_t nx = g.size[2], ny = g.size[1];
    if (g.size[0] > 1 || steps.empty() || steps[0] < unit) return 0;
    if (nx > 1 && ny > 1 && g.weight[1] != g.weight[2]) return 0;
    if (std::max(nx, ny) > unit * most_cells || nx * ny > most_pixels) return 0;
    const std::int64_t rounds = std::bit_width(static_cast<std::uint64_t>(steps[0]));
    if (steps[static_cast<std::size_t>(rounds - 1)] != 1) return 0;
    const std::size_t needed =
        std::max(classes_of(g, static_cast<int>(rounds) - log_unit).bytes(), large_tiles<0>::bytes);
    if (needed > std::min(most_shared, cuda::limits().shared_bytes)) return 0;
    const std::vector<std::int64_t> after(steps.begin() + rounds, steps.end());
    return rounds + (after == std::vector<std::int64_t>{1} ? 1 : after == std::vector<std::int64_t>{2, 1} ? 2 : 0);
}

void run(const device& on, const grid& g, std::int64_t rounds, Key* now, Key* spare) {
    const int series = std::bit_width(static_cast<unsigned>(std::max(g.size[1], g.size[2]) - 1));
    const class_plan p = classes_of(g, series - log_unit);
    cuda::launch(on, flood_classes, unit * (unit / side), dim3(class_threads), p.bytes(), p, now, spare);
    const auto tiles = [&]<int After>(std::integral_constant<int, After>) {
        const std::int64_t pixels = g.cells();
        if (pixels <= 640 * 640) launch_tiles<small_tiles<After>>(on, p.of, spare, now);
        else if (After == 2 || pixels <= 1152 * 1152) launch_tiles<middle_tiles<After>>(on, p.of, spare, now);
        else launch_tiles<large_tiles<After == 2 ? 0 : After>>(on, p.of, spare, now);
    };
    switch (rounds - series) {
        case 0: tiles(std::integral_constant<int, 0>{}); break;
        case 1: tiles(std::integral_constant<int, 1>{}); break;
        default: tiles(std::integral_constant<int, 2>{}); break;
    }
}

}  // namespace nearfield::methods::several
