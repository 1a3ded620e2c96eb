// The public calls: they check arguments, set parts and lengths, and call the backend.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "centroidal/room.hpp"

namespace nearfield {
namespace centroidal {
namespace {

constexpr int most_axes = 3, most_parts = 8, most_rounds = 1'000'000;
constexpr std::int64_t longest = 65535;

void check_options(const centroidal_options& options) {
    if (options.rounds < 0 || options.rounds > most_rounds)
        fail(fmt::format("rounds is {}; give 0 to {}", options.rounds, most_rounds));
    if (!(options.relax >= 1 && options.relax <= 2))
        fail(fmt::format("relax is {}; give a number from 1, which is Lloyd's method, to 2", options.relax));
    if (!(options.tolerance >= 0 && options.tolerance < 1))
        fail(fmt::format("tolerance is {}; give a share of the energy from 0 to below 1, such as 1e-4",
                         options.tolerance));
    if (options.supersample < 1 || options.supersample > most_parts)
        fail(fmt::format("supersample is {}; give 1 to {} parts of a cell along each axis", options.supersample,
                         most_parts));
}

template <class Place>
void check_views(const any_input<Place>& density, const any_input<Place>& sites, const centroidal_fields<Place>& out,
                 int rounds) {
    check_image<Place>("density", density, longest);
    check_type("density", density.type, {dtype::boolean, dtype::uint8, dtype::uint16});
    const auto check = [&](const char* name, const any_input<Place>& given, dtype type,
                           std::initializer_list<std::int64_t> shape) {
        check_type(name, given.type, {type});
        if (given.rank != static_cast<int>(shape.size()) ||
            !std::equal(shape.begin(), shape.end(), given.shape.begin()))
            fail(fmt::format("{} has shape {}; expected {}", name, shape_text(given.shape.data(), given.rank),
                             shape_text(shape.begin(), static_cast<int>(shape.size()))));
    };
    const std::int64_t n = sites.rank == 2 ? sites.shape[0] : 0;
    check("sites", sites, dtype::int32, {n, density.rank});
    check("out.sites", out.sites, dtype::int32, {n, density.rank});
    std::vector<named_view<Place>> views{{"density", density}, {"sites", sites}};
    const bool in_place = out.sites.data == sites.data && out.sites.stride == sites.stride;
    const std::size_t read = in_place ? 1 : 2;
    if (!in_place) views.push_back({"out.sites", out.sites});
    if (out.weights.wanted()) {
        check("out.weights", out.weights, dtype::int64, {n});
        views.push_back({"out.weights", out.weights});
    }
    if (out.energy.wanted()) {
        check("out.energy", out.energy, dtype::uint64, {rounds + 1, 2});
        views.push_back({"out.energy", out.energy});
    }
    if (out.labels.wanted()) {
        check_type("out.labels", out.labels.type, {dtype::int32});
        check_same_shape<Place>("out.labels", out.labels, density);
        views.push_back({"out.labels", out.labels});
    }
    check_data<Place>(views);
    check_apart<Place>(views, read);
}

/// Checks that sites lie in the grid and differ.
void check_sites(const problem& p, const any_input<host>& sites) {
    std::unordered_set<std::int32_t> seen;
    seen.reserve(static_cast<std::size_t>(p.sites));
    for (std::int64_t i = 0; i < p.sites; ++i) {
        place at{};
        for (int axis = 0; axis < p.axes; ++axis) {
            const std::int64_t to = 3 - p.axes + axis;
            const std::int32_t u = static_cast<const std::int32_t*>(
                sites.data)[i * sites.stride[0] + static_cast<std::int64_t>(axis) * sites.stride[1]];
            if (u < 0 || u >= p.size[to])
                fail(fmt::format("sites has coordinate {} along axis {} at row {}; the grid ends at {}", u, axis, i,
                                 p.size[to] - 1));
            at.at[to] = u;
        }
        if (!seen.insert(part_of(p, at)).second)
            fail(fmt::format("sites has the place of row {} twice; give different places", i));
    }
}

template <class Place>
problem checked(const any_input<Place>& density, const any_input<Place>& sites, const centroidal_fields<Place>& out,
                const centroidal_options& options) {
    check_options(options);
    check_views(density, sites, out, options.rounds);
    return problem_of(density.shape.data(), density.rank, sites.shape[0], options);
}

}  // namespace

template <class Place>
problem checked_for_capacities(const any_input<Place>& density, const any_input<host>& sites,
                               const centroidal_options& options) {
    check_options(options);
    check_image<Place>("density", density, longest);
    check_type("density", density.type, {dtype::boolean, dtype::uint8, dtype::uint16});
    check_type("sites", sites.type, {dtype::int32});
    if (sites.rank != 2 || sites.shape[1] != density.rank)
        fail(fmt::format("sites has shape {}; expected (n, {})", shape_text(sites.shape.data(), sites.rank),
                         density.rank));
    const named_view<Place> one[] = {{"density", density}};
    const named_view<host> other[] = {{"sites", sites}};
    check_data<Place>(one), check_data<host>(other);
    const problem p = problem_of(density.shape.data(), density.rank, sites.shape[0], options);
    check_sites(p, sites);
    return p;
}
template problem checked_for_capacities(const any_input<host>&, const any_input<host>&, const centroidal_options&);
template problem checked_for_capacities(const any_input<device>&, const any_input<host>&, const centroidal_options&);

problem problem_of(const std::int64_t* shape, int rank, std::int64_t sites, const centroidal_options& options) {
    check_options(options);
    if (rank > most_axes) fail(fmt::format("density has {} axes; give 1 to {}", rank, most_axes));
    const auto lengths = checked_spacing(options.spacing, shape, rank);
    const auto beyond = checked_borders(options.border, shape, rank);
    problem p;
    p.axes = rank, p.sites = sites, p.rounds = options.rounds, p.tolerance = options.tolerance;
    p.relax = std::llround(options.relax * problem::one), p.relaxed = p.relax == problem::one ? 0 : 3 * p.rounds / 4;
    p.engine.spacing = options.spacing, p.engine.border = options.border, p.engine.sites = nearfield::sites::nonzero;
    for (int axis = 0; axis < rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        const int to = 3 - rank + axis;
        if (beyond[k] == border::closed)
            fail(fmt::format("border along axis {} is closed; give open or periodic", axis));
        if (!(lengths[k] <= 1000 && lengths[k] == std::floor(lengths[k])))
            fail(
                fmt::format("spacing along axis {} is {}; give whole numbers up to 1000, such as 2 and 1 for 0.5 and "
                            "0.25",
                            axis, lengths[k]));
        p.factor[to] = options.supersample, p.size[to] = shape[k] * options.supersample;
        p.wraps[to] = beyond[k] == border::periodic;
        p.weight[to] = static_cast<std::int64_t>(lengths[k] * lengths[k]);
        if (static_cast<std::int64_t>(lengths[k]) * p.size[to] > longest)
            fail(
                fmt::format("density has {} cells along axis {}; times spacing and supersample at most {} are possible",
                            shape[k], axis, longest));
    }
    if (p.parts() >= std::int64_t{1} << 31)
        fail(fmt::format("density of shape {} has 2^31 parts or more; give a smaller one, or a smaller supersample",
                         shape_text(shape, rank)));
    if (p.parts() == 0) fail(fmt::format("density has shape {}; give one with cells", shape_text(shape, rank)));
    if (sites < 1 || sites > p.parts())
        fail(fmt::format("sites has {} rows; give 1 to {}, which is how many parts there are", sites, p.parts()));
    return p;
}

}  // namespace centroidal

void centroidal_voronoi(const host& on, const any_input<host>& density, const any_input<host>& sites,
                        const centroidal_fields<host>& out, const centroidal_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    in_call([&] {
        const centroidal::problem p = centroidal::checked(density, sites, out, options);
        centroidal::check_sites(p, sites);
        const expected_outputs outputs{out.sites, out.weights, out.energy, out.labels};
        centroidal::run(on, p, density, sites, out);
    });
}
void centroidal_voronoi(const device& on, const any_input<device>& density, const any_input<device>& sites,
                        const centroidal_fields<device>& out, const centroidal_options& options) {
    in_call([&] {
        const centroidal::problem p = centroidal::checked(density, sites, out, options);
        centroidal::run(on, p, density, sites, out);
    });
}

}  // namespace nearfield
