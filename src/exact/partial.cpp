// The public call of nearfield/chunks.hpp: checks arguments and runs the pass.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/call.hpp"
#include "base/check.hpp"
#include "exact/partial.hpp"
#include "nearfield/chunks.hpp"

namespace nearfield {
namespace {

constexpr std::int64_t max_side = std::int64_t{1} << 31;

template <class Place>
bool is_contiguous(const any_input<Place>& v) {
    std::int64_t step = 1;
    for (int axis = v.rank - 1; axis >= 0; --axis) {
        const auto k = static_cast<std::size_t>(axis);
        if (v.shape[k] > 1 && v.stride[k] != step) return false;
        step *= v.shape[k];
    }
    return true;
}

template <class Place>
exact::partial_array checked_array(const std::string& name, const any_input<Place>& from, const any_output<Place>& to,
                                   const any_input<Place>& squared) {
    if (from.wanted() != to.wanted())
        fail(fmt::format("{} is in one of from and to only; give it in both, or in none", name));
    if (!from.wanted()) return {};
    const std::string in = "from." + name, out = "to." + name;
    check_same_shape<Place>(in.c_str(), from, squared);
    check_same_shape<Place>(out.c_str(), to, squared);
    if (from.type != to.type)
        fail(fmt::format("{} has element type {} and {} {}; give the same", in, name_of(from.type), out,
                         name_of(to.type)));
    if (!is_contiguous(from) || !is_contiguous<Place>(to)) fail(fmt::format("{} is not contiguous; give a copy", name));
    return {from.data, to.data, from.type};
}

template <class Place>
void check_places(const partial_field<const void, Place>& from, const partial_field<void, Place>& to) {
    std::vector<named_view<Place>> all;
    const auto add = [&](const char* name, const any_input<Place>& view) {
        if (view.wanted()) all.push_back({name, view});
    };
    // Arrays that are their own output are checked once, as outputs.
    if (from.squared.data != to.squared.data) add("from.squared", from.squared);
    if (from.site.data != to.site.data) add("from.site", from.site);
    if (from.label.data != to.label.data) add("from.label", from.label);
    const std::size_t inputs = all.size();
    add("to.squared", to.squared), add("to.site", to.site), add("to.label", to.label);
    check_data<Place>(all);
    check_apart<Place>(all, inputs);
}

template <class Place>
void set_grid(exact::partial_pass& p, const any_input<Place>& squared, const partial_options& options) {
    p.rank = squared.rank;
    if (options.grid.size() != static_cast<std::size_t>(p.rank))
        fail(fmt::format("grid has {} axes and from.squared {}; give the shape of the whole grid", options.grid.size(),
                         p.rank));
    for (std::size_t k = 0; k < options.grid.size(); ++k) {
        p.size[k] = options.grid[k];
        const bool whole = static_cast<int>(k) == p.axis;
        if (p.size[k] < squared.shape[k] || (whole && p.size[k] != squared.shape[k]) || p.size[k] > max_side)
            fail(fmt::format("from.squared has {} cells along axis {}, and the grid {}; give {}", squared.shape[k], k,
                             p.size[k], whole ? "whole lines" : "a part of the grid"));
    }
    p.keys = exact::layout_for(p.size.data(), p.rank);
    if (p.keys.total() > exact::wide_key_bits) fail("grid has too many cells for the numbers of sites");
}

template <class Place>
exact::partial_pass checked_pass(const partial_field<const void, Place>& from, int axis,
                                 const partial_field<void, Place>& to, const partial_options& options) {
    const any_input<Place>& squared = from.squared;
    check_image<Place>("from.squared", squared, max_side);
    check_type("from.squared", squared.type, {dtype::uint32, dtype::uint64, dtype::float64});
    if (axis < 0 || axis >= squared.rank) fail(fmt::format("axis is {}; give 0 to {}", axis, squared.rank - 1));
    exact::partial_pass p;
    p.axis = axis;
    p.squared = checked_array<Place>("squared", squared, to.squared, squared);
    p.site = checked_array<Place>("site", from.site, to.site, squared);
    p.label = checked_array<Place>("label", from.label, to.label, squared);
    if (from.site.wanted()) check_type("from.site", from.site.type, {dtype::int32, dtype::int64});
    else if (from.label.wanted()) fail("label is given without site; give both");
    check_places(from, to);
    if (options.beyond == border::closed) fail("beyond is closed; give open or periodic");
    const double length = checked_spacing(spacing(options.spacing), squared.shape.data(), squared.rank)[0];
    p.weight = length * length, p.periodic = options.beyond == border::periodic, p.half_cell = options.half_cell;
    if (squared.type != dtype::float64 && length != std::floor(length))
        fail(fmt::format("spacing is {:g} for squares of {}; give an integral one, or squares of float64", length,
                         name_of(squared.type)));
    for (int k = 0; k < squared.rank; ++k)
        (k < axis ? p.before : k == axis ? p.rows : p.after) *= squared.shape[static_cast<std::size_t>(k)];
    if (from.site.wanted()) set_grid(p, squared, options);
    return p;
}

}  // namespace

void pass_along(const host& on, const partial_field<const void>& from, int axis, const partial_field<void>& to,
                const partial_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    in_call([&] {
        const exact::partial_pass p = checked_pass(from, axis, to, options);
        if (p.cells() > 0) exact::solve_partial(on, p);
    });
}

void pass_along(const device& on, const partial_field<const void, device>& from, int axis,
                const partial_field<void, device>& to, const partial_options& options) {
    in_call([&] {
        const exact::partial_pass p = checked_pass(from, axis, to, options);
        if (p.cells() > 0) exact::solve_partial(on, p);
    });
}

}  // namespace nearfield
