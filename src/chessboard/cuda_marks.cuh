// Marks of an image's sites on a device, a bit each, from which sets of cells grow (cuda_sets.cuh), and the list of
// sites, if they are few (cuda_few.cuh).
#pragma once

#include "chessboard/cuda_rows.cuh"
#include "chessboard/ways.hpp"

namespace nearfield::chessboard {
namespace {

/// Cells of a tile, with the halo that its steps use up: `own_rows` rows in each of `own_planes` planes are its own.
template <int Axes>
struct tile_of;
template <>
struct tile_of<2> {
    static constexpr int steps = 15, planes = 1, groups = 4, plane_halo = 0, row_halo = 16;
    static constexpr int patch_words = 2, patch_rows = 64, patch_planes = 1;
};
template <>
struct tile_of<3> {
    static constexpr int steps = 8, planes = 32, groups = 1, plane_halo = 8, row_halo = 8;
    static constexpr int patch_words = 1, patch_rows = 32, patch_planes = 4;
};
template <int Axes>
constexpr int own_rows = tile_of<Axes>::groups * cuda::warp - 2 * tile_of<Axes>::row_halo;
template <int Axes>
constexpr int own_planes = tile_of<Axes>::planes - 2 * tile_of<Axes>::plane_halo;
constexpr int threads_of_tiles = 128;
constexpr std::int64_t fewest_cells_of_rounds = 1 << 19, fewest_of_volumes = 1 << 22;
constexpr int most_rounds = 3, most_rounds_of_blocks = 5;  ///< of chessboard distances, of city blocks

/// Calls are tried if two or three axes are searched and none of these is a ring.
inline bool may_use_sets(const problem& p) {
    const int axes = p.rank - p.batch;
    if ((axes != 2 && axes != 3) || p.cells < limit_of_ways.least_of_sets) return false;
    for (int axis = p.batch; axis < p.rank; ++axis)
        if (p.ends[axis] == border::periodic) return false;
    return true;
}

/// The searched axes of a problem, and its marks: words of 32 cells along the last axis, adjacent for adjacent rows.
struct columns {
    std::int64_t n, height, depth, words, images;
    int rounds;
    bool few_rows = limit_of_ways.few_rows;
    /// The set with which a round begins, that with which the next one does, and that of the one after.
    std::uint32_t *marks, *next, *after;
    /// Set to 1 if the other kernels have to solve the problem; then, by round, if it left cells.
    std::uint32_t* general;
    std::uint32_t* crowded;  ///< set to 1 if sites are not few, which solve the problem otherwise; then their number

    /// `memory` has size() words.
    columns(const problem& p, std::uint32_t* memory)
        : n(p.size[p.rank - 1]),
          height(p.size[p.rank - 2]),
          depth(p.rank - p.batch == 3 ? p.size[p.batch] : 1),
          words(cuda::blocks_for(n, mark_bits)),
          images(p.cells / (n * height * depth)),
          rounds(p.cells < (depth > 1 ? fewest_of_volumes : fewest_cells_of_rounds) ? 1
                 : p.diagonal                                                       ? most_rounds
                                                                                    : most_rounds_of_blocks),
          marks(memory),
          next(memory + (rounds > 1 ? count() : 0)),
          after(next + (rounds > 1 ? count() : 0)),
          general(after + count()),
          crowded(general + rounds) {}
    NF_HD std::int64_t size() const { return (rounds > 1 ? 3 : 1) * count() + flags(); }
    NF_HD std::int64_t flags() const { return rounds + 2 + (lists_rows() ? 1 + most_rows_listed : 0); }
    /// Whether rows with sites are counted and listed: those of one image.
    NF_HD bool lists_rows() const { return few_rows && images * depth == 1; }
    [[nodiscard]] NF_HD std::uint32_t* row_count() const { return crowded + 2; }
    [[nodiscard]] NF_HD std::uint32_t* rows_listed() const { return crowded + 3; }
    NF_HD std::int64_t count() const { return images * depth * words * height; }
    /// Number of tiles with this many rows, planes and words of a row.
    NF_HD std::int64_t tiles(int rows, int planes, int wide = 1) const {
        return images * cuda::blocks_for(depth, planes) * cuda::blocks_for(height, rows) *
               cuda::blocks_for(words, wide);
    }
    __device__ std::int64_t column(std::int64_t image, std::int64_t z, std::int64_t w) const {
        return ((image * depth + z) * words + w) * height;
    }
    /// Whether sets need not be grown, the same for all lanes of the caller's warp.
    __device__ bool is_given_up() const {
        return __any_sync(cuda::every_lane, *general != 0 || *crowded == 0 ? 1 : 0) != 0;
    }
    /// A mask of the cells of a word that lie in the row.
    __device__ std::uint32_t inside(std::int64_t w) const {
        const std::int64_t rest = n - w * mark_bits;
        return rest >= mark_bits ? ~0U : (1U << rest) - 1;
    }
};
/// A tile's place, found from its number: its word, first row, first plane and image.
struct tile_place {
    std::int64_t w, y, z, image;

    __device__ tile_place(const columns& c, std::int64_t tile, int rows, int planes, int wide = 1) {
        const std::int64_t across = cuda::blocks_for(c.words, wide), a = cuda::quotient(tile, across),
                           high = cuda::blocks_for(c.height, rows), b = cuda::quotient(a, high),
                           deep = cuda::blocks_for(c.depth, planes);
        image = cuda::quotient(b, deep);
        w = (tile - a * across) * wide, y = (a - b * high) * rows, z = (b - image * deep) * planes;
    }
};
/// The elements of an image's planes and rows.
struct row_places {
    std::int64_t first, of_plane, of_row, of_cell;

    __device__ row_places(const problem& p, const columns& c, const std::int64_t* step, std::int64_t image)
        : first(offset_in(p, step, image * c.depth * c.height * c.n)),
          of_plane(c.depth > 1 ? step[p.rank - 3] : 0),
          of_row(step[p.rank - 2]),
          of_cell(step[p.rank - 1]) {}
    __device__ std::int64_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return first + z * of_plane + y * of_row + x * of_cell;
    }
};

/// Writes the distances of four adjacent cells of a row of n, the first of which is at z, y, x.
template <class Out>
__device__ void write_four(const problem& p, const row_places& rows, const std::int64_t (&at)[3], std::int64_t n,
                           const std::uint32_t (&distance)[4], std::uint32_t most) {
    struct alignas(4 * sizeof(Out)) four {
        Out one[4];
    } made;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        made.one[k] = static_cast<Out>(written(distance[k], static_cast<std::uint32_t>(p.limit), most));
    Out* const to = static_cast<Out*>(p.out) + rows.at(at[0], at[1], at[2]);
    if (rows.of_cell == 1 && at[2] + 4 <= n && reinterpret_cast<std::uintptr_t>(to) % sizeof(four) == 0) {
        *reinterpret_cast<four*>(to) = made;
        return;
    }
    for (int k = 0; k < 4 && at[2] + k < n; ++k) to[k * rows.of_cell] = made.one[k];
}

constexpr int most_changes = 600;  ///< between neighbours in the rows of a block's patches: with more, sites are many

/// Reads a word of 32 rows of a plane from row y on; a lane returns the bits of its own row. A warp reads 32 adjacent
/// cells at a time, or a lane those of its row.
__device__ std::uint32_t read_column(const problem& p, const columns& c, const row_places& rows, std::int64_t z,
                                     std::int64_t y, std::int64_t w) {
    const int lane = own_lane();
    const std::int64_t x = w * mark_bits;
    std::uint32_t mine = 0;
    if (p.read_at_once > 0) {
        const std::int64_t cells = y + lane < c.height ? c.n - x : 0;
        return nonzero_bytes(p, static_cast<const std::uint8_t*>(p.image) + rows.at(z, y + lane, x), cells);
    }
    with_bits(p.image_type, [&]<class Bits>(Bits, Bits counts) {
        const Bits* from = static_cast<const Bits*>(p.image) + rows.at(z, y, x + lane);
        for (int row = 0; row < cuda::warp; row += words_at_once) {
            Bits read[words_at_once];
#pragma unroll
            for (int i = 0; i < words_at_once; ++i, from += rows.of_row)
                read[i] = x + lane < c.n && y + row + i < c.height ? *from : Bits{};
#pragma unroll
            for (int i = 0; i < words_at_once; ++i) {
                const unsigned nonzero = __ballot_sync(cuda::every_lane, (read[i] & counts) != 0 ? 1 : 0);
                if (lane == row + i) mine = nonzero;
            }
        }
    });
    return mine;
}

/// Writes marks. A warp owns a patch, a lane words of rows. A patch without a site says that sets will not suffice, and
/// many changes that sites are not few.
template <int Axes>
__global__ void __launch_bounds__(threads_of_block)
    mark_columns(const __grid_constant__ problem p, const __grid_constant__ columns c, bool lists, bool sweeps) {
    constexpr int planes = tile_of<Axes>::patch_planes, tall = tile_of<Axes>::patch_rows,
                  wide = tile_of<Axes>::patch_words;
    cuda::wait_for_kernel_before();
    __shared__ int changes_of_block;
    if (threadIdx.x == 0) changes_of_block = 0;
    __syncthreads();
    const std::int64_t item = own_item() / cuda::warp;
    if (!lists && item == 0) *c.crowded = 1;
    const auto is_set = [](const volatile std::uint32_t* flag) { return *flag != 0; };
    const bool ends = !sweeps && is_set(c.general) && (!lists || is_set(c.crowded));
    if (item >= c.tiles(tall, planes, wide) || __any_sync(cuda::every_lane, ends ? 1 : 0) != 0) return;
    const tile_place t(c, item, tall, planes, wide);
    const row_places rows(p, c, p.image_step, t.image);
    const int lane = own_lane();
    std::uint32_t any = 0;
    int changes = 0;
    for (std::int64_t z = t.z; z < t.z + planes && z < c.depth; ++z)
        for (std::int64_t y = t.y; y < t.y + tall && y < c.height; y += cuda::warp)
            for (std::int64_t w = t.w; w < t.w + wide && w < c.words; ++w) {
                const std::uint32_t inside = c.inside(w), nonzero = read_column(p, c, rows, z, y, w),
                                    mine = (p.nonzero ? nonzero : ~nonzero) & inside;
                const std::uint32_t beyond = p.ends[p.rank - 1] == border::closed ? ~inside : 0;
                if (y + lane >= c.height) continue;
                any |= mine, changes += __popc((mine ^ mine >> 1) & 0x7fffffff);
                c.marks[c.column(t.image, z, w) + y + lane] = mine | beyond;
            }
    const bool whole =
        t.z + planes <= c.depth && t.y + tall <= c.height && (t.w + wide) * std::int64_t{mark_bits} <= c.n;
    const bool empty = __any_sync(cuda::every_lane, any != 0 ? 1 : 0) == 0;
    changes = __reduce_add_sync(cuda::every_lane, changes);
    if (lane != 0) return;  // A GPU takes 7 ns for each of many stores at one place.
    if (empty && whole && p.limit >= tile_of<Axes>::steps && !is_set(c.general)) *c.general = 1;
    if (lists && atomicAdd(&changes_of_block, changes) + changes > most_changes && !is_set(c.crowded)) *c.crowded = 1;
}

/// Marks the sites of a problem; `c` has room for it.
template <int Axes>
void mark(const device& on, const problem& p, const columns& c, bool lists, bool sweeps) {
    cuda::clear(on, c.general, c.flags() * static_cast<std::int64_t>(sizeof *c.general));
    using shape = tile_of<Axes>;
    const std::int64_t patches = c.tiles(shape::patch_rows, shape::patch_planes, shape::patch_words);
    cuda::launch_overlapped(on, mark_columns<Axes>, cuda::blocks_for(patches * cuda::warp, threads_of_block),
                            dim3(threads_of_block), 0, p, c, lists, sweeps);
}

}  // namespace
}  // namespace nearfield::chessboard
