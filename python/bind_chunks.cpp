#include <nanobind/stl/vector.h>

#include "nearfield/chunks.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// Fills all arrays in place, on `stream` of device `ordinal`, or on the CPU if that is -1.
void pass(const array& squared, const array* site, const array* label, int axis, double spacing, bool periodic,
          const std::vector<std::int64_t>& grid, bool half_cell, int ordinal, std::uintptr_t stream, int threads) {
    const partial_options options{spacing, periodic ? border::periodic : border::open, grid, half_cell};
    const auto field = [&]<class Element, class Place>(partial_field<Element, Place>) {
        return partial_field<Element, Place>{squared.view<Element, Place>(), view_of<Element, Place>(site),
                                             view_of<Element, Place>(label)};
    };
    const auto call = [&]<class Place>(const Place& on) {
        pass_along(on, field(partial_field<const void, Place>{}), axis, field(partial_field<void, Place>{}), options);
    };
    run(
        {ordinal, stream, false, threads, nb::none()}, squared.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); }, [](int) {});
}

}  // namespace

void bind_chunks(nb::module_& module) {
    module.def("pass_along", &pass, nb::arg("squared"), nb::arg("site").none(), nb::arg("label").none(),
               nb::arg("axis"), nb::arg("spacing"), nb::arg("periodic"), nb::arg("grid"), nb::arg("half_cell"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("threads"));
}

}  // namespace nearfield::python
