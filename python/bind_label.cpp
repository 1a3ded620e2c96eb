#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "edge/device_arrays.hpp"
#include "edge/label_run.hpp"
#include "python/bind_label.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {
namespace {

template <class Value, std::size_t Count>
Value value_of(const char* argument, const std::string& came, const std::pair<const char*, Value> (&known)[Count]) {
    for (const auto& [text, value] : known)
        if (came == text) return value;
    std::string all;
    for (const auto& [text, value] : known) all += (all.empty() ? "'" : ", '") + std::string(text) + "'";
    throw error(error_code::invalid_argument, std::string(argument) + " is '" + came + "'; give one of " + all);
}

constexpr std::pair<const char*, criterion> criterion_words[] = {{"nonzero", criterion::nonzero},
                                                                 {"equal", criterion::equal},
                                                                 {"within", criterion::within},
                                                                 {"links", criterion::links}};
constexpr std::pair<const char*, colour_norm> norm_words[] = {
    {"maximum", colour_norm::maximum}, {"sum", colour_norm::sum}, {"euclidean", colour_norm::euclidean}};

/// An integer of up to 64 bits, or a float.
scalar scalar_of(const char* argument, nb::handle number) {
    if (PyFloat_Check(number.ptr())) return PyFloat_AsDouble(number.ptr());
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    if (overflow == 0) return static_cast<std::int64_t>(value);
    if (overflow > 0) {
        const unsigned long long large = PyLong_AsUnsignedLongLong(number.ptr());
        if (PyErr_Occurred() == nullptr) return static_cast<std::uint64_t>(large);
        PyErr_Clear();
    }
    throw error(
        error_code::invalid_argument,
        std::string(argument) + " is an integer of more than 64 bits, which no array holds; give a smaller one");
}

void fill(label_words* made, int connectivity, const std::string& criterion, nb::handle tolerance,
          nb::handle background, bool channels, const std::string& norm, const std::vector<bool>& periodic,
          int batch_axes, const std::vector<int>& steps, std::int64_t smallest, std::int64_t largest,
          std::int64_t keep_largest, bool clear_border) {
    new (made) label_words;
    set_words(*made, connectivity, criterion, scalar_of("criterion", tolerance), periodic, norm);
    made->steps.assign(steps.begin(), steps.end());
    label_options& options = made->plain;
    options.has_background = !background.is_none();
    if (options.has_background) options.background = scalar_of("background", background);
    options.channels = channels;
    options.batch_axes = batch_axes;
    options.smallest = smallest, options.largest = largest, options.keep_largest = keep_largest;
    options.clear_border = clear_border;
}

/// Outputs of a call, and Python's arrays that it fills for its tables, which live until the call is over.
template <class Place>
struct wanted_fields {
    label_fields<Place> out;
    nb::object tables;

    wanted_fields(const array* label, const array* count, const nb::object& make_tables) {
        out.label = view_of<void, Place>(label);
        out.count = view_of<void, Place>(count);
        if (make_tables.is_none()) return;
        // The calling thread may not be the interpreter's.
        out.make_tables = [this, &make_tables](std::int64_t rows) {
            const locked held;
            tables = called(make_tables, nb::int_(rows));
            if (!tables.is_valid()) throw nb::python_error();
            return tables_of<Place>(nb::cast<nb::tuple>(tables));
        };
    }
    wanted_fields(const wanted_fields&) = delete;
    wanted_fields& operator=(const wanted_fields&) = delete;
};

void on_host(const array& image, const array* label, const array* count, const nb::object& make_tables,
             const label_words& words, int threads, const nb::object& progress) {
    const wanted_fields<host> wanted(label, count, make_tables);
    run_watched(image.cells(), progress, [&](std::function<bool(double)> told) {
        nearfield::label(host{threads, std::move(told)}, image.view<const void, host>(), wanted.out, words.options());
    });
}

std::vector<std::int64_t> on_stream(const array& image, const array* label, std::int64_t images,
                                    const nb::object& make_tables, const label_words& words, int ordinal,
                                    std::uintptr_t stream) {
    wanted_fields<device> wanted(label, nullptr, make_tables);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(images));
    const unlocked released;
    const edge::current_device current(ordinal);
    const std::int64_t bytes = images * size_of(dtype::int64);
    const auto give_back = [ordinal](void* data) { edge::release(ordinal, data); };
    std::unique_ptr<void, decltype(give_back)> memory(images > 0 ? edge::reserve(ordinal, bytes) : nullptr, give_back);
    if (images > 0) wanted.out.count = any_output<device>::contiguous(memory.get(), dtype::int64, std::array{images});
    void* const on = reinterpret_cast<void*>(stream);
    nearfield::label(device{on}, image.view<const void, device>(), wanted.out, words.options());
    if (images > 0) edge::read_back(ordinal, on, counts.data(), memory.get(), bytes);
    return counts;
}

void staged(const array& image, const array* label, const array* count, const nb::object& make_tables,
            const label_words& words, int ordinal) {
    if (planning()) {
        const wanted_fields<device> planned(label, count, make_tables);
        nearfield::label(device{nullptr}, image.view<const void, device>(), planned.out, words.options());
        end_plan();
    }
    const wanted_fields<host> wanted(label, count, make_tables);
    const unlocked released;
    edge::label_on_device(ordinal, image.view<const void, host>(), wanted.out, words.options());
}

}  // namespace

void set_words(label_words& made, int connectivity, const std::string& criterion, scalar tolerance,
               const std::vector<bool>& periodic, const std::string& norm) {
    std::vector<border> ends;
    for (const bool each : periodic) ends.push_back(each ? border::periodic : border::open);
    made.plain.connectivity = connectivity;
    made.plain.criterion = value_of("criterion", criterion, criterion_words);
    made.plain.tolerance = tolerance;
    made.plain.norm = value_of("norm", norm, norm_words);
    made.plain.border = {ends.data(), ends.size()};
}

void bind_label(nb::module_& module) {
    nb::class_<label_words>(module, "LabelOptions")
        .def("__init__", &fill, nb::arg("connectivity"), nb::arg("criterion"), nb::arg("tolerance"),
             nb::arg("background").none(), nb::arg("channels"), nb::arg("norm"), nb::arg("periodic"),
             nb::arg("batch_axes"), nb::arg("steps"), nb::arg("smallest"), nb::arg("largest"), nb::arg("keep_largest"),
             nb::arg("clear_border"));
    module.def("label_on_host", &on_host, nb::arg("image"), nb::arg("label").none(), nb::arg("count").none(),
               nb::arg("make_tables").none(), nb::arg("options"), nb::arg("threads"), nb::arg("progress").none());
    module.def("label_on_stream", &on_stream, nb::arg("image"), nb::arg("label").none(), nb::arg("images"),
               nb::arg("make_tables").none(), nb::arg("options"), nb::arg("ordinal"), nb::arg("stream"));
    module.def("label_staged", &staged, nb::arg("image"), nb::arg("label").none(), nb::arg("count").none(),
               nb::arg("make_tables").none(), nb::arg("options"), nb::arg("ordinal"));
    module.def(
        "link_bit", [](const std::vector<int>& step) { return link_bit(step.data(), static_cast<int>(step.size())); },
        nb::arg("step"));
    module.def(
        "label_type",
        [](const std::vector<std::int64_t>& shape, const label_words& words) {
            return std::string(name_of(label_type(shape.data(), static_cast<int>(shape.size()), words.options())));
        },
        nb::arg("shape"), nb::arg("options"));
}

}  // namespace nearfield::python
