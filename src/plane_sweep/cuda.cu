// Propagation by sweeps on a device, in three forms that give the same bits:
//
//   cooperative  one launch for a sweep, whose blocks sync after every line (a launch for each line if the device
//                cannot do that)
//   banded       a launch for a band of lines: a block keeps a piece of the line before in shared memory. At either
//                edge it loses one cell a line, so pieces overlap by twice the lines of a band
//   shuffled     the banded form for images in which a warp keeps its piece in registers, and lanes exchange cells
//                by shuffles
//
// Sweeps that start from the sites alone run side by side in the same launches. Along the last axis lines would be
// columns, so arrays have the last two axes exchanged there, which keeps accesses coalesced.
#include <algorithm>
#include <cstddef>
#include <string>

#include "base/cuda_together.cuh"
#include "methods/room.hpp"
#include "plane_sweep/cuda_lines.cuh"

namespace nearfield::sweeps {
namespace {

using form = plane_sweep::form;

/// Exchanges the last two axes. A block owns a tile of 32 x 32 cells, so that reads and writes are
/// coalesced.
template <class Key>
__global__ void __launch_bounds__(cell_threads)
    exchange_axes(const Key* from, Key* to, std::int64_t rows, std::int64_t columns) {
    __shared__ Key tile[warp][warp + 1];
    const std::int64_t across = (columns + warp - 1) / warp, down = (rows + warp - 1) / warp;
    const std::int64_t slab = blockIdx.x / (across * down), in_slab = blockIdx.x % (across * down);
    const std::int64_t row = in_slab / across * warp, column = in_slab % across * warp, base = slab * rows * columns;
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = static_cast<int>(threadIdx.y); i < warp; i += static_cast<int>(blockDim.y))
        if (row + i < rows && column + lane < columns) tile[i][lane] = from[base + (row + i) * columns + column + lane];
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.y); i < warp; i += static_cast<int>(blockDim.y))
        if (column + i < columns && row + lane < rows) to[base + (column + i) * rows + row + lane] = tile[lane][i];
}

template <class Key>
struct answers {
    const Key* each[most_sweeps];
    int count;
};

/// Selects the nearest of several results. A thread owns a cell; with `exchanged`, cells lie in the order z, x, y.
template <class V, class Key, bool Planes>
__global__ void __launch_bounds__(cell_threads)
    merge_answers(metric<V> m, methods::grid g, const __grid_constant__ answers<Key> found, bool exchanged, Key* to) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * cell_threads + threadIdx.x;
    if (cell >= g.cells()) return;
    const std::int64_t columns = exchanged ? g.size[1] : g.size[2], rows = exchanged ? g.size[2] : g.size[1];
    const std::int64_t line = cell / columns, slab = Planes ? line / rows : 0;
    const auto row = static_cast<std::int32_t>(line - slab * rows),
               column = static_cast<std::int32_t>(cell - line * columns);
    const auto z = static_cast<std::int32_t>(slab);
    const place here = exchanged ? place{z, column, row} : place{z, row, column};
    nearest<V, Key, Planes> best(m, here, found.each[0][cell]);
    for (int k = 1; k < found.count; ++k) best.ask(found.each[k][cell]);
    to[cell] = best.site();
}

/// A block of the banded form, or a warp of the shuffled one: its cells along columns and rows, and the lines of one
/// launch.
struct band_shape {
    int width, height, lines;
};
/// Fastest shape for lines of at least `cells`, all sweeps of a launch together.
struct measured {
    std::int64_t cells;
    band_shape best;
};
// H200, 2026-11-22, 1 % sites, sides of 512 to 16384 and 64 to 512, blocks of 64 to 1024 cells: too few lines in a band
// cost launches, too many cost overlap. Prefetching eight lines instead of one took an image of 8192^2 from 26.6 to
// 11.1 ms. One block for whole lines of 1024 cells needs no further launches, but takes twice as long.
constexpr measured bands_of_image[] = {{0, {128, 1, 48}}, {2048, {256, 1, 96}}, {16384, {256, 1, 64}}};
constexpr measured bands_of_volume[] = {{0, {32, 16, 4}}, {65536, {32, 32, 4}}, {393216, {32, 32, 3}}};
constexpr measured bands_of_warp[] = {{0, {warp, 1, 14}}, {8192, {warp, 1, 12}}, {16384, {warp, 1, 8}}};

template <std::size_t Rows>
band_shape best_of(const measured (&table)[Rows], std::int64_t cells) {
    band_shape best{};
    for (const measured& row : table)
        if (cells >= row.cells) best = row.best;
    return best;
}

/// One call: the parameters that its launches share.
template <class V, class Key, bool Planes>
class swept {
public:
    swept(const device& on, const metric<V>& m, const methods::grid& g, form launch, methods::stages& report)
        : on_(on), m_(m), g_(g), launch_(launch), report_(report) {
        if (launch == form::automatic) launch_ = form::banded;  // the fastest form in all cases, see docs/methods.md
    }

    /// Each sweep starts from the result of those before it.
    void in_sequence(methods::buffers& site) {
        static constexpr const char* names[3][2] = {
            {"first axis", "first axis, back"}, {"middle axis", "middle axis, back"}, {"last axis", "last axis, back"}};
        Key *now = site.template in<Key>(), *spare = site.template out<Key>();
        for (int axis = 0; axis < 3; ++axis) {
            if (g_.size[axis] == 1) continue;
            if (axis == 2) exchange(now, spare, g_.size[1], g_.size[2]), std::swap(now, spare);
            for (const bool back : {false, true}) {
                jobs<Key> one{};
                add(one, axis, back, now, spare);
                run(one, names[axis][back ? 1 : 0]);
                std::swap(now, spare);
            }
            if (axis == 2) exchange(now, spare, g_.size[2], g_.size[1]), std::swap(now, spare);
        }
    }

    /// All sweeps start from the sites alone and run side by side; then the nearest of their results is selected.
    void independent(methods::buffers& site) {
        Key *now = site.template in<Key>(), *spare = site.template out<Key>();
        const bool turns = g_.size[2] > 1;
        const int sweeps = 2 * ((g_.size[0] > 1 ? 1 : 0) + (g_.size[1] > 1 ? 1 : 0) + (turns ? 1 : 0));
        if (sweeps == 0) return;
        cuda::workspace space(on_);
        const std::int64_t reserved = space.reserve<Key>(sweeps * g_.cells());
        space.allocate();
        Key* free = space.get<Key>(reserved);
        if (turns) exchange(now, spare, g_.size[1], g_.size[2]);
        jobs<Key> all{};
        answers<Key> straight{}, exchanged{};
        for (int axis = 0; axis < 3; ++axis) {
            if (g_.size[axis] == 1) continue;
            answers<Key>& found = axis == 2 ? exchanged : straight;
            for (const bool back : {false, true}) {
                add(all, axis, back, axis == 2 ? spare : now, free);
                found.each[found.count++] = free;
                free += g_.cells();
            }
        }
        run(all, "all sweeps");
        if (turns) {
            Key* const merged = const_cast<Key*>(exchanged.each[0]);
            merge(exchanged, true, merged);
            exchange(merged, spare, g_.size[2], g_.size[1]);
            straight.each[straight.count++] = spare;
        }
        merge(straight, false, now);
    }

private:
    void add(jobs<Key>& all, int axis, bool back, const Key* from, Key* to) const {
        all.each[all.count++] = {sweep_along(g_.size, axis, back), from, to};
    }

    /// Numbers the units of work of all sweeps; sweep s has units(s).
    template <class Units>
    static void number(jobs<Key>& all, const Units& units) {
        for (int k = 0; k < all.count; ++k) all.before[k + 1] = all.before[k] + units(all.each[k].s);
    }

    void run(jobs<Key>& all, const char* name) {
        std::int32_t lines = 0;
        for (int k = 0; k < all.count; ++k) lines = std::max(lines, all.each[k].s.positions);
        if (launch_ == form::cooperative) run_lines(all, lines);
        else run_bands(all, lines);
        report_.done(name, lines, 2 * all.count * static_cast<std::int64_t>(sizeof(Key)) * g_.cells());
    }

    void run_lines(jobs<Key>& all, std::int32_t lines) const {
        number(all, [](const sweep& s) { return s.line_cells(); });
        const auto kernel = sweep_lines<V, Key, Planes>;
        const std::int64_t blocks = cuda::blocks_for(all.before[all.count], line_threads);
        const std::int64_t together = cuda::blocks_may_wait() ? cuda::blocks_at_once(kernel, line_threads) : 0;
        if (together > 0)
            return cuda::launch_together(on_, kernel, std::min(blocks, together), dim3(line_threads), m_, all,
                                         stretch_of_lines{0, lines});
        for (std::int32_t line = 0; line < lines; ++line)
            cuda::launch(on_, kernel, blocks, dim3(line_threads), 0, m_, all, stretch_of_lines{line, 1});
    }

    [[nodiscard]] band_shape shape_for(const jobs<Key>& all) const {
        std::int64_t cells = 0;
        for (int k = 0; k < all.count; ++k) cells += all.each[k].s.line_cells();
        if (launch_ == form::shuffled) return best_of(bands_of_warp, cells);
        return Planes ? best_of(bands_of_volume, cells) : best_of(bands_of_image, cells);
    }

    void run_bands(jobs<Key>& all, std::int32_t lines) const {
        const band_shape shape = shape_for(all);
        std::int32_t columns = 0, rows = 0;
        for (int k = 0; k < all.count; ++k)
            columns = std::max(columns, all.each[k].s.columns), rows = std::max(rows, all.each[k].s.rows);
        // If one block has whole lines, it loses no cells at its edges.
        const bool whole = columns <= shape.width && rows <= shape.height;
        const int halo = whole ? 0 : shape.lines, band = whole ? lines : shape.lines;
        const auto stretches = [=](std::int32_t cells, int side) {
            return std::int64_t{(cells + side - 2 * halo - 1) / (side - 2 * halo)};
        };
        number(all, [&](const sweep& s) {
            return stretches(s.columns, shape.width) * (Planes ? stretches(s.rows, shape.height) : 1);
        });
        for (std::int32_t line = 0; line < lines; line += band)
            run_band(all, {line, std::min(band, lines - line)}, shape, halo);
    }

    void run_band(const jobs<Key>& all, stretch_of_lines lines, const band_shape& shape, int halo) const {
        const std::int64_t units = all.before[all.count];
        if (launch_ == form::shuffled) {
            constexpr int warps = cell_threads / warp;
            cuda::launch_overlapped(on_, sweep_shuffled<V, Key>, cuda::blocks_for(units, warps), dim3(warp, warps), 0,
                                    m_, all, lines, halo);
            return;
        }
        const std::size_t held = static_cast<std::size_t>(shape.width + 2) * (shape.height + (Planes ? 2 : 0));
        const dim3 threads(static_cast<unsigned>(shape.width), static_cast<unsigned>(shape.height));
        cuda::launch_overlapped(on_, sweep_band<V, Key, Planes>, units, threads, 2 * held * sizeof(Key), m_, all, lines,
                                halo);
    }

    void exchange(const Key* from, Key* to, std::int64_t rows, std::int64_t columns) const {
        const std::int64_t tiles = g_.size[0] * cuda::blocks_for(rows, warp) * cuda::blocks_for(columns, warp);
        cuda::launch(on_, exchange_axes<Key>, tiles, dim3(warp, cell_threads / warp), 0, from, to, rows, columns);
        report_.done("exchange axes", 1, 2 * static_cast<std::int64_t>(sizeof(Key)) * g_.cells());
    }

    void merge(const answers<Key>& found, bool exchanged, Key* to) const {
        cuda::launch(on_, merge_answers<V, Key, Planes>, cuda::blocks_for(g_.cells(), cell_threads), dim3(cell_threads),
                     0, m_, g_, found, exchanged, to);
        report_.done("merge", 1, (found.count + 1) * static_cast<std::int64_t>(sizeof(Key)) * g_.cells());
    }

    const device& on_;
    metric<V> m_;
    const methods::grid& g_;
    form launch_;
    methods::stages& report_;
};

}  // namespace
}  // namespace nearfield::sweeps

namespace nearfield::methods {

void solve(const device& on, const grid& g, const plane_sweep& how, buffers& site, stages& report) {
    with_types(g, [&]<class V, class Key>(const metric<V>& m, Key) {
        const auto go = [&](auto engine) {
            if (how.independent) engine.independent(site);
            else engine.in_sequence(site);
        };
        if (g.size[0] > 1) go(sweeps::swept<V, Key, true>(on, m, g, how.launch, report));
        else go(sweeps::swept<V, Key, false>(on, m, g, how.launch, report));
    });
}

}  // namespace nearfield::methods
