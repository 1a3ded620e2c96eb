#include <nanobind/stl/vector.h>

#include "edge/paths_run.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// Options, and the steps they point to.
struct geodesic_request {
    std::vector<priced_step> steps;
    geodesic_options options;

    geodesic_request(const distance_options& grid, int axes, const std::vector<std::int32_t>& prices, bool knights,
                     int reach, const std::vector<double>& lengths, double per_unit, bool both, bool cut_corners,
                     double max_cost, double unit) {
        if (reach > 0) steps = euclidean_steps(axes, reach, {lengths.data(), lengths.size()}, per_unit);
        else steps = knights ? knight_steps(prices.at(0), prices.at(1), prices.at(2)) : chamfer_steps(axes, prices);
        options.steps = steps, options.border = grid.border, options.batch_axes = grid.batch_axes;
        options.cut_corners = cut_corners, options.rule = both ? cost_rule::both : cost_rule::entered;
        options.max_cost = max_cost, options.unit = unit;
    }
    geodesic_request(const geodesic_request&) = delete;
    geodesic_request& operator=(const geodesic_request&) = delete;
};

void flood(const array& mask, const array& seeds, const array* cost, const array* distance, const array* coordinates,
           const array* label, const geodesic_request& request, int ordinal, std::uintptr_t stream, bool staged,
           int threads, const nb::object& progress) {
    const auto out = [&]<class Place>(const Place*) {
        geodesic_fields<Place> fields;
        fields.cost = view_of<void, Place>(distance), fields.coordinates = view_of<void, Place>(coordinates);
        fields.label = view_of<void, Place>(label);
        return fields;
    };
    const auto call = [&]<class Place>(const Place& on) {
        geodesic(on, mask.view<const void, Place>(), seeds.view<const void, Place>(), out(&on), request.options,
                 view_of<const void, Place>(cost));
    };
    run(
        {ordinal, stream, staged, threads, progress}, mask.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::geodesic_on_device(on, mask.view<const void, host>(), seeds.view<const void, host>(),
                                     out(static_cast<const host*>(nullptr)), request.options,
                                     view_of<const void, host>(cost));
        });
}

}  // namespace

void bind_geodesic(nb::module_& module) {
    nb::class_<geodesic_request>(module, "GeodesicOptions")
        .def(nb::init<const distance_options&, int, const std::vector<std::int32_t>&, bool, int,
                      const std::vector<double>&, double, bool, bool, double, double>(),
             nb::arg("options"), nb::arg("axes"), nb::arg("prices"), nb::arg("knights"), nb::arg("reach"),
             nb::arg("lengths"), nb::arg("per_unit"), nb::arg("both"), nb::arg("cut_corners"), nb::arg("max_cost"),
             nb::arg("unit"));
    module.def("geodesic", &flood, nb::arg("mask"), nb::arg("seeds"), nb::arg("cost").none(),
               nb::arg("distance").none(), nb::arg("coordinates").none(), nb::arg("label").none(), nb::arg("options"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
}

}  // namespace nearfield::python
