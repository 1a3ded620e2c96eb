// Errors of a build without CUDA if the device is asked for.
#include "base/no_cuda.hpp"
#include "effects/core.hpp"

namespace nearfield::effects {

void shade_all(const device&, const layer_work&) { refuse_device(); }
void mark_all(const device&, const pad_work&) { refuse_device(); }
void fill_all(const device&, const pad_work&) { refuse_device(); }

}  // namespace nearfield::effects
