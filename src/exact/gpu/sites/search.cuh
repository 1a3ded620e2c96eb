// The kernels that search nearest sites in words: the second axis from packed lines (words.cuh), the third from the
// state of the second, by steps (steps.cuh). Windows with few sites, and others that steps leave unresolved, are solved
// between pivot rows (between.cuh), by a sweep (sweep.cuh) or by hulls (unresolved.cuh).
#pragma once

#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/sites/steps.cuh"

namespace nearfield::exact {
namespace {

constexpr int sites_per_10000 = 25;  // from this share on, steps cost less than searches between pivot rows
constexpr std::int32_t widest_gap =
    32;  // distance of the middle of 32 rows from their nearest site beyond which steps cannot finish

/// Packed lines and their nearest sites: a row's offset to the left is negative.
struct site_words : word_lines {
    __device__ static std::int32_t value(std::int32_t loaded) { return loaded * loaded; }

    class reader {
    public:
        __device__ reader(const site_words& of, const word_group& group, int lane)
            : words_(of.words(group)), bit_(lane) {}
        __device__ std::int32_t load(std::int64_t row) const {
            const line_word word = words_[row];
            return word.any() ? word.to_site(bit_) : none;
        }
        __device__ static bool is_site(std::int32_t loaded) { return loaded != none; }
        __device__ static offset site(std::int32_t loaded) { return {loaded, 0}; }

    private:
        static constexpr std::int32_t none = 1 << 20;
        const line_word* words_;
        int bit_;
    };

    template <ending End>
    __device__ site_target<End, 1> target(const metric<std::int32_t>& m, std::uint32_t* next, const site_sink& to,
                                          const word_group& group, int lane) const {
        const auto length = static_cast<std::int32_t>(lines.length);
        const std::int32_t x = group.x + lane;
        return {m, to, next,   first_cell(group, lane), x, static_cast<std::int32_t>(pitch),
                x, 0,  length, words_beyond(to.limit)};
    }
};

/// Lines with the states of the second axis.
struct site_states : pass_lines {
    const std::uint32_t* cells;

    __device__ static std::int32_t value(std::int32_t loaded) {
        const offset to = reader::site(loaded);
        return to.dx * to.dx + to.dy * to.dy;
    }

    class reader {
    public:
        __device__ reader(const site_states& of, const value_group& group, int lane)
            : cells_(of.cells + of.state_cell(group, lane)), inner_(of.g.inner) {}
        __device__ std::int32_t load(std::int64_t row) const { return static_cast<std::int32_t>(cells_[row * inner_]); }
        __device__ static bool is_site(std::int32_t loaded) {
            return static_cast<std::uint32_t>(loaded) != empty_state;
        }
        __device__ static offset site(std::int32_t loaded) {
            return offset_of_state(static_cast<std::uint32_t>(loaded));
        }

    private:
        const std::uint32_t* cells_;
        std::int64_t inner_;
    };

    template <ending End>
    __device__ site_target<End, 2> target(const metric<std::int32_t>& m, std::uint32_t*, const site_sink& to,
                                          const value_group& group, int lane) const {
        const std::int64_t column = group.number * cuda::warp + lane;
        const auto here = static_cast<std::int32_t>(in_fields(column - quotient(column, g.inner) * g.inner));
        const auto width = static_cast<std::int32_t>(m.size[m.rank - 1]);
        return {m,
                to,
                nullptr,
                first_cell(group, lane),
                here,
                static_cast<std::int32_t>(inner()),
                here % width,
                here / width,
                width,
                words_beyond(to.limit)};
    }
};

/// Shared memory of a warp: the source of its strip, then its edges.
template <int Rows>
union warp_memory {
    uint4 words[Rows + 2 * strip_halo];
    strip_edges edges;
};
template <int Rows>
inline constexpr int warp_pitch = sizeof(warp_memory<Rows>) / sizeof(std::uint32_t);

/// Prepares the strip's rows of words for all lanes, and counts its own sites; a wide gap counts as a large negative
/// number.
template <int Rows>
__device__ int ready_words(const line_word* words, const block_rows& b, uint4* ready) {
    constexpr int all = Rows + 2 * strip_halo;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, first = b.strip_start() - strip_halo;
    int sites = 0;
    bool gap = false;
#pragma unroll
    for (int i = 0; i < all; i += cuda::warp) {
        const int row = first + i + lane, end = min(b.rows, first + all);
        const line_word word = row >= 0 && row < end ? words[row] : word_without_sites();
        if (i + lane < all) ready[i + lane] = ready_for_lanes(word);
        if (i + lane >= strip_halo && i + lane < strip_halo + Rows) sites += __popc(word.sites);
        if (Rows >= cuda::warp && i + cuda::warp > all) continue;  // too few rows for the test
        const std::int32_t near = word.sites != 0 ? 0 : min(min(word.before(), word.after()), widest_gap);
        const std::int32_t apart = lane - min(end - first - i, cuda::warp) / 2;
        gap |=
            first + i < b.rows && !__any_sync(cuda::every_lane, near * near + apart * apart < widest_gap * widest_gap);
    }
    sites = __reduce_add_sync(cuda::every_lane, sites);
    return gap ? -1'000'000 : sites;
}

/// Returns true, in all threads, if steps are likely to finish. `counts` holds one number per warp.
__device__ inline bool many_sites(int of_strip, const block_rows& b, int width, int* counts) {
    const int warps = static_cast<int>(blockDim.x) / cuda::warp;
    if (threadIdx.x % cuda::warp == 0) counts[threadIdx.x / cuda::warp] = of_strip;
    __syncthreads();
    int sites = 0;
    for (int w = 0; w < warps; ++w) sites += counts[w];
    return sites * 10000LL >=
           static_cast<long long>(sites_per_10000) * min(b.rows - b.start, warps * b.strip_rows) * width;
}

/// Searches the second axis. A block owns a window of 32 lines.
template <int Rows, ending End>
__global__ void __launch_bounds__(strip_threads<Rows>, 1)
    search_sites_of_words(const site_words lines, const windows cut, const metric<std::int32_t> m,
                          const unresolved_tiles unresolved, const std::int32_t* many, std::uint32_t* next,
                          const site_sink to) {
    cuda::wait_for_kernel_before();
    if (gpu::are_few(many)) return;
    extern __shared__ uint4 shared_words[];
    __shared__ int counts[strip_warps<Rows>];
    auto* const memory = reinterpret_cast<warp_memory<Rows>*>(shared_words);
    const auto at = lines.place(cut, blockIdx.x);
    const block_rows b(cut, at.window, lines.rows(), Rows);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, nth = static_cast<int>(threadIdx.x) / cuda::warp;
    const int width = lines.width(at.group);
    const line_word* const words = lines.words(at.group);
    const site_target<End, 1> target = lines.template target<End>(m, next, to, at.group, lane);
    warp_memory<Rows>& mine = memory[nth];
    const int sites = ready_words<Rows>(words, b, mine.words);
    if (many_sites(sites, b, width, counts) || to.limit < offset_reach) {
        strip<Rows> v;
        const nearest_in_rows nearest(static_cast<std::uint32_t>(lane));
#pragma unroll
        for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = nearest(mine.words[i]);
        if (finish_strips<Rows>(v, b, target, lane < width, memory[0].edges, warp_pitch<Rows>)) return;
    }
    // Images, which have no state, are finished between pivot rows, so their list names images.
    unresolved.add(End == ending::state ? at.group.number : at.group.outer);
}

/// Searches the third axis. A block owns a window of 32 lines.
template <int Rows, ending End>
__global__ void __launch_bounds__(strip_threads<Rows>, 1)
    search_sites_of_states(const site_states lines, const windows cut, const metric<std::int32_t> m,
                           const unresolved_tiles unresolved, const std::int32_t* many,
                           const std::uint32_t beyond_steps, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t edges[];
    if (gpu::are_few(many)) return;
    const auto at = lines.place(cut, blockIdx.x);
    const block_rows b(cut, at.window, lines.rows(), Rows);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, width = lines.width(at.group);
    // Lanes beyond the last line read it too, but do not write.
    const int mine = min(lane, width - 1);
    const site_target<End, 2> target = lines.template target<End>(m, nullptr, to, at.group, mine);
    const int start = b.strip_start() - strip_halo;
    const std::int64_t inner = static_cast<std::int32_t>(lines.g.inner);
    const std::uint32_t* const from = lines.cells + lines.state_cell(at.group, mine) + start * inner;
    strip<Rows> v;
    if (start >= 0 && start + Rows + 2 * strip_halo <= b.rows) {
#pragma unroll
        for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = from[i * inner];
    } else {
#pragma unroll
        for (int i = 0; i < Rows + 2 * strip_halo; ++i)
            v[i] = start + i >= 0 && start + i < b.rows ? from[i * inner] : near_cap;
    }
#pragma unroll
    for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = min(v[i], near_cap);
    if (!finish_strips<Rows>(v, b, target, lane < width, edges, sizeof(strip_edges) / sizeof(std::uint32_t),
                             beyond_steps))
        unresolved.add(at.group.number);
}

}  // namespace
}  // namespace nearfield::exact
