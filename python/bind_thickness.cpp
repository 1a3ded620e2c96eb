#include <nanobind/stl/vector.h>

#include "edge/device_arrays.hpp"
#include "edge/shapes_run.hpp"
#include "python/bind_call.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {
namespace {

/// Request of a call. With `balls`, the image holds squared radii.
struct asked {
    const array& image;
    const array *thickness, *squared;
    const distance_options& like;
    const std::vector<double>& sizes;
    bool balls;

    [[nodiscard]] thickness_options options() const {
        thickness_options o;
        o.spacing = like.spacing, o.border = like.border, o.batch_axes = like.batch_axes;
        o.multilabel = like.sites == sites::other_labels, o.sizes = sizes;
        return o;
    }
    template <class Place>
    [[nodiscard]] thickness_fields<Place> out() const {
        return {view_of<void, Place>(thickness), view_of<void, Place>(squared)};
    }
    template <class Place>
    void run(const Place& on) const {
        const auto from = image.view<const void, Place>();
        if (balls) union_of_balls(on, from, out<Place>(), options());
        else local_thickness(on, from, out<Place>(), options());
    }
};

void on_host(const array& image, const array* thickness, const array* squared, const distance_options& like,
             const std::vector<double>& sizes, bool balls, int threads, const nb::object& progress) {
    const asked what{image, thickness, squared, like, sizes, balls};
    run_watched(image.cells(), progress,
                [&](std::function<bool(double)> told) { what.run(host{threads, std::move(told)}); });
}

void on_stream(const array& image, const array* thickness, const array* squared, const distance_options& like,
               const std::vector<double>& sizes, bool balls, int ordinal, std::uintptr_t stream) {
    const asked what{image, thickness, squared, like, sizes, balls};
    const unlocked released;
    const edge::current_device current(ordinal);
    what.run(device{reinterpret_cast<void*>(stream)});
}

void staged(const array& image, const array* thickness, const array* squared, const distance_options& like,
            const std::vector<double>& sizes, bool balls, int ordinal) {
    const asked what{image, thickness, squared, like, sizes, balls};
    const unlocked released;
    edge::thickness_on_device(ordinal, image.view<const void, host>(), what.out<host>(), what.options(), balls);
    end_plan();
}

}  // namespace

void bind_thickness(nb::module_& module) {
    module.def("thickness_on_host", &on_host, nb::arg("image"), nb::arg("thickness").none(), nb::arg("squared").none(),
               nb::arg("options"), nb::arg("sizes"), nb::arg("balls"), nb::arg("threads"), nb::arg("progress").none());
    module.def("thickness_on_stream", &on_stream, nb::arg("image"), nb::arg("thickness").none(),
               nb::arg("squared").none(), nb::arg("options"), nb::arg("sizes"), nb::arg("balls"), nb::arg("ordinal"),
               nb::arg("stream"));
    module.def("thickness_staged", &staged, nb::arg("image"), nb::arg("thickness").none(), nb::arg("squared").none(),
               nb::arg("options"), nb::arg("sizes"), nb::arg("balls"), nb::arg("ordinal"));
}

}  // namespace nearfield::python
