// Runs the threads of a CUDA block on one thread of the CPU: each has a stack of its own and runs until it meets the
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

/// Runs body() for every thread of every block, one cluster of neighbouring blocks after another.
void run_grid(dim3 blocks, dim3 threads, std::size_t shared_bytes, unsigned cluster_blocks,
              const std::function<void()>& body);

/// Shared memory of the running block, as large as its launch asked for.
std::byte* shared_memory();
template <class T>
T* dynamic_shared() {
    return reinterpret_cast<T*>(shared_memory());
}

/// The block's rank in a cluster whose kernel has only dynamic shared memory, since static shared variables are shared.
unsigned rank_in_cluster();
void* shared_of(const void* mine, unsigned rank);
void arrive_in_cluster();
void wait_for_cluster();

/// Values that the lanes of a warp exchanged.
struct told {
    const std::uint64_t* by_lane;
    unsigned lanes;  ///< lanes that took part; the others have ended
    int me;
};

/// Waits until all lanes of the calling warp that have not ended arrive. All must arrive by the same function: `name`
/// is compared. `mask` must name all of them.
told meet_warp(std::uint64_t mine, unsigned mask, const char* name);

struct counted {
    int yes, all;
};
/// Waits for all threads of the block; returns for how many `mine` was true.
counted meet_block(bool mine, const char* name);

}  // namespace on_cpu
