// On a device: marks points of surfaces, lists their distances, and computes sums and ranks of the lists.
#include "base/cuda_scan.cuh"
#include "metrics/cuda_common.cuh"

namespace nearfield::metrics {
namespace {

constexpr std::int64_t points_of_block = 4096;
static_assert(base_step == 4 * threads_of_block);

/// The first of four consecutive cells of the job's box that a thread owns; all cells of a block belong to one job.
/// Words of four mask values are aligned, because masks of jobs begin at multiples of base_step.
__device__ inline std::int64_t own_four(const job& j) {
    return static_cast<std::int64_t>(blockIdx.x) * base_step - j.base + static_cast<std::int64_t>(threadIdx.x) * 4;
}
__device__ int job_of_block(const job* jobs, int count) {
    return last_upto(count, static_cast<std::int64_t>(blockIdx.x) * base_step, [&](int k) { return jobs[k].base; });
}
__device__ inline std::uint8_t byte_of(std::uint32_t word, int k) { return static_cast<std::uint8_t>(word >> 8 * k); }

/// Sets a byte to 1 if that byte of `word` is `value`, else to 0.
__device__ inline std::uint32_t equal_bytes(std::uint32_t word, std::uint32_t value) {
    const std::uint32_t apart = word ^ value * 0x01010101U;
    return ~((apart & 0x7f7f7f7fU) + 0x7f7f7f7fU | apart) >> 7 & 0x01010101U;
}

/// For four cells of a line, a byte each that is 1 if the cell has a code: from x - 1 and from x on.
struct cells_with_code {
    std::uint32_t before = 0, here = 0;
};
/// Reads lines of an image; cells outside of it lack the code.
template <class Code>
struct lines_of_code {
    const problem& p;
    const Code* image;
    Code code;

    __device__ cells_with_code at(std::int64_t z, std::int64_t y, std::int64_t x) const {
        if (z < 0 || y < 0 || z >= p.size[0] || y >= p.size[1]) return {};
        const Code* const line = image + (z * p.size[1] + y) * p.size[2];
        if constexpr (sizeof(Code) == 1) {
            if (x >= 1 && x + 4 <= p.size[2]) {  // the five cells lie in two words of memory
                const auto address = reinterpret_cast<std::uintptr_t>(line + x - 1);
                const auto* const words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
                const std::uint64_t five = (std::uint64_t{words[1]} << 32 | words[0]) >> 8 * (address & 3);
                return {equal_bytes(static_cast<std::uint32_t>(five), code),
                        equal_bytes(static_cast<std::uint32_t>(five >> 8), code)};
            }
        }
        std::uint64_t five = 0;
        for (int k = 0; k < 5; ++k)
            if (x + k >= 1 && x + k <= p.size[2] && line[x + k - 1] == code) five |= std::uint64_t{1} << 8 * k;
        return {static_cast<std::uint32_t>(five), static_cast<std::uint32_t>(five >> 8)};
    }
    /// The mask's values of four corners: bits of those of the eight cells around each that have the code; 0 if all or
    /// none have it. A missing axis has the same cells on both sides.
    __device__ std::uint32_t corners(std::int64_t z, std::int64_t y, std::int64_t x) const {
        std::uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const cells_with_code cells = at(z - (p.has(0) && k < 2 ? 1 : 0), y - (p.has(1) && k % 2 == 0 ? 1 : 0), x);
            bits |= cells.before << k | cells.here << (k + 4);
        }
        return bits & ~(equal_bytes(bits, 255) * 255);
    }
    /// The mask's values of four cells: 1 if a cell has the code and a neighbour lacks it, else 0.
    __device__ std::uint32_t cells(std::int64_t z, std::int64_t y, std::int64_t x) const {
        const cells_with_code own = at(z, y, x);
        if (own.here == 0) return 0;
        std::uint32_t inner = own.before & at(z, y, x + 1).here;
        if (p.has(0)) inner &= at(z - 1, y, x).here & at(z + 1, y, x).here;
        if (p.has(1)) inner &= at(z, y - 1, x).here & at(z, y + 1, x).here;
        return own.here & ~inner;
    }
    /// The mask's values of four points of the job's box from number `first` on, which may lie in several lines.
    __device__ std::uint32_t values(const job& j, std::int64_t first) const {
        std::int64_t line = cuda::quotient(first, j.size[2]), x = first - line * j.size[2];
        std::uint32_t found = 0;
        for (int done = 0; done < 4 && first + done < j.cells(); ++line) {
            const std::int64_t plane = cuda::quotient(line, j.size[1]), z = j.first[0] + plane,
                               y = j.first[1] + line - plane * j.size[1], from = j.first[2] + x - done;
            const std::uint32_t all = p.elements ? corners(z, y, from) : cells(z, y, from);
            const int end = j.size[2] - x < 4 - done ? done + static_cast<int>(j.size[2] - x) : 4;
            found |= all & 0xffffffffU << 8 * done & 0xffffffffU >> 8 * (4 - end);
            done = end, x = 0;
        }
        return found;
    }
};

/// Adds the sum over the block's threads to *to, with one atomic a block.
__device__ inline void add_of_block(word* to, std::uint64_t mine) {
    __shared__ word sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    add_all(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0 && sum != 0) atomicAdd(to, sum);
    __syncthreads();
}

/// Marks the points of both sides, and counts them. A thread owns four points.
template <class Code>
__global__ void __launch_bounds__(threads_of_block, 4)
    mark_points(const __grid_constant__ problem p, const weights* w, const Code* codes, job* jobs, int count,
                std::uint8_t* mask_a, std::uint8_t* mask_b) {
    job& to = jobs[job_of_block(jobs, count)];
    const job j = to;
    const std::int64_t image = cuda::quotient(j.row, p.labels), first = own_four(j);
    const auto code = static_cast<Code>(j.row - image * p.labels + 1);
    for (int side = 0; side < 2; ++side) {
        const lines_of_code<Code> lines{p, codes + image * p.image_cells() + side * p.cells(), code};
        const std::uint32_t values = first < j.cells() ? lines.values(j, first) : 0;
        *reinterpret_cast<std::uint32_t*>((side == 0 ? mask_a : mask_b) + j.base + first) = values;
        std::uint64_t points = 0, weight = 0;
        for (std::uint32_t left = values; left != 0; left >>= 8)
            if ((left & 255) != 0) ++points, weight += w->rank[left & 255];
        if (__syncthreads_or(values != 0 ? 1 : 0) == 0) continue;
        add_of_block(reinterpret_cast<word*>(&to.points[side]), points);
        add_of_block(reinterpret_cast<word*>(&to.weight[side]), weight);
    }
}

/// Lists points. `taken` counts the places of each job's list that blocks have reserved.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    gather_points(const job* jobs, int count, int side, const std::uint8_t* mask, const T* squared, word* taken,
                  std::uint64_t* key, std::uint8_t* code) {
    __shared__ int held[threads_of_block / cuda::warp];
    __shared__ std::int64_t start;
    const int k = job_of_block(jobs, count);
    const job& j = jobs[k];
    const std::int64_t first = j.base + own_four(j);
    const bool inside = first >= j.base && first < j.base + j.cells();  // other blocks belong to jobs that are left out
    const std::uint32_t values = inside ? *reinterpret_cast<const std::uint32_t*>(mask + first) : 0;
    if (__syncthreads_or(values != 0 ? 1 : 0) == 0) return;
    int mine = 0, all = 0;
    for (int i = 0; i < 4; ++i) mine += byte_of(values, i) != 0 ? 1 : 0;
    const int before = cuda::sum_before(mine, held, all);
    if (threadIdx.x == 0)
        start = j.start[side] + static_cast<std::int64_t>(atomicAdd(taken + k, static_cast<word>(all)));
    __syncthreads();
    std::int64_t to = start + before;
    for (int i = 0; i < 4; ++i) {
        if (byte_of(values, i) == 0) continue;
        using as = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
        key[to] = j.points[1 - side] == 0 ? 0 : key_of(static_cast<as>(squared[first + i]));
        code[to++] = byte_of(values, i);
    }
}

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

void mark(const device& on, const problem& p, const weights& w, const void* codes, group& g) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const auto job_at = memory.reserve<job>(std::ssize(g.jobs)), weight = memory.reserve<weights>(1);
    memory.allocate();
    copy_to(on, memory.get<job>(job_at), g.jobs);
    copy_to(on, memory.get<weights>(weight), std::vector<weights>{w});
    const auto start = [&]<class Code>(Code) {
        cuda::launch(on, mark_points<Code>, g.cells / base_step, dim3(threads_of_block), 0, p,
                     memory.get<weights>(weight), static_cast<const Code*>(codes), memory.get<job>(job_at),
                     static_cast<int>(std::ssize(g.jobs)), g.mask[0], g.mask[1]);
    };
    if (p.wide_codes()) start(std::uint32_t{});
    else start(std::uint8_t{});
    copy_from(on, g.jobs, memory.get<job>(job_at));
}

void gather(const device& on, dtype squared, const group& g, int side) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t jobs = std::ssize(g.jobs);
    const auto job_at = memory.reserve<job>(jobs), taken = memory.reserve<word>(jobs);
    memory.allocate();
    copy_to(on, memory.get<job>(job_at), g.jobs);
    clear(on, memory.get<word>(taken), 8 * jobs);
    const auto start = [&]<class T>(T) {
        cuda::launch(on, gather_points<T>, g.cells / base_step, dim3(threads_of_block), 0, memory.get<job>(job_at),
                     static_cast<int>(jobs), side, g.mask[side], static_cast<const T*>(g.squared),
                     memory.get<word>(taken), g.key, g.code);
    };
    if (squared == dtype::uint32) start(std::uint32_t{});
    else if (squared == dtype::uint64) start(std::uint64_t{});
    else start(double{});
}

std::vector<side_sums> sum(const device& on, const problem& p, const weights& w, const group& g,
                           const std::vector<wanted_ranks>& wanted) {
    const cuda::device_guard current(on);
    return summing(on, p, g).run(w, g, wanted);
}

}  // namespace nearfield::metrics
