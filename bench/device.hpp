// What the benchmarks need of a GPU: memory that they own, images in it, and events round each run.
#pragma once

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <functional>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/error.hpp"
#include "pictures.hpp"
#include "random_device.hpp"

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

/// Throws unsupported where there is no GPU.
void expect_device();

/// Bytes a second of a large copy within the device, read plus write, in units of 10^9.
double device_copy_gb_s(const timer& t);

/// What a session on the first GPU says of it, without results.
session device_session(const timer& t);

/// One image on the device, in as many copies as it takes that no run finds its arrays in the cache.
class device_image {
public:
    device_image(const timer& t, const std::string& data, const shape_t& shape, double density,
                 const painter& pictures);
    [[nodiscard]] std::int64_t copies() const { return static_cast<std::int64_t>(in_.size()); }
    [[nodiscard]] std::int64_t cells() const { return cells_of(shape_); }
    [[nodiscard]] double density() const { return density_; }
    [[nodiscard]] const shape_t& shape() const { return shape_; }
    [[nodiscard]] any_input<device> copy(std::int64_t k) const;

private:
    std::vector<device_memory> in_;
    shape_t shape_;
    double density_;
};

/// Outputs for every copy of an image, and the call that fills them.
class device_call {
public:
    /// `field` as in `result`.
    device_call(const timer& t, const device_image& image, const std::string& field);
    /// Orders the k-th call on the timer's stream, on the copy whose turn it is.
    void operator()(int k) const;
    /// Median milliseconds of a call and how many runs it is of, after a warm-up.
    [[nodiscard]] std::pair<double, int> measure() const;

private:
    const timer& timer_;
    const device_image& image_;
    std::vector<device_memory> memory_;
    std::string field_;
};

}  // namespace nearfield::bench
