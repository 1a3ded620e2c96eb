// The kernels of cuda_wrapped.cuh: the second axis from packed lines (cuda_bits.cuh), of images to fields, of volumes to a
// state that the third axis is searched in. A tile that has cells farther from all sites than steps reach raises a flag, and
// the general search does the call.
#pragma once

#include "exact/cuda_windows.cuh"
#include "exact/cuda_wrapped.cuh"

namespace nearfield::exact {
namespace {

/// The axes of a problem, those of a volume or of images.
struct rings {
    ring x, y, z;
    int last_axis;  ///< of the problem
};

/// The caller's fields, of the image whose cells begin at `image`.
template <ending End>
struct wrapped_fields {
    const rings& axes;
    const site_sink& to;
    std::int64_t image;

    __device__ void put(std::int32_t x, std::int32_t y, std::int32_t z, std::uint32_t word, std::int32_t at_x,
                        std::int32_t at_y, std::int32_t at_z) const {
        const auto value = static_cast<std::int32_t>(word / wrapped_one);
        const bool none = word >= wrapped_none || value > to.limit;
        const std::int64_t row = static_cast<std::int64_t>(axes.y.size) * z + y, cell = image + row * axes.x.size + x;
        const std::int64_t index =
            none ? -1 : (static_cast<std::int64_t>(axes.y.size) * at_z + at_y) * axes.x.size + at_x;
        if constexpr (End == ending::index32) to.out.index32[cell] = static_cast<std::int32_t>(index);
        else if constexpr (End == ending::index64) to.out.index[cell] = index;
        else put_fields(cell, none ? no_site<std::int32_t>() : value, index, at_x, at_y, at_z);
    }

private:
    __device__ void put_fields(std::int64_t cell, std::int32_t value, std::int64_t index, std::int32_t at_x,
                               std::int32_t at_y, std::int32_t at_z) const {
        const outputs& out = to.out;
        out.put_value(cell, value, no_site<std::int32_t>() - 1);
        if (out.index) out.index[cell] = index;
        if (out.index32) out.index32[cell] = static_cast<std::int32_t>(index);
        if (!out.coordinates) return;
        for (int source = 0; source < out.image_rank; ++source) {
            const int axis = out.problem_axis[source];
            const std::int32_t at = axis < 0                     ? 0
                                    : axis == axes.last_axis     ? at_x
                                    : axis == axes.last_axis - 1 ? at_y
                                                                 : at_z;
            out.coordinates[source * out.cells + cell] = index < 0 ? -1 : at;
        }
    }
};

/// A row of one word column, where the line goes on behind its ends: sites of the cells behind the last one are those of the
/// first ones.
__device__ inline line_word wrapped_word(const packed_lines& lines, const line_word* words, std::int64_t row,
                                         std::int64_t column, bool periodic) {
    line_word word = words[column * lines.rows + row];
    const auto first = static_cast<std::int32_t>(column) * cuda::warp, length = static_cast<std::int32_t>(lines.length),
               behind = length - first;  // cells from the word's first one to the end
    if (!periodic || (column > 0 && behind > 2 * cuda::warp)) return word;
    std::uint32_t before = word.beside & 0xffff, after = word.beside >> 16;
    if (column == 0 && before == nowhere_beside) {
        const line_word last = words[(lines.columns - 1) * lines.rows + row];
        const std::int32_t of_last = static_cast<std::int32_t>(lines.columns - 1) * cuda::warp;
        if (last.sites != 0) before = length - of_last - 31 + __clz(static_cast<int>(last.sites));
        else if (last.before() != nowhere_beside) before = length - of_last + last.before();
    }
    const line_word head = words[row];
    if (behind <= cuda::warp) {
        if (behind < cuda::warp) word.sites |= head.sites << behind;
        const std::uint32_t rest = behind < cuda::warp ? head.sites >> (cuda::warp - behind) : head.sites;
        if (rest != 0) after = __ffs(static_cast<int>(rest));
        else if (head.after() != nowhere_beside) after = behind + head.after();
    } else if (after == nowhere_beside) {
        const std::int32_t nearest = head.sites != 0 ? __ffs(static_cast<int>(head.sites)) - 1 : 31 + head.after();
        if (head.any()) after = behind - cuda::warp + 1 + nearest;
    }
    word.beside = min(before, nowhere_beside) | min(after, nowhere_beside) << 16;
    return word;
}

/// Shared memory of a warp: what its strip is filled from, then its edges.
union wrapped_memory {
    uint4 words[wrapped_words];
    wrapped_edges edges;
};
constexpr int wrapped_pitch = sizeof(wrapped_memory) / sizeof(std::uint32_t);

/// A block a window of 32 lines of the second axis. Without `fields` it leaves the state of the third.
template <ending End>
__global__ void __launch_bounds__(wrapped_threads, 2)
    search_wrapped_words(const word_lines lines, const wrapped_cut cut, const rings axes, std::int32_t* refused,
                         std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ uint4 shared_words[];
    if (__syncthreads_or(*static_cast<volatile std::int32_t*>(refused))) return;
    auto* const memory = reinterpret_cast<wrapped_memory*>(shared_words);
    const std::int64_t number = quotient(blockIdx.x, cut.windows);
    const word_group group = lines.group_of(number);
    const wrapped_strip s(axes.y, cut, static_cast<int>(blockIdx.x - number * cut.windows));
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    wrapped_memory& mine = memory[threadIdx.x / cuda::warp];
    const line_word* const words = lines.lines.words + group.outer * lines.lines.columns * lines.lines.rows;
    for (int i = lane; i < wrapped_words; i += cuda::warp) {
        line_word word = word_without_sites();
        if (s.looks_at(i - wrapped_halo))
            word = wrapped_word(lines.lines, words, axes.y.own(s.first + i - wrapped_halo), group.x / cuda::warp,
                                axes.x.periodic);
        mine.words[i] = ready_for_lanes(word);
    }
    __syncwarp();
    const std::int32_t x = group.x + lane, base_x = axes.x.base_at(x);
    const nearest_in_rows lanes(static_cast<std::uint32_t>(lane));
    std::uint32_t v[wrapped_words];
#pragma unroll
    for (int i = 0; i < wrapped_words; ++i) {
        const auto apart = lanes.apart(mine.words[i]);
        const auto of = [&](std::uint32_t d, std::int32_t at) {
            return d > wrapped_reach ? wrapped_none
                                     : d * d * wrapped_one + seven(at, base_x) * along_last +
                                           seven(s.first + i - wrapped_halo, s.base);
        };
        v[i] = min(of(apart.left, x - static_cast<std::int32_t>(apart.left)),
                   of(apart.right, x + static_cast<std::int32_t>(apart.right)));
        v[i] = min(v[i], wrapped_none);
    }
    __syncwarp();
    const std::int64_t image = group.outer * lines.lines.rows * lines.lines.length;
    const wrapped_fields<End> fields{axes, to, image};
    const auto put = [&](std::int32_t y, std::uint32_t word) {
        const std::int32_t at_y = from_seven(word & seven_bits, s.base, y);
        if constexpr (End == ending::state) {
            const std::uint32_t middle = seven(at_y, axes.y.base_at(y)) * along_middle;
            next[image + static_cast<std::int64_t>(y) * axes.x.size + x] =
                word >= wrapped_none ? wrapped_none : (word & ~seven_bits) | middle;
        } else {
            const std::int32_t at_x = from_seven(word / along_last & seven_bits, base_x, x);
            fields.put(x, y, 0, word, axes.x.own(at_x), axes.y.own(at_y), 0);
        }
    };
    const bool writes = lane < lines.width(group);
    if (!finish_wrapped<End != ending::state, End != ending::fields, wrapped_pitch>(v, s, to.limit, writes,
                                                                                    memory[0].edges, put) &&
        threadIdx.x == 0)
        *refused = 1;
}

/// A block a window of 32 lines of the third axis.
template <ending End>
__global__ void __launch_bounds__(wrapped_threads, 2)
    search_wrapped_states(const std::uint32_t* state, std::int64_t columns, const wrapped_cut cut, const rings axes,
                          std::int32_t* refused, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t edges[];
    if (__syncthreads_or(*static_cast<volatile std::int32_t*>(refused))) return;
    const std::int64_t number = quotient(blockIdx.x, cut.windows),
                       plane = static_cast<std::int64_t>(axes.y.size) * axes.x.size;
    const wrapped_strip s(axes.z, cut, static_cast<int>(blockIdx.x - number * cut.windows));
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    // Lanes beyond the last line read it too, but do not write.
    const std::int64_t column = min(number * cuda::warp + lane, columns - 1), volume = quotient(column, plane),
                       here = column - volume * plane, image = volume * plane * axes.z.size;
    const auto y = static_cast<std::int32_t>(quotient(here, axes.x.size)),
               x = static_cast<std::int32_t>(here - static_cast<std::int64_t>(y) * axes.x.size);
    std::uint32_t v[wrapped_words];
#pragma unroll
    for (int i = 0; i < wrapped_words; ++i) {
        const int row = i - wrapped_halo;
        v[i] = wrapped_none;
        if (s.looks_at(row)) v[i] = state[image + here + axes.z.own(s.first + row) * plane];
    }
#pragma unroll
    for (int i = 0; i < wrapped_words; ++i)
        if (v[i] < wrapped_none) v[i] |= seven(s.first + i - wrapped_halo, s.base);
    const wrapped_fields<End> fields{axes, to, image};
    const auto put = [&](std::int32_t z, std::uint32_t word) {
        const std::int32_t at_x = from_seven(word / along_last & seven_bits, axes.x.base_at(x), x),
                           at_y = from_seven(word / along_middle & seven_bits, axes.y.base_at(y), y),
                           at_z = from_seven(word & seven_bits, s.base, z);
        fields.put(x, y, z, word, axes.x.own(at_x), axes.y.own(at_y), axes.z.own(at_z));
    };
    const bool writes = number * cuda::warp + lane < columns;
    if (!finish_wrapped<true, End != ending::fields, sizeof(wrapped_edges) / sizeof(std::uint32_t)>(
            v, s, to.limit, writes, edges, put) &&
        threadIdx.x == 0)
        *refused = 1;
}

}  // namespace
}  // namespace nearfield::exact
