// Loops on a device: one thread per pixel.
#include "base/cuda.cuh"
#include "effects/core.hpp"

namespace nearfield::effects {
namespace {

constexpr int threads_of_block = 256;

/// Calls body(w, y, x) for the thread's pixel.
template <class Work, void (*Body)(const Work&, std::int64_t, std::int64_t)>
__global__ void __launch_bounds__(threads_of_block) each_pixel(const __grid_constant__ Work w) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const std::int64_t y = cuda::quotient(i, w.columns);
    if (y < w.rows) Body(w, y, i - y * w.columns);
}

template <class Work>
void run(const device& on, void (*kernel)(Work), const Work& w) {
    const cuda::device_guard current(on);
    cuda::launch(on, kernel, cuda::blocks_for(w.rows * w.columns, threads_of_block), dim3(threads_of_block), 0, w);
}

}  // namespace

void shade_all(const device& on, const layer_work& w) { run(on, each_pixel<layer_work, shade>, w); }
void mark_all(const device& on, const pad_work& w) { run(on, each_pixel<pad_work, mark_pixel>, w); }
void fill_all(const device& on, const pad_work& w) { run(on, each_pixel<pad_work, fill_pixel>, w); }

}  // namespace nearfield::effects
