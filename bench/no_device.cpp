#include "bench.hpp"
#include "nearfield/error.hpp"

namespace nearfield::bench {

session measure_device(const request&) {
    throw error(error_code::unsupported, "this build has no CUDA; configure with -DNEARFIELD_CUDA=ON");
}

}  // namespace nearfield::bench
