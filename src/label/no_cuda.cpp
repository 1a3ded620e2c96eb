// Replacement for the device backend in a build without CUDA.
#include "base/no_cuda.hpp"
#include "label/gpu/run.hpp"

namespace nearfield::labelling {

void run(const device&, const problem&, const any_input<device>&, const label_fields<device>&) { refuse_device(); }

}  // namespace nearfield::labelling
