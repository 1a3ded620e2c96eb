// Labels images of values of at most 32 bits by tiles; others go cell by cell.
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

template <class Source>
void run_values(const device_call<narrow_id>& call, const Source& from) {
    with_tiling(call, [&]<class Tiling>(Tiling) {
        tile_run<Tiling>(call).solve([&](auto& run) {
            run.start(unite_valued_tiles<Tiling, Source>, Tiling::threads, from, run.store(), run.states(),
                      run.state_count());
            run.start(unite_valued_borders<Tiling, Source>, Tiling::threads, from, run.store());
        });
    });
}

template <class Bits, class T>
void run_keys(const device_call<narrow_id>& call) {
    const cell_source<T> cells = source_of<T>(call);
    key_source<Bits> from = keys_of<Bits>(cells.data, cells.at, cells.decide);
    from.plain = has_plain_bytes(call) && from.flip == 0;
    run_values(call, from);
}

}  // namespace

bool valued_tiles_serve(const device_call<narrow_id>& call) {
    if (call.binary() || call.p.colour || call.grid.wraps[0] || call.grid.wraps[1] || call.grid.wraps[2]) return false;
    return size_of(call.image.type) <= 4;
}

void run_valued_tiles(const device_call<narrow_id>& call) {
    switch (call.image.type) {
        case dtype::int8: return run_keys<std::uint8_t, std::int8_t>(call);
        case dtype::int16: return run_keys<std::uint16_t, std::int16_t>(call);
        case dtype::uint16: return run_keys<std::uint16_t, std::uint16_t>(call);
        case dtype::int32: return run_keys<std::uint32_t, std::int32_t>(call);
        case dtype::uint32: return run_keys<std::uint32_t, std::uint32_t>(call);
        case dtype::float32:
            if (call.p.options.criterion == criterion::within)
                return run_values(call, float_source{source_of<float>(call)});
            return run_keys<std::uint32_t, float>(call);
        default: return run_keys<std::uint8_t, std::uint8_t>(call);
    }
}

}  // namespace nearfield::labelling
