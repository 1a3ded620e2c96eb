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

__global__ void __launch_bounds__(flat_threads)
    spread_flag(const std::int32_t* flag, std::int64_t count, std::uint8_t* to) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * flat_threads + threadIdx.x;
    if (at < count) to[at] = *flag != 0;
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
        std::uint8_t* const hard = memory.get<std::uint8_t>(hard_);
        if (open != nullptr) {
            // What has been refused is not worth a look outward: all is hard, or nothing is to be done.
            cuda::launch(on_, spread_flag, blocks_for(groups, flat_threads), dim3(flat_threads), 0, open, groups, hard);
        } else {
            cuda::check(cudaMemsetAsync(hard, 0, static_cast<std::size_t>(groups), cuda::stream_of(on_)),
                        "clearing flags");
            cuda::launch(on_, search_near<std::int32_t, std::int32_t, Keyed, Done, false>,
                         groups * blocks_for(g.rows, long_warps), threads, 0, g, m, from, to, hard);
        }
        slab_lists lists{};
        lists.slabs = static_cast<int>(blocks_for(g.rows, slab_rows));
        lists.rows = memory.get<std::int32_t>(winners_);
        lists.start = memory.get<std::int32_t>(ranges_);
        lists.end = lists.start + lists.slabs * g.columns;
        cuda::launch(on_, build_slabs<Keyed, Done>, groups * lists.slabs, dim3(cuda::warp, slab_bands),
                     sizeof(slab_memory), g, m, from, hard, lists);
        for (int step = 1; step < lists.slabs; step *= 2)
            cuda::launch(on_, merge_slabs<Keyed, Done>, groups * blocks_for(lists.slabs, 2 * step * long_warps),
                         threads, 0, g, m, from, hard, lists, step);
        cuda::launch(on_, walk_slabs<Keyed, Done, false>, groups * blocks_for(g.rows, long_warps * band_rows), threads,
                     0, g, m, from, hard, lists, to);
    }

    const device& on_;
    const plan& p_;
    std::int64_t winners_ = 0, hard_ = 0, ranges_ = 0, groups_ = 0, most_ranges_ = 0;
};

}  // namespace nearfield::exact
