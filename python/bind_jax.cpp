// Handlers that XLA calls within compiled programs (jax.ffi): the library's calls on XLA's buffers, on its stream.
// They run in threads of XLA's without the interpreter's lock, and touch nothing of Python.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "edge/device_arrays.hpp"
#include "python/bind_label.hpp"
#include "python/bind_lock.hpp"
#include "python/xla_ffi.hpp"

namespace nearfield::python {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw error(error_code::invalid_argument, what + "; use one version of nearfield and of its saved programs");
}

dtype type_of(int type) {
    const auto* const found = std::find(std::begin(xla::types), std::end(xla::types), type);
    if (found == std::end(xla::types)) refuse("XLA gave an array of type " + std::to_string(type));
    return static_cast<dtype>(found - std::begin(xla::types));
}

/// The attributes of a call, by name.
class words {
public:
    explicit words(const xla::attributes& all) : all_(all) {}

    [[nodiscard]] std::string text(std::string_view name) const {
        const auto& found = item<xla::text>(name, xla::attribute_text);
        return {found.data, found.size};
    }
    [[nodiscard]] scalar number(std::string_view name) const {
        const auto& found = item<xla::scalar>(name, xla::attribute_scalar);
        switch (type_of(found.type)) {
            case dtype::boolean: return std::int64_t{*static_cast<const bool*>(found.value)};
            case dtype::int64: return *static_cast<const std::int64_t*>(found.value);
            case dtype::float64: return *static_cast<const double*>(found.value);
            default: refuse("XLA gave another type of " + std::string(name));
        }
    }
    /// Parses a number of any type from Python's text, because JAX passes no integers above 2^63.
    [[nodiscard]] scalar exact(std::string_view name) const {
        const std::string all = text(name);
        if (all.find_first_not_of("-0123456789") != std::string::npos) return std::strtod(all.c_str(), nullptr);
        if (all.front() == '-') return std::int64_t{std::strtoll(all.c_str(), nullptr, 10)};
        return std::uint64_t{std::strtoull(all.c_str(), nullptr, 10)};
    }
    [[nodiscard]] std::int64_t count(std::string_view name) const {
        return static_cast<std::int64_t>(number(name).bits());
    }
    [[nodiscard]] int small(std::string_view name) const { return static_cast<int>(count(name)); }
    [[nodiscard]] bool flag(std::string_view name) const { return count(name) != 0; }
    [[nodiscard]] std::vector<double> lengths(std::string_view name) const {
        const auto& found = item<xla::array>(name, xla::attribute_array);
        if (type_of(found.type) != dtype::float64) refuse("XLA gave another type of " + std::string(name));
        const auto* const first = static_cast<const double*>(found.data);
        return {first, first + found.size};
    }
    /// Splits a text at its commas.
    [[nodiscard]] std::vector<std::string> list(std::string_view name) const {
        std::vector<std::string> found;
        const std::string all = text(name);
        for (std::size_t at = 0; at <= all.size();) {
            const std::size_t end = std::min(all.find(',', at), all.size());
            found.push_back(all.substr(at, end - at));
            at = end + 1;
        }
        return found;
    }

private:
    template <class Item>
    [[nodiscard]] const Item& item(std::string_view name, int type) const {
        for (std::int64_t k = 0; k < all_.size; ++k)
            if (std::string_view(all_.names[k]->data, all_.names[k]->size) == name && all_.types[k] == type)
                return *static_cast<const Item*>(all_.items[k]);
        refuse("XLA gave no " + std::string(name));
    }

    const xla::attributes& all_;
};

/// Arrays of a call: those of the trace, where all axes that jax.vmap put in front become one.
class arrays {
public:
    arrays(const xla::call& call, int axes) : call_(call), mapped_(buffer(call.arguments, 0).rank - axes) {}

    [[nodiscard]] int images() const { return mapped_ > 0 ? 1 : 0; }
    [[nodiscard]] bool has(std::int64_t argument) const { return argument < call_.arguments.size; }
    template <class Place>
    [[nodiscard]] any_input<Place> argument(std::int64_t k) const {
        return view<const void, Place>(buffer(call_.arguments, k));
    }
    template <class Place>
    [[nodiscard]] any_output<Place> result(std::int64_t k) const {
        return view<void, Place>(buffer(call_.results, k));
    }

private:
    static const xla::buffer& buffer(const xla::buffers& all, std::int64_t k) {
        if (k >= all.size) refuse("XLA gave " + std::to_string(all.size) + " arrays");
        return *static_cast<const xla::buffer*>(all.items[k]);
    }
    template <class Element, class Place>
    [[nodiscard]] any_view<Element, Place> view(const xla::buffer& of) const {
        std::vector<std::int64_t> sizes(of.sizes + std::max<std::int64_t>(mapped_, 0), of.sizes + of.rank);
        if (mapped_ > 0) {
            std::int64_t images = 1;
            for (std::int64_t axis = 0; axis < mapped_; ++axis) images *= of.sizes[axis];
            sizes.insert(sizes.begin(), images);
        }
        if (sizes.size() > max_rank + 1) refuse("XLA gave an array of " + std::to_string(sizes.size()) + " axes");
        return any_view<Element, Place>::contiguous(static_cast<Element*>(of.data), type_of(of.type), sizes);
    }

    const xla::call& call_;
    std::int64_t mapped_;  ///< axes that jax.vmap put in front
};

/// Transposes coordinates (images, axes, ...) to the library's order (axes, images, ...).
template <class Place>
any_output<Place> coordinates_first(any_output<Place> of) {
    std::swap(of.shape[0], of.shape[1]);
    std::swap(of.stride[0], of.stride[1]);
    return of;
}

/// Computes the fields of one image or of each image of a batch: distances, nearest sites, or the power diagram.
struct fields_call {
    arrays given;
    words said;

    explicit fields_call(const xla::call& call)
        : given(call, words(call.attributes).small("axes")), said(call.attributes) {}

    template <class Place>
    void run(const Place& on) const {
        std::vector<double> spacing = said.lengths("spacing");
        std::vector<std::string> border = said.list("border");
        if (given.images() != 0 && spacing.size() > 1) spacing.insert(spacing.begin(), 1.0);
        if (given.images() != 0 && border.size() > 1) border.insert(border.begin(), "open");
        edge::work<Place> made;
        made.options = options_of(spacing, said.text("sites"), said.text("sign"), said.flag("half_cell"), border,
                                  said.number("max_distance").real(), said.small("batch_axes") + given.images());
        made.jobs = {{given.template argument<Place>(0), outputs<Place>()}};
        if (given.has(1)) made.weights = given.template argument<Place>(1);
        edge::run(on, made);
    }

private:
    template <class Place>
    [[nodiscard]] fields<Place> outputs() const {
        fields<Place> out;
        std::int64_t k = 0;
        for (const std::string& name : said.list("fields")) {
            const any_output<Place> each = given.template result<Place>(k++);
            if (name == "distance") out.distance = each;
            else if (name == "squared") out.squared = each;
            else if (name == "index") out.index = each;
            else if (name == "coordinates") out.coordinates = given.images() == 0 ? each : coordinates_first(each);
            else if (name == "label") out.label = each;
            else if (name == "trusted") out.trusted = each;
            else refuse("XLA asks for a field '" + name + "'");
        }
        return out;
    }
};

/// Numbers the components of one image, or of each image of a batch.
struct label_call {
    arrays given;
    words said;

    explicit label_call(const xla::call& call)
        : given(call, words(call.attributes).small("axes")), said(call.attributes) {}

    template <class Place>
    void run(const Place& on) const {
        label_words asked;
        std::vector<bool> periodic;
        for (const std::string& each : said.list("periodic")) periodic.push_back(each == "periodic");
        set_words(asked, said.small("connectivity"), said.text("criterion"), said.exact("tolerance"), periodic,
                  said.text("norm"));
        asked.plain.has_background = said.flag("has_background");
        asked.plain.background = said.exact("background");
        asked.plain.channels = said.flag("channels");
        asked.plain.batch_axes = said.small("batch_axes") + given.images();
        asked.plain.smallest = said.count("smallest"), asked.plain.largest = said.count("largest");
        asked.plain.keep_largest = said.count("keep_largest"), asked.plain.clear_border = said.flag("clear_border");
        label_fields<Place> out;
        out.label = given.template result<Place>(0);
        nearfield::label(on, given.template argument<Place>(0), out, asked.options());
    }
};

xla::error* failed(const xla::call& call, int code, const char* message) {
    xla::new_error made{sizeof(xla::new_error), nullptr, message, code};
    return call.functions->create_error(&made);
}

/// Returns what run() threw as an error of XLA's, null for none.
template <class Run>
xla::error* guarded(const xla::call& call, const Run& run) {
    try {
        return run();
    } catch (const error& problem) {
        const int code = problem.code() == error_code::invalid_argument ? xla::invalid_argument
                         : problem.code() == error_code::out_of_memory  ? xla::resource_exhausted
                         : problem.code() == error_code::cancelled      ? xla::cancelled
                                                                        : xla::internal;
        return failed(call, code, problem.what());
    } catch (const std::bad_alloc&) {
        return failed(call, xla::resource_exhausted, "out of memory: the system gave the call less than it needs");
    } catch (const std::exception& problem) {
        return failed(call, xla::internal, problem.what());
    }
}

/// Answers XLA's question for the version of its interface: that of XLA itself, since minor versions changed nothing
/// that is used here. An XLA that does not tell its own is of 0.1 (until jaxlib 0.6).
bool answered(const xla::call& call) {
    if (call.extensions == nullptr || call.extensions->type != xla::extension_metadata) return false;
    xla::metadata& asked = *reinterpret_cast<xla::metadata_extension*>(call.extensions)->metadata;
    const int minor = call.functions == nullptr ? 1 : call.functions->version.minor;
    asked.version = {sizeof(xla::version), nullptr, 0, minor};
    asked.traits = 0;
    return true;
}

template <class Call>
xla::error* run_on_host(xla::call* call) {
    if (answered(*call)) return nullptr;
    return guarded(*call, [&]() -> xla::error* {
        const native_work counted;
        const Call made(*call);
        made.run(host{made.said.small("threads"), [](double) { return !native_work::must_stop(); }});
        return nullptr;
    });
}

template <class Call>
xla::error* run_on_device(xla::call* call) {
    if (answered(*call)) return nullptr;
    return guarded(*call, [&]() -> xla::error* {
        const Call made(*call);
        const any_input<device> image = made.given.template argument<device>(0);
        if (image.cells() == 0) return nullptr;
        xla::get_stream asked{sizeof(xla::get_stream), nullptr, call->context, nullptr};
        if (xla::error* const problem = call->functions->stream(&asked)) return problem;
        const native_work counted;
        const edge::current_device current(edge::device_of(image.data));
        made.run(device{asked.stream});
        return nullptr;
    });
}

nb::tuple target(const char* name, const char* platform, xla::error* (*handler)(xla::call*)) {
    return nb::make_tuple(name, platform, nb::capsule(reinterpret_cast<void*>(handler)));
}

}  // namespace

void bind_jax(nb::module_& module) {
    module.def(
        "xla_targets",
        [] {
            nb::list made;
            made.append(target("nearfield_fields", "cpu", &run_on_host<fields_call>));
            made.append(target("nearfield_label", "cpu", &run_on_host<label_call>));
#ifdef NEARFIELD_HAS_CUDA
            made.append(target("nearfield_fields", "CUDA", &run_on_device<fields_call>));
            made.append(target("nearfield_label", "CUDA", &run_on_device<label_call>));
#endif
            return made;
        },
        "What jax.ffi.register_ffi_target takes: name, platform and handler of each.");
}

}  // namespace nearfield::python
