// A row of n cells has at least two more bits, the pads: bit n lies behind its last cell, and the highest bit of its
// last word lies before the first cell of the next row. They are zero, except while a ring grows.
#include "chessboard/host_levels.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "chessboard/host_bits.hpp"
#include "chessboard/host_cells.hpp"

namespace nearfield::chessboard {
namespace {

constexpr std::int64_t most_levels = 16;      ///< number of sets after the first one
constexpr std::int64_t words_at_once = 2048;  ///< of a tile: with what it reads it stays in a core's first cache

class levels {
public:
    levels(const problem& p, workers& crew)
        : p_(p),
          crew_(crew),
          last_(p.rank - 1),
          n_(p.size[last_]),
          height_(p.size[last_ - 1]),
          depth_(p.rank - p.batch == 3 ? p.size[p.batch] : 1),
          rows_(p.cells / n_),
          words_((n_ + 1) / word_bits + 1),
          most_(std::min(most_levels, n_ / words_ - 1)),  // sets take 8 bytes a cell at most
          tile_rows_(std::min(height_, std::max<std::int64_t>(1, words_at_once / words_))),
          tiles_((height_ + tile_rows_ - 1) / tile_rows_),
          mixed_(crew.threads() * mixed_words()),
          own_(crew.threads() * mixed_words()),
          cells_(crew.threads() * words_ * word_bits) {}

    bool solve() {
        std::int64_t reached[most_levels + 1] = {read()};
        if (rehearsing() != nullptr)
            for (std::int64_t k = 0; k < std::min(most_, p_.limit); ++k) add_set();
        for (int k = 0; reached[k] < p_.cells && k < p_.limit; ++k) {
            if (!goes_on(reached, k)) return false;
            reached[k + 1] = grow();
        }
        write();
        return true;
    }

private:
    /// A tile with a row before it and one behind it, and a word at either end.
    [[nodiscard]] std::int64_t mixed_words() const { return (tile_rows_ + 2) * words_ + 2; }
    [[nodiscard]] bool forward(int axis) const { return p_.side[axis] <= 0; }
    [[nodiscard]] bool backward(int axis) const { return p_.side[axis] >= 0; }
    [[nodiscard]] bool wraps(int axis) const { return p_.ends[axis] == border::periodic; }
    std::uint64_t* add_set() {
        set_.emplace_back(rows_ * words_ + 1);
        return set_.back().get();
    }

    /// True if another set is worth making after set k, of which `reached` has the number of cells: if the sets may
    /// reach all cells. Noise runs out of cells ever faster, smooth masks do not.
    [[nodiscard]] bool goes_on(const std::int64_t* reached, int k) const {
        if (k >= most_ || (k > 0 && reached[k] == reached[k - 1])) return false;
        if (p_.limit <= most_) return true;
        const auto all = static_cast<double>(p_.cells), left = all - static_cast<double>(reached[k]);
        if (k == 0) {  // a site reaches the cells of a cube at most
            const double cube = std::pow(2 * most_ + 1, p_.rank - p_.batch);
            return static_cast<double>(reached[0]) * cube >= all * std::log(all);
        }
        const auto allowed = static_cast<double>(k < 4 ? most_ << (4 - k) : 2 * (most_ - k));
        return k == 1 || std::log(left) <= allowed * std::log((all - static_cast<double>(reached[k - 1])) / left);
    }
    std::int64_t read() {
        std::uint64_t* const to = add_set();
        to[rows_ * words_] = 0;
        std::fill_n(cells_.get(), crew_.threads() * words_ * word_bits, std::uint8_t{0});
        std::atomic<std::int64_t> sites = 0;
        crew_.for_each(rows_, std::max<std::int64_t>(1, words_at_once / words_), n_,
                       [&](std::int64_t first, std::int64_t end, int thread) {
                           std::uint8_t* const site = cells_.get() + thread * words_ * word_bits;
                           for (std::int64_t row = first; row < end; ++row)
                               read_sites(p_, row, site), bits_.pack(site, words_, to + row * words_);
                           sites += bits_.count(to + first * words_, (end - first) * words_);
                       });
        return sites;
    }

    // ---- growth -----------------------------------------------------------------------------------------------------

    /// Rows [first, end) of a plane. Planes are the images of a batch and their slices.
    struct tile {
        std::int64_t plane, first, end;
    };

    /// Makes the next set; returns its number of cells.
    std::int64_t grow() {
        const std::uint64_t* const from = set_.back().get();
        std::uint64_t* const to = add_set();
        to[rows_ * words_] = 0;
        std::atomic<std::int64_t> reached = 0;
        const std::int64_t count = rows_ / height_ * tiles_;
        crew_.for_each(count, std::max<std::int64_t>(1, words_at_once / (tile_rows_ * words_)), 0,
                       [&](std::int64_t first, std::int64_t end, int thread) {
                           std::int64_t sum = 0;
                           for (std::int64_t k = first; k < end; ++k) {
                               const std::int64_t row = k % tiles_ * tile_rows_;
                               sum +=
                                   grow_tile(from, to, {k / tiles_, row, std::min(row + tile_rows_, height_)}, thread);
                           }
                           reached += sum;
                       });
        return reached;
    }
    std::int64_t grow_tile(const std::uint64_t* from, std::uint64_t* to, const tile& t, int thread) const {
        const std::int64_t rows = t.end - t.first, words = rows * words_;
        std::uint64_t *const mixed = mixed_.get() + thread * mixed_words() + 1,
                             *const own = own_.get() + thread * mixed_words() + 1,
                             *const out = to + (t.plane * height_ + t.first) * words_;
        gather(from, t, mixed);
        std::copy_n(mixed + words_, words, own);
        const auto unite_rows = [&](std::uint64_t* with) {
            if (forward(last_ - 1)) bits_.unite(mixed, words, with);
            if (backward(last_ - 1)) bits_.unite(mixed + 2 * words_, words, with);
        };
        if (p_.diagonal) unite_rows(own);
        own[-1] = own[words] = 0;
        if (wraps(last_)) join_ends(own, rows);
        bits_.unite_beside(own, forward(last_), backward(last_), words, out);
        if (!p_.diagonal) {
            unite_rows(out);
            unite_planes(from, t.plane, t.first, rows, out);
        }
        if (set_.size() == 2) add_edges(t, out);
        for (std::int64_t row = 0; row < rows; ++row) {
            out[row * words_ + n_ / word_bits] &= (std::uint64_t{1} << n_ % word_bits) - 1;
            if (n_ / word_bits < words_ - 1) out[(row + 1) * words_ - 1] = 0;
        }
        return bits_.count(out, words);
    }
    /// Copies a tile, with the row before it and that behind it, and, in the chessboard metric, unites it with the same
    /// rows of the planes beside it.
    void gather(const std::uint64_t* from, const tile& t, std::uint64_t* to) const {
        const auto copy = [&](std::int64_t row, std::int64_t rows, std::uint64_t* with) {
            std::copy_n(from + (t.plane * height_ + row) * words_, rows * words_, with);
            if (p_.diagonal) unite_planes(from, t.plane, row, rows, with);
        };
        const auto copy_end = [&](std::int64_t row, std::uint64_t* with) {
            if (wraps(last_ - 1)) copy(row, 1, with);
            else std::fill_n(with, words_, std::uint64_t{0});
        };
        const std::int64_t first = std::max<std::int64_t>(t.first - 1, 0), end = std::min(t.end + 1, height_);
        if (t.first == 0) copy_end(height_ - 1, to);
        copy(first, end - first, to + (first - t.first + 1) * words_);
        if (t.end == height_) copy_end(0, to + (t.end - t.first + 1) * words_);
    }
    /// Unites rows of a plane with those of the planes beside it.
    void unite_planes(const std::uint64_t* from, std::int64_t plane, std::int64_t row, std::int64_t rows,
                      std::uint64_t* with) const {
        if (p_.rank - p_.batch < 3) return;
        const std::int64_t z = plane % depth_;
        for (const int by : {-1, 1}) {
            if (by < 0 ? !forward(p_.batch) : !backward(p_.batch)) continue;
            std::int64_t other = z + by;
            if (wraps(p_.batch)) other = (other + depth_) % depth_;
            if (other < 0 || other >= depth_) continue;
            bits_.unite(from + ((plane + other - z) * height_ + row) * words_, rows * words_, with);
        }
    }
    /// Sets the pads of a ring's rows to the cells at the other end.
    void join_ends(std::uint64_t* own, std::int64_t rows) const {
        const std::int64_t last = n_ - 1;
        for (std::int64_t row = 0; row < rows; ++row) {
            std::uint64_t* const line = own + row * words_;
            line[n_ / word_bits] |= (line[0] & 1) << n_ % word_bits;
            line[-1] |= line[last / word_bits] >> last % word_bits << (word_bits - 1);
        }
    }
    /// Adds the cells of a tile that lie at a closed end.
    void add_edges(const tile& t, std::uint64_t* out) const {
        const auto closed = [&](int axis, std::int64_t at) {
            return p_.ends[axis] == border::closed &&
                   ((at == 0 && forward(axis)) || (at == p_.size[axis] - 1 && backward(axis)));
        };
        const bool whole = p_.rank - p_.batch == 3 && closed(p_.batch, t.plane % depth_);
        for (std::int64_t row = t.first; row < t.end; ++row) {
            std::uint64_t* const line = out + (row - t.first) * words_;
            if (whole || closed(last_ - 1, row)) std::fill_n(line, words_, ~std::uint64_t{0});
            for (const std::int64_t x : {std::int64_t{0}, n_ - 1})
                if (closed(last_, x)) line[x / word_bits] |= std::uint64_t{1} << x % word_bits;
        }
    }

    // ---- output -----------------------------------------------------------------------------------------------------

    void write() {
        crew_.for_each(rows_, std::max<std::int64_t>(1, words_at_once / words_), (1 + p_.rank - p_.batch) * n_,
                       [&](std::int64_t first, std::int64_t end, int thread) {
                           std::uint8_t* const cells = cells_.get() + thread * words_ * word_bits;
                           const std::uint64_t* set[most_levels + 1];
                           const int sets = static_cast<int>(set_.size());
                           for (std::int64_t row = first; row < end; ++row) {
                               for (int k = 0; k < sets; ++k)
                                   set[k] = set_[static_cast<std::size_t>(k)].get() + row * words_;
                               bits_.count_without(set, sets, words_, cells);
                               write_distances(p_, row, cells, bits_.write);
                           }
                       });
    }

    const problem& p_;
    workers& crew_;
    int last_;
    std::int64_t n_, height_, depth_, rows_, words_, most_, tile_rows_, tiles_;
    host_scratch<std::uint64_t> mixed_, own_;  ///< a tile for each thread
    host_scratch<std::uint8_t> cells_;         ///< a row for each thread
    std::vector<host_scratch<std::uint64_t>> set_;
    const bit_loops& bits_ = loops_over_bits();
};

}  // namespace

bool solve_by_levels(const problem& p, workers& crew) {
    const int axes = p.rank - p.batch;
    if (axes == 2 || axes == 3) return levels(p, crew).solve();
    crew.go_on(p.cells);
    return false;
}

}  // namespace nearfield::chessboard
