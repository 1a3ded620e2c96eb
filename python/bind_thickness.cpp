#include <nanobind/stl/vector.h>

#include "nearfield/thickness.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// With `balls`, the image holds squared radii; with inlets, balls enter through them.
void run_thickness(const array& image, const array* inlets, const array* thickness, const array* squared,
                   const distance_options& like, const std::vector<double>& sizes, bool balls, int connectivity,
                   int ordinal, std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    thickness_options o;
    o.spacing = like.spacing, o.border = like.border, o.batch_axes = like.batch_axes;
    o.multilabel = like.sites == sites::other_labels, o.sizes = sizes;
    const porosimetry_options entering{like.spacing, like.border, sizes, connectivity};
    over<2, 2>({ordinal, stream, staged, threads, progress}, {&image, inlets}, {thickness, squared},
               [&](const auto& on, const auto& read, const auto& to) {
                   if (balls) union_of_balls(on, read[0], {to[0], to[1]}, o);
                   else if (read[1].wanted()) porosimetry(on, read[0], read[1], {to[0], to[1]}, entering);
                   else local_thickness(on, read[0], {to[0], to[1]}, o);
               });
}

}  // namespace

void bind_thickness(nb::module_& module) {
    module.def("thickness", &run_thickness, nb::arg("image"), nb::arg("inlets").none(), nb::arg("thickness").none(),
               nb::arg("squared").none(), nb::arg("options"), nb::arg("sizes"), nb::arg("balls"),
               nb::arg("connectivity"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
}

}  // namespace nearfield::python
