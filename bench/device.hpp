// What the benchmarks need of a GPU: memory that they own and events round each run.
#pragma once

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <functional>
#include <utility>
#include <vector>

#include "nearfield/error.hpp"

namespace nearfield::bench {

inline void expect(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw error(error_code::device, fmt::format("{}: {}", what, cudaGetErrorString(status)));
}

class device_memory {
public:
    explicit device_memory(std::int64_t bytes) {
        expect(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "cudaMalloc");
    }
    ~device_memory() { cudaFree(data_); }
    device_memory(device_memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    device_memory& operator=(device_memory&&) = delete;
    [[nodiscard]] void* get() const { return data_; }

private:
    void* data_ = nullptr;
};

/// A stream with events round each run.
class timer {
public:
    timer() { expect(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
    ~timer() { cudaStreamDestroy(stream_); }
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;
    [[nodiscard]] cudaStream_t stream() const { return stream_; }
    void wait() const { expect(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

    /// Milliseconds of each of `runs` runs; work(k) orders run k on the stream.
    std::vector<double> time(int runs, const std::function<void(int)>& work) const {
        std::vector<cudaEvent_t> marks(2 * static_cast<std::size_t>(runs));
        for (cudaEvent_t& mark : marks) expect(cudaEventCreate(&mark), "cudaEventCreate");
        for (int k = 0; k < runs; ++k) {
            expect(cudaEventRecord(marks[2 * static_cast<std::size_t>(k)], stream_), "cudaEventRecord");
            work(k);
            expect(cudaEventRecord(marks[2 * static_cast<std::size_t>(k) + 1], stream_), "cudaEventRecord");
        }
        wait();
        std::vector<double> ms;
        for (std::size_t k = 0; k < marks.size(); k += 2) {
            float one = 0;
            expect(cudaEventElapsedTime(&one, marks[k], marks[k + 1]), "cudaEventElapsedTime");
            ms.push_back(one);
        }
        for (cudaEvent_t mark : marks) cudaEventDestroy(mark);
        return ms;
    }

private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace nearfield::bench
