// What this build and this machine can do.
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
    std::string version;      ///< of the library, "0.1.0"
    std::string compiler;     ///< that built it
    std::string simd;         ///< instruction set that the host code picked here, such as "AVX3"
    int cores = 0;            ///< that this process may use
    bool cuda_built = false;  ///< compiled with CUDA
    int cuda_runtime = 0;     ///< 13000 for 13.0; 0 without CUDA
    int cuda_driver = 0;      ///< newest CUDA version that the driver serves; 0 without a driver
    std::vector<device_info> devices;
    std::string why_no_device;  ///< one sentence, empty when there is a device
};

/// Asks the machine; never throws for a missing GPU or driver. Waits for the CUDA runtime to start: call it once.
[[nodiscard]] system_info query_system();

/// Calls on a device keep their workspace memory for the next call; this gives it back to the driver. Waits for the
/// device. Without CUDA it does nothing.
void release_device_memory();

/// Bytes that this process can get without harm to itself or others: the least of what the machine has (swap included),
/// what its control groups and those above them leave (versions 1 and 2), and what RLIMIT_AS and RLIMIT_DATA leave.
/// Nothing where the system does not say. malloc alone promises memory that is not there.
[[nodiscard]] std::optional<std::int64_t> free_memory();

/// Throws error(out_of_memory), which names the bytes needed and free, where `bytes` exceed free_memory(); up to 64 MiB
/// nobody is asked. For callers that know all that a call will take: `what`, such as "the call with its outputs", needs
/// them.
void require_memory(std::int64_t bytes, const std::string& what);

}  // namespace nearfield
