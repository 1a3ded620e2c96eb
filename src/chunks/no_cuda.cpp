// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "chunks/core.hpp"

namespace nearfield::chunks {

bool every_cell_has_site(const device&, const any_input<device>&) { refuse_device(); }
void find_first(const device&, const any_input<device>&, std::span<std::int64_t>) { refuse_device(); }
void gather(const device&, std::span<const any_input<device>>, std::span<std::int64_t>) { refuse_device(); }
void renumber(const device&, const any_input<device>&, std::span<const std::int64_t>, const any_output<device>&) {
    refuse_device();
}

}  // namespace nearfield::chunks
