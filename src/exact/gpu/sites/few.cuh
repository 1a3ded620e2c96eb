// Nearest sites of volumes with few sites: all passes at once, site by site. Packing (words.cuh) also lists the sites
// of every 32 planes. A block takes a brick of 32 x 16 x 32 cells, the first axis last. The least upper bound that some
// site sets for the whole brick selects the sites that can win in it. The block sorts these by the tie rule, and a warp
// relaxes with them 32 lines of 32 cells along the first axis, as points.cuh does. If there are too many sites, or too
// many at similar distances, the lists are marked incomplete and the usual passes run.
#pragma once

#include "exact/gpu/sites/points.cuh"

namespace nearfield::exact {
namespace {

constexpr int brick_warps = 16;
constexpr int brick_threads = brick_warps * cuda::warp;
constexpr int batch_loads = 4;  // loads of a thread before it uses any
constexpr int batch_points = batch_loads * brick_threads;

/// A brick of cells, for the search of the sites that can win in it.
struct brick {
    int x, y, z;     ///< first cell
    int x1, y1, z1;  ///< last cell

    __device__ static std::int32_t outside(std::int32_t at, int first, int last) {
        return max(max(first - at, at - last), 0);
    }
    __device__ static std::int32_t across(std::int32_t at, int first, int last) {
        return max(abs(at - first), abs(at - last));
    }
    __device__ std::int32_t least(const listed_point& p) const {
        const std::int32_t dx = outside(p.x(), x, x1), dy = outside(p.y(), y, y1), dz = outside(p.z, z, z1);
        return dx * dx + dy * dy + dz * dz;
    }
    __device__ std::int32_t most(const listed_point& p) const {
        const std::int32_t dx = across(p.x(), x, x1), dy = across(p.y(), y, y1), dz = across(p.z, z, z1);
        return dx * dx + dy * dy + dz * dz;
    }
};

/// The lists of an image, outward from those of a brick's own planes. All threads of a block read one list together: a
/// warp per list would have to wait for one with thousands of sites.
class lists_around {
public:
    __device__ lists_around(const point_lists& lists, std::int64_t image, const brick& b)
        : lists_(lists), first_(image * lists.lists_an_image), middle_(b.z / list_planes), with_sites_(sites_from(0)) {
        with_sites_ |= std::uint64_t{sites_from(cuda::warp)} << cuda::warp;
    }

    /// True if lists `apart` up and down can have a site within `bound`.
    __device__ bool matter(int apart, std::int32_t bound) const {
        const std::int32_t rows = max(apart - 1, 0) * list_planes;  // lower bound of the rows between
        return apart < lists_.lists_an_image && rows * rows <= bound;
    }
    /// True if one of the lists `apart` up and down has sites. Lists from the 65th on count as nonempty.
    __device__ bool any(int apart) const { return has_sites(middle_ - apart) || has_sites(middle_ + apart); }
    /// Calls use(lane has a site, site) for each of their sites, with all lanes of a warp together.
    template <class Use>
    __device__ void visit(int apart, const Use& use) const {
        for (const int nth : {middle_ - apart, middle_ + apart}) {
            if (!has_sites(nth)) continue;
            const listed_point* const points = lists_.points + (first_ + nth) * lists_.capacity;
            const int count = lists_.counts[first_ + nth];
            for (int first = 0; first < count; first += batch_points) {
                const int mine = first + static_cast<int>(threadIdx.x);
                listed_point loaded[batch_loads];
#pragma unroll
                for (int i = 0; i < batch_loads; ++i)
                    loaded[i] = mine + i * brick_threads < count ? points[mine + i * brick_threads] : listed_point{};
#pragma unroll
                for (int i = 0; i < batch_loads; ++i)
                    if (first + i * brick_threads < count) use(mine + i * brick_threads < count, loaded[i]);
            }
            if (apart == 0) return;
        }
    }

private:
    /// Returns a bit for each of 32 lists: it has sites. A lane reads one list each, in parallel.
    __device__ std::uint32_t sites_from(int list) const {
        const int mine = list + static_cast<int>(threadIdx.x) % cuda::warp;
        return __ballot_sync(cuda::every_lane, mine < lists_.lists_an_image && lists_.counts[first_ + mine] > 0);
    }
    __device__ bool has_sites(int nth) const {
        return nth >= 0 && nth < lists_.lists_an_image && (nth >= 2 * cuda::warp || (with_sites_ >> nth & 1) != 0);
    }

    const point_lists& lists_;
    std::int64_t first_;
    int middle_;
    std::uint64_t with_sites_;
};

/// Returns the least upper bound of a brick's values that a site sets; the same in all threads.
template <class Memory>
__device__ std::int32_t bound_of(Memory& memory, const lists_around& lists, const brick& b) {
    constexpr std::int32_t unbounded = no_site<std::int32_t>();
    if (threadIdx.x == 0) memory.bound = unbounded, memory.count = 0;
    __syncthreads();
    std::int32_t bound = unbounded;
    for (int apart = 0; lists.matter(apart, bound); ++apart) {
        if (!lists.any(apart)) continue;
        std::int32_t here = unbounded;
        lists.visit(apart, [&](bool is_one, const listed_point& p) { here = is_one ? min(here, b.most(p)) : here; });
        here = __reduce_min_sync(cuda::every_lane, here);
        if (threadIdx.x % cuda::warp == 0 && here < unbounded) atomicMin(&memory.bound, here);
        __syncthreads();
        bound = memory.bound;
        __syncthreads();
    }
    return bound;
}

constexpr int most_brick_sites = 512;
static_assert(most_brick_sites <= brick_threads, "a thread finds the place of one");

/// Shared memory of a block.
struct few_memory {
    listed_point found[most_brick_sites], ordered[most_brick_sites];
    int count;
    std::int32_t bound;
};

__device__ inline std::uint64_t tie_order(const listed_point& p) {
    return static_cast<std::uint64_t>(p.x()) << 32 | static_cast<std::uint64_t>(p.y()) << 16 |
           static_cast<std::uint64_t>(p.z);
}

/// Lists the sites that can win in the brick, in order; returns their number, or -1 for too many, in all threads.
__device__ inline int list_winners(few_memory& memory, const lists_around& lists, const brick& b, std::int32_t bound) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, mine = static_cast<int>(threadIdx.x);
    for (int apart = 0; lists.matter(apart, bound); ++apart)
        lists.visit(apart, [&](bool is_one, const listed_point& p) {
            const bool wins = is_one && b.least(p) <= bound;
            const std::uint32_t winners = __ballot_sync(cuda::every_lane, wins);
            if (winners == 0) return;
            int place = 0;
            if (lane == 0) place = atomicAdd(&memory.count, __popc(winners));
            place = __shfl_sync(cuda::every_lane, place, 0) + __popc(winners & ((1u << lane) - 1));
            if (wins && place < most_brick_sites) memory.found[place] = p;
        });
    __syncthreads();
    const int count = memory.count;
    if (count > most_brick_sites) return -1;
    if (mine < count) {
        const std::uint64_t order = tie_order(memory.found[mine]);
        int place = 0;
#pragma unroll 4
        for (int i = 0; i < count; ++i) place += tie_order(memory.found[i]) < order ? 1 : 0;
        memory.ordered[place] = memory.found[mine];
    }
    __syncthreads();
    return count;
}

/// Finishes 32 lines of the brick at one y. Called by a warp.
template <class Target>
__device__ void finish_lines(const listed_point* ordered, int count, const brick& cells, const Target& target,
                             bool writes, int lane) {
    std::int32_t bound = unbounded;
    for (int at = lane; at < count; at += cuda::warp) bound = min(bound, cells.most(ordered[at]));
    bound = __reduce_min_sync(cuda::every_lane, bound);
    site_candidates o;
    o.begin(count);
    site_candidates::line waiting{};
    bool waits = false;
    for (int first = 0; first < count; first += cuda::warp) {
        const bool wins = first + lane < count && cells.least(ordered[first + lane]) <= bound;
        for (std::uint32_t left = __ballot_sync(cuda::every_lane, wins); left != 0; left &= left - 1) {
            const int number = first + __ffs(static_cast<int>(left)) - 1;
            const listed_point p = ordered[number];
            const std::int32_t dx = p.x() - cells.x - lane, dy = p.y() - cells.y;
            const site_candidates::line here = o.line_of(number, dx * dx + dy * dy, cells.z - p.z);
            if (waits) o.take(waiting, here);
            else waiting = here;
            waits = !waits;
        }
    }
    if (waits) o.take(waiting, waiting);
    if (!writes) return;
    const auto put = [&](int i, std::uint32_t word) {
        const listed_point p = ordered[o.number_in(word)];
        const int row = cells.z + i;
        target.put(row, o.value(word, i), {p.x() - cells.x - lane, p.y() - cells.y}, p.z - row);
    };
    if (cells.z1 - cells.z == square_side - 1) {
#pragma unroll
        for (int i = 0; i < square_side; ++i) put(i, o.best[i]);
        return;
    }
    // The words go to local memory, so that the code that stores a site exists only once.
    std::uint32_t words[square_side];
#pragma unroll
    for (int i = 0; i < square_side; ++i) words[i] = o.best[i];
#pragma unroll 1
    for (int i = 0; i <= cells.z1 - cells.z; ++i) put(i, words[i]);
}

/// Solves bricks, one after another per block, if sites are few.
template <ending End>
__global__ void __launch_bounds__(brick_threads, 2)
    search_few_sites(const point_lists lists, const metric<std::int32_t> m, std::int64_t images, const site_sink to) {
    cuda::wait_for_kernel_before();
    __shared__ few_memory memory;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto depth = static_cast<int>(m.size[m.rank - 3]), height = static_cast<int>(m.size[m.rank - 2]),
               length = static_cast<int>(m.size[m.rank - 1]);
    const int across = (length + 31) / 32, down = (height + brick_warps - 1) / brick_warps, deep = lists.lists_an_image;
    const std::int64_t bricks = images * deep * down * across, plane_cells = static_cast<std::int64_t>(height) * length;
    // Another block may mark the lists as incomplete.
    for (std::int64_t nth = blockIdx.x; nth < bricks; nth += gridDim.x) {
        if (__syncthreads_or(*static_cast<const volatile std::int32_t*>(lists.many) != 0)) return;
        const std::int64_t row = quotient(nth, across), plane = quotient(row, down), image = quotient(plane, deep);
        brick b;
        b.x = static_cast<int>(nth - row * across) * 32, b.y = static_cast<int>(row - plane * down) * brick_warps;
        b.z = static_cast<int>(plane - image * deep) * list_planes;
        b.x1 = min(b.x + 31, length - 1), b.y1 = min(b.y + brick_warps, height) - 1;
        b.z1 = min(b.z + list_planes, depth) - 1;
        const lists_around around(lists, image, b);
        const std::int32_t bound = bound_of(memory, around, b);
        const int count = list_winners(memory, around, b, bound);
        site_candidates most;
        most.number_bits = 32 - __clz(max(count, 1) - 1);
        if (count < 0 || (count > 0 && !most.fit(bound))) {
            if (threadIdx.x == 0) *lists.many = 1;
            return;
        }
        brick cells = b;
        cells.y = cells.y1 = b.y + warp;
        const std::int32_t x = b.x + lane, here = cells.y * length + x, inner = height * length;
        const std::int64_t first = image * depth * plane_cells + here;
        const site_target<End, 2> target{to, nullptr, first, here, inner, x, cells.y, length, words_beyond(to.limit)};
        if (cells.y >= height) continue;
        if (count > 0) finish_lines(memory.ordered, count, cells, target, x < length, lane);
        else
            for (int z = b.z; z <= b.z1 && x < length; ++z) target.put_none(z);
    }
}

}  // namespace
}  // namespace nearfield::exact
