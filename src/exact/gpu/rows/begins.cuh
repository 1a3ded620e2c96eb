// Bits of cells with which runs of labels begin along an axis, for all axes but the last, in words along that. Windows
// of values stage these bits beside the values (lines/values.cuh). The kernel of rows makes them from labels that it
// reads anyway, or a kernel of their own does.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "base/cuda_each.cuh"
#include "base/lines.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/rows/words.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact::gpu {
namespace {

constexpr int narrow_cells = 8;  // cells of a lane
constexpr int noted_axes = 2;    // axes whose runs a row notes on its way

/// An axis along which rows note where the runs of labels begin, a bit a cell. Rows follow each other in words.
struct begin_axis {
    std::int64_t apart = 1, size = 1;  ///< rows from a cell to the next, and the length of the axis
    bool periodic = false;
    std::uint32_t* bits = nullptr;  ///< null: no axis

    /// Returns the row before; a row itself if it has none.
    [[nodiscard]] __device__ std::int64_t before(std::int64_t line) const {
        const std::int64_t at = quotient(line, apart);
        if (at != quotient(at, size) * size) return line - apart;
        return periodic ? line + (size - 1) * apart : line;
    }
};

/// The bits of all axes of a problem but the last one, one axis after another.
class begin_notes {
public:
    /// Notes nothing if `bits` is null.
    begin_notes(const plan& p, std::uint32_t* bits)
        : pitch_(blocks_for(p.size[last(p)], mark_bits)), first_axis_(p.first_axis) {
        if (bits == nullptr) return;
        for (int axis = p.first_axis; axis < p.rank - 1; ++axis, ++count_, bits += words(p) / axes(p)) {
            const auto i = static_cast<std::size_t>(axis);
            axes_[static_cast<std::size_t>(count_)] = {cells_between(p.size.data(), axis + 1, p.rank - 1), p.size[i],
                                                       p.borders[i] == border::periodic, bits};
        }
    }
    [[nodiscard]] static std::int64_t words(const plan& p) {
        return axes(p) * (p.cells / p.size[last(p)]) * blocks_for(p.size[last(p)], mark_bits);
    }
    [[nodiscard]] std::span<const begin_axis> all() const {
        return std::span(axes_).first(static_cast<std::size_t>(count_));
    }
    /// Returns the bits for a pass along an axis; null bits if there are none.
    [[nodiscard]] run_begins along(int axis) const {
        if (count_ == 0) return {};
        const begin_axis& of = axes_[static_cast<std::size_t>(axis - first_axis_)];
        return {reinterpret_cast<const std::uint8_t*>(of.bits), 4 * pitch_, 4 * pitch_ * of.apart};
    }

private:
    static std::size_t last(const plan& p) { return static_cast<std::size_t>(p.rank - 1); }
    static std::int64_t axes(const plan& p) { return p.rank - 1 - p.first_axis; }

    std::array<begin_axis, max_rank> axes_{};
    std::int64_t pitch_;  ///< words of a row
    int first_axis_, count_ = 0;
};

/// Eight neighbouring cells.
template <class Bits>
struct alignas(16) eight_cells {
    Bits of[narrow_cells];

    /// Returns a bit for each cell that has some of the bits `keep`.
    [[nodiscard]] __device__ std::uint32_t nonzero(Bits keep) const {
        std::uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < narrow_cells; ++k) bits |= static_cast<std::uint32_t>((of[k] & keep) != 0) << k;
        return bits;
    }
    /// Returns the bits in which cells differ.
    [[nodiscard]] __device__ eight_cells operator^(const eight_cells& other) const {
        eight_cells both;
#pragma unroll
        for (int k = 0; k < narrow_cells; ++k) both.of[k] = of[k] ^ other.of[k];
        return both;
    }
    /// Returns the cells before these.
    [[nodiscard]] __device__ eight_cells shifted(Bits before) const {
        eight_cells cells{before};
#pragma unroll
        for (int k = 1; k < narrow_cells; ++k) cells.of[k] = of[k - 1];
        return cells;
    }
};
/// Eight bytes are compared four at a time.
template <>
struct alignas(8) eight_cells<std::uint8_t> {
    std::uint32_t low, high;

    [[nodiscard]] __device__ std::uint32_t nonzero(std::uint8_t) const {
        return nonzero_bytes(low) >> 28 | nonzero_bytes(high) >> 28 << 4;
    }
    [[nodiscard]] __device__ eight_cells operator^(const eight_cells& other) const {
        return {low ^ other.low, high ^ other.high};
    }
    [[nodiscard]] __device__ eight_cells shifted(std::uint8_t before) const {
        return {low << 8 | before, __funnelshift_l(low, high, 8)};
    }
};

/// The elements of a row and their meaning.
template <class Bits>
struct row_image {
    const Bits* data;
    Bits keep;                           ///< mask that removes the sign of floats
    bool nonzero_is_site;                ///< for sites
    bool by_zero;                        ///< for labels: the classes are zero and nonzero
    bool background;                     ///< for labels: cells of value zero are sites for all
    const std::int32_t* many = nullptr;  ///< see line_pass::many
    std::int32_t* unsolved = nullptr;    ///< line_pass::unsolved of each axis, which rows set to 0
    begin_axis begins[noted_axes]{};     ///< axes whose runs a row notes on its way
    bool by_eights = false;              ///< rows of labels are read eight cells at a time

    [[nodiscard]] __device__ Bits at(std::int64_t cell) const {
        const Bits bits = data[cell] & keep;
        return by_zero ? static_cast<Bits>(bits != 0) : bits;
    }
    [[nodiscard]] __device__ eight_cells<Bits> eight_at(std::int64_t cell) const {
        return *reinterpret_cast<const eight_cells<Bits>*>(data + cell);
    }
    /// Returns a bit for each of eight cells that belongs to another class than the other one.
    [[nodiscard]] __device__ std::uint32_t differing(const eight_cells<Bits>& cells,
                                                     const eight_cells<Bits>& others) const {
        return by_zero ? cells.nonzero(keep) ^ others.nonzero(keep) : (cells ^ others).nonzero(keep);
    }
};

/// Notes where runs begin along an axis. A warp owns 32 cells of a row.
template <class Bits>
struct note_begins {
    row_image<Bits> of;
    begin_axis axis;
    int length;

    __device__ void operator()(std::int64_t thread) const {
        const int words = (length + mark_bits - 1) / mark_bits, lane = static_cast<int>(threadIdx.x) % cuda::warp;
        const std::int64_t nth = thread / cuda::warp, line = quotient(nth, words);
        const int x = static_cast<int>(nth - line * words) * mark_bits + lane, at = min(x, length - 1);
        const bool begins = x < length && of.at(line * length + at) != of.at(axis.before(line) * length + at);
        const std::uint32_t bits = __ballot_sync(cuda::every_lane, begins);
        if (lane == 0) axis.bits[nth] = bits;
    }
};

}  // namespace
}  // namespace nearfield::exact::gpu
