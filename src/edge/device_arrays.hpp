// Helpers for a caller's arrays on a GPU, besides the library's calls: they make the arrays' device current, order
// streams, and reserve memory if the caller's framework cannot be asked for some. Includes no CUDA header; in a build
// without CUDA every function throws unsupported.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace nearfield {
namespace [[gnu::visibility("default")]] edge {

/// Makes device `ordinal` the calling thread's current one while it lives, then restores the one before.
class current_device {
public:
    explicit current_device(int ordinal);
    ~current_device();
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;

private:
    int before_ = 0;
};

/// The device whose memory `data` points to. Throws invalid_argument if it is no device memory.
[[nodiscard]] int device_of(const void* data);

/// A non-blocking stream on device `ordinal`, created on first use, which lives as long as the process.
[[nodiscard]] void* own_stream(int ordinal);

/// Makes work that is put on `later` from now on wait for the work now on `earlier`. The host does not wait.
void order_after(int ordinal, void* later, void* earlier);

/// Reserves at least one byte of memory on device `ordinal`; the caller releases it. Throws out_of_memory with the
/// bytes needed and free. `release` waits for the device.
[[nodiscard]] void* reserve(int ordinal, std::int64_t bytes);
void release(int ordinal, void* data) noexcept;

/// Copies from a device after the work now on `stream`, and waits for it.
void read_back(int ordinal, void* stream, void* to, const void* from, std::int64_t bytes);

/// Marks a point of a stream; has_passed() tells whether the stream has reached it.
[[nodiscard]] void* mark(int ordinal, void* stream);
[[nodiscard]] bool has_passed(void* marked);
void forget(void* marked) noexcept;

/// A call that is repeated on a device. Once it comes with the same arguments as the time before, it is recorded as a
/// CUDA graph, and replayed until the arguments change. The graph keeps the workspace of the call.
class repeated_call {
public:
    repeated_call() = default;
    ~repeated_call();
    repeated_call(const repeated_call&) = delete;
    repeated_call& operator=(const repeated_call&) = delete;

    /// Puts the call on `stream` of device `ordinal`, by call(stream) or as a graph. `arguments` are all values on
    /// which it depends, addresses among them.
    void run(int ordinal, void* stream, std::vector<std::uint64_t> arguments, const std::function<void(void*)>& call);

private:
    std::mutex guard_;
    std::vector<std::uint64_t> arguments_;
    void* graph_ = nullptr;
};

}  // namespace edge
}  // namespace nearfield
