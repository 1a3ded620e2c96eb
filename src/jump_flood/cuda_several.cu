// Several rounds of jump flooding in one kernel, in images that are so small that a kernel for each would mostly wait. Cells whose
// coordinates are equal modulo s hear only of each other while steps are s and more: first each block takes such classes
// whole, then each takes a tile of the image and as many cells around it as the shorter steps reach.
#include <algorithm>
#include <type_traits>

#include "jump_flood/cuda_several.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods::several {
namespace {

constexpr int log_unit = 4, unit = 1 << log_unit;  ///< of the classes: steps below it go by tiles
constexpr int side =
    2;  ///< classes of a block, neighbours along the last axis: 128 blocks, and 8 bytes are read at once
constexpr int class_threads = 512, class_warps = class_threads / cuda::warp;
/// Cells of a thread's tile along the last axis, and rows: by class, where there are more than two a step apart.
constexpr int cells = 4, rows = 4;
constexpr std::size_t most_shared = 227 * 1024;    ///< bytes of a block, where the device has as many
constexpr std::int64_t most_pixels = 1536 * 1536;  ///< squares end at 1408^2, by their shared memory
constexpr std::int64_t most_cells = 128;           ///< of a class along an axis: what a word holds

struct image {
    std::int32_t nx, ny, x_shift;
    std::uint32_t y_mask;

    __device__ Key site(std::int32_t x, std::int32_t y) const { return x << x_shift | y; }
    __device__ std::int32_t x_of(Key site) const { return site >> x_shift; }
    __device__ std::int32_t y_of(Key site) const {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(site) & y_mask);
    }
};

/// Classes in shared memory: `gap` words without a site follow each row and are before the first one.
struct class_plan {
    image of;
    std::int32_t nx, ny;  ///< of a class
    std::int32_t rounds, gap, pitch;

    [[nodiscard]] NF_HD std::int32_t words() const { return pitch * ny + gap; }  ///< of an array
    [[nodiscard]] std::size_t bytes() const { return 4 * static_cast<std::size_t>(2 * words() + gap + pitch); }
};

constexpr bool by_twos(std::int32_t cells_of_class, int step) { return cells_of_class <= 2 * step; }

class_plan classes_of(const grid& g, int rounds) {
    class_plan p{};
    p.of = {static_cast<std::int32_t>(g.size[2]), static_cast<std::int32_t>(g.size[1]), g.keys.shift[2],
            g.keys.mask[1]};
    p.nx = (p.of.nx + unit - 1) / unit, p.ny = (p.of.ny + unit - 1) / unit, p.rounds = rounds;
    // What a thread's tile reads beyond its row.
    std::int32_t beyond = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::int32_t step = 1 << round, tile = (by_twos(p.nx, step) ? 2 : cells) * step,
                           more = by_twos(p.nx, step) ? 0 : step;
        beyond = std::max({beyond, more, (p.nx + tile - 1) / tile * tile + more - p.nx});
    }
    p.gap = beyond * side;
    // So many classes, and rows 8 words apart in the banks: a warp's words lie in different ones.
    constexpr std::int32_t banks = 32;
    p.pitch = ((p.nx + beyond) * side + banks - 9) / banks * banks + 8;
    return p;
}

/// A round of classes.
template <int Step>
__device__ void class_round(const class_plan& p, const arrays& in, const area& of) {
    if (by_twos(p.nx, Step)) round<Step, side, 2, 2, false>::run(in, of);
    else round<Step, side, cells, rows, false>::run(in, of);
}

/// All rounds of steps that are multiples of `unit`. A block has classes of one row modulo `unit`; reads and writes are of `side`
/// cells, whose lines of the cache neighbouring blocks share.
__global__ void __launch_bounds__(class_threads)
    flood_classes(const __grid_constant__ class_plan p, const Key* from, Key* to) {
    extern __shared__ std::uint32_t memory[];
    const std::int32_t block = static_cast<std::int32_t>(blockIdx.x), x0 = block % (unit / side) * side,
                       y0 = block / (unit / side), thread = static_cast<std::int32_t>(threadIdx.x);
    if (x0 >= p.of.nx || y0 >= p.of.ny) return;
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
        if (from[static_cast<std::int64_t>(y) * p.of.nx + x] >= 0) in.now[k] = word::here;
    });
    __syncthreads();
    const area all{0, (p.of.nx - 1 - x0 - thread % side) / unit + 1, 0, high};
    for (int k = p.rounds - 1; k >= 0; --k) {
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

constexpr int halo = unit - 1;  ///< steps of 8, 4, 2 and 1 reach so far

/// Tiles of an image, and of a thread the cells along the last axis and rows for each of the four steps.
/// H200, 2026-11-22, all rounds: 512^2 24 microseconds, 1024^2 54, 1280^2 86.
template <int Wide, int High, int C8, int R8, int C4, int R4, int C2, int R2, int C1, int R1>
struct tiling {
    static constexpr int wide = Wide, high = High, threads = 512, warps = threads / cuda::warp, rows = High + 2 * halo;
    static constexpr int cells_of(int step) { return step == 8 ? C8 : step == 4 ? C4 : step == 2 ? C2 : C1; }
    static constexpr int rows_of(int step) { return step == 8 ? R8 : step == 4 ? R4 : step == 2 ? R2 : R1; }
    /// How far a round reads along a row, where the last of its threads' tiles ends beyond what it finds. Beside the image's first
    /// column it begins later.
    static constexpr int reads(int step, int tile) {
        const auto whole = [tile](int cells) { return (cells + tile - 1) / tile * tile; };
        return halo + std::max(1 + whole(Wide + 2 * (step - 1)), step + whole(Wide + step - 1));
    }
    static constexpr int pitch =
        std::max({Wide + 2 * halo, reads(8, 8 * C8), reads(4, 4 * C4), reads(2, 2 * C2), reads(1, C1)}) | 1;
    static constexpr int words = pitch * rows;
    static constexpr std::size_t bytes = 4 * (2 * words + pitch);
    static_assert(bytes <= most_shared);
};
using small_tiles = tiling<64, 32, 5, 2, 5, 2, 5, 2, 5, 2>;
using middle_tiles = tiling<64, 64, 5, 4, 4, 4, 4, 4, 4, 2>;
using large_tiles = tiling<80, 80, 4, 6, 4, 6, 4, 4, 4, 4>;

/// A tile's place in the image; `around`: cells that are so far from it at most, if there are any.
template <class Tiling>
struct tile_place {
    std::int32_t x, y;  ///< of the array's first word

    __device__ area around(const image& of, std::int32_t cells) const {
        const std::int32_t first = halo - cells;
        return {max(first, -x), min(halo + Tiling::wide + cells, of.nx - x), max(first, -y),
                min(halo + Tiling::high + cells, of.ny - y)};
    }
    /// Calls body(x, y, word) for all cells of a tile's array or, `Own`, of the tile.
    template <bool Own, class Body>
    __device__ void each(const Body& body) const {
        constexpr int first = Own ? halo : 0, end = Own ? halo + Tiling::wide : Tiling::pitch,
                      rows_end = Own ? halo + Tiling::high : Tiling::rows;
        const auto warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll 2
        for (int v = first + warp; v < rows_end; v += Tiling::warps)
#pragma unroll
            for (int u = first + lane; u < end; u += cuda::warp) body(x + u, y + v, v * Tiling::pitch + u);
    }
};

/// One step of a tile by two numbers a cell, where sites are farther than one holds. Words are sites.
template <int Step, class Tiling>
__device__ void far_round(const image& of, arrays& in, const tile_place<Tiling>& at) {
    const area own = at.around(of, Step - 1);
    const std::int32_t wide = own.x_end - own.x_first, all = wide * (own.y_end - own.y_first);
    for (auto t = static_cast<std::int32_t>(threadIdx.x); t < all; t += Tiling::threads) {
        const std::int32_t v = own.y_first + t / wide, u = own.x_first + t % wide, middle = v * in.pitch + u;
        nearest<std::int32_t, Key> best;
#pragma unroll
        for (int k = 0; k < 9; ++k) {
            const auto site = static_cast<Key>(in.now[middle + (k / 3 - 1) * Step * in.pitch + (k % 3 - 1) * Step]);
            const std::int32_t dx = of.x_of(site) - at.x - u, dy = of.y_of(site) - at.y - v;
            if (site >= 0) best.offer(dx * dx + dy * dy, site);
        }
        in.next[middle] = static_cast<std::uint32_t>(best.site);
    }
    in.swap();
    __syncthreads();
}

/// The last four rounds of a tile.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads, 2)
    flood_tiles(const __grid_constant__ image of, std::int32_t tiles_across, const Key* from, Key* to) {
    extern __shared__ std::uint32_t memory[];
    const std::int32_t block = static_cast<std::int32_t>(blockIdx.x);
    const tile_place<Tiling> at{block % tiles_across * Tiling::wide - halo, block / tiles_across * Tiling::high - halo};
    arrays in{memory, memory + Tiling::words, memory + 2 * Tiling::words, Tiling::pitch};
    const auto fill = [&](const auto& word_of) {
        at.template each<false>([&](std::int32_t x, std::int32_t y, std::int32_t k) {
            const bool inside = static_cast<std::uint32_t>(x) < static_cast<std::uint32_t>(of.nx) &&
                                static_cast<std::uint32_t>(y) < static_cast<std::uint32_t>(of.ny);
            const Key site = inside ? from[static_cast<std::int64_t>(y) * of.nx + x] : none<Key>;
            in.now[k] = in.next[k] = site < 0 ? word::none : word_of(site, x, y);
        });
        __syncthreads();
    };
    const auto put = [&](const auto& site_of) {
        at.template each<true>([&](std::int32_t x, std::int32_t y, std::int32_t k) {
            if (x < of.nx && y < of.ny) to[static_cast<std::int64_t>(y) * of.nx + x] = site_of(in.now[k], x, y);
        });
    };
    for (int u = static_cast<int>(threadIdx.x); u < Tiling::pitch; u += Tiling::threads)
        memory[2 * Tiling::words + u] = word::none;
    cuda::wait_for_kernel_before();
    fill([&](Key site, std::int32_t x, std::int32_t y) {
        return word::of((of.x_of(site) - x) >> log_unit, (of.y_of(site) - y) >> log_unit);
    });
    bool far = false;
    const auto step = [&]<int Step>(std::integral_constant<int, Step>) {
        if (far) return;
        constexpr int c = Tiling::cells_of(Step), r = Tiling::rows_of(Step);
        const bool some = round<Step, 1, c, r, true>::run(in, at.around(of, Step - 1));
        in.swap();
        far = __syncthreads_or(some) != 0;
    };
    step(std::integral_constant<int, 8>{}), step(std::integral_constant<int, 4>{});
    step(std::integral_constant<int, 2>{}), step(std::integral_constant<int, 1>{});
    if (!far) {
        put([&](std::uint32_t w, std::int32_t x, std::int32_t y) {
            return w < word::sure ? of.site(x + word::dx(w), y + word::dy(w)) : none<Key>;
        });
        return;
    }
    // `none` is the site that no cell has, too.
    fill([](Key site, std::int32_t, std::int32_t) { return static_cast<std::uint32_t>(site); });
    far_round<8>(of, in, at), far_round<4>(of, in, at), far_round<2>(of, in, at), far_round<1>(of, in, at);
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
    std::int64_t rounds = 1;
    while (steps[static_cast<std::size_t>(rounds - 1)] > 1) ++rounds;
    const std::size_t needed = std::max(classes_of(g, static_cast<int>(rounds) - log_unit).bytes(), large_tiles::bytes);
    return needed <= std::min(most_shared, shared_of_device()) ? rounds : 0;
}

void run(const device& on, const grid& g, std::int64_t rounds, Key* now, Key* spare) {
    const class_plan p = classes_of(g, static_cast<int>(rounds) - log_unit);
    cuda::launch(on, flood_classes, unit * (unit / side), dim3(class_threads), p.bytes(), p, now, spare);
    const std::int64_t pixels = g.cells();
    if (pixels <= 640 * 640) launch_tiles<small_tiles>(on, p.of, spare, now);
    else if (pixels <= 1152 * 1152) launch_tiles<middle_tiles>(on, p.of, spare, now);
    else launch_tiles<large_tiles>(on, p.of, spare, now);
}

}  // namespace nearfield::methods::several
