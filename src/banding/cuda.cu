// Parallel banding on a device. An image takes five launches. Phase 1 sweeps columns forwards, across bands, and back,
// where it writes with exchanged axes. Phase 2 builds lists of proximate sites in bands, and joins them in pairs. Phase
// 3 assigns sites, and exchanges axes again. A volume runs phases 2 and 3 for its middle axis and for its last.
#include <string>

#include "banding/core.hpp"
#include "banding/parameters.hpp"
#include "base/cuda.cuh"
#include "methods/room.hpp"

namespace nearfield::bands {
namespace {

using cuda::warp;

/// Warps of a block in phase 1. Each has a tile of 32 x 32 cells in which it exchanges axes.
constexpr int flood_warps = 4;
/// A warp owns 32 neighbouring lines, so that its reads at a position are coalesced.
constexpr std::int64_t blocks_of(std::int64_t lines) { return cuda::blocks_for(lines, warp); }
/// Number of loads that a thread of phase 1 has in flight.
constexpr int together = 8;

struct flood_shape {
    std::int64_t positions, lines;
    int bands;
};

/// The 32 lines and the band of the calling warp.
struct warp_of_flood {
    std::int64_t line;
    int band;
    std::int32_t begin, end;
    __device__ explicit warp_of_flood(const flood_shape& shape) {
        const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * flood_warps + threadIdx.y;
        const std::int64_t blocks = blocks_of(shape.lines);
        line = number % blocks * warp, band = static_cast<int>(number / blocks);
        begin = end = 0;
        if (band >= shape.bands) return;
        begin = band_begin(shape.positions, band, shape.bands),
        end = band_begin(shape.positions, band + 1, shape.bands);
    }
};

/// Phase 1, forwards: each cell of a band gets the nearest site before it in the band. Stores the band's first and last
/// site. A warp owns 32 lines of one band.
template <class Key>
__global__ void __launch_bounds__(warp* flood_warps)
    flood_forth(Key* cells, flood_shape shape, std::int32_t* first, std::int32_t* last) {
    const warp_of_flood mine(shape);
    const std::int64_t line = mine.line + threadIdx.x;
    if (mine.band >= shape.bands || line >= shape.lines) return;
    std::int32_t first_here = -1, last_here = -1;
    for (std::int32_t at = mine.begin; at < mine.end; at += together) {
        Key* const from = cells + at * shape.lines + line;
        Key held[together];
#pragma unroll
        for (int i = 0; i < together; ++i) held[i] = at + i < mine.end ? from[i * shape.lines] : none<Key>;
#pragma unroll
        for (int i = 0; i < together; ++i) {
            if (held[i] >= 0) last_here = at + i, first_here = first_here < 0 ? at + i : first_here;
            if (at + i < mine.end) from[i * shape.lines] = last_here;
        }
    }
    first[mine.band * shape.lines + line] = first_here;
    last[mine.band * shape.lines + line] = last_here;
}

/// Phase 1, across bands: replaces `last` by the last site in the bands before, and `first` by the first site in the
/// bands after. A thread owns a line.
__global__ void __launch_bounds__(256) join_ends(flood_shape shape, std::int32_t* first, std::int32_t* last) {
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (line >= shape.lines) return;
    std::int32_t before = -1, after = -1;
    for (int band = 0; band < shape.bands; ++band) {
        std::int32_t* const at = last + band * shape.lines + line;
        const std::int32_t own = *at;
        *at = before;
        if (own >= 0) before = own;
    }
    for (int band = shape.bands; band-- > 0;) {
        std::int32_t* const at = first + band * shape.lines + line;
        const std::int32_t own = *at;
        *at = after;
        if (own >= 0) after = own;
    }
}

/// Writes a tile of `rows` x 32 cells, held as [row][lane], with exchanged axes: neighbouring lanes write neighbouring
/// rows of a line. The caller writes lines `from_line`, `from_line` + `line_step`, ... of the tile.
template <class Key>
__device__ void write_exchanged(const Key (*tile)[warp + 1], Key* out, std::int64_t positions, std::int64_t line,
                                std::int64_t lines, std::int64_t at, int rows, int from_line, int line_step) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane >= rows) return;
    for (int i = from_line; i < warp && line + i < lines; i += line_step)
        out[(line + i) * positions + at + lane] = tile[lane][i];
}

/// Phase 1, backwards: each cell gets the nearest site of its line. A warp owns 32 lines of one band and takes 32
/// positions at a time. With `Exchange` it writes with exchanged axes.
template <class Key, bool Exchange>
__global__ void __launch_bounds__(warp* flood_warps)
    flood_back(const Key* cells, Key* out, flood_shape shape, const std::int32_t* first, const std::int32_t* last) {
    __shared__ Key tiles[Exchange ? flood_warps : 1][Exchange ? warp : 1][warp + 1];
    Key(*const tile)[warp + 1] = tiles[Exchange ? threadIdx.y : 0];
    const warp_of_flood mine(shape);
    if (mine.band >= shape.bands) return;
    const std::int64_t line = mine.line + threadIdx.x;
    const bool inside = line < shape.lines;
    const std::int32_t before = inside ? last[mine.band * shape.lines + line] : -1;
    std::int32_t after = inside ? first[mine.band * shape.lines + line] : -1;
    for (std::int32_t end = mine.end; end > mine.begin;) {
        const std::int32_t begin = max(mine.begin, (end - 1) / warp * warp);
        for (std::int32_t top = end; top > begin; top -= together) {
            std::int32_t in_band[together];
#pragma unroll
            for (int i = 0; i < together; ++i)
                in_band[i] = inside && top - 1 - i >= begin
                                 ? static_cast<std::int32_t>(cells[(top - 1 - i) * shape.lines + line])
                                 : -1;
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const std::int32_t at = top - 1 - i;
                if (!inside || at < begin) continue;
                if (in_band[i] == at) after = at;
                const Key found = nearer_end(at, in_band[i] >= 0 ? in_band[i] : before, after);
                if constexpr (Exchange) tile[at - begin][threadIdx.x] = found;
                else out[at * shape.lines + line] = found;
            }
        }
        if constexpr (Exchange) {
            __syncwarp();
            write_exchanged(tile, out, shape.positions, mine.line, shape.lines, begin, end - begin, 0, 1);
            __syncwarp();
        }
        end = begin;
    }
}

/// The line of lane `lane` in the block of lines with number `block`.
template <class V, class Key, int Axis>
__device__ line<V, Key, Axis> line_of(const metric<V>& m, Key* cells, std::int32_t* after, const pass& p,
                                      std::int64_t slab, std::int64_t across) {
    const std::int64_t first = slab * p.positions * p.lines + across;
    return {m,
            cells + first,
            after == nullptr ? nullptr : after + first,
            p.lines,
            static_cast<std::int32_t>(slab),
            static_cast<std::int32_t>(across)};
}

/// Phase 2. A block owns a multiple of 32 lines, in `bands` bands each. A warp builds the lists of a band, then joins
/// pairs of lists, round by round. `last` gets the last site of each line.
template <class V, class Key, class Product, int Axis>
__global__ void __launch_bounds__(1024)
    prune_lines(metric<V> m, Key* cells, std::int32_t* after, pass p, int bands, std::int32_t* last) {
    extern __shared__ std::int32_t memory[];
    ends* const lists = reinterpret_cast<ends*>(memory);  // indexed by band and lane
    const int band = static_cast<int>(threadIdx.y) % bands, lane = static_cast<int>(threadIdx.x);
    const std::int64_t block =
        static_cast<std::int64_t>(blockIdx.x) * (blockDim.y / bands) + static_cast<int>(threadIdx.y) / bands;
    const std::int64_t in_slab = blocks_of(p.lines), slab = block / in_slab, across = block % in_slab * warp + lane;
    const bool inside = slab < p.slabs && across < p.lines;
    const line<V, Key, Axis> mine = line_of<V, Key, Axis>(m, cells, after, p, slab, across);
    ends list;
    if (inside)
        list = prune<Product>(mine, band_begin(p.positions, band, bands), band_begin(p.positions, band + 1, bands));
    ends* const here = lists + static_cast<int>(threadIdx.y) * warp + lane;
    for (int apart = 1; apart < bands; apart *= 2) {
        *here = list;
        __syncthreads();
        if (inside && band % (2 * apart) == 0 && band + apart < bands)
            list = joined<Product>(mine, list, here[apart * warp]);
        __syncthreads();
    }
    if (inside && band == 0) last[slab * p.lines + across] = list.last;
}

/// Phase 3. A block owns 32 lines and takes 32 positions at a time, from the last one on. Each warp serves every
/// blockDim.y-th of these and walks along the lists on its own. Writes with the slab's axes exchanged.
template <class V, class Key, int Axis>
__global__ void __launch_bounds__(1024)
    colour_lines(metric<V> m, Key* cells, Key* out, pass p, const std::int32_t* last) {
    __shared__ Key tile[warp][warp + 1];
    const int lane = static_cast<int>(threadIdx.x), walker = static_cast<int>(threadIdx.y);
    const auto walkers = static_cast<int>(blockDim.y);
    const std::int64_t in_slab = blocks_of(p.lines), slab = blockIdx.x / in_slab;
    const std::int64_t first_line = blockIdx.x % in_slab * warp, across = first_line + lane;
    const bool inside = across < p.lines;
    const line<V, Key, Axis> mine = line_of<V, Key, Axis>(m, cells, nullptr, p, slab, across);
    walk<V, Key, Axis> along(mine, inside ? last[slab * p.lines + across] : -1);
    Key* const to = out + slab * p.positions * p.lines;
    for (std::int64_t end = p.positions; end > 0;) {
        const std::int64_t begin = (end - 1) / warp * warp;
        for (int row = static_cast<int>(end - begin) - 1 - walker; row >= 0; row -= walkers)
            tile[row][lane] = along.nearest(static_cast<std::int32_t>(begin + row));
        __syncthreads();
        write_exchanged(tile, to, p.positions, first_line, p.lines, begin, static_cast<int>(end - begin), walker,
                        walkers);
        __syncthreads();
        end = begin;
    }
}

/// One call: the memory and parameters that its launches share.
template <class V, class Key, class Product>
class banded {
public:
    banded(const device& on, const metric<V>& m, const methods::grid& g, const parameters& with)
        : on_(on), m_(m), size_(g.size), with_(with), cells_(g.cells()), space_(on) {
        const bool volume = size_[0] > 1;
        flooded_ = {volume ? size_[0] : size_[1], volume ? size_[1] * size_[2] : size_[2], with.m1};
        const std::int64_t ends_of_bands = with.m1 * flooded_.lines;
        const std::int64_t ends_of_lines = size_[0] * std::max(size_[1], size_[2]);
        const std::int64_t first = space_.reserve<std::int32_t>(ends_of_bands);
        const std::int64_t last = space_.reserve<std::int32_t>(std::max(ends_of_bands, ends_of_lines));
        const std::int64_t after = space_.reserve<std::int32_t>(with.m2 > 1 ? cells_ : 0);
        space_.allocate();
        first_ = space_.get<std::int32_t>(first), last_ = space_.get<std::int32_t>(last);
        after_ = with.m2 > 1 ? space_.get<std::int32_t>(after) : nullptr;
    }

    void run(methods::buffers& site, methods::stages& report) {
        const bool volume = size_[0] > 1;
        Key *now = site.template in<Key>(), *spare = site.template out<Key>();
        flood(now, volume ? now : spare, volume);
        report.done("phase 1", 2, 4 * static_cast<std::int64_t>(sizeof(Key)) * cells_);
        if (volume) lines<1>(now, spare, {size_[0], size_[1], size_[2]}, report);
        lines<2>(spare, now, {size_[0], size_[2], size_[1]}, report);
    }

private:
    void flood(Key* cells, Key* out, bool volume) {
        const dim3 threads(warp, flood_warps);
        const std::int64_t blocks = cuda::blocks_for(blocks_of(flooded_.lines) * flooded_.bands, flood_warps);
        cuda::launch(on_, flood_forth<Key>, blocks, threads, 0, cells, flooded_, first_, last_);
        cuda::launch(on_, join_ends, cuda::blocks_for(flooded_.lines, 256), dim3(256), 0, flooded_, first_, last_);
        cuda::launch(on_, volume ? flood_back<Key, false> : flood_back<Key, true>, blocks, threads, 0, cells, out,
                     flooded_, first_, last_);
    }

    /// Runs phases 2 and 3 along one axis. Blocks of phase 2 have at least four warps; with fewer, too few warps would
    /// fit a multiprocessor.
    template <int Axis>
    void lines(Key* cells, Key* out, const pass& p, methods::stages& report) {
        constexpr int least_warps = 4;
        const int sets = with_.m2 >= least_warps ? 1 : least_warps / with_.m2;
        const std::int64_t blocks = p.slabs * blocks_of(p.lines);
        const std::string where = size_[0] == 1 ? "" : Axis == 1 ? ", middle axis" : ", last axis";
        const std::int64_t bytes = 2 * static_cast<std::int64_t>(sizeof(Key)) * cells_;
        const dim3 threads(warp, static_cast<unsigned>(with_.m2 * sets));
        cuda::launch(on_, prune_lines<V, Key, Product, Axis>, cuda::blocks_for(blocks, sets), threads,
                     sizeof(ends) * threads.x * threads.y, m_, cells, after_, p, with_.m2, last_);
        report.done("phase 2" + where, 1, bytes);
        cuda::launch(on_, colour_lines<V, Key, Axis>, blocks, dim3(warp, static_cast<unsigned>(with_.m3)), 0, m_, cells,
                     out, p, last_);
        report.done("phase 3" + where, 1, bytes);
    }

    const device& on_;
    metric<V> m_;
    const std::int64_t* size_;
    parameters with_;
    std::int64_t cells_;
    flood_shape flooded_{};
    cuda::workspace space_;
    std::int32_t *first_, *last_;  ///< by band of phase 1 and line; in phases 2 and 3 `last_` is by line
    std::int32_t* after_;
};

}  // namespace
}  // namespace nearfield::bands

namespace nearfield::methods {

void solve(const device& on, const grid& g, const banding& how, buffers& site, stages& report) {
    const bands::parameters with = bands::chosen(g, how, true);
    bands::with_products(g, [&]<class V, class Key, class Product>(const metric<V>& m, Key, Product) {
        bands::banded<V, Key, Product>(on, m, g, with).run(site, report);
    });
}

}  // namespace nearfield::methods
