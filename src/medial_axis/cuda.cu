// The passes on a device: warps own columns for masks in unit spacing; a thread owns a cell for all other problems.
#include <cstddef>
#include <list>

#include "medial_axis/cuda_masks.cuh"
#include "medial_axis/steps.hpp"

namespace nearfield::medial_axes {
namespace {

// ---- all other problems ---------------------------------------------------------------------------------------------

/// Parameters of the general pass.
template <class Number>
struct general {
    grid where;
    pass over;
    rule<Number> by;
    bool labels;

    __device__ cell<Number> cell_at(std::int64_t image, const std::int64_t* at) const {
        const std::int64_t site = index_at(over.index, over.index.first_of(where, image) + over.index.offset(at));
        if (site < 0) return nearest_border(by, at, where.size, where.beyond);
        const std::int64_t line = quotient(site, where.size[2]), plane = quotient(line, where.size[1]);
        const std::int64_t of_site[most_axes] = {plane, line - plane * where.size[1], site - line * where.size[2]};
        cell<Number> made;
        for (int axis = 0; axis < most_axes; ++axis) {
            std::int64_t way = of_site[axis] - at[axis];
            if (where.beyond[axis] == border::periodic) way = shorter_way(way, where.size[axis]);
            made.to[axis] = static_cast<Number>(way);
        }
        made.squared = by.dot(made.to, made.to);
        return made;
    }
    __device__ std::uint64_t label_at(std::int64_t image, const std::int64_t* at) const {
        return bits_at(over.image, over.image.first_of(where, image) + over.image.offset(at));
    }
};

/// Computes the coordinates of cell number `number` of all images; returns the image.
__device__ inline std::int64_t place(const grid& g, std::int64_t number, std::int64_t (&at)[most_axes]) {
    const std::int64_t line = quotient(number, g.size[2]), plane = quotient(line, g.size[1]);
    const std::int64_t image = quotient(plane, g.size[0]);
    at[0] = plane - image * g.size[0], at[1] = line - plane * g.size[1], at[2] = number - line * g.size[2];
    return image;
}

__device__ inline std::int64_t number_of_thread() {
    return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
}

/// A thread marks its cell by its six neighbours; the cache serves the reads that a warp's lanes share.
template <class Number>
__global__ void __launch_bounds__(threads_of_block) mark_cells(const general<Number> g, std::int64_t cells) {
    if (number_of_thread() >= cells) return;
    std::int64_t at[most_axes];
    const std::int64_t image = place(g.where, number_of_thread(), at);
    const cell<Number> own = g.cell_at(image, at);
    bool marked = false;
    Number farthest = 0;
    std::int64_t second = -1;
    for (int step = 0; step < 2 * most_axes && own.squared > 0; ++step) {
        const int axis = step / 2, direction = step % 2 == 0 ? -1 : 1;
        std::int64_t there[most_axes] = {at[0], at[1], at[2]};
        there[axis] += direction;
        const bool beyond = there[axis] < 0 || there[axis] >= g.where.size[axis];
        const bool closed = beyond && g.where.beyond[axis] == border::closed;
        if (beyond && g.where.beyond[axis] == border::open) continue;
        if (beyond && !closed) there[axis] = there[axis] < 0 ? g.where.size[axis] - 1 : 0;
        // A cell with another label is a site.
        const bool foreign = !closed && g.labels && g.label_at(image, at) != g.label_at(image, there);
        const cell<Number> other = foreign || closed ? cell<Number>{} : g.cell_at(image, there);
        const bond<Number> found = between(g.by, own, other, axis, direction);
        if (!found.counts || found.side < 0) continue;
        marked = true;
        if (g.over.second.data == nullptr || found.apart2 <= farthest) continue;
        farthest = found.apart2;
        second = closed    ? -1
                 : foreign ? (there[0] * g.where.size[1] + there[1]) * g.where.size[2] + there[2]
                           : index_at(g.over.index, g.over.index.first_of(g.where, image) + g.over.index.offset(there));
    }
    static_cast<std::uint8_t*>(g.over.axis.data)[g.over.axis.first_of(g.where, image) + g.over.axis.offset(at)] =
        marked;
    if (g.over.second.data == nullptr) return;
    const std::int64_t offset = g.over.second.first_of(g.where, image) + g.over.second.offset(at);
    if (g.over.second.type == dtype::int32)
        static_cast<std::int32_t*>(g.over.second.data)[offset] = static_cast<std::int32_t>(second);
    else static_cast<std::int64_t*>(g.over.second.data)[offset] = second;
}

// ---- balls ----------------------------------------------------------------------------------------------------------

/// A thread tests whether a neighbour's ball contains its cell's ball, for all 26 neighbours.
template <class Squared>
__global__ void __launch_bounds__(threads_of_block)
    keep_balls_of(const grid g, const ball_steps steps, const Squared* squared, const target axis, std::int64_t cells) {
    if (number_of_thread() >= cells) return;
    std::int64_t at[most_axes];
    const std::int64_t image = place(g, number_of_thread(), at);
    static_cast<std::uint8_t*>(axis.data)[axis.first_of(g, image) + axis.offset(at)] =
        keeps_ball(g, steps, squared + image * g.cells(), at);
}

__global__ void __launch_bounds__(threads_of_block) clear_cells(const grid g, const target to, std::int64_t cells) {
    if (number_of_thread() >= cells) return;
    std::int64_t at[most_axes];
    const std::int64_t image = place(g, number_of_thread(), at);
    clear_at(to, to.first_of(g, image) + to.offset(at));
}

/// A thread of a cell of the shape marks the cell whose ball owns it; many threads may write the same byte.
__global__ void __launch_bounds__(threads_of_block)
    mark_owners(const grid g, const void* squared, dtype type, const source owner, const target axis,
                std::int64_t cells) {
    if (number_of_thread() >= cells || !has_radius(squared, type, number_of_thread())) return;
    const std::int64_t image = quotient(number_of_thread(), g.cells());
    static_cast<std::uint8_t*>(
        axis.data)[axis.first_of(g, image) + offset_of_number(g, axis, index_at(owner, number_of_thread()))] = 1;
}

__global__ void __launch_bounds__(threads_of_block)
    count_each_radius(const grid g, const source from, const target to, double unit2, std::int64_t cells) {
    if (number_of_thread() >= cells) return;
    std::int64_t at[most_axes];
    const std::int64_t image = place(g, number_of_thread(), at);
    static_cast<std::int64_t*>(to.data)[to.first_of(g, image) + to.offset(at)] =
        counted_radius(number_at(from, from.first_of(g, image) + from.offset(at)), unit2);
}

/// Clears the cells that no ball contains. A thread owns a cell.
__global__ void __launch_bounds__(threads_of_block)
    clear_outside(const grid g, const double* power, const target out, std::int64_t cells) {
    if (number_of_thread() >= cells || power[number_of_thread()] < 0) return;
    std::int64_t at[most_axes];
    const std::int64_t image = place(g, number_of_thread(), at);
    clear_at(out, out.first_of(g, image) + out.offset(at));
}

// ---- the call -------------------------------------------------------------------------------------------------------

/// Owns the memory of a call on a device, and launches its passes.
class backend {
public:
    explicit backend(const device& on) : on_(on) {}

    void* make(std::int64_t bytes) {
        cuda::workspace& made = memory_.emplace_back(on_);
        const std::int64_t at = made.reserve<std::byte>(bytes);
        made.allocate();
        return made.get<std::byte>(at);
    }

    void mark(const device& on, const problem& p, const pass& over, bool dense) const {
        if (serves_masks(p, over, dense)) mark_plain(on, p, over);
        else if (p.counted) mark_general(on, p, over, p.whole);
        else mark_general(on, p, over, p.real);
    }

    void keep_balls(const device& on, const problem& p, const void* squared, dtype type, const target& axis) const {
        const ball_steps around = steps_of(p.where, p.whole.weights);
        if (type == dtype::uint32)
            each_cell(on, p, keep_balls_of<std::uint32_t>, p.where, around, static_cast<const std::uint32_t*>(squared),
                      axis);
        else
            each_cell(on, p, keep_balls_of<std::uint64_t>, p.where, around, static_cast<const std::uint64_t*>(squared),
                      axis);
    }

    void keep_owners(const device& on, const problem& p, const void* squared, dtype type, const void* index,
                     dtype index_type, const target& axis) const {
        if (p.where.batch == 0 && is_in_order(p.where, axis)) cuda::clear(on, axis.data, p.where.cells());
        else each_cell(on, p, clear_cells, p.where, axis);
        each_cell(on, p, mark_owners, p.where, squared, type, source{index, index_type}, axis);
    }

    void count_radii(const device& on, const problem& p, const source& from, const target& to) const {
        each_cell(on, p, count_each_radius, p.where, from, to, p.unit2);
    }

    void cut(const device& on, const problem& p, const double* power, const target& out) const {
        each_cell(on, p, clear_outside, p.where, power, out);
    }

private:
    template <class Kernel, class... Arguments>
    static void each_cell(const device& on, const problem& p, Kernel* kernel, const Arguments&... arguments) {
        const std::int64_t cells = p.where.images * p.where.cells();
        cuda::launch(on, kernel, blocks_for(cells, threads_of_block), dim3(threads_of_block), 0, arguments..., cells);
    }

    template <class Number>
    static void mark_general(const device& on, const problem& p, const pass& over, const rule<Number>& by) {
        each_cell(on, p, mark_cells<Number>, general<Number>{p.where, over, by, p.labels});
    }

    static void mark_plain(const device& on, const problem& p, const pass& over) {
        columns c{};
        c.index = static_cast<const std::int32_t*>(over.index.data);
        c.axis = static_cast<std::uint8_t*>(over.axis.data);
        for (int axis = 0; axis < most_axes; ++axis) c.size[axis] = static_cast<std::int32_t>(p.where.size[axis]);
        c.image_cells = p.where.cells();
        c.by_row = divisor(c.size[2]), c.by_plane = divisor(c.size[1]);
        c.by = narrowed<true>(p.whole);
        const bool flat = c.size[1] == 1, constant = c.by.prune == pruning::constant;
        const auto width = static_cast<std::uint32_t>(c.size[2]), height = static_cast<std::uint32_t>(c.size[1]);
        c.of_line = (flat ? 1 : 256) - (width << 16), c.of_plane = 1 - (height << 8);
        c.by.least = std::max(c.by.least, 1);
        c.whole = width % image_columns == 0 && reinterpret_cast<std::uintptr_t>(c.index) % 16 == 0 &&
                  reinterpret_cast<std::uintptr_t>(c.axis) % 4 == 0;
        if (flat) start<1, 1, image_columns>(on, p, c, constant);
        else start<near_rows, far_rows, 1>(on, p, c, constant);
    }

    template <int Rows, int Few, int Columns>
    static void start(const device& on, const problem& p, columns& c, bool constant) {
        c.tiles[0] = static_cast<std::int32_t>(blocks_for(c.size[0], planes_of_walk));
        c.tiles[1] = static_cast<std::int32_t>(blocks_for(c.size[1], Rows));
        c.tiles[2] = static_cast<std::int32_t>(blocks_for(c.size[2], own_lanes * Columns));
        c.warps = p.where.images * c.tiles[0] * c.tiles[1] * c.tiles[2];
        auto* const kernel =
            constant ? mark_columns<Rows, Few, Columns, true> : mark_columns<Rows, Few, Columns, false>;
        cuda::launch(on, kernel, blocks_for(c.warps, warps_of_block), dim3(threads_of_block), 0, c);
    }

    const device& on_;
    std::list<cuda::workspace> memory_;
};

}  // namespace

void run(const device& on, const problem& p, const any_input<device>& image, const medial_axis_fields<device>& out) {
    const cuda::device_guard guard(on);
    backend there(on);
    steps<device, backend>(on, p, there).axis(image, out);
}

void rebuild(const device& on, const problem& p, const any_input<device>& axis, const any_input<device>& squared,
             const any_output<device>& out) {
    const cuda::device_guard guard(on);
    backend there(on);
    steps<device, backend>(on, p, there).rebuild(axis, squared, out);
}

}  // namespace nearfield::medial_axes
