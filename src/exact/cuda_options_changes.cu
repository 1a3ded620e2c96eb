#include "exact/cuda_options_changes.cuh"

#include <algorithm>
#include <type_traits>

#include "base/lines.hpp"
#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int pack_warps = 8;
constexpr int pack_threads = pack_warps * cuda::warp;
// Lines that a warp packs one after another, so that each is read once for itself and for the line after it.
constexpr int pack_rows = 8;

/// What packing needs to know of the grid.
struct packed_changes {
    label_changes to;
    std::int64_t rows[most_other_axes];           ///< of the axes before the last
    std::int64_t lines_between[most_other_axes];  ///< lines between two rows
    bool periodic[most_other_axes];
    bool periodic_last;
    std::int64_t lines, length, words;
};

/// Rows from a line to the one before it along an axis: none, where there is no such line, since a line does not differ
/// from itself.
__device__ inline std::int64_t rows_back(const packed_changes& to, int axis, std::int64_t line) {
    const std::int64_t above = quotient(line, to.lines_between[axis]);
    if (above != quotient(above, to.rows[axis]) * to.rows[axis]) return -1;
    return to.periodic[axis] ? to.rows[axis] - 1 : 0;
}

/// Which cells a warp packs: 32 words of a line at most.
struct word_stretch {
    std::int64_t line, word;
    int words;

    __device__ word_stretch(std::int64_t lines, std::int64_t words_of_line) {
        const std::int64_t stretches = (words_of_line + cuda::warp - 1) / cuda::warp;
        const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * pack_warps + threadIdx.y;
        line = quotient(nth, stretches);
        word = (nth - line * stretches) * cuda::warp;
        words = line < lines ? static_cast<int>(min(words_of_line - word, static_cast<std::int64_t>(cuda::warp))) : 0;
    }
};

/// A lane a cell of each word in turn. Where there is no cell before, the cell itself stands for it.
template <class Bits, int Others>
__global__ void __launch_bounds__(pack_threads)
    pack_by_cells(const Bits* image, const __grid_constant__ packed_changes of) {
    cuda::wait_for_kernel_before();
    of.to.flags.clear();
    const word_stretch mine(of.lines, of.words);
    const int lane = threadIdx.x;
    const Bits* const line = image + mine.line * of.length;
    const Bits* before[Others];
#pragma unroll
    for (int i = 0; i < Others; ++i) before[i] = line + rows_back(of, i, mine.line) * of.lines_between[i] * of.length;
    std::uint32_t last = 0, zeros = 0, along[Others] = {};
#pragma unroll 4
    for (int w = 0; w < mine.words; ++w) {
        const std::int64_t x = (mine.word + w) * cuda::warp + lane, at = min(x, of.length - 1);
        const std::int64_t left = at > 0 ? at - 1 : of.periodic_last ? of.length - 1 : 0;
        const bool within = x < of.length;
        const Bits own = line[at];
        std::uint32_t bits = __ballot_sync(cuda::every_lane, within && own != line[left]);
        if (lane == w) last = bits;
        bits = __ballot_sync(cuda::every_lane, within && own == 0);
        if (lane == w) zeros = bits;
#pragma unroll
        for (int i = 0; i < Others; ++i) {
            bits = __ballot_sync(cuda::every_lane, within && own != before[i][at]);
            if (lane == w) along[i] = bits;
        }
    }
    if (lane >= mine.words) return;
    const std::int64_t word = mine.line * of.words + mine.word + lane;
    of.to.along_last[word] = last;
    if (of.to.zeros != nullptr) of.to.zeros[word] = zeros;
#pragma unroll
    for (int i = 0; i < Others; ++i) of.to.along[i][word] = along[i];
}

/// Neighbouring cells of a lane: 8, or 16 of one byte each, whose bits it stores by itself.
template <class Bits>
struct lane_cells {
    static constexpr int each = 16 / sizeof(Bits), loads = each < 8 ? 8 / each : 1, count = loads * each;
    using stored = std::conditional_t<count == 8, std::uint8_t, std::uint16_t>;
    Bits cell[count];

    lane_cells() = default;
    __device__ explicit lane_cells(const Bits* from) {
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            const uint4 sixteen = __ldg(reinterpret_cast<const uint4*>(from) + i);
            memcpy(cell + i * each, &sixteen, sizeof(sixteen));
        }
    }
    /// A bit for each cell: it is not that of the other.
    __device__ std::uint32_t differs(const lane_cells& other) const {
        return bits_of([&](int i) { return cell[i] != other.cell[i]; });
    }
    /// Not the one before, of which `left` is before the first.
    __device__ std::uint32_t changes(Bits left) const {
        return bits_of([&](int i) { return cell[i] != (i > 0 ? cell[(i + count - 1) % count] : left); });
    }
    __device__ std::uint32_t zeros() const {
        return bits_of([&](int i) { return cell[i] == 0; });
    }

private:
    template <class Is>
    __device__ static std::uint32_t bits_of(const Is& is) {
        std::uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < count; ++i) bits |= (is(i) ? 1u : 0u) << i;
        return bits;
    }
};

/// Which cells a warp packs by lanes: a lane's of each of 32 lanes, of up to `pack_rows` lines that follow each other
/// along the axis before the last.
struct row_stretch {
    std::int64_t first_line, row, x;  ///< row of the first line; x of the warp's first cell
    int rows;

    __device__ row_stretch(const packed_changes& of, int others, int cells) {
        const std::int64_t along = of.rows[others - 1], groups = (along + pack_rows - 1) / pack_rows,
                           stretches = (of.length + cells - 1) / cells,
                           nth = static_cast<std::int64_t>(blockIdx.x) * pack_warps + threadIdx.y,
                           above = quotient(nth, stretches), outer = quotient(above, groups);
        x = (nth - above * stretches) * cells;
        row = (above - outer * groups) * pack_rows;
        first_line = outer * along + row;
        rows = first_line < of.lines ? static_cast<int>(min(along - row, static_cast<std::int64_t>(pack_rows))) : 0;
    }
};

/// The same of lines that are whole words and begin at multiples of 16 bytes.
template <class Bits, int Others>
__global__ void __launch_bounds__(pack_threads)
    pack_by_lanes(const Bits* image, const __grid_constant__ packed_changes of) {
    cuda::wait_for_kernel_before();
    of.to.flags.clear();
    using cells = lane_cells<Bits>;
    const row_stretch mine(of, Others, cells::count * cuda::warp);
    if (mine.rows == 0) return;
    // So many loads are under way at once as registers hold.
    constexpr int at_once = Others == 1 && (sizeof(Bits) == 2 || sizeof(Bits) == 4) ? 4 : 2;
    const int lane = threadIdx.x;
    const std::int64_t x = mine.x + lane * cells::count;
    const bool within = x < of.length;
    const Bits* from = image + mine.first_line * of.length + (within ? x : mine.x);
    std::int64_t at = (mine.first_line * of.words * mark_bits + x) / cells::count, before[Others];
#pragma unroll
    for (int i = 0; i < Others; ++i) before[i] = rows_back(of, i, mine.first_line) * of.lines_between[i] * of.length;
    cells above(from + before[Others - 1]);
    for (int first = 0; first < mine.rows; first += at_once) {
        cells own[at_once], others[at_once][Others];
        Bits ahead[at_once];
#pragma unroll
        for (int r = 0; r < at_once; ++r) {
            const Bits* const row = from + min(first + r, mine.rows - 1) * of.length;
            own[r] = cells(row);
#pragma unroll
            for (int i = 0; i < Others - 1; ++i) others[r][i] = cells(row + before[i]);
            ahead[r] = lane != 0          ? Bits{}
                       : x > 0            ? __ldg(row - 1)
                       : of.periodic_last ? __ldg(row + of.length - 1)
                                          : own[r].cell[0];
        }
#pragma unroll
        for (int r = 0; r < at_once; ++r) {
            const cells& up = r > 0 ? own[(r + at_once - 1) % at_once] : above;
            Bits left = __shfl_up_sync(cuda::every_lane, own[r].cell[cells::count - 1], 1);
            if (lane == 0) left = ahead[r];
            if (within && first + r < mine.rows) {
                const std::int64_t to = at + (first + r) * (of.words * mark_bits / cells::count);
                const auto put = [&](std::uint32_t* words, std::uint32_t bits) {
                    reinterpret_cast<typename cells::stored*>(words)[to] = static_cast<typename cells::stored>(bits);
                };
                put(of.to.along_last, own[r].changes(left));
                if (of.to.zeros != nullptr) put(of.to.zeros, own[r].zeros());
                put(of.to.along[Others - 1], own[r].differs(up));
#pragma unroll
                for (int i = 0; i < Others - 1; ++i) put(of.to.along[i], own[r].differs(others[r][i]));
            }
        }
        above = own[at_once - 1];
    }
}

template <class Body>
void with_bits(int bytes, const Body& body) {
    switch (bytes) {
        case 1: return body(std::uint8_t{});
        case 2: return body(std::uint16_t{});
        case 4: return body(std::uint32_t{});
        default: return body(std::uint64_t{});
    }
}

template <class Bits, int Others>
void launch(const device& on, const elements& image, const packed_changes& of) {
    const bool by_lanes = of.length % mark_bits == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0;
    const std::int64_t along = of.rows[Others - 1],
                       warps = by_lanes ? of.lines / along * blocks_for(along, pack_rows) *
                                              blocks_for(of.length, lane_cells<Bits>::count * cuda::warp)
                                        : of.lines * blocks_for(of.words, cuda::warp);
    cuda::launch_overlapped(on, by_lanes ? pack_by_lanes<Bits, Others> : pack_by_cells<Bits, Others>,
                            blocks_for(warps, pack_warps), dim3(cuda::warp, pack_warps), 0,
                            reinterpret_cast<const Bits*>(image.data), of);
}

}  // namespace

void pack_changes(const device& on, const plan& p, const elements& image, const label_changes& to) {
    const auto size = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    const auto is_periodic = [&](int axis) { return p.borders[static_cast<std::size_t>(axis)] == border::periodic; };
    packed_changes of{};
    of.to = to;
    for (int axis = p.first_axis; axis < p.rank - 1; ++axis) {
        const int i = axis - p.first_axis;
        of.rows[i] = size(axis);
        of.lines_between[i] = cells_between(p.size.data(), axis + 1, p.rank - 1);
        of.periodic[i] = is_periodic(axis);
    }
    of.periodic_last = is_periodic(p.rank - 1);
    of.length = size(p.rank - 1), of.lines = p.cells / of.length, of.words = blocks_for(of.length, mark_bits);
    with_bits(image.bytes, [&]<class Bits>(Bits) {
        switch (p.rank - p.first_axis - 1) {
            case 1: return launch<Bits, 1>(on, image, of);
            case 2: return launch<Bits, 2>(on, image, of);
            default: return launch<Bits, 3>(on, image, of);
        }
    });
}

}  // namespace nearfield::exact
