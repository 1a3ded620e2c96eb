// What a build without CUDA says when the device is asked for.
#include "base/no_cuda.hpp"
#include "components/engine.hpp"

namespace nearfield::components {

void measure(const device&, const any_input<device>&, const component_tables<device>&) { refuse_device(); }
void count_lists(const device&, const any_input<device>&, const any_output<device>&, list_of) { refuse_device(); }
void fill_lists(const device&, const any_input<device>&, const any_input<device>&, const any_output<device>&, list_of) {
    refuse_device();
}
void renumber(const device&, const any_input<device>&, const any_output<device>&, const any_output<device>&) {
    refuse_device();
}
void keep_labelled(const device&, const any_input<device>&, const any_output<device>&, const label_options&) {
    refuse_device();
}
std::int64_t count_of(const device&, const any_input<device>&, const label_options&) { refuse_device(); }
std::vector<touch> touching(const device&, const any_input<device>&, const steps3&) { refuse_device(); }

}  // namespace nearfield::components
