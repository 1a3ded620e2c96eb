// The public call of nearfield/distance_where.hpp: checks arguments, searches each class, writes the results.
#include "exact/where.hpp"

#include <bit>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "exact/gpu/route/route.hpp"
#include "exact/host.hpp"
#include "exact/types.hpp"

namespace nearfield {
namespace exact {
namespace {

void check_threads(const host& on) {
    if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
}
void check_threads(const device&) {}

/// Returns a place on which search `k` of `count` reports its share of the whole.
host part_of(const host& on, int k, int count) {
    if (!on.progress) return on;
    return {on.threads, [&on, k, count](double share) { return on.progress((k + share) / count); }};
}
device part_of(const device& on, int, int) { return on; }

std::uint64_t none_of(dtype type) {
    return type == dtype::float16   ? 0x7c00
           : type == dtype::float32 ? 0x7f800000
           : type == dtype::float64 ? 0x7ff0000000000000
                                    : ~std::uint64_t{0};
}

template <class Place>
bounded_array written(const any_output<Place>& field, std::uint64_t none, int leading_axes = 0) {
    if (!field.wanted()) return {};
    bounded_array to = bounded_array_of<Place>(field, leading_axes);
    to.none = none;
    return to;
}

template <class Place>
where_cells cells_of(const any_input<Place>& image, const any_input<Place>& where, const fields<Place>& out,
                     const distance_options& options, const cleared_fields& cleared) {
    where_cells c;
    c.rank = image.rank, c.batch_axes = options.batch_axes;
    for (int axis = 0; axis < image.rank; ++axis) {
        c.size[axis] = image.shape[static_cast<std::size_t>(axis)];
        if (axis >= options.batch_axes) c.of_image *= c.size[axis];
    }
    c.lines = image.cells() / c.length();
    c.rule = options.sites, c.sides = options.sign, c.cleared = cleared;
    c.image = bounded_array_of<Place>(image), c.where = bounded_array_of<Place>(where);
    c.distance = written(out.distance, out.distance.type == dtype::boolean ? 0 : none_of(out.distance.type));
    c.squared = written(out.squared, none_of(out.squared.type));
    c.index = written(out.index, ~std::uint64_t{0});
    c.coordinates = written(out.coordinates, ~std::uint64_t{0}, 1);
    if (out.coordinates.wanted())
        c.planes = static_cast<int>(out.coordinates.shape[0]), c.plane_step = out.coordinates.stride[0];
    c.label = written(out.label, 0), c.trusted = written(out.trusted, 0);
    return c;
}

/// Calls the engine once, for the sites of `c.mask`.
template <class Place>
void search(const Place& on, const where_cells& c, const fields<Place>& found, const any_input<Place>& image,
            const distance_options& options) {
    const std::span shape(image.shape.data(), static_cast<std::size_t>(image.rank));
    const auto mask = any_input<Place>::contiguous(c.mask, dtype::uint8, shape);
    run(on, make_plan(mask, found, {options}), {mask, found});
}
template <class Place>
void search(const Place& on, const where_cells& c, const where_found& to, const any_input<Place>& image,
            const distance_options& options) {
    const std::span shape(image.shape.data(), static_cast<std::size_t>(image.rank));
    fields<Place> found;
    found.squared = any_output<Place>::contiguous(to.squared, c.squared_type, shape);
    if (to.index != nullptr) found.index = any_output<Place>::contiguous(to.index, dtype::int64, shape);
    if (to.trusted != nullptr) found.trusted = any_output<Place>::contiguous(to.trusted, dtype::uint8, shape);
    search(on, c, found, image, options);
}

template <class Place>
void search_classes(const Place& on, where_cells c, const any_input<Place>& image, const distance_options& options) {
    std::uint64_t bits = c.labelled() ? differing_bits(on, c) | 1 : 1;
    const int count = 2 * std::popcount(bits);
    for (int k = 0; bits != 0; bits &= bits - 1)
        for (const int value : {1, 0}) {
            c.bit = std::countr_zero(bits), c.value = value;
            c.step = where_step::mark, run_step(on, c);
            search(part_of(on, k++, count), c, c.now, image, options);
            c.step = where_step::take, run_step(on, c);
        }
}

/// Places a search's results behind the first `taken` bytes of memory and advances `taken`; with null it only counts.
where_found found_in(std::byte* memory, std::int64_t& taken, std::int64_t cells, dtype squared, bool index,
                     bool trusted) {
    const auto next = [&](bool wanted, std::int64_t bytes) -> std::byte* {
        if (!wanted) return nullptr;
        std::byte* const at = memory == nullptr ? nullptr : memory + taken;
        taken += (bytes + 255) / 256 * 256;
        return at;
    };
    where_found to;
    to.squared = next(true, cells * size_of(squared));
    to.index = reinterpret_cast<std::int64_t*>(next(index, 8 * cells));
    to.trusted = reinterpret_cast<std::uint8_t*>(next(trusted, cells));
    return to;
}

/// True if the engine may write the caller's fields, of whose masked-out cells nothing is kept.
template <class Place>
bool writes_straight(const where_cells& c, const fields<Place>& out) {
    const cleared_fields& all = c.cleared;
    return !c.has_classes() && !out.label.wanted() && (all.distance || !out.distance.wanted()) &&
           (all.squared || !out.squared.wanted()) && (all.index || !out.index.wanted()) &&
           (all.coordinates || !out.coordinates.wanted()) && (all.trusted || !out.trusted.wanted());
}

template <class Place>
void run_where(const Place& on, where_cells c, const any_input<Place>& image, const fields<Place>& out,
               const distance_options& options) {
    distance_options one_class = options;
    one_class.sites = sites::nonzero, one_class.sign = sign::none;
    if (writes_straight(c, out))
        return with_bytes(on, image.cells(), [&](void* memory) {
            c.mask = static_cast<std::uint8_t*>(memory);
            run_step(on, c);
            search(on, c, out, image, one_class);
            c.step = where_step::clear, run_step(on, c);
        });
    c.squared_type = squared_distance_type(image.shape.data(), image.rank, one_class);
    const bool index = c.index.data != nullptr || c.planes > 0 || c.label.data != nullptr;
    const bool trusted = c.trusted.data != nullptr;
    const auto place = [&](std::byte* memory) {
        std::int64_t taken = (image.cells() + 255) / 256 * 256;
        c.mask = reinterpret_cast<std::uint8_t*>(memory);
        c.best = found_in(memory, taken, image.cells(), c.squared_type, index, trusted);
        if (c.has_classes()) c.now = found_in(memory, taken, image.cells(), c.squared_type, index, trusted);
        return taken;
    };
    with_bytes(on, place(nullptr), [&](void* memory) {
        place(static_cast<std::byte*>(memory));
        if (c.has_classes()) search_classes(on, c, image, one_class);
        else run_step(on, c), search(on, c, c.best, image, one_class);
        c.step = where_step::finish, run_step(on, c);
    });
}

template <class Place>
void solve_where(const Place& on, const any_input<Place>& image, const any_input<Place>& where,
                 const fields<Place>& out, const distance_options& options, const cleared_fields& cleared) {
    check_threads(on);
    const plan p = make_plan(image, out, {options});
    if (!where.wanted()) fail("where has no axes; give an array of the image's shape");
    check_same_shape<Place>("where", where, image);
    check_type("where", where.type, {dtype::boolean, dtype::int8, dtype::uint8});
    check_memory("where", where, out);
    if (p.cells > 0) run_where(on, cells_of(image, where, out, options, cleared), image, out, options);
}

}  // namespace
}  // namespace exact

void distance_transform_where(const host& on, const any_input<host>& image, const any_input<host>& where,
                              const fields<host>& out, const distance_options& options, const cleared_fields& cleared) {
    in_call([&] { exact::solve_where(on, image, where, out, options, cleared); });
}
void distance_transform_where(const device& on, const any_input<device>& image, const any_input<device>& where,
                              const fields<device>& out, const distance_options& options,
                              const cleared_fields& cleared) {
    in_call([&] { exact::solve_where(on, image, where, out, options, cleared); });
}

}  // namespace nearfield
