// The public calls: they check arguments, plan, and start a backend.
#include "nearfield/plan.hpp"  // before base/rehearsal.hpp, whose declaration of call_plan would hide call_plan::text

#include <fmt/format.h>

#include <vector>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/memory.hpp"
#include "base/rehearsal.hpp"
#include "exact/bounds.hpp"
#include "exact/gpu/route/route.hpp"
#include "exact/host.hpp"
#include "exact/types.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield {
namespace {

void check_place(const host& on) {
    if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
}
void check_place(const device&) {}

/// Adds the sizes of a call's arrays to an engine's plan.
template <class Place>
void count_arrays(const any_input<Place>& image, const fields<Place>& out, call_plan& to) {
    to.cells += image.cells();
    to.input_bytes += image.cells() * size_of(image.type);
    for (const any_output<Place>* field :
         {&out.distance, &out.squared, &out.index, &out.coordinates, &out.label, &out.trusted})
        if (field->wanted()) to.output_bytes += field->cells() * size_of(field->type);
}

template <class Place>
call_plan plan_of(const Place& on, const exact::plan& p, const exact::arrays<Place>& a) {
    check_place(on);
    call_plan what = exact::describe(on, p, a);
    count_arrays(a.image, a.out, what);
    if (a.weights != nullptr) what.input_bytes += a.weights->cells() * size_of(a.weights->type);
    return what;
}

/// Runs a call, or records its plan during a rehearsal.
template <class Place>
void run_or_tell(const Place& on, const exact::plan& p, const exact::arrays<Place>& a) {
    if (p.cells == 0) return;
    if (rehearsal* const now = rehearsing()) return now->note_part(plan_of(on, p, a));
    exact::run(on, p, a);
}

template <class Place>
void solve(const Place& on, const any_input<Place>& image, const fields<Place>& out, const distance_options& options) {
    check_place(on);
    run_or_tell(on, exact::make_plan(image, out, {options}), {image, out});
}

/// Plans all jobs, which differ in sizes only; checks them before the first one starts.
template <class Place>
std::vector<exact::plan> plans_of(std::span<const job<Place>> jobs, const distance_options& options, bool reads_data) {
    std::vector<exact::plan> plans;
    const auto alike = [](const any_output<Place>& a, const any_output<Place>& b) {
        return a.wanted() == b.wanted() && (!a.wanted() || a.type == b.type);
    };
    for (std::size_t k = 0; k < jobs.size(); ++k) {
        const auto& [image, out] = jobs[k];
        const auto& [first_image, first] = jobs[0];
        if (image.rank != first_image.rank || image.type != first_image.type || !alike(out.distance, first.distance) ||
            !alike(out.squared, first.squared) || !alike(out.index, first.index) ||
            !alike(out.coordinates, first.coordinates) || !alike(out.label, first.label) ||
            !alike(out.trusted, first.trusted))
            fail(fmt::format(
                "jobs[{}] differs from jobs[0] in its number of axes, an element type or the fields it wants; "
                "give each kind a call of its own",
                k));
        try {
            plans.push_back(exact::make_plan(image, out, {.options = options, .reads_data = reads_data}));
        } catch (const error& problem) {
            throw error(problem.code(), fmt::format("jobs[{}]: {}", k, problem.what()), problem.where());
        }
    }
    return plans;
}

template <class Place>
void solve_all(const Place& on, std::span<const job<Place>> jobs, const distance_options& options) {
    check_place(on);
    const std::vector<exact::plan> plans = plans_of(jobs, options, true);
    if (rehearsal* const now = rehearsing()) now->note_part(exact::describe(on, plans, jobs));
    else if (!jobs.empty()) exact::run(on, plans, jobs);
}

/// Checks the requirements on weights; make_plan checks the rest.
template <class Place>
exact::plan plan_weighted(const any_input<Place>& seeds, const any_input<Place>& weights, const fields<Place>& out,
                          const distance_options& options, bool reads_data) {
    distance_options with_seeds = options;
    if (with_seeds.sites != sites::other_labels) with_seeds.sites = sites::nonzero;
    const exact::plan p = exact::make_plan(
        seeds, out, {.options = with_seeds, .reads_data = reads_data, .weighted = true, .weight_type = weights.type});
    if (!weights.wanted()) fail("weights has no axes; give an array of the seeds' shape");
    check_same_shape<Place>("weights", weights, seeds);
    if (!reads_data) return p;
    exact::check_memory("weights", weights, out);
    return p;
}

template <class Place>
void solve_weighted(const Place& on, const any_input<Place>& seeds, const any_input<Place>& weights,
                    const fields<Place>& out, const distance_options& options) {
    check_place(on);
    run_or_tell(on, plan_weighted(seeds, weights, out, options, true), {seeds, out, &weights});
}

template <class Place>
void solve_bounded(const Place& on, const any_input<Place>& image, const any_input<Place>& bounds,
                   const fields<Place>& out, const distance_options& options) {
    check_place(on);
    const exact::plan p = exact::make_plan(image, out, {options});
    if (!bounds.wanted()) fail("bounds has no axes; give an array of the image's shape");
    check_same_shape<Place>("bounds", bounds, image);
    check_type("bounds", bounds.type, {dtype::float32, dtype::float64});
    if (out.trusted.wanted()) fail("out.trusted does not go with a bound for each cell; leave one of them out");
    exact::check_memory("bounds", bounds, out);
    if (p.cells > 0) exact::run_bounded(on, image, bounds, out, options);
}

template <class Place>
call_plan plan_of_all(const Place& on, std::span<const job<Place>> jobs, const distance_options& options) {
    check_place(on);
    call_plan what = exact::describe(on, plans_of(jobs, options, false), jobs);
    for (const job<Place>& each : jobs) count_arrays(each.image, each.out, what);
    return what;
}

}  // namespace

void distance_transform(const host& on, const any_input<host>& image, const fields<host>& out,
                        const distance_options& options) {
    in_call([&] { solve(on, image, out, options); });
}
void distance_transform(const device& on, const any_input<device>& image, const fields<device>& out,
                        const distance_options& options) {
    in_call([&] { solve(on, image, out, options); });
}

void distance_transform(const host& on, std::span<const job<host>> jobs, const distance_options& options) {
    in_call([&] { solve_all(on, jobs, options); });
}
void distance_transform(const device& on, std::span<const job<device>> jobs, const distance_options& options) {
    in_call([&] { solve_all(on, jobs, options); });
}

void power_diagram(const host& on, const any_input<host>& seeds, const any_input<host>& weights,
                   const fields<host>& out, const distance_options& options) {
    in_call([&] { solve_weighted(on, seeds, weights, out, options); });
}
void power_diagram(const device& on, const any_input<device>& seeds, const any_input<device>& weights,
                   const fields<device>& out, const distance_options& options) {
    in_call([&] { solve_weighted(on, seeds, weights, out, options); });
}

void bounded_distance_transform(const host& on, const any_input<host>& image, const any_input<host>& bounds,
                                const fields<host>& out, const distance_options& options) {
    in_call([&] { solve_bounded(on, image, bounds, out, options); });
}
void bounded_distance_transform(const device& on, const any_input<device>& image, const any_input<device>& bounds,
                                const fields<device>& out, const distance_options& options) {
    in_call([&] { solve_bounded(on, image, bounds, out, options); });
}

call_plan plan(const host& on, const any_input<host>& image, const fields<host>& out, const distance_options& options) {
    return in_call([&] {
        return plan_of(on, exact::make_plan(image, out, {.options = options, .reads_data = false}),
                       exact::arrays<host>{image, out});
    });
}
call_plan plan(const device& on, const any_input<device>& image, const fields<device>& out,
               const distance_options& options) {
    return in_call([&] {
        return plan_of(on, exact::make_plan(image, out, {.options = options, .reads_data = false}),
                       exact::arrays<device>{image, out});
    });
}

call_plan plan(const host& on, std::span<const job<host>> jobs, const distance_options& options) {
    return in_call([&] { return plan_of_all(on, jobs, options); });
}
call_plan plan(const device& on, std::span<const job<device>> jobs, const distance_options& options) {
    return in_call([&] { return plan_of_all(on, jobs, options); });
}

call_plan plan_power_diagram(const host& on, const any_input<host>& seeds, const any_input<host>& weights,
                             const fields<host>& out, const distance_options& options) {
    return in_call([&] {
        return plan_of(on, plan_weighted(seeds, weights, out, options, false),
                       exact::arrays<host>{seeds, out, &weights});
    });
}
call_plan plan_power_diagram(const device& on, const any_input<device>& seeds, const any_input<device>& weights,
                             const fields<device>& out, const distance_options& options) {
    return in_call([&] {
        return plan_of(on, plan_weighted(seeds, weights, out, options, false),
                       exact::arrays<device>{seeds, out, &weights});
    });
}

call_plan plan(const std::function<void()>& calls) {
    rehearsal now;
    calls();
    return now.told();
}
bool planning() noexcept { return rehearsing() != nullptr; }

std::string call_plan::text() const {
    std::string all = fmt::format("{}{}{}: {} cells, input {}, output {}, workspace {}\n", place,
                                  numbers.empty() ? "" : fmt::format(", {} numbers", numbers),
                                  threads > 0 ? fmt::format(", {} threads", threads) : "", cells,
                                  bytes_text(input_bytes), bytes_text(output_bytes), bytes_text(workspace_bytes));
    for (const pass_plan& pass : passes) {
        if (pass.axis < 0 && pass.tiles == 0) all += fmt::format("  {:<7} {}\n", "all", pass.method);
        else
            all += fmt::format("  {:<7} {:<54} {} tiles of {}x{}\n",
                               pass.axis < 0 ? "all" : fmt::format("axis {}", pass.axis), pass.method, pass.tiles,
                               pass.tile_rows, pass.tile_columns);
    }
    return all;
}

}  // namespace nearfield
