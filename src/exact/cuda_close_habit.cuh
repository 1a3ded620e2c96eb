// What images of one size were like so far, which says how the next call goes (cuda_close.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <mutex>

#include "exact/cuda_bits.cuh"

namespace nearfield::exact {
namespace {

/// Where look_at_images says what it saw.
struct close_probe {
    std::uint32_t* told = nullptr;    ///< in the host's memory: `number`, above what follows
    std::uint32_t* counts = nullptr;  ///< look_counts numbers, 0 between kernels
    std::uint32_t number = 0;

    static constexpr std::uint32_t gaps = 1;  ///< there are places without a site close by
    static constexpr std::uint32_t few = 2;   ///< sites are not so many that bits are worth a try
    static constexpr int number_shift = 2;
};

constexpr int look_rows = 8, look_columns = 128;  // of a piece, which has a site where sites are close by
constexpr int look_threads = look_rows * cuda::warp, look_pieces = 16 * cuda::warp / look_columns;
constexpr int look_counts = 3;  // pieces without a site, sites, blocks
// Of pieces with 1 % random sites one in 30000 has none, of 0.7 % one in 1300, of 0.5 % one in 170.
constexpr std::uint32_t pieces_a_gap = 512;
constexpr std::uint32_t least_many = 33;  // a site in so many cells: with fewer bits are seldom enough

inline std::int64_t look_blocks(const site_bytes& image) {
    return blocks_for(image.lines, look_rows) * blocks_for(image.length, look_pieces * look_columns);
}

/// A block 8 lines of 512 columns, a thread 16 cells. The last block tells.
__global__ void __launch_bounds__(look_threads) look_at_images(const site_bytes image, const close_probe probe) {
    cuda::wait_for_kernel_before();
    __shared__ int found[look_pieces];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % cuda::warp;
    if (thread < look_pieces) found[thread] = 0;
    __syncthreads();
    const auto length = static_cast<int>(image.length),
               across = (length + look_pieces * look_columns - 1) / (look_pieces * look_columns);
    const int eight = static_cast<int>(blockIdx.x) / across,
              first_column = (static_cast<int>(blockIdx.x) - eight * across) * look_pieces * look_columns;
    const std::int64_t line = std::int64_t{eight} * look_rows + thread / cuda::warp;
    const int column = first_column + 16 * lane;
    if (line < image.lines && column < length)
        atomicAdd(&found[16 * lane / look_columns], __popc(sixteen_cells(image, image.data + line * length + column)));
    __syncthreads();
    if (thread != 0) return;
    std::uint32_t sites = 0, gaps = 0;
    for (int piece = 0; piece < look_pieces; ++piece) {
        const bool whole =
            first_column + (piece + 1) * look_columns <= length && (std::int64_t{eight} + 1) * look_rows <= image.lines;
        sites += static_cast<std::uint32_t>(found[piece]);
        if (whole && found[piece] == 0) ++gaps;
    }
    if (gaps > 0) atomicAdd(&probe.counts[0], gaps);
    atomicAdd(&probe.counts[1], sites);
    __threadfence();
    if (atomicAdd(&probe.counts[2], 1u) != gridDim.x - 1) return;
    __threadfence();
    const std::uint32_t all_gaps = atomicExch(&probe.counts[0], 0u), all_sites = atomicExch(&probe.counts[1], 0u);
    atomicExch(&probe.counts[2], 0u);
    const std::uint32_t told =
        (all_gaps * pieces_a_gap > gridDim.x * look_pieces ? close_probe::gaps : 0) |
        (std::uint64_t{all_sites} * least_many < static_cast<std::uint64_t>(image.lines * image.length)
             ? close_probe::few
             : 0);
    *static_cast<volatile std::uint32_t*>(probe.told) = probe.number << close_probe::number_shift | told;
}

/// What a call is to do.
struct close_turn {
    bool close = false;   ///< search_close
    bool many = false;    ///< which tries bits first
    close_probe probe{};  ///< else, unless null: look_at_images first
    std::uint32_t* failed = nullptr;
};

// Calls between two looks at images that go the common way, 5 microseconds each; those that go by search_close before one is looked
// at again; and those after an image that search_close was slow at, twice as many each time until calls_close have gone well.
constexpr int calls_unlooked = 16, calls_close = 256, calls_after_failure = 64, most_after_failure = 1 << 16;
constexpr int calls_unanswered = 256;  // until the next look where none has answered

/// Images of one size on one device: that, cells, and the two axes with whether sites are wanted.
using close_images = std::array<std::int64_t, 4>;

/// What is known of such.
struct close_habit {
    close_images of{};
    bool close = false, many = false;
    std::uint32_t probe = 0;  ///< number of the last one
    bool probing = false;
    int left = 0;  ///< calls until the next look
    int after_failure = calls_after_failure;
};

constexpr std::size_t most_habits = 64;

__device__ std::uint32_t probe_counts[most_habits][look_counts];

/// What kernels tell the host, a place for each habit.
struct close_told {
    std::uint32_t probe[most_habits];
    std::uint32_t failed[most_habits];
};

/// Another stream that records a graph forbids what might wait, as its thread wishes; this does not.
template <class Body>
void allow_while_recording(const Body& body) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cuda::check(cudaThreadExchangeStreamCaptureMode(&mode), "allowing calls beside a graph");
    body();
    static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
}

class close_habits {
public:
    static close_habits& all() {
        static auto* const habits = new close_habits;  // never destroyed: kernels may still write
        return *habits;
    }

    close_turn take(const close_images& of) {
        const std::lock_guard<std::mutex> held(using_);
        if (told_ == nullptr && !begin()) return {};
        const std::size_t place = place_of(of);
        close_habit& habit = here(of, place);
        --habit.left;
        if (habit.close) return {true, habit.many, {}, &told_->failed[place]};
        close_turn turn;
        if (habit.left >= 0) return turn;
        habit.probing = true, habit.probe = (habit.probe + 1) & (~0u >> close_probe::number_shift);
        habit.left = calls_unanswered;
        void* counts = nullptr;
        allow_while_recording(
            [&] { cuda::check(cudaGetSymbolAddress(&counts, probe_counts), "finding what looks at images count in"); });
        turn.probe = {&told_->probe[place], static_cast<std::uint32_t*>(counts) + look_counts * place, habit.probe};
        return turn;
    }
    bool close(const close_images& of) {
        const std::lock_guard<std::mutex> held(using_);
        return told_ != nullptr && here(of, place_of(of)).close;
    }
    void forget() {
        const std::lock_guard<std::mutex> held(using_);
        for (close_habit& habit : habits_) habit.of = {};
    }

private:
    static std::size_t place_of(const close_images& of) {
        std::uint64_t mixed = 0;
        for (const std::int64_t each : of) mixed = (mixed ^ static_cast<std::uint64_t>(each)) * 0x9e3779b97f4a7c15u;
        return (mixed >> 32) % most_habits;
    }
    /// With what kernels have told since.
    close_habit& here(const close_images& of, std::size_t place) {
        close_habit& habit = habits_[place];
        volatile std::uint32_t& failed = told_->failed[place];
        if (habit.of != of) {
            const std::uint32_t probe = habit.probe;
            habit = {}, habit.of = of, habit.probe = probe;
            failed = 0;
        }
        look(habit, told_->probe[place], failed);
        return habit;
    }
    static void look(close_habit& habit, const volatile std::uint32_t& probe, volatile std::uint32_t& failed) {
        if (failed != 0) {
            failed = 0;
            habit.close = habit.probing = false, habit.left = habit.after_failure;
            habit.after_failure = std::min(2 * habit.after_failure, most_after_failure);
        }
        if (habit.close && habit.left <= 0) {
            habit.close = false, habit.left = 0;
            habit.after_failure = calls_after_failure;
        }
        if (!habit.probing) return;
        const std::uint32_t told = probe;
        if (told >> close_probe::number_shift != habit.probe) return;
        habit.probing = false;
        habit.close = (told & close_probe::gaps) == 0, habit.many = (told & close_probe::few) == 0;
        habit.left = habit.close ? calls_close : calls_unlooked;
    }
    /// False where there is no such memory.
    bool begin() {
        void* memory = nullptr;
        cudaError_t result = cudaSuccess;
        allow_while_recording(
            [&] { result = cudaHostAlloc(&memory, sizeof(close_told), cudaHostAllocPortable | cudaHostAllocMapped); });
        if (result != cudaSuccess) {
            static_cast<void>(cudaGetLastError());
            return false;
        }
        told_ = new (memory) close_told{};
        return true;
    }

    std::mutex using_;
    close_told* told_ = nullptr;
    std::array<close_habit, most_habits> habits_{};
};

}  // namespace
}  // namespace nearfield::exact
