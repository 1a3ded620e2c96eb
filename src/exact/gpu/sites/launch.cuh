// Nearest sites in words of 32 bits (site_words.cuh), pass by pass: launches the kernels in order and owns their
// memory.
#pragma once

#include <algorithm>
#include <utility>

#include "base/lines.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/rows/pack.cuh"
#include "exact/gpu/sites/between.cuh"
#include "exact/gpu/sites/far.cuh"
#include "exact/gpu/sites/few.cuh"
#include "exact/gpu/sites/sweep.cuh"
#include "exact/gpu/stencil/mend.cuh"
#include "exact/gpu/tiles/post_winners.cuh"

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
    std::int64_t count = rows <= span ? 1 : blocks_for(rows, (span - 2 * margin) / square_side * square_side);
    if (small) count = std::max(count, std::min(multiprocessors / groups, rows / (2 * square_side)));
    if (count == 1) return {strip, static_cast<int>(blocks_for(rows, strip)), {1, static_cast<int>(rows)}};
    const std::int64_t each = blocks_for(rows, count * square_side) * square_side;
    return {strip,
            static_cast<int>(blocks_for(each + 2 * margin, strip)),
            {static_cast<int>(blocks_for(rows, each)), static_cast<int>(each)}};
}

// Fewest cells of volumes that are tested for few sites. The test takes two more launches, 5 us.
constexpr std::int64_t least_looked_at = 1 << 22;
constexpr std::int64_t near_tiles_a_block = 4;  ///< so that few blocks find nothing to do

// Fewest groups of 32 lines for which sweeps are used. 256^3 has 2048, where sweeps take as long as hulls.
constexpr std::int64_t groups_for_sweeps = 4096;
// Keys above this value cannot be settled by 64 steps; after the first steps they stop the search early if a sweep is
// the fallback. 512^3 of balls 3.16 ms, of a border 2.26, of blobs 2.30 (80^2: 3.23, 2.29, 2.31; 127^2: 3.18, 2.56,
// 2.30; H200, 2026-11-23).
constexpr std::uint32_t beyond_most_steps = 66 * 66 * one_value;
static_assert(beyond_most_steps > (most_steps + 1) * (most_steps + 1) * one_value && beyond_most_steps < near_cap);

/// True if near sites may be searched by bits: in volumes that fill at least half of its tiles, and whose planes are
/// counted in 32 bits.
inline bool near_fits(const plan& p) {
    const auto last = static_cast<std::size_t>(p.rank - 1);
    const std::int64_t length = p.size[last], rows = p.size[last - 1], planes = p.size[last - 2];
    const auto filled = [](std::int64_t cells, std::int64_t side) {
        return static_cast<double>(cells) / static_cast<double>(blocks_for(cells, side) * side);
    };
    return near_side * rows * length <= std::numeric_limits<std::int32_t>::max() &&
           filled(length, near_tile_words * cuda::warp) * filled(rows, near_tile_rows) *
                   filled(planes, near_tile_planes) >=
               0.5;
}

/// The search for nearest sites of one or many images or volumes.
class site_search {
public:
    explicit site_search(const plan& p) : p_(p) {}

    void reserve(cuda::workspace& memory) {
        const packed_lines lines = this->lines(memory);
        words_ = memory.reserve<line_word>(lines.tiles * lines.rows);
        sited_ = memory.reserve<std::uint32_t>(lines.images * lines.groups());
        if (lines.stretches > 1) ends_ = memory.reserve<std::uint32_t>(lines.images * lines.stretches * lines.rows);
        if (volumes()) state_ = memory.reserve<std::uint32_t>(p_.cells);
        if (const point_lists few = few_lists(memory); few.planes > 0) {
            const std::int64_t lists = lines.images / few.planes * few.lists_an_image;
            flags_ = memory.reserve<std::int32_t>(3 + lists);
            points_ = memory.reserve<listed_point>(lists * few.capacity);
        }
        std::int64_t tiles = 0, groups = 0, ranges = 0;
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis) {
            const std::int64_t here = groups_of(axis);
            tiles = std::max(tiles, here * cut_strips(rows_of(axis), here).into.count);
            if (!far(axis) || uses_pivots(axis)) continue;
            groups = std::max(groups, here);
            ranges = std::max(ranges, here * cuda::warp * blocks_for(rows_of(axis), slab_rows));
        }
        list_ = memory.reserve<std::int32_t>(tiles);
        counts_ = memory.reserve<std::int32_t>(2 * max_rank);
        if (uses_pivots(p_.rank - 2)) {
            const auto pivots = this->pivots(memory);
            const std::int64_t cells = pivots.images * pivots.pivots * pivots.length;
            nearest_ = memory.reserve<std::int32_t>(cells);
            winners_ = memory.reserve<std::uint16_t>(cells);
            reserve_owners(memory, lines.images);
        }
        if (groups == 0) return;
        reserve_owners(memory, groups);
        ranges_ = memory.reserve<list_range>(ranges);
        lists_ = memory.reserve<slab_row>(p_.cells);
    }

    void solve(const device& on, const cuda::workspace& memory, const site_bytes& image, const metric<std::int32_t>& m,
               const site_sink& to) const {
        if (to.out.index32) passes<ending::index32>({on, memory, m, to}, image);
        else passes<ending::index64>({on, memory, m, to}, image);
    }

private:
    struct call {
        const device& on;
        const cuda::workspace& memory;
        const metric<std::int32_t>& m;
        const site_sink& to;
    };

    void reserve_owners(cuda::workspace& memory, std::int64_t count) {
        groups_ = memory.reserve<std::int32_t>(count);
        marks_ = memory.reserve<std::uint32_t>(count);
    }
    [[nodiscard]] bool volumes() const { return p_.rank - p_.first_axis == 3; }
    [[nodiscard]] std::int64_t rows_of(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    /// True if hulls of long lines solve what the steps leave unresolved.
    [[nodiscard]] bool far(int axis) const { return !rows_fit_shared(p_, axis); }
    /// True if images are then solved between pivot rows, which requires that no value equals that of no site.
    [[nodiscard]] bool uses_pivots(int axis) const { return !volumes() && far(axis) && p_.largest < largest_narrow; }
    /// Returns the number of groups of 32 lines; along the second axis a group lies in one word column.
    [[nodiscard]] std::int64_t groups_of(int axis) const {
        const std::int64_t columns = p_.cells / rows_of(axis), length = rows_of(p_.rank - 1);
        return axis == p_.rank - 2 ? columns / length * blocks_for(length, cuda::warp)
                                   : blocks_for(columns, cuda::warp);
    }

    /// True if a sweep solves what the steps leave unresolved, if that is a lot.
    [[nodiscard]] bool sweeps(int axis) const { return !far(axis) && groups_of(axis) >= groups_for_sweeps; }

    [[nodiscard]] packed_lines lines(const cuda::workspace& memory) const {
        packed_lines lines;
        lines.words = memory.get<line_word>(words_);
        lines.sited = memory.get<std::uint32_t>(sited_);
        lines.ends = memory.get<std::uint32_t>(ends_);
        lines.length = rows_of(p_.rank - 1);
        lines.rows = rows_of(p_.rank - 2);
        lines.columns = blocks_for(lines.length, cuda::warp);
        lines.stretches = blocks_for(lines.length, scan_cells);
        lines.images = p_.cells / lines.length / lines.rows;
        lines.tiles = lines.images * lines.columns;
        return lines;
    }
    [[nodiscard]] pivot_lines<std::int32_t> pivots(const cuda::workspace& memory) const {
        const packed_lines lines = this->lines(memory);
        pivot_lines<std::int32_t> pivots;
        pivots.nearest = memory.get<std::int32_t>(nearest_);
        pivots.winners = memory.get<std::uint16_t>(winners_);
        pivots.images = lines.images;
        pivots.length = lines.length;
        pivots.pivots = static_cast<int>(blocks_for(lines.rows, pivot_step)) + 1;
        pivots.rows = static_cast<int>(lines.rows);
        pivots.taken = memory.get<std::int32_t>(counts_) + p_.rank - 1;  // the last axis, where no pass counts tiles
        return pivots;
    }
    /// Returns the list for the pass along `axis`; packing clears its count, and the marks of the next pass.
    [[nodiscard]] unresolved_tiles empty_list(const call& c, int axis) const {
        unresolved_tiles unresolved;
        unresolved.count = c.memory.get<std::int32_t>(counts_) + axis;
        unresolved.list = c.memory.get<std::int32_t>(list_);
        if (!far(axis)) return unresolved;
        unresolved.owner_count = unresolved.count + max_rank;
        unresolved.owners = c.memory.get<std::int32_t>(groups_);
        unresolved.marks = c.memory.get<std::uint32_t>(marks_);
        if (axis != p_.rank - 2) clear(c, unresolved.marks, groups_of(axis));
        return unresolved;
    }
    template <class T>
    static void clear(const call& c, T* numbers, std::int64_t count) {
        cuda::check(cudaMemsetAsync(numbers, 0, static_cast<std::size_t>(count) * sizeof(T), cuda::stream_of(c.on)),
                    "clearing counts");
    }
    /// Returns the lists of sites, for volumes large enough for the test of few sites.
    [[nodiscard]] point_lists few_lists(const cuda::workspace& memory) const {
        point_lists lists;
        if (!volumes() || p_.cells < least_looked_at) return lists;
        const std::int64_t planes = rows_of(p_.first_axis);
        lists.many = memory.get<std::int32_t>(flags_);
        lists.counts = lists.many + 3;
        lists.points = memory.get<listed_point>(points_);
        lists.capacity =
            static_cast<int>(blocks_for(rows_of(p_.rank - 1) * rows_of(p_.rank - 2) * list_planes, cells_a_point));
        lists.lists_an_image = static_cast<int>(blocks_for(planes, list_planes));
        lists.planes = static_cast<int>(planes);
        return lists;
    }

    template <ending End>
    void passes(const call& c, const site_bytes& image) const {
        const int axis = p_.rank - 2;
        const site_words from{{lines(c.memory)}, uses_pivots(axis)};
        pack_sites(c, image, from.lines);
        auto* const state = volumes() ? c.memory.get<std::uint32_t>(state_) : nullptr;
        if (!volumes()) return second<End, End>(c, from, axis, nullptr);
        search_few<End>(c, from.lines);
        search_near<End>(c, from.lines);
        second<ending::state, End>(c, from, axis, state);
        third<End>(c, axis - 1, state);
    }

    /// Packs lines; also clears the counts of unresolved tiles of all passes, and the marks of the second axis.
    void pack_sites(const call& c, const site_bytes& image, const packed_lines& lines) const {
        const point_lists few = few_lists(c.memory);
        if (few.planes > 0) clear(c, few.many, 3 + lines.images / few.planes * few.lists_an_image);
        const int axis = p_.rank - 2;
        pack(c.on, image, lines, few,
             {c.memory.get<std::int32_t>(counts_), c.memory.get<std::uint32_t>(marks_),
              uses_pivots(axis) ? lines.images
              : far(axis)       ? groups_of(axis)
                                : 0});
    }

    template <ending End>
    void search_few(const call& c, const packed_lines& lines) const {
        const point_lists few = few_lists(c.memory);
        if (few.planes == 0) return;
        const std::int64_t volumes = lines.images / few.planes,
                           bricks = volumes * few.lists_an_image * blocks_for(lines.rows, brick_warps) * lines.columns;
        cuda::launch_overlapped(c.on, search_few_sites<End>, std::min(bricks, 2 * multiprocessors), dim3(brick_threads),
                                0, few, lines, open_of<End>(c), c.m, volumes, c.to);
    }

    /// Returns the counter of samples without a near site, if near sites are searched: see done_before.
    template <ending End>
    [[nodiscard]] std::int32_t* open_of(const call& c) const {
        const point_lists few = few_lists(c.memory);
        return few.planes > 0 && !c.to.limited && near_fits(p_) ? few.many + 1 : nullptr;
    }

    template <ending End>
    void search_near(const call& c, const packed_lines& lines) const {
        if (open_of<End>(c) == nullptr) return;
        using number = std::conditional_t<End == ending::index64, std::int64_t, std::int32_t>;
        near_call<number> near;
        near.lines = lines, near.planes = static_cast<int>(rows_of(p_.first_axis)), near.open = open_of<End>(c);
        if constexpr (End == ending::index64) near.out = c.to.out.index;
        else near.out = c.to.out.index32;
        near.tiles_x = static_cast<int>(blocks_for(lines.columns, near_tile_words));
        near.tiles_y = static_cast<int>(blocks_for(lines.rows, near_tile_rows));
        near.tiles_z = static_cast<int>(blocks_for(near.planes, near_tile_planes));
        near.tiles = lines.images / near.planes * near.tiles_z * near.tiles_y * near.tiles_x;
        near.places = places_nearby;
        near.listed = near.open + 1;
        near.list = c.memory.get<std::int64_t>(state_);  // this memory is not in use yet
        near.capacity = p_.cells / cells_a_mended;
        const bool sixteens = lines.length % 4 == 0 && reinterpret_cast<std::uintptr_t>(near.out) % 16 == 0;
        cuda::launch_overlapped(c.on, sixteens ? search_near_sites<true, number> : search_near_sites<false, number>,
                                sixteens ? blocks_for(near.tiles, near_tiles_a_block) : near.tiles, dim3(near_threads),
                                sizeof(near_memory), near);
        cuda::launch_overlapped(c.on, mend_near_sites<number>, 4 * multiprocessors, dim3(mend_warps * cuda::warp), 0,
                                near);
    }

    /// Runs the second axis; `Last` is the output of the last pass.
    template <ending End, ending Last>
    void second(const call& c, const site_words& from, int axis, std::uint32_t* state) const {
        const strip_cut cut = cut_strips(rows_of(axis), groups_of(axis));
        const unresolved_tiles unresolved = empty_list(c, axis);
        with_strips(cut, [&]<int Rows>() {
            cuda::launch_overlapped(c.on, search_sites_of_words<Rows, End>, groups_of(axis) * cut.into.count,
                                    dim3(cut.warps * cuda::warp), cut.warps * sizeof(warp_memory<Rows>), from, cut.into,
                                    c.m, unresolved, before<Last>(c), sweeps(axis), state, c.to);
        });
        if constexpr (End == Last)
            if (uses_pivots(axis)) return finish_between_pivots<End>(c, from, cut.into, unresolved);
        finish<End>(c, from, axis, cut.into, unresolved, state);
    }
    template <ending End>
    void finish_between_pivots(const call& c, const site_words& from, const windows& cut,
                               const unresolved_tiles& unresolved) const {
        const auto pivots = this->pivots(c.memory);
        find_pivot_winners(c.on, from, unresolved, pivots);
        cuda::launch_overlapped(
            c.on, finish_sites_between<End>,
            std::min(blocks_for(from.lines.tiles * blocks_for(pivots.rows, square_rows), between_warps),
                     between_blocks * multiprocessors),
            dim3(between_threads), 0, from, cut, c.m, unresolved, pivots, c.to);
    }

    template <ending End>
    void third(const call& c, int axis, const std::uint32_t* state) const {
        const strip_cut cut = cut_strips(rows_of(axis), groups_of(axis));
        const unresolved_tiles unresolved = empty_list(c, axis);
        pass g;
        g.axis = axis;
        g.rows = rows_of(axis);
        g.inner = cells_between(p_.size.data(), axis + 1, p_.rank);
        g.columns = p_.cells / g.rows;
        const site_states from{g, state};
        with_strips(cut, [&]<int Rows>() {
            cuda::launch_overlapped(c.on, search_sites_of_states<Rows, End>, groups_of(axis) * cut.into.count,
                                    dim3(cut.warps * cuda::warp), cut.warps * sizeof(strip_edges), from, cut.into, c.m,
                                    unresolved, before<End>(c), sweeps(axis) ? beyond_most_steps : near_cap, c.to);
        });
        finish<End>(c, from, axis, cut.into, unresolved, nullptr);
    }

    template <ending Last>
    [[nodiscard]] done_before before(const call& c) const {
        return {few_lists(c.memory), volumes() ? open_of<Last>(c) : nullptr};
    }

    template <class Body>
    static void with_strips(const strip_cut& cut, const Body& body) {
        if (cut.rows == small_strip) body.template operator()<small_strip>();
        else body.template operator()<long_strip>();
    }

    /// Solves the unresolved windows. Only the device knows their number, so as many blocks as a GPU holds share them.
    template <ending End, class Lines>
    void finish(const call& c, const Lines& from, int axis, const windows& cut, const unresolved_tiles& unresolved,
                std::uint32_t* state) const {
        const std::int64_t rows = rows_of(axis), groups = groups_of(axis);
        if (!far(axis)) {
            const std::int64_t bands = blocks_for(rows, band_rows);
            const auto shared = static_cast<std::size_t>(rows * cuda::warp * 4 + bands * cuda::warp * 2);
            cuda::launch_overlapped(c.on, search_unresolved_sites<End, Lines>,
                                    std::min(groups, 2 * multiprocessors * blocks_for(short_rows, rows)),
                                    dim3(cuda::warp, static_cast<unsigned>(bands)), shared, from, cut, c.m, unresolved,
                                    sweeps(axis), state, c.to);
            if (sweeps(axis)) {
                cuda::launch_overlapped(c.on, sweep_unresolved_sites<End, Lines>,
                                        std::min(blocks_for(groups, sweep_warps), sweep_blocks * multiprocessors),
                                        dim3(cuda::warp, sweep_warps), line_winners::bytes(rows), from, cut, c.m,
                                        unresolved, state, c.to);
            }
            return;
        }
        const far_lists lists{c.memory.template get<slab_row>(lists_), c.memory.template get<list_range>(ranges_),
                              static_cast<int>(blocks_for(rows, slab_rows))};
        cuda::launch_overlapped(c.on, build_far<Lines, unresolved_site_groups>,
                                std::min(groups * lists.slabs, slab_blocks * multiprocessors),
                                dim3(cuda::warp, slab_bands), sizeof(slab_memory), from, unresolved, lists);
        if (lists.slabs > 1)
            cuda::launch_overlapped(c.on, merge_far<Lines, unresolved_site_groups>,
                                    std::min(groups, 4 * multiprocessors), dim3(cuda::warp, merge_warps), 0, from,
                                    unresolved, lists);
        cuda::launch_overlapped(c.on, walk_far_sites<End, Lines>,
                                std::min(groups * blocks_for(rows, walk_warps * band_rows), 8 * multiprocessors),
                                dim3(cuda::warp, walk_warps), 0, from, cut, c.m, unresolved, lists, state, c.to);
    }

    const plan& p_;
    std::int64_t words_ = 0, sited_ = 0, ends_ = 0, state_ = 0, list_ = 0, counts_ = 0, groups_ = 0, marks_ = 0,
                 ranges_ = 0, lists_ = 0, flags_ = 0, points_ = 0, nearest_ = 0, winners_ = 0;
};

}  // namespace nearfield::exact
