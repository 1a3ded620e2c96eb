// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "methods/problem.hpp"

namespace nearfield::methods {

void run(const device&, const method&, const problem&, const any_input<device>&, const fields<device>&,
         method_report&) {
    refuse_device();
}
void run_exact(const device&, const any_input<device>&, const fields<device>&, const distance_options&,
               method_report&) {
    refuse_device();
}

}  // namespace nearfield::methods
