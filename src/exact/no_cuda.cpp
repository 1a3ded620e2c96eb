// Replacement for the device backend in a build without CUDA.
#include "base/no_cuda.hpp"
#include "exact/bounds.hpp"
#include "exact/gpu/route/route.hpp"
#include "exact/partial.hpp"
#include "exact/where.hpp"

namespace nearfield::exact {

void run(const device&, const plan&, const arrays<device>&) { refuse_device(); }
void run(const device&, std::span<const plan>, std::span<const job<device>>) { refuse_device(); }
void run_bounded(const device&, const any_input<device>&, const any_input<device>&, const fields<device>&,
                 const distance_options&) {
    refuse_device();
}
void run_step(const device&, const where_cells&) { refuse_device(); }
std::uint64_t differing_bits(const device&, const where_cells&) { refuse_device(); }
call_plan describe(const device&, const plan&, const arrays<device>&) { refuse_device(); }
call_plan describe(const device&, std::span<const plan>, std::span<const job<device>>) { refuse_device(); }
void solve_partial(const device&, const partial_pass&) { refuse_device(); }

}  // namespace nearfield::exact
