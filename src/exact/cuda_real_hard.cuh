// What bands in double (cuda_real.cuh) leave: a block finishes 32 columns by halving as in cuda_long.cuh, all levels in one
// kernel. How many there are is known on the device only: a fixed number of blocks shares the list.
#pragma once

#include "exact/cuda_real.cuh"

namespace nearfield::exact {
namespace {

constexpr int halving_warps = 16;
constexpr int halving_threads = halving_warps * cuda::warp;
constexpr int halving_blocks = 2;  // on a multiprocessor
// While a level of the halving has no more rows than this, all warps share each.
constexpr int shared_level = 4;

/// 32 columns of words.
struct real_word_lines {
    word_lines lines;
    double weight;  ///< of the last axis

    class reader {
    public:
        __device__ reader(const real_word_lines& of, std::int64_t group, int lane)
            : words_(of.lines.words(of.lines.group_of(group))), lane_(lane), weight_(of.weight) {}
        __device__ line_word load(std::int64_t row) const { return words_[row]; }
        __device__ double value(const line_word& word) const {
            if (!word.any()) return no_site<double>();
            return real_term(weight_, static_cast<std::uint32_t>(word.distance(lane_)));
        }
        __device__ std::int64_t key(const line_word&, std::int64_t) const { return 0; }

    private:
        const line_word* words_;
        int lane_;
        double weight_;
    };
    [[nodiscard]] __device__ int width(std::int64_t group) const { return lines.width(lines.group_of(group)); }
    [[nodiscard]] __device__ std::int64_t first_cell(std::int64_t group, int lane) const {
        return lines.first_cell(lines.group_of(group), lane);
    }
};

/// 32 columns with the values that the pass before left; what of whole numbers is `none` has no site.
template <class Cell>
struct real_value_lines {
    pass g;
    const Cell* cells;
    Cell none{};

    class reader {
    public:
        __device__ reader(const real_value_lines& of, std::int64_t group, int lane)
            : cells_(of.cells + of.first_cell(group, lane)), inner_(of.g.inner), none_(of.none) {}
        __device__ Cell load(std::int64_t row) const { return cells_[row * inner_]; }
        __device__ double value(Cell loaded) const {
            if constexpr (std::is_floating_point_v<Cell>) return loaded;
            else return loaded < none_ ? static_cast<double>(loaded) : no_site<double>();
        }
        __device__ std::int64_t key(Cell, std::int64_t) const { return 0; }

    private:
        const Cell* cells_;
        std::int64_t inner_;
        Cell none_;
    };
    [[nodiscard]] __device__ int width(std::int64_t group) const {
        return static_cast<int>(min(g.columns - group * cuda::warp, static_cast<std::int64_t>(cuda::warp)));
    }
    [[nodiscard]] __device__ std::int64_t first_cell(std::int64_t group, int lane) const {
        return g.first_cell(group * cuda::warp + lane);
    }
};

/// The winning row of a lane's column, by all warps together or by one.
template <class Lines>
class real_column_search {
    using found_row = found<double, std::int64_t>;

public:
    __device__ real_column_search(const typename Lines::reader& line, const pass& g, double weight,
                                  std::int32_t* winners)
        : line_(line), weight_(weight), rows_(g.rows), ordered_(g.rows_ordered), winners_(winners + lane()) {}

    /// The rows of one level; `put(row, value)` has what they found.
    template <class Put>
    __device__ void level(const queries& wanted, const Put& put) const {
        const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
        const std::int64_t count = (rows_ - wanted.first + wanted.every - 1) / wanted.every;
        const auto keep = [&](std::int64_t row, const found_row& best) {
            winners_[row * cuda::warp] = static_cast<std::int32_t>(best.row);
            put(row, best.value);
        };
        if (count > shared_level) {
            for (std::int64_t nth = warp; nth < count; nth += halving_warps) {
                const std::int64_t row = wanted.first + wanted.every * nth;
                keep(row, search<1>(row, wanted.step, 0));
            }
        } else {
            for (std::int64_t row = wanted.first; row < rows_; row += wanted.every) {
                const found_row best = together(search<halving_warps>(row, wanted.step, warp));
                if (warp == 0) keep(row, best);
            }
        }
        __syncthreads();
    }

private:
    __device__ static int lane() { return static_cast<int>(threadIdx.x) % cuda::warp; }

    template <int Together>
    __device__ found_row search(std::int64_t row, std::int64_t step, int share) const {
        std::int64_t first = 0, last = rows_ - 1;
        if (ordered_ && step > 0) {
            const std::int64_t above = max(row - step, std::int64_t{0}), below = min(row + step, rows_ - 1);
            first = least_of_warp(winners_[above * cuda::warp]);
            last = greatest_of_warp(winners_[below * cuda::warp]);
        }
        return search_between<Together, false, double, std::int64_t>(line_, weight_, row, first, last, share);
    }

    /// The best of all warps, for the first of them.
    __device__ found_row together(found_row best) const {
        __shared__ double values[halving_warps][cuda::warp];
        __shared__ std::int32_t rows[halving_warps][cuda::warp];
        const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
        values[warp][lane()] = best.value, rows[warp][lane()] = static_cast<std::int32_t>(best.row);
        __syncthreads();
        for (int other = 1; warp == 0 && other < halving_warps; ++other)
            best.offer(values[other][lane()], 0, rows[other][lane()]);
        __syncthreads();
        return best;
    }

    const typename Lines::reader& line_;
    double weight_;
    std::int64_t rows_;
    bool ordered_;
    std::int32_t* winners_;
};

/// A block one entry of the list after another. `winners` has room for 32 columns a block.
template <class Lines, class Sink>
__global__ void __launch_bounds__(halving_threads, halving_blocks)
    halve_columns(const Lines lines, const pass g, const metric<double> m, const real_hard hard, std::int32_t* winners,
                  const Sink to) {
    cuda::wait_for_kernel_before();
    const int count = *hard.count, lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const std::int64_t group = hard.list[nth];
        // Lanes beyond the last column repeat it and write nothing.
        const int width = lines.width(group), mine = min(lane, width - 1);
        const typename Lines::reader line(lines, group, mine);
        const std::int64_t first = lines.first_cell(group, mine);
        const real_column_search<Lines> search(line, g, m.weight[g.axis], winners + blockIdx.x * g.rows * cuda::warp);
        const auto put = [&](std::int64_t row, double value) {
            if (lane < width) to.put(m, first + row * g.inner, value, 0);
        };
        // The ends first: they bound the first and last query of every level.
        search.level({0, g.rows - 1, 0}, put);
        std::int64_t step = 1;
        while (2 * step < g.rows - 1) step *= 2;
        for (; step > 0; step /= 2) search.level({step, 2 * step, step}, put);
    }
}

}  // namespace
}  // namespace nearfield::exact
