#include <array>

#include "edge/arrays_run.hpp"
#include "edge/device_arrays.hpp"
#include "nearfield/centroidal.hpp"
#include "nearfield/stipple.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// Makes work that a device does from now on wait for that on the caller's stream.
void wait_for(int ordinal, const device& on, std::uintptr_t stream) {
    edge::order_after(ordinal, on.stream, reinterpret_cast<void*>(stream));
}

/// The call runs on device `ordinal` unless that is negative. Arrays are contiguous and on the host, except density and
/// labels if they are `there`, on the device.
void relax_sites(const array& density, const array& sites, const array& moved, const array& weights,
                 const array& energy, const array* labels, const distance_options& grid, int rounds, double relax,
                 double tolerance, int supersample, int ordinal, std::uintptr_t stream, bool there, int threads,
                 const nb::object& progress) {
    const centroidal_options options{rounds, relax, tolerance, supersample, grid.spacing, grid.border};
    const std::array<any_input<host>, 2> in{sites.view<const void, host>(), density.view<const void, host>()};
    const std::array<any_output<host>, 4> out{moved.view<void, host>(), weights.view<void, host>(),
                                              energy.view<void, host>(), view_of<void, host>(labels)};
    const auto on_device = [&](int number) {
        const auto call = [&](const device& on, auto read, auto to) {
            if (there) wait_for(number, on, stream);
            centroidal_voronoi(on, there ? density.view<const void, device>() : read[1], read[0],
                               {to[0], to[1], to[2], there ? view_of<void, device>(labels) : to[3]}, options);
        };
        edge::run_arrays_on_device(number, {in.data(), in.size() - (there ? 1 : 0)},
                                   {out.data(), out.size() - (there ? 1 : 0)}, call);
    };
    run(
        {ordinal, 0, true, threads, progress}, density.cells() * (rounds + 1),
        [&](const host& on) { centroidal_voronoi(on, in[1], in[0], {out[0], out[1], out[2], out[3]}, options); },
        [](const device&) {}, on_device);
}

/// Returns parts, weights and energies, 4 or 8 bytes a number, the number of parts along a cell, and the ink of a black
/// part.
nb::tuple stippled(const array& image, std::int64_t points, double size, bool lbg, int rounds, std::uint64_t seed,
                   bool invert, int supersample, const distance_options& grid, int ordinal, std::uintptr_t stream,
                   bool there, int threads, const nb::object& progress) {
    stipple_options options;
    options.points = points, options.size = size, options.rounds = rounds, options.seed = seed;
    options.method = lbg ? stipple_method::lbg : stipple_method::lloyd;
    options.invert = invert, options.supersample = supersample;
    options.spacing = grid.spacing, options.border = grid.border;
    const any_input<host> in = image.view<const void, host>();
    stipples made;
    if (planning()) made = stipple(host{threads}, in, options);  // its points are where other calls begin
    else
        run(
            {ordinal, 0, true, threads, progress}, image.cells() * 50,
            [&](const host& on) { made = stipple(on, in, options); }, [](const device&) {},
            [&](int on) {
                edge::run_arrays_on_device(on, {&in, there ? 0U : 1U}, {}, [&](const device& gpu, auto read, auto) {
                    if (there) wait_for(on, gpu, stream);
                    made = stipple(gpu, there ? image.view<const void, device>() : read[0], options);
                });
            });
    return nb::make_tuple(bytes_of(made.parts), bytes_of(made.weights), bytes_of(made.energy), made.supersample,
                          made.full_ink);
}

/// Returns sites, masses, powers, energies and labels, 4 or 8 bytes a number; then the bound, the largest error, and
/// whether it is small.
nb::tuple with_capacities(const array& density, const array& sites, const array& capacities,
                          const distance_options& grid, int rounds, double relax, int supersample, int ordinal,
                          int threads, const nb::object& progress) {
    const centroidal_options options{rounds, relax, 0, supersample, grid.spacing, grid.border};
    const any_input<host> in = density.view<const void, host>(), start = sites.view<const void, host>(),
                          shares = capacities.view<const void, host>();
    const std::span given(static_cast<const double*>(shares.data), static_cast<std::size_t>(shares.cells()));
    capacity_regions made;
    run(
        {ordinal, 0, true, threads, progress}, density.cells() * 20 * (rounds + 1),
        [&](const host& on) { made = capacity_voronoi(on, in, start, given, options); }, [](const device&) {},
        [&](int on) {
            edge::run_arrays_on_device(on, {&in, 1}, {}, [&](const device& there, auto read, auto) {
                made = capacity_voronoi(there, read[0], start, given, options);
            });
        });
    return nb::make_tuple(bytes_of(made.sites), bytes_of(made.weights), bytes_of(made.powers), bytes_of(made.energy),
                          bytes_of(made.labels), made.bound, made.error, made.converged);
}

}  // namespace

void bind_centroidal(nb::module_& module) {
    module.def("centroidal_voronoi", &relax_sites, nb::arg("density"), nb::arg("sites"), nb::arg("moved"),
               nb::arg("weights"), nb::arg("energy"), nb::arg("labels").none(), nb::arg("options"), nb::arg("rounds"),
               nb::arg("relax"), nb::arg("tolerance"), nb::arg("supersample"), nb::arg("ordinal"), nb::arg("stream"),
               nb::arg("there"), nb::arg("threads"), nb::arg("progress").none());
    module.def("capacity_voronoi", &with_capacities, nb::arg("density"), nb::arg("sites"), nb::arg("capacities"),
               nb::arg("options"), nb::arg("rounds"), nb::arg("relax"), nb::arg("supersample"), nb::arg("ordinal"),
               nb::arg("threads"), nb::arg("progress").none());
    module.def("stipple", &stippled, nb::arg("image"), nb::arg("points"), nb::arg("size"), nb::arg("lbg"),
               nb::arg("rounds"), nb::arg("seed"), nb::arg("invert"), nb::arg("supersample"), nb::arg("options"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("there"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace nearfield::python
