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

/// Pixels of four numbers in 16 bytes, which a thread reads or writes at once.
template <class T>
struct alignas(4 * sizeof(T)) pixel {
    T of[4];
};
template <class T>
struct alignas(16) packet {
    static constexpr int pixels = 16 / sizeof(pixel<T>);
    pixel<T> of[pixels];
};

/// Marks the pixels of a packet per thread by their alpha.
template <class T>
__global__ void __launch_bounds__(threads_of_block) mark_packets(const __grid_constant__ pad_work w, std::int64_t all) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= all) return;
    const auto from = static_cast<const packet<T>*>(w.image)[i];
    const double limit = w.least * (sizeof(T) == 1 ? 255 : sizeof(T) == 2 ? 65535 : 1);
    struct alignas(packet<T>::pixels) {
        std::uint8_t of[packet<T>::pixels];
    } made;
#pragma unroll
    for (int k = 0; k < packet<T>::pixels; ++k) made.of[k] = from.of[k].of[3] > limit ? 1 : 0;
    reinterpret_cast<decltype(made)*>(w.mark)[i] = made;
}

/// Fills the pixels of a packet per thread.
template <class T>
__global__ void __launch_bounds__(threads_of_block) fill_packets(const __grid_constant__ pad_work w, std::int64_t all) {
    constexpr int pixels = packet<T>::pixels;
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= all) return;
    packet<T> made = static_cast<const packet<T>*>(w.image)[i];
    struct alignas(4 * pixels) {
        std::int32_t of[pixels];
    } const site = static_cast<const decltype(site)*>(w.site)[i];
#pragma unroll
    for (int k = 0; k < pixels; ++k) {
        if (site.of[k] < 0 || site.of[k] == pixels * i + k) continue;
        const T alpha = made.of[k].of[3];
        made.of[k] = static_cast<const pixel<T>*>(w.image)[site.of[k]], made.of[k].of[3] = alpha;
    }
    static_cast<packet<T>*>(w.out)[i] = made;
}

/// Runs one of two kernels: by packets if pixels of four numbers lie one after the other, else pixel by pixel.
void run(const device& on, const pad_work& w, void (*const (&by_packets)[3])(pad_work, std::int64_t),
         void (*by_pixels)(pad_work)) {
    const auto suits = [&](const void* data, const std::int64_t(&step)[3]) {
        return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && step[2] == 1 && step[1] == 4 &&
               step[0] == 4 * w.columns;
    };
    const std::int64_t pixels = w.rows * w.columns, in_packet = 4 / size_of(w.type);
    if (w.wide || w.channels != 4 || pixels % in_packet != 0 || !suits(w.image, w.step) || !suits(w.out, w.out_step))
        return run(on, by_pixels, w);
    const cuda::device_guard current(on);
    const int kind = w.type == dtype::uint8 ? 0 : w.type == dtype::uint16 ? 1 : 2;
    cuda::launch(on, by_packets[kind], cuda::blocks_for(pixels / in_packet, threads_of_block), dim3(threads_of_block),
                 0, w, pixels / in_packet);
}

}  // namespace

void shade_all(const device& on, const layer_work& w) { run(on, each_pixel<layer_work, shade>, w); }
void mark_all(const device& on, const pad_work& w) {
    run(on, w, {mark_packets<std::uint8_t>, mark_packets<std::uint16_t>, mark_packets<float>},
        each_pixel<pad_work, mark_pixel>);
}
void fill_all(const device& on, const pad_work& w) {
    run(on, w, {fill_packets<std::uint8_t>, fill_packets<std::uint16_t>, fill_packets<float>},
        each_pixel<pad_work, fill_pixel>);
}

}  // namespace nearfield::effects
