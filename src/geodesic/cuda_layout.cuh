// Keys and tiles of a call on a device, and how its lists get there.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/rehearsal.hpp"
#include "geodesic/cuda_tiles.cuh"

namespace nearfield::geodesics {

/// Bytes that are passed as a kernel parameter, so that a graph that is replayed later contains them.
struct letter {
    static constexpr int most = 3072;
    unsigned char bytes[most];
    int count;
};
__global__ void __launch_bounds__(threads_of_block) deliver(const __grid_constant__ letter from, unsigned char* to) {
    for (int i = static_cast<int>(threadIdx.x); i < from.count; i += threads_of_block) to[i] = from.bytes[i];
}
template <class T>
void deliver_all(const device& on, const std::vector<T>& rows, T* to) {
    const auto bytes = static_cast<std::int64_t>(rows.size() * sizeof(T));
    for (std::int64_t first = 0; first < bytes; first += letter::most) {
        letter part{};
        part.count = static_cast<int>(std::min<std::int64_t>(letter::most, bytes - first));
        std::memcpy(part.bytes, reinterpret_cast<const unsigned char*>(rows.data()) + first,
                    static_cast<std::size_t>(part.count));
        cuda::launch(on, deliver, 1, dim3(threads_of_block), 0, part, reinterpret_cast<unsigned char*>(to) + first);
    }
}

/// Memory of the device in bytes. Without a device, a plan assumes one with enough.
inline std::int64_t memory_of_device() {
    std::size_t free_bytes = 0, total = 0;
    const cudaError_t result = cudaMemGetInfo(&free_bytes, &total);
    if (rehearsing() != nullptr && result != cudaSuccess) return std::numeric_limits<std::int64_t>::max();
    cuda::check(result, "asking for the memory");
    return static_cast<std::int64_t>(total);
}

/// Copies the counts of a call for a test that watches it.
inline void read_counts(const device& on, const std::uint32_t* from, solver_counts& to) {
    cuda::check(cudaMemcpyAsync(&to, from, sizeof to, cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                "reading what solved");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for what solved");
}

inline std::uint64_t dearest_step(const problem_of<device>& p) {
    std::uint64_t price = 1;
    for (const geodesics::step& s : p.steps) price = std::max<std::uint64_t>(price, s.price);
    return price;
}
/// Cost of a way along all axes through the dearest cells that a type of costs of up to 16 bits allows.
inline std::uint64_t dearest_way(const problem_of<device>& p) {
    std::uint64_t cells = 0;
    for (int axis = p.where.batch; axis < p.where.axes; ++axis) cells += static_cast<std::uint64_t>(p.where.size[axis]);
    const auto bytes = static_cast<int>(size_of(p.cost.type));
    if (bytes > 2 || cells >= std::uint64_t{1} << 32) return ~std::uint64_t{0};
    return (dearest_step(p) << (p.both ? 1 : 0)) * std::min<std::uint64_t>(cells << 8 * bytes, 1U << 31);
}
/// True if tiles have equal sides along so many axes.
inline bool has_even_tiles(const tiling& t, int axes) {
    return t.axes >= t.batch + axes &&
           std::all_of(t.bits + t.axes - axes, t.bits + t.axes, [&](int b) { return b == device_tile_bits / axes; });
}

/// The bits of a key.
struct key_layout {
    int seed_bits;  ///< bits of a seed's number
    uint128 most;   ///< above the largest cost
    bool apart;     ///< true if cost and seed do not fit a key: seeds are spread afterwards

    explicit key_layout(const problem_of<device>& p)
        : seed_bits(p.wants_seeds() ? std::bit_width(p.image_cells()) : 0), most(dearest_path(p) + 1) {
        constexpr std::uint64_t wide = std::uint64_t{1} << 63;
        apart = most >= (wide >> seed_bits) - 1;
        if (apart) seed_bits = 0;
    }

private:
    /// Upper bound of the keys of a tile whose neighbours offer nothing dearer than max_cost.
    static uint128 dearest_path(const problem_of<device>& p) {
        std::uint64_t step = dearest_step(p);
        if (p.cost.wanted()) {
            const dtype type = p.cost.type;
            const int bits = size_of(type) == 4 ? 31 : 8 * static_cast<int>(size_of(type));
            const uint128 dearest = static_cast<uint128>(step << (p.both ? 1 : 0)) << bits;
            step = std::min<std::uint64_t>(0x7fffffff,
                                           dearest >> 31 != 0 ? 0x7fffffff : static_cast<std::uint64_t>(dearest));
        }
        const uint128 of_tile = static_cast<uint128>(step) << (device_tile_bits + 1);
        return std::min<uint128>(static_cast<uint128>(step) * p.image_cells(), p.most) + of_tile;
    }
};

/// Makes tiles small enough for a block of GPUs with little shared memory: 4096 cells with costs take 75 KB, and 113 KB
/// if seeds are spread along known costs.
inline problem_of<device> in_tiles_that_fit(problem_of<device> p) {
    const auto bytes = [&, apart = key_layout(p).apart](int bits) {
        if (apart) return tile_memory<pricing::tight, std::uint64_t>::bytes(bits);
        if (p.cost.wanted() || p.where.axes > few_axes) return tile_memory<pricing::image, std::uint64_t>::bytes(bits);
        return tile_memory<pricing::plain, std::uint64_t>::bytes(bits);
    };
    int bits = p.where.tile_bits;
    while (bytes(bits) > cuda::limits().shared_bytes) --bits;
    if (bits == p.where.tile_bits) return p;
    std::fill_n(p.where.bits, max_rank, 0), p.where.tile_bits = 0, p.where.tiles = 1;
    set_sides(p.where, bits, device_side_bits);
    for (geodesics::step& each : p.steps) each.set_offsets(p.where);
    return p;
}

}  // namespace nearfield::geodesics
