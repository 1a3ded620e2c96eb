// The kernels of cuda_wrapped.cuh: the second axis from packed lines (cuda_bits.cuh), of images to fields, of volumes to a
// state that the third axis is searched in. A tile that has cells farther from all sites than steps reach raises a flag, and
// the general search does the call.
#pragma once

#include "exact/cuda_options_gate.cuh"
#include "exact/cuda_wrapped.cuh"

namespace nearfield::exact {
namespace {

/// The axes of a problem, those of a volume or of images.
struct rings {
    ring x, y, z;
    int last_axis;  ///< of the problem
};

/// The lines of a block, the calling lane's among them, and where their cells go. `Done` axes are searched before this pass.
template <ending End, int Done>
struct wrapped_target {
    static constexpr ending ends = End;
    static constexpr int done = Done;

    const rings& axes;
    const site_sink& to;
    std::uint32_t* next;      ///< state of the third pass
    std::int64_t first;       ///< cell of the line's first row
    std::int32_t x, y;        ///< of the line
    std::int64_t inner;       ///< cells from row to row
    std::uint32_t too_large;  ///< words from here on are of no site within the limit
    bool over_ends;           ///< of the warp: some line is near ends of axes that are searched already

    /// Of the strip's rows [from, to) that are written; `open` where some are not final.
    __device__ void put_words(const std::uint32_t* words, const wrapped_strip& s, bool open,
                              std::uint32_t final) const {
        const std::int32_t row = here_and_now(s.first), from = here_and_now(s.from), to = here_and_now(s.to);
        if constexpr (End == ending::fields) {
            // In memory of the thread's own, so that what puts any fields stands here once and not once a row.
            std::uint32_t mine[wrapped_rows];
#pragma unroll
            for (int i = 0; i < wrapped_rows; ++i) mine[i] = words[i];
#pragma unroll 1
            for (int i = from; i < to; ++i) put_fields(row + i, mine[i]);
        } else {
            const std::uint32_t bound = End == ending::state ? final : too_large;
            if (s.at_seam() || from > 0 || to < wrapped_rows) put_rows<places::any>(words, s, row, from, to, bound);
            else if (End == ending::state ? open : over_ends || this->to.limited)
                put_rows<places::over_ends>(words, s, row, from, to, bound);
            else put_rows<places::inside>(words, s, row, from, to, bound);
        }
    }

private:
    using number = std::conditional_t<End == ending::index64, std::int64_t, std::int32_t>;
    /// What there is: whole strips whose sites lie between the ends and count; sites over ends of axes that are searched already, or
    /// that do not count; sites over all ends, and strips of which not all rows are written.
    enum class places : std::uint8_t { inside, over_ends, any };
    /// What a word says of the site, biased, and the rows to it.
    struct found_site {
        std::int32_t x, y, along;
    };

    /// Images of fewer than 2^31 cells, lines of fewer than 2^16.
    template <places Where>
    __device__ void put_rows(const std::uint32_t* words, const wrapped_strip& s, std::int32_t row, std::int32_t from,
                             std::int32_t to, std::uint32_t bound) const {
        number* cell = nullptr;
        if constexpr (End == ending::state) cell = reinterpret_cast<number*>(next);
        else if constexpr (End == ending::index32) cell = this->to.out.index32;
        else cell = this->to.out.index;
        cell += first + row * inner;
        const auto width = static_cast<std::uint32_t>(axes.x.size), pitch = static_cast<std::uint32_t>(inner);
        // Of the site, less what its word says; one of class 1 is a line further on.
        std::uint32_t index = static_cast<std::uint32_t>(row) * pitch + static_cast<std::uint32_t>(x - wrapped_bias);
        if (axes.x.near_last(x)) index -= width;
        if constexpr (Done == 2) {
            index += static_cast<std::uint32_t>(y - wrapped_bias - (axes.y.near_last(y) ? axes.y.size : 0)) * width;
            index -= rows_bias * pitch;
        }
        const std::uint32_t all = static_cast<std::uint32_t>(s.along.size) * pitch,
                            plane = static_cast<std::uint32_t>(axes.y.size) * width;
#pragma unroll
        for (int i = 0; i < wrapped_rows; ++i, cell += inner, index += pitch) {
            const std::uint32_t word = words[i];
            std::uint32_t mine;
            if constexpr (End == ending::state) {
                mine = state_of<Where == places::any>(word, s.along, row + i);
                if (Where != places::inside && word >= bound) mine = wrapped_none + no_way;
            } else {
                std::int32_t along;
                if constexpr (Done == 1) {
                    along = static_cast<std::int32_t>((word / wrapped_y) & 255) * sign_of(word);
                    mine = index + ((word / wrapped_x) & 127) + static_cast<std::uint32_t>(along) * pitch;
                } else {
                    const std::uint32_t biased = biased_rows(word);
                    along = static_cast<std::int32_t>(biased - rows_bias);
                    mine = __dp2a_lo(width | 1u << 16, (word / wrapped_y) & 0x7f7f, index + biased * pitch);
                }
                if constexpr (Where != places::inside) {
                    if (word & wrapped_class) mine += width;
                    if (Done == 2 && (word & wrapped_class_y) != 0) mine += plane;
                    if (word >= bound) mine = UINT32_MAX;
                }
                if constexpr (Where == places::any) {
                    if (row + i + along < 0) mine += all;
                    if (row + i + along >= s.along.size) mine -= all;
                    if (word >= bound) mine = UINT32_MAX;
                }
            }
            if (Where != places::any || (i >= from && i < to)) *cell = static_cast<std::int32_t>(mine);
        }
    }

    /// The third pass's word.
    template <bool Seam>
    __device__ std::uint32_t state_of(std::uint32_t word, const ring& along, std::int32_t row) const {
        const std::uint32_t rows = word & (255 * wrapped_y);
        std::uint32_t fits = (word & ~(wrapped_x - 1)) + static_cast<std::uint32_t>(sign_of(word)) * rows +
                             (wrapped_bias * wrapped_y + no_way);
        if constexpr (Seam)
            if (along.class_of(row, row + sign_of(word) * static_cast<std::int32_t>(rows / wrapped_y)))
                fits += wrapped_class_y;
        return fits;
    }
    __device__ void put_fields(std::int32_t row, std::uint32_t word) const {
        const outputs& out = to.out;
        const std::int64_t cell = first + row * inner;
        const auto value = static_cast<std::int32_t>(word / wrapped_one);
        const bool none = word >= too_large;
        const found_site site = site_of(word);
        const std::int32_t at_x = axes.x.own(x + site.x % 128 - wrapped_bias);
        std::int32_t at_y = 0, at_z = 0;
        if constexpr (Done == 2)
            at_y = axes.y.own(y + site.y % 128 - wrapped_bias), at_z = axes.z.own(row + site.along);
        else at_y = axes.y.own(row + site.along);
        const std::int64_t index =
            none ? -1 : (static_cast<std::int64_t>(axes.y.size) * at_z + at_y) * axes.x.size + at_x;
        out.put_value(cell, none ? no_site<std::int32_t>() : value, no_site<std::int32_t>() - 1);
        if (out.index) out.index[cell] = index;
        if (out.index32) out.index32[cell] = static_cast<std::int32_t>(index);
        if (!out.coordinates) return;
        for (int source = 0; source < out.image_rank; ++source) {
            const int axis = out.problem_axis[source];
            const std::int32_t at = axis < 0                     ? 0
                                    : axis == axes.last_axis     ? at_x
                                    : axis == axes.last_axis - 1 ? at_y
                                                                 : at_z;
            out.coordinates[source * out.cells + cell] = none ? -1 : at;
        }
    }
    static __device__ found_site site_of(std::uint32_t word) {
        const auto at_x = static_cast<std::int32_t>((word / wrapped_x) & 255),
                   low = static_cast<std::int32_t>((word / wrapped_y) & 255);
        if constexpr (Done == 1) return {at_x, 0, low * sign_of(word)};
        else return {at_x, low, static_cast<std::int32_t>(biased_rows(word) - rows_bias)};
    }
    /// Of the third pass: rows to the site, which the root of what dx and dy leave of d^2 says, and rows_bias more.
    static constexpr std::uint32_t rows_bias = 0x4b400000;
    static __device__ std::uint32_t biased_rows(std::uint32_t word) {
        // Both biased offsets as bytes: the sum of (b - 64)^2 is that of b b, of -128 b and of 64^2.
        const auto bytes = static_cast<std::int32_t>((word / wrapped_y) & 0x7f7f);
        const std::int32_t squares = __dp4a(
            bytes, bytes, __dp4a(bytes, static_cast<std::int32_t>(0x80808080u), 2 * wrapped_bias * wrapped_bias));
        const std::uint32_t rest = word / wrapped_one - static_cast<std::uint32_t>(squares);
        // The root of a square is near enough to a whole number; sums with 2^23 and 2^23 * 1.5 convert.
        std::uint32_t root;
        asm("sqrt.approx.ftz.f32 %0, %1;"
            : "=r"(root)
            : "r"(__float_as_uint(__uint_as_float(rest | 0x4b000000u) - 8388608.0f)));
        const float signed_root = __uint_as_float(root ^ (word << 31));  // of a site before: negative
        return __float_as_uint(signed_root + 12582912.0f);
    }
    /// 1 of a site after the cell, -1 of one before it: a product is cheaper than a choice.
    static __device__ std::int32_t sign_of(std::uint32_t word) { return 1 - 2 * static_cast<std::int32_t>(word & 1); }
};

/// Words of the search from which on no site lies within the limit.
__device__ inline std::uint32_t wrapped_beyond(std::int64_t limit) {
    return limit + 1 < wrapped_reach * wrapped_reach ? static_cast<std::uint32_t>(limit + 1) * wrapped_one
                                                     : wrapped_none;
}

/// A word of a row near the ends of its line, which meet: sites of the cells behind the last one are those of the first ones.
__device__ inline line_word over_ends(const packed_lines& lines, const line_word* words, std::int64_t row,
                                      std::int32_t first, line_word word) {
    const auto length = static_cast<std::int32_t>(lines.length),
               behind = length - first;  // cells from the word's first one to the end
    std::uint32_t before = word.beside & 0xffff, after = word.beside >> 16;
    if (first < wrapped_reach && before == nowhere_beside) {
        const line_word last = words[(lines.columns - 1) * lines.rows + row];
        const std::int32_t of_last = static_cast<std::int32_t>(lines.columns - 1) * cuda::warp;
        if (last.sites != 0) before = first + length - of_last - 31 + __clz(static_cast<int>(last.sites));
        else if (last.before() != nowhere_beside) before = first + length - of_last + last.before();
    }
    const line_word head = words[row];
    if (behind <= cuda::warp) {
        if (behind < cuda::warp) word.sites |= head.sites << behind;
        const std::uint32_t rest = behind < cuda::warp ? head.sites >> (cuda::warp - behind) : head.sites;
        if (rest != 0) after = __ffs(static_cast<int>(rest));
        else if (head.after() != nowhere_beside) after = behind + head.after();
    } else if (after == nowhere_beside && head.any()) {
        after =
            behind - cuda::warp + 1 + (head.sites != 0 ? __ffs(static_cast<int>(head.sites)) - 1 : 31 + head.after());
    }
    word.beside = min(before, nowhere_beside) | min(after, nowhere_beside) << 16;
    return word;
}

/// A word made ready for the lanes of a warp, as ready_for_lanes().
__device__ inline uint4 ready_for_wrapped(const line_word& word) {
    constexpr std::int32_t clipped = wrapped_reach + 1;
    return {word.sites, __brev(word.sites), static_cast<std::uint32_t>(min(word.before(), clipped)),
            static_cast<std::uint32_t>(min(word.after(), clipped))};
}

/// Shared memory of a warp: what its strip is filled from, then its edges.
union wrapped_memory {
    uint4 words[wrapped_words];
    strip_edges edges;
};
constexpr int wrapped_pitch = sizeof(wrapped_memory) / sizeof(std::uint32_t);

/// The word of the search for the site of its row that is nearest to the calling lane's cell.
class wrapped_nearest {
public:
    __device__ wrapped_nearest(const ring& along, std::int32_t x)
        : lanes_(static_cast<std::uint32_t>(x % cuda::warp)),
          base_(wrapped_bias * wrapped_x + no_way + (along.near_last(x) ? wrapped_class : 0)),
          left_(along.near_first(x) ? static_cast<std::uint32_t>(x) : UINT32_MAX),
          right_(along.near_last(x) ? static_cast<std::uint32_t>(along.size - 1 - x) : UINT32_MAX) {}
    /// `OverEnds` where sites may lie over the ends.
    template <bool OverEnds>
    __device__ std::uint32_t of(const uint4& row) const {
        const auto [left, right] = lanes_.apart(row);
        const std::uint32_t before = left * (left * wrapped_one - wrapped_x) + base_,
                            after = right * (right * wrapped_one + wrapped_x) + base_;
        if constexpr (!OverEnds) return __vimin3_u32(before, after, wrapped_none + no_way);
        return __vimin3_u32(before + (left > left_ ? wrapped_class : 0), after - (right > right_ ? wrapped_class : 0),
                            wrapped_none + no_way);
    }

private:
    nearest_in_rows lanes_;
    std::uint32_t base_, left_, right_;
};

/// A block windows of the second axis of 32 lines. A state is left where it is not the last.
template <ending End>
__global__ void __launch_bounds__(wrapped_threads, 1)
    search_wrapped_words(const gate when, const word_lines lines, const wrapped_cut cut, const rings axes,
                         const wrapped_flag flag, std::uint32_t* next, const site_sink to) {
    each_block(when, [&](std::int64_t block) {
        extern __shared__ uint4 shared_words[];
        if (flag.is_set()) return;
        auto* const memory = reinterpret_cast<wrapped_memory*>(shared_words);
        const std::int64_t number = quotient(block, cut.windows);
        const word_group group = lines.group_of(number);
        const wrapped_strip s(axes.y, cut, static_cast<int>(block - number * cut.windows));
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        const std::int32_t x = group.x + lane;
        const bool near_ends =
            axes.x.periodic && (group.x < wrapped_reach || group.x + cuda::warp + wrapped_reach >= axes.x.size);
        wrapped_memory& mine = memory[threadIdx.x / cuda::warp];
        const line_word* const words = lines.lines.words + group.outer * lines.lines.columns * lines.lines.rows;
        const line_word* const of_column = words + group.x / cuda::warp * lines.lines.rows;
#pragma unroll
        for (int i = 0; i < wrapped_words; i += cuda::warp) {
            const std::int32_t row = s.first + i + lane - strip_halo;
            const line_word word = s.has(row) ? of_column[axes.y.own(row)] : word_without_sites();
            if (i + lane < wrapped_words) mine.words[i + lane] = ready_for_wrapped(word);
        }
        const wrapped_nearest nearest(axes.x, x);
        strip<wrapped_rows> v;
        if (near_ends) {
#pragma unroll 1
            for (int i = lane; i < wrapped_words; i += cuda::warp) {
                const std::int32_t row = s.first + i - strip_halo;
                if (s.has(row))
                    mine.words[i] = ready_for_wrapped(
                        over_ends(lines.lines, words, axes.y.own(row), group.x, of_column[axes.y.own(row)]));
            }
            __syncwarp();
#pragma unroll
            for (int i = 0; i < wrapped_words; ++i) v[i] = nearest.of<true>(mine.words[i]);
        } else {
            __syncwarp();
#pragma unroll
            for (int i = 0; i < wrapped_words; ++i) v[i] = nearest.of<false>(mine.words[i]);
        }
        mark_ends(v, s);
        __syncwarp();
        const std::int64_t image = group.outer * lines.lines.rows * lines.lines.length;
        const wrapped_target<End, 1> target{axes,     to, next, image + x, x, 0, axes.x.size, wrapped_beyond(to.limit),
                                            near_ends};
        if (!finish_wrapped<wrapped_pitch>(v, s, target, lane < lines.width(group), memory[0].edges, flag) &&
            End != ending::state)
            flag.set();
    });
}

/// A block windows of the third axis of 32 lines.
template <ending End>
__global__ void __launch_bounds__(wrapped_threads, 1)
    search_wrapped_states(const gate when, const std::uint32_t* state, std::int64_t columns, const wrapped_cut cut,
                          const rings axes, const wrapped_flag flag, const site_sink to) {
    each_block(when, [&](std::int64_t block) {
        extern __shared__ std::uint32_t edges[];
        if (flag.is_set()) return;
        const std::int64_t number = quotient(block, cut.windows),
                           plane = static_cast<std::int64_t>(axes.y.size) * axes.x.size;
        const wrapped_strip s(axes.z, cut, static_cast<int>(block - number * cut.windows));
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        // Lanes beyond the last line read it too, but do not write.
        const std::int64_t column = min(number * cuda::warp + lane, columns - 1), volume = quotient(column, plane),
                           here = column - volume * plane, first = volume * plane * axes.z.size + here;
        const auto y = static_cast<std::int32_t>(quotient(here, axes.x.size)),
                   x = static_cast<std::int32_t>(here - static_cast<std::int64_t>(y) * axes.x.size);
        strip<wrapped_rows> v;
        if (s.first >= 0 && s.first + wrapped_rows <= s.along.size) {
            const std::uint32_t* const from = state + first + s.first * plane;
#pragma unroll
            for (int i = 0; i < wrapped_rows; ++i) v[strip_halo + i] = from[i * plane];
#pragma unroll
            for (int i = 0; i < strip_halo; ++i) {
                const std::int32_t above = s.first - strip_halo + i, below = s.first + wrapped_rows + i;
                v[i] = s.has(above) ? state[first + s.along.own(above) * plane] : wrapped_none + no_way;
                v[strip_halo + wrapped_rows + i] =
                    s.has(below) ? state[first + s.along.own(below) * plane] : wrapped_none + no_way;
            }
        } else {
#pragma unroll
            for (int i = 0; i < wrapped_words; ++i) {
                const std::int32_t row = s.first - strip_halo + i;
                v[i] = s.has(row) ? state[first + s.along.own(row) * plane] : wrapped_none + no_way;
            }
        }
#pragma unroll
        for (int i = 0; i < wrapped_words; ++i) v[i] = min(v[i], wrapped_none + no_way);
        mark_ends(v, s);
        const wrapped_target<End, 2> target{
            axes,
            to,
            nullptr,
            first,
            x,
            y,
            plane,
            wrapped_beyond(to.limit),
            __any_sync(cuda::every_lane, axes.x.near_end(x) || axes.y.near_end(y)) != 0};
        if (!finish_wrapped<sizeof(strip_edges) / sizeof(std::uint32_t)>(
                v, s, target, number * cuda::warp + lane < columns, edges, flag))
            flag.set();
    });
}

}  // namespace
}  // namespace nearfield::exact
