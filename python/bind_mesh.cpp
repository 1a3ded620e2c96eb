#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "edge/arrays_run.hpp"
#include "nearfield/isosurface.hpp"
#include "nearfield/mesh_distance.hpp"
#include "nearfield/offset.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// The rows of a contiguous array of shape (n, 3).
template <class Number>
std::span<const std::array<Number, 3>> rows_of(const array& of) {
    return {reinterpret_cast<const std::array<Number, 3>*>(of.data), static_cast<std::size_t>(of.shape[0])};
}
/// Copies arrays of float64 (n, 3) and int32 (m, 3) to a mesh.
mesh mesh_of(const array& vertices, const array& faces) {
    const auto v = rows_of<double>(vertices);
    const auto f = rows_of<std::int32_t>(faces);
    return {{v.begin(), v.end()}, {f.begin(), f.end()}};
}
/// Copies the arrays to where the call runs, which needs open edges or not.
mesh mesh_on(const host&, const array& vertices, const array& faces, bool) { return mesh_of(vertices, faces); }
device_mesh mesh_on(const device& on, const array& vertices, const array& faces, bool edges) {
    return {on, rows_of<double>(vertices), rows_of<std::int32_t>(faces), edges};
}

/// An array of NumPy that owns these rows of three numbers, and may be written.
template <class Row>
nb::object array_of_rows(std::vector<Row>&& rows) {
    auto* const kept = new std::vector<Row>(std::move(rows));
    const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Row>*>(memory); });
    return nb::cast(nb::ndarray<nb::numpy, typename Row::value_type>(kept->data(), {kept->size(), 3}, owner));
}
using mesh_row = std::tuple<nb::object, nb::object>;
mesh_row row_of(mesh&& m) { return {array_of_rows(std::move(m.vertices)), array_of_rows(std::move(m.faces))}; }

mesh_row read(const nb::bytes& bytes, const std::string& path) {
    mesh made;
    run_watched(static_cast<std::int64_t>(bytes.size()), nb::none(), [&](const std::function<bool(double)>&) {
        const std::span<const std::byte> all(static_cast<const std::byte*>(bytes.data()), bytes.size());
        made = read_mesh(all, mesh_format_of(path), path);
    });
    return row_of(std::move(made));
}

/// Returns a file's bytes. PLY files also store `values`, named `name`, with the vertices.
nb::bytes written(const array& vertices, const array& faces, const std::string& path, bool text, const array* values,
                  const std::string& name, double low, double high) {
    vertex_values also{name, {}, low, high};
    if (values != nullptr)
        also.values = {reinterpret_cast<const double*>(values->data), static_cast<std::size_t>(values->cells())};
    const std::string made =
        mesh_bytes(mesh_of(vertices, faces), mesh_format_of(path), text, values == nullptr ? nullptr : &also);
    return nb::bytes(made.data(), made.size());
}

std::tuple<bool, std::int64_t, std::int64_t, double, double> measured(const array& vertices, const array& faces) {
    const mesh_measures m = measure_mesh(mesh_of(vertices, faces));
    return {m.closed, m.open_edges, m.euler, m.volume, m.area};
}

using triple = std::array<double, 3>;
using sizes = std::array<std::int64_t, 3>;

/// Makes a grid around a mesh, by its shape if `by_shape`, else by its pitch.
std::tuple<sizes, triple, triple> around(const array& vertices, const array& faces, double pitch, const sizes& shape,
                                         bool by_shape, std::int64_t margin) {
    const mesh m = mesh_of(vertices, faces);
    const mesh_grid g = by_shape ? grid_around(m, shape, margin) : grid_around(m, pitch, margin);
    return {g.shape, g.origin, g.pitch};
}

/// Runs call(place, mesh there, views), which fills these arrays; some of them may be missing.
template <std::size_t Out, class Call>
void fill(const run_at& where, const array& v, const array& f, bool edges, const std::array<const array*, Out>& out,
          const Call& call) {
    const auto views = [&]<class Place>(const Place&) {
        std::array<any_output<Place>, Out> to;
        for (std::size_t k = 0; k < Out; ++k) to[k] = view_of<void, Place>(out[k]);
        return to;
    };
    run(
        where, out[0]->cells(), [&](const host& on) { call(on, mesh_on(on, v, f, edges), views(on)); },
        [&](const device& on) { call(on, mesh_on(on, v, f, edges), views(on)); },
        [&](int ordinal) {
            edge::run_arrays_on_device(ordinal, {}, views(host{}), [&](const device& on, auto, auto to) {
                call(on, mesh_on(on, v, f, edges), to);
            });
        });
}

mesh_grid grid_of(const array& cells, const triple& origin, const triple& pitch) {
    return {{cells.shape[0], cells.shape[1], cells.shape[2]}, origin, pitch};
}

void mark(const array& vertices, const array& faces, const array& out, const triple& origin, const triple& pitch,
          bool solid, bool surface, bool winding, int ordinal, std::uintptr_t stream, bool staged, int threads,
          const nb::object& progress) {
    fill<1>({ordinal, stream, staged, threads, progress}, vertices, faces, solid, {&out},
            [&](const auto& on, const auto& m, const auto& to) {
                voxelize(on, m, grid_of(out, origin, pitch), to[0], {solid, surface, winding});
            });
}

void distance_to(const array& vertices, const array& faces, const array& distance, const array* triangle,
                 const triple& origin, const triple& pitch, bool is_signed, bool winding, double most, bool samples,
                 int ordinal, std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    fill<2>({ordinal, stream, staged, threads, progress}, vertices, faces, is_signed, {&distance, triangle},
            [&](const auto& on, const auto& m, const auto& to) {
                mesh_distance(on, m, grid_of(distance, origin, pitch), {to[0], to[1]},
                              {is_signed, winding, most, samples});
            });
}

mesh_row surface_of(const array& field, double level, const triple& origin, const triple& spacing, bool below,
                    bool closed, bool dual, int ordinal, std::uintptr_t stream, bool staged, int threads,
                    const nb::object& progress) {
    mesh made;
    const isosurface_options how{origin, spacing, below, closed, static_cast<isosurface_method>(dual)};
    const auto at = [&](const auto& on, const auto& in) { made = isosurface(on, in, level, how); };
    run(
        {ordinal, stream, staged, threads, progress}, field.cells(),
        [&](const host& on) { at(on, field.view<const void, host>()); },
        [&](const device& on) { at(on, field.view<const void, device>()); },
        [&](int to) {
            const any_input<host> in = field.view<const void, host>();
            edge::run_arrays_on_device(to, {&in, 1}, {}, [&](const device& on, auto read, auto) { at(on, read[0]); });
        });
    return row_of(std::move(made));
}

std::tuple<mesh_row, double, double, nb::bytes> offset_of(const array& vertices, const array& faces, double distance,
                                                          double pitch, bool voxels, bool sharp, bool hollow,
                                                          bool winding, int ordinal, int threads,
                                                          const nb::object& progress) {
    const mesh m = mesh_of(vertices, faces);
    offset_result made;
    const offset_options how{pitch, static_cast<offset_method>(voxels), sharp, hollow, winding};
    const auto at = [&](const auto& on) { made = offset(on, m, distance, how); };
    run({ordinal, 0, true, threads, progress}, std::int64_t{1} << 24, at, at,
        [&](int to) { edge::run_arrays_on_device(to, {}, {}, [&](const device& on, auto, auto) { at(on); }); });
    return {row_of(std::move(made.surface)), made.grid.pitch[0], made.error_bound,
            nb::bytes(made.thickness.data(), made.thickness.size() * sizeof(double))};
}

}  // namespace

void bind_mesh(nb::module_& module) {
    const auto v = nb::arg("vertices"), f = nb::arg("faces"), n = nb::arg("threads"), path = nb::arg("path");
    const auto progress = nb::arg("progress").none();
    const auto origin = nb::arg("origin"), pitch = nb::arg("pitch"), winding = nb::arg("winding");
    module.def("read_mesh", &read, nb::arg("data"), path);
    module.def("mesh_bytes", &written, v, f, path, nb::arg("text"), nb::arg("values").none(), nb::arg("name"),
               nb::arg("low"), nb::arg("high"));
    module.def("measure_mesh", &measured, v, f);
    module.def("grid_around", &around, v, f, pitch, nb::arg("shape"), nb::arg("by_shape"), nb::arg("margin"));
    const auto ordinal = nb::arg("ordinal"), stream = nb::arg("stream"), staged = nb::arg("staged");
    module.def("voxelize", &mark, v, f, nb::arg("out"), origin, pitch, nb::arg("solid"), nb::arg("surface"), winding,
               ordinal, stream, staged, n, progress);
    module.def("mesh_distance", &distance_to, v, f, nb::arg("distance"), nb::arg("triangle").none(), origin, pitch,
               nb::arg("is_signed"), winding, nb::arg("max_distance"), nb::arg("samples"), ordinal, stream, staged, n,
               progress);
    module.def("isosurface", &surface_of, nb::arg("field"), nb::arg("level"), origin, nb::arg("spacing"),
               nb::arg("below"), nb::arg("closed"), nb::arg("dual"), ordinal, stream, staged, n, progress);
    module.def("offset", &offset_of, v, f, nb::arg("distance"), pitch, nb::arg("voxels"), nb::arg("sharp"),
               nb::arg("hollow"), winding, ordinal, n, progress);
}

}  // namespace nearfield::python
