// Capabilities of this build and this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] nearfield {

/// One CUDA device that the library can use.
struct device_info {
    int ordinal = 0;
    std::string name;
    int compute_major = 0, compute_minor = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t free_bytes = 0;
};

struct system_info {
    std::string version;      ///< version of the library, "0.1.0"
    std::string compiler;     ///< compiler that built the library
    std::string simd;         ///< instruction set that the host code selected on this machine, such as "AVX3"
    int cores = 0;            ///< number of cores that this process may use
    bool cuda_built = false;  ///< true if compiled with CUDA
    int cuda_runtime = 0;     ///< 13000 for 13.0; 0 without CUDA
    int cuda_driver = 0;      ///< newest CUDA version that the driver supports; 0 without a driver
    std::vector<device_info> devices;
    std::string why_no_device;  ///< one sentence, empty when there is a device
};

/// Queries the machine; never throws for a missing GPU or driver. Waits for the CUDA runtime to start: call it once.
[[nodiscard]] system_info query_system();

/// Returns workspace memory, which device calls keep for the next call, to the driver. Waits for the device. Does
/// nothing without CUDA.
void release_device_memory();

/// Returns the bytes that this process can allocate without harm to itself or others: the least of the machine's free
/// memory (with swap) and the remainders of its control groups and their parents (versions 1 and 2), RLIMIT_AS and
/// RLIMIT_DATA. Empty if the system reports nothing. malloc alone promises memory that does not exist.
[[nodiscard]] std::optional<std::int64_t> free_memory();

/// Throws error(out_of_memory), which names the bytes needed and free, if `bytes` exceed free_memory(). Up to 64 MiB it
/// does not query the system. For callers that know the memory of a whole call: `what`, such as "the call with its
/// outputs", names the user of the memory.
void require_memory(std::int64_t bytes, const std::string& what);

}  // namespace nearfield
