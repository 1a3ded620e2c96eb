#include <nanobind/stl/vector.h>

#include "nearfield/chunks.hpp"
#include "python/bind_call.hpp"

namespace nearfield::python {
namespace {

/// All arrays are filled in place.
void pass(const array& squared, const array* site, const array* label, int axis, double spacing, bool periodic,
          const std::vector<std::int64_t>& grid, int threads) {
    const auto field = [&]<class Element>(partial_field<Element>) {
        return partial_field<Element>{squared.view<Element, host>(), view_of<Element, host>(site),
                                      view_of<Element, host>(label)};
    };
    const partial_options options{spacing, periodic ? border::periodic : border::open, grid};
    run_watched(squared.cells(), nb::none(), [&](std::function<bool(double)> told) {
        pass_along(host{threads, std::move(told)}, field(partial_field<const void>{}), axis,
                   field(partial_field<void>{}), options);
    });
}

}  // namespace

void bind_chunks(nb::module_& module) {
    module.def("pass_along", &pass, nb::arg("squared"), nb::arg("site").none(), nb::arg("label").none(),
               nb::arg("axis"), nb::arg("spacing"), nb::arg("periodic"), nb::arg("grid"), nb::arg("threads"));
}

}  // namespace nearfield::python
