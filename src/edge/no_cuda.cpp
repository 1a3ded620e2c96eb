#include "edge/arrays_run.hpp"
#include "edge/device_arrays.hpp"
#include "edge/device_run.hpp"
#include "edge/label_run.hpp"
#include "nearfield/system.hpp"

namespace nearfield::edge {
namespace {

[[noreturn]] void refuse() {
    throw error(error_code::unsupported, "device is cuda, but " + query_system().why_no_device + "; choose the cpu");
}

}  // namespace

device_timing run_on_device(int, const work<host>&, int, int) { refuse(); }
device_timing run_arrays_on_device(int, std::span<const any_input<host>>, std::span<const any_output<host>>,
                                   const device_work&, int, int) {
    refuse();
}
device_timing label_on_device(int, const any_input<host>&, const label_fields<host>&, const label_options&) {
    refuse();
}
device_timing propagate_on_device(int, const any_input<host>&, const any_output<host>&, const label_options&,
                                  const propagation_options&, propagation_report&) {
    refuse();
}

current_device::current_device(int) { refuse(); }
current_device::~current_device() = default;
int device_of(const void*) { refuse(); }
void* own_stream(int) { refuse(); }
void order_after(int, void*, void*) { refuse(); }
void* reserve(int, std::int64_t) { refuse(); }
void release(int, void*) noexcept {}
void read_back(int, void*, void*, const void*, std::int64_t) { refuse(); }
void* mark(int, void*) { refuse(); }
bool has_passed(void*) { return true; }
void forget(void*) noexcept {}
repeated_call::~repeated_call() = default;
void repeated_call::run(int, void*, std::vector<std::uint64_t>, const std::function<void(void*)>&) { refuse(); }

}  // namespace nearfield::edge
