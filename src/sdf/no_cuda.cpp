// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "sdf/core.hpp"

namespace nearfield::signed_field {

void trace_outline(const device&, const work&) { refuse_device(); }
void find_corners(const device&, const work&) { refuse_device(); }
void touch_corners(const device&, const work&) { refuse_device(); }
void write_pixels(const device&, const work&) { refuse_device(); }

}  // namespace nearfield::signed_field
