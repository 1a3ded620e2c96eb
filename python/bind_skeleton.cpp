#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <array>
#include <span>

#include "edge/arrays_run.hpp"
#include "edge/device_arrays.hpp"
#include "nearfield/skeleton.hpp"
#include "nearfield/skeleton_graph.hpp"
#include "python/bind_lock.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

skeleton_options options_of(const distance_options& given, const std::string& keep, bool faces) {
    skeleton_options options{given.spacing, given.border, given.batch_axes, kept_cells::nothing, faces};
    if (keep == "ends") options.keep = kept_cells::ends;
    if (keep == "isthmuses") options.keep = kept_cells::isthmuses;
    return options;
}

void thin(const array& image, const array* anchors, const array& out, const distance_options& given,
          const std::string& keep, bool faces, int ordinal, std::uintptr_t stream, bool staged, int threads,
          const nb::object& progress) {
    const skeleton_options options = options_of(given, keep, faces);
    over<2, 1>({ordinal, stream, staged, threads, progress}, {&image, anchors}, {&out},
               [&](const auto& on, const auto& in, const auto& to) { skeletonize(on, in[0], to[0], options, in[1]); });
}

// ---- graphs --------------------------------------------------------------------------------------------------------

/// Part of a graph that Python keeps: its cells, int64, and their values, float64 or None.
struct cells_given {
    const array& at;
    const array* values;
    int axes;
    const std::array<std::int64_t, 3>& shape;
    const std::array<double, 3>& spacing;
    const std::array<bool, 3>& wraps;

    [[nodiscard]] skeleton_cells cells() const {
        const auto* const first = reinterpret_cast<const std::int64_t*>(at.data);
        const auto count = static_cast<std::size_t>(at.cells());
        skeleton_cells made{axes, shape, spacing, wraps, {first, first + count}, values != nullptr, {}};
        if (values == nullptr) return made;
        const auto* const value = reinterpret_cast<const double*>(values->data);
        made.values.assign(value, value + count);
        return made;
    }
};

/// Returns cells, values, nodes and branches, 8 bytes a number; `rule` and `bound` as in pruned(), or -1.
nb::tuple traced(const array& at, const array* values, int axes, const std::array<std::int64_t, 3>& shape,
                 const std::array<double, 3>& spacing, const std::array<bool, 3>& wraps, int rule, double bound) {
    const cells_given given{at, values, axes, shape, spacing, wraps};
    skeleton_graph graph;
    {
        const unlocked released;
        graph = graph_of(given.cells());
        if (rule >= 0) graph = pruned(graph, static_cast<branch_rule>(rule), bound);
    }
    static_assert(sizeof(skeleton_node) == 4 * 8 && sizeof(skeleton_branch) == 18 * 8);
    return nb::make_tuple(bytes_of(graph.cells.at), bytes_of(graph.cells.values), bytes_of(graph.nodes),
                          bytes_of(graph.branches));
}

std::string text(const array& at, const array* values, int axes, const std::array<std::int64_t, 3>& shape,
                 const std::array<double, 3>& spacing, const std::array<bool, 3>& wraps, bool swc) {
    const cells_given given{at, values, axes, shape, spacing, wraps};
    const unlocked released;
    const skeleton_graph graph = graph_of(given.cells());
    return swc ? swc_of(graph) : csv_of(graph);
}

}  // namespace

void bind_skeleton(nb::module_& module) {
    module.def("skeletonize", &thin, nb::arg("image"), nb::arg("anchors").none(), nb::arg("out"), nb::arg("options"),
               nb::arg("keep"), nb::arg("faces"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"),
               nb::arg("threads"), nb::arg("progress").none());
    module.def("skeleton_graph", &traced, nb::arg("cells"), nb::arg("values").none(), nb::arg("axes"), nb::arg("shape"),
               nb::arg("spacing"), nb::arg("wraps"), nb::arg("rule"), nb::arg("bound"));
    module.def("skeleton_text", &text, nb::arg("cells"), nb::arg("values").none(), nb::arg("axes"), nb::arg("shape"),
               nb::arg("spacing"), nb::arg("wraps"), nb::arg("swc"));
}

}  // namespace nearfield::python
