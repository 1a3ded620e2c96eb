#include <nanobind/stl/string.h>

#include <array>
#include <span>

#include "edge/arrays_run.hpp"
#include "edge/device_arrays.hpp"
#include "nearfield/skeleton.hpp"
#include "python/bind_call.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {
namespace {

skeleton_options options_of(const distance_options& given, const std::string& keep, bool faces) {
    skeleton_options options{given.spacing, given.border, given.batch_axes, kept_cells::nothing, faces};
    if (keep == "ends") options.keep = kept_cells::ends;
    if (keep == "isthmuses") options.keep = kept_cells::isthmuses;
    return options;
}

void on_host(const array& image, const array* anchors, const array& out, const distance_options& given,
             const std::string& keep, bool faces, int threads, const nb::object& progress) {
    run_watched(image.cells(), progress, [&](std::function<bool(double)> told) {
        skeletonize(host{threads, std::move(told)}, image.view<const void, host>(), out.view<void, host>(),
                    options_of(given, keep, faces), view_of<const void, host>(anchors));
    });
}

void on_device(const array& image, const array* anchors, const array& out, const distance_options& given,
               const std::string& keep, bool faces, int ordinal, std::uintptr_t stream, bool staged) {
    const skeleton_options options = options_of(given, keep, faces);
    const unlocked released;
    if (!staged) {
        const edge::current_device current(ordinal);
        return skeletonize(device{reinterpret_cast<void*>(stream)}, image.view<const void, device>(),
                           out.view<void, device>(), options, view_of<const void, device>(anchors));
    }
    const std::array<any_input<host>, 2> in{image.view<const void, host>(), view_of<const void, host>(anchors)};
    const auto to = out.view<void, host>();
    edge::run_arrays_on_device(ordinal, std::span(in.data(), anchors == nullptr ? 1 : 2), {&to, 1},
                               [&](const device& on, auto read, auto written) {
                                   skeletonize(on, read[0], written[0], options,
                                               anchors == nullptr ? any_input<device>{} : read[1]);
                               });
}

}  // namespace

void bind_skeleton(nb::module_& module) {
    module.def("skeletonize", &on_host, nb::arg("image"), nb::arg("anchors").none(), nb::arg("out"), nb::arg("options"),
               nb::arg("keep"), nb::arg("faces"), nb::arg("threads"), nb::arg("progress").none());
    module.def("skeletonize_on_device", &on_device, nb::arg("image"), nb::arg("anchors").none(), nb::arg("out"),
               nb::arg("options"), nb::arg("keep"), nb::arg("faces"), nb::arg("ordinal"), nb::arg("stream"),
               nb::arg("staged"));
}

}  // namespace nearfield::python
