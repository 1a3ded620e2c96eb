// The public calls: they sort steps, check arguments, and run the solver.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "geodesic/problem.hpp"

namespace nearfield {
namespace geodesics {
namespace {

constexpr auto integers = {dtype::boolean, dtype::int8,   dtype::uint8, dtype::int16, dtype::uint16,
                           dtype::int32,   dtype::uint32, dtype::int64, dtype::uint64};
constexpr int longest_step = 7;
constexpr int least_tile_bits = 3, most_tile_bits = 14;  ///< 64 KiB of costs; measured against 12 and 16

/// Calls use(v) for all vectors with coordinates from -reach to reach, in C order.
template <class Use>
void for_vectors(int rank, int reach, const Use& use) {
    vector_of_step v{};
    const auto go = [&](const auto& self, int axis) -> void {
        if (axis == rank) return use(v);
        for (int x = -reach; x <= reach; ++x)
            v[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(x), self(self, axis + 1);
    };
    go(go, 0);
}

void check_rank(const char* name, int rank) {
    if (rank < 1 || rank > max_rank) fail_rank(name, rank);
}

// ---- checks ---------------------------------------------------------------------------------------------------------

template <class Place>
void check_fields(const any_input<Place>& mask, const any_input<Place>& seeds, const geodesic_fields<Place>& out,
                  const geodesic_options& o) {
    if (!out.cost.wanted() && !out.index.wanted() && !out.coordinates.wanted() && !out.label.wanted())
        fail("out asks for nothing; give at least one of cost, index, coordinates and label");
    if (out.cost.wanted())
        check_type("out.cost", out.cost.type,
                   {dtype::int32, dtype::uint32, dtype::int64, dtype::uint64, dtype::float32, dtype::float64});
    if (out.cost.wanted() && out.cost.type < dtype::float16 && o.unit != 1)
        fail(fmt::format("unit is {} and out.cost has element type {}; give float32 or float64, or a unit of 1", o.unit,
                         name_of(out.cost.type)));
    if (out.index.wanted()) check_type("out.index", out.index.type, {dtype::int64, dtype::int32});
    if (out.coordinates.wanted()) check_type("out.coordinates", out.coordinates.type, {dtype::int32});
    if (out.label.wanted()) check_type("out.label", out.label.type, {seeds.type});
    check_same_shape<Place>("out.cost", out.cost, mask);
    check_same_shape<Place>("out.index", out.index, mask);
    check_coordinate_shape<Place>("out.coordinates", out.coordinates, mask, o.batch_axes);
    check_same_shape<Place>("out.label", out.label, mask);
    if (out.index.wanted() && out.index.type == dtype::int32 && mask.cells() > std::int64_t{1} << 31)
        fail(fmt::format("out.index has element type int32, which ends at 2147483647; {} cells need int64",
                         mask.cells()));
}

template <class Place>
void check_inputs(const any_input<Place>& mask, const any_input<Place>& seeds, const any_input<Place>& cost,
                  const geodesic_options& o) {
    check_image<Place>("mask", mask, std::int64_t{1} << 31);
    check_type("mask", mask.type, {dtype::boolean, dtype::uint8});
    if (!seeds.wanted()) fail("seeds has no axes; give an array of the mask's shape");
    check_same_shape<Place>("seeds", seeds, mask);
    check_type("seeds", seeds.type, integers);
    if (cost.wanted()) {
        check_same_shape<Place>("cost", cost, mask);
        check_type(
            "cost", cost.type,
            {dtype::boolean, dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32});
    }
    if (o.batch_axes < 0 || o.batch_axes >= mask.rank)
        fail(fmt::format("batch_axes is {} for a mask of {} axes; leave one axis to search", o.batch_axes, mask.rank));
    if (!(o.unit > 0) || !std::isfinite(o.unit)) fail(fmt::format("unit is {}; give a positive number", o.unit));
    if (!(o.max_cost >= 0)) fail(fmt::format("max_cost is {}; give a cost of at least 0", o.max_cost));
    if (o.rule != cost_rule::entered && o.rule != cost_rule::both)
        fail(fmt::format("rule is {}; give entered or both", static_cast<int>(o.rule)));
}

std::vector<priced_step> checked_steps(std::span<const priced_step> given, int rank) {
    constexpr std::int32_t one = 1;
    std::vector<priced_step> steps(given.begin(), given.end());
    if (given.empty()) return chamfer_steps(rank, {&one, 1});
    const auto less = [](const priced_step& a, const priced_step& b) {
        return std::tie(a.by, a.price) < std::tie(b.by, b.price);
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].price <= 0) fail(fmt::format("steps[{}] has price {}; give a positive one", i, steps[i].price));
        bool moves = false;
        for (int axis = 0; axis < max_rank; ++axis) {
            const int by = steps[i].by[static_cast<std::size_t>(axis)];
            moves = moves || by != 0;
            if (std::abs(by) > longest_step || (axis >= rank && by != 0))
                fail(
                    fmt::format("steps[{}] changes coordinate {} by {}; give steps of at most {} cells along the {} "
                                "axes of an image",
                                i, axis, by, longest_step, rank));
        }
        if (!moves) fail(fmt::format("steps[{}] leads nowhere; give a step to another cell", i));
    }
    std::sort(steps.begin(), steps.end(), less);
    for (const priced_step& each : steps) {
        priced_step back = each;
        for (std::int8_t& by : back.by) by = static_cast<std::int8_t>(-by);
        if (!std::binary_search(steps.begin(), steps.end(), back, less))
            fail("steps has one without the opposite step at the same price; give both");
    }
    return steps;
}

// ---- the problem ----------------------------------------------------------------------------------------------------

/// Chooses tiles: on the host at least about sixteen, so that threads have work; on a device as a block holds.
void set_tiles(problem_of<host>& p) {
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p.mask.cells()))) - 4;
    set_sides(p.where, std::clamp(bits, least_tile_bits, most_tile_bits));
}
void set_tiles(problem_of<device>& p) { set_sides(p.where, device_tile_bits, device_side_bits); }

/// Sets the axes of the problem: those of the image that are longer than 1.
template <class Place>
void set_axes(problem_of<Place>& p, const geodesic_options& o) {
    const auto ends = checked_borders(o.border, p.mask.shape.data(), p.mask.rank);
    for (int axis = 0; axis < p.mask.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        if (axis >= o.batch_axes && ends[k] == border::closed)
            fail(fmt::format("border is closed along axis {}; give open or periodic", axis));
        if (p.mask.shape[k] == 1) continue;
        tiling& t = p.where;
        t.size[t.axes] = p.mask.shape[k], t.wraps[t.axes] = axis >= o.batch_axes && ends[k] == border::periodic;
        p.axis_of.push_back(axis);
        ++t.axes, t.batch += axis < o.batch_axes ? 1 : 0;
    }
    if (p.where.axes == p.where.batch) p.where.size[p.where.axes++] = 1, p.axis_of.push_back(p.mask.rank - 1);
    set_tiles(p);
}

/// Drops a step's axes of length 1. If such an axis is open the step leads nowhere and is left out.
template <class Place>
void take_step(problem_of<Place>& p, const priced_step& given, const borders& ends, int batch, bool cut_corners) {
    step made;
    made.price = given.price;
    for (int axis = 0, own = p.where.batch; axis < p.mask.rank - batch; ++axis) {
        const std::int8_t by = given.by[static_cast<std::size_t>(axis)];
        const bool kept = own < p.where.axes && p.axis_of[static_cast<std::size_t>(own)] == axis + batch;
        if (!kept && by != 0 && ends[axis + batch] != border::periodic) return;
        if (kept) made.by[static_cast<std::size_t>(own++)] = by;
    }
    if (made.by == vector_of_step{}) return;
    made.between = cells_between(made.by, p.where.axes, !cut_corners);
    made.set_offsets(p.where);
    for (const std::int8_t by : made.by) p.reach = std::max<int>(p.reach, std::abs(by));
    p.steps.push_back(std::move(made));
}

/// The largest cost that every wanted type can tell from "no path".
std::uint64_t most_cost(bool wanted, dtype type, double asked) {
    std::uint64_t most = std::uint64_t{std::numeric_limits<std::int64_t>::max()} - 1;
    if (wanted && type == dtype::int32) most = 0x7ffffffeU;
    if (wanted && type == dtype::uint32) most = 0xfffffffeU;
    return asked < 0x1p62 ? std::min(most, static_cast<std::uint64_t>(asked)) : most;
}

void check_place(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}
void check_place(const device&) {}

template <class Place>
void solve(const Place& on, const any_input<Place>& mask, const any_input<Place>& seeds,
           const geodesic_fields<Place>& out, const geodesic_options& o, const any_input<Place>& cost) {
    check_place(on);
    check_inputs(mask, seeds, cost, o);
    check_fields(mask, seeds, out, o);
    const named_view<Place> all[] = {{"mask", mask},           {"seeds", seeds},
                                     {"cost", cost},           {"out.cost", out.cost},
                                     {"out.index", out.index}, {"out.coordinates", out.coordinates},
                                     {"out.label", out.label}};
    check_data<Place>(all);
    check_apart<Place>(all, 3);
    problem_of<Place> p;
    p.rank = mask.rank, p.mask = mask, p.seeds = seeds, p.cost = cost, p.out = out;
    p.both = o.rule == cost_rule::both, p.unit = o.unit,
    p.most = most_cost(out.cost.wanted(), out.cost.type, o.max_cost);
    const std::vector<priced_step> steps = checked_steps(o.steps, mask.rank - o.batch_axes);
    set_axes(p, o);
    for (const priced_step& each : steps) take_step(p, each, o.border, o.batch_axes, o.cut_corners);
    const expected_outputs written{out.cost, out.index, out.coordinates, out.label};
    rehearse_step("costs spread from tile to tile; 24 bytes for each cell of a front");
    if (mask.cells() > 0) run(on, p);
}

}  // namespace
}  // namespace geodesics

using namespace geodesics;

std::vector<priced_step> chamfer_steps(int rank, std::span<const std::int32_t> by_changes) {
    check_rank("chamfer_steps", rank);
    if (by_changes.empty() || by_changes.size() > static_cast<std::size_t>(rank))
        fail(fmt::format("by_changes has {} prices for {} axes; give 1 to {}", by_changes.size(), rank, rank));
    for (const std::int32_t price : by_changes)
        if (price <= 0) fail(fmt::format("by_changes has the price {}; give positive ones", price));
    std::vector<priced_step> made;
    for_vectors(rank, 1, [&](const vector_of_step& v) {
        const auto changes = static_cast<std::size_t>(rank - std::count(v.begin(), v.begin() + rank, 0));
        if (changes > 0 && changes <= by_changes.size()) made.push_back({v, by_changes[changes - 1]});
    });
    return made;
}

std::vector<priced_step> knight_steps(std::int32_t axial, std::int32_t diagonal, std::int32_t knight) {
    const std::int32_t prices[] = {axial, diagonal};
    std::vector<priced_step> made = chamfer_steps(2, prices);
    if (knight <= 0) fail(fmt::format("knight is {}; give a positive price", knight));
    for_vectors(2, 2, [&](const vector_of_step& v) {
        if (std::abs(v[0]) + std::abs(v[1]) == 3) made.push_back({v, knight});
    });
    return made;
}

std::vector<priced_step> euclidean_steps(int rank, int reach, const spacing& cell, double per_unit) {
    const default_floats floats;
    check_rank("euclidean_steps", rank);
    if (reach < 1 || reach > longest_step) fail(fmt::format("reach is {}; give 1 to {}", reach, longest_step));
    if (!(per_unit > 0) || !std::isfinite(per_unit))
        fail(fmt::format("per_unit is {}; give a positive number", per_unit));
    const std::array<std::int64_t, max_rank> any{};
    const auto lengths = checked_spacing(cell, any.data(), rank);
    std::vector<priced_step> made;
    for_vectors(rank, reach, [&](const vector_of_step& v) {
        int common = 0;
        double square = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(rank); ++k) {
            common = std::gcd(common, int{v[k]});
            square += lengths[k] * v[k] * (lengths[k] * v[k]);
        }
        if (common != 1) return;
        const double price = std::nearbyint(std::sqrt(square) * per_unit);
        if (price >= 0x1p31)
            fail(fmt::format("spacing, with {} prices a unit, makes a step cost {:.0f}; prices end at 2^31 - 1",
                             per_unit, price));
        made.push_back({v, std::max<std::int32_t>(1, static_cast<std::int32_t>(price))});
    });
    return made;
}

void geodesic(const host& on, const any_input<host>& mask, const any_input<host>& seeds,
              const geodesic_fields<host>& out, const geodesic_options& options, const any_input<host>& cost) {
    in_call([&] { solve(on, mask, seeds, out, options, cost); });
}
void geodesic(const device& on, const any_input<device>& mask, const any_input<device>& seeds,
              const geodesic_fields<device>& out, const geodesic_options& options, const any_input<device>& cost) {
    in_call([&] { solve(on, mask, seeds, out, options, cost); });
}

}  // namespace nearfield
