// Cells whose ids take 32 bits.
#include "label/gpu/cells/launch.cuh"

namespace nearfield::labelling {

template void run_cells(const device_call<narrow_id>&);

void mark_foreground(const device_call<narrow_id>& call, word* foreground) {
    find_by_cells<narrow_id>(call, {foreground, nullptr, {}, nullptr, 0});
}

}  // namespace nearfield::labelling
