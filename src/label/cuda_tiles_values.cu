// Labels images of values by tiles, for the element types that images mostly have; others go cell by cell.
#include "label/cuda_cells_launch.cuh"
#include "label/cuda_tile_run.cuh"
#include "label/cuda_tile_values.cuh"

namespace nearfield::labelling {
namespace {

template <class Step>
void with_tiling(const device_call<narrow_id>& call, const Step& step) {
    const int rank = call.p.rank, changes = call.p.changes;
    constexpr int slots = word_cells;
    if (rank < 3 && changes == 1) return step(tiling<bundle<1, 1>, 4, 4, 32, 1, slots>{});
    if (rank < 3) return step(tiling<bundle<1, 1>, 8, 4, 32, 1, slots>{});
    if (changes == 1) return step(tiling<bundle<1, 1>, 1, 2, 8, 8, slots>{});
    if (changes == 2) return step(tiling<bundle<1, 1>, 2, 2, 8, 8, slots>{});
    return step(tiling<bundle<1, 1>, 3, 2, 8, 8, slots>{});
}

template <class T>
void run_values(const device_call<narrow_id>& call) {
    const cell_source<T> from = source_of<T>(call);
    with_tiling(call, [&]<class Tiling>(Tiling) {
        tile_run<Tiling>(call).solve([&](auto& run) {
            run.start(unite_valued_tiles<Tiling, T>, Tiling::threads, from, run.store(), run.states(),
                      run.state_count());
            run.start(unite_valued_borders<Tiling, T>, Tiling::threads, from, run.store(), backward_of(call));
        });
    });
}

}  // namespace

bool valued_tiles_serve(const device_call<narrow_id>& call) {
    if (call.binary() || call.p.colour || call.grid.wraps[0] || call.grid.wraps[1] || call.grid.wraps[2]) return false;
    switch (call.image.type) {
        case dtype::boolean:
        case dtype::uint8:
        case dtype::uint16:
        case dtype::int32:
        case dtype::float32: return true;
        default: return false;
    }
}

void run_valued_tiles(const device_call<narrow_id>& call) {
    switch (call.image.type) {
        case dtype::uint16: return run_values<std::uint16_t>(call);
        case dtype::int32: return run_values<std::int32_t>(call);
        case dtype::float32: return run_values<float>(call);
        default: return run_values<std::uint8_t>(call);
    }
}

}  // namespace nearfield::labelling
