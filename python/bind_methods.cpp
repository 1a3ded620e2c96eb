#include <nanobind/stl/string.h>

#include "edge/device_arrays.hpp"
#include "edge/device_run.hpp"
#include "python/bind_call.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {
namespace {

template <class Place>
edge::work<Place> work_of(const call& what, const method& by, method_report& took) {
    edge::work<Place> work = what.work<Place>();
    work.by = by, work.report = &took;
    return work;
}

nb::dict described(const method_report& took) {
    nb::list stages;
    for (const method_stage& each : took.stages)
        stages.append(nb::make_tuple(each.name, each.seconds * 1e3, each.rounds, each.bytes));
    nb::dict d;
    d["milliseconds"] = took.seconds * 1e3, d["rounds"] = took.rounds, d["bytes"] = took.bytes, d["stages"] = stages;
    return d;
}

nb::dict method_on_host(const array& image, const nb::tuple& out, const distance_options& options,
                        const std::string& name, int threads, const nb::object& progress) {
    const call what(image, out, options);
    const method by = method_from(name);
    method_report took;
    run_watched(image.cells(), progress, [&](std::function<bool(double)> told) {
        edge::run(host{threads, std::move(told)}, work_of<host>(what, by, took));
    });
    return described(took);
}

nb::dict method_on_device(const array& image, const nb::tuple& out, const distance_options& options,
                          const std::string& name, int ordinal, std::uintptr_t stream, bool staged) {
    const call what(image, out, options);
    const method by = method_from(name);
    method_report took;
    {
        const unlocked released;
        if (staged) {
            static_cast<void>(edge::run_on_device(ordinal, work_of<host>(what, by, took), 0, 1));
        } else {
            const edge::current_device current(ordinal);
            edge::run(device{reinterpret_cast<void*>(stream)}, work_of<device>(what, by, took));
        }
    }
    return described(took);
}

nb::dict compare(const array& image, const array& index, const array* error, const distance_options& options,
                 int threads) {
    method_errors e;
    run_watched(image.cells(), nb::none(), [&](std::function<bool(double)> told) {
        e = compare_sites(host{threads, std::move(told)}, image.view<const void, host>(),
                          index.view<const void, host>(), view_of<void, host>(error), options);
    });
    nb::dict d;
    d["wrong_sites"] = e.wrong_sites, d["missing_sites"] = e.missing, d["other_ties"] = e.other_ties;
    d["mean_error"] = e.mean_error, d["largest_error"] = e.largest_error;
    d["largest_relative_error"] = e.largest_relative_error;
    return d;
}

}  // namespace

void bind_methods(nb::module_& module) {
    module.def("run_method_on_host", &method_on_host, nb::arg("image"), nb::arg("out"), nb::arg("options"),
               nb::arg("method"), nb::arg("threads"), nb::arg("progress").none());
    module.def("run_method_on_device", &method_on_device, nb::arg("image"), nb::arg("out"), nb::arg("options"),
               nb::arg("method"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"));
    module.def("compare_sites", &compare, nb::arg("image"), nb::arg("index"), nb::arg("error").none(),
               nb::arg("options"), nb::arg("threads"));
    module.def("method_text", [](const std::string& name) { return text_of(method_from(name)); }, nb::arg("method"));
}

}  // namespace nearfield::python
