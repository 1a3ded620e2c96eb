// On a device: cuda_sweeps.cuh solves the last two axes, or cuda_rows.cuh the last one. Every other axis is solved in
// tiles of 32 lines in shared memory. A thread solves eight adjacent cells of a line, a chunk, at a time. These take
// the best of each other. Then a search goes outward from either end of the chunk until no cell farther away can be
// nearer.
//
// In the chessboard metric cell r costs max(g(r), |q - r|) at cell q; g is its distance across the solved axes. Let
// m(k) be the least g of the k cells before the chunk. The best of all cells before it costs k + i at the chunk's cell
// i, where k is the first with m(k) <= k + i. From cell i + 1 to cell i this k grows by at most 1, as m(k + 1) <= m(k).
// So the search finds k for the chunk's last cell, and each further cell takes one step or none. If there is no such k,
// the best is m of all. In the city-block metric the best of the cells before the chunk is the same for all its cells.
#include <algorithm>

#include "chessboard/cuda_cube.cuh"
#include "chessboard/cuda_few.cuh"
#include "chessboard/cuda_rows.cuh"
#include "chessboard/cuda_small.cuh"
#include "chessboard/cuda_sweeps.cuh"

namespace nearfield::chessboard {
namespace {

constexpr int chunk = 8;
constexpr int levels = 3;

/// Number of cells of a group of a level: 8, 64, 512. A search skips a group if its minimum is too large.
NF_HD constexpr std::uint32_t size_of_group(int level) { return chunk << 3 * level; }

/// The distance of cells without a site: the maximum of the type of distances between passes.
template <class T>
constexpr std::uint32_t none = sizeof(T) == 2 ? 0xffff : 0x7fffffff;

/// Cells of a line in a tile: 32 KiB for 32 lines.
template <class T>
constexpr std::int64_t tile_rows = 1024 / sizeof(T);

/// A pass along an axis, in which two adjacent cells of a line lie `inner` cells apart.
template <class T>
struct pass {
    const T* from;           ///< distances across the solved axes
    const T* least[levels];  ///< minima of the groups of each line; null if no search leaves its tile
    std::int64_t inner, lines;
    std::uint32_t n, rows;  ///< cells of a line, and of its part in a tile
    std::uint32_t beyond;   ///< value of the cells beyond a line's ends, unless it is a ring
    int axis;
    bool wraps;
    std::uint32_t limit;
};

/// Writes the minimum of every eight cells of lines of n. A thread owns eight; neighbouring threads own neighbouring
/// lines.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    find_minima(const __grid_constant__ problem p, const T* from, T* to, std::int64_t n, std::int64_t inner,
                std::int64_t lines) {
    cuda::wait_for_kernel_before();
    const std::int64_t item = own_item(), index = cuda::quotient(item, lines), line = item - index * lines;
    const std::int64_t first = index * chunk, count = n - first < chunk ? n - first : chunk;
    const std::int64_t outer = cuda::quotient(line, inner);
    const T* const own = from + (outer * n + first) * inner + (line - outer * inner);
    if (count <= 0 || p.is_solved()) return;
    T least = none<T>;
    for (int i = 0; i < chunk; ++i) {
        const T one = i < count ? own[i * inner] : none<T>;
        least = one < least ? one : least;
    }
    to[item] = least;
}

/// A line of a tile, as a lane sees it. Its cells are numbered from the tile's first one, those outside the tile too.
template <class T, bool Diagonal>
struct tile_line {
    const pass<T>& a;
    T *tile, *least;      ///< in shared memory, 32 apart: the cells, and the minima of the tile's groups
    std::uint32_t first;  ///< the cell of the line at which the tile begins
    int rows;             ///< a multiple of `chunk`; the last ones may lie beyond the line's end
    std::int64_t number;  ///< of the line
    const T* line;

    /// The cells from one on, in the direction of a search, to the end of its group.
    struct group {
        std::uint32_t count, least;  ///< least is 0 unless the group begins with the cell
    };
    /// The k nearest cells on one side of a chunk. m is their least g in the chessboard metric, else what the best of
    /// them costs at the end of the chunk.
    struct seen {
        std::uint32_t k, m;
        __device__ bool suffices() const { return m <= k + (Diagonal ? chunk - 1 : 1); }
    };

    __device__ tile_line(const pass<T>& a_, T* memory, std::int64_t number_, std::int64_t first_)
        : a(a_), tile(memory), first(static_cast<std::uint32_t>(first_)), number(number_) {
        const std::uint32_t rest = (a.n - first + chunk - 1) / chunk * chunk;
        rows = static_cast<int>(rest < a.rows ? rest : a.rows);
        least = tile + rows * cuda::warp;
        line = a.from + cell(0);
    }
    /// The number of a cell of the line in C order.
    __device__ std::int64_t cell(std::int64_t row) const {
        const std::int64_t outer = cuda::quotient(number, a.inner);
        return (outer * a.n + row) * a.inner + (number - outer * a.inner);
    }
    __device__ int first_chunk() const { return static_cast<int>(threadIdx.x) / cuda::warp * chunk; }
    __device__ int chunks_apart() const { return static_cast<int>(blockDim.x) / cuda::warp * chunk; }

    __device__ bool inside(int y) const { return static_cast<unsigned>(y) < static_cast<unsigned>(rows); }
    /// The cell of the line that is cell y, in a ring also one turn before or behind it; n or more if there is none.
    __device__ std::uint32_t row_of(int y) const {
        const std::uint32_t row = first + y;
        if (row < a.n || !a.wraps) return row;
        return y < 0 ? row + a.n : row - a.n;
    }
    __device__ std::uint32_t in_memory(int y) const {
        const std::uint32_t row = row_of(y);
        return row < a.n ? line[row * a.inner] : a.beyond;
    }
    /// Calls body(cell), where cell(i) is cell y + By * i, for i < count. Nearly always the tile has all of them.
    template <int By, class Body>
    __device__ void with_cells(int y, std::uint32_t count, const Body& body) const {
        const T* const held = tile + y * cuda::warp;
        if (inside(y) && inside(y + By * static_cast<int>(count - 1)))
            body([&](int i) { return std::uint32_t{held[By * i * cuda::warp]}; });
        else
            body([&](int i) {
                const int at = y + By * i;
                return inside(at) ? tile[at * cuda::warp] : in_memory(at);
            });
    }
    /// `y` begins a chunk in the direction of the search.
    template <int By>
    __device__ group group_in_tile(int y, int level) const {
        const std::uint32_t size = size_of_group(level), begin = By < 0 ? y + 1 - size : y, at = begin / size;
        if (level > 0 && (begin % size != 0 || begin + size > rows)) return {1, 0};
        return {size, least[(level == 0 ? at : rows / chunk + at) * cuda::warp]};
    }
    template <int By>
    __device__ group group_in_line(int y, int level) const {
        const std::uint32_t row = row_of(y), size = size_of_group(level);
        if (a.least[level] == nullptr || row >= a.n) return {1, 0};
        const std::uint32_t index = row / size, begin = index * size, end = begin + size < a.n ? begin + size : a.n;
        if (By < 0 ? row + 1 != end : row != begin) return {By < 0 ? row - begin + 1 : end - row, 0};
        return {end - begin, a.least[level][index * a.lines + number]};
    }

    /// Reads the warp's chunks and finds their minima, then those of the larger groups.
    __device__ void stage() const {
        for (int y = first_chunk(); y < rows; y += chunks_apart()) {
            std::uint32_t all = none<T>, g[chunk];
            const T* from = line + (first + y) * a.inner;
            if (first + y + chunk <= a.n)
#pragma unroll
                for (int i = 0; i < chunk; ++i, from += a.inner) g[i] = *from;
            else
                for (int i = 0; i < chunk; ++i) g[i] = in_memory(y + i);
#pragma unroll
            for (int i = 0; i < chunk; ++i) tile[(y + i) * cuda::warp] = static_cast<T>(g[i]), all = min(all, g[i]);
            least[y / chunk * cuda::warp] = static_cast<T>(all);
        }
        __syncthreads();
        for (int k = first_chunk(); k + chunk <= rows / chunk; k += chunks_apart()) {
            std::uint32_t all = none<T>;
            for (int i = 0; i < chunk; ++i) all = min(all, std::uint32_t{least[(k + i) * cuda::warp]});
            least[(rows + k) / chunk * cuda::warp] = static_cast<T>(all);
        }
        __syncthreads();
    }

    /// The best of the chunk's own cells, for each of them.
    __device__ void start(std::uint32_t (&best)[chunk], int y) const {
        std::uint32_t g[chunk];
#pragma unroll
        for (int i = 0; i < chunk; ++i) best[i] = g[i] = tile[(y + i) * cuda::warp];
#pragma unroll
        for (int i = 0; i < chunk; ++i)
#pragma unroll
            for (int j = 0; j < chunk; ++j) {
                const std::uint32_t d = i < j ? j - i : i - j;
                best[i] = min(best[i], Diagonal ? max(g[j], d) : g[j] + d);
            }
    }

    /// Number of cells before the chunk (By -1) or behind it (By 1) that a search looks at. Beyond, no cell gains on
    /// `best`, the end of the chunk's best, nor is within the limit.
    template <int By>
    __device__ std::uint32_t reach(int y, std::uint32_t best) const {
        const std::uint32_t end = first + y + chunk, over = By > 0 && end > a.n ? end - a.n : 0;
        std::uint32_t there = By < 0 ? first + y : over > 0 ? 0 : a.n - end;
        if (a.beyond == 0 && over == 0) ++there;
        if (a.wraps) there = a.n / 2 > over ? a.n / 2 - over : 0;
        if (there >= best) there = best > 0 ? best - 1 : 0;
        return there < a.limit ? there : a.limit;
    }
    /// Looks at cells from y on until they suffice or there are no more.
    template <int By>
    __device__ seen look(int y, std::uint32_t reach, seen all) const {
        while (all.k < reach && !all.suffices()) {
            const int next = y + By * static_cast<int>(all.k);
            group g{};
            bool skips = false;
            const auto try_levels = [&](int count, const auto& group_of) {
#pragma unroll
                for (int level = count - 1; level >= 0 && !skips; --level) {
                    g = group_of(level);
                    skips = Diagonal ? min(all.m, g.least) > all.k + g.count + chunk - 1 : g.least + all.k + 1 >= all.m;
                }
            };
            if (inside(next)) try_levels(levels - 1, [&](int level) { return group_in_tile<By>(next, level); });
            else try_levels(levels, [&](int level) { return group_in_line<By>(next, level); });
            if (skips) {
                all = {all.k + g.count, Diagonal ? min(all.m, g.least) : all.m};
                continue;
            }
            with_cells<By>(next, g.count, [&](const auto& cell) {
                for (std::uint32_t i = 0; i < g.count && !all.suffices(); ++i) {
                    const std::uint32_t one = cell(i);
                    ++all.k;
                    all.m = min(all.m, Diagonal ? one : one + all.k);
                }
            });
        }
        return all;
    }
    /// Lowers the best of a chunk by the cells before it (By -1) or behind it (By 1).
    template <int By>
    __device__ void lower(std::uint32_t (&best)[chunk], int y) const {
        constexpr int edge = By < 0 ? 0 : chunk - 1, farthest = chunk - 1;
        seen all = look<By>(y + edge + By, reach<By>(y, best[edge]), {0, Diagonal ? none<T> : best[edge]});
        const auto put = [&](int i, std::uint32_t cost) {
            std::uint32_t& one = best[By < 0 ? i : farthest - i];
            one = min(one, cost);
        };
        if (!Diagonal || !all.suffices()) {
#pragma unroll
            for (int i = 0; i < chunk; ++i) put(i, all.m + (Diagonal ? 0 : i));
        } else {
            with_cells<By>(y + edge + By * static_cast<int>(all.k + 1), farthest, [&](const auto& cell) {
                std::uint32_t cost = all.k + farthest;
                put(farthest, cost);
#pragma unroll
                for (int i = farthest - 1, taken = 0; i >= 0; --i) {
                    if (all.m >= cost) all.m = min(all.m, cell(taken++));
                    else --cost;
                    put(i, cost);
                }
            });
        }
    }
};

/// A block owns a tile, a warp every eighth chunk of it, and a lane one of its lines.
template <class T, bool Diagonal>
__global__ void __launch_bounds__(threads_of_block, 5)
    go_along_lines(const __grid_constant__ problem p, const __grid_constant__ pass<T> a) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t memory[];
    if (p.is_solved()) return;
    const std::int64_t tiles = cuda::blocks_for(a.n, a.rows), tile = cuda::quotient(blockIdx.x, tiles);
    const std::int64_t line = tile * cuda::warp + own_lane();
    const tile_line<T, Diagonal> own(a, reinterpret_cast<T*>(memory) + own_lane(), line < a.lines ? line : a.lines - 1,
                                     (blockIdx.x - tile * tiles) * a.rows);
    own.stage();
    const std::int64_t start = offset_in(p, p.out_step, own.cell(own.first)), step = p.out_step[a.axis];
    for (int y = own.first_chunk(); y < own.rows; y += own.chunks_apart()) {
        std::uint32_t best[chunk];
        own.start(best, y);
        own.template lower<-1>(best, y);
        own.template lower<1>(best, y);
        if (line >= a.lines) continue;
        with_output(p.out_type, [&]<class Out>(Out, std::uint32_t most) {
            Out* to = static_cast<Out*>(p.out) + start + y * step;
#pragma unroll
            for (int i = 0; i < chunk; ++i, to += step)
                if (own.first + y + i < a.n) *to = static_cast<Out>(written(best[i], a.limit, most));
        });
    }
}

// ---- launches -------------------------------------------------------------------------------------------------------

/// Whether a search along an axis may leave its tile.
template <class T>
bool leaves_tile(const problem& p, int axis) {
    return p.size[axis] > tile_rows<T> || p.ends[axis] == border::periodic;
}

/// Solves the last axis.
inline void solve_rows(const device& on, const problem& p, std::uint32_t* marks) {
    const std::int64_t n = p.size[p.rank - 1], stretches = p.cells / n * cuda::blocks_for(n, stretch),
                       blocks = cuda::blocks_for(stretches, warps_of_block);
    if (!has_short_rows(p)) cuda::launch_overlapped(on, mark_sites, blocks, dim3(threads_of_block), 0, p, marks);
    cuda::launch_overlapped(on, go_along_rows, blocks, dim3(threads_of_block), 0, p, marks);
}

template <class T>
void solve_lines(const device& on, const problem& p, int axis, const T* from, T* between, T* const (&least)[levels]) {
    const std::int64_t n = p.size[axis], inner = p.product(axis + 1, p.rank), lines = p.cells / n;
    const std::int64_t tiles = cuda::blocks_for(n, tile_rows<T>), unit = size_of_group(tiles == 1 ? 0 : 1);
    const std::int64_t rows = cuda::blocks_for(cuda::blocks_for(n, tiles), unit) * unit;
    pass<T> a{from,
              {},
              inner,
              lines,
              static_cast<std::uint32_t>(n),
              static_cast<std::uint32_t>(rows),
              p.ends[axis] == border::closed ? 0 : none<T>,
              axis,
              p.ends[axis] == border::periodic,
              static_cast<std::uint32_t>(p.limit)};
    std::int64_t of = n, apart = inner;
    for (int level = 0; level < levels && leaves_tile<T>(p, axis); ++level) {
        const std::int64_t groups = cuda::blocks_for(of, chunk);
        cuda::launch_overlapped(on, find_minima<T>, cuda::blocks_for(groups * lines, threads_of_block),
                                dim3(threads_of_block), 0, p, level == 0 ? from : least[level - 1], least[level], of,
                                apart, lines);
        a.least[level] = least[level], of = groups, apart = lines;
    }
    const std::int64_t warps = std::min<std::int64_t>(threads_of_block / cuda::warp, rows / chunk);
    const auto entries = static_cast<std::size_t>(rows + rows / size_of_group(0) + rows / size_of_group(1));
    cuda::launch_overlapped(on, p.diagonal ? go_along_lines<T, true> : go_along_lines<T, false>,
                            cuda::blocks_for(lines, cuda::warp) * cuda::blocks_for(n, rows),
                            dim3(static_cast<unsigned>(warps * cuda::warp)), entries * cuda::warp * sizeof(T),
                            output_of(p, axis, between), a);
}

/// Returns the most groups of a level that a search along one of the axes before `end` needs.
template <class T>
std::int64_t most_groups(const problem& p, int level, int end) {
    std::int64_t most = 0;
    for (int axis = p.batch; axis < end; ++axis)
        if (leaves_tile<T>(p, axis))
            most = std::max(most, p.cells / p.size[axis] * cuda::blocks_for(p.size[axis], size_of_group(level)));
    return most;
}

template <class T>
void solve(const device& on, problem p) {
    const int last = p.rank - 1;
    const std::int64_t n = p.size[last], rows = p.cells / n;
    const bool sets = may_use_sets(p), flat = last - p.batch == 1, sweeps = sets && sizeof(T) == 2 && may_sweep(p);
    std::int64_t words_of_sets = 0, lists = 0, swept = 0;
    if (sets) {
        const columns c(p, nullptr);
        words_of_sets = c.size(), lists = few_bytes(p, c);
        if (sweeps) swept = sweep_memory(c).size();
    }
    const std::int64_t between = p.cells * std::int64_t{sizeof(T)};
    cuda::workspace memory(on);
    const std::int64_t marks =
                           memory.reserve<std::uint32_t>(has_short_rows(p) || sweeps ? 0 : rows * marked_row::size(n)),
                       one = memory.reserve<std::byte>(
                           last == p.batch ? 0 : std::max(sweeps && flat ? swept : between, lists)),
                       other = memory.reserve<std::byte>(last <= p.batch + 1 ? 0
                                                         : sweeps            ? swept
                                                                             : between);
    std::int64_t minima[levels];
    for (int level = 0; level < levels; ++level)
        minima[level] = memory.reserve<T>(most_groups<T>(p, level, sweeps ? last - 1 : last));
    const std::int64_t marks_of_sets = memory.reserve<std::uint32_t>(words_of_sets);
    memory.allocate();
    T *from = reinterpret_cast<T*>(memory.get<std::byte>(other)),
      *to = reinterpret_cast<T*>(memory.get<std::byte>(one)), *least[levels];
    for (int level = 0; level < levels; ++level) least[level] = memory.get<T>(minima[level]);
    int axis = last - 1;
    if (sets) {
        const columns c(p, memory.get<std::uint32_t>(marks_of_sets));
        if (flat) solve_at_once<2>(on, p, c, to, sweeps);
        else solve_at_once<3>(on, p, c, to, sweeps);
        p.general = c.general, p.crowded = c.crowded;
        if (sweeps)
            (p.diagonal ? sweep<true> : sweep<false>)(on, output_of(p, axis--, to), c,
                                                      memory.get<std::byte>(flat ? one : other));
    }
    if (!sweeps) solve_rows(on, output_of(p, last, to), memory.get<std::uint32_t>(marks));
    for (; axis >= p.batch; --axis) std::swap(from, to), solve_lines<T>(on, p, axis, from, to, least);
}

/// Exchanges axes of large volumes whose planes are thin: makes the shortest axis the first one, in any case so that
/// the last one keeps its place if it can. Of (1000, 1000, 5) cells planes of 1000 x 5 take 4 to 5 times a Euclidean
/// call's time.
problem with_long_planes(problem p) {
    const int last = p.rank - 1;
    if (p.rank - p.batch != 3 || p.cells <= 1 << 21) return p;
    if (p.size[last] < short_row && p.size[last - 1] >= short_row) exchange(p, last - 1, last);
    if (p.size[last - 1] < short_row && p.size[p.batch] > p.size[last - 1]) exchange(p, p.batch, last - 1);
    return p;
}

}  // namespace

void run(const device& on, const problem& given) {
    const cuda::device_guard current(on);
    problem p = with_long_planes(given);
    set_reads(p);
    if (is_cube(p)) solve_one_cube(on, p);
    else if (is_small(p)) solve_all_small(on, p);
    else if (p.most < none<std::uint16_t>) solve<std::uint16_t>(on, p);
    else solve<std::uint32_t>(on, p);
}

}  // namespace nearfield::chessboard
