// Planes of the host's dense engine: from steps along the first axis to results.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/scratch.hpp"
#include "exact/host/lines.hpp"
#include "exact/host_output.hpp"
#include "exact/host_steps.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

// The number types of a search. Values alone: 16 bits whose sums saturate, or 32 if those do not suffice. With sites a
// number is a value above the coordinate of the winner along the axis, in its low bits, so that the least number is the
// nearest site with the smallest coordinate, and the same search applies: 32 bits, or 64.

/// Some rows along the first axis that are searched together: all their lines, so that lines fill whole tiles.
struct plane_layout {
    explicit plane_layout(const plan& p);
    bool middle = false;  ///< the lines of a row are an axis
    std::int64_t lines = 1, length = 1, rows = 1;

    [[nodiscard]] std::int64_t all_lines() const { return rows * lines; }
    /// Returns the pitch of lines in scratch: each starts at a cache line, an odd number of lines apart. The cells
    /// above and below one then do not compete for the same few sets of the first-level cache, as with sides that are
    /// powers of two (16x2048^2, 0.1 % sites: 280 ms instead of 366).
    [[nodiscard]] std::int64_t pitch() const { return ((length + 31) / 32 | 1) * 32; }
    /// Returns the numbers of all lines, and of a tile of lines or of two tiles of columns, in scratch.
    [[nodiscard]] std::int64_t numbers() const { return (all_lines() + 31) / 32 * 32 * pitch(); }
    [[nodiscard]] std::int64_t tile_numbers() const { return 32 * (std::max(pitch(), 2 * lines) + 2 * margin); }
    /// Rows without sites before and behind a tile, so that blocks at its ends search like others.
    static constexpr std::int64_t margin = 16;
    static constexpr std::int64_t lines_of_tile = 32;
};

/// Terms of distances along the axes. Computed once for a call.
template <bool Sites>
class plane_terms {
public:
    using narrow = std::conditional_t<Sites, std::int32_t, std::uint16_t>;
    using wide = std::conditional_t<Sites, std::int64_t, std::int32_t>;

    explicit plane_terms(const plan& p);
    static std::int64_t bytes(const plan& p);

    step_term first;
    int line_bits = 0, cell_bits = 0;  ///< low bits of numbers, for the winning line and the winning cell
    /// From this number on a result may have lost its winner: lines' numbers hold smaller values. `unresolved`: also if
    /// results that large are beyond the limit.
    narrow trusted;
    bool unresolved = true;
    cell_number packed, linear, words{1 << 16, 1, 0};  ///< numbers of sites

    [[nodiscard]] const axis_terms<wide>& middle() const { return *wide_middle_; }
    /// Returns the lines to either side beyond which everything is farther than the value of `number`, a result along
    /// the last axis.
    [[nodiscard]] std::int64_t lines_within(narrow number) const;
    template <class N>
    [[nodiscard]] const axis_terms<N>& last() const {
        if constexpr (sizeof(N) == sizeof(narrow)) return *narrow_last_;
        else return *wide_last_;
    }
    /// Returns the terms along the last axis, also for negative steps.
    template <class N>
    [[nodiscard]] const N* both_ways() const {
        if constexpr (sizeof(N) == sizeof(narrow)) return narrow_both_.get() + length_;
        else return wide_both_.get() + length_;
    }

private:
    std::optional<axis_terms<narrow>> narrow_last_;
    std::optional<axis_terms<wide>> wide_middle_, wide_last_;
    std::int64_t length_ = 0;
    host_scratch<narrow> narrow_both_;
    host_scratch<wide> wide_both_;
};

/// Lines that were solved from few columns with a site, cell by cell or in tiles, and tiles in narrow and in wide
/// numbers, since the process began. Tests look at them.
struct plane_ways {
    std::atomic<std::int64_t> by_cells{0}, by_columns{0}, narrow{0}, wide{0};
};
inline plane_ways plane_ways_taken;

/// The columns along the first axis that have a site, if there are few of them. Each relaxes every line separately.
struct few_columns {
    struct column {
        std::int32_t line, cell;
    };
    static std::int64_t most(const plane_layout& at);
    std::int64_t image = -1;  ///< the image whose columns these are
    std::int64_t count = 0;
    bool all = false;  ///< true if they are listed; else there are many
    host_scratch<column> list;
};

/// A thread's search of planes.
template <bool Sites>
class plane_search {
    using terms = plane_terms<Sites>;
    using narrow = typename terms::narrow;
    using wide = typename terms::wide;
    using writer = output_writer<std::int32_t, std::int32_t>;

public:
    plane_search(const plan& p, const terms& t, const writer& to);
    static std::int64_t bytes(const plan& p);

    /// Searches `rows` rows of an image from `row` on, whose first cell is cell `image` of the grid, and writes their
    /// results. `steps` and `toward` are those along the first axis, contiguous; `toward` only with sites.
    void solve(const std::uint16_t* steps, const std::int16_t* toward, std::int64_t image, std::int64_t row,
               std::int64_t rows);
    /// Hands vectors to sites to `slab` from now on, instead of writing fields of sites.
    void give_ways_to(slab_taker& slab) { slab_ = &slab; }
    [[nodiscard]] bool far() const { return far_; }  ///< a vector was too long for it

private:
    static constexpr std::int64_t batch = 512;  ///< cells converted at a time

    template <class N>
    struct line_buffers {
        host_scratch<N> plane;  ///< numbers of all lines
        host_scratch<N> tile;   ///< the columns or lines that are searched, and results
        bool ready = false;     ///< `plane` is solved along the middle axis
    };

    template <class N>
    void allocate(line_buffers<N>& b) const {
        if (b.plane.get() == nullptr)
            b.plane = host_scratch<N>(at_.numbers()), b.tile = host_scratch<N>(at_.tile_numbers());
    }
    template <class N>
    void prepare(const std::uint16_t* steps, line_buffers<N>& b);
    template <class N>
    void search(const axis_terms<N>& along, std::int64_t rows, std::int64_t columns, N* value, N* best);
    template <class N>
    void search_columns(const axis_terms<N>& along, line_buffers<N>& b);
    template <class N>
    N search_cells(const std::uint16_t* steps, std::int64_t line, line_buffers<N>& b);
    bool search_narrow(const std::uint16_t* steps, std::int64_t line);
    void find_few(const std::uint16_t* steps);
    template <class N>
    void few_number(const std::uint16_t* steps, std::int64_t line, const few_columns::column& from, N& best);
    template <class N>
    bool solve_by_few(const std::uint16_t* steps, std::int64_t line, line_buffers<N>& b);
    template <class N>
    void relax_by_few(const std::uint16_t* steps, std::int64_t line, N* tile);
    void number_columns(const std::int16_t* toward, std::int64_t row);
    template <class N>
    void write(std::int64_t line, const N* best, std::int64_t first);
    /// Returns for the cells of a line the site along the axes before the last; then -1, for none.
    [[nodiscard]] const std::int32_t* sites_of(std::int64_t line) const {
        return at_.middle ? column_of(line) : site_.get() + line * (at_.length + 1);
    }
    [[nodiscard]] std::int32_t* column_of(std::int64_t line) const {
        return column_.get() + line % at_.lines_of_tile * (at_.length + 1);
    }
    void write_roots(const std::uint16_t* squared, float* to) const;
    template <class N>
    [[nodiscard]] const number_loops<N>& loops() const {
        return loops_;
    }
    /// Calls piece(from, count) for batches of a line's cells.
    template <class Piece>
    void in_batches(const Piece& piece) const {
        for (std::int64_t from = 0; from < at_.length; from += batch) piece(from, std::min(batch, at_.length - from));
    }
    /// Copies a batch of results to their place.
    template <class T>
    void leave(const T* from, std::int64_t count, T* to) const {
        if (past_caches_) copy_past_caches(from, count * static_cast<std::int64_t>(sizeof(T)), to);
        else std::copy_n(from, count, to);
    }
    /// to[x] = the site that the winner best[x] names, for a batch of cells.
    template <class N, class T>
    void take_sites(const std::int32_t* column, const N* best, std::int64_t count, T* to) const {
        std::int32_t place[batch];
        loops<N>().take_cells(best, count, terms_.cell_bits, static_cast<std::int32_t>(at_.length), place);
        for (std::int64_t i = 0; i < count; ++i) to[i] = column[place[i]];
    }
    template <class N, class T>
    void write_index(std::int64_t line, const N* best, T* to) const;
    template <class N>
    void give_ways(std::int64_t line, const N* best) {
        const std::int64_t row = row_ + line / at_.lines, of_row = line % at_.lines;
        const site_ways to = slab_->next();
        in_batches([&](std::int64_t from, std::int64_t n) {
            std::int32_t site[batch];
            take_sites(sites_of(line), best + from, n, site);
            const site_ways part{{to.along[0] + from, to.along[1] + from, to.along[2] + from}, to.squared + from};
            far_ |= loops<N>().ways(best + from, site, n, terms_.cell_bits, static_cast<std::int32_t>(from),
                                    static_cast<std::int32_t>(row), static_cast<std::int32_t>(of_row), part);
        });
        slab_->take(row, of_row);
    }

    const terms& terms_;
    const plane_loops& loops_ = loops_of_planes();
    const writer& writer_;
    const plane_layout at_;
    const bool negative_side_, past_caches_;
    std::int64_t row_ = 0, lines_ = 0;  ///< first row, and lines, of the current call
    std::int64_t window_ = 1;           ///< lines to either side that are searched in narrow numbers
    std::int64_t needed_ = 1;           ///< lines to either side that the results so far needed
    std::int64_t straight_ = 0;         ///< number of tiles still to search in wide numbers without trying narrow ones
    std::optional<axis_terms<narrow>> middle_;  ///< within the window
    slab_taker* slab_ = nullptr;
    bool far_ = false;
    few_columns few_;
    line_buffers<narrow> narrow_;
    line_buffers<wide> wide_;
    line_lists lists_;
    host_scratch<std::int32_t>
        site_;  ///< for the cells of the planes, and -1 behind each line: the site along the first axis
    host_scratch<std::int32_t> column_;  ///< for the cells of a tile: the site along the first and the middle axis
};

}  // namespace nearfield::exact
