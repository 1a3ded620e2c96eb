// Sorts peaks by value on a device, and keeps peaks that are far enough from each other.
#include <algorithm>
#include <bit>

#include "base/cuda_sort.cuh"
#include "base/cuda_together.cuh"
#include "watershed/cuda_merge.cuh"
#include "watershed/sorted.hpp"

namespace nearfield::watersheds {
namespace {

enum state : std::uint8_t { open, kept, dropped };

/// Peaks in their new order. Their coordinates leave out axes of length 1. Peaks of a bucket share a chain of a hash
/// table with those of other buckets, which are too far to matter.
struct peaks_of_call {
    const peak* given;
    std::int32_t count;
    bool maxima;
    double apart;
    int axes;
    std::int64_t size[most_thinned_axes], pitch[most_thinned_axes];  ///< pitches of the buckets' numbers
    const std::uint32_t* order;
    std::uint32_t* word;
    std::int32_t* at;               ///< axes of them a peak
    std::int32_t *newest, *before;  ///< numbers plus 1; 0: none
    std::uint32_t slots, *left;     ///< whether peaks are left open, for three rounds that rotate
    std::uint8_t* state;

    [[nodiscard]] __device__ std::uint64_t key(std::uint32_t number) const {
        const std::int64_t own = turned(ordered<std::int64_t>(given[number].value), maxima);
        return static_cast<std::uint64_t>(own) ^ std::uint64_t{1} << 63;
    }
    [[nodiscard]] __device__ std::uint32_t slot(std::int64_t bucket) const {
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(bucket) * 0x9e3779b97f4a7c15U >> 32) & (slots - 1);
    }
    [[nodiscard]] __device__ std::int64_t bucket(std::int32_t i) const {
        std::int64_t number = 0;
        for (int axis = 0; axis < axes; ++axis) number += side_of(at[i * axes + axis], apart) * pitch[axis];
        return number;
    }
    [[nodiscard]] __device__ bool is_close(std::int32_t a, std::int32_t b) const {
        double square = 0;
        for (int axis = 0; axis < axes; ++axis) {
            const auto step = static_cast<double>(at[a * axes + axis] - at[b * axes + axis]);
            square += step * step;
        }
        return square < apart * apart;
    }
};

/// Writes a word of the keys in the order that is known so far.
__global__ void __launch_bounds__(threads_of_block)
    write_words(const __grid_constant__ peaks_of_call p, const std::uint32_t* order, int shift) {
    const std::int32_t i = place_of_thread();
    if (i >= p.count) return;
    const std::uint32_t number = order == nullptr ? static_cast<std::uint32_t>(i) : order[i];
    p.word[i] = static_cast<std::uint32_t>(p.key(number) >> shift);
}

/// Puts peaks into the chains of their buckets.
__global__ void __launch_bounds__(threads_of_block) chain_peaks(const __grid_constant__ peaks_of_call p) {
    const std::int32_t i = place_of_thread();
    if (i >= p.count) return;
    std::int64_t cell = p.given[p.order[i]].cell;
    for (int axis = p.axes - 1; axis >= 0; --axis) {
        const std::int64_t rest = cuda::quotient(cell, p.size[axis]);
        p.at[i * p.axes + axis] = static_cast<std::int32_t>(cell - rest * p.size[axis]), cell = rest;
    }
    p.before[i] = atomicExch(p.newest + p.slot(p.bucket(i)), i + 1);
}

/// Decides about a peak: an earlier one that is close drops it if it is kept, and lets it wait if it is open.
__device__ std::uint8_t decided(const peaks_of_call& p, std::int32_t own) {
    const std::int64_t bucket = p.bucket(own);
    int around = 1;
    for (int axis = 0; axis < p.axes; ++axis) around *= 3;
    bool waits = false;
    for (int k = 0; k < around; ++k) {
        std::int64_t beside = bucket;
        for (int axis = 0, rest = k; axis < p.axes; ++axis, rest /= 3) beside += (rest % 3 - 1) * p.pitch[axis];
        for (std::int32_t i = p.newest[p.slot(beside)] - 1; i >= 0; i = p.before[i] - 1) {
            if (i >= own || !p.is_close(own, i)) continue;
            const std::uint8_t its = static_cast<volatile std::uint8_t*>(p.state)[i];
            if (its == kept) return dropped;
            waits |= its == open;
        }
    }
    return waits ? open : kept;
}

/// Decides about all peaks in rounds: those whose earlier neighbours are decided follow in the next round at the
/// latest.
__global__ void __launch_bounds__(threads_of_block) thin_peaks(const __grid_constant__ peaks_of_call p) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block, first = place_of_thread();
    volatile std::uint32_t* const left = p.left;
    for (int round = 0;; ++round) {
        bool some = false;
        for (std::int64_t i = first; i < p.count; i += stride) {
            const auto own = static_cast<std::int32_t>(i);
            if (p.state[own] != open) continue;
            const std::uint8_t now = decided(p, own);
            if (now == open) some = true;
            else static_cast<volatile std::uint8_t*>(p.state)[own] = now;
        }
        if (first == 0) left[(round + 1) % 3] = 0;
        if (some) left[round % 3] = 1;
        meet();
        if (left[round % 3] == 0) return;
    }
}

/// Writes the peaks in their order.
__global__ void __launch_bounds__(threads_of_block) move_peaks(const __grid_constant__ peaks_of_call p, peak* to) {
    const std::int32_t i = place_of_thread();
    if (i < p.count) to[i] = p.given[p.order[i]];
}

/// Memory of a call, and its steps.
class sorting_call {
public:
    sorting_call(const device& on, const std::vector<peak>& found, const std::vector<std::int64_t>& sizes, bool maxima,
                 double apart)
        : on_(on), current_(on), memory_(on), p_(), count_(std::ssize(found)) {
        p_.count = static_cast<std::int32_t>(count_), p_.maxima = maxima, p_.apart = apart;
        p_.axes = static_cast<int>(sizes.size()), p_.slots = std::bit_ceil(static_cast<std::uint32_t>(2 * count_));
        std::int64_t pitch = 1;
        for (int axis = p_.axes - 1; apart > 1 && axis >= 0; --axis) {
            p_.size[axis] = sizes[static_cast<std::size_t>(axis)], p_.pitch[axis] = pitch;
            pitch *= side_of(p_.size[axis], apart) + 3;
        }
        reserve(found);
    }
    /// Sorts by words of the keys, the lower one first.
    void sort() {
        const std::uint32_t* order = nullptr;
        for (const int shift : {0, 32}) {
            each_peak(write_words, order, shift);
            order = sort_.run(on_, 32, order);
            sort_ = first_;
        }
        p_.order = order;
    }
    /// Returns the peaks in their new order.
    std::vector<peak> moved() {
        std::vector<peak> list(static_cast<std::size_t>(count_));
        each_peak(move_peaks, moved_);
        cuda::fetch(on_, list.data(), moved_, count_ * static_cast<std::int64_t>(sizeof(peak)));
        return list;
    }
    /// Returns the states of peaks that have been sorted.
    std::vector<std::uint8_t> thinned() {
        std::vector<std::uint8_t> states(static_cast<std::size_t>(count_));
        cuda::clear(on_, p_.state, count_), cuda::clear(on_, p_.left, 12);
        cuda::clear(on_, p_.newest, 4 * static_cast<std::int64_t>(p_.slots));
        each_peak(chain_peaks);
        if (!cuda::blocks_may_wait()) cuda::launch(on_, thin_peaks, 1, dim3(threads_of_block), 0, p_);
        else
            cuda::launch_together(on_, thin_peaks,
                                  std::min(cuda::blocks_at_once(thin_peaks, threads_of_block), blocks()),
                                  dim3(threads_of_block), p_);
        cuda::fetch(on_, states.data(), p_.state, count_);
        return states;
    }

private:
    void reserve(const std::vector<peak>& found) {
        const auto given = memory_.reserve<peak>(count_), moved = memory_.reserve<peak>(count_);
        std::int64_t words[4];
        for (auto& each : words) each = memory_.reserve<std::uint32_t>(count_);
        const auto counts = memory_.reserve<cuda::word>(cuda::digits * (cuda::most_sort_blocks + 1)),
                   at = memory_.reserve<std::int32_t>(count_ * p_.axes), before = memory_.reserve<std::int32_t>(count_),
                   newest = memory_.reserve<std::int32_t>(p_.slots), left = memory_.reserve<std::uint32_t>(3),
                   state = memory_.reserve<std::uint8_t>(count_);
        memory_.allocate();
        moved_ = memory_.get<peak>(moved);
        p_.given = memory_.get<peak>(given), p_.word = memory_.get<std::uint32_t>(words[0]);
        p_.at = memory_.get<std::int32_t>(at), p_.before = memory_.get<std::int32_t>(before);
        p_.newest = memory_.get<std::int32_t>(newest), p_.left = memory_.get<std::uint32_t>(left);
        p_.state = memory_.get<std::uint8_t>(state);
        auto* const counted = memory_.get<cuda::word>(counts);
        std::uint32_t* of[4];
        for (int i = 0; i < 4; ++i) of[i] = memory_.get<std::uint32_t>(words[i]);
        first_ = sort_ = {of[0], of[1], of[2], of[3], counted + cuda::digits, counted, {nullptr, count_}};
        cuda::send(on_, memory_.get<peak>(given), found.data(), count_ * static_cast<std::int64_t>(sizeof(peak)));
    }
    [[nodiscard]] std::int64_t blocks() const { return cuda::blocks_for(count_, threads_of_block); }
    template <class... Parameters, class... Arguments>
    void each_peak(void (*kernel)(const peaks_of_call, Parameters...), const Arguments&... arguments) const {
        cuda::launch(on_, kernel, blocks(), dim3(threads_of_block), 0, p_, arguments...);
    }

    const device& on_;
    cuda::device_guard current_;
    cuda::workspace memory_;
    peaks_of_call p_;
    std::int64_t count_;
    peak* moved_ = nullptr;
    cuda::sorting<std::uint32_t> sort_, first_;
};

}  // namespace

std::vector<peak> sort_peaks(const device& on, const std::vector<peak>& found, const std::vector<std::int64_t>& sizes,
                             bool maxima, double apart) {
    sorting_call call(on, found, sizes, maxima, apart);
    call.sort();
    std::vector<peak> sorted = call.moved();
    if (!(apart > 1)) return sorted;
    const std::vector<std::uint8_t> states = call.thinned();
    std::size_t last = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (states[i] == kept) sorted[last++] = sorted[i];
    sorted.resize(last);
    return sorted;
}

}  // namespace nearfield::watersheds
