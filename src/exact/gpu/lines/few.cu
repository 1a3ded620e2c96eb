// Few sites: at most one in 900 to 4,500 cells. Lines search through rows that are nearly all empty, so cells are
// compared with the sites themselves instead, whatever the numbers, first values, ends and fields of a problem.
//
// A sample of cells ends the attempt where sites are obviously many. One kernel lists the sites and counts them; words
// have a list from packing. Boxes of cells, coarse ones and then fine ones, keep the sites that can win in them: a site
// wins nowhere in a box if it is farther from all of the box than another site is at most. Last, a warp compares the
// sites that can win in its 256 cells with each of them. If sites are too many, or too many can win in a box, a flag
// tells the usual passes to run.
//
// Cost: the image is read once, the fields are written once; 3,000 sites leave about five for a warp.
// Rounded numbers: values are sums in the order of the passes, which is monotone, so that bounds hold. Ties are decided
// as the passes decide them: within a line first, then within a plane, then between planes.

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/cuda.cuh"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/lines/few_cells.cuh"
#include "exact/gpu/lines/few_grid.cuh"

namespace nearfield::exact::gpu {
namespace {

// ---- the sites of boxes ---------------------------------------------------------------------------------------------

/// Calls keep(i) for those of `count` sites at(i) that can win in a box. Called by all threads of a block.
template <class V, class At, class Keep>
__device__ void select_sites(const few_grid<V>& g, const few_box& b, int count, const At& at, const Keep& keep) {
    __shared__ V lows[few_warps];
    __shared__ int nearest;  // a site that sets the bound
    V bound = g.limit;
    int mine = -1;
    if (threadIdx.x == 0) nearest = -1;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += few_threads) {
        const few_site<V> site = at(i);
        if (site.image != b.image) continue;
        const V most = g.template bound<true>(site, b);
        if (most < bound) bound = most, mine = i;
    }
    const V own = bound;
    bound = least_of_lanes(bound);
    if (threadIdx.x % cuda::warp == 0) lows[threadIdx.x / cuda::warp] = bound;
    __syncthreads();
    for (const V low : lows) bound = min(bound, low);
    if (mine >= 0 && own == bound) atomicMax(&nearest, mine);
    __syncthreads();
    const few_site<V> other = nearest < 0 ? few_site<V>{} : at(nearest);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += few_threads) {
        const few_site<V> site = at(i);
        if (site.image == b.image && g.template bound<false>(site, b) <= bound &&
            (nearest < 0 || g.wins_somewhere(site, other, b)))
            keep(i, site);
    }
}

/// Lists the sites that can win in coarse box `nth`. Called by all threads of a block, whose memory lists no site yet.
template <class V>
__device__ void list_near(const few_grid<V>& g, const few_lists<V>& lists, few_memory<V>& memory, std::int64_t nth) {
    std::int32_t* const to = lists.near + nth * std::int64_t{most_near};
    select_sites(
        g, g.coarse_box(nth), *lists.count, [&](int i) { return lists.sites[i]; },
        [&](int i, const few_site<V>&) {
            const int place = atomicAdd(&memory.count, 1);
            if (place < most_near) to[place] = i;
        });
    __threadfence();
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (memory.count > most_near) *lists.many = 1;
    lists.near_count[nth] = memory.count;
    if (nth < 1 << fullest_bits)
        atomicMax(lists.fullest, min(memory.count, most_near) << fullest_bits | static_cast<int>(nth));
    __threadfence();
    atomicAdd(lists.listed, 1);
}
/// Returns the number of the nth coarse box whose parts are solved, after all have been listed: the fullest one comes
/// first, because its parts tell soonest that too many sites can win. They surely are too many if it has nearly all.
/// Called by one thread. Blocks take coarse boxes before fine ones and wait for nothing before they have listed their
/// sites, so that this wait ends.
template <class V>
__device__ std::int64_t listed_box(const few_lists<V>& lists, std::int64_t nth, std::int64_t coarse) {
    while (*static_cast<const volatile std::int32_t*>(lists.listed) < coarse && !lists.gave_up()) {
    }
    __threadfence();
    const std::int32_t fullest = *static_cast<const volatile std::int32_t*>(lists.fullest),
                       sites = fullest >> fullest_bits;
    if (coarse > 1 && sites > most_found && sites > *lists.count / 4 * 3) *lists.many = 1;
    return (nth + (fullest & ((1 << fullest_bits) - 1))) % coarse;
}

template <int A, int B, int C, class V>
__device__ std::uint64_t few_key(const few_site<V>& site) {
    return (static_cast<std::uint64_t>(site.at[A]) << coordinate_bits | static_cast<std::uint64_t>(site.at[B]))
               << coordinate_bits |
           static_cast<std::uint64_t>(site.at[C]);
}

/// Calls put(i, place) with the place of each site i in the order of its key. Called by all threads of a block.
template <class V, class Key, class Put>
__device__ void rank_sites(few_memory<V>& memory, const few_site<V>* sites, const Key& key, const Put& put) {
    const int count = memory.count;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += few_threads) memory.keys[i] = key(sites[i]);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += few_threads) {
        const std::uint64_t mine = memory.keys[i];
        int place = 0;
#pragma unroll 4
        for (int j = 0; j < count; ++j) place += memory.keys[j] < mine ? 1 : 0;
        put(i, place);
    }
    __syncthreads();
}

// ---- the cells ------------------------------------------------------------------------------------------------------

/// Orders the sites that were found, and loads their labels. Called by all threads of a block.
template <class V>
__device__ void order_sites(const few_grid<V>& g, const few_box& b, few_memory<V>& memory,
                            const written_fields<V>& to) {
    rank_sites(
        memory, memory.found, [](const few_site<V>& site) { return few_key<0, 1, 2>(site); },
        [&](int i, int place) { memory.ordered[place] = memory.found[i]; });
    for (int i = static_cast<int>(threadIdx.x); i < memory.count; i += few_threads) {
        const few_site<V>& site = memory.ordered[i];
        const std::int64_t line = site.at[2] * std::int64_t{g.size[1]} + site.at[1],
                           image = b.image * std::int64_t{g.size[2]} * g.size[1];
        memory.number[i] = line * g.size[0] + site.at[0];
        if (to.label != nullptr)
            memory.bits[i] = load_bits(to.image, to.image_bytes, (image + line) * g.size[0] + site.at[0]);
    }
    if constexpr (std::is_floating_point_v<V>)
        rank_sites(
            memory, memory.ordered, [](const few_site<V>& site) { return few_key<2, 1, 0>(site); },
            [&](int i, int place) { memory.visited[place] = static_cast<std::int16_t>(i); });
    __syncthreads();
}

/// Solves part `nth` of a coarse box, in which `count` sites of the list `near` can win. Called by all threads of a
/// block, whose memory lists no site yet.
template <class V>
__device__ void solve_box(const few_grid<V>& g, const few_lists<V>& lists, const written_fields<V>& to,
                          few_memory<V>& memory, few_box b, int nth, const std::int32_t* near, int count) {
    if (!g.take_part(b.first, nth, g.shapes.coarse, g.shapes.fine)) return;
    b = g.box(b.first, g.shapes.fine, b.image);
    select_sites(
        g, b, count, [&](int i) { return lists.sites[near[i]]; },
        [&](int, const few_site<V>& site) {
            const int place = atomicAdd(&memory.count, 1);
            if (place < most_found) memory.found[place] = site;
            if constexpr (std::is_same_v<V, std::int32_t>) atomicMax(&memory.largest, g.template bound<true>(site, b));
        });
    __syncthreads();
    if (memory.count > most_found) {
        if (threadIdx.x == 0) *lists.many = 1;
        return;
    }
    order_sites(g, b, memory, to);
    for (int part = static_cast<int>(threadIdx.x) / cuda::warp; part < 1 << tiles_bits; part += few_warps) {
        few_box tile = b;
        if (!g.take_part(tile.first, part, g.shapes.fine, g.shapes.tile)) continue;
        tile = g.box(tile.first, g.shapes.tile, b.image);
        const auto solve = [&]<bool Bent>() {
            few_cells<V, Bent> cells(g, memory, tile);
            cells.search(tile);
            cells.write(to);
        };
        if (g.bent) solve.template operator()<true>();
        else solve.template operator()<false>();
    }
}

/// Lists the sites of the coarse boxes, then solves the fine ones. A block takes a coarse box, or some fine ones of one
/// coarse box, as soon as it has solved what it took before, because times differ.
template <class V>
__global__ void __launch_bounds__(few_threads, sizeof(V) == 8 ? 3 : 4)
    compare_sites(const __grid_constant__ few_grid<V> g, const few_lists<V> lists,
                  const __grid_constant__ written_fields<V> to, std::int64_t coarse) {
    cuda::wait_for_kernel_before();
    __shared__ few_memory<V> memory;
    __shared__ int taken;
    __shared__ std::int64_t of;
    if (__syncthreads_or(lists.gave_up())) return;
    if (*lists.count > lists.most) {
        if (threadIdx.x == 0) *lists.many = 1;
        return;
    }
    if (threadIdx.x < few_axes) memory.ordered[most_found].at[threadIdx.x] = -1;
    memory.number[most_found] = -1, memory.bits[most_found] = 0;
    constexpr int tickets_bits = boxes_bits - taken_bits;
    const std::int64_t all = coarse + (coarse << tickets_bits);
    for (;;) {
        if (threadIdx.x == 0) {
            memory.count = memory.largest = 0, taken = atomicAdd(lists.next, 1);
            if (taken >= coarse && taken < all) of = listed_box(lists, (taken - coarse) >> tickets_bits, coarse);
        }
        if (__syncthreads_or(lists.gave_up()) || taken >= all) return;
        if (taken < coarse) {
            list_near(g, lists, memory, taken);
            __syncthreads();
            continue;
        }
        const few_box b = g.coarse_box(of);
        const int first = (static_cast<int>(taken - coarse) & ((1 << tickets_bits) - 1)) << taken_bits;
        for (int k = 0; k < 1 << taken_bits; ++k) {
            solve_box(g, lists, to, memory, b, first + k, lists.near + of * most_near, lists.near_count[of]);
            if (__syncthreads_or(lists.gave_up())) return;
            if (threadIdx.x == 0) memory.count = memory.largest = 0;
            __syncthreads();
        }
    }
}

// ---- the host -------------------------------------------------------------------------------------------------------

/// Returns the largest number of few sites. Near windows of whole numbers take less time where sites are less far. On
/// an H200, 0.1 % of 512^3 takes them 3.6 ms with sites and 2.2 ms without, and this rung 4.5 ms; 3,000 sites take 6.4,
/// 3.5 and 1.3 ms.
std::int64_t most_sites(const plan& p) {
    const bool near = !p.weighted && p.numbers != tier::float64;
    const bool volume = p.rank - p.first_axis == 3;
    const int times = !near ? 1 : p.sites_wanted ? (volume ? 2 : 1) : volume ? 3 : 5;
    return std::min(p.cells / (times * few_limit.cells_a_site), most_few);
}

/// Returns the number of the problem's axis for an axis of the grid; -1 for the one that images lack.
int axis_of(const plan& p, int a) {
    return a == 0 ? p.rank - 1 : a == 2 ? p.first_axis : p.rank - p.first_axis == 3 ? p.rank - 2 : -1;
}

/// Doubles the shortest side of a box, so many times; the last axis if no side is shorter than the grid.
void grow(const plan& p, int (&side)[few_axes], int (&lanes)[few_axes], int times) {
    for (; times > 0; --times) {
        int shortest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (int a = 0; a < few_axes; ++a) {
            if (axis_of(p, a) < 0) continue;
            const auto axis = static_cast<std::size_t>(axis_of(p, a));
            const double length = static_cast<double>(std::int64_t{1} << side[a]);
            const double size = p.weight[axis] * length * length;
            if ((std::int64_t{1} << side[a]) < p.size[axis] && size < least) least = size, shortest = a;
        }
        ++side[shortest], ++lanes[shortest];
    }
}

few_shapes shapes_for(const plan& p) {
    few_shapes of;
    int unused[few_axes]{};
    grow(p, of.tile, of.lanes, 2);
    std::copy_n(of.tile, few_axes, of.fine);
    grow(p, of.fine, unused, tiles_bits);
    std::copy_n(of.fine, few_axes, of.coarse);
    grow(p, of.coarse, unused, boxes_bits);
    return of;
}

/// Returns the number of coarse boxes along an axis.
std::int64_t boxes_along(const plan& p, const few_shapes& shapes, int a) {
    const int axis = axis_of(p, a);
    return axis < 0 ? 1 : blocks_for(p.size[static_cast<std::size_t>(axis)], std::int64_t{1} << shapes.coarse[a]);
}
std::int64_t coarse_boxes(const plan& p) {
    const few_shapes shapes = shapes_for(p);
    std::int64_t boxes = cells_between(p.size.data(), 0, p.first_axis);
    for (int a = 0; a < few_axes; ++a) boxes *= boxes_along(p, shapes, a);
    return boxes;
}

template <class V>
few_grid<V> grid_for(const plan& p) {
    few_grid<V> g;
    const metric<V> m = p.template as_metric<V>();
    g.shapes = shapes_for(p);
    g.half_cell = p.half_cell, g.bent = p.half_cell;
    for (int a = 0; a < few_axes; ++a) {
        g.boxes[a] = boxes_along(p, g.shapes, a);
        if (axis_of(p, a) < 0) continue;
        const auto axis = static_cast<std::size_t>(axis_of(p, a));
        const auto size = static_cast<int>(p.size[axis]);
        const bool periodic = p.borders[axis] == border::periodic;
        g.size[a] = size, g.weight[a] = m.weight[axis];
        if (periodic) g.around[a] = size;
        g.most[a] = periodic ? size / 2 : size - 1;
        g.bent |= periodic;
        g.closed[a] = p.borders[axis] == border::closed;
    }
    g.limit = p.template bound<V>(p.limit);
    return g;
}

constexpr int counters_before = 5;  // of a call, before those of coarse boxes

template <class V>
few_lists<V> lists_for(const plan& p, std::int32_t* counters, std::byte* memory) {
    const std::int64_t sites = most_sites(p) * static_cast<std::int64_t>(sizeof(few_site<double>));
    return {few_list<V>(p, counters, memory),
            counters + 2,
            counters + 3,
            counters + 4,
            counters + counters_before,
            reinterpret_cast<std::int32_t*>(memory + sites)};
}

}  // namespace

bool tries_few(const plan& p) {
    const int searched = p.rank - p.first_axis;
    // Many small images, and grids of few cells along two axes, would have boxes that are mostly empty.
    const std::int64_t most_boxes = 4 + (p.cells >> 16);
    return p.by == classes::none && (searched == 2 || searched == 3) &&
           p.cells >= few_limit.least_cells / (p.weighted ? 4 : 1) && most_sites(p) > 0 &&
           coarse_boxes(p) <= most_boxes &&
           std::all_of(p.size.begin() + p.first_axis, p.size.begin() + p.rank,
                       [](std::int64_t size) { return size < std::int64_t{1} << coordinate_bits; });
}

bool tries_few_plainly(const plan& p) {
    return p.numbers != tier::float64 && p.largest < largest_narrow && tries_few(p);
}
bool tries_few_alone(const plan& p) {
    return p.rank - p.first_axis == 3 && p.cells >= few_limit.least_alone && tries_few_plainly(p);
}

std::int64_t few_counters(const plan& p) { return counters_before + coarse_boxes(p); }
std::int64_t few_bytes(const plan& p) {
    return most_sites(p) * static_cast<std::int64_t>(sizeof(few_site<double>)) + coarse_boxes(p) * most_near * 4;
}

template <class V>
few_sites<V> few_list(const plan& p, std::int32_t* counters, std::byte* memory) {
    return {counters, counters + 1, reinterpret_cast<few_site<V>*>(memory), static_cast<int>(most_sites(p))};
}
template few_sites<std::int32_t> few_list(const plan&, std::int32_t*, std::byte*);

template <class V>
void list_few(const option_call& call, const elements& image, std::int32_t* counters, std::byte* memory) {
    const plan& p = call.p;
    few_source<V> of{image, p.weighted || p.rule == sites::nonzero, p.weighted, {}, p.template as_metric<V>(), p.cells};
    if (p.weighted) of.from = weighted_arrays(call);
    const few_lists<V> lists = lists_for<V>(p, counters, memory);
    const std::int64_t readers = std::min<std::int64_t>(blocks_for(p.cells, few_threads * few_loads), few_blocks);
    cuda::launch(call.on, sample_sites<V>, 1, few_threads, 0, of, lists);
    cuda::launch(call.on, list_sites<V>, readers, few_threads, 0, of, grid_for<V>(p), lists);
}

template <class V>
void compare_few(const option_call& call, const written_fields<V>& to, std::int32_t* counters, std::byte* memory) {
    const plan& p = call.p;
    few_grid<V> g = grid_for<V>(p);
    g.values = call.out.distance.wanted() || call.out.squared.wanted();
    g.only_roots = to.out.distance32 != nullptr && !call.out.squared.wanted();
    for (int i = 0; i < to.out.image_rank; ++i)
        for (int a = g.coordinate_of[i] = few_axes; a-- > 0;)
            if (axis_of(p, a) >= 0 && axis_of(p, a) == to.out.problem_axis[i]) g.coordinate_of[i] = a;
    const std::int64_t boxes = coarse_boxes(p), blocks = std::min<std::int64_t>(boxes << (boxes_bits - taken_bits),
                                                                                4 * cuda::limits().multiprocessors);
    cuda::launch_overlapped(call.on, compare_sites<V>, blocks, few_threads, 0, g, lists_for<V>(p, counters, memory), to,
                            boxes);
}

template void list_few<std::int32_t>(const option_call&, const elements&, std::int32_t*, std::byte*);
template void list_few<std::int64_t>(const option_call&, const elements&, std::int32_t*, std::byte*);
template void list_few<double>(const option_call&, const elements&, std::int32_t*, std::byte*);
template void compare_few(const option_call&, const written_fields<std::int32_t>&, std::int32_t*, std::byte*);
template void compare_few(const option_call&, const written_fields<std::int64_t>&, std::int32_t*, std::byte*);
template void compare_few(const option_call&, const written_fields<double>&, std::int32_t*, std::byte*);

}  // namespace nearfield::exact::gpu
