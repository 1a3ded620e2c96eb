// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "components/engine.hpp"
#include "components/measures.hpp"

namespace nearfield::components {

void measure(const device&, const any_input<device>&, const component_tables<device>&) { refuse_device(); }
void measure(const device&, const any_input<device>&, const table_maker&) { refuse_device(); }
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
void find_touching(const device&, const any_input<device>&, const steps3&, contact_list&) { refuse_device(); }
template <int Axes>
host_scratch<measure_sums<Axes>> measure_sums_of(const device&, const any_input<device>&, std::int64_t) {
    refuse_device();
}
template host_scratch<measure_sums<2>> measure_sums_of(const device&, const any_input<device>&, std::int64_t);
template host_scratch<measure_sums<3>> measure_sums_of(const device&, const any_input<device>&, std::int64_t);
outlines outlines_of(const device&, const any_input<device>&, std::int64_t) { refuse_device(); }

}  // namespace nearfield::components
