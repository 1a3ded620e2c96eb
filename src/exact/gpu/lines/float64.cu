#include "exact/gpu/lines/lines.cuh"

namespace nearfield::exact::gpu {

bool searches_near(const line_form& how, const line_pass<double>& g) {
    near_plan plan;
    if (how.values) return plan_near<keys::narrow, false>(g, plan);
    if (how.stored == keys::row)
        return how.whole && (!how.bent || how.by == rule::plain) && plan_near<keys::row, true>(g, plan);
    return how.whole && !how.bent && plan_near<keys::narrow, true>(g, plan);
}

bool solve(const device& on, const line_form& how, const line_pass<double>& g) { return solve_pass(on, how, g); }

}  // namespace nearfield::exact::gpu
