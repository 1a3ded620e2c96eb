// On a device: sums and ranks of lists of points.
#include "metrics/cuda_common.cuh"

namespace nearfield::metrics {
namespace {

constexpr std::int64_t points_of_block = 4096;

/// A side of a job: its part of the lists, and its first block. A side without points has the same block as the next
/// one, and last_upto() prefers the later.
struct list_part {
    std::int64_t start, points, block;
};
struct lists {
    const list_part* part;
    int count;
    const std::uint64_t* key;
    const std::uint8_t* code;

    [[nodiscard]] __device__ int part_of_block() const {
        return last_upto(count, blockIdx.x, [&](int k) { return part[k].block; });
    }
    /// Calls body(key, code) for the thread's points.
    template <class Body>
    __device__ void for_own_points(const list_part& of, const Body& body) const {
        const std::int64_t first = (blockIdx.x - of.block) * points_of_block;
        std::int64_t end = first + points_of_block;
        if (end > of.points) end = of.points;
        for (std::int64_t i = first + threadIdx.x; i < end; i += threads_of_block)
            body(key[of.start + i], code[of.start + i]);
    }
};

__device__ void put(parts& to, const parts& mine) {
    for (int i = 0; i < 3; ++i) add_all(reinterpret_cast<word*>(&to.part[i]), mine.part[i]);
}

__global__ void __launch_bounds__(threads_of_block)
    sum_points(const __grid_constant__ problem p, const weights* w, const __grid_constant__ lists of, side_sums* sums) {
    const int part = of.part_of_block();
    side_sums& to = sums[part];
    const bool doubles = p.squared == dtype::float64;
    parts area, moment;
    std::uint64_t largest = 0;
    of.for_own_points(of.part[part], [&](std::uint64_t key, std::uint8_t code) {
        area.add(w->area_parts[code]);
        moment.add(parts_of(w->area[code] * distance_of(key, doubles), p.per_moment));
        if (key > largest) largest = key;
    });
    put(to.area, area), put(to.moment, moment);
    for (int t = 0; t < p.tolerances; ++t) {
        parts within;
        of.for_own_points(of.part[part], [&](std::uint64_t key, std::uint8_t code) {
            if (distance_of(key, doubles) <= p.tolerance[t]) within.add(w->area_parts[code]);
        });
        put(to.within[t], within);
    }
    for (int by = cuda::warp / 2; by > 0; by /= 2) {
        const std::uint64_t other = __shfl_down_sync(cuda::every_lane, largest, by);
        if (other > largest) largest = other;
    }
    if (lane_of_thread() == 0) atomicMax(reinterpret_cast<word*>(&to.largest), static_cast<word>(largest));
}

/// Adds up, by next digit, the weights of the keys whose leading digits equal those of each rank.
__global__ void __launch_bounds__(threads_of_block)
    count_digits(int ranks, const weights* w, const __grid_constant__ lists of, const side_sums* sums, int shift,
                 word* counts) {
    static_assert(digits == threads_of_block);
    __shared__ word here[digits];
    const int part = of.part_of_block();
    for (int k = 0; k < ranks; ++k) {
        here[threadIdx.x] = 0;
        __syncthreads();
        const std::uint64_t leading = sums[part].at_rank[k];
        std::uint64_t zeros = 0;  // digit 0 is the most frequent one, as few points are far
        of.for_own_points(of.part[part], [&](std::uint64_t key, std::uint8_t code) {
            if (!begins_with(key, shift, leading)) return;
            if (const auto digit = key >> shift & (digits - 1); digit == 0) zeros += w->rank[code];
            else atomicAdd(here + digit, static_cast<word>(w->rank[code]));
        });
        add_all(here, zeros);
        __syncthreads();
        if (here[threadIdx.x] != 0)
            atomicAdd(counts + (static_cast<std::int64_t>(part) * ranks + k) * digits + threadIdx.x, here[threadIdx.x]);
    }
}

/// Selects the next digit. A thread owns a rank of a side.
__global__ void __launch_bounds__(threads_of_block)
    take_digits(int ranks, int sides, const word* counts, wanted_ranks* wanted, side_sums* sums) {
    const std::int64_t i = thread_of_grid(), side = i / ranks, k = i - side * ranks;
    if (side >= sides) return;
    take_digit(reinterpret_cast<const std::uint64_t*>(counts) + i * digits, wanted[side].of[k], sums[side].at_rank[k]);
}

/// Memory of a call that sums up a group.
class summing {
public:
    summing(const device& on, const problem& p, const group& g)
        : on_(on), p_(p), sides_(2 * std::ssize(g.jobs)), memory_(on) {
        for (const job& j : g.jobs)
            for (int side = 0; side < 2; ++side) {
                parts_.push_back({j.start[side], j.points[side], blocks_});
                blocks_ += cuda::blocks_for(j.points[side], points_of_block);
            }
    }

    std::vector<side_sums> run(const weights& w, const group& g, const std::vector<wanted_ranks>& wanted) {
        const auto part = memory_.reserve<list_part>(sides_), weight = memory_.reserve<weights>(1),
                   sum = memory_.reserve<side_sums>(sides_), rank = memory_.reserve<wanted_ranks>(sides_);
        const std::int64_t counts = sides_ * p_.ranks() * digits, count = memory_.reserve<word>(counts);
        memory_.allocate();
        auto* const sums = memory_.get<side_sums>(sum);
        const auto* const by = memory_.get<weights>(weight);
        std::vector<side_sums> found(static_cast<std::size_t>(sides_));
        copy_to(on_, memory_.get<list_part>(part), parts_);
        copy_to(on_, memory_.get<weights>(weight), std::vector<weights>{w});
        copy_to(on_, memory_.get<wanted_ranks>(rank), wanted);
        clear(on_, sums, sides_ * static_cast<std::int64_t>(sizeof(side_sums)));
        const lists of{memory_.get<list_part>(part), static_cast<int>(sides_), g.key, g.code};
        cuda::launch(on_, sum_points, blocks_, dim3(threads_of_block), 0, p_, by, of, sums);
        for (int shift = p_.squared == dtype::uint32 ? 24 : 56; shift >= 0 && counts > 0; shift -= digit_bits) {
            clear(on_, memory_.get<word>(count), 8 * counts);
            cuda::launch(on_, count_digits, blocks_, dim3(threads_of_block), 0, p_.ranks(), by, of, sums, shift,
                         memory_.get<word>(count));
            cuda::launch(on_, take_digits, cuda::blocks_for(sides_ * p_.ranks(), threads_of_block),
                         dim3(threads_of_block), 0, p_.ranks(), static_cast<int>(sides_), memory_.get<word>(count),
                         memory_.get<wanted_ranks>(rank), sums);
        }
        copy_from(on_, found, sums);
        return found;
    }

private:
    const device& on_;
    const problem& p_;
    std::int64_t sides_, blocks_ = 0;
    std::vector<list_part> parts_;
    cuda::workspace memory_;
};

}  // namespace

std::vector<side_sums> sum(const device& on, const problem& p, const weights& w, const group& g,
                           const std::vector<wanted_ranks>& wanted) {
    const cuda::device_guard current(on);
    return summing(on, p, g).run(w, g, wanted);
}

}  // namespace nearfield::metrics
