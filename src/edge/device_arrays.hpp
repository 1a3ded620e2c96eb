// What a caller's arrays on a GPU need besides the library's calls: their device made current, streams put in order,
// and memory of our own where the caller's framework cannot be asked for some. Includes no CUDA header; where the build
// has no CUDA every function throws unsupported.
#pragma once

#include <cstdint>

namespace nearfield {
namespace [[gnu::visibility("default")]] edge {

/// Makes device `ordinal` the calling thread's current one for as long as this lives, then the one before.
class current_device {
public:
    explicit current_device(int ordinal);
    ~current_device();
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;

private:
    int before_ = 0;
};

/// The device whose memory `data` points to. Throws invalid_argument where it is none's.
[[nodiscard]] int device_of(const void* data);

/// A stream of our own on device `ordinal` that waits for no other; made once, lives as long as the process.
[[nodiscard]] void* own_stream(int ordinal);

/// What is put on `later` from now on waits for what is on `earlier` by now. The host does not wait.
void order_after(int ordinal, void* later, void* earlier);

/// Memory on device `ordinal`, of at least one byte. Throws out_of_memory with the bytes needed and free. `release`
/// waits for the device.
[[nodiscard]] void* reserve(int ordinal, std::int64_t bytes);
void release(int ordinal, void* data) noexcept;

/// Copies from a device once `stream` has come this far, and waits.
void read_back(int ordinal, void* stream, void* to, const void* from, std::int64_t bytes);

/// Something to ask later whether a stream has come this far.
[[nodiscard]] void* mark(int ordinal, void* stream);
[[nodiscard]] bool has_passed(void* marked);
void forget(void* marked) noexcept;

}  // namespace edge
}  // namespace nearfield
