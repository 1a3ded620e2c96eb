// Signed distances in tiles (cuda_options_tile.cuh) one of whose two classes is thin: each of its cells has a cell of
// the other class within three columns and rows of it. The steps then look for the thin class only, as for sites,
// without changes of class; cells of the thin class itself come out as 0. Of these nearly all have a cell of the other
// class beside them, 1 away; where others have theirs is looked up among the bits of the rows near them.
#pragma once

#include "exact/cuda_options_tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int thin_reach = 3;  // columns and rows, each way
constexpr int thin_farthest2 = 2 * thin_reach * thin_reach;
constexpr int thin_window = 4;  // columns and rows that may be nearer than that
static_assert((thin_window + 1) * (thin_window + 1) > thin_farthest2);
// Cells of a row's word that are looked up, at most: where half of all cells are sites one of 32 is, which takes
// longer than steps that know changes (8192^2, 50 %: 0.327 ms for 0.280, H200, 2026-11-22).
constexpr int most_looked_up = 2;

/// What is known of a tile's two classes, a bit each: of cells with a minus, and << 1 of the others.
struct thin_classes {
    static constexpr std::uint32_t thick = 1, looked_up = 4;  ///< not thin; with cells that have to be looked up
};
/// The thin class of a tile, if there is one.
struct thin_class {
    bool any = false, looked_up = false;
    std::uint32_t turn = 0;  ///< all bits where it is that of cells without a minus
};

/// Rows of a tile as bits of the thin class. What lies outside the image, and beside the tile, counts as of it, so
/// that nothing is thought thin that is not.
template <int LaneRows>
class thin_rows {
public:
    __device__ thin_rows(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place, std::uint32_t turn)
        : t_(t),
          first_(-min(0, place.first_row)),
          end_(min(place.rows, g.rows - place.first_row)),
          beyond_(place.columns(g) < cuda::warp ? ~0u << place.columns(g) : 0),
          turn_(turn) {}

    [[nodiscard]] __device__ std::uint32_t word(int row) const {
        return row < first_ || row >= end_ ? ~0u : (t_.minus(row) ^ turn_) | beyond_;
    }
    /// Cells of the class with cells of it on all four sides.
    [[nodiscard]] __device__ std::uint32_t inner(int row) const {
        return eroded(word(row)) & word(row - 1) & word(row + 1) & ~beyond_;
    }
    /// Cells round which everything is of the class.
    [[nodiscard]] __device__ std::uint32_t deep(int row) const {
        std::uint32_t all = word(row);
#pragma unroll
        for (int i = 1; i <= thin_reach; ++i) all &= word(row - i) & word(row + i);
#pragma unroll
        for (int i = 0; i < thin_reach; ++i) all = eroded(all);
        return all & ~beyond_;
    }

    /// Squared distance of an inner cell that is not deep. `zeros` are the image's words.
    [[nodiscard]] __device__ int nearest2(const step_pass& g, const step_place& place, int row, int column,
                                          const std::uint32_t* zeros, bool zeros_are_minus) const {
        const bool at_edge = column < thin_window || column >= cuda::warp - thin_window;
        const std::uint32_t flip = turn_ ^ (zeros_are_minus ? 0 : ~0u);
        const auto others = [&](int r) -> std::uint32_t {
            std::uint64_t bits = static_cast<std::uint64_t>(~word(r)) << thin_window;
            if (at_edge && r >= first_ && r < end_) {
                const std::int64_t at = place.word_at(place.first_row + r);
                if (column < thin_window && place.word > 0)
                    bits |= ~(zeros[at - 1] ^ flip) >> (cuda::warp - thin_window);
                if (column >= thin_window && place.word + 1 < g.words) {
                    const std::int64_t rest = g.length - (static_cast<std::int64_t>(place.word) + 1) * cuda::warp;
                    const std::uint32_t there = rest < thin_window ? (1u << rest) - 1 : ~0u;
                    bits |= static_cast<std::uint64_t>(~(zeros[at + 1] ^ flip) & there) << (cuda::warp + thin_window);
                }
            }
            return static_cast<std::uint32_t>(bits >> column) & ((2u << 2 * thin_window) - 1);
        };
        int best = thin_farthest2;
        for (int apart = 0; apart * apart < best; ++apart) {
            const std::uint32_t found = others(row - apart) | others(row + apart);
            const std::uint32_t left = found & ((2u << thin_window) - 1), right = found >> thin_window;
            int across = thin_window + 1;
            if (left != 0) across = thin_window - (31 - __clz(static_cast<int>(left)));
            if (right != 0) across = min(across, __ffs(static_cast<int>(right)) - 1);
            best = min(best, across * across + apart * apart);
        }
        return best;
    }

private:
    __device__ static std::uint32_t eroded(std::uint32_t bits) {
        return bits & (bits << 1 | 1) & (bits >> 1 | 0x80000000u);
    }

    const step_tile<LaneRows>& t_;
    int first_, end_;  ///< rows of the tile that are rows of the image
    std::uint32_t beyond_;
    std::uint32_t turn_;
};

/// Which class is thin in all rows that the tile owes. For all threads, after fill_minus; has a barrier before and
/// after.
template <int LaneRows>
__device__ thin_class find_thin(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place,
                                std::uint32_t& shared) {
    if (threadIdx.x == 0) shared = 0;
    __syncthreads();
    std::uint32_t known = 0;
    for (int row = place.from + static_cast<int>(threadIdx.x); row < place.end; row += step_threads<LaneRows>)
#pragma unroll
        for (int plus = 0; plus < 2; ++plus) {
            const thin_rows<LaneRows> rows(t, g, place, plus != 0 ? ~0u : 0);
            const std::uint32_t inner = rows.inner(row);
            if (inner == 0) continue;
            known |= thin_classes::looked_up << plus;
            if (__popc(inner) > most_looked_up || rows.deep(row) != 0) known |= thin_classes::thick << plus;
        }
    known = __reduce_or_sync(cuda::every_lane, known);
    if (threadIdx.x % cuda::warp == 0 && known != 0) atomicOr(&shared, known);
    __syncthreads();
    known = shared;
    const bool plus = (known & thin_classes::thick) != 0;
    return {(known & thin_classes::thick << 1) == 0 || !plus, (known & thin_classes::looked_up << (plus ? 1 : 0)) != 0,
            plus ? ~0u : 0};
}

/// Values of inner cells, in a tile whose steps are done; the caller waits for all threads before and after.
template <int LaneRows>
__device__ void look_up_inner(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place,
                              std::uint32_t turn, const std::uint32_t* zeros, bool zeros_are_minus, int end) {
    const thin_rows<LaneRows> rows(t, g, place, turn);
    for (int row = place.from + static_cast<int>(threadIdx.x); row < place.end; row += step_threads<LaneRows>) {
        const bool high = row >= t.half;
        for (std::uint32_t inner = rows.inner(row); inner != 0; inner &= inner - 1) {
            const int column = __ffs(static_cast<int>(inner)) - 1;
            const int value = min(rows.nearest2(g, place, row, column, zeros, zeros_are_minus), end);
            auto* const two = reinterpret_cast<std::uint16_t*>(&t.word(high ? row - t.half : row, column));
            two[high] = static_cast<std::uint16_t>(value);
        }
    }
}

}  // namespace
}  // namespace nearfield::exact
