#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nearfield/effects.hpp"
#include "nearfield/sdf.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

void field_of(const array& image, const array& out, const distance_options& grid, double radius, double cutoff,
              int supersample, bool antialias, int ordinal, std::uintptr_t stream, bool staged, int threads,
              const nb::object& progress) {
    const sdf_options options{radius, cutoff, supersample, antialias, grid.border, grid.batch_axes};
    over<1, 1>({ordinal, stream, staged, threads, progress}, {&image}, {&out},
               [&](const auto& on, const auto& in, const auto& to) { sdf(on, in[0], to[0], options); });
}

/// Makes an effect from its name and its numbers, in the order of its members.
effects::effect effect_of(const std::string& name, const std::vector<double>& n) {
    using namespace effects;
    const auto where = [&](std::size_t k) { return n.at(k) != 0 ? side::inside : side::outside; };
    if (name == "outline") return outline{n.at(0), n.at(1)};
    if (name == "glow") return glow{n.at(0), where(1), static_cast<int>(n.at(2))};
    if (name == "shadow") return shadow{n.at(0), n.at(1), n.at(2), n.at(3)};
    if (name == "bevel") return bevel{n.at(0), n.at(1), n.at(2), n.at(3) != 0};
    if (name == "contour") return contour{n.at(0), n.at(1), where(2)};
    if (name == "trail") return trail{n.at(0), n.at(1)};
    if (name == "light") return light{n.at(0), n.at(1), n.at(2), n.at(3)};
    return halftone{n.at(0), n.at(1)};
}

void layer_of(const array& field, const array& out, const distance_options& grid, const std::string& name,
              const std::vector<double>& numbers, int ordinal, std::uintptr_t stream, bool staged, int threads,
              const nb::object& progress) {
    const effects::effect what = effect_of(name, numbers);
    over<1, 1>(
        {ordinal, stream, staged, threads, progress}, {&field}, {&out},
        [&](const auto& on, const auto& in, const auto& to) { effects::layer(on, in[0], to[0], what, grid.border); });
}

void padded(const array& image, const array* known, const array& out, const distance_options& grid, double radius,
            double least, int ordinal, std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const effects::pad_options options{radius, least, grid.border};
    over<2, 1>({ordinal, stream, staged, threads, progress}, {&image, known}, {&out},
               [&](const auto& on, const auto& in, const auto& to) { effects::pad(on, in[0], to[0], options, in[1]); });
}

/// Binds the calls of canvases, which are on the host.
void watched(const array& canvas, int threads, const std::function<void(const host&)>& work) {
    run_watched(canvas.cells(), nb::none(),
                [&](std::function<bool(double)> told) { work(host{threads, std::move(told)}); });
}
void paint(const array& canvas, const array& layer, const std::string& text, float strength, int how, int threads) {
    effects::colour with = effects::colour_of(text);
    with.alpha *= strength;
    watched(canvas, threads, [&](const host& on) {
        effects::paint(on, canvas.view<void, host>(), layer.view<const void, host>(), with,
                       static_cast<effects::blend>(how));
    });
}
void decode(const array& image, const array& canvas, int threads) {
    watched(canvas, threads,
            [&](const host& on) { effects::decode(on, image.view<const void, host>(), canvas.view<void, host>()); });
}
void encode(const array& canvas, const array& image, int threads) {
    watched(canvas, threads,
            [&](const host& on) { effects::encode(on, canvas.view<const void, host>(), image.view<void, host>()); });
}

}  // namespace

void bind_sdf(nb::module_& module) {
    module.def("sdf", &field_of, nb::arg("image"), nb::arg("out"), nb::arg("options"), nb::arg("radius"),
               nb::arg("cutoff"), nb::arg("supersample"), nb::arg("antialias"), nb::arg("ordinal"), nb::arg("stream"),
               nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
    module.def("effect", &layer_of, nb::arg("field"), nb::arg("out"), nb::arg("options"), nb::arg("name"),
               nb::arg("numbers"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("pad", &padded, nb::arg("image"), nb::arg("known").none(), nb::arg("out"), nb::arg("options"),
               nb::arg("radius"), nb::arg("least"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"),
               nb::arg("threads"), nb::arg("progress").none());
    module.def("paint", &paint, nb::arg("canvas"), nb::arg("layer"), nb::arg("colour"), nb::arg("strength"),
               nb::arg("how"), nb::arg("threads"));
    module.def("decode", &decode, nb::arg("image"), nb::arg("canvas"), nb::arg("threads"));
    module.def("encode", &encode, nb::arg("canvas"), nb::arg("image"), nb::arg("threads"));
}

}  // namespace nearfield::python
