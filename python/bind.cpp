// nearfield._core: the library's calls for arrays that Python described. What users see is in nearfield/*.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <new>

#include "nearfield/nearfield.hpp"
#include "os/kept.hpp"
#include "python/bind_call.hpp"
#include "python/bind_label.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {
namespace {

template <class Value>
struct word {
    const char* text;
    Value value;
};

template <class Value, std::size_t Count>
Value value_of(const char* argument, const std::string& came, const word<Value> (&known)[Count]) {
    std::string all;
    for (const word<Value>& each : known) {
        if (came == each.text) return each.value;
        all += (all.empty() ? "'" : ", '") + std::string(each.text) + "'";
    }
    throw error(error_code::invalid_argument, std::string(argument) + " is '" + came + "'; give one of " + all);
}

constexpr word<sites> site_words[] = {
    {"zero", sites::zero}, {"nonzero", sites::nonzero}, {"other_labels", sites::other_labels}};
constexpr word<sign> sign_words[] = {
    {"none", sign::none}, {"inside", sign::inside_negative}, {"outside", sign::outside_negative}};
constexpr word<border> border_words[] = {
    {"open", border::open}, {"closed", border::closed}, {"periodic", border::periodic}};

nb::dict described(const call_plan& p) {
    nb::dict d;
    d["place"] = p.place, d["numbers"] = p.numbers, d["threads"] = p.threads, d["cells"] = p.cells;
    d["input_bytes"] = p.input_bytes, d["output_bytes"] = p.output_bytes, d["workspace_bytes"] = p.workspace_bytes;
    nb::list passes;
    for (const pass_plan& each : p.passes) {
        nb::dict one;
        one["axis"] = each.axis, one["method"] = each.method, one["tiles"] = each.tiles;
        one["tile_rows"] = each.tile_rows, one["tile_columns"] = each.tile_columns;
        passes.append(one);
    }
    d["passes"] = passes, d["text"] = p.text();
    return d;
}

template <class Place>
call_plan plan_of(const Place& on, const call& what) {
    const edge::work<Place> work = what.work<Place>();
    const job<Place>& only = work.jobs.front();
    return what.weights ? plan_power_diagram(on, only.image, work.weights, only.out, work.options)
                        : plan(on, only.image, only.out, work.options);
}

/// Plans what calls(), a function without arguments, would do. Returns the bytes of the arrays that it made, and of
/// those that it would hand out; the latter is below 0 for the arrays that the library's first call writes.
nb::dict plan_of_calls(const nb::callable& calls) {
    std::int64_t made = 0, handed = -1;
    call_plan told = plan([&] {
        const nb::tuple bytes = nb::cast<nb::tuple>(calls());
        made = nb::cast<std::int64_t>(bytes[0]), handed = nb::cast<std::int64_t>(bytes[1]);
    });
    if (handed >= 0) told.output_bytes = handed;
    told.workspace_bytes += std::max<std::int64_t>(made - told.output_bytes, 0);
    return described(told);
}

nb::dict described(const system_info& machine) {
    nb::dict d;
    d["version"] = machine.version, d["compiler"] = machine.compiler, d["simd"] = machine.simd;
    d["cores"] = machine.cores, d["cuda_built"] = machine.cuda_built, d["cuda_runtime"] = machine.cuda_runtime;
    d["cuda_driver"] = machine.cuda_driver, d["why_no_device"] = machine.why_no_device;
    nb::list devices;
    for (const device_info& each : machine.devices) {
        nb::dict one;
        one["ordinal"] = each.ordinal, one["name"] = each.name;
        one["compute_capability"] = nb::make_tuple(each.compute_major, each.compute_minor);
        one["memory_bytes"] = each.memory_bytes, one["free_bytes"] = each.free_bytes;
        devices.append(one);
    }
    d["devices"] = devices;
    return d;
}

/// nearfield.Cancelled, found when the module is loaded: an import runs Python's code, in which a thread may end.
PyObject* cancelled = nullptr;

/// Translates errors to Python's exceptions: a wrong argument is a ValueError, other errors follow their nature.
void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const error& problem) {
        PyObject* type = problem.code() == error_code::cancelled          ? cancelled
                         : problem.code() == error_code::invalid_argument ? PyExc_ValueError
                         : problem.code() == error_code::out_of_memory    ? PyExc_MemoryError
                         : problem.code() == error_code::io               ? PyExc_OSError
                                                                          : PyExc_RuntimeError;
        std::string text = problem.what();
        static constexpr std::string_view theirs = "host{}";  // C++'s name of the CPU
        for (auto at = text.find(theirs); at != std::string::npos; at = text.find(theirs))
            text.replace(at, theirs.size(), "the CPU");
        PyErr_SetString(type, text.c_str());
    } catch (const std::bad_alloc&) {
        PyErr_SetString(
            PyExc_MemoryError,
            "out of memory: the system gave the call less than it needs; use a smaller array or fewer threads, or "
            "raise the limits of the process (ulimit -v) and of its control group");
    }
}

}  // namespace

item::item(const array& image_, const nb::tuple& outputs) : image(&image_) {
    for (std::size_t k = 0; k < out.size(); ++k)
        if (const nb::handle each = outputs[k]; !each.is_none()) out[k] = nb::cast<const array*>(each);
}

call::call(const array& image, const nb::tuple& out, const distance_options& options_, const array* weights_,
           const nb::list& more, const array* bounds_, const nb::tuple& where_)
    : weights(weights_), bounds(bounds_), options(options_) {
    items.emplace_back(image, out);
    for (const nb::handle each : more) {
        const auto pair = nb::cast<nb::tuple>(each);
        items.emplace_back(nb::cast<const array&>(pair[0]), nb::cast<nb::tuple>(pair[1]));
    }
    if (where_.size() == 0) return;
    const auto is = [&](std::size_t k) { return nb::cast<bool>(where_[k]); };
    where = nb::cast<const array*>(where_[0]);
    cleared = {is(1), is(2), is(3), is(4), is(5), is(6)};
}

distance_options options_of(const std::vector<double>& spacing, const std::string& sites, const std::string& sign,
                            bool half_cell, const std::vector<std::string>& border, double max_distance,
                            int batch_axes) {
    std::vector<nearfield::border> ends;
    for (const std::string& each : border) ends.push_back(value_of("border", each, border_words));
    distance_options options;
    options.spacing = {spacing.data(), spacing.size()};
    options.sites = value_of("sites", sites, site_words);
    options.sign = value_of("signed", sign, sign_words);
    options.half_cell = half_cell;
    options.border = {ends.data(), ends.size()};
    options.max_distance = max_distance;
    options.batch_axes = batch_axes;
    return options;
}

namespace {

/// Binds the calls of distance fields: their descriptions, and the places where they run.
void bind_runs(nb::module_& m) {
    nb::class_<distance_options>(m, "Options")
        .def(
            "__init__",
            [](distance_options* made, const std::vector<double>& spacing, const std::string& sites,
               const std::string& sign, bool half_cell, const std::vector<std::string>& border, double max_distance,
               int batch_axes) {
                new (made)
                    distance_options(options_of(spacing, sites, sign, half_cell, border, max_distance, batch_axes));
            },
            nb::arg("spacing"), nb::arg("sites"), nb::arg("sign"), nb::arg("half_cell"), nb::arg("border"),
            nb::arg("max_distance"), nb::arg("batch_axes"));
    m.def(
        "run_on_host",
        [](const array& image, const nb::tuple& out, const distance_options& options, const array* weights, int threads,
           const nb::object& progress, const nb::list& more, const array* bounds, const nb::tuple& where) {
            run_on_host(call(image, out, options, weights, more, bounds, where), threads, progress);
        },
        nb::arg("image"), nb::arg("out"), nb::arg("options"), nb::arg("weights").none(), nb::arg("threads"),
        nb::arg("progress").none(), nb::arg("more"), nb::arg("bounds").none() = nb::none(),
        nb::arg("where") = nb::tuple());
    m.def(
        "run_on_stream",
        [](const array& image, const nb::tuple& out, const distance_options& options, const array* weights, int ordinal,
           std::uintptr_t stream, const nb::list& more, const array* bounds, const nb::tuple& where) {
            run_on_stream(call(image, out, options, weights, more, bounds, where), ordinal, stream);
        },
        nb::arg("image"), nb::arg("out"), nb::arg("options"), nb::arg("weights").none(), nb::arg("ordinal"),
        nb::arg("stream"), nb::arg("more"), nb::arg("bounds").none() = nb::none(), nb::arg("where") = nb::tuple());
    m.def(
        "run_staged",
        [](const array& image, const nb::tuple& out, const distance_options& options, const array* weights, int ordinal,
           const array* bounds,
           const nb::tuple& where) { run_staged(call(image, out, options, weights, {}, bounds, where), ordinal); },
        nb::arg("image"), nb::arg("out"), nb::arg("options"), nb::arg("weights").none(), nb::arg("ordinal"),
        nb::arg("bounds").none() = nb::none(), nb::arg("where") = nb::tuple());
}

/// Binds the queries about a call and about the machine.
void bind_questions(nb::module_& m) {
    m.def(
        "plan",
        [](const array& image, const nb::tuple& out, const distance_options& options, const array* weights,
           bool on_device, int threads) {
            const call what(image, out, options, weights);
            return described(on_device ? plan_of(device{nullptr}, what) : plan_of(host{threads}, what));
        },
        nb::arg("image"), nb::arg("out"), nb::arg("options"), nb::arg("weights").none(), nb::arg("on_device"),
        nb::arg("threads"));
    m.def(
        "squared_distance_type",
        [](const std::vector<std::int64_t>& shape, const distance_options& options) {
            return std::string(name_of(squared_distance_type(shape.data(), static_cast<int>(shape.size()), options)));
        },
        nb::arg("shape"), nb::arg("options"));
    m.def(
        "require_memory",
        [](std::int64_t bytes, const std::string& what) {
            if (!planning()) require_memory(bytes, what);
        },
        nb::arg("bytes"), nb::arg("what"));
    m.def(
        "field_memory",
        [](std::int64_t bytes) {
            os::large_block* const made = os::allocate_large(bytes);
            if (made == nullptr) throw std::bad_alloc();
            const nb::capsule owner(made,
                                    [](void* block) noexcept { os::free_large(static_cast<os::large_block*>(block)); });
            return nb::ndarray<nb::numpy, std::uint8_t>(made->start, {static_cast<std::size_t>(bytes)}, owner);
        },
        nb::arg("bytes"));
    nb::exception<planned>(m, "Planned", PyExc_BaseException);
    m.def("plan_calls", &plan_of_calls, nb::arg("calls"));
    m.def("query_system", [] { return described(query_system()); });
    m.def("release_device_memory", [] { release_device_memory(); });
}

}  // namespace
}  // namespace nearfield::python

NB_MODULE(_core, m) {
    using namespace nearfield;
    using namespace nearfield::python;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        throw nb::import_error("nearfield works in Python's main interpreter only, as NumPy does; import it there");
    m.doc() = "The compiled part of nearfield; not an interface of its own.";
    cancelled = nb::object(nb::module_::import_("nearfield._errors").attr("Cancelled")).release().ptr();
    nb::register_exception_translator(translate);
    native_work::wait_at_exit();
    nb::set_leak_warnings(false);  // daemon threads that end with Python keep what their calls hold
    m.attr("version") = NEARFIELD_VERSION;
    bind_array(m);
    bind_device(m);
    bind_chamfer(m);
    bind_chunks(m);
    bind_methods(m);
    bind_thickness(m);
    bind_label(m);
    bind_components(m);
    bind_medial_axis(m);
    bind_metrics(m);
    bind_skeleton(m);
    bind_sdf(m);
    bind_watershed(m);
    bind_centroidal(m);
    bind_geodesic(m);
    bind_jax(m);
    bind_fill(m);
    bind_mesh(m);
    bind_path(m);
    bind_rays(m);
    bind_runs(m);
    bind_questions(m);
}
