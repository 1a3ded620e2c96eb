// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "geodesic/esdf_core.hpp"
#include "geodesic/path_fields.hpp"
#include "geodesic/problem.hpp"

namespace nearfield::geodesics {

std::unique_ptr<path_fields> fields_of(const device&, const any_input<device>&) { refuse_device(); }
std::unique_ptr<path_fields> kept_fields_of(const device&, const any_input<device>&) { refuse_device(); }
void run(const device&, const problem_of<device>&) { refuse_device(); }
void write_fields(const device&, const field_writing&) { refuse_device(); }
void mark_lethal(const device&, const inflating&) { refuse_device(); }
void write_costs(const device&, const inflating&) { refuse_device(); }

}  // namespace nearfield::geodesics
