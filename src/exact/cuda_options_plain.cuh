// The plain engine's searches in int32, between passes of the engine with options: they serve where neither half cells
// nor periodic axes change the terms.
#pragma once

#include <algorithm>

#include "exact/cuda_choice.hpp"
#include "exact/cuda_options_gate.cuh"
#include "exact/cuda_scan.cuh"
#include "exact/cuda_slabs.cuh"
#include "nearfield/plan.hpp"

namespace nearfield::exact {
namespace {

/// A block 32 lines after another, as search_in_shared.
template <bool Keyed, int Done>
__global__ void __launch_bounds__(short_threads)
    search_shared(const gate when, const pass g, const metric<std::int32_t> m, const std::int32_t* cells,
                  const sink<std::int32_t, std::int32_t, Keyed, false> to) {
    extern __shared__ packed_point points[];
    each_block(when, [&](std::int64_t block) { search_columns<Keyed, Done>(points, block, g, m, cells, to); });
}

// Of all groups, behind a gate. Blocks for hulls are more than elsewhere, since some have more to do than others: with 8 for
// each multiprocessor two labels of 8192^2 took 2.03 ms instead of 1.83 (H200, 2026-11-22).
constexpr std::int64_t hull_blocks = 4 * gated_blocks;

template <bool Keyed, int Done>
__global__ void __launch_bounds__(slab_threads)
    build_all_slabs(const gate when, const pass g, const metric<std::int32_t> m, const std::int32_t* cells,
                    const slab_lists lists) {
    each_block(when, [&](std::int64_t block) {
        build_slab_of<Keyed, Done>(static_cast<std::uint32_t>(block), g, m, cells, nullptr, lists);
    });
}

/// A block a group, one step after another: five launches less at 8192^2.
template <bool Keyed, int Done>
__global__ void __launch_bounds__(long_threads)
    merge_all_slabs(const gate when, const pass g, const metric<std::int32_t> m, const std::int32_t* cells,
                    const slab_lists lists) {
    each_block(when, [&](std::int64_t group) {
        for (int step = 1; step < lists.slabs; step *= 2) {
            for (int from = 0; from < lists.slabs; from += 2 * step * long_warps)
                merge_slabs_of<Keyed, Done>(
                    static_cast<std::uint32_t>(from / (2 * step * long_warps) * when.blocks + group), g, m, cells,
                    nullptr, lists, step);
            __syncthreads();
        }
    });
}

template <bool Keyed, int Done>
__global__ void __launch_bounds__(long_threads)
    walk_all_slabs(const gate when, const pass g, const metric<std::int32_t> m, const std::int32_t* cells,
                   const slab_lists lists, const sink<std::int32_t, std::int32_t, Keyed, false> to) {
    each_block(when, [&](std::int64_t block) {
        walk_slabs_of<Keyed, Done, false>(static_cast<std::uint32_t>(block), g, m, cells, nullptr, lists, to);
    });
}

}  // namespace

class plain_search {
public:
    plain_search(const device& on, const plan& p) : on_(on), p_(p) {}

    /// Notes the needs of a pass; those of several are the largest of each, so call it for all before `allocate`.
    void reserve(const pass& g, cuda::workspace& memory) {
        if (fits_shared(g)) return;
        const std::int64_t groups = blocks_for(g.columns, cuda::warp),
                           ranges = 2 * blocks_for(g.rows, slab_rows) * g.columns;
        if (groups_ == 0) winners_ = memory.reserve<std::int32_t>(p_.cells);
        if (groups > groups_) hard_ = memory.reserve<std::uint8_t>(groups), groups_ = groups;
        if (ranges > most_ranges_) ranges_ = memory.reserve<std::int32_t>(ranges), most_ranges_ = ranges;
    }

    void describe(const pass& g, int source, call_plan& to) const {
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        if (fits_shared(g)) {
            to.passes.push_back({source, "hulls in shared memory", groups, g.rows, cuda::warp});
            return;
        }
        to.passes.push_back(
            {source, "search outward", groups * blocks_for(g.rows, long_warps), long_warps, cuda::warp});
        to.passes.push_back({source, "hulls of slabs where a group has not settled",
                             groups * blocks_for(g.rows, slab_rows), slab_rows, cuda::warp});
    }

    /// Where `open`, see gate, does not forbid it.
    template <bool Keyed>
    void search(const pass& g, const metric<std::int32_t>& m, const std::int32_t* from, std::int32_t* to,
                const cuda::workspace& memory, const std::int32_t* open) const {
        switch (Keyed ? p_.rank - 1 - g.axis : 1) {
            case 1: return search_done<Keyed, 1>(g, m, from, to, memory, open);
            case 2: return search_done<Keyed, 2>(g, m, from, to, memory, open);
            default: return search_done<Keyed, 0>(g, m, from, to, memory, open);
        }
    }

private:
    [[nodiscard]] bool fits_shared(const pass& g) const { return rows_fit_shared(p_, g.axis); }

    template <bool Keyed, int Done>
    void search_done(const pass& g, const metric<std::int32_t>& m, const std::int32_t* from, std::int32_t* next,
                     const cuda::workspace& memory, const std::int32_t* open) const {
        sink<std::int32_t, std::int32_t, Keyed, false> to;
        to.next = next;
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        if (fits_shared(g)) {
            const std::int64_t bands = blocks_for(g.rows, band_rows);
            const auto shared = static_cast<std::size_t>(g.rows * cuda::warp * 4 + bands * cuda::warp * 2);
            launch_gated(on_, open, search_shared<Keyed, Done>, groups, dim3(cuda::warp, static_cast<unsigned>(bands)),
                         shared, g, m, from, to);
            return;
        }
        const dim3 threads(cuda::warp, long_warps);
        slab_lists lists{};
        lists.slabs = static_cast<int>(blocks_for(g.rows, slab_rows));
        lists.rows = memory.get<std::int32_t>(winners_);
        lists.start = memory.get<std::int32_t>(ranges_);
        lists.end = lists.start + lists.slabs * g.columns;
        const dim3 slab(cuda::warp, slab_bands);
        const std::int64_t walks = groups * blocks_for(g.rows, long_warps * band_rows);
        const auto merges = [&](int step) { return groups * blocks_for(lists.slabs, 2 * step * long_warps); };
        if (open != nullptr) {
            // What has been refused is not worth a look outward: all is hard, or nothing is to be done.
            launch_gated_few(on_, open, hull_blocks, build_all_slabs<Keyed, Done>, groups * lists.slabs, slab,
                             sizeof(slab_memory), g, m, from, lists);
            if (lists.slabs > 1)
                launch_gated(on_, open, merge_all_slabs<Keyed, Done>, groups, threads, 0, g, m, from, lists);
            return launch_gated_few(on_, open, hull_blocks, walk_all_slabs<Keyed, Done>, walks, threads, 0, g, m, from,
                                    lists, to);
        }
        std::uint8_t* const hard = memory.get<std::uint8_t>(hard_);
        cuda::check(cudaMemsetAsync(hard, 0, static_cast<std::size_t>(groups), cuda::stream_of(on_)), "clearing flags");
        cuda::launch(on_, search_near<std::int32_t, std::int32_t, Keyed, Done, false>,
                     groups * blocks_for(g.rows, long_warps), threads, 0, g, m, from, to, hard);
        cuda::launch(on_, build_slabs<Keyed, Done>, groups * lists.slabs, slab, sizeof(slab_memory), g, m, from, hard,
                     lists);
        for (int step = 1; step < lists.slabs; step *= 2)
            cuda::launch(on_, merge_slabs<Keyed, Done>, merges(step), threads, 0, g, m, from, hard, lists, step);
        cuda::launch(on_, walk_slabs<Keyed, Done, false>, walks, threads, 0, g, m, from, hard, lists, to);
    }

    const device& on_;
    const plan& p_;
    std::int64_t winners_ = 0, hard_ = 0, ranges_ = 0, groups_ = 0, most_ranges_ = 0;
};

}  // namespace nearfield::exact
