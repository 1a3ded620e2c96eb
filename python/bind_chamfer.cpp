#include <nanobind/stl/vector.h>

#include "nearfield/chamfer.hpp"
#include "python/bind_call.hpp"

namespace nearfield::python {
namespace {

void run(const array& image, const array* distance, const array* coordinates, const std::vector<std::int32_t>& weights,
         bool first_found, int threads) {
    chamfer_fields<host> out;
    out.distance = view_of<void, host>(distance);
    out.coordinates = view_of<void, host>(coordinates);
    const chamfer_options options{.weights = weights,
                                  .ties = first_found ? tie_rule::first_found : tie_rule::last_axis_first};
    run_watched(image.cells(), nb::none(), [&](std::function<bool(double)> progress) {
        chamfer_transform(host{threads, std::move(progress)}, image.view<const void, host>(), out, options);
    });
}

}  // namespace

void bind_chamfer(nb::module_& module) {
    module.def("chamfer", &run, nb::arg("image"), nb::arg("distance").none(), nb::arg("coordinates").none(),
               nb::arg("weights"), nb::arg("first_found"), nb::arg("threads"));
}

}  // namespace nearfield::python
