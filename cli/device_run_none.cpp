#include "cli/device_run.hpp"

namespace nearfield::cli {

device_timing run_on_device(int, const work<host>&, int, int) {
    throw error(
        error_code::unsupported,
        "device is cuda, but this program was built without CUDA; use --device cpu, or build with NEARFIELD_CUDA=ON");
}

}  // namespace nearfield::cli
