// The last axis: writes the keys of the nearest sites of each row, from marks or, for power diagrams, from the list of
// a row's sites. First values of power diagrams are minus the weight of each site.
#pragma once

#include <algorithm>
#include <limits>

#include "base/cuda_each.cuh"
#include "base/cuda_scan.cuh"
#include "exact/core.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/plan.hpp"

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

/// Writes the first value of each cell and, where wanted, the key before the first axis: 0 for a site.
template <class V>
struct start_from_weights {
    weighted_sites from;
    metric<V> m;
    V* initial;
    std::int64_t* keys;

    __device__ void operator()(std::int64_t cell) const {
        const V value = from.first(m, cell);
        initial[cell] = value;
        if (keys != nullptr) keys[cell] = value < no_site<V>() ? 0 : -1;
    }
};

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

namespace nearfield::exact::gpu {
namespace {

constexpr int row_warps = 8;
constexpr int row_threads = row_warps * cuda::warp;
constexpr int cells_of_lane = 8;

/// Selects the nearer of the marks on both sides of a cell; at a change, the cell before is the site to the left.
struct row_sites {
    marked from;
    bool changes;

    /// Returns the site of cell `at`, in word w; -1 if there is none.
    __device__ std::int64_t site(std::int64_t line, std::int64_t at) const {
        const std::int64_t w = at / mark_bits, mine = line * from.words + w;
        const int i = static_cast<int>(at % mark_bits);
        if (from.zeros != nullptr && from.zeros[mine] >> i & 1) return at;
        const gaps near(from.bits[mine], from.to_before[mine], from.to_after[mine], i, changes);
        return near.none() ? -1 : near.where(at, from.rows);
    }
};

/// Writes wide keys, of int32 numbers with their value above, or positions in 32 bits. A warp owns 256 cells of a row,
/// a lane eight neighbours.
template <class V, class Key>
__global__ void __launch_bounds__(row_threads)
    write_rows(const row_sites sites, std::int64_t stretches, const metric<V> m, Key* to) {
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * row_warps + threadIdx.x / cuda::warp;
    const std::int64_t line = quotient(nth, stretches);
    if (line >= sites.from.columns) return;
    const std::int64_t first =
        (nth - line * stretches) * (cuda::warp * cells_of_lane) + threadIdx.x % cuda::warp * cells_of_lane;
    const std::int64_t length = sites.from.rows;
#pragma unroll
    for (int i = 0; i < cells_of_lane; ++i) {
        if (first + i >= length) return;
        const std::int64_t site = sites.site(line, first + i);
        if constexpr (sizeof(Key) == sizeof(std::int32_t)) {
            to[line * length + first + i] = static_cast<Key>(site);
            continue;
        }
        std::int64_t key = site < 0 ? -1 : m.keys.template field<std::int64_t>(m.rank - 1, site);
        if constexpr (std::is_same_v<V, std::int32_t>)
            if (site >= 0) key |= static_cast<std::int64_t>(m.between(m.rank - 1, first + i, site)) << 32;
        to[line * length + first + i] = static_cast<Key>(key);
    }
}

// ---- power diagrams -------------------------------------------------------------------------------------------------
//
// A block, or of short rows a warp, lists the row's sites in shared memory. The winners of every 32nd cell, each found
// among all sites of the row, bound those between. Reads the first values once and writes 2 bytes a cell and the cost
// of the site, which later passes would otherwise look up for each candidate.

constexpr int power_row_cells = 512;     // a warp owns a row of so many cells, and a block one of more
constexpr int power_block_rows = 8;      // rows of a block whose warps own one each
constexpr int power_row_threads = 1024;  // most threads of a block

/// A block or a warp owns a row.
template <class V>
class power_row {
public:
    __device__ power_row(void* memory, int length, bool periodic, V weight)
        : values_(static_cast<V*>(memory)),
          bits_(reinterpret_cast<std::uint32_t*>(values_ + length)),
          start_(reinterpret_cast<int*>(bits_ + words_of(length))),
          pivots_(start_ + words_of(length) + 1),
          at_(reinterpret_cast<std::int16_t*>(pivots_ + words_of(length) + 1)),
          length_(length),
          words_(words_of(length)),
          periodic_(periodic),
          weight_(weight) {}

    static __host__ __device__ int words_of(int length) { return (length + mark_bits - 1) / mark_bits; }
    static __host__ __device__ std::size_t bytes(int length) {
        const auto words = static_cast<std::size_t>(words_of(length));
        return (static_cast<std::size_t>(length) * (sizeof(V) + 2) + (3 * words + 2) * 4 + 7) / 8 * 8;
    }

    /// Lists the row's sites, given the first value of each cell; returns false if there is none.
    template <class First>
    __device__ bool list(const First& first) {
        for (int w = warp_; w < words_; w += warps_) {
            const int x = w * mark_bits + lane_;
            const std::uint32_t b =
                __ballot_sync(cuda::every_lane, x < length_ && first(min(x, length_ - 1)) < no_site<V>());
            if (lane_ == 0) bits_[w] = b;
        }
        wait();
        if (warp_ == 0) count_words();
        wait();
        count_ = start_[words_];
        for (int w = warp_; w < words_; w += warps_) {
            const std::uint32_t b = bits_[w];
            if ((b >> lane_ & 1) == 0) continue;
            const int i = start_[w] + __popc(b & ((1u << lane_) - 1)), x = w * mark_bits + lane_;
            at_[i] = static_cast<std::int16_t>(x), values_[i] = first(x);
        }
        wait();
        return count_ > 0;
    }

    __device__ void write(std::int16_t* to, V* values, bool ordered) {
        const int first = periodic_ ? -count_ : 0, last = periodic_ ? 2 * count_ - 1 : count_ - 1;
        if (ordered)
            for (int w = thread_; w < words_; w += warps_ * cuda::warp)
                pivots_[w] = search(w * mark_bits, first, periodic_ && w == 0 ? count_ - 1 : last).place;
        wait();
        for (int w = warp_; w < words_; w += warps_) {
            const int x = w * mark_bits + lane_;
            if (x >= length_) continue;
            const int next = w + 1 < words_ ? pivots_[w + 1] : periodic_ ? pivots_[0] + count_ : last;
            const found best = ordered ? search(x, pivots_[w], next) : search(x, first, last);
            to[x] = at_[wrapped(best.place, count_)], values[x] = best.value;
        }
    }

private:
    /// Waits for the other threads of the row.
    __device__ void wait() const {
        if (warps_ == 1) __syncwarp();
        else __syncthreads();
    }
    __device__ void count_words() {
        int sum = 0;
        for (int first = 0; first < words_; first += cuda::warp) {
            const int w = first + lane_, count = w < words_ ? __popc(bits_[w]) : 0;
            const int before = cuda::sum_before_in_warp(count);
            if (w < words_) start_[w] = sum + before;
            sum += __shfl_sync(cuda::every_lane, before + count, cuda::warp - 1);
        }
        if (lane_ == 0) start_[words_] = sum;
    }

    struct found {
        V value;
        int place;  ///< place in the list, unrolled if the row is periodic
    };

    /// Returns the winner of cell x among the places [from, to]: of equal ones the smaller coordinate.
    __device__ found search(int x, int from, int to) const {
        found best{no_site<V>(), from};
        for (int i = from; i <= to; ++i) {
            const int own = wrapped(i, count_), turn = i < 0 ? -1 : i >= count_ ? 1 : 0;
            const int apart = at_[own] + turn * length_ - x;
            const V value = values_[own] + cost(weight_, apart);
            if (value < best.value || (value == best.value && at_[own] < at_[wrapped(best.place, count_)]))
                best = {value, i};
        }
        return best;
    }

    V* values_;
    std::uint32_t* bits_;
    int *start_, *pivots_;
    std::int16_t* at_;
    int length_, words_, count_ = 0;
    bool periodic_;
    V weight_;
    int thread_ = static_cast<int>(threadIdx.x), lane_ = thread_ % cuda::warp, warp_ = thread_ / cuda::warp;
    int warps_ = static_cast<int>(blockDim.x) / cuda::warp;
};

/// Solves rows: blockDim.x threads each.
template <class V>
__global__ void __launch_bounds__(power_row_threads)
    write_power_rows(const weighted_sites from, const metric<V> m, int length, std::int64_t rows, const V* extremes,
                     double largest, bool rounds, const std::int32_t* many, std::int16_t* to, V* values) {
    extern __shared__ uint4 power_memory[];
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y, start = nth * length;
    if (nth >= rows || are_few(many)) return;
    const V weight = m.weight[m.rank - 1];
    auto* const memory = reinterpret_cast<unsigned char*>(power_memory) + threadIdx.y * power_row<V>::bytes(length);
    power_row<V> row(memory, length, m.periodic[m.rank - 1], weight);
    if (!row.list([&](int x) { return from.first(m, start + x); })) {
        for (int x = static_cast<int>(threadIdx.x); x < length; x += static_cast<int>(blockDim.x))
            to[start + x] = INT16_MIN, values[start + x] = no_site<V>();
        return;
    }
    row.write(to + start, values + start,
              !rounds || rows_ordered(largest + static_cast<double>(extremes[1]), static_cast<double>(weight)));
}

/// Launches the kernel for `rows` rows.
template <class V>
void write_power(const device& on, std::int64_t rows, const weighted_sites& from, const metric<V>& m, int length,
                 const V* extremes, double largest, bool rounds, const std::int32_t* many, std::int16_t* to,
                 V* values) {
    dim3 block(cuda::warp, power_block_rows);
    if (length > power_row_cells) block = dim3(std::min(power_row_threads, length / 8 / cuda::warp * cuda::warp));
    cuda::launch(on, write_power_rows<V>, blocks_for(rows, block.y), block, block.y * power_row<V>::bytes(length), from,
                 m, length, rows, extremes, largest, rounds, many, to, values);
}

}  // namespace
}  // namespace nearfield::exact::gpu
