// The last two axes on a device, solved from marks by sweeps, in a time that does not depend on how far sites are.
//
// A plane is cut into strips of 32 rows. A warp sweeps down a strip, a row at a time: a cell's distance is the lesser
// of its distance along the row and of one more than that of the cell above it, in the chessboard metric than the least
// of the three above it. This is enough, because the steps of a shortest path can be ordered by axis. A second sweep
// goes up. Both begin with the distances of the row beside the strip to the sites on that side, its rim. Rims are found
// before: from the strip's own sites by columns, then from strip to strip (cuda_rims.cuh).
//
// Eight adjacent cells of a row belong to a lane, two in a word. A warp holds 256 of a row. In the chessboard metric
// 32 at either end are a halo that the sweeps use up.
#pragma once

#include "chessboard/cuda_few_rows.cuh"
#include "chessboard/cuda_rims.cuh"
#include "chessboard/cuda_small.cuh"

namespace nearfield::chessboard {
namespace {

constexpr int words_of_sweep = 8, threads_of_sweep = 64;
constexpr int entries_of_row = 64;  ///< of 8 bytes, for the 256 cells of a row
/// Words at either end of a warp's that are halo.
template <bool Diagonal>
constexpr int halo_words = Diagonal ? 1 : 0;
template <bool Diagonal>
constexpr int own_words = words_of_sweep - 2 * halo_words<Diagonal>;

/// Finds the steps of all words, and lists rows with sites. A thread goes along a row, from its begin or from its end;
/// neighbours have adjacent rows.
__global__ void __launch_bounds__(threads_of_block)
    find_steps(const __grid_constant__ problem p, const __grid_constant__ columns c, const mark_steps to) {
    cuda::wait_for_kernel_before();
    const std::int64_t rows = c.images * c.depth * c.height, item = own_item();
    if (p.is_solved()) return;
    const bool is_row = item < 2 * rows;
    const bool back = item >= rows;
    const std::int64_t row = back ? item - rows : item, plane = cuda::quotient(row, c.height),
                       first = plane * c.words * c.height + row - plane * c.height;
    std::uint32_t steps = p.ends[p.rank - 1] == border::closed ? 1 : rim_none;
    bool any = steps == 1;
    for (std::int64_t i = 0; i < c.words && is_row; i += words_at_once) {
        std::uint32_t read[words_at_once];
        const auto place = [&](int k) { return first + (back ? c.words - 1 - i - k : i + k) * c.height; };
#pragma unroll
        for (int k = 0; k < words_at_once; ++k) read[k] = i + k < c.words ? c.marks[place(k)] : 0;
#pragma unroll
        for (int k = 0; k < words_at_once; ++k) {
            if (i + k >= c.words) break;
            (back ? to.behind : to.before)[place(k)] = static_cast<std::uint16_t>(steps);
            const auto bits = static_cast<int>(read[k]);
            any = any || bits != 0;
            steps = bits == 0 ? min(steps + mark_bits, rim_none) : back ? __ffs(bits) : __clz(bits) + 1;
        }
    }
    if (c.lists_rows()) list_row(c, row, any && is_row && !back);
}

/// A word's marks with its steps: x has the marks, y the steps before in its lower half and those behind.
using marked_word = uint2;

/// A warp's place: a strip of a plane, from a word on, which may lie before the row.
struct sweep_place {
    std::int64_t plane, strip, w;

    __device__ sweep_place(const columns& c, std::int64_t item, int own, int halo) {
        const std::int64_t across = cuda::blocks_for(c.words, own), high = cuda::blocks_for(c.height, strip_rows),
                           a = cuda::quotient(item, across);
        plane = cuda::quotient(a, high), strip = a - plane * high, w = (item - a * across) * own - halo;
    }
    __device__ bool is_beyond(const columns& c) const { return plane >= c.images * c.depth; }
    /// Reads word k of the lane's row of the strip. Beyond the image's last row closed ends are sites.
    __device__ marked_word read(const problem& p, const columns& c, const mark_steps& steps, int k) const {
        const std::int64_t y = strip * strip_rows + own_lane(), at = w + k;
        if (y >= c.height) return {p.ends[p.rank - 2] == border::closed ? ~0U : 0, rim_none * 0x10001U};
        if (at < 0 || at >= c.words) return {0, rim_none * 0x10001U};
        const std::int64_t place = (plane * c.words + at) * c.height + y;
        return {c.marks[place], steps.before[place] | std::uint32_t{steps.behind[place]} << 16};
    }
};

/// The distances along a byte of marks, for each byte. All threads of a block fill them.
__device__ void fill_distances(uint4* of_byte) {
    for (int byte = threadIdx.x; byte < 256; byte += blockDim.x) {
        std::uint32_t all[4] = {};
        for (int i = 0; i < 8; ++i) {
            const int left = byte << (31 - i), right = byte >> i;
            const std::uint32_t one = min(left != 0 ? static_cast<std::uint32_t>(__clz(left)) : rim_none,
                                          right != 0 ? static_cast<std::uint32_t>(__ffs(right) - 1) : rim_none);
            all[i / 2] |= one << 16 * (i % 2);
        }
        of_byte[byte] = {all[0], all[1], all[2], all[3]};
    }
    __syncthreads();
}
/// Returns the distances of the lane's cells along their row, which has word `own` there.
__device__ eight_cells along_row(const marked_word& own, const uint4* of_byte) {
    const int shift = own_lane() % 4 * 8;
    const std::uint32_t lower = own.x & ((1U << shift) - 1), upper = (own.x >> shift) >> 8;
    const std::uint32_t before = lower != 0 ? __clz(static_cast<int>(lower << (32 - shift))) + 1
                                            : (own.y & 0xffff) + static_cast<std::uint32_t>(shift),
                        behind = upper != 0 ? static_cast<std::uint32_t>(__ffs(static_cast<int>(upper)))
                                            : (own.y >> 16) + static_cast<std::uint32_t>(24 - shift);
    eight_cells all(of_byte[own.x >> shift & 255]);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        all.two[i] = __vminu2(all.two[i], __vminu2(before * 0x10001U + 0x10000U + 0x20002U * i,
                                                   behind * 0x10001U + 0x60007U - 0x20002U * i));
    return all;
}

/// Finds the distances of each strip's last and first row to its own sites. A warp owns 256 columns of a strip.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_block)
    find_rims(const __grid_constant__ problem p, const __grid_constant__ columns c, const mark_steps steps,
              const __grid_constant__ rims to) {
    cuda::wait_for_kernel_before();
    __shared__ uint4 of_byte[256];
    __shared__ marked_word memory[warps_of_block][strip_rows][words_of_sweep + 1];
    if (p.is_solved()) return;
    fill_distances(of_byte);
    const sweep_place t(c, own_item() / cuda::warp, words_of_sweep, 0);
    if (t.is_beyond(c)) return;
    auto& words = memory[threadIdx.x / cuda::warp];
    for (int k = 0; k < words_of_sweep; ++k) words[own_lane()][k] = t.read(p, c, steps, k);
    __syncwarp();
    eight_cells down(rim_none), up(rim_none);
#pragma unroll 4
    for (int row = 0; row < strip_rows; ++row) {
        const eight_cells g = along_row(words[row][own_lane() / 4], of_byte);
        const std::uint32_t on = 0x10001U * (strip_rows - 1 - row), back = 0x10001U * row;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            down.two[i] = __vminu2(down.two[i], Diagonal ? __vmaxu2(g.two[i], on) : g.two[i] + on);
            up.two[i] = __vminu2(up.two[i], Diagonal ? __vmaxu2(g.two[i], back) : g.two[i] + back);
        }
    }
    const std::int64_t x = t.w * mark_bits + own_lane() * 8;
    if (x >= to.width) return;
    down.write(to.at(0, t.plane, t.strip) + x), up.write(to.at(1, t.plane, t.strip) + x);
}

/// Lowers a lane's cells to one more than the least of those above (or below) them, which `from` has.
template <bool Diagonal>
__device__ void take_step(eight_cells& cells, const eight_cells& from) {
    if constexpr (!Diagonal) {
#pragma unroll
        for (int i = 0; i < 4; ++i) cells.two[i] = __vminu2(cells.two[i], from.two[i] + 0x10001U);
    } else {
        const std::uint32_t first = __shfl_up_sync(cuda::every_lane, from.two[3], 1),
                            last = __shfl_down_sync(cuda::every_lane, from.two[0], 1);
        std::uint32_t between[5];  // the pairs of cells that two words share
#pragma unroll
        for (int i = 0; i < 5; ++i)
            between[i] = __byte_perm(i == 0 ? first : from.two[i - 1], i == 4 ? last : from.two[i], 0x5432);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t least = __vminu2(from.two[i], __vminu2(between[i], between[i + 1]));
            cells.two[i] = __vminu2(cells.two[i], least + 0x10001U);
        }
    }
}

/// Writes a row's distances, of which a lane has four adjacent ones at a time.
template <bool Diagonal, class Out>
__device__ void write_swept(const problem& p, const columns& c, const sweep_place& t, const row_places& rows,
                            std::int64_t z, std::int64_t y, const uint2* row, std::uint32_t most) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int entry = half * cuda::warp + own_lane(), word = entry / 8;
        const std::int64_t x = t.w * mark_bits + entry * 4;
        if (word < halo_words<Diagonal> || word >= words_of_sweep - halo_words<Diagonal> || x >= c.n) continue;
        const uint2 read = row[entry];
        write_four<Out>(p, rows, {z, y, x}, c.n, {read.x & 0xffff, read.x >> 16, read.y & 0xffff, read.y >> 16}, most);
    }
}

/// Finds the distances in strips, by a sweep down and one up. A warp owns a part of a strip, whose rows it keeps in
/// shared memory: at first the words of each row, in an order that rotates by row so that lanes write to all banks.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_sweep)
    sweep_strips(const __grid_constant__ problem p, const __grid_constant__ columns c, const mark_steps steps,
                 const __grid_constant__ rims beside) {
    cuda::wait_for_kernel_before();
    __shared__ uint4 of_byte[256];
    alignas(16) __shared__ uint2 memory[threads_of_sweep / cuda::warp][strip_rows][entries_of_row];
    if (p.is_solved()) return;
    fill_distances(of_byte);
    const int lane = own_lane(), warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const sweep_place t(c, (std::int64_t{blockIdx.x} * threads_of_sweep + threadIdx.x) / cuda::warp,
                        own_words<Diagonal>, halo_words<Diagonal>);
    if (t.is_beyond(c)) return;
    auto& all = memory[warp];
    const auto cells_of = [&](int row) { return reinterpret_cast<uint4*>(all[row]) + lane; };
    const auto entry = [](int row, int k) { return (2 * row + k) % entries_of_row; };
    for (int k = 0; k < words_of_sweep; ++k) all[lane][entry(lane, k)] = t.read(p, c, steps, k);
    __syncwarp();
    const bool closed = p.ends[p.rank - 2] == border::closed;
    const std::int64_t x = t.w * mark_bits + lane * 8;
    eight_cells now = beside.beside(0, t.plane, t.strip - 1, x, closed);
#pragma unroll 4
    for (int row = 0; row < strip_rows; ++row) {
        eight_cells own = along_row(all[row][entry(row, lane / 4)], of_byte);
        take_step<Diagonal>(own, now);
        __syncwarp();
        *cells_of(row) = own.whole(), now = own;
    }
    now = beside.beside(1, t.plane, t.strip + 1, x, closed);
    const std::int64_t image = cuda::quotient(t.plane, c.depth), z = t.plane - image * c.depth;
    const row_places rows(p, c, p.out_step, image);
    with_output(p.out_type, [&]<class Out>(Out, std::uint32_t most) {
#pragma unroll 2
        for (int row = strip_rows - 1; row >= 0; --row) {
            eight_cells own(*cells_of(row));
            take_step<Diagonal>(own, now);
            *cells_of(row) = own.whole(), now = own;
            __syncwarp();
            const std::int64_t y = t.strip * strip_rows + row;
            if (y < c.height) write_swept<Diagonal, Out>(p, c, t, rows, z, y, all[row], most);
        }
    });
}

/// Whether sweeps solve the last two axes of a problem of which sets are tried.
inline bool may_sweep(const problem& p) {
    return limit_of_ways.sweeps && p.most < rim_none &&
           bytes_to_join(p.size[p.rank - 1]) <= cuda::limits().shared_bytes;
}
struct sweep_memory {
    std::int64_t steps, rims;  ///< bytes of each array
    NF_HD explicit sweep_memory(const columns& c)
        : steps(cuda::blocks_for(c.count(), 8) * 16), rims(rims_of(c, nullptr).bytes()) {}
    NF_HD std::int64_t size() const { return 2 * steps + 3 * rims; }
};

/// Solves the last two axes.
template <bool Diagonal>
void sweep(const device& on, problem p, const columns& c, std::byte* memory) {
    const sweep_memory of(c);
    const mark_steps steps{reinterpret_cast<std::uint16_t*>(memory),
                           reinterpret_cast<std::uint16_t*>(memory + of.steps)};
    memory += 2 * of.steps;
    const rims own = rims_of(c, memory), joined = rims_of(c, memory + of.rims);
    const std::int64_t rows = c.images * c.depth * c.height,
                       strips = c.images * c.depth * cuda::blocks_for(c.height, strip_rows);
    const auto parts = [&](int words) { return strips * cuda::blocks_for(c.words, words) * cuda::warp; };
    cuda::launch_overlapped(on, find_steps, cuda::blocks_for(2 * rows, threads_of_block), dim3(threads_of_block), 0, p,
                            c, steps);
    p = try_few_rows<Diagonal>(on, p, c, steps);
    if (has_short_columns(p)) {
        small_pass a{};
        a.marks = c.marks, a.steps = steps;
        if (watched != nullptr) watched->chunks = std::exchange(watched->swept, false);
        return launch_chunks(on, p, p, p.rank - 2, a);
    }
    cuda::launch_overlapped(on, find_rims<Diagonal>, cuda::blocks_for(parts(words_of_sweep), threads_of_block),
                            dim3(threads_of_block), 0, p, c, steps, own);
    if (Diagonal) join_rims(on, p, own, joined, rims_of(c, memory + 2 * of.rims));
    else join_columns_of(on, p, own, joined);
    cuda::launch_overlapped(on, sweep_strips<Diagonal>, cuda::blocks_for(parts(own_words<Diagonal>), threads_of_sweep),
                            dim3(threads_of_sweep), 0, p, c, steps, joined);
}

}  // namespace
}  // namespace nearfield::chessboard
