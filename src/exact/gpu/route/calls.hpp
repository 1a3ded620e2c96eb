// Interfaces between the parts of the route, and the choice of keys for a problem.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "base/cuda.cuh"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/line_pass.hpp"

namespace nearfield::exact {

/// A call in unit spacing without options, whose arrays are contiguous.
struct plain_call {
    const device& on;
    const plan& p;
    const any_input<device>& image;
    const fields<device>& out;
    bool measure_only;  ///< return the bytes of workspace and start nothing
    /// If set, few sites write these fields of any kind instead of `out`; `counters` tell whether they did.
    const fields<device>* few_out = nullptr;
    std::int32_t* counters = nullptr;
};

/// Solves it by the kernel for small grids, by tiles of distances or by words of sites. Returns the bytes of workspace.
std::int64_t call_plainly(const plain_call& call);

/// Solves a search without options on a call's image, or describes it. With counters, few sites write the call's own
/// fields at once.
std::int64_t search_plainly(const option_call& call, const plan& p, const fields<device>& out,
                            std::int32_t* few_counters = nullptr);
/// Adds the kernel that makes the fields of a described call from those of such searches.
void describe_last(const option_call& call, const char* method);

// Solve or describe calls by plain searches; return nothing if they do not serve the call.
std::optional<std::int64_t> call_by_index(const option_call& call);      ///< labels of seeds, several wide fields
std::optional<std::int64_t> call_signed_image(const option_call& call);  ///< signed distances of images

/// True if one kernel solves the grid.
inline bool is_small(const plan& p, dtype image) { return whole_fits(p, image) && cuda::has_clusters(true); }

// These do the same with options: half cells, borders, classes and signs, a limit, power diagrams, batches, every
// field. They return the bytes of workspace.
std::int64_t options_int32(const option_call& call);
std::int64_t options_int64(const option_call& call);
std::int64_t options_float64(const option_call& call);
std::int64_t with_options(const option_call& call);

/// Gives fields of a plan, whose pointers may be null, a place that is not dereferenced: a field is wanted, and can
/// lend its memory, if its pointer is set.
inline fields<device> placed(fields<device> out) {
    alignas(16) static std::byte somewhere;
    for (any_output<device>* field :
         {&out.distance, &out.squared, &out.index, &out.coordinates, &out.label, &out.trusted})
        if (field->wanted() && field->data == nullptr) field->data = &somewhere;
    return out;
}

/// Returns the memory of a field that can hold 2 bytes a cell until it is written; null if there is none.
inline std::byte* lent_field(const fields<device>& out) {
    for (const any_output<device>* field : {&out.distance, &out.squared, &out.index, &out.coordinates, &out.label})
        if (field->wanted() && size_of(field->type) > 1 && reinterpret_cast<std::uintptr_t>(field->data) % 16 == 0)
            return static_cast<std::byte*>(field->data);
    return nullptr;
}

/// Runs many calls that differ in size only. Images whose sizes along every axis are within a factor of 1.4 (equal
/// along periodic axes) are solved as one batch, padded to the largest by repeating their last cells: a padded cell is
/// farther than the one it repeats, so it never wins. This costs a copy of the images, the work and workspace of the
/// padded cells (up to 2.8 times as many in 3-D; for 2^26 cells at a time, fewer if memory is short), and a launch per
/// six images that carries their pointers. Large images, which fill a GPU alone, are solved one by one.
void run_list(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs);

}  // namespace nearfield::exact

namespace nearfield::exact::gpu {

/// Integers below 2^53 are exact in double.
inline constexpr double most_exact = 9007199254740992.0;

/// True if the last pass writes the fields; otherwise another kernel makes them from keys.
bool last_pass_writes(const option_call& call);

/// True if images and volumes store a site's position in its row in 16 bits, then both positions in a plane in 32.
/// Only if another kernel makes the fields, the key of the whole site has to fit 31 bits.
inline bool keys_are_narrow(const option_call& call) {
    const plan& p = call.p;
    const int searched = p.rank - p.first_axis;
    if (searched < 2 || searched > 3 || (p.keys.total() > narrow_key_bits && !last_pass_writes(call))) return false;
    for (int axis = p.first_axis + 1; axis < p.rank; ++axis)
        if (p.size[static_cast<std::size_t>(axis)] > std::numeric_limits<std::int16_t>::max()) return false;
    return true;
}

/// True if images store positions in 32 bits, beside values in double: if rows are too long for 16 bits, or if near
/// windows with sites have no kernels for these, in rows of more than 32512 cells and for periodic ends.
inline bool keys_are_rows(const option_call& call) {
    const plan& p = call.p;
    if (p.rank - p.first_axis != 2 || p.weighted || p.largest >= most_exact || !last_pass_writes(call)) return false;
    const bool wraps = p.numbers == tier::int64 && p.by == classes::none && p.any(border::periodic);
    const std::int64_t most = p.sites_wanted ? (wraps ? 0 : 32512) : std::numeric_limits<std::int16_t>::max();
    return p.size[static_cast<std::size_t>(p.rank - 1)] > most;
}

/// True if the problem has one axis, along which positions fit 32 bits: they are the packed sites.
inline bool keys_are_all_rows(const plan& p) {
    return p.rank - p.first_axis == 1 && !p.weighted && p.keys.total() <= narrow_key_bits;
}

/// True if the sites of any number of axes are packed beside int32 values.
inline bool values_fit_keys(const plan& p) {
    return p.numbers == tier::int32 && p.sites_wanted && !p.weighted && p.rank - p.first_axis > 1 &&
           p.keys.total() <= narrow_key_bits;
}

/// Returns the largest number of steps along an axis that costs less than no site in 32 bits. Only passes of doubles,
/// which do not ask for it, have weights below 1; the bound keeps their number in an int.
inline int most_steps(const plan& p, int axis) {
    constexpr double most = no_site<std::int32_t>() - 1;
    return static_cast<int>(std::sqrt(most / std::max(p.weight[static_cast<std::size_t>(axis)], 1e-3)));
}

/// True if a volume is searched in 32 bits before it is in double: near windows or, without sites, whole passes, whose
/// costs are clamped. If all cells have a site within narrow_limit, these are exact: only farther ones need larger
/// numbers.
inline bool tries_narrow(const option_call& call) {
    constexpr double heaviest = 1 << 20;
    const plan& p = call.p;
    return p.numbers == tier::int64 && p.rank - p.first_axis == 3 && !p.weighted && keys_are_narrow(call) &&
           last_pass_writes(call) &&
           std::all_of(p.weight.begin(), p.weight.begin() + p.rank, [](double w) { return w <= heaviest; });
}
/// Returns the largest value in 32 bits that no clamped cost reaches.
inline double narrow_limit(const plan& p) {
    double least = no_site<std::int32_t>();
    for (int axis = p.first_axis; axis < p.rank; ++axis)
        least = std::min(least, p.weight[static_cast<std::size_t>(axis)] * std::pow(most_steps(p, axis), 2));
    return least - 1;
}

/// True if int32 values without sites suffice for distances, along any number of axes; 16 bits after the last one.
inline bool values_suffice(const plan& p) {
    return p.numbers == tier::int32 && !p.sites_wanted && !p.weighted && p.rank - p.first_axis > 1 &&
           p.size[static_cast<std::size_t>(p.rank - 1)] <= std::numeric_limits<std::int16_t>::max();
}

/// Returns the shape of a pass, without its memory.
template <class V>
line_pass<V> shape_along(const plan& p, int axis) {
    const auto size = [&](int i) { return p.size[static_cast<std::size_t>(i)]; };
    line_pass<V> g;
    g.m = p.template as_metric<V>(), g.axis = axis;
    g.rows = static_cast<int>(size(axis)), g.columns = p.cells / size(axis);
    g.inner = cells_between(p.size.data(), axis + 1, p.rank);
    const double weight = p.weight[static_cast<std::size_t>(axis)];
    g.weight = g.m.weight[axis], g.most_steps = most_steps(p, axis);
    for (int i = 0; i < p.rank - 1 - axis; ++i) {
        g.done_weight[i] = g.m.weight[p.rank - 1 - i];
        g.done_size[i] = static_cast<int>(size(p.rank - 1 - i));
        g.done_most_steps[i] = most_steps(p, p.rank - 1 - i);
    }
    g.inverse = static_cast<float>(1 / weight) * 1.000001f, g.nearly = static_cast<float>(weight) * 0.999999f;
    g.ordered = p.rows_ordered[static_cast<std::size_t>(axis)];
    g.periodic = g.m.periodic[axis];
    g.limit = p.template bound<V>(p.limit);
    return g;
}

/// Returns the shape of the marks along an axis, without their memory.
inline marked marks_along(const plan& p, int axis) {
    marked to;
    to.rows = p.size[static_cast<std::size_t>(axis)], to.columns = p.cells / to.rows;
    to.inner = cells_between(p.size.data(), axis + 1, p.rank);
    to.words = blocks_for(to.rows, mark_bits), to.stretch = stretch_for(to.words);
    to.periodic = p.borders[static_cast<std::size_t>(axis)] == border::periodic;
    return to;
}

/// Points a pass to the fields of its call, and to the image of labels and signs.
template <class V>
void point_fields(const option_call& call, const elements& image, line_pass<V>& g) {
    const plan& p = call.p;
    const item& to = call.list[0];
    written_fields<V>& f = g.out;
    f.out = contiguous_fields(p, to, call.out);
    f.out.only_distance32 = f.out.distance32 != nullptr && to.squared.data == nullptr;
    f.out.only_within = f.out.within != nullptr && to.squared.data == nullptr;
    if (g.limit < no_site<V>()) f.limit = g.limit;
    for (int axis = p.first_axis; axis < p.rank; ++axis) {
        const border ends = p.borders[static_cast<std::size_t>(axis)];
        if (ends != border::periodic) (ends == border::closed ? f.closed : f.open) |= 1u << axis;
    }
    f.closed_beside = p.template bound<V>(p.closed_beside), f.open_beside = p.template bound<V>(p.open_beside);
    f.trusted = reinterpret_cast<std::uint8_t*>(to.trusted.data), f.limited = std::isfinite(p.limit);
    f.label = to.label.data;
    f.image = image.data, f.image_bytes = image.bytes, f.floating = image.floating;
    if (p.is_signed()) {
        f.zero_sign = p.inside_is_nonzero ? p.outside_sign : p.inside_sign;
        f.other_sign = p.inside_is_nonzero ? p.inside_sign : p.outside_sign;
    }
}

}  // namespace nearfield::exact::gpu
