// What a build without CUDA says when the device is asked for.
#include "base/no_cuda.hpp"
#include "label/gpu/run.hpp"

namespace nearfield::labelling {

void run(const device&, const problem&, const any_input<device>&, const label_fields<device>&) { refuse_device(); }

}  // namespace nearfield::labelling
