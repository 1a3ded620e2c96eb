// Rims of strips on a device: the distances of a strip's last row to the sites above the next strip, and of its first
// row to those below the one before. A strip of 32 rows gives its own sites' share. A cell of the rim before lies 32
// rows away, so in the city-block metric the rim is the lesser of its own share and of 32 more than the cell before. In
// the chessboard metric the least of the 65 cells within 32 columns takes that cell's place.
//
// A block goes along 16 strips, with a halo that their windows use up, without knowing the rim before the first one.
// The last rims of such groups follow from each other by windows of 1025 cells. Then the blocks go along the strips
// again, from the rim before their group.
#pragma once

#include "chessboard/cuda_marks.cuh"

namespace nearfield::chessboard {
namespace {

constexpr int strip_rows = 32, strips_of_group = 16, group_rows = strip_rows * strips_of_group;
constexpr std::uint32_t rim_none = 0xc000;  ///< the distance without a site; it may grow by a strip's rows
constexpr int columns_of_join = 1024;       ///< of a block that goes along a group; the halo is as wide
constexpr int threads_to_join_all = 1024;

/// Distances of eight adjacent cells, two in a word, the first one in the lower half.
struct eight_cells {
    std::uint32_t two[4];

    __device__ explicit eight_cells(std::uint32_t each) {
        for (std::uint32_t& word : two) word = each * 0x10001U;
    }
    __device__ explicit eight_cells(const uint4& all) : two{all.x, all.y, all.z, all.w} {}
    [[nodiscard]] __device__ uint4 whole() const { return {two[0], two[1], two[2], two[3]}; }
    static __device__ eight_cells read(const std::uint16_t* from) {
        return eight_cells(*reinterpret_cast<const uint4*>(from));
    }
    __device__ void write(std::uint16_t* to) const { *reinterpret_cast<uint4*>(to) = whole(); }
    __device__ void lower(const eight_cells& by, std::uint32_t more) {
#pragma unroll
        for (int i = 0; i < 4; ++i) two[i] = __vminu2(two[i], by.two[i] + more * 0x10001U);
    }
};

/// The rims of all planes, in the direction of rows and against it.
struct rims {
    std::uint16_t* cells;
    std::int64_t width, count, planes;  ///< cells of a rim, a multiple of 32, and rims of a plane

    NF_HD std::int64_t bytes() const { return 4 * width * count * planes; }
    __device__ std::uint16_t* at(int direction, std::int64_t plane, std::int64_t nth) const {
        return cells + ((direction * planes + plane) * count + nth) * width;
    }
    /// Returns eight cells from x on of the rim beside a strip, `nth`.
    __device__ eight_cells beside(int direction, std::int64_t plane, std::int64_t nth, std::int64_t x,
                                  bool closed) const {
        if (nth < 0 || nth >= count) return eight_cells(closed ? 0 : rim_none);
        return x < 0 || x >= width ? eight_cells(rim_none) : eight_cells::read(at(direction, plane, nth) + x);
    }
};
NF_HD inline rims rims_of(const columns& c, void* memory) {
    return {static_cast<std::uint16_t*>(memory), c.words * mark_bits, cuda::blocks_for(c.height, strip_rows),
            c.images * c.depth};
}

/// Joins rims in the city-block metric. A thread owns eight columns of a plane, in one direction.
__global__ void __launch_bounds__(threads_of_block)
    join_columns(const __grid_constant__ problem p, const __grid_constant__ rims from,
                 const __grid_constant__ rims to) {
    cuda::wait_for_kernel_before();
    const std::int64_t across = from.width / 8, item = own_item(), line = cuda::quotient(item, across),
                       x = (item - line * across) * 8;
    if (line >= 2 * from.planes || p.is_solved()) return;
    const int direction = line >= from.planes ? 1 : 0;
    const std::int64_t plane = line - direction * from.planes;
    eight_cells now(p.ends[p.rank - 2] == border::closed ? 0 : rim_none);
#pragma unroll 4
    for (std::int64_t i = 0; i < from.count; ++i) {
        const std::int64_t nth = direction == 0 ? i : from.count - 1 - i;
        eight_cells own = eight_cells::read(from.at(direction, plane, nth) + x);
        own.lower(now, strip_rows);
        own.write(to.at(direction, plane, nth) + x), now = own;
    }
}

/// The least cell of each window, found by a block for a row in shared memory. A thread owns every so many eights.
struct window_row {
    uint4 *cells, *from_first, *to_last;  ///< eights: the row, the least up to each cell, the least from each cell on
    std::uint32_t* least[2];              ///< of one eight or several
    int eights;

    NF_HD static constexpr std::size_t bytes(std::int64_t eights) {
        return static_cast<std::size_t>(eights) * (3 * sizeof(uint4) + 2 * sizeof(std::uint32_t));
    }
    __device__ window_row(uint4* memory, int eights_)
        : cells(memory), from_first(cells + eights_), to_last(from_first + eights_), eights(eights_) {
        least[0] = reinterpret_cast<std::uint32_t*>(to_last + eights), least[1] = least[0] + eights;
    }
    template <class Body>
    __device__ void for_own(const Body& body) const {
        for (int e = threadIdx.x; e < eights; e += blockDim.x) body(e);
    }
    __device__ void start() const {
        for_own([&](int e) {
            std::uint32_t first[8], last[8];
            const eight_cells all(cells[e]);
#pragma unroll
            for (int i = 0; i < 8; ++i) first[i] = last[i] = all.two[i / 2] >> 16 * (i % 2) & 0xffff;
#pragma unroll
            for (int i = 1; i < 8; ++i)
                first[i] = min(first[i], first[i - 1]), last[7 - i] = min(last[7 - i], last[8 - i]);
            const auto pair = [](const std::uint32_t* of) { return of[0] | of[1] << 16; };
            from_first[e] = {pair(first), pair(first + 2), pair(first + 4), pair(first + 6)};
            to_last[e] = {pair(last), pair(last + 2), pair(last + 4), pair(last + 6)};
            least[0][e] = last[0];
        });
        __syncthreads();
    }
    /// Gives each eight the least of `wide` eights from it on, and returns those. `wide` is a power of 2.
    __device__ const std::uint32_t* widen(int wide) const {
        int now = 0;
        for (int k = 1; k < wide; k *= 2, now ^= 1) {
            for_own(
                [&](int e) { least[now ^ 1][e] = min(least[now][e], e + k < eights ? least[now][e + k] : rim_none); });
            __syncthreads();
        }
        return least[now];
    }
    /// Returns the windows of an eight, which reach `wide` eights to either side.
    __device__ eight_cells window(int e, int wide, const std::uint32_t* widened) const {
        eight_cells all(min(widened[max(e - wide + 1, 0)], widened[e]));
        if (e >= wide) all.lower(eight_cells(to_last[e - wide]), 0);
        if (e + wide < eights) all.lower(eight_cells(from_first[e + wide]), 0);
        return all;
    }
};

/// A pass over rims in the chessboard metric, in groups of `group` of them, `rows` apart.
struct rim_pass {
    rims from, to, before;  ///< `before` has the rim before each group but the first, if not null
    int group, rows, columns, halo;
    bool ends_only;  ///< if set, groups know no rim before them, and `to` gets their last ones

    NF_HD std::int64_t groups() const { return cuda::blocks_for(from.count, group); }
    NF_HD std::int64_t across() const { return cuda::blocks_for(from.width, columns); }
    NF_HD int eights() const { return (columns + 2 * halo) / 8; }
};

/// Joins rims in the chessboard metric. A block owns a part of the columns of a group, in one direction.
__global__ void __launch_bounds__(threads_to_join_all)
    join_windows(const __grid_constant__ problem p, const __grid_constant__ rim_pass a) {
    cuda::wait_for_kernel_before();
    extern __shared__ uint4 memory_to_join[];
    if (p.is_solved()) return;
    const std::int64_t of_group = cuda::quotient(blockIdx.x, a.across()),
                       of_plane = cuda::quotient(of_group, a.groups()), group = of_group - of_plane * a.groups(),
                       count = a.from.count;
    const int direction = of_plane >= a.from.planes ? 1 : 0, wide = a.rows / 8;
    const std::int64_t plane = of_plane - direction * a.from.planes,
                       x = (blockIdx.x - of_group * a.across()) * a.columns - a.halo;
    const auto nth = [&](std::int64_t i, std::int64_t all) { return direction == 0 ? i : all - 1 - i; };
    const window_row row(memory_to_join, a.eights());
    row.for_own([&](int e) {
        const bool closed = p.ends[p.rank - 2] == border::closed && group == 0;
        const std::int64_t before = group > 0 && a.before.cells != nullptr ? nth(group - 1, a.before.count) : -1;
        row.cells[e] = a.before.beside(direction, plane, before, x + e * 8, closed).whole();
    });
    for (std::int64_t i = group * a.group; i < (group + 1) * a.group && i < count; ++i) {
        row.start();
        const std::uint32_t* const widened = row.widen(wide);
        const bool writes = !a.ends_only || i == (group + 1) * a.group - 1 || i == count - 1;
        row.for_own([&](int e) {
            const std::int64_t at = x + e * 8;
            eight_cells own = a.from.beside(direction, plane, nth(i, count), at, false);
            own.lower(row.window(e, wide, widened), static_cast<std::uint32_t>(a.rows));
            row.cells[e] = own.whole();
            if (!writes || e * 8 < a.halo || e * 8 >= a.halo + a.columns || at >= a.from.width) return;
            own.write(a.to.at(direction, plane, a.ends_only ? nth(group, a.to.count) : nth(i, count)) + at);
        });
        __syncthreads();
    }
}

/// Returns the shared memory for rows of so many cells.
inline std::size_t bytes_to_join(std::int64_t n) {
    return window_row::bytes(cuda::blocks_for(n, mark_bits) * (mark_bits / 8));
}

inline void join_columns_of(const device& on, const problem& p, const rims& own, const rims& joined) {
    cuda::launch_overlapped(on, join_columns, cuda::blocks_for(2 * own.planes * (own.width / 8), threads_of_block),
                            dim3(threads_of_block), 0, p, own, joined);
}

/// Joins rims in the chessboard metric; `memory` is as large as they are.
inline void join_rims(const device& on, const problem& p, const rims& own, const rims& joined, const rims& memory) {
    const auto pass = [&](const rim_pass& a) {
        const auto threads = static_cast<unsigned>(
            std::min<std::int64_t>(cuda::blocks_for(a.eights(), cuda::warp) * cuda::warp, threads_to_join_all));
        cuda::launch_overlapped(on, join_windows, 2 * own.planes * a.groups() * a.across(), dim3(threads),
                                window_row::bytes(a.eights()), p, a);
    };
    const auto width = static_cast<int>(own.width);
    rim_pass strips{own, joined, {}, strips_of_group, strip_rows, columns_of_join, group_rows, false};
    if (width <= columns_of_join) strips.columns = width, strips.halo = 0;
    if (strips.groups() > 1) {
        rims ends = memory, all = memory;
        ends.count = all.count = strips.groups();
        all.cells += ends.bytes() / 2;
        rim_pass first = strips;
        first.to = ends, first.ends_only = true;
        pass(first);
        pass({ends, all, {}, static_cast<int>(ends.count), group_rows, width, 0, false});
        strips.before = all;
    }
    pass(strips);
}

}  // namespace
}  // namespace nearfield::chessboard
