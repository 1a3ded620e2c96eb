// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "split/room.hpp"

namespace nearfield::splitting {

double largest_of(const device&, const any_output<device>&) { refuse_device(); }
std::int64_t read(const device&, const any_output<device>&) { refuse_device(); }
void shrink(const device&, const any_output<device>&, std::int64_t) { refuse_device(); }
void keep_large(const device&, const any_output<device>&, const any_output<device>&, std::int64_t, std::int64_t) {
    refuse_device();
}

}  // namespace nearfield::splitting
