// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "fill/core.hpp"

namespace nearfield::fill {

void gather(const device&, const gathering&) { refuse_device(); }
void mark(const device&, const marking&) { refuse_device(); }
void run(const device&, const offer&) { refuse_device(); }
void read(const device&, const cells_at&, std::int64_t, std::int64_t*) { refuse_device(); }

}  // namespace nearfield::fill
