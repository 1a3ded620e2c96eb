// Nearest sites in words of 32 bits (site_words.cuh), pass by pass: launches the kernels in order.
#pragma once

#include <algorithm>

#include "base/lines.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/rows/pack.cuh"
#include "exact/gpu/sites/between.cuh"
#include "exact/gpu/sites/sweep.cuh"

namespace nearfield::exact {

/// Partition of a pass's lines: into strips of `rows` rows, one per warp, and into windows, one per block.
struct strip_cut {
    int rows;
    int warps;
    windows into;
};
/// Partitions lines. Long lines: windows as equal in size as whole squares allow, with a margin of at least `margin`
/// rows on either side. Small problems: also windows, so that every multiprocessor has some, and strips of 16 rows,
/// because 64 would leave schedulers of a large GPU idle.
inline strip_cut cut_strips(std::int64_t rows, std::int64_t groups, int margin = least_margin) {
    const bool small = groups * blocks_for(rows, long_strip) <= 4 * multiprocessors;
    const int strip = small ? small_strip : long_strip,
              span = small ? small_strip * strip_warps<small_strip> : long_strip * strip_warps<long_strip>;
    std::int64_t count = rows <= span ? 1 : blocks_for(rows, (span - 2 * margin) / square_rows * square_rows);
    if (small) count = std::max(count, std::min(multiprocessors / groups, rows / (2 * square_rows)));
    if (count == 1) return {strip, static_cast<int>(blocks_for(rows, strip)), {1, static_cast<int>(rows)}};
    const std::int64_t each = blocks_for(rows, count * square_rows) * square_rows;
    return {strip,
            static_cast<int>(blocks_for(each + 2 * margin, strip)),
            {static_cast<int>(blocks_for(rows, each)), static_cast<int>(each)}};
}

// Keys above this value cannot be settled by 64 steps; after the first steps they stop the search early if a sweep is
// the fallback. 512^3 of balls 3.16 ms, of a border 2.26, of blobs 2.30 (80^2: 3.23, 2.29, 2.31; 127^2: 3.18, 2.56,
// 2.30; H200, 2026-11-23).
constexpr std::uint32_t beyond_most_steps = 66 * 66 * one_value;
static_assert(beyond_most_steps > (most_steps + 1) * (most_steps + 1) * one_value && beyond_most_steps < near_cap);

/// The search for nearest sites of one or many images or volumes.
class site_search {
public:
    /// `many`: see line_pass::many.
    site_search(const device& on, const plan& p, const word_workspace& words, const cuda::workspace& memory,
                const std::int32_t* many)
        : on_(on), p_(p), words_(words), memory_(memory), many_(many) {}

    /// Returns the most windows of a pass.
    [[nodiscard]] std::int64_t most_windows() const {
        std::int64_t most = 0;
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis)
            most = std::max(most, groups_of(axis) * cut_strips(rows_of(axis), groups_of(axis)).into.count);
        return most;
    }
    /// Returns the most groups of 32 lines of a pass over a volume.
    [[nodiscard]] std::int64_t most_groups() const {
        return volumes() ? std::max(groups_of(p_.first_axis), groups_of(p_.first_axis + 1)) : 0;
    }
    /// Searches all axes, from packed lines. `state` holds 4 bytes a cell of volumes.
    template <ending End>
    void solve(const site_sink& to, std::uint32_t* state) const {
        const int axis = p_.rank - 2;
        if (!volumes()) return search_rows<End>(to, axis, nullptr);
        search_rows<ending::state>(to, axis, state);
        search_planes<End>(to, axis - 1, state);
    }

private:
    [[nodiscard]] bool volumes() const { return p_.rank - p_.first_axis == 3; }
    [[nodiscard]] std::int64_t rows_of(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    /// Returns the number of groups of 32 lines; along the second axis a group lies in one word column.
    [[nodiscard]] std::int64_t groups_of(int axis) const {
        const std::int64_t columns = p_.cells / rows_of(axis), length = rows_of(p_.rank - 1);
        return axis == p_.rank - 2 ? columns / length * blocks_for(length, cuda::warp)
                                   : blocks_for(state_columns(p_, axis), cuda::warp);
    }
    /// True if hulls have no room for the lines along an axis.
    [[nodiscard]] bool only_sweeps(int axis) const { return !rows_fit_shared(p_, axis); }
    /// True if a sweep solves what the steps leave unresolved, if that is a lot.
    [[nodiscard]] bool sweeps(int axis) const { return groups_of(axis) >= groups_for_sweeps; }

    template <ending End>
    void search_rows(const site_sink& to, int axis, std::uint32_t* state) const {
        const std::int64_t pitch = End == ending::state ? state_pitch(p_) : rows_of(p_.rank - 1);
        const site_words from{{words_.lines(memory_), pitch}};
        const windows cut = search_strips<End>(from, axis, near_cap, state, to);
        const unresolved_tiles unresolved = words_.unresolved(memory_, axis);
        if constexpr (End == ending::state) finish<End>(from, axis, cut, unresolved, state, to);
        else finish_between_pivots<sites_between<End>>(on_, from, cut, unresolved, words_.pivots(memory_), to);
    }

    template <ending End>
    void search_planes(const site_sink& to, int axis, const std::uint32_t* state) const {
        const site_states from{lines_of_state(p_, axis), state};
        const windows cut = search_strips<End>(from, axis, sweeps(axis) ? beyond_most_steps : near_cap, nullptr, to);
        finish<End>(from, axis, cut, words_.unresolved(memory_, axis), nullptr, to);
    }

    /// Searches by steps; returns the windows of the lines.
    template <ending End, class Lines>
    windows search_strips(const Lines& from, int axis, std::uint32_t beyond_steps, std::uint32_t* state,
                          const site_sink& to) const {
        const strip_cut cut = cut_strips(rows_of(axis), groups_of(axis));
        const auto launch = [&]<int Rows>() {
            cuda::launch_overlapped(on_, search_sites<Rows, End, Lines>, groups_of(axis) * cut.into.count,
                                    dim3(cut.warps * cuda::warp),
                                    cut.warps * sizeof(typename Lines::template memory<Rows>), from, cut.into,
                                    words_.unresolved(memory_, axis), many_, beyond_steps, state, to);
        };
        if (cut.rows == small_strip) launch.template operator()<small_strip>();
        else launch.template operator()<long_strip>();
        return cut.into;
    }

    /// Solves the unresolved windows of lines that fit shared memory. Only the device knows their number, so as many
    /// blocks as a GPU holds share them.
    template <ending End, class Lines>
    void finish(const Lines& from, int axis, const windows& cut, const unresolved_tiles& unresolved,
                std::uint32_t* state, const site_sink& to) const {
        const std::int64_t rows = rows_of(axis), groups = groups_of(axis), bands = blocks_for(rows, band_rows);
        if (!only_sweeps(axis))
            cuda::launch_overlapped(on_, search_unresolved_sites<End, Lines>,
                                    std::min(groups, 2 * multiprocessors * blocks_for(short_rows, rows)),
                                    dim3(cuda::warp, static_cast<unsigned>(bands)), line_hull::bytes(rows), from, cut,
                                    unresolved, sweeps(axis), state, to);
        if (sweeps(axis))
            cuda::launch_overlapped(on_, sweep_unresolved_sites<End, Lines>,
                                    std::min(blocks_for(groups, sweep_warps), sweep_blocks * multiprocessors),
                                    dim3(cuda::warp, sweep_warps), line_winners::bytes(rows), from, cut, unresolved,
                                    only_sweeps(axis) ? 1 : least_swept, state, to);
    }

    const device& on_;
    const plan& p_;
    const word_workspace& words_;
    const cuda::workspace& memory_;
    const std::int32_t* many_;
};

}  // namespace nearfield::exact
