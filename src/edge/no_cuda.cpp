#include "base/no_cuda.hpp"
#include "edge/arrays_run.hpp"
#include "edge/device_arrays.hpp"
#include "edge/device_run.hpp"
#include "edge/label_run.hpp"

namespace nearfield::edge {

device_timing run_on_device(int, const work<host>&, int, int) { refuse_device(); }
device_timing run_arrays_on_device(int, std::span<const any_input<host>>, std::span<const any_output<host>>,
                                   const device_work&, int, int) {
    refuse_device();
}
device_timing label_on_device(int, const any_input<host>&, const label_fields<host>&, const label_options&) {
    refuse_device();
}
device_timing propagate_on_device(int, const any_input<host>&, const any_output<host>&, const label_options&,
                                  const propagation_options&, propagation_report&) {
    refuse_device();
}

current_device::current_device(int) { refuse_device(); }
current_device::~current_device() = default;
int device_of(const void*) { refuse_device(); }
void* own_stream(int) { refuse_device(); }
void order_after(int, void*, void*) { refuse_device(); }
void* reserve(int, std::int64_t) { refuse_device(); }
void release(int, void*) noexcept {}
void read_back(int, void*, void*, const void*, std::int64_t) { refuse_device(); }
void* mark(int, void*) { refuse_device(); }
bool has_passed(void*) { return true; }
void forget(void*) noexcept {}

}  // namespace nearfield::edge
