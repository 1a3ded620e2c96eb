// Rounds of jump flooding in volumes whose cells hold two sites as offsets: the kernels and their launches.
#include "jump_flood/cuda_open_rows.cuh"
#include "jump_flood/cuda_pair_offsets.cuh"

namespace nearfield::methods::tiles {
namespace {

/// H200, 2026-11-22, mean round of 512^3, 256^3, 128^3 in times the read and write of all sites: 2 by 2 cells 3.7, 4.0,
/// 5.1; 4 by 2 with 3 blocks 3.9, 4.3, 6.2, with 4 blocks 3.9, 4.3, 6.3; 4 by 4 with 2 blocks 4.3, 4.9, 7.1.
using cells_of_pairs = tile<true, 2, 2, 1, form::spread>;
constexpr int blocks_at_once = 4;

template <turn Turn>
__global__ void __launch_bounds__(threads, blocks_at_once)
    flood_pairs_by_offsets(const __grid_constant__ plan p, const __grid_constant__ offsets o,
                           const __grid_constant__ factors by, both<const Key> from, both<Key> to,
                           open_stretches left) {
    cuda::wait_for_kernel_before();
    place<cells_of_pairs> at = place_of_thread<cells_of_pairs>(p, blockIdx.x, threadIdx.x, threadIdx.y);
    if (!at.inside(p)) return;
    at.look_along_the_row(p);
    at.before = at.after = true;
    pair_offsets_walker<cells_of_pairs, Turn>(p, o, by, at, from, to, left).run();
}

/// Resolves the listed stretches, comparing distance and site as two numbers.
__global__ void __launch_bounds__(threads)
    settle_pair_stretches(const __grid_constant__ plan p, const __grid_constant__ separate_offsets rule,
                          both<const Key> from, both<Key> to, open_stretches left) {
    cuda::wait_for_kernel_before();
    settle_open_rows<cells_of_pairs>(p, left, [&]<class Row>(const place<Row>& at, std::int32_t planes) {
        pair_walker<Row, separate_offset_pairs>(p, separate_offset_pairs{{rule}, rule}, at, planes, from, to).run();
    });
}

plan plan_of_pairs(const grid& g, std::int64_t step) {
    return plan_of<cells_of_pairs>(g, step, {step, g.size[0] + g.size[1] + g.size[2]}, true, blocks_at_once);
}

}  // namespace

std::int64_t most_open_pair_stretches(const grid& g, std::int64_t step) {
    if (offsets_of(g, step).all_near) return 0;
    const plan p = plan_of_pairs(g, step);
    return p.tiles() * ceiling(p.walk, stretch);
}

bool run_pairs_by_offsets(const device& on, const grid& g, std::int64_t step, bool first,
                          const both<const std::int32_t>& from, const both<std::int32_t>& to,
                          const open_stretches& left) {
    const offsets o = offsets_of(g, step);
    const plan p = plan_of_pairs(g, step);
    const auto kernel = first       ? flood_pairs_by_offsets<turn::first>
                        : step == 1 ? flood_pairs_by_offsets<turn::last>
                                    : flood_pairs_by_offsets<turn::between>;
    cuda::launch_overlapped(on, kernel, p.blocks(), p.block, 0, p, o, factors{1, 0xffffffffu}, from, to, left);
    if (o.all_near) return false;
    const separate_offsets rule{p.in_two, o, p.step, std::countr_zero(static_cast<unsigned>(p.step)), step == 1};
    cuda::launch_overlapped(on, settle_pair_stretches, settling_blocks(), dim3(threads), 0, p, rule, from, to, left);
    return true;
}

}  // namespace nearfield::methods::tiles
