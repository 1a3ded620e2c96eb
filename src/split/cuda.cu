// The steps on a device.
#include <algorithm>
#include <array>
#include <bit>

#include "base/cuda.cuh"
#include "nearfield/components.hpp"
#include "split/room.hpp"

namespace nearfield::splitting {
namespace {

using word = unsigned long long;  // the type that CUDA's 64-bit atomics take
constexpr int threads_of_block = 256, cells_of_thread = 16;

template <class... Parameters, class... Arguments>
void launch(const device& on, void (*kernel)(Parameters...), std::int64_t items, const Arguments&... arguments) {
    cuda::launch(on, kernel, cuda::blocks_for(items, threads_of_block), dim3(threads_of_block), 0, arguments...);
}
__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

/// Values are not negative, so their bits have their order. Each warp reads neighbouring values.
__global__ void __launch_bounds__(threads_of_block) find_largest(const double* value, std::int64_t count, word* to) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
    double largest = 0;
    for (std::int64_t i = own_item(); i < count; i += stride)
        if (value[i] <= 1.7976931348623157e308) largest = max(largest, value[i]);
    for (int by = cuda::warp / 2; by > 0; by /= 2) {
        const double other = __shfl_xor_sync(cuda::every_lane, largest, by);
        largest = max(largest, other);
    }
    if (threadIdx.x % cuda::warp == 0) atomicMax(to, std::bit_cast<word>(largest));
}

struct grid {
    std::int64_t size[max_rank];
    int rank;
};
/// Writes part - 1 to the cell of its barycentre, where the least one stays. One thread handles one part.
__global__ void __launch_bounds__(threads_of_block)
    put_barycentres(const __grid_constant__ grid of, const double* centre, std::int64_t count, std::uint32_t* cells) {
    const std::int64_t part = own_item();
    if (part >= count) return;
    std::int64_t cell = 0;
    for (int axis = 0; axis < of.rank; ++axis)
        cell = cell * of.size[axis] + static_cast<std::int64_t>(floor(centre[part * of.rank + axis] + 0.5));
    atomicMin(cells + cell, static_cast<std::uint32_t>(part));
}
__global__ void __launch_bounds__(threads_of_block) add_one(std::uint32_t* cells, std::int64_t count) {
    if (const std::int64_t i = own_item(); i < count) ++cells[i];
}

/// Clears labels outside the mask, and counts the others. Lanes read neighbouring cells, and a lane adds up its runs.
__global__ void __launch_bounds__(threads_of_block)
    count_labels(const bool* inside, std::int32_t* labels, std::int64_t cells, std::uint32_t* sizes) {
    const std::int64_t own = own_item(), lane = own % cuda::warp;
    std::int32_t label = 0;
    std::uint32_t run = 0;
    for (int k = 0; k < cells_of_thread; ++k) {
        const std::int64_t i = (own - lane) * cells_of_thread + k * cuda::warp + lane;
        if (i >= cells) break;
        const std::int32_t found = inside[i] ? labels[i] : 0;
        if (!inside[i]) labels[i] = 0;
        if (found != label) {
            if (label != 0) atomicAdd(sizes + label, run);
            label = found, run = 0;
        }
        ++run;
    }
    if (label != 0) atomicAdd(sizes + label, run);
}
__global__ void __launch_bounds__(threads_of_block)
    drop_small(std::int32_t* labels, std::int64_t cells, const std::uint32_t* sizes, std::int64_t smallest) {
    const std::int64_t i = own_item();
    if (i < cells && sizes[labels[i]] < smallest) labels[i] = 0;
}

template <class T>
T fetched(const device& on, const void* from) {
    T value{};
    cuda::fetch(on, &value, from, sizeof value);
    return value;
}

}  // namespace

double largest_of(const device& on, const any_output<device>& squared) {
    constexpr std::int64_t most = 1 << 18;  // items of a launch, each of which adds many cells
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<word>(1);
    memory.allocate();
    word* const largest = memory.get<word>(at);
    cuda::clear(on, largest, sizeof *largest);
    launch(on, find_largest, std::min(squared.cells(), most), static_cast<const double*>(squared.data), squared.cells(),
           largest);
    return std::bit_cast<double>(fetched<word>(on, largest));
}

std::int64_t read(const device& on, const any_output<device>& value) {
    const cuda::device_guard current(on);
    return fetched<std::int64_t>(on, value.data);
}

void shrink(const device& on, const any_output<device>& parts, std::int64_t count) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<double>(count * parts.rank);
    memory.allocate();
    double* const centres = memory.get<double>(at);
    const std::array<std::int64_t, 2> shape{count, parts.rank};
    component_tables<device> tables;
    tables.centroid = any_output<device>::contiguous(centres, dtype::float64, shape);
    if (count > 0) component_statistics(on, parts, tables);
    auto* const cells = static_cast<std::uint32_t*>(parts.data);
    cuda::check(cudaMemsetAsync(cells, 0xff, static_cast<std::size_t>(4 * parts.cells()), cuda::stream_of(on)),
                "clearing parts");
    grid of{{}, parts.rank};
    std::copy_n(parts.shape.begin(), parts.rank, of.size);
    launch(on, put_barycentres, count, of, centres, count, cells);
    launch(on, add_one, parts.cells(), cells, parts.cells());
}

void keep_large(const device& on, const any_output<device>& inside, const any_output<device>& labels,
                std::int64_t count, std::int64_t smallest) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<std::uint32_t>(count + 1), cells = labels.cells();
    memory.allocate();
    auto* const sizes = memory.get<std::uint32_t>(at);
    auto* const label = static_cast<std::int32_t*>(labels.data);
    cuda::clear(on, sizes, 4 * (count + 1));
    launch(on, count_labels, cuda::blocks_for(cells, cells_of_thread), static_cast<const bool*>(inside.data), label,
           cells, sizes);
    if (smallest > 1) launch(on, drop_small, cells, label, cells, sizes, smallest);
}

}  // namespace nearfield::splitting
