// What the host engine would do: the same sweeps and tiles that it uses, without doing anything.
#include <fmt/format.h>

#include <algorithm>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "exact/fit.hpp"
#include "exact/host.hpp"
#include "exact/host/values.hpp"
#include "exact/host_classes.hpp"
#include "exact/host_output.hpp"
#include "exact/host_planes.hpp"
#include "exact/host_scan.hpp"
#include "exact/host_sides.hpp"
#include "exact/host_sweeps.hpp"

namespace nearfield::exact {
namespace {

template <class V, class K>
std::int64_t tile_bytes_of(const plan& p, const sweep& s) {
    return tile_buffers<V, K>::bytes(s, p.sites_wanted, p.by != classes::none);
}

std::int64_t buffer_bytes(const plan& p, const sweep& s) {
    return p.numbers == tier::int32 ? tile_bytes_of<std::int32_t, std::int32_t>(p, s)
                                    : tile_bytes_of<std::int64_t, std::int64_t>(p, s);
}

const char* method_of(const plan& p, const sweep& s) {
    const bool periodic = p.borders[static_cast<std::size_t>(s.axis)] == border::periodic;
    if (p.weighted) return periodic ? "powers, lines closed to rings" : "powers, tiles of lines in SIMD";
    if (p.by != classes::none)
        return periodic ? "lines closed to rings, then other classes" : "tiles of lines in SIMD, then other classes";
    return periodic ? "lines closed to rings, in SIMD" : "tiles of lines in SIMD";
}

void describe_planes(const plan& p, call_plan& what) {
    const plane_shape s(p, what.threads);
    what.workspace_bytes = std::max(what.workspace_bytes, s.workspace_bytes(p, what.threads));
    const auto axis_of = [&](int axis) { return p.source_axis[static_cast<std::size_t>(axis)]; };
    const char* first = "steps, slabs of planes side by side in SIMD";
    what.passes.push_back({axis_of(p.first_axis), first, s.images * s.slabs(), s.slab, s.plane()});
    if (s.lines > 1)
        what.passes.push_back(
            {axis_of(p.first_axis + 1), "planes, columns side by side in SIMD", s.images * s.rows, s.lines, s.length});
    const char* last = "lines, cells side by side in SIMD";
    what.passes.push_back({axis_of(p.rank - 1), last, s.images * s.rows, s.length, s.lines});
}

void describe_values(const plan& p, const any_input<host>& image, call_plan& what) {
    const bool whole = p.numbers == tier::int32;
    const value_layout s(p, what.threads, whole ? 32 : 16, whole ? 2 : 8), wide(p, what.threads, 16, whole ? 4 : 8);
    what.workspace_bytes =
        std::max(what.workspace_bytes, wide.workspace_bytes(p, what.threads) + value_layout::class_bytes(p, image) +
                                           class_field::workspace_bytes(p, image));
    const auto axis_of = [&](int axis) { return p.source_axis[static_cast<std::size_t>(axis)]; };
    const std::int64_t lines = p.cells / s.length;
    what.passes.push_back({axis_of(p.rank - 1), "rows, steps by doubling in SIMD", lines, s.length, 1});
    for (const value_pass& pass : s.passes)
        for (int axis = pass.last; axis >= pass.first; --axis)
            what.passes.push_back(
                {axis_of(axis),
                 whole ? "lines of 16 bits, else of 32, columns in SIMD" : "lines of doubles, columns in SIMD",
                 pass.before * pass.after * s.tiles, pass.rows, std::min(s.length, s.length / s.tiles + 1)});
}

/// What an engine would do with one side; adds its passes.
void describe_side(const plan& p, const arrays<host>& a, call_plan& what) {
    if (suits_planes(p, what.threads)) return describe_planes(p, what);
    if (suits_values(p)) return describe_values(p, a.image, what);
    std::int64_t workspace = class_field::workspace_bytes(p, a.image);
    if (needs_state(p) && lends_state(p, a.out, number_bytes(p)) == nullptr) workspace += p.cells * number_bytes(p);
    if (p.weighted) workspace += p.cells * number_bytes(p);
    std::int64_t of_thread = 0;
    const std::int64_t length = p.size[static_cast<std::size_t>(p.rank - 1)];
    if (!p.weighted) {
        const std::int64_t block = std::max<std::int64_t>(1, scan_cells / length);
        what.passes.push_back({p.source_axis[static_cast<std::size_t>(p.rank - 1)],
                               p.by == classes::none ? "nearest site in each line" : "nearest other class in each line",
                               (p.cells / length + block - 1) / block, length, block});
        of_thread = (std::max(length, length < most_short ? short_cells : 0) + line_padding) * 5;
        if (!needs_state(p)) of_thread += length * 2 * number_bytes(p);
    }
    const std::int64_t of_lines = of_thread;
    for (int first, axis = p.rank - (p.weighted ? 1 : 2); axis >= p.first_axis; axis = first - 1) {
        first = first_together(p, axis);
        const bool one = first == axis;
        const sweep s = one ? sweep_of(p, axis, number_bytes(p)) : sweep_together(p, first, axis, number_bytes(p));
        for (int each = axis; each >= first; --each)
            what.passes.push_back({p.source_axis[static_cast<std::size_t>(each)],
                                   one ? method_of(p, s) : "short axes together, tiles of lines in SIMD", s.tiles(),
                                   s.size, std::min(s.width, s.columns)});
        of_thread = std::max(of_thread, buffer_bytes(p, s) + of_lines);
    }
    what.workspace_bytes = std::max(what.workspace_bytes, workspace + of_thread * what.threads);
}

}  // namespace

call_plan describe(const host& on, const plan& p, const arrays<host>& a) {
    call_plan what;
    what.place = "host";
    what.threads = thread_count(on);
    what.numbers = p.numbers == tier::int32 ? "int32" : p.numbers == tier::int64 ? "int64" : "float64";
    if (p.cells == 0) return what;
    for (const plan& side : sides_of(p, what.threads)) describe_side(side, a, what);
    return what;
}

int threads_that_fit(const host& on, const plan& p, const arrays<host>& a) {
    const auto needed = [&](int threads, const plan& of) { return describe(host{threads}, of, a).workspace_bytes; };
    const std::int64_t wanted = needed(on.threads, p);
    const auto available = wanted > worth_asking_bytes ? free_memory() : std::nullopt;
    if (!available || wanted <= *available) return on.threads;
    for (int threads = thread_count(on) / 2; threads > 0; threads /= 2)
        if (needed(threads, p) <= *available) return threads;
    const std::string fits =
        what_fits(p, *available, [&](const plan& smaller) { return needed(1, smaller); }, "use a machine with more");
    throw error(error_code::out_of_memory, fmt::format("out of memory: the call needs a workspace of {}, free are {}{}",
                                                       bytes_text(needed(1, p)), bytes_text(*available), fits));
}

}  // namespace nearfield::exact
