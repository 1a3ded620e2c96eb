// Labels images by tiles: five launches.
#include "label/gpu/call.hpp"
#include "label/gpu/tiles/border.cuh"
#include "label/gpu/tiles/pack.cuh"
#include "label/gpu/tiles/run.cuh"
#include "label/gpu/tiles/unite.cuh"

namespace nearfield::labelling {
namespace {

constexpr int run_slots = 16;  // nodes of 32 cells that start at least two cells apart

/// Calls step(tiling) with the tiling for the call. If cells one step apart along any axes are connected, rows share
/// nodes.
template <class Step>
auto with_tiling(const device_call<narrow_id>& call, const Step& step) {
    const int rank = call.p.rank, changes = call.p.changes;
    if (rank == 2 && changes == 2) return step(tiling<bundle<1, 2>, 2, 8, 32, 1, run_slots>{});
    if (rank < 3) return step(tiling<bundle<1, 1>, 4, 8, 32, 1, run_slots>{});
    if (changes == 1) return step(tiling<bundle<1, 1>, 1, 4, 8, 8, run_slots>{});
    if (changes == 2) return step(tiling<bundle<1, 1>, 2, 4, 8, 8, run_slots>{});
    return step(tiling<bundle<2, 2>, 3, 4, 8, 8, run_slots>{});
}

}  // namespace

bool tiles_serve(const device_call<narrow_id>& call) {
    return call.binary() && !call.grid.is_periodic() &&
           with_tiling(call, [&]<class Tiling>(Tiling) { return fits_tiles<Tiling>(call.grid); });
}

void run_tiles(const device_call<narrow_id>& call) {
    with_tiling(call, [&]<class Tiling>(Tiling) {
        tile_run<Tiling>(call).solve([&](auto& run) {
            bit_source from{static_cast<const std::uint8_t*>(call.image.data), nullptr};
            if (!has_plain_bytes(call)) {
                if (has_byte_rows(call))
                    cuda::launch_overlapped(call.on, pack_rows, cuda::blocks_for(call.grid.all_words(), 256), 256, 0,
                                            call.grid, byte_rows_of(call), run.spare_words());
                else mark_foreground(call, run.spare_words());
                from = {nullptr, run.spare_words()};
            }
            run.start(unite_tiles<Tiling>, Tiling::threads, from, run.store(), run.fresh());
            run.start(unite_borders<Tiling>, border_items<Tiling>::threads, run.store());
        });
    });
}

}  // namespace nearfield::labelling
