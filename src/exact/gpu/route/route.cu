#include "exact/gpu/route/route.hpp"

#include <algorithm>
#include <array>

#include "base/cuda.cuh"
#include "exact/fit.hpp"
#include "exact/gpu/epilogue/by_index.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/route/faces.hpp"
#include "exact/gpu/route/sides.hpp"
#include "exact/gpu/route/trace.hpp"

namespace nearfield::exact {
namespace {

std::int64_t pass_on(const plain_call& call) {
    if (!call.measure_only)
        gpu::trace::note(call.on, is_small(call.p, call.image.type) ? gpu::rung::small : gpu::rung::words,
                         blocks_for(call.p.cells, 1024));
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

/// True if the fields of a call are made from indices that the engine without options finds.
bool uses_indices(const gpu::fields_by_index& several) { return several.serve() && serves_plainly(several.sites()); }

/// Returns the bytes of workspace and, for a call with options, the passes.
std::int64_t measure(const device& on, const plan& p, const arrays<device>& a, call_plan& passes) {
    const gpu::fields_by_index several(on, p, a);
    if (uses_indices(several))
        return several.workspace_bytes() + pass_on({on, several.sites(), a.image, several.out(), p.rule, true});
    if (const gpu::both_sides sides(on, p, a); sides.serve())
        return sides.workspace_bytes() + pass_on({on, sides.of(0), a.image, sides.out(0), sides.of(0).rule, true});
    if (const gpu::face_search faces(on, p, a); faces.serve())
        return faces.workspace_bytes() + pass_on({on, faces.corners(), a.image, faces.out(), sites::nonzero, true});
    if (uses_words(p, a.image, a.out)) return pass_on({on, p, a.image, a.out, p.rule, true});
    const std::array<item, 1> only{item_for(p, a.image, a.out)};
    return with_options({on, p, a.image, a.out, a.weights, only, &passes});
}

/// Adds the passes of the engine without options.
void describe_plain(const plan& p, dtype image, call_plan& to) {
    const int last = p.rank - 1;
    const auto source = [&](int axis) { return p.source_axis[static_cast<std::size_t>(axis)]; };
    const auto size = [&](int axis) { return p.size[static_cast<std::size_t>(axis)]; };
    if (is_small(p, image)) {
        const std::int64_t images = p.cells / cells_between(p.size.data(), p.first_axis, p.rank);
        to.passes.push_back({source(last), gpu::row_of(gpu::rung::small).method,
                             images * whole_clusters(p) * whole_blocks, size(last), 4});
        return;
    }
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
        } else if (words_fit(p) && axis == last - 1) {
            to.passes.push_back({source(axis), "tiles in 16 bits, else rows with sites, one after another", groups,
                                 g.rows, cuda::warp});
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
        gpu::fields_by_index several(on, p, a);
        if (uses_indices(several)) {
            several.begin();
            static_cast<void>(pass_on({on, several.sites(), a.image, several.out(), p.rule, false}));
            return several.put();
        }
        if (gpu::both_sides sides(on, p, a); sides.serve()) {
            sides.begin();
            for (const std::size_t side : {0, 1})
                static_cast<void>(pass_on({on, sides.of(side), a.image, sides.out(side), sides.of(side).rule, false}));
            return sides.join();
        }
        if (gpu::face_search faces(on, p, a); faces.serve()) {
            faces.begin();
            static_cast<void>(pass_on({on, faces.corners(), a.image, faces.out(), sites::nonzero, false}));
            return faces.put();
        }
        if (uses_words(p, a.image, a.out)) {
            static_cast<void>(pass_on({on, p, a.image, a.out, p.rule, false}));
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
    to.workspace_bytes = measure(on, p, {a.image, out, a.weights}, to);
    const gpu::fields_by_index several(on, p, {a.image, out, a.weights});
    if (!uses_indices(several)) {
        const gpu::both_sides sides(on, p, {a.image, out, a.weights});
        for (const std::size_t side : {0, 1})
            if (sides.serve()) describe_plain(sides.of(side), a.image.type, to);
        const gpu::face_search faces(on, p, {a.image, out, a.weights});
        if (faces.serve()) describe_plain(faces.corners(), a.image.type, to);
        if (faces.serve())
            to.passes.push_back({-1, "distances of corners and faces", blocks_for(p.cells, 256), 256, 1});
        else if (sides.serve()) to.passes.push_back({-1, "both sides joined", blocks_for(p.cells, 1024), 1024, 1});
        else if (uses_words(p, a.image, out)) describe_plain(p, a.image.type, to);
        return to;
    }
    describe_plain(several.sites(), a.image.type, to);
    to.passes.push_back({-1, "fields of the indices", blocks_for(p.cells, 1024), 1024, 1});
    return to;
}

}  // namespace nearfield::exact
