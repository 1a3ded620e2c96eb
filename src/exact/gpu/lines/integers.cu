#include "exact/gpu/lines/lines.cuh"

namespace nearfield::exact::gpu {

constexpr int least_staged = 128;  // rows that a block stages on any GPU

line_needs needs_of(keys stored, std::int64_t rows, std::int64_t columns) {
    const std::int64_t tiles = blocks_for(columns, cuda::warp), strips = blocks_for(rows, strip);
    line_needs needs;
    if (stored != keys::wide) needs.left = tiles * blocks_for(rows, left_rows);
    if (rows <= least_staged) return needs;
    needs.pivots = tiles * (strips + 1) * cuda::warp, needs.least = tiles * strips * cuda::warp,
    needs.far = tiles * (1 + pivot_blocks(rows));
    return needs;
}

bool searches_near(const line_form& how, const line_pass<std::int32_t>& g) {
    near_plan plan;
    if (how.values) {
        value_plan two;
        return plan_values(how, g, two) || (how.stored == keys::narrow ? plan_near<keys::narrow, false>(g, plan)
                                                                       : plan_near<keys::value, false>(g, plan));
    }
    if ((how.bent && how.by != rule::plain) || how.by == rule::powers || how.stored == keys::wide) return false;
    return how.stored == keys::narrow ? plan_near<keys::narrow, true>(g, plan) : plan_near<keys::word, true>(g, plan);
}

bool solve(const device& on, const line_form& how, const line_pass<std::int32_t>& g) { return solve_pass(on, how, g); }
bool solve(const device& on, const line_form& how, const line_pass<std::int64_t>& g) { return solve_pass(on, how, g); }

}  // namespace nearfield::exact::gpu
