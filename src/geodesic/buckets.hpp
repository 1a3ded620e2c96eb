// A bucket queue of a tile's cells (Dial): 64 buckets in a ring, by cost, each as wide as the least price. So no cell
// of a bucket improves another one of it. If prices span a wider range, buckets are wider and some cells come twice.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace nearfield::geodesics {

/// Serves tests: number of cells that this thread has taken by run_levels().
inline thread_local std::int64_t cells_by_levels = 0;

class buckets {
public:
    explicit buckets(int width) : width_(width) {}

    /// Starts the queue, which is empty. `least` is a lower bound of all costs that will come.
    void start(std::uint64_t least) { now_ = least >> width_; }

    void push(std::int32_t cell, std::uint64_t cost) {
        const std::uint64_t at = std::min(cost >> width_, now_ + 63) & 63;
        ring_[at].add(cell), filled_ |= std::uint64_t{1} << at;
    }

    /// Calls use(cell, cost) bucket by bucket up to that of `limit`, until none is left there; use() may push. Skips
    /// cells whose cost has fallen since they were pushed, because they were pushed again.
    template <class Cost, class Use>
    void run(std::uint64_t limit, const Cost& cost_of, const Use& use) {
        while (filled_ != 0) {
            now_ += static_cast<std::uint64_t>(std::countr_zero(std::rotr(filled_, static_cast<int>(now_ & 63))));
            if (now_ > limit >> width_) return;
            bucket& own = ring_[now_ & 63];
            for (std::size_t i = 0; i < own.count; ++i) {
                const std::int32_t cell = own.cells[i];
                const std::uint64_t cost = cost_of(cell);
                if (cost >> width_ == now_) use(cell, cost);
                else if (cost >> width_ > now_) push(cell, cost);
            }
            taken_ += static_cast<std::int64_t>(own.count);
            own.count = 0, filled_ &= ~(std::uint64_t{1} << (now_ & 63));
        }
    }

    /// run() for steps that all cost 1: cells of a bucket reach only the next one, whose end stays in a register. Calls
    /// spread(cell, end) for inner cells; it writes at most `most` cells from `end` on and returns the new end. Calls
    /// spread_rim(cell) for others; it pushes.
    template <class Cost, class Inner, class Spread, class Rim>
    void run_levels(std::uint64_t limit, std::size_t most, const Cost& cost_of, const Inner& is_inner,
                    const Spread& spread, const Rim& spread_rim) {
        while (filled_ != 0) {
            now_ += static_cast<std::uint64_t>(std::countr_zero(std::rotr(filled_, static_cast<int>(now_ & 63))));
            if (now_ > limit) return;
            bucket &own = ring_[now_ & 63], &next = ring_[(now_ + 1) & 63];
            const std::int32_t *cell = own.cells.data(), *const last = cell + own.count;
            std::int32_t* end = next.reserve(own.count * most);
            for (; cell < last; ++cell) {
                const std::uint64_t cost = cost_of(*cell);
                if (cost == now_ && is_inner(*cell)) {
                    end = spread(*cell, end);
                } else if (cost >= now_) {
                    next.end_at(end);
                    if (cost == now_) spread_rim(*cell);
                    else push(*cell, cost);
                    end = next.reserve(static_cast<std::size_t>(last - cell) * most);
                }
            }
            next.end_at(end);
            if (next.count != 0) filled_ |= std::uint64_t{1} << ((now_ + 1) & 63);
            taken_ += static_cast<std::int64_t>(own.count), cells_by_levels += static_cast<std::int64_t>(own.count);
            own.count = 0, filled_ &= ~(std::uint64_t{1} << (now_ & 63));
        }
    }

    /// Moves the remaining cells to a list and returns their least cost.
    template <class Cost>
    std::uint64_t drain(std::vector<std::int32_t>& to, const Cost& cost_of) {
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        for (; filled_ != 0; filled_ &= filled_ - 1) {
            bucket& own = ring_[static_cast<std::size_t>(std::countr_zero(filled_))];
            to.insert(to.end(), own.cells.begin(), own.cells.begin() + static_cast<std::ptrdiff_t>(own.count));
            own.count = 0;
        }
        for (const std::int32_t cell : to) least = std::min(least, cost_of(cell));
        return least;
    }

    /// Number of cells taken from buckets since the last call.
    std::int64_t count_taken() { return std::exchange(taken_, 0); }

private:
    struct bucket {
        std::vector<std::int32_t> cells = std::vector<std::int32_t>(16);
        std::size_t count = 0;

        void add(std::int32_t cell) {
            if (count == cells.size()) grow();
            cells[count++] = cell;
        }
        [[gnu::noinline]] void grow() { cells.resize(2 * count); }
        /// Makes room for more cells and returns where they begin; end_at() tells where they end.
        std::int32_t* reserve(std::size_t more) {
            if (cells.size() < count + more) cells.resize(2 * (count + more));
            return cells.data() + count;
        }
        void end_at(const std::int32_t* end) { count = static_cast<std::size_t>(end - cells.data()); }
    };

    int width_;
    std::uint64_t now_ = 0, filled_ = 0;
    std::int64_t taken_ = 0;
    std::array<bucket, 64> ring_;
};

}  // namespace nearfield::geodesics
