// Calls that search the grid with options of fewer kinds, then go over its cells: signed distances of images, a bound
// for each cell, and searches of some cells only.
#include <cmath>
#include <cstdint>

#include "base/cuda_each.cuh"
#include "exact/bounds.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/route/route.hpp"
#include "exact/where.hpp"

// ---- signed images --------------------------------------------------------------------------------------------------
//
// Distances of images in unit spacing, by plain searches, which finish far cells in a third of the time that
// lines take. A smooth mask of 8192^2 takes 1.00 ms on an H200 from both sides, and 1.05 ms by corners, where lines
// take 1.91 and 2.64. Both cost up to 8 bytes a cell more.
//
// From both sides: two searches, one after another, then a kernel that takes each cell's own distance.
//
// By corners, for distances that end at faces: one search serves both classes. The nearest face of the other class lies
// on the line between the classes. A point of that line is a corner of four cells, or the middle of a face, which lies
// in the row or column of the cell for which it is nearest. The nearest corner, k columns and t rows of corners away,
// is at (k + 1/2)^2 + (t + 1/2)^2 = Q + 1/2, so words and tiles search for it as for plain sites (rows/words.cuh,
// packed_lines::half). A middle of a face beside it, in the cell's own row or column, is nearer by exactly 1/4. It
// exists only if Q = k (k + 1), and is then k + 1/2 away: one look at the four places settles that.

namespace nearfield::exact::gpu {
namespace {

constexpr int signed_threads = 256;
constexpr int signed_cells = 4;  // of a thread
constexpr std::int64_t block_cells = signed_threads * signed_cells;

/// Gives the cells at distance 0 in `to` their distance in `other`.
template <class T>
__global__ void __launch_bounds__(signed_threads)
    join_both_sides(T* to, const T* other, std::int64_t cells, T sign, T other_sign) {
    const std::int64_t first = blockIdx.x * block_cells + threadIdx.x;
    T one[signed_cells], two[signed_cells];
#pragma unroll
    for (int k = 0; k < signed_cells; ++k) {
        const std::int64_t cell = first + k * signed_threads;
        if (cell < cells) one[k] = to[cell], two[k] = other[cell];
    }
#pragma unroll
    for (int k = 0; k < signed_cells; ++k) {
        const std::int64_t cell = first + k * signed_threads;
        if (cell < cells) to[cell] = one[k] > 0 ? sign * one[k] : other_sign * two[k];
    }
}

/// Two classes: the cells that are zero, and all others. Rows of all images follow each other.
struct two_classes {
    const std::byte* image = nullptr;
    int bytes = 1;
    bool floating = false;
    std::int64_t cells = 0, length = 1, rows = 1;  ///< rows of an image

    [[nodiscard]] __device__ bool is_zero_at(std::int64_t cell) const {
        return is_zero(load_bits(image, bytes, cell), bytes, floating);
    }
    /// True if a face in the cell's own row or column is as near as the nearest corner, k + 1/2 away. Cells up to k
    /// away have the class of the cell itself. No load waits for another.
    [[nodiscard]] __device__ bool has_face(std::int64_t cell, std::int64_t x, std::int64_t y, bool zero, int k) const {
        const auto differs = [&](bool within, std::int64_t at) { return is_zero_at(within ? at : cell) != zero; };
        const std::int64_t rows_away = (k + 1) * length;
        return differs(x > k, cell - k - 1) | differs(x + k + 1 < length, cell + k + 1) |
               differs(y > k, cell - rows_away) | differs(y + k + 1 < rows, cell + rows_away);
    }
    /// Writes the distance of cell x of row y, whose corner has the value q = k (k + 1) + t (t + 1): its value in
    /// quarters is 4 q + 2, or 4 q + 1 if a face is nearer.
    __device__ void write(std::int64_t cell, std::int64_t x, std::int64_t y, std::uint32_t q, bool zero, float sign,
                          const outputs& to) const {
        if (q == UINT32_MAX) {
            const float infinite = sign * __int_as_float(0x7f800000);
            if (to.distance32) to.distance32[cell] = infinite;
            if (to.distance64) to.distance64[cell] = infinite;
            return;
        }
        const auto k = static_cast<int>(__fsqrt_rn(static_cast<float>(q) + 0.25f));
        const bool face =
            static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(k + 1) == q && has_face(cell, x, y, zero, k);
        const std::int64_t value = std::int64_t{4} * q + (face ? 1 : 2);
        if (to.distance64) to.distance64[cell] = sign * __dsqrt_rn(in_unit(value, to.unit2));
        if (to.distance32 == nullptr) return;
        const float distance = value < (1 << 23) && to.unit != 0
                                   ? root_of_whole(static_cast<float>(static_cast<std::int32_t>(value))) * to.unit
                                   : root32(value, last_value<std::int64_t>(), to.unit2);
        to.distance32[cell] = sign * distance;
    }
};

/// Writes the distances from the values of corners, which may lie in the same memory. A block owns `signed_cells`
/// neighbouring cells of each of its threads in a row.
__global__ void __launch_bounds__(signed_threads)
    write_faces(const two_classes of, std::int64_t blocks_a_row, const std::uint32_t* values, const outputs to,
                float zero_sign, float other_sign) {
    const std::int64_t line = quotient(blockIdx.x, blocks_a_row), y = line - quotient(line, of.rows) * of.rows,
                       first = (blockIdx.x - line * blocks_a_row) * signed_threads * signed_cells + threadIdx.x;
    std::uint32_t found[signed_cells];
    bool zeros[signed_cells];
#pragma unroll
    for (int i = 0; i < signed_cells; ++i) {
        const std::int64_t x = first + i * signed_threads;
        if (x < of.length) found[i] = values[line * of.length + x], zeros[i] = of.is_zero_at(line * of.length + x);
    }
#pragma unroll
    for (int i = 0; i < signed_cells; ++i) {
        const std::int64_t x = first + i * signed_threads;
        if (x < of.length)
            of.write(line * of.length + x, x, y, found[i], zeros[i], zeros[i] ? zero_sign : other_sign, to);
    }
}

/// Returns the plan of the search for corners, in which half cells are not yet.
plan corners_of(const plan& p) {
    plan corners = p;
    corners.by = classes::none, corners.rule = sites::nonzero;
    corners.inside_sign = corners.outside_sign = 1;
    corners.half_cell = false, corners.unit2 = 1, corners.numbers = tier::int32;
    corners.largest = 0;
    for (auto axis = static_cast<std::size_t>(p.first_axis); axis < static_cast<std::size_t>(p.rank); ++axis)
        corners.largest += static_cast<double>(p.size[axis] + 1) * static_cast<double>(p.size[axis] + 1);
    return corners;
}

/// True if corners serve a call: not if lines have few rows or columns.
bool corners_serve(const plan& p, const plan& corners) {
    constexpr std::int64_t short_line = 512;             // pack_lines makes no corners of such lines
    constexpr double most = largest_narrow - (1 << 22);  // squares between pivot rows are not wide
    return corners.largest <= most && p.size[static_cast<std::size_t>(p.rank - 1)] > short_line &&
           serves_plainly(corners) && !std::isfinite(p.limit) && needs_pivots(corners) && !pivots_are_wide(corners);
}

/// Signs of the distances of cells that are zero, and of the others.
struct signs {
    int zero, other;
    explicit signs(const plan& p)
        : zero(p.inside_is_nonzero ? p.outside_sign : p.inside_sign),
          other(p.inside_is_nonzero ? p.inside_sign : p.outside_sign) {}
};

/// Searches for zeros, then for the other cells.
template <class T>
std::int64_t call_from_both_sides(const option_call& call, plan side) {
    cuda::workspace memory(call.on);
    const std::int64_t place = memory.reserve<T>(call.p.cells);
    fields<device> one, other;
    one.distance = other.distance = call.out.distance;
    if (call.described == nullptr) memory.allocate(), other.distance.data = memory.get<T>(place);
    const std::int64_t bytes = search_plainly(call, side, one);
    side.rule = sites::nonzero;
    search_plainly(call, side, other);
    describe_last(call, "both sides joined");
    const signs of(call.p);
    if (call.described == nullptr)
        cuda::launch(call.on, join_both_sides<T>, blocks_for(call.p.cells, block_cells), dim3(signed_threads), 0,
                     static_cast<T*>(one.distance.data), static_cast<const T*>(other.distance.data), call.p.cells,
                     static_cast<T>(of.other), static_cast<T>(of.zero));
    return memory.bytes() + bytes;
}

std::int64_t call_by_corners(const option_call& call, plan corners) {
    const plan& p = call.p;
    cuda::workspace memory(call.on);
    // The distances' memory holds the values if it can.
    const bool lent = call.out.distance.type == dtype::float32;
    const std::int64_t place = memory.reserve<std::uint32_t>(lent ? 0 : p.cells);
    fields<device> values;
    values.squared = call.out.distance, values.squared.type = dtype::uint32;
    if (!lent && call.described == nullptr) memory.allocate(), values.squared.data = memory.get<std::uint32_t>(place);
    corners.half_cell = true;
    const std::int64_t bytes = search_plainly(call, corners, values);
    describe_last(call, "distances of corners and faces");
    two_classes classes;
    classes.image = static_cast<const std::byte*>(call.image.data);
    classes.bytes = static_cast<int>(size_of(call.image.type)), classes.floating = call.image.type >= dtype::float16;
    classes.cells = p.cells, classes.length = p.size[static_cast<std::size_t>(p.rank - 1)];
    classes.rows = p.size[static_cast<std::size_t>(p.rank - 2)];
    const std::int64_t blocks_a_row = blocks_for(classes.length, block_cells);
    const signs of(p);
    if (call.described == nullptr)
        cuda::launch(call.on, write_faces, p.cells / classes.length * blocks_a_row, dim3(signed_threads), 0, classes,
                     blocks_a_row, static_cast<const std::uint32_t*>(values.squared.data),
                     contiguous_fields(p, call.list[0], call.out), static_cast<float>(of.zero),
                     static_cast<float>(of.other));
    return memory.bytes() + bytes;
}

}  // namespace
}  // namespace nearfield::exact::gpu

namespace nearfield::exact {

std::optional<std::int64_t> call_signed_image(const option_call& call) {
    const plan& p = call.p;
    const fields<device>& out = call.out;
    const bool alone = out.distance.wanted() && !out.squared.wanted() && !out.index.wanted() &&
                       !out.coordinates.wanted() && !out.label.wanted() && !out.trusted.wanted();
    if (!alone || !p.is_signed() || p.by != classes::zero || p.background || p.rank - p.first_axis != 2 ||
        !p.plain_outputs || !is_contiguous(p.size.data(), p.image_stride.data(), p.rank) ||
        !has_contiguous_fields(p, call.list[0]))
        return {};
    plan side = p;
    side.by = classes::none, side.rule = sites::zero, side.inside_sign = side.outside_sign = 1;
    if (side.plain() && serves_plainly(side))
        return out.distance.type == dtype::float32 ? gpu::call_from_both_sides<float>(call, side)
                                                   : gpu::call_from_both_sides<double>(call, side);
    const plan corners = gpu::corners_of(p);
    if (!p.half_cell || !gpu::corners_serve(p, corners)) return {};
    return gpu::call_by_corners(call, corners);
}

// ---- bounds and selected cells --------------------------------------------------------------------------------------
//
// A bound for each cell (exact/bounds.hpp), and searches of some cells only (exact/where.hpp).

namespace {

/// Runs a cell.
template <class Cells>
struct run_cell {
    Cells cells;

    __device__ void operator()(std::int64_t cell) const {
        const std::int64_t line = cuda::quotient(cell, cells.length()), x = cell - line * cells.length();
        cells.run(line, x, x + 1);
    }
};

/// Collects in to[0] the bits that some code has, in to[1] those that some code lacks. A warp of equal labels mostly
/// finds them set already.
struct collect_bits {
    where_cells cells;
    unsigned long long* to;

    __device__ void operator()(std::int64_t cell) const {
        const std::int64_t line = cuda::quotient(cell, cells.length()), x = cell - line * cells.length();
        cells.for_codes(line, x, x + 1, [&](std::uint64_t code) {
            const volatile unsigned long long* seen = to;
            if ((code & ~seen[0]) != 0) atomicOr(to, static_cast<unsigned long long>(code));
            if ((~code & ~seen[1]) != 0) atomicOr(to + 1, static_cast<unsigned long long>(~code));
        });
    }
};

template <class Cells>
std::int64_t count_of(const Cells& cells) {
    return cells.lines * cells.length();
}

}  // namespace

void run_bounded(const device& on, const any_input<device>& image, const any_input<device>& bounds,
                 const fields<device>& out, const distance_options& options) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    fields<device> searched = out;
    searched.distance = found_distances(image, out);
    if (searched.distance.data == nullptr) {
        const std::int64_t at = memory.reserve<double>(image.cells());
        memory.allocate();
        searched.distance.data = memory.get<double>(at);
    }
    run(on, make_plan(image, searched, {options}), {image, searched});
    const bounded_cells cells = bounded_cells_of(image, bounds, out, searched.distance);
    cuda::for_each(on, count_of(cells), run_cell<bounded_cells>{cells});
}

void run_step(const device& on, const where_cells& cells) {
    const cuda::device_guard current(on);
    cuda::for_each(on, count_of(cells), run_cell<where_cells>{cells});
}

std::uint64_t differing_bits(const device& on, const where_cells& cells) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<unsigned long long>(2);
    memory.allocate();
    auto* const there = memory.get<unsigned long long>(at);
    unsigned long long found[2] = {};
    cuda::check(cudaMemsetAsync(there, 0, sizeof found, cuda::stream_of(on)), "clearing bits of labels");
    cuda::for_each(on, count_of(cells), collect_bits{cells, there});
    cuda::check(cudaMemcpyAsync(found, there, sizeof found, cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                "fetching bits of labels");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for bits of labels");
    return found[0] & found[1];
}

}  // namespace nearfield::exact
