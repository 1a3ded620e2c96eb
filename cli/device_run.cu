#include "cli/device_run.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <span>
#include <string>

namespace nearfield::cli {
namespace {

void check(cudaError_t status, const char* doing) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a failure that is not sticky must not be reported again by the next call
    throw error(error_code::device, std::string("cuda: ") + doing + " failed: " + cudaGetErrorString(status));
}

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
    explicit buffer(std::int64_t bytes) {
        if (bytes == 0) return;
        const cudaError_t status = cudaMalloc(&data_, static_cast<std::size_t>(bytes));
        if (status == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            std::size_t free = 0, total = 0;
            cudaMemGetInfo(&free, &total);
            throw error(error_code::out_of_memory, "cuda: " + std::to_string(bytes) + " bytes are needed and " +
                                                       std::to_string(free) + " of the device's " +
                                                       std::to_string(total) + " are free; use --device cpu");
        }
        check(status, "reserving memory");
    }
    ~buffer() { cudaFree(data_); }
    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;
    [[nodiscard]] void* data() const { return data_; }

private:
    void* data_ = nullptr;
};

template <class Element>
std::int64_t bytes_of(const any_view<Element, host>& v) {
    return v.wanted() ? v.cells() * size_of(v.type) : 0;
}

template <class Element>
any_view<Element, device> on_device(const buffer& memory, const any_view<Element, host>& like) {
    if (!like.wanted()) return {};
    return any_view<Element, device>::contiguous(memory.data(), like.type,
                                                 std::span(like.shape.data(), static_cast<std::size_t>(like.rank)));
}

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

device_timing run_on_device(int ordinal, const any_input<host>& image, const fields<host>& out,
                            const distance_options& options, int warmups, int repeat) {
    check(cudaSetDevice(ordinal), "choosing the device");
    const stream on;
    const event begin, end;
    const any_output<host>* host_side[] = {&out.distance, &out.squared, &out.index, &out.coordinates};
    const buffer in(bytes_of(image));
    const buffer memory[] = {buffer(bytes_of(out.distance)), buffer(bytes_of(out.squared)), buffer(bytes_of(out.index)),
                             buffer(bytes_of(out.coordinates))};
    const fields<device> wanted{on_device(memory[0], out.distance), on_device(memory[1], out.squared),
                                on_device(memory[2], out.index), on_device(memory[3], out.coordinates)};
    device_timing timing;
    auto start = std::chrono::steady_clock::now();
    if (bytes_of(image) > 0)
        check(cudaMemcpyAsync(in.data(), image.data, static_cast<std::size_t>(bytes_of(image)), cudaMemcpyHostToDevice,
                              on),
              "copying the image");
    check(cudaStreamSynchronize(on), "copying the image");
    timing.copy_ms = since(start);
    for (int run = -warmups; run < repeat; ++run) {
        check(cudaEventRecord(begin, on), "taking the time");
        distance_transform(device{on}, on_device(in, image), wanted, options);
        check(cudaEventRecord(end, on), "taking the time");
        check(cudaEventSynchronize(end), "computing");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end), "taking the time");
        if (run >= 0) timing.compute_ms.push_back(milliseconds);
    }
    start = std::chrono::steady_clock::now();
    for (int i = 0; i < 4; ++i)
        if (bytes_of(*host_side[i]) > 0)
            check(cudaMemcpyAsync(host_side[i]->data, memory[i].data(),
                                  static_cast<std::size_t>(bytes_of(*host_side[i])), cudaMemcpyDeviceToHost, on),
                  "copying the answer");
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

}  // namespace nearfield::cli
