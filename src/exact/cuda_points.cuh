// Volumes with few sites: all three passes at once, site by site. As lines are packed (cuda_bits.cuh) their sites are
// also listed, for every 32 planes; where they turn out to be too many, or too many of them at like distances, the
// passes go on as ever.
//
// A block takes a brick of 32 x 16 x 32 cells, the first axis last: a warp 32 rows along that axis of 32 neighbouring
// lines, as in cuda_square.cuh. The least bound that some site sets for the whole brick picks the sites that can win
// in it.
#pragma once

#include "exact/cuda_square.cuh"

namespace nearfield::exact {
namespace {

constexpr int brick_warps = 16;
constexpr int brick_threads = brick_warps * cuda::warp;
constexpr int batch_loads = 4;  // of a thread, before it looks at any
constexpr int batch_points = batch_loads * brick_threads;
constexpr int listed_points = 2 * batch_points;  // of a block, before they are offered

/// Finds, for the brick whose block calls it, what can win.
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

/// The bricks of all volumes, numbered along the last axis first.
struct bricks {
    int depth, height, length, across, down, deep;
    std::int64_t images;

    bricks(const metric<std::int32_t>& m, std::int64_t volumes)
        : depth(static_cast<int>(m.size[m.rank - 3])),
          height(static_cast<int>(m.size[m.rank - 2])),
          length(static_cast<int>(m.size[m.rank - 1])),
          across((length + 31) / 32),
          down((height + brick_warps - 1) / brick_warps),
          deep((depth + list_planes - 1) / list_planes),
          images(volumes) {}
    NF_HD std::int64_t count() const { return images * deep * down * across; }
    __device__ brick at(std::int64_t nth, std::int64_t& image) const {
        const std::int64_t row = quotient(nth, across), plane = quotient(row, down);
        image = quotient(plane, deep);
        brick b;
        b.x = static_cast<int>(nth - row * across) * 32, b.y = static_cast<int>(row - plane * down) * brick_warps;
        b.z = static_cast<int>(plane - image * deep) * list_planes;
        b.x1 = min(b.x + 31, length - 1), b.y1 = min(b.y + brick_warps, height) - 1;
        b.z1 = min(b.z + list_planes, depth) - 1;
        return b;
    }
};

/// The calling warp's square of a brick: 32 lines at one y, rows along z.
struct brick_square {
    brick cells;  ///< of this warp alone
    square rows;

    /// Offers those of the points that could win.
    template <class Values>
    __device__ void offer(const listed_point* points, int count, offers<Values>& to) const {
        const int lane = rows.lane;
        std::int32_t most = to.bound;
        for (int at = lane; at < count; at += cuda::warp) most = min(most, cells.most(points[at]));
        to.bound = __reduce_min_sync(cuda::every_lane, most), to.mine = min(to.mine, to.bound + 1);
        // Those within half the bound's distance first: they lower it before it decides about the others.
        const std::int32_t near = to.bound / 4;
        for (const bool far : {false, true})
            for (int at = 0; at < count; at += cuda::warp) {
                std::int32_t least = at + lane < count ? cells.least(points[at + lane]) : no_site<std::int32_t>();
                if ((least > near) != far) least = no_site<std::int32_t>();
                offer_group(points + at, least, to);
            }
    }

private:
    /// Of 32 points, a lane each, those that could win.
    template <class Values>
    __device__ void offer_group(const listed_point* points, std::int32_t least, offers<Values>& to) const {
        std::uint32_t wanted = __ballot_sync(cuda::every_lane, least <= to.bound);
        while (wanted != 0) {
            const listed_point p = points[__ffs(static_cast<int>(wanted)) - 1];
            wanted &= wanted - 1;
            const std::int32_t dx = cells.x + rows.lane - p.x(), dy = cells.y - p.y(), apart = dx * dx + dy * dy,
                               gap = rows.rows_to(p.z);
            if (!__any_sync(cuda::every_lane, apart + gap * gap < to.mine)) continue;
            if (to.take({apart, rows.top - p.z})) wanted &= __ballot_sync(cuda::every_lane, least <= to.bound);
        }
    }
};

/// Shared memory of a block of search_points.
struct brick_memory {
    listed_point points[listed_points];
    int count;
    std::int32_t bound;
};

/// The lists of an image outward from those of a brick's own planes, which all threads of a block look at together:
/// with a warp a list, one of thousands of sites is waited for.
class lists_around {
public:
    __device__ lists_around(const point_lists& lists, std::int64_t image, const brick& b)
        : lists_(lists), first_(image * lists.lists_an_image), middle_(b.z / list_planes), with_sites_(sites_from(0)) {
        with_sites_ |= std::uint64_t{sites_from(cuda::warp)} << cuda::warp;
    }

    /// Lists so many further up and down can have a site within `bound`.
    __device__ bool matter(int apart, std::int32_t bound) const {
        const std::int32_t rows = max(apart - 1, 0) * list_planes;  // between, at least
        return apart < lists_.lists_an_image && rows * rows <= bound;
    }
    /// Whether one of the lists so far up and down has sites at all. Lists from the 65th on count as having some.
    __device__ bool any(int apart) const { return has_sites(middle_ - apart) || has_sites(middle_ + apart); }
    /// Calls begin(how many) before each batch of sites, all threads of the block alike, and for each of them
    /// use(whether the lane has one, site), all lanes of a warp together.
    template <class Begin, class Use>
    __device__ void visit(int apart, const Begin& begin, const Use& use) const {
        for (const int nth : {middle_ - apart, middle_ + apart}) {
            if (!has_sites(nth)) continue;
            const listed_point* const points = lists_.points + (first_ + nth) * lists_.capacity;
            const int count = lists_.counts[first_ + nth];
            for (int first = 0; first < count; first += batch_points) {
                begin(min(batch_points, count - first));
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
    template <class Use>
    __device__ void visit(int apart, const Use& use) const {
        visit(apart, [](int) {}, use);
    }

private:
    /// Which of 32 lists have sites: a lane looks at one each, so that empty ones are not asked one after another.
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

/// For all threads alike, the least bound of a brick's values that a site sets.
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

/// Puts the points of the calling warp's lanes that win on the list, which has room for them.
template <class Memory>
__device__ void list_point(Memory& memory, bool wins, const listed_point& p) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::uint32_t winners = __ballot_sync(cuda::every_lane, wins);
    if (winners == 0) return;
    int place = 0;
    if (lane == 0) place = atomicAdd(&memory.count, __popc(winners));
    place = __shfl_sync(cuda::every_lane, place, 0) + __popc(winners & ((1u << lane) - 1));
    if (wins) memory.points[place] = p;
}

/// Lists all points that can win in the brick and offers them to its squares, each time that no more fit and at the
/// end.
template <class Values, bool Last>
__device__ void finish_brick(brick_memory& memory, const lists_around& lists, const brick& b, std::int32_t bound,
                             const brick_square& mine, const tile_target<std::int32_t, Last>& target) {
    offers<Values> to(bound);
    const bool within = mine.rows.top <= mine.rows.bottom;
    const auto offer_listed = [&] {
        __syncthreads();
        if (within) mine.offer(memory.points, memory.count, to);
        __syncthreads();
        if (threadIdx.x == 0) memory.count = 0;
        __syncthreads();
    };
    int room = listed_points;  // at least; for all threads alike
    for (int apart = 0; lists.matter(apart, bound); ++apart)
        lists.visit(
            apart,
            [&](int coming) {
                if (room < coming) {
                    __syncthreads();
                    room = listed_points - memory.count;
                    __syncthreads();
                }
                if (room < coming) offer_listed(), room = listed_points;
                room -= coming;
            },
            [&](bool is_one, const listed_point& p) { list_point(memory, is_one && b.least(p) <= bound, p); });
    offer_listed();
    to.finish();
    if (within) write_square(mine.rows, bound, target, to.best, std::make_integer_sequence<int, square_rows>{});
}

/// A block one brick of a sample: how many sites can win in it.
__global__ void __launch_bounds__(brick_threads) count_candidates(const point_lists lists, const bricks all) {
    cuda::wait_for_kernel_before();
    if (*lists.many != 0) return;
    __shared__ brick_memory memory;
    std::int64_t image;
    const brick b = all.at(quotient((2 * blockIdx.x + 1) * all.count(), 2 * sampled_bricks), image);
    const lists_around around(lists, image, b);
    const std::int32_t bound = bound_of(memory, around, b);
    int candidates = 0;
    for (int apart = 0; around.matter(apart, bound); ++apart)
        around.visit(apart,
                     [&](bool is_one, const listed_point& p) { candidates += is_one && b.least(p) <= bound ? 1 : 0; });
    candidates = __reduce_add_sync(cuda::every_lane, candidates);
    if (threadIdx.x % cuda::warp == 0 && candidates > 0) atomicAdd(lists.candidates, candidates);
}

/// A block one brick after another, when sites are few.
template <bool Last>
__global__ void __launch_bounds__(brick_threads, 2)
    search_points(const point_lists lists, const metric<std::int32_t> m, const bricks all,
                  const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    if (!lists.complete()) return;
    __shared__ brick_memory memory;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    for (std::int64_t nth = blockIdx.x; nth < all.count(); nth += gridDim.x) {
        std::int64_t image;
        const brick b = all.at(nth, image);
        const lists_around around(lists, image, b);
        const std::int32_t most = bound_of(memory, around, b);
        const int y = b.y + warp;
        brick_square mine{b, {nullptr, nullptr, 0, 0, b.z, y < all.height ? b.z1 : b.z - 1, lane}};
        mine.cells.y = mine.cells.y1 = y;
        const std::int64_t plane_cells = static_cast<std::int64_t>(all.height) * all.length;
        const tile_target<std::int32_t, Last> target{
            m, to, image * all.depth * plane_cells + static_cast<std::int64_t>(y) * all.length + b.x + lane,
            static_cast<std::int32_t>(plane_cells), min(all.length - b.x, 32)};
        if (most <= narrow_square::bound) finish_brick<narrow_square>(memory, around, b, most, mine, target);
        else finish_brick<wide_square>(memory, around, b, most, mine, target);
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
