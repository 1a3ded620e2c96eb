#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "edge/shapes_run.hpp"
#include "nearfield/pores.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

void fill(const array& image, const array& missing, const array& out, const distance_options& grid, int ordinal,
          std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const fill_options options{grid.spacing, grid.border, grid.max_distance, grid.batch_axes};
    const auto call = [&]<class Place>(const Place& on) {
        fill_nearest(on, image.view<const void, Place>(), missing.view<const void, Place>(), out.view<void, Place>(),
                     options);
    };
    run(
        {ordinal, stream, staged, threads, progress}, image.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::fill_nearest_on_device(on, image.view<const void, host>(), missing.view<const void, host>(),
                                         out.view<void, host>(), options);
        });
}

void interpolate(const array& labels, int axis, const std::vector<std::pair<std::int64_t, std::int64_t>>& given,
                 const array& out, const distance_options& grid, const std::vector<std::int64_t>& drawn, bool align,
                 int ordinal, std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    std::vector<slice_position> positions;
    for (const auto& [numerator, denominator] : given) positions.push_back({numerator, denominator});
    const slice_options options{grid.spacing, drawn, align};
    const auto call = [&]<class Place>(const Place& on) {
        interpolate_slices(on, labels.view<const void, Place>(), axis, positions, out.view<void, Place>(), options);
    };
    run(
        {ordinal, stream, staged, threads, progress}, labels.cells() + out.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::interpolate_slices_on_device(on, labels.view<const void, host>(), axis, positions,
                                               out.view<void, host>(), options);
        });
}

static_assert(sizeof(pore) == 12 * 8 && sizeof(throat) == 10 * 8);

pore_network network_of(const array& regions, const array& squared, const distance_options& grid, int connectivity,
                        bool boundaries, int threads, const nb::object& progress) {
    const pore_options options{grid.spacing, grid.border, connectivity, -1, boundaries};
    pore_network made;
    run_watched(regions.cells(), progress, [&](std::function<bool(double)> told) {
        made = network_of_regions(host{threads, std::move(told)}, regions.view<const void, host>(),
                                  squared.view<const void, host>(), options);
    });
    return made;
}

}  // namespace

void bind_fill(nb::module_& module) {
    module.def("fill_nearest", &fill, nb::arg("image"), nb::arg("missing"), nb::arg("out"), nb::arg("options"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("interpolate_slices", &interpolate, nb::arg("labels"), nb::arg("axis"), nb::arg("positions"),
               nb::arg("out"), nb::arg("options"), nb::arg("drawn"), nb::arg("align"), nb::arg("ordinal"),
               nb::arg("stream"), nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
    nb::class_<pore_network>(module, "PoreNetwork")
        .def("pores", [](const pore_network& of) { return bytes_of(of.pores); })
        .def("throats", [](const pore_network& of) { return bytes_of(of.throats); })
        .def("csv", [](const pore_network& of) { return csv_of(of); });
    module.def("network_of_regions", &network_of, nb::arg("regions"), nb::arg("squared"), nb::arg("options"),
               nb::arg("connectivity"), nb::arg("boundaries"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace nearfield::python
