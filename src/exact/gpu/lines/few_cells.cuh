// Cells of the rung for few sites: a warp compares its tile with the sites that can win in it. See few.cu.
#pragma once

#include <type_traits>

#include "exact/gpu/lines/few_grid.cuh"

namespace nearfield::exact::gpu {
namespace {

/// Shared memory of a block.
template <class V>
struct few_memory {
    few_site<V> found[most_found];    ///< in any order
    few_site<V> ordered[most_found];  ///< by the tie rule
    std::uint64_t bits[most_found];   ///< elements of the image, if labels are wanted
    std::uint64_t keys[most_found];
    std::int16_t visited[most_found];  ///< rounded numbers: places in `ordered`, by plane, line and coordinate
    int count;
};

/// Eight cells of a lane, one in each row, and the sites that are nearest to them so far. `Bent`: some axis is
/// periodic, or distances end at faces.
template <class V, bool Bent>
class few_cells {
    static constexpr bool rounds = std::is_floating_point_v<V>;
    /// Whole numbers lack the square of a row's number, which all sites have in common: a row costs one sum then.
    static constexpr bool leaves_square = !rounds && !Bent;

public:
    __device__ few_cells(const few_grid<V>& g, const few_memory<V>& memory, const few_box& tile)
        : g_(g), memory_(memory), image_(tile.image) {
        int lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll
        for (int a = 0; a < few_axes; ++a) {
            const int bits = g.shapes.lanes[a];
            at_[a] = tile.first[a] + ((lane & ((1 << bits) - 1)) << (a == few_axes - 1 ? rows_bits : 0));
            lane >>= bits;
        }
#pragma unroll
        for (int i = 0; i < lane_rows; ++i) best_[i] = {no_site<V>(), most_found};
    }

    /// Compares the cells of a warp's tile with all sites that can win in it.
    __device__ void search(const few_box& tile) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, count = memory_.count;
        V bound = g_.limit;
        int nearest = -1;  // a site that sets the bound
        for (int i = lane; i < count; i += cuda::warp) {
            const V most = g_.template bound<true>(memory_.ordered[i], tile);
            if (most < bound) bound = most, nearest = i;
        }
        const V own = bound;
        bound = least_of_lanes(bound);
        const std::uint32_t set = __ballot_sync(cuda::every_lane, nearest >= 0 && own == bound);
        nearest = __shfl_sync(cuda::every_lane, nearest, set != 0 ? __ffs(static_cast<int>(set)) - 1 : 0);
        for (int first = 0; first < count; first += cuda::warp) {
            const few_site<V>& mine = memory_.ordered[visited(min(first + lane, count - 1))];
            const bool wins = first + lane < count && g_.template bound<false>(mine, tile) <= bound &&
                              (set == 0 || g_.wins_somewhere(mine, memory_.ordered[nearest], tile));
            for (std::uint32_t left = __ballot_sync(cuda::every_lane, wins); left != 0; left &= left - 1)
                offer(visited(first + __ffs(static_cast<int>(left)) - 1));
        }
        if (rounds) end_line(), end_plane();
    }

    __device__ void write(const written_fields<V>& to) const {
        if (at_[0] >= g_.size[0] || at_[1] >= g_.size[1]) return;
        const std::int64_t plane = std::int64_t{g_.size[0]} * g_.size[1],
                           within = at_[1] * std::int64_t{g_.size[0]} + at_[0];
        const bool sites = to.out.index || to.out.index32 || to.label || to.out.coordinates;
        V beside = to.closed_beside;
#pragma unroll
        for (int a = 0; a < few_axes - 1; ++a)
            if (g_.closed[a]) beside = min(beside, g_.term(a, to_end(a, at_[a])));
        // The winners go to local memory, so that the code that stores a site exists only once.
        candidate all[lane_rows];
#pragma unroll
        for (int i = 0; i < lane_rows; ++i) all[i] = best_[i];
#pragma unroll 1
        for (int i = 0; i < lane_rows && at_[2] + i < g_.size[2]; ++i) {
            const int row = at_[2] + i;
            const std::int64_t cell = (image_ * std::int64_t{g_.size[2]} + row) * plane + within;
            const V border = g_.closed[2] ? min(beside, g_.term(2, to_end(2, row))) : beside;
            candidate best = all[i];
            if (leaves_square && best.place < most_found) best.value += cost(g_.weight[2], i);
            // A closed end wins only if it is strictly nearer than every site of the grid.
            if (border < best.value) best = {border, most_found};
            if (g_.values) to.out.put_value(cell, best.value, to.limit);
            if (sites) put_site(to, cell, best.value > to.limit ? most_found : best.place);
        }
    }

private:
    /// A site of `ordered`, and its value.
    struct candidate {
        V value;
        int place;
    };

    [[nodiscard]] __device__ int visited(int i) const { return rounds ? memory_.visited[i] : i; }
    [[nodiscard]] __device__ int to_end(int axis, int at) const {
        return at + at + 1 < g_.size[axis] ? at + 1 : g_.size[axis] - at;
    }

    /// Takes a candidate if it is nearer. Whole numbers are offered in the order of ties, so that the first stays.
    static __device__ void take(candidate& best, V value, int place) {
        const bool nearer = value < best.value || (rounds && value == best.value && place < best.place);
        best.value = nearer ? value : best.value, best.place = nearer ? place : best.place;
    }

    __device__ void offer(int place) {
        const few_site<V>& site = memory_.ordered[place];
        const V first = site.first + way(0, site.at[0], at_[0]);
        if constexpr (rounds) {
            if (site.at[1] != line_at_ || site.at[2] != plane_at_) end_line();
            if (site.at[2] != plane_at_) end_plane();
            line_at_ = site.at[1], plane_at_ = site.at[2];
            take(line_, first, place);
        } else {
            offer_rows(first + way(1, site.at[1], at_[1]), place, site.at[2]);
        }
    }
    /// Offers the nearest site of a line to the plane's.
    __device__ void end_line() {
        if (line_at_ < 0) return;
        take(plane_, line_.value + way(1, line_at_, at_[1]), line_.place);
        line_ = {no_site<V>(), most_found}, line_at_ = -1;
    }
    /// Offers the nearest site of a plane to the cells.
    __device__ void end_plane() {
        if (plane_at_ < 0) return;
        offer_rows(plane_.value, plane_.place, plane_at_);
        plane_ = {no_site<V>(), most_found}, plane_at_ = -1;
    }
    __device__ void offer_rows(V beside, int place, int row) {
        if constexpr (leaves_square) {
            const int steps = at_[2] - row;
            beside += cost(g_.weight[2], steps);
#pragma unroll
            for (int i = 0; i < lane_rows; ++i, beside += 2 * g_.weight[2] * steps) take(best_[i], beside, place);
        } else {
#pragma unroll
            for (int i = 0; i < lane_rows; ++i) take(best_[i], beside + way(2, row, at_[2] + i), place);
        }
    }
    [[nodiscard]] __device__ V way(int axis, int a, int b) const {
        if constexpr (Bent) return g_.term(axis, g_.apart(axis, a, b));
        else return cost(g_.weight[axis], a - b);
    }

    __device__ void put_site(const written_fields<V>& to, std::int64_t cell, int place) const {
        const bool found = place < most_found;
        const few_site<V>& site = memory_.ordered[found ? place : 0];
        const std::int64_t number =
            found ? (site.at[2] * std::int64_t{g_.size[1]} + site.at[1]) * g_.size[0] + site.at[0] : -1;
        if (to.out.index) to.out.index[cell] = number;
        if (to.out.index32) to.out.index32[cell] = static_cast<std::int32_t>(number);
        if (to.label)
            store_bits(static_cast<std::byte*>(to.label), to.image_bytes, cell, found ? memory_.bits[place] : 0);
        if (to.out.coordinates == nullptr) return;
        for (int i = 0; i < to.out.image_rank; ++i) {
            const int axis = g_.coordinate_of[i];
            to.out.coordinates[i * to.out.cells + cell] = !found ? -1 : axis < few_axes ? site.at[axis] : 0;
        }
    }

    const few_grid<V>& g_;
    const few_memory<V>& memory_;
    int image_, at_[few_axes];
    candidate best_[lane_rows], line_{no_site<V>(), most_found}, plane_{no_site<V>(), most_found};
    int line_at_ = -1, plane_at_ = -1;
};

}  // namespace
}  // namespace nearfield::exact::gpu
