// Selects the host engine for a call.
#include "exact/host.hpp"

#include "base/parallel.hpp"
#include "exact/host/solve.hpp"
#include "exact/host_planes.hpp"

namespace nearfield::exact {

void run_engine(const host& on, const plan& p, const arrays<host>& a) {
    if (suits_planes(p, thread_count(on))) solve_planes(on, p, a);
    else solve_by_lines(on, p, a);
}

}  // namespace nearfield::exact
