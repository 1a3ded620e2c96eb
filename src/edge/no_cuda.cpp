#include "edge/device_arrays.hpp"
#include "edge/device_run.hpp"

namespace nearfield::edge {
namespace {

[[noreturn]] void refuse() {
    throw error(error_code::unsupported,
                "device is cuda, but this build has no CUDA; choose the cpu, or build with NEARFIELD_CUDA=ON");
}

}  // namespace

device_timing run_on_device(int, const work<host>&, int, int) { refuse(); }

current_device::current_device(int) { refuse(); }
current_device::~current_device() = default;
int device_of(const void*) { refuse(); }
void* own_stream(int) { refuse(); }
void order_after(int, void*, void*) { refuse(); }
void* reserve(int, std::int64_t) { refuse(); }
void release(int, void*) noexcept {}
void* mark(int, void*) { refuse(); }
bool has_passed(void*) { return true; }
void forget(void*) noexcept {}

}  // namespace nearfield::edge
