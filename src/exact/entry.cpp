// The public calls: check, plan, hand over to a backend.
#include "base/check.hpp"
#include "exact/cuda.hpp"
#include "exact/host.hpp"

namespace nearfield {

void distance_transform(const host& on, const any_input<host>& image, const fields<host>& out,
                        const distance_options& options) {
    if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
    const exact::plan p = exact::make_plan(image, out, options);
    if (p.cells > 0) exact::run(on, p, image, out, options.sites);
}

void distance_transform(const device& on, const any_input<device>& image, const fields<device>& out,
                        const distance_options& options) {
    const exact::plan p = exact::make_plan(image, out, options);
    if (p.cells > 0) exact::run(on, p, image, out, options.sites);
}

std::int64_t workspace_bytes(const device& on, const any_input<device>& image, const fields<device>& out,
                             const distance_options& options) {
    const exact::plan p = exact::make_plan(image, out, options);
    return p.cells > 0 ? exact::workspace_bytes(on, p, image, out, options.sites) : 0;
}

}  // namespace nearfield
