// First values of power diagrams: minus the weight of each site, and their extremes.
#pragma once

#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/ground/marks.hpp"

namespace nearfield::exact {
namespace {

constexpr int scan_rows_warps = 8;
constexpr int scan_rows_threads = scan_rows_warps * cuda::warp;

/// The arrays of a power diagram, with their strides along the problem's axes.
struct weighted_sites {
    const std::byte* image;
    const std::byte* weights;
    int image_bytes;
    bool floating;
    dtype weight_type;
    strides image_step, weight_step;
    bool contiguous;  ///< both arrays, in the order of the problem's axes

    /// Returns minus the weight. A weight that is too large gives no_site: its site owns no cell.
    template <class V, class Wide>
    __device__ static V wide(Wide weight) {
        constexpr auto most = static_cast<Wide>(most_wide_weight);
        const bool fits = weight <= most && (!std::is_signed_v<Wide> || weight >= static_cast<Wide>(0) - most);
        return fits ? static_cast<V>(weight) : V{0} - no_site<V>();
    }
    template <class V>
    __device__ V weight(std::int64_t element) const {
        switch (weight_type) {
            case dtype::int8: return static_cast<V>(reinterpret_cast<const std::int8_t*>(weights)[element]);
            case dtype::uint8: return static_cast<V>(reinterpret_cast<const std::uint8_t*>(weights)[element]);
            case dtype::int16: return static_cast<V>(reinterpret_cast<const std::int16_t*>(weights)[element]);
            case dtype::uint16: return static_cast<V>(reinterpret_cast<const std::uint16_t*>(weights)[element]);
            case dtype::int32: return static_cast<V>(reinterpret_cast<const std::int32_t*>(weights)[element]);
            case dtype::uint32: return static_cast<V>(reinterpret_cast<const std::uint32_t*>(weights)[element]);
            case dtype::int64: return wide<V>(reinterpret_cast<const std::int64_t*>(weights)[element]);
            case dtype::uint64: return wide<V>(reinterpret_cast<const std::uint64_t*>(weights)[element]);
            case dtype::float32: return static_cast<V>(reinterpret_cast<const float*>(weights)[element]);
            default: return static_cast<V>(reinterpret_cast<const double*>(weights)[element]);
        }
    }
    template <class V>
    __device__ std::int64_t element(const metric<V>& m, std::int64_t cell, const strides& step) const {
        return contiguous ? cell : offset_of(cell, m.size, step.of, m.rank);
    }
    /// Returns the bits of a cell of the image.
    template <class V>
    __device__ std::uint64_t bits(const metric<V>& m, std::int64_t cell) const {
        return load_bits(image, image_bytes, element(m, cell, image_step));
    }
    /// Returns the first value of a cell with such bits: minus its weight, or no_site. Weights of cells that are not
    /// sites are not read.
    template <class V>
    __device__ V first(const metric<V>& m, std::int64_t cell, std::uint64_t of_image) const {
        if (is_zero(of_image, image_bytes, floating)) return no_site<V>();
        const V value = V{0} - weight<V>(element(m, cell, weight_step));  // never -0
        return value < no_site<V>() ? value : no_site<V>();               // NaN, too
    }
    template <class V>
    __device__ V first(const metric<V>& m, std::int64_t cell) const {
        return first(m, cell, bits(m, cell));
    }
};

inline weighted_sites weighted_arrays(const option_call& call) {
    weighted_sites a{};
    a.image = static_cast<const std::byte*>(call.image.data);
    a.weights = static_cast<const std::byte*>(call.weights->data);
    a.image_bytes = static_cast<int>(size_of(call.image.type));
    a.floating = call.image.type >= dtype::float16;
    a.weight_type = call.weights->type;
    for (int axis = 0; axis < call.p.rank; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        a.image_step.of[axis] = call.p.image_stride[i];
        a.weight_step.of[axis] = call.weights->stride[static_cast<std::size_t>(call.p.source_axis[i])];
    }
    a.contiguous = is_contiguous(call.p.size.data(), a.image_step.of, call.p.rank) &&
                   is_contiguous(call.p.size.data(), a.weight_step.of, call.p.rank);
    return a;
}

/// Writes first values and, where wanted, the keys before the first axis: 0 for a site. A thread owns a cell.
template <class V>
__global__ void __launch_bounds__(scan_rows_threads)
    start_from_weights(const weighted_sites from, const metric<V> m, std::int64_t cells, V* initial,
                       std::int64_t* keys) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * scan_rows_threads + threadIdx.x;
    if (cell >= cells) return;
    const V value = from.first(m, cell);
    initial[cell] = value;
    if (keys != nullptr) keys[cell] = value < no_site<V>() ? 0 : -1;
}

constexpr int extremes_blocks = 1024;
constexpr int extremes_cells = 4;  // of a thread, whose loads do not wait for each other

/// Finds the least first value and the largest magnitude of the sites: per block of a share, then, from these results,
/// of all.
template <class V>
__global__ void __launch_bounds__(scan_rows_threads)
    find_extremes(const weighted_sites from, const metric<V> m, std::int64_t count, const std::int32_t* many,
                  const V* lows_of_shares, const V* highs_of_shares, V* least, V* magnitude) {
    if (gpu::are_few(many)) return;
    V low = no_site<V>(), high = 0;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * scan_rows_threads;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * scan_rows_threads + threadIdx.x;
    if (lows_of_shares != nullptr)
        for (; i < count; i += step) low = min(low, lows_of_shares[i]), high = max(high, highs_of_shares[i]);
    for (; i < count; i += extremes_cells * step) {
        std::uint64_t bits[extremes_cells];
#pragma unroll
        for (int k = 0; k < extremes_cells; ++k) bits[k] = i + k * step < count ? from.bits(m, i + k * step) : 0;
#pragma unroll
        for (int k = 0; k < extremes_cells; ++k) {
            const V value = from.first(m, i + k * step, bits[k]);
            if (value < no_site<V>()) low = min(low, value), high = max(high, value < 0 ? -value : value);
        }
    }
    __shared__ V lows[scan_rows_warps], highs[scan_rows_warps];
    for (int o = cuda::warp / 2; o > 0; o /= 2) {
        low = min(low, __shfl_xor_sync(cuda::every_lane, low, o));
        high = max(high, __shfl_xor_sync(cuda::every_lane, high, o));
    }
    if (threadIdx.x % cuda::warp == 0) lows[threadIdx.x / cuda::warp] = low, highs[threadIdx.x / cuda::warp] = high;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < scan_rows_warps; ++w) low = min(low, lows[w]), high = max(high, highs[w]);
    least[blockIdx.x] = low, magnitude[blockIdx.x] = high;
}

}  // namespace
}  // namespace nearfield::exact
