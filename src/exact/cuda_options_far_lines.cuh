// Images in which some cell is far from all of another class: signs and labels, in unit spacing, with open borders.
//
// As the plain engine does it (cuda_posts.cuh): every 32nd row is a post. The winning row never moves back along a
// line, so that between two posts only the rows from the winner at the one to the winner at the other can win. Here a
// cell's rows are those of its own class in its column up to the next one of another class to either side, which is
// worth 0: what lies beyond it is farther. A post's winners are found along it in the same manner.
#pragma once

#include "exact/cuda_options_far.hpp"
#include "exact/cuda_options_gate.cuh"
#include "exact/cuda_post_squares.cuh"

namespace nearfield::exact {
namespace {

constexpr int far_warps = 32, far_threads = far_warps * cuda::warp;
constexpr std::int32_t none_before = -(1 << 28), none_after = 1 << 28;

/// What the kernels know of a call.
struct far_shape : far_call {
    int columns, words_of_bits, posts;  ///< words of a row; words of bits for them; of an image

    explicit far_shape(const far_call& c)
        : far_call(c),
          columns(static_cast<int>((c.length + word_cells - 1) / word_cells)),
          words_of_bits((columns + 31) / 32),
          posts(static_cast<int>((c.rows + post_rows - 1) / post_rows) + 1) {}
    [[nodiscard]] __device__ int row_of(int post) const {
        return post < posts - 1 ? post * post_rows : static_cast<int>(rows) - 1;
    }
    [[nodiscard]] __device__ std::int64_t column(std::int64_t image, int column) const {
        return (image * columns + column) * rows;
    }
    [[nodiscard]] __device__ std::int64_t post(std::int64_t image, int post) const {
        return (image * posts + post) * length;
    }
    /// Of the 32 cells of a word those that are within the line.
    [[nodiscard]] __device__ std::uint32_t valid(int word) const {
        const std::int64_t cells = length - std::int64_t{word} * word_cells;
        return cells >= word_cells ? ~0u : (1u << cells) - 1;
    }
    /// Changes along a row, of the words of its classes.
    [[nodiscard]] __device__ std::uint32_t changes_of(const std::uint32_t* row, int word) const {
        if (along != nullptr) return row[word];
        const std::uint32_t own = row[word], before = word > 0 ? row[word - 1] >> 31 : own & 1;
        return (own ^ (own << 1 | before)) & valid(word);
    }
    /// And from the row above.
    [[nodiscard]] __device__ std::uint32_t downs_of(const std::uint32_t* row, std::int64_t y, int word) const {
        if (along != nullptr) return along[row - classes + word];
        return y > 0 ? (row[word] ^ row[word - columns]) & valid(word) : 0;
    }
};

__device__ inline std::int32_t before(const class_word& w) { return static_cast<std::int32_t>(w.beside & 0xffff); }
__device__ inline std::int32_t after(const class_word& w) { return static_cast<std::int32_t>(w.beside >> 16); }
/// Cells from cell `bit` to the nearest one of another class in its row; 65535 or more where there is none.
__device__ inline std::int32_t distance_in(const class_word& w, int bit) {
    const std::uint32_t upto = w.changes << (31 - bit), behind = w.changes >> bit >> 1;
    const std::int32_t left = upto != 0 ? __clz(static_cast<int>(upto)) + 1 : before(w) + bit,
                       right = behind != 0 ? __ffs(static_cast<int>(behind)) : after(w) + 31 - bit;
    return min(left, right);
}
__device__ inline class_word word_without_changes() { return {0, nowhere_beside | nowhere_beside << 16}; }

/// Words of 32 rows, turned round so that rows are neighbours in memory; a warp a row.
struct far_pack_memory {
    class_word words[cuda::warp * (cuda::warp + 1)];
    std::uint32_t downs[cuda::warp * (cuda::warp + 1)];
};

/// The changes that end a stretch of 32 words of a row.
class far_stretches {
public:
    __device__ far_stretches(std::int32_t* memory, int count)
        : firsts_(memory + static_cast<int>(threadIdx.x) / cuda::warp * count),
          lasts_(firsts_ + far_warps * count),
          count_(count) {}
    __device__ void note(int nth, std::uint32_t word) const {
        const std::uint32_t filled = __ballot_sync(cuda::every_lane, word != 0);
        const int low = __ffs(static_cast<int>(filled)) - 1, high = 31 - __clz(static_cast<int>(filled));
        const int first = __shfl_sync(cuda::every_lane, __ffs(static_cast<int>(word)) - 1, low),
                  last = __shfl_sync(cuda::every_lane, 31 - __clz(static_cast<int>(word)), high);
        if (threadIdx.x % cuda::warp != 0) return;
        firsts_[nth] = filled != 0 ? (nth * cuda::warp + low) * cuda::warp + first : none_after;
        lasts_[nth] = filled != 0 ? (nth * cuda::warp + high) * cuda::warp + last : none_before;
    }
    /// Of all: from own ends to those of the stretches before and after.
    __device__ void carry() const {
        __syncwarp();
        if (threadIdx.x % cuda::warp == 0) {
            std::int32_t last = none_before, first = none_after;
            for (int i = 0; i < count_; ++i) {
                const std::int32_t own = lasts_[i];
                lasts_[i] = last, last = max(last, own);
            }
            for (int i = count_ - 1; i >= 0; --i) {
                const std::int32_t own = firsts_[i];
                firsts_[i] = first, first = min(first, own);
            }
        }
        __syncwarp();
    }
    /// The lane's word with its neighbours, of stretch `nth`.
    __device__ class_word full(int nth, std::uint32_t word) const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        const std::uint32_t filled = __ballot_sync(cuda::every_lane, word != 0), lower = filled & ((1u << lane) - 1),
                            upper = filled & ~((2u << lane) - 1);
        const int low = 31 - __clz(static_cast<int>(lower)), high = __ffs(static_cast<int>(upper)) - 1;
        const int last = __shfl_sync(cuda::every_lane, 31 - __clz(static_cast<int>(word)), low & 31),
                  first = __shfl_sync(cuda::every_lane, __ffs(static_cast<int>(word)) - 1, high & 31);
        const std::int32_t start = (nth * cuda::warp + lane) * cuda::warp,
                           change = lower != 0 ? (nth * cuda::warp + low) * cuda::warp + last : lasts_[nth],
                           next = upper != 0 ? (nth * cuda::warp + high) * cuda::warp + first : firsts_[nth];
        const std::uint32_t to_left = change >= 0 ? static_cast<std::uint32_t>(start - change + 1) : nowhere_beside,
                            to_right =
                                next < none_after ? static_cast<std::uint32_t>(next - start - 31) : nowhere_beside;
        return {word, to_left | to_right << 16};
    }

private:
    std::int32_t *firsts_, *lasts_;
    int count_;
};
inline std::size_t far_stretch_bytes(const far_shape& c) {
    return 2 * far_warps * static_cast<std::size_t>(c.words_of_bits) * sizeof(std::int32_t);
}

/// A block 32 rows of an image, a warp a row.
__global__ void __launch_bounds__(far_threads) pack_far_lines(const gate when, const __grid_constant__ far_shape c) {
    __shared__ far_pack_memory m;
    extern __shared__ std::int32_t far_ends[];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto rows = static_cast<int>(c.rows), groups = (rows + cuda::warp - 1) / cuda::warp;
    if (when.shut()) return;
    cuda::wait_for_kernel_before();
    if (blockIdx.x == 0 && threadIdx.x == 0) *c.taken = 0;
    for (std::int64_t block = blockIdx.x; block < when.blocks; block += gridDim.x) {
        const std::int64_t image = quotient(block, groups);
        const int first_row = static_cast<int>(block - image * groups) * cuda::warp, row = first_row + warp;
        const std::uint32_t* const line = c.classes + (image * rows + min(row, rows - 1)) * c.columns;
        const far_stretches ends(far_ends, c.words_of_bits);
        for (int i = 0; i < c.words_of_bits; ++i) {
            const int word = i * cuda::warp + lane;
            ends.note(i, word < c.columns ? c.changes_of(line, word) : 0);
        }
        ends.carry();
        for (int i = 0; i < c.words_of_bits; ++i) {
            const int word = i * cuda::warp + lane;
            const std::uint32_t own = word < c.columns ? c.changes_of(line, word) : 0;
            m.words[warp * (cuda::warp + 1) + lane] = ends.full(i, own);
            m.downs[warp * (cuda::warp + 1) + lane] = word < c.columns ? c.downs_of(line, row, word) : 0;
            __syncthreads();
            const int column = i * cuda::warp + warp;
            if (column < c.columns && first_row + lane < rows) {
                const std::int64_t to = c.column(image, column) + first_row + lane;
                c.lines[to] = m.words[lane * (cuda::warp + 1) + warp];
                c.downs[to] = m.downs[lane * (cuda::warp + 1) + warp];
            }
            __syncthreads();
        }
    }
}

/// A block 32 columns of an image, a warp one chunk of rows after another, as nearest_to_posts does it: of each post's
/// cells the nearest row of another class. Bit i of `at[k]`: row 32 * k + i + 1 is not of the class of the row above.
__global__ void __launch_bounds__(far_threads) find_far_nearest(const gate when, const __grid_constant__ far_shape c) {
    extern __shared__ std::int32_t far_ends[];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int last_post = c.posts - 1, chunks = (last_post + chunk_posts - 1) / chunk_posts,
              rows = static_cast<int>(c.rows);
    std::int32_t* const firsts = far_ends + lane;
    std::int32_t* const lasts = firsts + chunks * cuda::warp;
    each_block(when, [&](std::int64_t block) {
        const std::int64_t image = quotient(block, c.columns);
        const int column = static_cast<int>(block - image * c.columns), x = column * cuda::warp + lane;
        const std::uint32_t* const downs = c.downs + c.column(image, column);
        std::uint32_t at[chunk_posts];
        const auto load = [&](int first_row) {
#pragma unroll
            for (int i = 0; i < chunk_posts; ++i) {
                const int row = first_row + i * cuda::warp + lane + 1;
                at[i] = row < rows ? downs[row] : 0;
            }
#pragma unroll
            for (auto& one : at) one = turn_bits(one);
        };
        // The rows that a change lies between: above it and below.
        const auto above_last = [&](int first_row, int i) {
            return first_row + i * cuda::warp + 31 - __clz(static_cast<int>(at[i]));
        };
        const auto below_first = [&](int first_row, int i) {
            return first_row + i * cuda::warp + __ffs(static_cast<int>(at[i]));
        };
        for (int chunk = warp; chunk < chunks; chunk += far_warps) {
            const int first_row = chunk * chunk_rows;
            load(first_row);
            std::int32_t first = none_after, last = -1;
#pragma unroll
            for (int i = 0; i < chunk_posts; ++i)
                if (at[i] != 0) last = above_last(first_row, i), first = min(first, below_first(first_row, i));
            firsts[chunk * cuda::warp] = first, lasts[chunk * cuda::warp] = last;
        }
        __syncthreads();
        for (int chunk = warp; chunk < chunks; chunk += far_warps) {
            const int first_row = chunk * chunk_rows;
            if (chunks > far_warps) load(first_row);
            std::int32_t up = -1, down = none_after;
            for (int i = 0; i < chunk; ++i) up = max(up, lasts[i * cuda::warp]);
            for (int i = chunk + 1; i < chunks; ++i) down = min(down, firsts[i * cuda::warp]);
            std::int32_t found[chunk_posts];
#pragma unroll
            for (int i = 0; i < chunk_posts; ++i) {
                found[i] = up;
                if (at[i] != 0) up = above_last(first_row, i);
            }
#pragma unroll
            for (int i = chunk_posts - 1; i >= 0; --i) {
                const int row = first_row + i * cuda::warp;
                if (at[i] != 0) down = below_first(first_row, i);
                if (found[i] < 0 || down - row < row - found[i]) found[i] = down < none_after ? down : -1;
            }
            if (x >= c.length) continue;
            std::int32_t* cell = c.nearest + c.post(image, chunk * chunk_posts) + x;
#pragma unroll
            for (int i = 0; i < chunk_posts; ++i, cell += c.length)
                if (chunk * chunk_posts + i < last_post) *cell = found[i];
            if (chunk == chunks - 1) c.nearest[c.post(image, last_post) + x] = up;
        }
        __syncthreads();
    });
}

}  // namespace
}  // namespace nearfield::exact
