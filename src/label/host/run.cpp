#include "label/host/run.hpp"

#include "label/host/cells.hpp"
#include "label/host/runs.hpp"
#include "label/host/turned.hpp"

namespace nearfield::labelling {

void run(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out) {
    if (!run_turned(on, p, image, out) && !run_by_runs(on, p, image, out)) run_by_cells(on, p, image, out);
}

}  // namespace nearfield::labelling
