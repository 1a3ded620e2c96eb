// On a device: finds values, codes, and the cells of each label.
#include "base/lines.hpp"
#include "metrics/cuda_common.cuh"

namespace nearfield::metrics {
namespace {

constexpr int cells_of_thread = 8;

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
    [[nodiscard]] std::int64_t blocks() const { return cuda::blocks_for(cells, threads_of_block * cells_of_thread); }
};

/// A block owns consecutive cells, a thread every 256th of them, so that accesses are coalesced.
template <class Body>
__device__ void for_own_cells(std::int64_t cells, const Body& body) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * threads_of_block * cells_of_thread + threadIdx.x;
    for (int k = 0; k < cells_of_thread; ++k)
        if (const std::int64_t cell = first + k * threads_of_block; cell < cells) body(cell);
}

template <class T>
__global__ void __launch_bounds__(threads_of_block)
    note_values(const __grid_constant__ picture image, std::uint8_t* seen) {
    for_own_cells(image.cells, [&](std::int64_t cell) {
        const T value = image.at<T>(cell);
        if (value == 0) return;
        volatile std::uint8_t* const place = seen + place_of(value);
        if (*place == 0) *place = 1;
    });
}

template <class Code, class T>
__global__ void __launch_bounds__(threads_of_block)
    encode_values(const __grid_constant__ picture image, const std::int64_t* value, const std::uint32_t* code,
                  int count, Code* to) {
    for_own_cells(image.cells, [&](std::int64_t cell) {
        to[cell] = static_cast<Code>(code_of(image.at<T>(cell), value, code, count));
    });
}

/// A run of cells with one code in a line, as far as it is known.
struct stretch {
    std::uint32_t code = 0;
    std::int64_t cells = 0, common = 0, first = 0, last = 0;

    __device__ void flush(const problem& p, int side, std::int64_t line, tally* rows) const {
        if (code == 0 || lane_of_thread() != 0) return;
        const std::int64_t plane = cuda::quotient(line, p.size[1]), image = cuda::quotient(plane, p.size[0]);
        tally& row = rows[image * p.labels + code - 1];
        const long long low[] = {plane - image * p.size[0], line - plane * p.size[1], first},
                        high[] = {low[0], low[1], last};
        atomicAdd(reinterpret_cast<word*>(&row.cells[side]), static_cast<word>(cells));
        if (common != 0) atomicAdd(reinterpret_cast<word*>(&row.common), static_cast<word>(common));
        // A bound only moves one way, so a stale read may cost an atomic but never skips a change.
        for (int axis = 0; axis < most_axes; ++axis) {
            if (low[axis] < *static_cast<volatile std::int64_t*>(&row.low[axis]))
                atomicMin(reinterpret_cast<long long*>(&row.low[axis]), low[axis]);
            if (high[axis] > *static_cast<volatile std::int64_t*>(&row.high[axis]))
                atomicMax(reinterpret_cast<long long*>(&row.high[axis]), high[axis]);
        }
    }
};

/// A warp owns a line of one image and takes 32 cells at a time.
template <class Code>
__global__ void __launch_bounds__(threads_of_block)
    count_lines(const __grid_constant__ problem p, const Code* codes, tally* rows) {
    const std::int64_t n = p.size[2], lines = p.cells() / n, warp = thread_of_grid() / cuda::warp;
    if (warp >= 2 * lines) return;
    const int side = warp < lines ? 0 : 1;
    const std::int64_t line = warp - side * lines;
    const Code *const mine = codes + warp * n, *const other = codes + (warp + (side == 0 ? lines : -lines)) * n;
    stretch now;
    for (std::int64_t first = 0; first < n; first += cuda::warp) {
        const std::int64_t x = first + lane_of_thread();
        const std::uint32_t code = x < n ? mine[x] : 0;
        const unsigned common = __ballot_sync(cuda::every_lane, side == 0 && x < n && other[x] == code ? 1 : 0);
        for (unsigned left = __ballot_sync(cuda::every_lane, code != 0 ? 1 : 0); left != 0;) {
            const int source = __ffs(static_cast<int>(left)) - 1;
            const std::uint32_t its = __shfl_sync(cuda::every_lane, code, source);
            const unsigned members = __ballot_sync(cuda::every_lane, code == its ? 1 : 0);
            if (its != now.code) now.flush(p, side, line, rows), now = {its, 0, 0, first + source, 0};
            now.cells += __popc(members), now.common += __popc(members & common);
            now.last = first + 31 - __clz(static_cast<int>(members));
            left &= ~members;
        }
    }
    now.flush(p, side, line, rows);
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
            cuda::launch(on, note_values<T>, from.blocks(), dim3(threads_of_block), 0, from, there);
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
            cuda::launch(on, encode_values<Code, T>, from.blocks(), dim3(threads_of_block), 0, from,
                         memory.get<std::int64_t>(values), memory.get<std::uint32_t>(code), p.labels,
                         static_cast<Code*>(codes) + side * p.cells());
        };
        with_integer(side == 0 ? a.type : b.type, [&]<class T>(T value) {
            if (p.wide_codes()) start(std::uint32_t{}, value);
            else start(std::uint8_t{}, value);
        });
    }
}

std::vector<tally> count(const device& on, const problem& p, const void* codes) {
    const cuda::device_guard current(on);
    std::vector<tally> rows(static_cast<std::size_t>(p.images * p.labels));
    cuda::workspace memory(on);
    const auto place = memory.reserve<tally>(std::ssize(rows));
    memory.allocate();
    auto* const there = memory.get<tally>(place);
    copy_to(on, there, rows);
    const std::int64_t blocks = cuda::blocks_for(2 * p.cells() / p.size[2], threads_of_block / cuda::warp);
    if (p.wide_codes())
        cuda::launch(on, count_lines<std::uint32_t>, blocks, dim3(threads_of_block), 0, p,
                     static_cast<const std::uint32_t*>(codes), there);
    else
        cuda::launch(on, count_lines<std::uint8_t>, blocks, dim3(threads_of_block), 0, p,
                     static_cast<const std::uint8_t*>(codes), there);
    copy_from(on, rows, there);
    return rows;
}

}  // namespace nearfield::metrics
