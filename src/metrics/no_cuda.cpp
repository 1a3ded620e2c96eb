// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "metrics/core.hpp"

namespace nearfield::metrics {

std::vector<std::int64_t> values_of(const device&, const any_input<device>&, const any_input<device>&) {
    refuse_device();
}
void encode(const device&, const problem&, const coding&, const any_input<device>&, const any_input<device>&, void*) {
    refuse_device();
}
std::vector<tally> count(const device&, const problem&, const coded&) { refuse_device(); }
void mark(const device&, const problem&, const weights&, const coded&, group&) { refuse_device(); }
std::vector<std::uint8_t> list_near(const device&, const problem&, const coded&, const group&) { refuse_device(); }
void fill_mask(const device&, const group&, int) { refuse_device(); }
void look_up(const device&, dtype, const group&, int) { refuse_device(); }
std::vector<side_sums> sum(const device&, const problem&, const weights&, const group&,
                           const std::vector<wanted_ranks>&) {
    refuse_device();
}

}  // namespace nearfield::metrics
