// Jump flooding on a device. Tiles serve the rounds in 32 bits (cuda_tiles.cu, cuda_pairs.cu); this file serves all
// others. A round reads the sites once and writes them once if caches serve the other 8 or 26 reads of each. So a
// thread walks along the first axis in strides of the step, where each plane that it reads serves three of its cells.
// In volumes the rows of a block also lie a step apart, so that they read each other's rows.
#include <algorithm>
#include <limits>
#include <string>

#include "base/cuda.cuh"
#include "jump_flood/core.hpp"
#include "jump_flood/cuda_table.cuh"
#include "jump_flood/tiles.hpp"
#include "methods/room.hpp"

namespace nearfield::methods {
namespace {

// Number of cells that a thread walks over; a walk reads this many planes and two more.
constexpr int walk = 8;
constexpr int threads = 256, most_rows = 8;

/// Grids of at most this many cells have rounds so short that events between them would take much of the time.
constexpr std::int64_t short_rounds = std::int64_t{1} << 22;

template <class Key>
struct site_arrays {
    Key* first = nullptr;
    Key* second = nullptr;  ///< null unless a cell has two sites
};

/// One round. Threads walk `along` axis 0 of a volume or axis 1 of an image; a volume also has `across`, its axis 1.
struct plan {
    std::int32_t nx, along, across;  ///< sides, in cells
    std::int64_t along_stride;       ///< stride of the axis that is walked
    std::int32_t step;
    std::int32_t along_classes, across_classes;  ///< number of classes of coordinates modulo the step
    std::int32_t walks, groups;                  ///< of a class: its walks, and its groups of rows across
    std::int32_t x_blocks;
    std::int32_t block_x, block_rows;
    std::uint64_t seed;
    std::int64_t round;

    [[nodiscard]] std::int64_t blocks() const {
        return static_cast<std::int64_t>(x_blocks) * across_classes * groups * along_classes * walks;
    }
};

std::int32_t ceiling(std::int64_t a, std::int64_t b) { return static_cast<std::int32_t>((a + b - 1) / b); }

plan plan_of(const grid& g, std::int64_t step, std::uint64_t seed, std::int64_t round) {
    const bool volume = g.size[0] > 1;
    plan p{};
    p.nx = static_cast<std::int32_t>(g.size[2]);
    p.along = static_cast<std::int32_t>(volume ? g.size[0] : g.size[1]);
    p.across = volume ? static_cast<std::int32_t>(g.size[1]) : 1;
    p.along_stride = volume ? g.size[1] * g.size[2] : g.size[2];
    p.step = static_cast<std::int32_t>(step);
    p.along_classes = std::min(p.step, p.along), p.across_classes = std::min(p.step, p.across);
    p.walks = ceiling(ceiling(p.along, step), walk);
    const std::int32_t rows = ceiling(p.across, step);
    p.block_rows = std::min<std::int32_t>(most_rows, rows);
    p.block_x = threads / static_cast<std::int32_t>(std::bit_ceil(static_cast<unsigned>(p.block_rows)));
    p.block_x = std::min<std::int32_t>(p.block_x, ceiling(p.nx, cuda::warp) * cuda::warp);
    p.groups = ceiling(rows, p.block_rows);
    p.x_blocks = ceiling(p.nx, p.block_x);
    p.seed = seed, p.round = round;
    return p;
}

/// A thread's position, and the offsets to its neighbours; an offset is 0 if there is no neighbour.
struct place {
    std::int32_t x, across;
    std::int32_t along_first;  ///< plane of the first cell of its walk
    std::int64_t row;          ///< offset of the cell within its plane
    std::int32_t left, right;
    std::int64_t up, down;
    bool inside;

    /// True if the walk's plane k exists, for k from -1 on; all threads of a block agree. Computed without a sign,
    /// because eight steps along an axis of 2^28 cells or more exceed int32.
    __device__ bool has(const plan& p, int k) const {
        return static_cast<std::uint32_t>(along_first) + static_cast<std::uint32_t>(k * p.step) <
               static_cast<std::uint32_t>(p.along);
    }
};
__device__ inline place own_place(const plan& p) {
    auto block = static_cast<std::uint32_t>(blockIdx.x);
    const auto take = [&block](std::int32_t of) {
        const std::uint32_t rest = block / static_cast<std::uint32_t>(of),
                            mine = block - rest * static_cast<std::uint32_t>(of);
        block = rest;
        return static_cast<std::int32_t>(mine);
    };
    place at{};
    at.x = take(p.x_blocks) * p.block_x + static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t row_class = take(p.across_classes), group = take(p.groups), plane_class = take(p.along_classes);
    at.across = row_class + p.step * (group * p.block_rows + static_cast<std::int32_t>(threadIdx.y));
    at.along_first = plane_class + p.step * walk * static_cast<std::int32_t>(block);
    at.inside = at.x < p.nx && at.across < p.across && at.along_first < p.along;
    at.row = static_cast<std::int64_t>(at.across) * p.nx + at.x;
    at.left = at.x >= p.step ? -p.step : 0, at.right = at.x + p.step < p.nx ? p.step : 0;
    const std::int64_t rows = static_cast<std::int64_t>(p.step) * p.nx;
    at.up = at.across >= p.step ? -rows : 0, at.down = at.across + p.step < p.across ? rows : 0;
    return at;
}

/// The nearest sites of three consecutive cells on a thread's walk.
template <class Kept>
struct three_cells {
    Kept before, here, after;

    __device__ void move_on() { before = here, here = after, after = Kept{}; }
};

/// The cells of one plane (or row of an image) whose sites a thread reads: its own first, then those a step away.
/// Instead of a missing neighbour it reads another cell of these twice, which changes nothing and takes no test.
template <class Key, bool Volume>
struct asked {
    static constexpr int count = Volume ? 9 : 3;
    Key site[count];

    __device__ void read(const plan& p, const place& at, const Key* from, int k) {
        if (!at.has(p, k)) return;
        const Key* const cell = from + (at.along_first + k * p.step) * p.along_stride + at.row;
#pragma unroll
        for (int c = 0; c < count; ++c) {
            const std::int32_t dx = c % 3 == 0 ? 0 : c % 3 == 1 ? at.left : at.right;
            if constexpr (Volume) site[c] = cell[dx + (c / 3 == 0 ? 0 : c / 3 == 1 ? at.up : at.down)];
            else site[c] = cell[dx];
        }
    }
};

/// Offers the sites of a plane's cells to the walk's cells before it, in it and after it. If sites are few, most of
/// these cells hold the site that the first one has already offered.
template <class V, class Key, bool Volume, class Kept>
__device__ void offer_plane(const plan& p, const metric<V>& m, const place& at, int k, const asked<Key, Volume>& plane,
                            three_cells<Kept>& best) {
    constexpr int axis = Volume ? 0 : 1;
    const std::int32_t here = at.along_first + k * p.step;
#pragma unroll
    for (int c = 0; c < asked<Key, Volume>::count; ++c) {
        const Key key = plane.site[c];
        if (key < 0 || (c > 0 && key == plane.site[0])) continue;
        V partial = m.term(2, m.keys.coordinate(key, 2), at.x);
        if constexpr (Volume) partial = partial + m.term(1, m.keys.coordinate(key, 1), at.across);
        const std::int32_t site = m.keys.coordinate(key, axis);
        if (k > 0) best.before.offer(partial + m.term(axis, site, here - p.step), key);
        if (k >= 0 && k < walk) best.here.offer(partial + m.term(axis, site, here), key);
        if (k + 1 < walk) best.after.offer(partial + m.term(axis, site, here + p.step), key);
    }
}

/// Writes the sites kept for the walk's k-th cell.
template <class Key, class Kept>
__device__ void put(const plan& p, const place& at, int k, const Kept& best, const site_arrays<Key>& to,
                    const table<Key>& drawn_from) {
    const std::int64_t cell = (at.along_first + k * p.step) * p.along_stride + at.row;
    if constexpr (requires { best.second; }) {
        to.first[cell] = best.first.site, to.second[cell] = best.second.site;
    } else {
        Key site = best.site;
        if (site < 0 && drawn_from.count != nullptr) site = drawn_from.draw(p.seed, p.round, cell);
        to.first[cell] = site;
    }
}

/// Each thread finds the sites of `walk` cells, a step apart, which saves two thirds of the reads and arithmetic of
/// nine or 27 separate ones. It reads a plane while it compares the plane before; without that a round takes twice as
/// long (H200, 8192^2: 5.4 times the read and write of all sites, 2026-11-22). Neighbouring threads own neighbouring
/// cells of a row, so that accesses are coalesced, or of two segments if a step is shorter than a cache line.
template <class V, class Key, bool Volume, bool Two>
__global__ void __launch_bounds__(threads)
    jump(plan p, metric<V> m, site_arrays<const Key> from, site_arrays<Key> to, table<Key> drawn_from) {
    using kept = std::conditional_t<Two, two_nearest<V, Key>, nearest<V, Key>>;
    const place at = own_place(p);
    if (!at.inside) return;
    constexpr int ahead = Volume || Two ? 1 : 3;
    asked<Key, Volume> coming[ahead], seconds;
#pragma unroll
    for (int k = 0; k < ahead; ++k) coming[k].read(p, at, from.first, k - 1);
    if constexpr (Two) seconds.read(p, at, from.second, -1);
    three_cells<kept> best;
#pragma unroll(Volume || Two ? 1 : walk + 2)
    for (int k = -1; k <= walk; ++k) {
        const asked<Key, Volume> plane = coming[0], second = seconds;
#pragma unroll
        for (int next = 0; next + 1 < ahead; ++next) coming[next] = coming[next + 1];
        if (k + ahead <= walk) coming[ahead - 1].read(p, at, from.first, k + ahead);
        if constexpr (Two) seconds.read(p, at, from.second, k + 1);
        if (at.has(p, k)) {
            offer_plane(p, m, at, k, plane, best);
            if constexpr (Two) offer_plane(p, m, at, k, second, best);
        }
        if (k > 0) {
            if (!at.has(p, k - 1)) break;
            put(p, at, k - 1, best.before, to, drawn_from);
        }
        best.move_on();
    }
}

template <class V, class Key>
constexpr bool by_tiles = sizeof(V) == 4 && sizeof(Key) == 4;

/// Names a stage by its steps: "step 8"; "steps 512 to 1" if each step is half the one before, or twice it; several
/// series one after the other: "steps 1, 512 to 1".
std::string named(const std::vector<std::int64_t>& steps, std::int64_t begin, std::int64_t end) {
    const auto step = [&](std::int64_t k) { return steps[static_cast<std::size_t>(k)]; };
    const auto is_twice = [&](std::int64_t k, std::int64_t of) {
        return k < end && of < end && step(k) == 2 * step(of);
    };
    std::string name = end - begin == 1 ? "step " : "steps ";
    for (std::int64_t first = begin, last = begin; first < end; first = ++last) {
        const bool grows = is_twice(first + 1, first);
        while (grows ? is_twice(last + 1, last) : is_twice(last, last + 1)) ++last;
        name += (first > begin ? ", " : "") + std::to_string(step(first));
        if (last > first) name += " to " + std::to_string(step(last));
    }
    return name;
}

// Over 40 lines because each kind of round continues with the state of the rounds before it.
template <class V, class Key, bool Volume, bool Two>
void run(const device& on, const grid& g, const jump_flood& how, buffers& site, stages& report) {
    std::vector<std::int64_t> steps = steps_of(how, g);
    bool fresh = true;
    if (by_tiles<V, Key> && !Two && !how.randomised)
        if (const std::int64_t rounds = several::rounds_at_once(g, steps); rounds > 0) {
            several::run(on, g, rounds, site.in<std::int32_t>(), site.out<std::int32_t>());
            report.done("steps " + std::to_string(steps[0]) + " to 1", rounds, 2 * rounds * g.cells() * g.key_bytes());
            steps.erase(steps.begin(), steps.begin() + rounds), fresh = false;
        }
    cuda::workspace memory(on);
    const std::int64_t more = Two ? g.cells() : 0;
    const std::int64_t second_now = memory.reserve<Key>(more), second_next = memory.reserve<Key>(more);
    memory.allocate();
    site_arrays<Key> now{site.in<Key>(), memory.get<Key>(second_now)};
    site_arrays<Key> next{site.out<Key>(), memory.get<Key>(second_next)};
    site_table<Key> all_sites(on, g, how.randomised ? now.first : nullptr);
    constexpr bool in_tiles = by_tiles<V, Key>;
    tiled_rounds tiled(on, g, in_tiles ? steps : std::vector<std::int64_t>{},
                       Two              ? sites_held::two
                       : how.randomised ? sites_held::drawn
                                        : sites_held::one,
                       fresh);
    if (Two && !tiled.asks_first_sites_alone())
        cuda::check(
            cudaMemsetAsync(now.second, 0xff, static_cast<std::size_t>(g.cells()) * sizeof(Key), cuda::stream_of(on)),
            "clearing second sites");
    std::int64_t begin = 0;  // first round of a stage
    for (std::int64_t round = 0; round < std::ssize(steps);) {
        const std::int64_t step = steps[static_cast<std::size_t>(round)];
        std::int64_t rounds = 1;
        if constexpr (in_tiles) {
            if constexpr (Two) tiled.run(step, {now.first, now.second}, {next.first, next.second});
            else rounds = tiled.run(step, now.first, next.first);
            // Only the first round draws: from then on every cell has a site and reads its own.
            if (how.randomised && round == 0) all_sites.draw(on, next.first, g.cells(), how.seed, round);
        } else {
            const plan p = plan_of(g, step, how.seed, round);
            cuda::launch(on, jump<V, Key, Volume, Two>, p.blocks(),
                         dim3(static_cast<unsigned>(p.block_x), static_cast<unsigned>(p.block_rows)), 0, p,
                         metric_of<V>(g), site_arrays<const Key>{now.first, now.second}, next, all_sites.get());
        }
        std::swap(now, next);
        site.exchange();
        round += rounds;
        if (g.cells() <= short_rounds && round < std::ssize(steps)) continue;
        report.done(named(steps, begin, round), round - begin,
                    2 * (round - begin) * how.sites_per_cell * g.cells() * g.key_bytes());
        begin = round;
    }
}

}  // namespace

void solve(const device& on, const grid& g, const jump_flood& how, buffers& site, stages& report) {
    with_types(g, [&]<class V, class Key>(const metric<V>&, Key) {
        const bool two = how.sites_per_cell == 2;
        if (g.size[0] > 1)
            return two ? run<V, Key, true, true>(on, g, how, site, report)
                       : run<V, Key, true, false>(on, g, how, site, report);
        if (two) run<V, Key, false, true>(on, g, how, site, report);
        else run<V, Key, false, false>(on, g, how, site, report);
    });
}

}  // namespace nearfield::methods
