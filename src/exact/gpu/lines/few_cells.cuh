// Cells of the rung for few sites: a warp compares its tile with the sites that can win in it. See few.cu.
#pragma once

#include <type_traits>

#include "exact/gpu/lines/few_grid.cuh"

namespace nearfield::exact::gpu {
namespace {

/// Shared memory of a block. The last place of a list belongs to cells without a site.
template <class V>
struct few_memory {
    few_site<V> found[most_found];        ///< in any order
    few_site<V> ordered[most_found + 1];  ///< by the tie rule
    std::uint64_t bits[most_found + 1];   ///< elements of the image, if labels are wanted
    std::int64_t number[most_found + 1];  ///< cell numbers in the image
    std::uint64_t keys[most_found];
    std::int16_t visited[most_found];  ///< rounded numbers: places in `ordered`, by plane, line and coordinate
    int count;
    std::int32_t largest;  ///< int32: largest value of a site in the box

    /// Returns the bits that the numbers of the sites take.
    [[nodiscard]] __device__ int place_bits() const { return 32 - __clz(max(count, 1) - 1); }
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
            const V most = g_.template bound<true, Bent>(memory_.ordered[i], tile);
            if (most < bound) bound = most, nearest = i;
        }
        const V own = bound;
        bound = least_of_lanes(bound);
        const std::uint32_t set = __ballot_sync(cuda::every_lane, nearest >= 0 && own == bound);
        nearest = __shfl_sync(cuda::every_lane, nearest, set != 0 ? __ffs(static_cast<int>(set)) - 1 : 0);
        const auto each_winner = [&](const auto& offer) {
            for (int first = 0; first < count; first += cuda::warp) {
                const few_site<V>& mine = memory_.ordered[visited(min(first + lane, count - 1))];
                const bool wins = first + lane < count && g_.template bound<false, Bent>(mine, tile) <= bound &&
                                  (set == 0 || g_.wins_somewhere(mine, memory_.ordered[nearest], tile));
                offer(first, __ballot_sync(cuda::every_lane, wins));
            }
        };
        if constexpr (std::is_same_v<V, std::int32_t> && !Bent)
            if (words_fit()) return search_words(each_winner);
        each_winner([&](int first, std::uint32_t winners) {
            for (; winners != 0; winners &= winners - 1) offer(visited(first + __ffs(static_cast<int>(winners)) - 1));
        });
        if (rounds) end_line(), end_plane();
        if constexpr (leaves_square) {
#pragma unroll
            for (int i = 0; i < lane_rows; ++i)
                if (best_[i].place < most_found) best_[i].value += cost(g_.weight[2], i);
        }
    }

    /// Writes the fields. Cells without a site have place most_found.
    __device__ void write(const written_fields<V>& to) {
        if (at_[0] >= g_.size[0] || at_[1] >= g_.size[1] || at_[2] >= g_.size[2]) return;
        take_ends(to);
        const std::int64_t plane = std::int64_t{g_.size[0]} * g_.size[1],
                           start = (image_ * std::int64_t{g_.size[2]} + at_[2]) * plane +
                                   at_[1] * std::int64_t{g_.size[0]} + at_[0];
        const int rows = g_.size[2] - at_[2];
        const auto each = [&](const auto& put) {
            std::int64_t cell = start;
#pragma unroll
            for (int i = 0; i < lane_rows; ++i, cell += plane)
                if (i < rows) put(i, cell);
        };
        if (g_.only_roots)
            each([&](int i, std::int64_t cell) { to.out.distance32[cell] = root_of(to, best_[i].value); });
        else if (g_.values) put_values(to, start, plane, min(rows, lane_rows));
        if (to.out.index32)
            each([&](int i, std::int64_t cell) {
                to.out.index32[cell] = static_cast<std::int32_t>(memory_.number[best_[i].place]);
            });
        if (to.out.index) each([&](int i, std::int64_t cell) { to.out.index[cell] = memory_.number[best_[i].place]; });
        if (to.label) put_labels(to, each);
        if (to.out.coordinates == nullptr) return;
        for (int k = 0; k < to.out.image_rank; ++k) {
            const int axis = g_.coordinate_of[k];
            each([&](int i, std::int64_t cell) {
                const int at = memory_.ordered[best_[i].place].at[min(axis, few_axes - 1)];
                to.out.coordinates[k * to.out.cells + cell] = axis < few_axes ? at : min(at, 0);
            });
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

    // ---- whole numbers: a word is a value above the place of its site, so that one minimum decides ties -----------

    /// True if words hold all values of the box, and the square that rows leave out.
    [[nodiscard]] __device__ bool words_fit() const {
        const std::uint64_t most = static_cast<std::uint64_t>(memory_.largest) + 2 * left_out();
        return most < std::uint64_t{1} << (32 - memory_.place_bits());
    }
    [[nodiscard]] __device__ std::uint32_t left_out() const {
        return static_cast<std::uint32_t>(cost(g_.weight[2], lane_rows));
    }
    template <class Winners>
    __device__ void search_words(const Winners& each_winner) {
        const int bits = memory_.place_bits();
        const std::uint32_t bias = left_out();
        std::uint32_t words[lane_rows];
#pragma unroll
        for (std::uint32_t& word : words) word = ~0u;
        const auto line_of = [&](int place) {
            const few_site<V>& site = memory_.ordered[place];
            const int steps = at_[2] - site.at[2];
            const auto value =
                static_cast<std::uint32_t>(cost(g_.weight[0], site.at[0] - at_[0]) +
                                           cost(g_.weight[1], site.at[1] - at_[1]) + cost(g_.weight[2], steps)) +
                bias;
            return uint2{value << bits | static_cast<std::uint32_t>(place),
                         static_cast<std::uint32_t>(2 * g_.weight[2] * steps) << bits};
        };
        bool any = false;
        each_winner([&](int first, std::uint32_t winners) {
            any |= winners != 0;
            while (winners != 0) {  // two at a time, for one minimum of three
                const uint2 a = line_of(first + __ffs(static_cast<int>(winners)) - 1);
                winners &= winners - 1;
                const uint2 b = winners == 0 ? a : line_of(first + __ffs(static_cast<int>(winners)) - 1);
                winners &= winners - 1;
#pragma unroll
                for (std::uint32_t i = 0; i < lane_rows; ++i)
                    words[i] = __vimin3_u32(words[i], a.x + i * a.y, b.x + i * b.y);
            }
        });
        if (!any) return;
#pragma unroll
        for (int i = 0; i < lane_rows; ++i)
            best_[i] = {static_cast<V>((words[i] >> bits) - bias) + cost(g_.weight[2], i),
                        static_cast<int>(words[i] & ((1u << bits) - 1))};
    }

    // ---- the fields -----------------------------------------------------------------------------------------------

    /// Takes closed ends, which win only if strictly nearer than every site of the grid, and then the limit.
    __device__ void take_ends(const written_fields<V>& to) {
        V beside = to.closed_beside;
#pragma unroll
        for (int a = 0; a < few_axes - 1; ++a)
            if (g_.closed[a]) beside = min(beside, g_.term(a, to_end(a, at_[a])));
#pragma unroll
        for (int i = 0; i < lane_rows; ++i) {
            const V border = g_.closed[2] ? min(beside, g_.term(2, to_end(2, at_[2] + i))) : beside;
            if (border < best_[i].value) best_[i] = {border, most_found};
            if (best_[i].value > to.limit) best_[i].place = most_found;
        }
    }
    [[nodiscard]] __device__ float root_of(const written_fields<V>& to, V value) const {
        constexpr V near = 1 << 23;  // limit of root_of_whole()
        if (std::is_same_v<V, std::int32_t> && to.out.unit != 0 && value < near)
            return value > to.limit ? endless() : root_of_whole(static_cast<float>(value)) * to.out.unit;
        return root32(value, to.limit, to.out.unit2);
    }
    /// Writes any values of the rows. They go to local memory, so that the code of all fields exists only once.
    __device__ void put_values(const written_fields<V>& to, std::int64_t cell, std::int64_t plane, int rows) const {
        V values[lane_rows];
#pragma unroll
        for (int i = 0; i < lane_rows; ++i) values[i] = best_[i].value;
#pragma unroll 1
        for (int i = 0; i < rows; ++i, cell += plane) to.out.put_value(cell, values[i], to.limit);
    }
    template <class Each>
    __device__ void put_labels(const written_fields<V>& to, const Each& each) const {
        const auto put = [&](auto type) {
            using bits = decltype(type);
            each([&](int i, std::int64_t cell) {
                static_cast<bits*>(to.label)[cell] = static_cast<bits>(memory_.bits[best_[i].place]);
            });
        };
        switch (to.image_bytes) {
            case 1: return put(std::uint8_t{});
            case 2: return put(std::uint16_t{});
            case 4: return put(std::uint32_t{});
            default: return put(std::uint64_t{});
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
