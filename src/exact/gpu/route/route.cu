#include "exact/gpu/route/route.hpp"

#include <algorithm>
#include <array>

#include "base/cuda.cuh"
#include "exact/fit.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/lines/few.hpp"
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/route/detour.hpp"
#include "exact/gpu/route/trace.hpp"

namespace nearfield::exact {
namespace {

std::int64_t pass_on(const plain_call& call) {
    if (!call.measure_only && is_small(call.p, call.image.type))
        gpu::trace::note(call.on, gpu::rung::small, blocks_for(call.p.cells, 1024));
    return call_plainly(call);
}

/// True if words serve a call: those of sites yield indices only; the kernel for small grids yields any field. Tiles of
/// distances are for lines of many rows: three planes of 4096^2 take 5.7 ms with them.
bool uses_words(const plan& p, const any_input<device>& image, const fields<device>& out) {
    constexpr std::int64_t few_rows = 16;
    const bool more = out.distance.wanted() || out.squared.wanted() || out.coordinates.wanted();
    if (!serves_plainly(p) || !is_contiguous(p.size.data(), p.image_stride.data(), p.rank) ||
        !has_contiguous_fields(p, item_for(p, image, out)))
        return false;
    if (is_small(p, image.type)) return true;
    if (p.sites_wanted) return !more;
    return std::all_of(p.size.begin() + p.first_axis, p.size.begin() + p.rank - 1,
                       [](std::int64_t rows) { return rows > few_rows; });
}

/// Returns the detour of a call, or null.
std::unique_ptr<gpu::detour> detour_for(const device& on, const plan& p, const arrays<device>& a) {
    for (const auto make : {gpu::fields_by_index, gpu::both_sides, gpu::faces_by_corners})
        if (auto way = make(on, p, a)) return way;
    return nullptr;
}

/// Returns the bytes of workspace and, for a call with options, the passes.
std::int64_t measure(const device& on, const plan& p, const arrays<device>& a, call_plan& passes) {
    if (const auto way = detour_for(on, p, a)) {
        const gpu::detour::search& first = way->searches().front();
        return way->workspace_bytes() + pass_on({on, first.p, a.image, first.out, true, way->few_out()});
    }
    if (uses_words(p, a.image, a.out)) return pass_on({on, p, a.image, a.out, true});
    const std::array<item, 1> only{item_for(p, a.image, a.out)};
    return with_options({on, p, a.image, a.out, a.weights, only, &passes});
}

/// Adds the passes of the engine without options; `few`: the rung for few sites writes the fields of a detour.
void describe_plain(const plan& p, dtype image, bool few, call_plan& to) {
    const int last = p.rank - 1;
    const auto source = [&](int axis) { return p.source_axis[static_cast<std::size_t>(axis)]; };
    const auto size = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    if (is_small(p, image)) {
        const std::int64_t images = p.cells / cells_between(p.size.data(), p.first_axis, p.rank);
        to.passes.push_back({source(last), gpu::row_of(gpu::rung::small).method,
                             images * whole_clusters(p) * whole_blocks, size(last), 4});
        return;
    }
    if (few || (last - p.first_axis == 2 && gpu::tries_few_plainly(p)))
        to.passes.push_back({-1, std::string(gpu::row_of(gpu::rung::few).method) + ", else",
                             blocks_for(p.cells, gpu::few_box_cells), gpu::few_box_cells, 1});
    constexpr std::int64_t stretch = 1024;
    to.passes.push_back({source(last), gpu::row_of(gpu::rung::words).method,
                         p.cells / size(last) * blocks_for(size(last), stretch), std::min(stretch, size(last)), 1});
    for (int axis = last - 1; axis >= p.first_axis; --axis) {
        pass g;
        g.axis = axis, g.rows = size(axis), g.columns = p.cells / g.rows;
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        if (axis == p.first_axis && lines_finish(p)) {
            to.passes.push_back(
                {source(axis),
                 std::string(gpu::row_of(gpu::rung::values).method) + ", else " + gpu::row_of(gpu::rung::strips).method,
                 groups, g.rows, cuda::warp});
        } else if (site_words_fit(p)) {
            to.passes.push_back({source(axis), "strips of sites in registers, else winners at pivot rows or hulls",
                                 groups, g.rows, cuda::warp});
        } else {
            to.passes.push_back(
                {source(axis), "tiles in 16 bits, else winners at pivot rows", groups, g.rows, cuda::warp});
        }
    }
}

/// Throws the workspace error with advice on what would fit.
[[noreturn]] void fail_with_fit(const error& problem, const device& on, const plan& p, const arrays<device>& a) {
    std::size_t free_bytes = 0, total = 0;
    cuda::check(cudaMemGetInfo(&free_bytes, &total), "asking for the free memory");
    const std::string fits = what_fits(p, static_cast<std::int64_t>(free_bytes), [&](const plan& smaller) {
        call_plan unused;
        return measure(on, smaller, a, unused);
    });
    throw error(problem.code(), problem.what() + fits, problem.where());
}

}  // namespace

void run(const device& on, const plan& p, const arrays<device>& a) {
    const cuda::device_guard current(on);
    const gpu::traced_call traced(on, p.size.data(), p.rank);
    try {
        if (const auto way = detour_for(on, p, a)) {
            way->begin();
            for (const gpu::detour::search& each : way->searches())
                static_cast<void>(pass_on({on, each.p, a.image, each.out, false, way->few_out(), way->counters()}));
            return way->put();
        }
        if (uses_words(p, a.image, a.out)) {
            static_cast<void>(pass_on({on, p, a.image, a.out, false}));
            return;
        }
        const std::array<item, 1> only{item_for(p, a.image, a.out)};
        static_cast<void>(with_options({on, p, a.image, a.out, a.weights, only}));
    } catch (const error& problem) {
        if (problem.code() != error_code::out_of_memory) throw;
        fail_with_fit(problem, on, p, a);
    }
}

void run(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs) {
    const cuda::device_guard current(on);
    run_list(on, plans, jobs);
}

call_plan describe(const device& on, const plan& p, const arrays<device>& a) {
    call_plan to;
    to.place = "device";
    to.numbers = p.numbers == tier::int32 ? "int32" : p.numbers == tier::int64 ? "int64" : "float64";
    if (p.cells == 0) return to;
    // A field can lend its memory if its pointer is set; those of a plan may be null. It is not dereferenced.
    fields<device> out = a.out;
    static std::byte somewhere;
    for (any_output<device>* field :
         {&out.distance, &out.squared, &out.index, &out.coordinates, &out.label, &out.trusted})
        if (field->wanted() && field->data == nullptr) field->data = &somewhere;
    const arrays<device> placed{a.image, out, a.weights};
    to.workspace_bytes = measure(on, p, placed, to);
    if (const auto way = detour_for(on, p, placed)) {
        for (const gpu::detour::search& each : way->searches())
            describe_plain(each.p, a.image.type, way->few_out() != nullptr, to);
        to.passes.push_back({-1, way->method(), blocks_for(p.cells, 1024), 1024, 1});
    } else if (uses_words(p, a.image, out)) {
        describe_plain(p, a.image.type, false, to);
    }
    return to;
}

}  // namespace nearfield::exact
