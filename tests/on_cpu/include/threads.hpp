// The threads of a CUDA block on one thread of the CPU: every one has a stack of its own and runs until it meets the
// others, at a barrier of the block or at a function of the warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace on_cpu {

constexpr int warp_lanes = 32;

/// Runs body() by every thread of every block, one cluster of neighbouring blocks after another.
void run_grid(dim3 blocks, dim3 threads, std::size_t shared_bytes, unsigned cluster_blocks,
              const std::function<void()>& body);

/// Memory of the running block; its size is what the launch asked for.
std::byte* shared_memory();
template <class T>
T* dynamic_shared() {
    return reinterpret_cast<T*>(shared_memory());
}

/// Of a cluster whose kernel has shared memory of the launch's size only: variables in shared memory are static.
unsigned rank_in_cluster();
void* shared_of(const void* mine, unsigned rank);
void arrive_in_cluster();
void wait_for_cluster();

/// What lanes of a warp told each other.
struct told {
    const std::uint64_t* by_lane;
    unsigned lanes;  ///< those that took part; the others have ended
    int me;
};

/// Returns when all lanes of the calling warp that have not ended came here. All must come by the same function: `name`
/// is compared. `mask` must name them all.
told meet_warp(std::uint64_t mine, unsigned mask, const char* name);

struct counted {
    int yes, all;
};
/// The same for the threads of the block: of how many `mine` was true.
counted meet_block(bool mine, const char* name);

}  // namespace on_cpu
