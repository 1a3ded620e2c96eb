#include "cli/device_run.hpp"

namespace nearfield::cli {

device_timing run_on_device(int, const any_input<host>&, const fields<host>&, const distance_options&, int, int) {
    throw error(
        error_code::unsupported,
        "device is cuda, but this program was built without CUDA; use --device cpu, or build with NEARFIELD_CUDA=ON");
}

}  // namespace nearfield::cli
