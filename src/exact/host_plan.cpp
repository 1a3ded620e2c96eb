// Plans of the host engines: the same sweeps and tiles that they use, without running them.
#include <fmt/format.h>

#include <algorithm>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "exact/fit.hpp"
#include "exact/host.hpp"
#include "exact/host/buffers.hpp"
#include "exact/host_planes.hpp"
#include "exact/host_sides.hpp"

namespace nearfield::exact {
namespace {

void describe_planes(const plan& p, call_plan& what) {
    const plane_shape s(p, what.threads);
    what.workspace_bytes = std::max(what.workspace_bytes, s.workspace_bytes(p, what.threads));
    const auto axis_of = [&](int axis) { return p.source_axis[static_cast<std::size_t>(axis)]; };
    const char* first = "steps, slabs of planes side by side in SIMD";
    what.passes.push_back({axis_of(p.first_axis), first, s.images * s.slabs(), s.slab, s.plane()});
    if (s.lines > 1)
        what.passes.push_back(
            {axis_of(p.first_axis + 1), "planes, columns side by side in SIMD", s.images * s.rows, s.lines, s.length});
    const char* last = "lines, transposed, side by side in SIMD";
    what.passes.push_back({axis_of(p.rank - 1), last, s.images * s.rows, s.length, s.lines});
}

const char* lines_of(host_numbers numbers) {
    switch (numbers) {
        case host_numbers::narrow: return "lines of 16 bits, else of 32, columns in SIMD";
        case host_numbers::int32: return "lines of 32 bits, columns in SIMD";
        case host_numbers::int32_real: return "lines of 32 bits, else of doubles, columns in SIMD";
        case host_numbers::real: return "lines of doubles, columns in SIMD";
        case host_numbers::packed: return "lines, value and site in one double, in SIMD";
        case host_numbers::packed_wide: return "lines, value and site in one double, else side by side, in SIMD";
        default: return "lines, value and site side by side, in SIMD";
    }
}

void describe_lines(const plan& p, const any_input<host>& image, call_plan& what) {
    const host_numbers numbers = numbers_of(p);
    const bool narrow = numbers == host_numbers::narrow, sited = numbers >= host_numbers::packed;
    const std::int64_t bytes = narrow || numbers == host_numbers::int32 ? 4
                               : numbers >= host_numbers::packed_wide   ? 16
                                                                        : 8;
    const bool twice = narrow || numbers == host_numbers::int32_real || numbers == host_numbers::packed_wide;
    const pass_layout s(p, narrow ? 32 : 16, twice ? bytes / 2 : bytes), wide(p, 16, bytes);
    const std::int64_t of_lines =
        std::max(s.workspace_bytes(p, what.threads, sited), wide.workspace_bytes(p, what.threads, sited));
    what.workspace_bytes = std::max(what.workspace_bytes, of_lines + class_rows::workspace_bytes(p, image));
    const auto axis_of = [&](int axis) { return p.source_axis[static_cast<std::size_t>(axis)]; };
    const std::int64_t lines = p.cells / s.length;
    const char* const rows = p.weighted                ? "rows of powers, side by side in SIMD"
                             : s.row_axis < p.rank - 1 ? "rows of short axes, side by side in SIMD"
                             : wide.bytes_of_rows == 2 ? "rows, steps of 16 bits by doubling in SIMD"
                                                       : "rows, steps by doubling in SIMD";
    for (int axis = p.rank - 1; axis >= s.row_axis; --axis)
        what.passes.push_back({axis_of(axis), rows, lines, s.length, 1});
    for (const line_pass& pass : s.passes)
        for (int axis = pass.last; axis >= pass.first; --axis)
            what.passes.push_back({axis_of(axis), lines_of(numbers), pass.before * pass.after * s.tiles, pass.rows,
                                   std::min<std::int64_t>(s.length, narrow ? 32 : 16)});
}

/// Plans an engine's work for one side; adds its passes.
void describe_side(const plan& p, const arrays<host>& a, call_plan& what) {
    if (suits_planes(p, what.threads)) describe_planes(p, what);
    else describe_lines(p, a.image, what);
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
    const auto available = wanted > most_unchecked_bytes ? free_memory() : std::nullopt;
    if (!available || wanted <= *available) return on.threads;
    for (int threads = thread_count(on) / 2; threads > 0; threads /= 2)
        if (needed(threads, p) <= *available) return threads;
    const std::string fits =
        what_fits(p, *available, [&](const plan& smaller) { return needed(1, smaller); }, "use a machine with more");
    throw error(error_code::out_of_memory, fmt::format("out of memory: the call needs a workspace of {}, free are {}{}",
                                                       bytes_text(needed(1, p)), bytes_text(*available), fits));
}

}  // namespace nearfield::exact
