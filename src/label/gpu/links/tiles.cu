// Labels images of any cells by tiles: one kernel for words of links, then five launches shared with other tiles.
#include "label/gpu/links/find.hpp"
#include "label/gpu/links/kept.cuh"
#include "label/gpu/tiles/run.cuh"

namespace nearfield::labelling {

bool linked_tiles_serve(const device_call<narrow_id>& call) {
    return with_valued_tiling(call, [&]<class Tiling>(Tiling) { return fits_tiles<Tiling>(call.grid); });
}

void run_linked_tiles(const device_call<narrow_id>& call) {
    with_valued_tiling(call, [&]<class Tiling>(Tiling) {
        tile_run<Tiling>(call).solve([&](auto& run) {
            constexpr int kinds = kinds_of<Tiling>();
            const std::int64_t words = std::int64_t{tile_place<Tiling>::all(call.grid)} * Tiling::threads;
            cuda::workspace memory(call.on);
            const std::int64_t records = memory.reserve<kept_record>(words);
            const std::int64_t flags = memory.reserve<std::uint16_t>(words);
            const std::int64_t slanted = memory.reserve<word>(words * kinds);
            memory.allocate();
            const link_store links{memory.get<kept_record>(records), memory.get<std::uint16_t>(flags),
                                   memory.get<word>(slanted), static_cast<std::uint32_t>(words)};
            const link_job job{kinds, tile_order::make<Tiling>(call.grid), links};
            if (call.p.options.criterion == criterion::links) start_graph_links(call, job);
            else if (call.p.colour) start_colour_links(call, job);
            else if (has_plain_bytes(call)) start_byte_links(call, job);
            else start_value_links(call, job);
            run.start(unite_kept_tiles<Tiling>, Tiling::threads, links, run.store(), run.fresh());
            run.start(unite_kept_borders<Tiling>, Tiling::threads, links, run.store());
        });
    });
}

}  // namespace nearfield::labelling
