// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "geodesic/esdf_core.hpp"
#include "geodesic/problem.hpp"
#include "geodesic/transfer.hpp"

namespace nearfield::geodesics {

void send(const device&, void*, const void*, std::int64_t) { refuse_device(); }
void fetch(const device&, void*, const void*, std::int64_t) { refuse_device(); }
void run(const device&, const problem_of<device>&) { refuse_device(); }
void write_fields(const device&, const field_writing&) { refuse_device(); }
void mark_lethal(const device&, const inflating&) { refuse_device(); }
void write_costs(const device&, const inflating&) { refuse_device(); }

}  // namespace nearfield::geodesics
