// On a device: marks points of surfaces, lists their distances, and computes sums and ranks of the lists.
#include <algorithm>

#include "base/cuda_by_warp.cuh"
#include "base/cuda_scan.cuh"
#include "metrics/cuda_common.cuh"

namespace nearfield::metrics {
namespace {

constexpr std::int64_t points_of_block = 4096;
/// Mask values that a thread reads at once, of cells in a row of the job's box. All cells of a block belong to one job,
/// because masks of jobs begin at multiples of base_step.
struct alignas(16) own_values {
    static constexpr int words = 4;
    std::uint32_t word[words];

    __device__ std::uint8_t at(int i) const { return static_cast<std::uint8_t>(word[i / 4] >> 8 * (i % 4)); }
};
static_assert(base_step == sizeof(own_values) * threads_of_block);

__device__ int job_of_block(const job* jobs, int count) {
    return last_upto(count, static_cast<std::int64_t>(blockIdx.x) * base_step, [&](int k) { return jobs[k].base; });
}

/// A warp's findings about the points of a job's surface.
struct found_points {
    word points, weight;
    __device__ void reduce() {
        for (int by = cuda::warp / 2; by > 0; by /= 2) {
            points += __shfl_xor_sync(cuda::every_lane, points, by);
            weight += __shfl_xor_sync(cuda::every_lane, weight, by);
        }
    }
};

/// Everything that marking needs: the planes of the image in which the group's jobs lie, and their masks.
struct marking {
    const weights* by;
    const std::int32_t* job_of_row;  ///< negative: not in this group
    job* jobs;
    std::uint8_t* mask[2];
    std::int64_t first_image, images, first_plane, planes, blocks_of_image;
};
constexpr int lines_of_block = 32;

__device__ inline void add_to_job(const marking& m, std::int32_t which, int side, const found_points& more) {
    atomicAdd(reinterpret_cast<word*>(&m.jobs[which].points[side]), more.points);
    atomicAdd(reinterpret_cast<word*>(&m.jobs[which].weight[side]), more.weight);
}

/// A line of points of one image on one side. A cell is a point of its code's surface if a neighbour lacks the code, a
/// corner one of every code that some but not all of the eight cells around it have. Cells outside have code 0.
template <class Code>
struct line_of_points {
    const problem& p;
    const marking& m;
    const Code* image;
    std::int64_t row, z, y;
    int side;
    found_points* held;  ///< of codes of one byte, in the block's memory; else null

    __device__ static void add(found_points* to, const found_points& more) {
        atomicAdd(&to->points, more.points), atomicAdd(&to->weight, more.weight);
    }
    /// Returns a line of cells at an offset from this one, or null outside of the image.
    __device__ const Code* cells(int by_z, int by_y) const {
        const std::int64_t cz = z + by_z, cy = y + by_y;
        if (cz < 0 || cy < 0 || cz >= p.size[0] || cy >= p.size[1]) return nullptr;
        return image + (cz * p.size[1] + cy) * p.size[2];
    }
    __device__ Code at(const Code* cells, std::int32_t x) const {
        return cells == nullptr || x < 0 || x >= p.size[2] ? Code{0} : cells[x];
    }
    /// Writes the mask's value of a point of a code. All lanes call it; lanes without a point give code 0.
    __device__ void put(std::int64_t x, std::uint32_t code, std::uint8_t value) const {
        const std::int32_t which = code == 0 ? -1 : m.job_of_row[row + code - 1];
        found_points mine{0, 0};
        if (which >= 0) {
            const job& j = m.jobs[which];
            m.mask[side][j.base + ((z - j.first[0]) * j.size[1] + y - j.first[1]) * j.size[2] + x - j.first[2]] = value;
            mine = {1, m.by->rank[value]};
        }
        cuda::put_by_warp(which >= 0 ? code : 0, 0U, mine, [&](std::uint32_t of_code, const found_points& of) {
            if (held != nullptr) add(held + of_code - 1, of);
            else add_to_job(m, m.job_of_row[row + of_code - 1], side, of);
        });
    }
    /// Marks the line's cells. A missing axis has the same cells on both sides.
    __device__ void mark_cells(std::int32_t lane) const {
        const Code* const own = cells(0, 0);
        const Code* beside[4];
        for (int k = 0; k < 4; ++k) {
            const int by = k % 2 == 0 ? -1 : 1;
            beside[k] = !p.has(k / 2) ? own : k < 2 ? cells(by, 0) : cells(0, by);
        }
        for (std::int32_t x = lane; x - lane < p.size[2]; x += cuda::warp) {
            const Code code = at(own, x);
            bool inner = at(own, x - 1) == code && at(own, x + 1) == code;
#pragma unroll
            for (const Code* const line : beside) inner = inner && at(line, x) == code;
            inner = inner || code == 0;
            if (__any_sync(cuda::every_lane, inner ? 0 : 1) != 0) put(x, inner ? 0 : code, 1);
        }
    }
    /// Marks the line's corners, one more than there are cells.
    __device__ void mark_corners(std::int32_t lane) const {
        const Code* around[4];
        for (int k = 0; k < 4; ++k) around[k] = cells(p.has(0) && k < 2 ? -1 : 0, p.has(1) && k % 2 == 0 ? -1 : 0);
        for (std::int32_t x = lane; x - lane <= p.size[2]; x += cuda::warp) {
            Code cell[8];
            bool some = false;
#pragma unroll
            for (int k = 0; k < 8; ++k) cell[k] = at(around[k % 4], k < 4 ? x - 1 : x), some |= cell[k] != cell[0];
            if (__any_sync(cuda::every_lane, some ? 1 : 0) != 0) mark_corner(x, cell, some);
        }
    }
    __device__ void mark_corner(std::int32_t x, const Code (&cell)[8], bool some) const {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            unsigned bits = 0;
            bool first = some && cell[k] != 0;
#pragma unroll
            for (int other = 0; other < 8; ++other) {
                const bool same = cell[other] == cell[k];
                bits |= same ? 1U << other : 0U;
                if (other < k && same) first = false;
            }
            if (__any_sync(cuda::every_lane, first ? 1 : 0) != 0)
                put(x, first ? cell[k] : 0, static_cast<std::uint8_t>(bits));
        }
    }
};

/// Marks the points of both sides in masks of zeros, and counts them. A warp goes along a line of points.
template <class Code>
__global__ void __launch_bounds__(threads_of_block)
    mark_points(const __grid_constant__ problem p, const __grid_constant__ marking m, const Code* codes) {
    constexpr int codes_held = sizeof(Code) == 1 ? 255 : 1;
    __shared__ found_points held[codes_held];
    for (int i = static_cast<int>(threadIdx.x); i < codes_held; i += threads_of_block)
        held[i].points = held[i].weight = 0;
    __syncthreads();
    const auto points = [&](int axis) { return p.size[axis] + (p.elements && p.has(axis) ? 1 : 0); };
    const std::int64_t which = cuda::quotient(blockIdx.x, m.blocks_of_image);
    const int side = which < m.images ? 0 : 1;
    const std::int64_t image = m.first_image + which - side * m.images,
                       begin = (blockIdx.x - which * m.blocks_of_image) * lines_of_block;
    for (int k = static_cast<int>(threadIdx.x) / cuda::warp; k < lines_of_block; k += threads_of_block / cuda::warp) {
        const std::int64_t plane = cuda::quotient(begin + k, points(1));
        if (plane >= m.planes) break;
        const line_of_points<Code> line{p,
                                        m,
                                        codes + image * p.image_cells() + side * p.cells(),
                                        image * p.labels,
                                        m.first_plane + plane,
                                        begin + k - plane * points(1),
                                        side,
                                        sizeof(Code) == 1 ? held : nullptr};
        if (p.elements) line.mark_corners(lane_of_thread());
        else line.mark_cells(lane_of_thread());
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); sizeof(Code) == 1 && i < codes_held; i += threads_of_block)
        if (held[i].points != 0) add_to_job(m, m.job_of_row[image * p.labels + i], side, held[i]);
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
    constexpr int cells = sizeof(own_values);
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * base_step + cells * threadIdx.x;
    own_values values{};  // other blocks belong to jobs that are left out
    if (first >= j.base && first < j.base + j.cells()) values = *reinterpret_cast<const own_values*>(mask + first);
    int mine = 0, all = 0;
#pragma unroll
    for (int i = 0; i < cells; ++i) mine += values.at(i) != 0 ? 1 : 0;
    if (__syncthreads_or(mine) == 0) return;
    const int before = cuda::sum_before(mine, held, all);
    if (threadIdx.x == 0)
        start = j.start[side] + static_cast<std::int64_t>(atomicAdd(taken + k, static_cast<word>(all)));
    __syncthreads();
    std::int64_t to = start + before;
#pragma unroll
    for (int i = 0; i < cells; ++i) {
        if (values.at(i) == 0) continue;
        using as = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
        key[to] = j.points[1 - side] == 0 ? 0 : key_of(static_cast<as>(squared[first + i]));
        code[to++] = values.at(i);
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
    std::vector<std::int32_t> job_of_row(static_cast<std::size_t>(p.images * p.labels), -1);
    marking m{};
    std::int64_t last_image = 0, last_plane = 0;
    m.first_image = p.images, m.first_plane = p.size[0];
    for (std::size_t k = 0; k < g.jobs.size(); ++k) {
        const job& j = g.jobs[k];
        job_of_row[static_cast<std::size_t>(j.row)] = static_cast<std::int32_t>(k);
        m.first_image = std::min(m.first_image, j.row / p.labels), last_image = std::max(last_image, j.row / p.labels);
        m.first_plane = std::min(m.first_plane, j.first[0]);
        last_plane = std::max(last_plane, j.first[0] + j.size[0] - 1);
    }
    m.images = last_image - m.first_image + 1, m.planes = last_plane - m.first_plane + 1;
    m.blocks_of_image = cuda::blocks_for(m.planes * (p.size[1] + (p.elements && p.has(1) ? 1 : 0)), lines_of_block);
    const auto job_at = memory.reserve<job>(std::ssize(g.jobs)), weight = memory.reserve<weights>(1),
               row = memory.reserve<std::int32_t>(std::ssize(job_of_row));
    memory.allocate();
    m.by = memory.get<weights>(weight), m.jobs = memory.get<job>(job_at), m.job_of_row = memory.get<std::int32_t>(row);
    copy_to(on, m.jobs, g.jobs);
    copy_to(on, memory.get<weights>(weight), std::vector<weights>{w});
    copy_to(on, memory.get<std::int32_t>(row), job_of_row);
    for (int side = 0; side < 2; ++side) m.mask[side] = g.mask[side], clear(on, g.mask[side], g.cells);
    const auto start = [&]<class Code>(Code) {
        cuda::launch(on, mark_points<Code>, 2 * m.images * m.blocks_of_image, dim3(threads_of_block), 0, p, m,
                     static_cast<const Code*>(codes));
    };
    if (p.wide_codes()) start(std::uint32_t{});
    else start(std::uint8_t{});
    copy_from(on, g.jobs, m.jobs);
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
