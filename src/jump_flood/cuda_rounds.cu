// Owns the memory of a call's rounds: the lists of tiles and stretches that each round leaves unresolved.
#include <algorithm>

#include "jump_flood/cuda_plan.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods {

using namespace tiles;

// Over 40 lines because it counts the memory of all rounds before it allocates any.
tiled_rounds::tiled_rounds(const device& on, const grid& g, const std::vector<std::int64_t>& steps, sites_held held,
                           bool fresh)
    : on_(on), g_(g), memory_(on), held_(held) {
    const travelled at_first = fresh ? travelled{anywhere, 0} : travelled{1, anywhere};
    so_far_ = at_first;
    if (held != sites_held::drawn) by_offsets_ = rounds_by_offsets(g, steps);
    if (held == sites_held::one) by_classes_ = rounds_by_classes(g, steps);
    std::int64_t most = 0, most_stretches = 0;
    for (std::int64_t round = 0; round < std::ssize(steps); ++round) {
        const std::int64_t step = steps[static_cast<std::size_t>(round)];
        const travelled now = travel(step);
        if (round < by_offsets_) {
            if (round < by_classes_) continue;
            most_stretches =
                std::max(most_stretches, held == sites_held::two ? most_open_pair_stretches(g, step)
                                                                 : most_open_stretches(g, step, after_classes(round)));
            continue;
        }
        const auto count = [&]<class Tile>(Tile) {
            const plan p = plan_of<Tile>(g, step, now, held == sites_held::two);
            if (may_leave_some(p)) most = std::max(most, p.tiles());
        };
        if (held == sites_held::two) with_pair_tile(g, step, count);
        else with_tile(g, step, count);
    }
    so_far_ = at_first;
    const std::int64_t row = by_offsets_ > 0 && held == sites_held::one ? g.size[2] : 0,
                       rounds = most + most_stretches > 0 ? std::ssize(steps) : 0;
    if (row + rounds == 0) return;
    const std::int64_t tiles = memory_.reserve<std::int64_t>(most),
                       stretches = memory_.reserve<std::uint32_t>(most_stretches),
                       counts = memory_.reserve<std::uint32_t>(rounds), nothing = memory_.reserve<Key>(row);
    memory_.allocate();
    left_ = {rounds > 0 ? memory_.get<std::uint32_t>(counts) : nullptr, memory_.get<std::int64_t>(tiles)};
    stretches_.first = memory_.get<std::uint32_t>(stretches);
    nothing_ = memory_.get<Key>(nothing);
    counts_ = rounds;
    if (by_classes_ > 0) return;
    const auto set = [&](void* to, int byte, std::int64_t words) {
        cuda::check(cudaMemsetAsync(to, byte, static_cast<std::size_t>(words) * 4, cuda::stream_of(on)),
                    "preparing rounds of jump flooding");
    };
    if (rounds > 0) set(left_.count, 0, rounds);
    if (row > 0) set(nothing_, 0xff, row);
}

}  // namespace nearfield::methods
