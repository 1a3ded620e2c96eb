// Rounds of jump flooding in volumes whose words hold offsets to sites: the kernels and their launches.
#include "jump_flood/cuda_open_rows.cuh"

namespace nearfield::methods::tiles {
namespace {

/// Each thread finds the sites of its tile, and lists the stretches with unresolved cells. Threads own cells as in
/// `flood`.
template <class Tile, turn Turn, bool Skipped, bool Other = false>
__global__ void __launch_bounds__(threads, 4)
    flood_by_offsets(const __grid_constant__ plan p, const __grid_constant__ offsets o, const Key* from, Key* to,
                     open_stretches left) {
    cuda::wait_for_kernel_before();
    place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
    if (!at.inside(p)) return;
    at.look_along_the_row(p);
    at.before = at.after = true;
    offsets_walker<Tile, Turn, Skipped, Other>(p, o, at, from, to, left).run();
}

/// Resolves the listed stretches, comparing distance and site as two numbers.
template <class Tile>
__global__ void __launch_bounds__(threads)
    settle_stretches(const __grid_constant__ plan p, const __grid_constant__ separate_offsets rule, const Key* from,
                     Key* to, open_stretches left) {
    cuda::wait_for_kernel_before();
    if (are_few(left)) return settle_open_cells<Tile>(p, rule, from, to, left);
    settle_open_rows<Tile>(p, left, [&]<class Row>(const place<Row>& at, std::int32_t planes) {
        walker<Row, separate_offsets>(p, rule, at, planes, from, to).run();
    });
}

template <class Tile, turn Turn>
void flood_volume(const device& on, const plan& p, const offsets& o, const Key* from, Key* to,
                  const open_stretches& left) {
    // Time of a round by Skipped and by not skipped, in times the read and write of all sites, by the number of planes
    // a step apart. H200, 2026-11-22, 512^3, 1 % of sites: 4: 2.07, 2.68; 8: 2.13, 2.28; 16: 2.13, 2.11; 64: 2.25,
    // 2.04; 256: 2.18, 1.88; 512: 2.19, 2.02.
    constexpr bool one_form = Tile::lies == form::fours || Tile::rows == 2;
    if constexpr (!one_form)
        if (o.own[0] != o.both)  // reads words of classes of 64 cells along each axis
            return cuda::launch_overlapped(on, flood_by_offsets<Tile, Turn, false, true>, p.blocks(), p.block, 0, p, o,
                                           from, to, left);
    if (one_form || p.along < 16 * p.step)
        cuda::launch_overlapped(on, flood_by_offsets<Tile, Turn, true>, p.blocks(), p.block, 0, p, o, from, to, left);
    else if constexpr (!one_form)
        cuda::launch_overlapped(on, flood_by_offsets<Tile, Turn, false>, p.blocks(), p.block, 0, p, o, from, to, left);
}

}  // namespace

std::int64_t rounds_by_offsets(const grid& g, const std::vector<std::int64_t>& steps) {
    if (g.size[0] == 1 || g.weight[0] != g.weight[2] || (g.size[1] > 1 && g.weight[1] != g.weight[2])) return 0;
    if (steps.size() < 2 || steps[0] == 1 || bits_of_sites(g) > most_site_bits) return 0;
    std::int64_t rounds = 1;
    while (steps[static_cast<std::size_t>(rounds - 1)] > 1) ++rounds;
    return rounds;
}

std::int64_t most_open_stretches(const grid& g, std::int64_t step, std::int64_t after_classes) {
    if (offsets_of(g, step, after_classes).all_near) return 0;
    return with_tile(g, step, [&]<class Tile>(Tile) -> std::int64_t {
        const plan p = plan_of<Tile>(g, step, {step, g.size[0] + g.size[1] + g.size[2]});
        return p.tiles() * ceiling(p.walk, stretch);
    });
}

bool run_by_offsets(const device& on, const grid& g, std::int64_t step, bool first, std::int64_t after_classes,
                    const std::int32_t* from, std::int32_t* to, const std::int32_t* nothing,
                    const open_stretches& left) {
    offsets o = offsets_of(g, step, after_classes);
    o.nothing = nothing;
    return with_tile(g, step, [&]<class Tile>(Tile) {
        if constexpr (Tile::volume) {
            const plan p = plan_of<Tile>(g, step, {step, g.size[0] + g.size[1] + g.size[2]});
            constexpr bool longest = Tile::lies == form::fours || Tile::rows == 2;
            constexpr bool neighbours = Tile::lies == form::joined && Tile::reach == 1;
            if (first) {
                if constexpr (longest) flood_volume<Tile, turn::first>(on, p, o, from, to, left);
            } else if (step == 1) {
                if constexpr (Tile::reach == 1) flood_volume<Tile, turn::last>(on, p, o, from, to, left);
            } else {
                if constexpr (!neighbours) flood_volume<Tile, turn::between>(on, p, o, from, to, left);
            }
            if (o.all_near) return false;
            const separate_offsets rule{p.in_two, o, p.step, std::countr_zero(static_cast<unsigned>(p.step)),
                                        step == 1};
            cuda::launch_overlapped(on, settle_stretches<Tile>, settling_blocks(), dim3(threads), 0, p, rule, from, to,
                                    left);
            return true;
        }
        return false;
    });
}

}  // namespace nearfield::methods::tiles
