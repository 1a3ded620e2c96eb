#include "edge/shapes_run.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// `out` is a tuple of arrays or None: axis, distance, squared, index, second.
template <class Place>
medial_axis_fields<Place> fields_of(const nb::tuple& out) {
    const auto one = [&](std::size_t k) {
        return out[k].is_none() ? any_output<Place>{} : nb::cast<const array&>(out[k]).view<void, Place>();
    };
    return {one(0), one(1), one(2), one(3), one(4)};
}

void axis_of(const array& image, const nb::tuple& out, const distance_options& grid, int method, int prune,
             double gamma, int ordinal, std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    medial_axis_options options;
    options.spacing = grid.spacing, options.sites = grid.sites, options.border = grid.border;
    options.batch_axes = grid.batch_axes, options.method = static_cast<axis_method>(method);
    options.prune = static_cast<pruning>(prune), options.gamma = gamma;
    const auto on_host = fields_of<host>(out);
    const auto on_device = fields_of<device>(out);
    run(
        {ordinal, stream, staged, threads, progress}, image.cells(),
        [&](const host& on) { medial_axis(on, image.view<const void, host>(), on_host, options); },
        [&](const device& on) { medial_axis(on, image.view<const void, device>(), on_device, options); },
        [&](int on) { edge::medial_axis_on_device(on, image.view<const void, host>(), on_host, options); });
}

void rebuild(const array& axis, const array& squared, const array& out, const distance_options& grid, int ordinal,
             std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const reconstruct_options options{grid.spacing, grid.border, grid.batch_axes};
    const auto call = [&]<class Place>(const Place& on) {
        reconstruct(on, axis.view<const void, Place>(), squared.view<const void, Place>(), out.view<void, Place>(),
                    options);
    };
    run(
        {ordinal, stream, staged, threads, progress}, axis.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::reconstruct_on_device(on, axis.view<const void, host>(), squared.view<const void, host>(),
                                        out.view<void, host>(), options);
        });
}

void interpolate(const array& values, const array* known, const array& out, const distance_options& grid, int ordinal,
                 std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const natural_neighbor_options options{grid.spacing, grid.border, grid.batch_axes};
    const auto call = [&]<class Place>(const Place& on) {
        natural_neighbor(on, values.view<const void, Place>(), view_of<const void, Place>(known),
                         out.view<void, Place>(), options);
    };
    run(
        {ordinal, stream, staged, threads, progress}, values.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::natural_neighbor_on_device(on, values.view<const void, host>(), view_of<const void, host>(known),
                                             out.view<void, host>(), options);
        });
}

}  // namespace

void bind_medial_axis(nb::module_& module) {
    module.def("medial_axis", &axis_of, nb::arg("image"), nb::arg("out"), nb::arg("options"), nb::arg("method"),
               nb::arg("pruning"), nb::arg("gamma"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"),
               nb::arg("threads"), nb::arg("progress").none());
    module.def("natural_neighbor", &interpolate, nb::arg("values"), nb::arg("known").none(), nb::arg("out"),
               nb::arg("options"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("reconstruct", &rebuild, nb::arg("axis"), nb::arg("squared"), nb::arg("out"), nb::arg("options"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
}

}  // namespace nearfield::python
