#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "edge/shapes_run.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// Returns rows as int64 (image, label, cells of both sides) and as float64: single numbers, then pairs of numbers for
/// both sides, then a number for each percentile or tolerance.
std::tuple<nb::bytes, nb::bytes> packed(const std::vector<surface_distances>& rows) {
    std::vector<std::int64_t> whole;
    std::vector<double> real;
    for (const surface_distances& row : rows) {
        whole.insert(whole.end(), {row.image, row.label, row.cells[0], row.cells[1]});
        real.insert(real.end(), {row.hausdorff, row.symmetric_average, row.dice});
        for (const auto& sides : {row.farthest, row.average, row.area}) real.insert(real.end(), sides, sides + 2);
        for (const auto* list : {&row.percentile, &row.surface_dice, &row.overlap[0], &row.overlap[1]})
            real.insert(real.end(), list->begin(), list->end());
    }
    return {nb::bytes(whole.data(), whole.size() * sizeof(std::int64_t)),
            nb::bytes(real.data(), real.size() * sizeof(double))};
}

std::tuple<nb::bytes, nb::bytes> compare(const array& a, const array& b, const std::vector<std::int64_t>& labels,
                                         const distance_options& grid, bool elements,
                                         const std::vector<double>& percentiles, const std::vector<double>& tolerances,
                                         int ordinal, std::uintptr_t stream, bool staged, int threads,
                                         const nb::object& progress) {
    const surface_options options{grid.spacing, elements ? surface::elements : surface::cells, percentiles, tolerances,
                                  grid.batch_axes};
    std::vector<surface_distances> rows;
    const auto call = [&]<class Place>(const Place& on) {
        rows = compare_surfaces(on, a.view<const void, Place>(), b.view<const void, Place>(), labels, options);
    };
    run(
        {ordinal, stream, staged, threads, progress}, a.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            rows = edge::compare_surfaces_on_device(on, a.view<const void, host>(), b.view<const void, host>(), labels,
                                                    options);
        });
    return packed(rows);
}

}  // namespace

void bind_metrics(nb::module_& module) {
    module.def("compare_surfaces", &compare, nb::arg("a"), nb::arg("b"), nb::arg("labels"), nb::arg("options"),
               nb::arg("elements"), nb::arg("percentiles"), nb::arg("tolerances"), nb::arg("ordinal"),
               nb::arg("stream"), nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace nearfield::python
