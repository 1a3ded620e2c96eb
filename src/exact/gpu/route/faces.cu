// Signed distances of images that end at faces, in unit spacing: one plain search serves both classes.
//
// The nearest face of the other class lies on the line between the classes. A point of that line is a corner of four
// cells, or the middle of a face, which lies in the row or column of the cell for which it is nearest. The nearest
// corner, k columns and t rows of corners away, is at (k + 1/2)^2 + (t + 1/2)^2 = Q + 1/2, so words and tiles search
// for it as for plain sites (rows/words.cuh, packed_lines::half). A middle of a face beside it, in the cell's own row
// or column, is nearer by exactly 1/4. It exists only if Q = k (k + 1), and is then k + 1/2 away: one look at the four
// places settles that.
//
// A smooth mask of 8192^2 takes 1.12 ms on an H200, where lines take 2.64: tiles finish far cells quickly. With 10 %
// of sites it takes 0.83 instead of 0.77. Distances in float64 cost four bytes a cell more.

#include <cmath>
#include <cstdint>

#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/route/detour.hpp"

namespace nearfield::exact::gpu {
namespace {

constexpr int face_threads = 256;
constexpr int face_cells = 4;  // of a thread

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

/// Writes the distances from the values of corners, which may lie in the same memory. A block owns `face_cells`
/// neighbouring cells of each of its threads in a row.
__global__ void __launch_bounds__(face_threads)
    write_faces(const two_classes of, std::int64_t blocks_a_row, const std::uint32_t* values, const outputs to,
                float zero_sign, float other_sign) {
    const std::int64_t line = quotient(blockIdx.x, blocks_a_row), y = line - quotient(line, of.rows) * of.rows,
                       first = (blockIdx.x - line * blocks_a_row) * face_threads * face_cells + threadIdx.x;
    std::uint32_t found[face_cells];
    bool zeros[face_cells];
#pragma unroll
    for (int i = 0; i < face_cells; ++i) {
        const std::int64_t x = first + i * face_threads;
        if (x < of.length) found[i] = values[line * of.length + x], zeros[i] = of.is_zero_at(line * of.length + x);
    }
#pragma unroll
    for (int i = 0; i < face_cells; ++i) {
        const std::int64_t x = first + i * face_threads;
        if (x < of.length)
            of.write(line * of.length + x, x, y, found[i], zeros[i], zeros[i] ? zero_sign : other_sign, to);
    }
}

two_classes classes_of(const plan& p, const any_input<device>& image) {
    two_classes of;
    of.image = static_cast<const std::byte*>(image.data), of.bytes = static_cast<int>(size_of(image.type));
    of.floating = image.type >= dtype::float16;
    of.cells = p.cells, of.length = p.size[static_cast<std::size_t>(p.rank - 1)];
    of.rows = p.size[static_cast<std::size_t>(p.rank - 2)];
    return of;
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
    constexpr std::int64_t all_rows = 64, short_line = 512;  // of which pack_lines makes no corners
    constexpr double most = largest_narrow - (1 << 22);      // squares between pivot rows are not wide
    return corners.largest <= most && p.size[static_cast<std::size_t>(p.rank - 1)] > short_line &&
           serves_plainly(corners) && !std::isfinite(p.limit) && needs_pivots(corners, all_rows) &&
           !pivots_are_wide(corners);
}

class corner_search final : public detour {
public:
    corner_search(const device& on, const plan& p, const arrays<device>& a, const plan& corners) : detour(on, p, a) {
        searches_.push_back({corners, {}});
        searches_[0].p.half_cell = true;
        any_output<device>& values = searches_[0].out.squared;
        values = a.out.distance, values.type = dtype::uint32;
        // The distances' memory holds the values if it can.
        if (a.out.distance.type != dtype::float32) keep(values);
    }
    void put() const override {
        const two_classes of = classes_of(p_, a_.image);
        const std::int64_t blocks_a_row = blocks_for(of.length, std::int64_t{face_threads} * face_cells);
        const int zero = p_.inside_is_nonzero ? p_.outside_sign : p_.inside_sign,
                  other = p_.inside_is_nonzero ? p_.inside_sign : p_.outside_sign;
        cuda::launch(on_, write_faces, of.cells / of.length * blocks_a_row, dim3(face_threads), 0, of, blocks_a_row,
                     static_cast<const std::uint32_t*>(searches_[0].out.squared.data),
                     contiguous_fields(p_, item_for(p_, a_.image, a_.out), a_.out), static_cast<float>(zero),
                     static_cast<float>(other));
    }
    [[nodiscard]] const char* method() const override { return "distances of corners and faces"; }
};

}  // namespace

std::unique_ptr<detour> faces_by_corners(const device& on, const plan& p, const arrays<device>& a) {
    if (!p.half_cell || !wants_signed_image(p, a)) return nullptr;
    const plan corners = corners_of(p);
    return corners_serve(p, corners) ? std::make_unique<corner_search>(on, p, a, corners) : nullptr;
}

}  // namespace nearfield::exact::gpu
