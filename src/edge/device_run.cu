#include "edge/device_run.hpp"

#include <chrono>
#include <span>
#include <utility>

#include "edge/cuda_check.hpp"
#include "edge/device_arrays.hpp"

namespace nearfield::edge {
namespace {

class stream {
public:
    stream() { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "making a stream"); }
    ~stream() { cudaStreamDestroy(handle_); }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    operator cudaStream_t() const { return handle_; }

private:
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

/// The device's copy of an array of the host, or its place: which way the bytes go is the caller's matter.
class mirror {
public:
    /// Memory for what `like` shows; nothing where that is not wanted.
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

void copy(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind way, cudaStream_t on) {
    if (bytes > 0)
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), way, on),
              way == cudaMemcpyHostToDevice ? "copying the image" : "copying the answer");
}

any_input<device> upload(mirror& memory, const any_input<host>& from, cudaStream_t on) {
    const any_input<device> there = memory.add(from);
    copy(const_cast<void*>(there.data), from.data, bytes_of(from), cudaMemcpyHostToDevice, on);
    return there;
}

work<device> upload(mirror& memory, const work<host>& what, cudaStream_t on) {
    work<device> there{{}, upload(memory, what.weights, on), what.options};
    for (const job<host>& each : what.jobs) {
        const fields<host>& out = each.out;
        there.jobs.push_back({upload(memory, each.image, on),
                              {memory.add(out.distance), memory.add(out.squared), memory.add(out.index),
                               memory.add(out.coordinates), memory.add(out.label), memory.add(out.trusted)}});
    }
    return there;
}

void download(const fields<device>& from, const fields<host>& to, cudaStream_t on) {
    const auto one = [&](const any_output<device>& source, const any_output<host>& target) {
        copy(target.data, source.data, bytes_of(target), cudaMemcpyDeviceToHost, on);
    };
    one(from.distance, to.distance), one(from.squared, to.squared), one(from.index, to.index);
    one(from.coordinates, to.coordinates), one(from.label, to.label), one(from.trusted, to.trusted);
}

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

device_timing run_on_device(int ordinal, const work<host>& what, int warmups, int repeat) {
    const current_device current(ordinal);
    const stream on;
    const event begin, end;
    mirror memory;
    device_timing timing;
    auto start = std::chrono::steady_clock::now();
    const work<device> there = upload(memory, what, on);
    check(cudaStreamSynchronize(on), "copying the image");
    timing.copy_ms = since(start);
    for (int round = -warmups; round < repeat; ++round) {
        check(cudaEventRecord(begin, on), "taking the time");
        run(device{on}, there);
        check(cudaEventRecord(end, on), "taking the time");
        check(cudaEventSynchronize(end), "computing");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end), "taking the time");
        if (round >= 0) timing.compute_ms.push_back(milliseconds);
    }
    start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < what.jobs.size(); ++i) download(there.jobs[i].out, what.jobs[i].out, on);
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

}  // namespace nearfield::edge
