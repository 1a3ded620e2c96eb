// On a device: finds values, codes, and the cells of each label.
#include <algorithm>

#include "base/lines.hpp"
#include "metrics/cuda_common.cuh"

namespace nearfield::metrics {
namespace {

constexpr int bytes_of_thread = 16;  ///< of an image of the caller
template <class T>
constexpr int cells_of_thread = bytes_of_thread / sizeof(T);

/// An image of the caller.
struct picture {
    const void* data;
    int rank;
    bool contiguous;
    std::int64_t cells, size[max_rank], step[max_rank];

    explicit picture(const any_input<device>& image)
        : data(image.data),
          rank(image.rank),
          contiguous(is_contiguous(image.shape.data(), image.stride.data(), image.rank)),
          cells(image.cells()) {
        for (int axis = 0; axis < rank; ++axis)
            size[axis] = image.shape[static_cast<std::size_t>(axis)],
            step[axis] = image.stride[static_cast<std::size_t>(axis)];
    }
    template <class T>
    __device__ T at(std::int64_t cell) const {
        return static_cast<const T*>(data)[contiguous ? cell : offset_of(cell, size, step, rank)];
    }
    template <class T>
    [[nodiscard]] std::int64_t blocks() const {
        return cuda::blocks_for(cells, threads_of_block * cells_of_thread<T>);
    }
};

/// Values that are consecutive in memory.
template <class T, int Count>
struct alignas(sizeof(T) * Count < 16 ? sizeof(T) * Count : 16) several {
    T at[Count];
};
template <class Several, class T>
__device__ bool is_aligned(const T* data) {
    return reinterpret_cast<std::uintptr_t>(data) % alignof(Several) == 0;
}

/// Reads a thread's consecutive cells, at once if they lie so in memory. Cells beyond the image are 0.
template <class T>
__device__ auto own_values(const picture& image, std::int64_t first) {
    using values = several<T, cells_of_thread<T>>;
    values found{};
    const T* const data = static_cast<const T*>(image.data) + first;
    if (image.contiguous && first + cells_of_thread<T> <= image.cells && is_aligned<values>(data))
        found = *reinterpret_cast<const values*>(data);
    else
        for (int k = 0; k < cells_of_thread<T>; ++k)
            if (first + k < image.cells) found.at[k] = image.at<T>(first + k);
    return found;
}

__device__ inline void note(std::uint8_t* seen) {
    if (*static_cast<volatile std::uint8_t*>(seen) == 0) *static_cast<volatile std::uint8_t*>(seen) = 1;
}

/// The values of one byte that a warp has met: a lane has bits for 32 of them, the last 24 lanes have none.
struct byte_set {
    std::uint32_t mine = 0;

    /// Adds a value of each lane; all lanes call it.
    __device__ void add(unsigned value) {
        const bool known = (__shfl_sync(cuda::every_lane, mine, static_cast<int>(value / 32)) >> value % 32 & 1) != 0;
        for (unsigned left = __ballot_sync(cuda::every_lane, known ? 0 : 1); left != 0;) {
            const unsigned its = __shfl_sync(cuda::every_lane, value, __ffs(static_cast<int>(left)) - 1);
            if (lane_of_thread() == static_cast<int>(its / 32)) mine |= 1U << its % 32;
            left &= ~__ballot_sync(cuda::every_lane, value == its ? 1 : 0);
        }
    }
};

/// Notes values of more than one byte. A thread looks at a value only where it differs from the one before.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    note_values(const __grid_constant__ picture image, std::uint8_t* seen) {
    const auto values = own_values<T>(image, thread_of_grid() * cells_of_thread<T>);
    T last = 0;
#pragma unroll
    for (int k = 0; k < cells_of_thread<T>; ++k) {
        if (values.at[k] == 0 || values.at[k] == last) continue;
        last = values.at[k];
        note(seen + place_of(last));
    }
}
/// Notes values of one byte. A warp has many stretches of the image, and notes what it has met at the end. Bit 0 stands
/// for values below 0.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    note_bytes(const __grid_constant__ picture image, std::uint8_t* seen) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block * cells_of_thread<T>;
    byte_set met;
    bool below = false;
    for (std::int64_t first = thread_of_grid() * cells_of_thread<T>;
         first - cells_of_thread<T> * lane_of_thread() < image.cells; first += stride) {
        const auto values = own_values<T>(image, first);
#pragma unroll
        for (int k = 0; k < cells_of_thread<T>; ++k) {
            below |= static_cast<int>(values.at[k]) < 0;
            met.add(static_cast<unsigned>(place_of(values.at[k])));
        }
    }
    for (int bit = 0; bit < 32; ++bit)
        if ((met.mine >> bit & 1) != 0 && 32 * lane_of_thread() + bit > 0) note(seen + 32 * lane_of_thread() + bit);
    if (below) note(seen);
}

/// Writes codes. A thread looks up a value only where it differs from the one before.
template <class Code, class T>
__global__ void __launch_bounds__(threads_of_block)
    encode_values(const __grid_constant__ picture image, const std::int64_t* value, const std::uint32_t* code,
                  int count, Code* to) {
    const std::int64_t first = thread_of_grid() * cells_of_thread<T>;
    if (first >= image.cells) return;
    const auto values = own_values<T>(image, first);
    using codes = several<Code, cells_of_thread<T>>;
    codes made;
#pragma unroll
    for (int k = 0; k < cells_of_thread<T>; ++k)
        made.at[k] = k > 0 && values.at[k] == values.at[k - 1]
                         ? made.at[k - 1]
                         : static_cast<Code>(code_of(values.at[k], value, code, count));
    if (first + cells_of_thread<T> <= image.cells && is_aligned<codes>(to + first)) {
        *reinterpret_cast<codes*>(to + first) = made;
        return;
    }
    for (int k = 0; k < cells_of_thread<T>; ++k)
        if (first + k < image.cells) to[first + k] = made.at[k];
}

constexpr int lines_of_block = 32;
constexpr int held_codes = 255;  ///< a block counts codes of one byte in its own memory

/// Adds cells of one side to a tally that other threads change.
__device__ inline void add_to(tally& to, int side, const tally& more) {
    atomicAdd(reinterpret_cast<word*>(&to.cells[side]), static_cast<word>(more.cells[side]));
    if (more.common != 0) atomicAdd(reinterpret_cast<word*>(&to.common), static_cast<word>(more.common));
    // A bound only moves one way, so a stale read may cost an atomic but never skips a change.
    for (int axis = 0; axis < most_axes; ++axis) {
        if (more.low[axis] < *static_cast<volatile std::int64_t*>(&to.low[axis]))
            atomicMin(reinterpret_cast<long long*>(&to.low[axis]), static_cast<long long>(more.low[axis]));
        if (more.high[axis] > *static_cast<volatile std::int64_t*>(&to.high[axis]))
            atomicMax(reinterpret_cast<long long*>(&to.high[axis]), static_cast<long long>(more.high[axis]));
    }
}

/// A run of cells with one code in a line, as far as it is known.
struct stretch {
    std::uint32_t code = 0;
    std::int64_t cells = 0, common = 0, first = 0, last = 0;

    __device__ void flush(const problem& p, int side, std::int64_t line, tally* rows) const {
        if (code == 0 || lane_of_thread() != 0) return;
        const std::int64_t plane = cuda::quotient(line, p.size[1]), y = line - plane * p.size[1];
        tally more{{0, 0}, common, {plane, y, first}, {plane, y, last}};
        more.cells[side] = cells;
        add_to(rows[code - 1], side, more);
    }
};

/// A line whose cells are added to the tallies of their codes.
struct line_of_cells {
    const problem& p;
    int side;
    std::int64_t line;
    tally* rows;
    stretch now;

    /// Goes on with a code whose first cell is given, unless the stretch has it.
    __device__ void take(std::uint32_t code, std::int64_t first) {
        if (code != now.code) now.flush(p, side, line, rows), now = {code, 0, 0, first, 0};
    }
    /// Adds 32 cells, one a lane. `same` tells that the other side has the same code.
    __device__ void add(std::int64_t first, std::uint32_t code, bool same) {
        const unsigned common = __ballot_sync(cuda::every_lane, same ? 1 : 0);
        for (unsigned left = __ballot_sync(cuda::every_lane, code != 0 ? 1 : 0); left != 0;) {
            const int source = __ffs(static_cast<int>(left)) - 1;
            const std::uint32_t its = __shfl_sync(cuda::every_lane, code, source);
            const unsigned members = __ballot_sync(cuda::every_lane, code == its ? 1 : 0);
            take(its, first + source);
            now.cells += __popc(members), now.common += __popc(members & common);
            now.last = first + 31 - __clz(static_cast<int>(members));
            left &= ~members;
        }
    }
    /// Adds 128 cells, four a lane; at once if all have one code.
    __device__ void add_fours(std::int64_t first, std::uint32_t mine, std::uint32_t others) {
        const std::uint32_t differ = bytes_not_zero(mine ^ others);
        const std::uint32_t code = __shfl_sync(cuda::every_lane, mine, 0) & 255;
        if (__all_sync(cuda::every_lane, mine == code * 0x01010101U ? 1 : 0) == 0) {
            for (int group = 0; group < lane_codes; ++group)
                add(first + 32 * group, byte_of_group(mine, group), byte_of_group(differ, group) == 0);
        } else if (code != 0) {
            take(code, first);
            now.cells += warp_codes, now.last = first + warp_codes - 1;
            now.common += warp_codes - __reduce_add_sync(cuda::every_lane, static_cast<unsigned>(__popc(differ)));
        }
    }
};

/// Adds a line of an image to the tallies of its codes. Only the first side compares it with the other one.
template <class Code>
__device__ void count_line(const problem& p, int side, std::int64_t line, const Code* mine, const Code* other,
                           tally* rows) {
    const std::int64_t n = p.size[2];
    line_of_cells to{p, side, line, rows, {}};
    if constexpr (sizeof(Code) == 1) {
        for (std::int64_t first = 0; first < n; first += warp_codes) {
            const std::int64_t x = first + lane_codes * lane_of_thread();
            const std::uint32_t own = four_codes(mine, x, n);
            to.add_fours(first, own, side == 0 ? four_codes(other, x, n) : ~own);
        }
    } else {
        for (std::int64_t first = 0; first < n; first += cuda::warp) {
            const std::int64_t x = first + lane_of_thread();
            const Code code = x < n ? mine[x] : 0;
            to.add(first, code, side == 0 && x < n && other[x] == code);
        }
    }
    to.now.flush(p, side, line, rows);
}

/// A block owns lines of one image on one side, a warp every eighth of them. Codes of one byte are counted in the
/// block's memory, because runs of few codes would change the same few words of the call's memory.
template <class Code>
__global__ void __launch_bounds__(threads_of_block)
    count_lines(const __grid_constant__ problem p, const __grid_constant__ coded codes, std::int64_t blocks_of_image,
                tally* rows) {
    constexpr bool holds = sizeof(Code) == 1;
    __shared__ std::int64_t memory[holds ? held_codes * sizeof(tally) / sizeof(std::int64_t) : 1];
    tally* const held = reinterpret_cast<tally*>(memory);
    const std::int64_t which = cuda::quotient(blockIdx.x, blocks_of_image), lines = p.size[0] * p.size[1];
    const std::int64_t image = which < p.images ? which : which - p.images;
    const int side = which < p.images ? 0 : 1;
    rows += image * p.labels;
    for (int k = static_cast<int>(threadIdx.x); holds && k < p.labels; k += threads_of_block) held[k] = {};
    __syncthreads();
    const std::int64_t begin = (blockIdx.x - which * blocks_of_image) * lines_of_block;
    for (int k = static_cast<int>(threadIdx.x) / cuda::warp; k < lines_of_block; k += threads_of_block / cuda::warp) {
        const std::int64_t line = begin + k;
        if (line >= lines) break;
        const std::int64_t first = (image * lines + line) * p.size[2];
        count_line(p, side, line, codes.side<Code>(side) + first, codes.side<Code>(1 - side) + first,
                   holds ? held : rows);
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); holds && k < p.labels; k += threads_of_block)
        if (held[k].cells[side] != 0) add_to(rows[k], side, held[k]);
}

}  // namespace

std::vector<std::int64_t> values_of(const device& on, const any_input<device>& a, const any_input<device>& b) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    std::vector<std::uint8_t> seen(most_found + 1);
    const auto place = memory.reserve<std::uint8_t>(std::ssize(seen));
    memory.allocate();
    auto* const there = memory.get<std::uint8_t>(place);
    clear(on, there, std::ssize(seen));
    for (const any_input<device>* image : {&a, &b}) {
        const picture from(*image);
        with_integer(image->type, [&]<class T>(T) {
            const std::int64_t blocks = from.blocks<T>();
            if constexpr (sizeof(T) == 1)
                cuda::launch(on, note_bytes<T>, std::min(blocks, 8 * cuda::limits().multiprocessors),
                             dim3(threads_of_block), 0, from, there);
            else cuda::launch(on, note_values<T>, blocks, dim3(threads_of_block), 0, from, there);
        });
    }
    copy_from(on, seen, there);
    return listed(seen);
}

void encode(const device& on, const problem& p, const coding& by, const any_input<device>& a,
            const any_input<device>& b, void* codes) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const auto values = memory.reserve<std::int64_t>(p.labels), code = memory.reserve<std::uint32_t>(p.labels);
    memory.allocate();
    copy_to(on, memory.get<std::int64_t>(values), by.value);
    copy_to(on, memory.get<std::uint32_t>(code), by.code);
    for (int side = 0; side < 2; ++side) {
        const picture from(side == 0 ? a : b);
        const auto start = [&]<class Code, class T>(Code, T) {
            cuda::launch(on, encode_values<Code, T>, from.blocks<T>(), dim3(threads_of_block), 0, from,
                         memory.get<std::int64_t>(values), memory.get<std::uint32_t>(code), p.labels,
                         static_cast<Code*>(codes) + side * p.cells());
        };
        with_integer(side == 0 ? a.type : b.type, [&]<class T>(T value) {
            if (p.wide_codes()) start(std::uint32_t{}, value);
            else start(std::uint8_t{}, value);
        });
    }
}

std::vector<tally> count(const device& on, const problem& p, const coded& codes) {
    const cuda::device_guard current(on);
    std::vector<tally> rows(static_cast<std::size_t>(p.images * p.labels));
    cuda::workspace memory(on);
    const auto place = memory.reserve<tally>(std::ssize(rows));
    memory.allocate();
    auto* const there = memory.get<tally>(place);
    copy_to(on, there, rows);
    const std::int64_t of_image = cuda::blocks_for(p.size[0] * p.size[1], lines_of_block);
    const auto start = [&]<class Code>(Code) {
        cuda::launch(on, count_lines<Code>, 2 * p.images * of_image, dim3(threads_of_block), 0, p, codes, of_image,
                     there);
    };
    if (p.wide_codes()) start(std::uint32_t{});
    else start(std::uint8_t{});
    copy_from(on, rows, there);
    return rows;
}

}  // namespace nearfield::metrics
