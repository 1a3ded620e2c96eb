// Mends nearest sites where ends of periodic axes meet. Fields have the sites of a search that knows nothing of the repetition
// of the grid round it. A cell's site is right if it is nearer than the repetition, which begins m cells away; what else lies
// at most `reach` cells from an end looks through those rows of the repetition that are near enough.
//
// That no cell further within needs mending shows at those with m = reach. Let each of them have a site less than reach away, and
// c be one further within, s a site of the repetition. On the way from c to s some point p has m = reach, on a line of cells,
// one of which, q, is within 0.5 of it. Its site t has |c t| <= |c p| + 0.5 + |q t|, and |c s| >= |c p| + reach, so that t is
// nearer where |q t| <= reach - 1. Otherwise the call is refused.
#pragma once

#include "exact/cuda_keyed_target.cuh"
#include "exact/cuda_options_words.cuh"

namespace nearfield::exact {
namespace {

constexpr int seam_warps = 8;

struct seam_axis {
    std::int32_t size;
    bool periodic;

    /// Cells to the repetition; many where there is none.
    __device__ std::int32_t to_end(std::int32_t at) const { return periodic ? min(at + 1, size - at) : INT32_MAX; }
    /// How many are within `reach` of an end, and the nth of them.
    NF_HD std::int32_t near_ends(int reach) const { return !periodic ? 0 : 2 * reach < size ? 2 * reach : size; }
    __device__ std::int32_t near_end(int reach, std::int32_t nth) const {
        return nth < reach ? nth : size - near_ends(reach) + nth;
    }
    __device__ bool within(std::int32_t at) const { return at >= 0 && at < size; }
    __device__ std::int32_t own(std::int32_t at) const { return at < 0 ? at + size : at >= size ? at - size : at; }
};

struct seams {
    seam_axis x, y;
    const std::uint32_t* bits;
    std::int64_t words;  ///< of a line
    std::int64_t lines;
    int reach;
    int last_axis;  ///< of the problem
    std::int32_t* refused;
    site_sink to;
};

/// A site of a cell, or none.
struct seam_site {
    std::int32_t value, x, y;
    bool any;

    /// In the order of the tie rule.
    __device__ bool wins(const seam_site& other) const {
        if (!other.any || value != other.value) return !other.any ? value <= other.value : value < other.value;
        return x != other.x ? x < other.x : y < other.y;
    }
};

/// Cells from x to the nearest site of a line to one side, `most` at most; more where there is none.
template <bool Left>
__device__ int cells_to_site(const std::uint32_t* bits, const seam_axis& along, std::int32_t x, int most) {
    for (int done = 0; done <= most;) {
        const std::int32_t at = Left ? x - done : x + done;
        if (!along.periodic && !along.within(at)) break;
        const std::int32_t own = along.own(at), bit = own % mark_bits;
        const std::uint32_t word = bits[own / mark_bits];
        if (Left) {
            const std::uint32_t upto = word << (31 - bit);
            if (upto != 0) return done + __clz(static_cast<int>(upto));
            done += bit + 1;
        } else {
            const std::uint32_t from = word >> bit;
            if (from != 0) return done + __ffs(static_cast<int>(from)) - 1;
            done += min(mark_bits - bit, along.size - own);
        }
    }
    return most + 1;
}

/// Looks through a row, dy from the cell: all of it where it is one of the repetition, else what lies behind the ends of the last
/// axis.
__device__ inline void look_in_row(const seams& s, const std::uint32_t* bits, std::int32_t x, std::int32_t y,
                                   std::int32_t dy, bool repeated, seam_site& best) {
    const auto most = static_cast<int>(__fsqrt_rn(static_cast<float>(best.value - dy * dy)));
    const auto offer = [&](int cells, std::int32_t at) {
        const seam_site site{cells * cells + dy * dy, s.x.own(at), y, true};
        if (cells <= most && site.wins(best)) best = site;
    };
    if (repeated || (s.x.periodic && x < most)) {
        const int skipped = repeated ? 0 : x + 1;
        const int left = skipped + cells_to_site<true>(bits, s.x, x - skipped, most - skipped);
        offer(left, x - left);
    }
    if (repeated || (s.x.periodic && s.x.size - 1 - x < most)) {
        const int skipped = repeated ? 0 : s.x.size - x;
        const int right = skipped + cells_to_site<false>(bits, s.x, x + skipped, most - skipped);
        offer(right, x + right);
    }
}

/// The nearest site of all, `best` being that of the grid alone.
__device__ inline seam_site mended(const seams& s, std::int64_t image_lines, std::int32_t x, std::int32_t y,
                                   seam_site best) {
    const auto high = static_cast<int>(__fsqrt_rn(static_cast<float>(best.value)));
    for (int dy = -high; dy <= high; ++dy) {
        const bool repeated = !s.y.within(y + dy);
        if (dy * dy > best.value || (repeated && !s.y.periodic)) continue;
        const std::int32_t at = s.y.own(y + dy);
        look_in_row(s, s.bits + (image_lines + at) * s.words, x, at, dy, repeated, best);
    }
    return best;
}

__device__ inline void put_mended(const seams& s, std::int64_t cell, const seam_site& site) {
    const outputs& out = s.to.out;
    const std::int64_t index = static_cast<std::int64_t>(site.y) * s.x.size + site.x;
    out.put_value(cell, site.value, last_value<std::int32_t>());
    if (out.index) out.index[cell] = index;
    if (out.index32) out.index32[cell] = static_cast<std::int32_t>(index);
    if (!out.coordinates) return;
    for (int source = 0; source < out.image_rank; ++source) {
        const int axis = out.problem_axis[source];
        out.coordinates[source * out.cells + cell] = axis < 0 ? 0 : axis == s.last_axis ? site.x : site.y;
    }
}

/// One cell of the image whose first line is `image_lines`, with m cells to the repetition.
template <class Index>
__device__ void mend_cell(const seams& s, const Index* index, std::int64_t image_lines, std::int32_t x, std::int32_t y,
                          int m) {
    const std::int64_t cell = (image_lines + y) * s.x.size + x, at = index[cell];
    // Without a limit there is no site in all of the image.
    if (at < 0 && !s.to.limited) return;
    seam_site site{s.to.template limit_in<std::int32_t>(), 0, 0, at >= 0};
    if (at >= 0) {
        site.y = static_cast<std::int32_t>(quotient(at, s.x.size));
        site.x = static_cast<std::int32_t>(at - static_cast<std::int64_t>(site.y) * s.x.size);
        const std::int64_t dx = site.x - x, dy = site.y - y, value = dx * dx + dy * dy;
        site.value = static_cast<std::int32_t>(min(value, std::int64_t{INT32_MAX}));
    }
    const int most = m == s.reach ? (s.reach - 1) * (s.reach - 1) : s.reach * s.reach - 1;
    if (site.value > most) *s.refused = 1;
    if (site.value > most || site.value < m * m) return;
    const seam_site found = mended(s, image_lines, x, y, site);
    if (found.any && found.wins(site)) put_mended(s, cell, found);
}

/// Cells near the ends of the last axis, and not of the other: a warp 32 lines one below the other, a lane a line.
template <class Index>
__global__ void __launch_bounds__(seam_warps* cuda::warp)
    mend_ends(const __grid_constant__ seams s, const Index* index) {
    cuda::wait_for_kernel_before();
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * seam_warps + threadIdx.y,
                       near = s.x.near_ends(s.reach), group = quotient(nth, near),
                       line = group * cuda::warp + threadIdx.x;
    if (line >= s.lines) return;
    const std::int64_t image = quotient(line, s.y.size);
    const auto y = static_cast<std::int32_t>(line - image * s.y.size);
    if (s.y.to_end(y) <= s.reach) return;
    const std::int32_t x = s.x.near_end(s.reach, static_cast<std::int32_t>(nth - group * near));
    mend_cell(s, index, image * s.y.size, x, y, s.x.to_end(x));
}

/// Lines near the ends of the other axis: a warp a word, a lane a cell.
template <class Index>
__global__ void __launch_bounds__(seam_warps* cuda::warp)
    mend_lines(const __grid_constant__ seams s, const Index* index) {
    cuda::wait_for_kernel_before();
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * seam_warps + threadIdx.y,
                       line = quotient(nth, s.words), near = s.y.near_ends(s.reach), image = quotient(line, near);
    const auto x =
        static_cast<std::int32_t>((nth - line * s.words) * mark_bits) + static_cast<std::int32_t>(threadIdx.x);
    if ((image + 1) * s.y.size > s.lines || x >= s.x.size) return;
    const std::int32_t y = s.y.near_end(s.reach, static_cast<std::int32_t>(line - image * near));
    mend_cell(s, index, image * s.y.size, x, y, min(s.y.to_end(y), s.x.to_end(x)));
}

}  // namespace
}  // namespace nearfield::exact
