#include "base/cuda.cuh"
#include "geodesic/transfer.hpp"

namespace nearfield::geodesics {

void send(const device& on, void* to, const void* from, std::int64_t bytes) {
    const cuda::device_guard current(on);
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, cuda::stream_of(on)),
                "copying to the device");
}
void fetch(const device& on, void* to, const void* from, std::int64_t bytes) {
    const cuda::device_guard current(on);
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                "copying from the device");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for the device");
}

}  // namespace nearfield::geodesics
