// Resources of a call on a device for arrays in host memory: a stream, the time, device memory, and copies both ways.
// For files that include the runtime's header.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "edge/cuda_check.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::edge {

/// A non-blocking stream of the current device, which no other call uses meanwhile. The process keeps it for later
/// calls, because making and destroying one takes time.
class stream {
public:
    stream() {
        check(cudaGetDevice(&ordinal_), "asking for the device");
        const std::lock_guard<std::mutex> held(guard);
        std::vector<cudaStream_t>& idle = kept[ordinal_];
        if (!idle.empty()) {
            handle_ = idle.back(), idle.pop_back();
            return;
        }
        idle.reserve(idle.capacity() + 1);  // room for every stream made, so that keeping one never fails
        check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "making a stream");
    }
    ~stream() {
        const std::lock_guard<std::mutex> held(guard);
        kept.find(ordinal_)->second.push_back(handle_);
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    operator cudaStream_t() const { return handle_; }

private:
    inline static std::mutex guard;
    inline static std::map<int, std::vector<cudaStream_t>> kept;  ///< by device, those that no call uses

    int ordinal_ = 0;
    cudaStream_t handle_ = nullptr;
};

class event {
public:
    event() { check(cudaEventCreate(&handle_), "making an event"); }
    ~event() { cudaEventDestroy(handle_); }
    event(const event&) = delete;
    event& operator=(const event&) = delete;
    operator cudaEvent_t() const { return handle_; }

private:
    cudaEvent_t handle_ = nullptr;
};

class buffer {
public:
    explicit buffer(std::int64_t bytes) : data_(bytes == 0 ? nullptr : reserve_bytes(bytes)) {}
    ~buffer() { cudaFree(data_); }
    buffer(buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    buffer& operator=(buffer&&) = delete;
    [[nodiscard]] void* data() const { return data_; }

private:
    void* data_ = nullptr;
};

template <class Element>
std::int64_t bytes_of(const any_view<Element, host>& v) {
    return v.wanted() ? v.cells() * size_of(v.type) : 0;
}

/// Owns device memory for copies of host arrays. It copies nothing; the caller chooses the direction.
class mirror {
public:
    /// Reserves memory for an array like `like`; returns an empty view if `like` is not wanted.
    template <class Element>
    any_view<Element, device> add(const any_view<Element, host>& like) {
        if (!like.wanted()) return {};
        buffers_.emplace_back(bytes_of(like));
        return any_view<Element, device>::contiguous(buffers_.back().data(), like.type,
                                                     std::span(like.shape.data(), static_cast<std::size_t>(like.rank)));
    }

private:
    std::vector<buffer> buffers_;
};

inline void copy(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind way, cudaStream_t on) {
    if (bytes > 0)
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), way, on),
              way == cudaMemcpyHostToDevice ? "copying the image" : "copying the answer");
}

inline any_input<device> upload(mirror& memory, const any_input<host>& from, cudaStream_t on) {
    const any_input<device> there = memory.add(from);
    copy(const_cast<void*>(there.data), from.data, bytes_of(from), cudaMemcpyHostToDevice, on);
    return there;
}

inline void copy_back(const any_output<device>& from, const any_output<host>& to, cudaStream_t on) {
    copy(to.data, from.data, bytes_of(to), cudaMemcpyDeviceToHost, on);
}

/// Measures the milliseconds that work on a stream takes there; waits for it.
template <class Work>
double timed(cudaStream_t on, const Work& work) {
    const event begin, end;
    check(cudaEventRecord(begin, on), "taking the time");
    work();
    check(cudaEventRecord(end, on), "taking the time");
    check(cudaEventSynchronize(end), "computing");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "taking the time");
    return milliseconds;
}

inline double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace nearfield::edge
