// What a build without CUDA says when the device is asked for.
#include "components/engine.hpp"

namespace nearfield::components {
namespace {

[[noreturn]] void refuse(const char* call) {
    throw error(error_code::unsupported, std::string("device: this build has no CUDA backend for ") + call +
                                             "(); build with the CUDA toolkit installed, or use host{}");
}

}  // namespace

void measure(const device&, const any_input<device>&, const component_tables<device>&) {
    refuse("component_statistics");
}
void count_lists(const device&, const any_input<device>&, const any_output<device>&, list_of) {
    refuse("label_list_offsets");
}
void fill_lists(const device&, const any_input<device>&, const any_input<device>&, const any_output<device>&, list_of) {
    refuse("label_lists");
}
void renumber(const device&, const any_input<device>&, const any_output<device>&, const any_output<device>&) {
    refuse("relabel");
}
void keep_labelled(const device&, const any_input<device>&, const any_output<device>&, const label_options&) {
    refuse("remove_small");
}
std::int64_t count_of(const device&, const any_input<device>&, const label_options&) { refuse("count_components"); }
std::vector<touch> touching(const device&, const any_input<device>&, const steps3&) { refuse("contacts"); }

}  // namespace nearfield::components
