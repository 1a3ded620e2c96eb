#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "edge/shapes_run.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

template <class Place>
watershed_fields<Place> fields_of(const array* label, const array* passes, const array* extrema = nullptr) {
    return {view_of<void, Place>(label), view_of<void, Place>(passes), view_of<void, Place>(extrema)};
}

void flood(const array& image, const array* markers, const array* mask, const array* label, const array* passes,
           const array* extrema, const watershed_options& options, int ordinal, std::uintptr_t stream, bool staged,
           int threads, const nb::object& progress) {
    const auto call = [&]<class Place>(const Place& on) {
        watershed(on, image.view<const void, Place>(), fields_of<Place>(label, passes, extrema), options,
                  view_of<const void, Place>(markers), view_of<const void, Place>(mask));
    };
    run(
        {ordinal, stream, staged, threads, progress}, image.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::watershed_on_device(on, image.view<const void, host>(), fields_of<host>(label, passes, extrema),
                                      options, view_of<const void, host>(markers), view_of<const void, host>(mask));
        });
}

void rebuild(const array& seed, const array& image, const array& out, const watershed_options& options, int ordinal,
             std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const auto call = [&]<class Place>(const Place& on) {
        reconstruct_gray(on, seed.view<const void, Place>(), image.view<const void, Place>(), out.view<void, Place>(),
                         options);
    };
    run(
        {ordinal, stream, staged, threads, progress}, image.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::reconstruct_gray_on_device(on, seed.view<const void, host>(), image.view<const void, host>(),
                                             out.view<void, host>(), options);
        });
}

/// Returns the peaks, which Python reads through a type of NumPy.
nb::bytes peaks_of(const array& image, const array* mask, const array* labels, const watershed_options& options,
                   int ordinal, std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    std::vector<peak> found;
    const auto call = [&]<class Place>(const Place& on) {
        found = peaks(on, image.view<const void, Place>(), options, view_of<const void, Place>(mask),
                      view_of<const void, Place>(labels));
    };
    run(
        {ordinal, stream, staged, threads, progress}, image.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            found = edge::peaks_on_device(on, image.view<const void, host>(), options, view_of<const void, host>(mask),
                                          view_of<const void, host>(labels));
        });
    return bytes_of(found);
}

/// Sorts peaks that Python has as bytes, on a device if `ordinal` names one.
nb::bytes sorted(const nb::bytes& rows, const std::vector<std::int64_t>& shape, double apart, int ordinal,
                 std::uintptr_t stream) {
    std::vector<peak> found(rows.size() / sizeof(peak));
    std::memcpy(found.data(), rows.c_str(), rows.size());
    if (ordinal < 0) return bytes_of(sorted_peaks(std::move(found), shape, true, apart));
    const edge::current_device current(ordinal);
    return bytes_of(sorted_peaks(device{reinterpret_cast<void*>(stream)}, std::move(found), shape, true, apart));
}

/// Returns the coordinates of peaks of an image, row by row.
nb::bytes coordinates_of(const std::vector<peak>& found, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> at(found.size() * shape.size());
    std::int64_t cells = 1;
    for (const std::int64_t n : shape) cells *= n;
    const auto write = [&]<class Number>(Number) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            auto rest = static_cast<Number>(found[i].cell);
            for (std::size_t axis = shape.size(); axis-- > 0;) {
                const auto n = static_cast<Number>(shape[axis]);
                const auto next = static_cast<Number>(rest / n);
                at[i * shape.size() + axis] = static_cast<std::int64_t>(rest - next * n), rest = next;
            }
        }
    };
    if (cells < std::int64_t{1} << 32) write(std::uint32_t{});  // whose quotients take a third of the time
    else write(std::uint64_t{});
    return bytes_of(at);
}

void separate(const array& mask, const array& out, const split_options& options, int ordinal, std::uintptr_t stream,
              bool staged, int threads, const nb::object& progress) {
    run(
        {ordinal, stream, staged, threads, progress}, mask.cells(),
        [&](const host& on) { split(on, mask.view<const void, host>(), out.view<void, host>(), options); },
        [&](const device& on) { split(on, mask.view<const void, device>(), out.view<void, device>(), options); },
        [&](int on) { edge::split_on_device(on, mask.view<const void, host>(), out.view<void, host>(), options); });
}

split_options objects_of(const array& image, const array& mask, const split_options& options, bool dark, int threads) {
    const unlocked released;
    return gray_objects(host{threads, {}}, image.view<const void, host>(), mask.view<void, host>(), options, dark);
}
double otsu_of(const array& image, int threads) {
    const unlocked released;
    return threshold_otsu(host{threads, {}}, image.view<const void, host>());
}

/// Runs a question to basins with an output, where the basins are.
template <class Call>
void ask(int ordinal, std::uintptr_t stream, int threads, const Call& call) {
    const unlocked released;
    if (ordinal < 0) return call(host{threads, {}});
    const edge::current_device current(ordinal);
    call(device{reinterpret_cast<void*>(stream)});
}

void bind_hierarchy(nb::class_<basins>& to) {
    to.def(
          "extinctions",
          [](const basins& of, int by, bool roots) {
              return bytes_of(of.extinctions(static_cast<attribute>(by), roots));
          },
          nb::arg("by"), nb::arg("roots"))
        .def(
            "cut",
            [](const basins& of, const array& out, int by, double least, std::int64_t regions, bool roots, int ordinal,
               std::uintptr_t stream, int threads) {
                ask(ordinal, stream, threads, [&]<class Place>(const Place& on) {
                    of.cut(on, out.view<void, Place>(), {static_cast<attribute>(by), least, regions, roots});
                });
            },
            nb::arg("out"), nb::arg("by"), nb::arg("least"), nb::arg("regions"), nb::arg("roots"), nb::arg("ordinal"),
            nb::arg("stream"), nb::arg("threads"));
}

void make_basins(basins* made, const array& image, const array* mask, const watershed_options& options, int ordinal,
                 std::uintptr_t stream, int threads, const nb::object& progress) {
    const auto call = [&]<class Place>(const Place& on) {
        new (made) basins(on, image.view<const void, Place>(), options, view_of<const void, Place>(mask));
    };
    run(
        {ordinal, stream, false, threads, progress}, image.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); }, [](int) {});
}

void bind_basins(nb::module_& module) {
    nb::class_<basins> to(module, "Basins");
    bind_hierarchy(to);
    to.def("__init__", &make_basins, nb::arg("image"), nb::arg("mask").none(), nb::arg("options"), nb::arg("ordinal"),
           nb::arg("stream"), nb::arg("threads"), nb::arg("progress").none())
        .def(
            "extrema", [](const basins& of, double h, bool roots) { return bytes_of(of.extrema(h, roots)); },
            nb::arg("h"), nb::arg("roots"))
        .def(
            "peaks",
            [](const basins& of, double h, bool roots, const std::vector<std::int64_t>& shape) {
                return coordinates_of(of.peaks(h, roots), shape);
            },
            nb::arg("h"), nb::arg("roots"), nb::arg("shape"))
        .def(
            "mark",
            [](const basins& of, const array& out, double h, bool roots, int ordinal, std::uintptr_t stream,
               int threads) {
                ask(ordinal, stream, threads,
                    [&]<class Place>(const Place& on) { of.mark(on, h, roots, out.view<void, Place>()); });
            },
            nb::arg("out"), nb::arg("h"), nb::arg("roots"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("threads"))
        .def(
            "watershed",
            [](const basins& of, const array* markers, const array* label, const array* passes,
               const watershed_options& options, int ordinal, std::uintptr_t stream, int threads) {
                ask(ordinal, stream, threads, [&]<class Place>(const Place& on) {
                    of.watershed(on, fields_of<Place>(label, passes), options, view_of<const void, Place>(markers));
                });
            },
            nb::arg("markers").none(), nb::arg("label").none(), nb::arg("passes").none(), nb::arg("options"),
            nb::arg("ordinal"), nb::arg("stream"), nb::arg("threads"))
        .def(
            "passes",
            [](const basins& of, const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
                return of.passes(a, b);
            },
            nb::arg("a"), nb::arg("b"));
}

}  // namespace

void bind_watershed(nb::module_& module) {
    nb::class_<watershed_options>(module, "WatershedOptions")
        .def(
            "__init__",
            [](watershed_options* made, const distance_options& grid, int connectivity, bool maxima, bool lines,
               double h,
               bool roots) { new (made) watershed_options{connectivity, grid.border, maxima, lines, h, roots}; },
            nb::arg("options"), nb::arg("connectivity"), nb::arg("maxima"), nb::arg("lines"), nb::arg("h"),
            nb::arg("roots"));
    bind_basins(module);
    module.def("watershed", &flood, nb::arg("image"), nb::arg("markers").none(), nb::arg("mask").none(),
               nb::arg("label").none(), nb::arg("passes").none(), nb::arg("extrema").none(), nb::arg("options"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("peaks", &peaks_of, nb::arg("image"), nb::arg("mask").none(), nb::arg("labels").none(),
               nb::arg("options"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("sorted_peaks", &sorted, nb::arg("rows"), nb::arg("shape"), nb::arg("apart"), nb::arg("ordinal"),
               nb::arg("stream"));
    nb::class_<split_options>(module, "SplitOptions")
        .def(
            "__init__",
            [](split_options* made, const distance_options& grid, int method, std::optional<double> h,
               std::int64_t smallest) {
                new (made) split_options{static_cast<split_method>(method), grid.spacing, grid.border, h, smallest};
            },
            nb::arg("options"), nb::arg("method"), nb::arg("h").none(), nb::arg("smallest"));
    module.def("split", &separate, nb::arg("mask"), nb::arg("out"), nb::arg("options"), nb::arg("ordinal"),
               nb::arg("stream"), nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
    module.def("gray_objects", &objects_of, nb::arg("image"), nb::arg("mask"), nb::arg("options"), nb::arg("dark"),
               nb::arg("threads"));
    module.def("threshold_otsu", &otsu_of, nb::arg("image"), nb::arg("threads"));
    module.def("reconstruct_gray", &rebuild, nb::arg("seed"), nb::arg("image"), nb::arg("out"), nb::arg("options"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
}

}  // namespace nearfield::python
