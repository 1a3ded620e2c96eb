// Cells whose ids take 64 bits.
#include "label/gpu/cells/launch.cuh"

namespace nearfield::labelling {
template void run_cells(const device_call<wide_id>&);
}  // namespace nearfield::labelling
