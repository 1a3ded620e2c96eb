// The only file that launches kernels, allocates device memory and checks CUDA's return codes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>

#include "base/annotate.hpp"
#include "base/quotient.hpp"
#include "base/reduce.cuh"
#include "base/rehearsal.hpp"
#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::cuda {

inline constexpr int warp = 32;
inline constexpr unsigned every_lane = 0xffffffffu;

/// Throws error(device) if `result` is a failure, or error(unsupported) if there is no usable GPU.
void check(cudaError_t result, const char* doing, std::source_location where = std::source_location::current());

inline cudaStream_t stream_of(const device& on) { return static_cast<cudaStream_t>(on.stream); }

/// Returns the number of blocks of `of_block` that cover `items`.
NF_HD constexpr std::int64_t blocks_for(std::int64_t items, std::int64_t of_block) {
    return (items + of_block - 1) / of_block;
}

using nearfield::quotient;

/// Limits of a device. Without one a plan assumes the shared memory of compute capability 8.0.
struct device_limits {
    std::int64_t multiprocessors = 1;
    std::size_t shared_bytes = 163 * 1024;  ///< most bytes per block, if its launch asks for them
    bool blocks_may_wait = false;           ///< blocks of one launch_together() may wait for each other
    int code = 0;                           ///< ten times the compute capability that the kernels were compiled for
};
/// Returns the limits of the current device; a process queries the driver once per device. Kernels compiled for compute
/// capability 7.5 have its 64 KB on any GPU, so that another GPU can test what they do with them.
const device_limits& limits();

/// Whether a kernel may start while the one before it on the stream still runs.
enum class order : std::uint8_t {
    after,      ///< it starts when the one before has finished
    overlapped  ///< it calls wait_for_kernel_before() before it touches memory
};

/// In a kernel launched `overlapped`: returns when everything that earlier kernels wrote can be read.
__device__ inline void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// Returns whether code on the current device supports this wait: it was compiled for compute capability 9.0 or later.
bool kernels_overlap();
/// Returns whether blocks can be launched in clusters. With `planning` it returns false without a GPU; else it throws.
bool has_clusters(bool planning);

/// Blocks and threads of a launch.
struct grid {
    std::int64_t blocks;
    dim3 threads;
    std::size_t shared_bytes = 0;
    unsigned cluster_blocks = 1;  ///< adjacent blocks that form a cluster, at most 8; needs kernels_overlap()
};

/// Allows a kernel's blocks this much shared memory; throws error(device) if it exceeds the device's limit.
void allow_shared(const void* kernel, std::size_t bytes);

/// Converts a number of blocks for the driver; throws error(unsupported) if it exceeds a launch's limit.
unsigned checked_blocks(std::int64_t blocks, std::source_location where = std::source_location::current());

/// Starts kernel(args...) on the caller's stream; does nothing for a grid without blocks.
template <order Order = order::after, class... Parameters, class... Arguments>
void launch(const device& on, void (*kernel)(Parameters...), const grid& of, Arguments&&... arguments) {
    const auto& [blocks, threads, shared_bytes, cluster_blocks] = of;
    if (blocks == 0 || rehearsing() != nullptr) return;
    allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(checked_blocks(blocks));
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_of(on);
    cudaLaunchAttribute wanted[2]{};
    config.attrs = wanted;
    if (Order == order::overlapped && kernels_overlap()) {
        cudaLaunchAttribute& overlap = wanted[config.numAttrs++];
        overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        overlap.val.programmaticStreamSerializationAllowed = 1;
    }
    if (cluster_blocks > 1) {
        cudaLaunchAttribute& clusters = wanted[config.numAttrs++];
        clusters.id = cudaLaunchAttributeClusterDimension;
        clusters.val.clusterDim.x = cluster_blocks;
        clusters.val.clusterDim.y = clusters.val.clusterDim.z = 1;
    }
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), "launching a kernel");
}

template <order Order = order::after, class... Parameters, class... Arguments>
void launch(const device& on, void (*kernel)(Parameters...), std::int64_t blocks, dim3 threads,
            std::size_t shared_bytes, Arguments&&... arguments) {
    launch<Order>(on, kernel, grid{blocks, threads, shared_bytes}, std::forward<Arguments>(arguments)...);
}

/// Does the same for a kernel that calls wait_for_kernel_before() first.
template <class... Parameters, class... Arguments>
void launch_overlapped(const device& on, void (*kernel)(Parameters...), std::int64_t blocks, dim3 threads,
                       std::size_t shared_bytes, Arguments&&... arguments) {
    launch<order::overlapped>(on, kernel, blocks, threads, shared_bytes, std::forward<Arguments>(arguments)...);
}

/// These copy in stream order; `fetch` waits. In a rehearsal they do nothing.
void send(const device& on, void* to, const void* from, std::int64_t bytes);
void fetch(const device& on, void* to, const void* from, std::int64_t bytes);
void copy(const device& on, void* to, const void* from, std::int64_t bytes);
/// Sets bytes to 0 in stream order.
void clear(const device& on, void* data, std::int64_t bytes);

/// Returns the pool for workspace on a device. The library has its own pool, so that memory kept between calls does not
/// affect other users of the device.
cudaMemPool_t workspace_pool(int ordinal);

/// Workspace of one call: reserve what is needed, then allocate once. Allocation and release, at the end of the scope,
/// follow stream order. The pool keeps the memory for the next call (nearfield::release_device_memory returns it to the
/// device).
class workspace {
public:
    explicit workspace(const device& on) : on_(on) {}
    ~workspace();
    workspace(const workspace&) = delete;
    workspace& operator=(const workspace&) = delete;

    /// Adds a need; pass the returned number to `get` after `allocate` was called.
    template <class T>
    [[nodiscard]] std::int64_t reserve(std::int64_t count) {
        const std::int64_t at = bytes_;
        bytes_ += (count * static_cast<std::int64_t>(sizeof(T)) + alignment - 1) / alignment * alignment;
        return at;
    }
    void allocate();
    template <class T>
    [[nodiscard]] T* get(std::int64_t reserved) const {
        return reinterpret_cast<T*>(data_ + reserved);
    }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

private:
    static constexpr std::int64_t alignment = 256;
    const device& on_;
    std::int64_t bytes_ = 0;
    std::byte* data_ = nullptr;
};

/// Makes the stream's device current during its lifetime.
class device_guard {
public:
    explicit device_guard(const device& on);
    ~device_guard();
    device_guard(const device_guard&) = delete;
    device_guard& operator=(const device_guard&) = delete;

private:
    int before_ = 0, now_ = 0;
};

}  // namespace nearfield::cuda
