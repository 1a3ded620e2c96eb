// On a device: halves blocks of cells level by level down to 16 cells, and lists for each the triangles that can be
// nearest in it. Cells of blocks of 16^3 without a triangle within max_distance are written there and then.
//
// Lists lie in a pool. If the pool has no room for a block's list, the block keeps its parent's list. So no call waits
// for a count, and a pool of any size gives the same result. Large meshes are solved for groups of the largest blocks
// in turn, each with the whole pool.
#include <algorithm>

#include "base/cuda_scan.cuh"
#include "mesh_distance/cuda_cells.cuh"
#include "mesh_distance/device_room.hpp"
#include "nearfield/voronoi.hpp"
#include "voxelize/room.hpp"

namespace nearfield::nearest_faces {
namespace {

constexpr int most_threads = 512;

/// A thread owns a triangle.
__global__ void __launch_bounds__(threads_of_block)
    make_triangles(const double* vertices, const std::int32_t* faces, std::int64_t count,
                   const __grid_constant__ task t, triangle* to, rough_triangle* rough) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= count) return;
    const double* corners[3];
    for (int k = 0; k < 3; ++k) corners[k] = vertices + 3 * std::int64_t{faces[3 * i + k]};
    to[i] = triangle_at(corners, t.in.scale);
    rough[i] = rough_of(to[i], t.middle);
}

/// Triangles in a hash table, as their numbers + 1; of equal ones, the first. It has more than twice as many slots.
struct triangle_table {
    std::int32_t* slots;
    std::int64_t size;  ///< a power of 2

    static std::int64_t size_for(std::int64_t faces) {
        std::int64_t size = 64;
        while (size < 2 * faces) size *= 2;
        return size;
    }
    __device__ std::int64_t start(const triangle& t) const {
        return static_cast<std::int64_t>(hash_of(t) & static_cast<std::uint64_t>(size - 1));
    }
    __device__ std::int64_t next(std::int64_t slot) const { return slot + 1 < size ? slot + 1 : 0; }
};

/// Enters triangles. A thread owns one.
__global__ void __launch_bounds__(threads_of_block)
    enter_triangles(const triangle* all, std::int64_t count, const __grid_constant__ triangle_table to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= count) return;
    const triangle mine = all[i];
    const auto number = static_cast<std::int32_t>(i + 1);
    for (std::int64_t slot = to.start(mine);; slot = to.next(slot)) {
        const std::int32_t held = atomicCAS(to.slots + slot, 0, number);
        if (held == 0) return;
        if (!same(all[held - 1], mine)) continue;
        if (held > number) atomicMin(to.slots + slot, number);
        return;
    }
}

/// Lists the triangles that are not equal to an earlier one. A thread owns one. `to` has the count 0.
__global__ void __launch_bounds__(threads_of_block)
    list_distinct(const triangle* all, std::int64_t count, const __grid_constant__ triangle_table from,
                  std::int32_t* numbers, candidates* to) {
    __shared__ int counts[warps_of_block];
    __shared__ unsigned long long start;
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    int mine = 0, total = 0;
    if (i < count) {
        const triangle own = all[i];
        std::int64_t slot = from.start(own);
        while (!same(all[from.slots[slot] - 1], own)) slot = from.next(slot);
        mine = from.slots[slot] == i + 1 ? 1 : 0;
    }
    const int place = cuda::sum_before(mine, counts, total);
    if (threadIdx.x == 0)
        start = atomicAdd(reinterpret_cast<unsigned long long*>(&to->count), static_cast<unsigned long long>(total));
    __syncthreads();
    if (mine != 0) numbers[start + static_cast<unsigned long long>(place)] = static_cast<std::int32_t>(i);
    if (i == 0) to->numbers = numbers;
}

/// Makes the triangles, and the list of distinct ones with which the largest block begins.
void list_all(const device& on, const device_mesh::parts& of, const task& t, triangle* triangles, rough_triangle* rough,
              std::int32_t* slots, std::int32_t* numbers, candidates* to) {
    const std::int64_t count = of.face_count, thread_blocks = cuda::blocks_for(count, threads_of_block);
    const triangle_table table{slots, triangle_table::size_for(count)};
    cuda::clear(on, slots, table.size * std::int64_t{sizeof *slots});
    cuda::clear(on, to, sizeof *to);
    cuda::launch(on, make_triangles, thread_blocks, dim3(threads_of_block), 0, of.vertices, of.faces, count, t,
                 triangles, rough);
    cuda::launch(on, enter_triangles, thread_blocks, dim3(threads_of_block), 0, triangles, count, table);
    cuda::launch(on, list_distinct, thread_blocks, dim3(threads_of_block), 0, triangles, count, table, numbers, to);
    if (watched_distinct != nullptr) cuda::fetch(on, watched_distinct, &to->count, sizeof *watched_distinct);
}

struct list_pool {
    std::int32_t* numbers;
    unsigned long long* taken;
    std::int64_t room;
};

/// Gives a block of cells no candidates.
__device__ void leave(const task& t, const blocks& to, std::int64_t number, const std::int64_t* first,
                      const written_fields& out) {
    if (threadIdx.x == 0) to.lists[number] = {nullptr, 0};
    if (to.some == nullptr) return;
    constexpr int side = 1 << listed_level;
#pragma unroll 4
    for (auto c = static_cast<int>(threadIdx.x); c < side * side * side; c += static_cast<int>(blockDim.x)) {
        const std::int64_t at[] = {first[0] + c / (side * side), first[1] + c / side % side, first[2] + c % side};
        out.write(t.in, at, {std::numeric_limits<double>::infinity(), -1});
    }
}

/// A block of threads owns a block of cells of a group. It finds the nearest triangle of the centre, counts the
/// triangles that may be nearer elsewhere, and lists them. If there are none, it writes the cells of the last level.
__global__ void __launch_bounds__(most_threads, 2)
    list_triangles(const __grid_constant__ task t, const __grid_constant__ blocks tops,
                   const __grid_constant__ blocks from, const __grid_constant__ blocks to,
                   const __grid_constant__ list_pool pool, const __grid_constant__ written_fields out) {
    __shared__ near_word of_warps[most_threads / cuda::warp];
    __shared__ touching held[planes_held];
    __shared__ int counts[most_threads / cuda::warp];
    __shared__ candidates made;
    std::int64_t first[3];
    const std::int64_t number = to.in_group(tops, blockIdx.x);
    if (number < 0) return;
    to.place(number, first);
    const candidates given = from.list_at(first);
    const auto threads = static_cast<int>(blockDim.x), own = static_cast<int>(threadIdx.x);
    if (given.count == 0) return leave(t, to, number, first, out);
    const box at = box::of(t, first, to.level);
    const planes by{t, given, held, threads};
    const std::int32_t nearest = face_of(by.nearest(at.rough, of_warps));
    const rough_bound limits = at.bounds(t, nearest);
    const auto keeps = [&](std::int64_t i) { return limits.keeps(by.at(at.rough, i), at.rough.half); };
    int kept = 0, all = 0;
#pragma unroll 4
    for (std::int64_t i = own; i < given.count; i += threads) kept += keeps(i) ? 1 : 0;
    int place = cuda::sum_before(kept, counts, all);
    if (all == 0) return leave(t, to, number, first, out);
    if (own == 0) {
        if (to.some != nullptr) to.some[atomicAdd(to.some_count, 1)] = static_cast<std::int32_t>(number);
        const unsigned long long start = atomicAdd(pool.taken, static_cast<unsigned long long>(all));
        const bool fits = start + static_cast<unsigned long long>(all) <= static_cast<unsigned long long>(pool.room);
        made = fits ? candidates{pool.numbers + start, all} : given;
        to.lists[number] = made;
    }
    __syncthreads();
    if (made.numbers == given.numbers) return;
    auto* const numbers = const_cast<std::int32_t*>(made.numbers);
    for (std::int64_t i = own; i < given.count; i += threads)
        if (keeps(i)) numbers[place++] = given[i];
    if (all <= long_list) return;
    __syncthreads();
    const int left = drop_later(t, {{first[0], first[1], first[2]}}, to.level, nearest, numbers, all);
    if (own == 0) to.lists[number].count = left;
}

/// The levels of blocks that have lists.
std::vector<blocks> levels_of(const space& in) {
    const std::int64_t yz = in.shape[1] < in.shape[2] ? in.shape[2] : in.shape[1],
                       longest = in.shape[0] < yz ? yz : in.shape[0];
    std::vector<blocks> made;
    const auto add = [&](int level) {
        blocks& one = made.emplace_back();
        one.level = level;
        for (int k = 0; k < 3; ++k) one.size[k] = cuda::blocks_for(in.shape[k], std::int64_t{1} << level);
    };
    int level = listed_level;
    while (std::int64_t{1} << level < longest) ++level;
    add(level);
    // The first step makes up to 64 blocks: fewer would leave most of a device idle.
    for (int step = 2; level > listed_level; step = 1)
        add(level = level - step < listed_level ? listed_level : level - step);
    return made;
}

struct lists {
    std::vector<blocks> levels;
    list_pool tops, pool;    ///< of the largest blocks, and of the others in a group of these
    std::int64_t group = 1;  ///< largest blocks in a group
};

/// Chooses the room of the pools and the groups. Lists are expected to have as many numbers as triangles times the
/// longest side: 10^5 triangles in 512^3 cells take 470 for each.
void set_room(lists& by, std::int64_t faces, std::int64_t room) {
    constexpr std::int64_t most = std::int64_t{1} << 28, of_block = 64;
    if (by.levels.size() < 2) return;
    std::int64_t count = 0;
    for (std::size_t i = 1; i < by.levels.size(); ++i) count += by.levels[i].count();
    const std::int64_t all = by.levels[1].count(), expected = faces << by.levels[0].level,
                       some = std::min(expected / 4 * 5 + of_block * count, count * faces);
    room = room < 0 ? std::min(some, most) : room;
    by.tops.room = by.levels.size() == 2 ? room : std::min(room / 4, all * faces);
    by.pool.room = room - by.tops.room;
    const std::int64_t groups = expected <= by.pool.room ? 1 : expected / (by.pool.room / 3 * 2 + 1) + 1;
    by.group = by.levels.size() == 2 ? all : std::max(all / groups, std::int64_t{1});
}

/// Makes the lists of a level for a group of `count` largest blocks.
void list_level(const device& on, const task& t, const blocks& tops, std::int64_t count, const blocks& from,
                const blocks& to, const list_pool& pool, const written_fields& out) {
    count <<= 3 * (tops.level - to.level);
    cuda::launch(on, list_triangles, count, dim3(count < 1024 ? most_threads : 256), 0, t, tops, from, to, pool, out);
}

void solve_exactly(const device& on, const task& t, const lists& by, const written_fields& out) {
    const std::vector<blocks>& levels = by.levels;
    const blocks& last = levels.back();
    cuda::clear(on, last.some_count, 2 * sizeof(int));
    cuda::clear(on, by.tops.taken, sizeof *by.tops.taken);
    if (levels.size() < 2) return solve_cells(on, t, last, 1, out);
    blocks tops = levels[1];
    list_level(on, t, tops, tops.count(), levels[0], tops, by.tops, out);
    for (; tops.first < tops.count(); tops.first += by.group) {
        const std::int64_t rest = tops.count() - tops.first, count = rest < by.group ? rest : by.group;
        cuda::clear(on, by.pool.taken, sizeof *by.pool.taken);
        if (tops.first > 0) cuda::clear(on, last.some_count, 2 * sizeof(int));
        for (std::size_t i = 2; i < levels.size(); ++i)
            list_level(on, t, tops, count, levels[i - 1], levels[i], by.pool, out);
        solve_cells(on, t, last, count << 3 * (tops.level - last.level), out);
    }
}

written_fields fields_of(const mesh_fields<device>& out) {
    written_fields made{out.distance.data, static_cast<std::int32_t*>(out.triangle.data),
                        out.distance.type == dtype::float64};
    for (std::size_t k = 0; k < 3; ++k)
        made.distance_step[k] = out.distance.stride[k], made.triangle_step[k] = out.triangle.stride[k];
    return made;
}

/// Measures the distance of a cell whose triangle is known: its label - 1. A thread owns a cell.
__global__ void __launch_bounds__(threads_of_block)
    measure_labels(const __grid_constant__ task t, const __grid_constant__ written_fields label,
                   const __grid_constant__ written_fields out) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const std::int64_t line = cuda::quotient(i, t.in.shape[2]), plane = cuda::quotient(line, t.in.shape[1]);
    if (plane >= t.in.shape[0]) return;
    const std::int64_t at[] = {plane, line - plane * t.in.shape[1], i - line * t.in.shape[2]};
    const std::int32_t face = label.read_triangle(at) - 1;
    out.write(t.in, at, answer::of(t.in, squared_at(t.in, at, t.triangles[face]), face));
}

/// Finds the nearest triangles of cells near the mesh, counted from 1; spreads them as labels to other cells; measures.
void solve_by_samples(const device& on, const device_problem& p, const task& t, const lists& by,
                      const written_fields& out) {
    const std::int64_t cells = p.grid.shape[0] * p.grid.shape[1] * p.grid.shape[2];
    const bool has_room = p.out.triangle.wanted();
    cuda::workspace memory(on);
    const std::int64_t of_seeds = memory.reserve<std::int32_t>(cells),
                       of_labels = memory.reserve<std::int32_t>(has_room ? 0 : cells);
    memory.allocate();
    const auto packed = [&](std::int64_t at) {
        return any_output<device>::contiguous(memory.get<std::int32_t>(at), dtype::int32, p.grid.shape);
    };
    const any_output<device> seeds = packed(of_seeds), label = has_room ? p.out.triangle : packed(of_labels);
    written_fields near = fields_of({{}, seeds});
    near.first_number = 1;
    task nearby = t;
    nearby.in.most = t.in.near();
    solve_exactly(on, nearby, by, near);
    distance_options spaced;
    spaced.spacing = {p.grid.pitch.data(), 3};
    expand_labels(on, any_input<device>::contiguous(seeds.data, dtype::int32, p.grid.shape), label, spaced);
    cuda::launch(on, measure_labels, cuda::blocks_for(cells, threads_of_block), dim3(threads_of_block), 0, t,
                 fields_of({{}, label}), out);
}

}  // namespace

void run(const device& on, const device_mesh::parts& of, const device_problem& p) {
    const cuda::device_guard current(on);
    lists by{levels_of(p.in), {}, {}};
    set_room(by, of.face_count, p.room);
    const bool has_signs = p.is_signed && p.out.distance.wanted();
    cuda::workspace memory(on);
    blocks& last = by.levels.back();
    const bool is_listed = by.levels.size() > 1;
    last.spill_room = of.face_count > records_held ? std::min(of.face_count, most_spilled) : 0;
    const std::int64_t triangles = memory.reserve<triangle>(of.face_count),
                       rough = memory.reserve<rough_triangle>(of.face_count),
                       some = memory.reserve<std::int32_t>(is_listed ? last.count() : 0),
                       counts = memory.reserve<int>(2), of_tops = memory.reserve<std::int32_t>(by.tops.room),
                       numbers = memory.reserve<std::int32_t>(by.pool.room),
                       taken = memory.reserve<unsigned long long>(2),
                       distinct = memory.reserve<std::int32_t>(of.face_count),
                       slots = memory.reserve<std::int32_t>(triangle_table::size_for(of.face_count)),
                       spilled = memory.reserve<std::int32_t>(last.spill_room * resident_blocks(last.count())),
                       words = memory.reserve<std::uint32_t>(has_signs ? voxels::words_of(p.grid) : 0);
    std::vector<std::int64_t> places;
    for (const blocks& each : by.levels) places.push_back(memory.reserve<candidates>(each.count()));
    memory.allocate();
    for (std::size_t i = 0; i < by.levels.size(); ++i) by.levels[i].lists = memory.get<candidates>(places[i]);
    by.tops.numbers = memory.get<std::int32_t>(of_tops), by.tops.taken = memory.get<unsigned long long>(taken);
    by.pool.numbers = memory.get<std::int32_t>(numbers), by.pool.taken = by.tops.taken + 1;
    written_fields out = fields_of(p.out);
    if (has_signs) {
        auto* const inside = memory.get<std::uint32_t>(words);
        voxels::find_inside(on, of, p.grid, p.shift, p.winding, inside);
        out.inside = inside, out.words = voxels::words_of(p.in.shape[2]);
    }
    last.some_count = memory.get<int>(counts), last.next = last.some_count + 1;
    last.spilled = memory.get<std::int32_t>(spilled);
    if (is_listed) last.some = memory.get<std::int32_t>(some);
    task t{p.in, memory.get<triangle>(triangles), memory.get<rough_triangle>(rough), {}};
    for (int k = 0; k < 3; ++k) t.middle[k] = p.in.at(k, static_cast<double>(p.in.shape[k] - 1) / 2);
    list_all(on, of, t, memory.get<triangle>(triangles), memory.get<rough_triangle>(rough),
             memory.get<std::int32_t>(slots), memory.get<std::int32_t>(distinct), by.levels[0].lists);
    if (p.sampled) solve_by_samples(on, p, t, by, out);
    else solve_exactly(on, t, by, out);
}

}  // namespace nearfield::nearest_faces
