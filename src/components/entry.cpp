// The public calls: they check their arguments, then call the place's engine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "components/arguments.hpp"
#include "components/engine.hpp"
#include "components/tables.hpp"

namespace nearfield {
namespace components {
namespace {

constexpr auto label_types = {dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64};

void check_kind(list_of what) {
    if (what > list_of::runs)
        fail(fmt::format("what is {}; give list_of::cells or list_of::runs", static_cast<int>(what)));
}

template <class Place>
void check_offsets(const any_input<Place>& offsets) {
    check_type("offsets", offsets.type, {dtype::int64});
    if (offsets.rank != 1 || offsets.shape[0] < 1)
        fail(fmt::format("offsets has shape {}; give one of shape N + 1, for labels 1 to N",
                         shape_text(offsets.shape.data(), offsets.rank)));
}

template <class Place>
void offsets_of(const Place& on, const any_input<Place>& labels, const any_output<Place>& offsets, list_of what) {
    check_place(on);
    check_labels(labels);
    check_kind(what);
    check_offsets<Place>(offsets);
    check_memory<Place>({{"labels", labels}, {"offsets", offsets}}, 1);
    count_lists(on, labels, offsets, what);
}

template <class Place>
void lists_of(const Place& on, const any_input<Place>& labels, const any_input<Place>& offsets,
              const any_output<Place>& entries, list_of what) {
    check_place(on);
    check_labels(labels);
    check_kind(what);
    check_offsets<Place>(offsets);
    check_type("entries", entries.type, {dtype::int64, dtype::int32});
    const bool runs = what == list_of::runs;
    if (entries.rank != (runs ? 2 : 1) || (runs && entries.shape[1] != 2))
        fail(fmt::format("entries has shape {}; give one of shape {}", shape_text(entries.shape.data(), entries.rank),
                         runs ? "Mx2 for runs" : "M for cells"));
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (entries.type == dtype::int32 && labels.cells() > most)
        fail(
            fmt::format("entries has element type int32, which ends at {}; {} cells need int64", most, labels.cells()));
    check_memory<Place>({{"labels", labels}, {"offsets", offsets}, {"entries", entries}}, 2);
    const expected_outputs written{entries};
    fill_lists(on, labels, offsets, entries, what);
}

template <class Place>
void check_relabel(const Place& on, const any_input<Place>& labels, const any_output<Place>& out,
                   const any_output<Place>& count) {
    check_place(on);
    check_labels(labels);
    if (!out.wanted()) fail("out has no axes; give an array of the labels' shape");
    check_type("out", out.type, label_types);
    check_same_shape<Place>("out", out, labels);
    if (count.wanted()) {
        check_type("count", count.type, {dtype::int64});
        if (count.cells() != 1)
            fail(fmt::format("count has shape {}; give one value", shape_text(count.shape.data(), count.rank)));
    }
    check_memory<Place>({{"labels", labels}, {"out", out}, {"count", count}}, 1);
}

/// Throws unless the image's type can hold the background value.
template <class Place>
void check_background(const any_input<Place>& image, const scalar& value) {
    if (image.type >= dtype::float16) return;
    const int bits = 8 * static_cast<int>(size_of(image.type));
    const bool is_signed = image.type != dtype::boolean && (static_cast<int>(image.type) - 1) % 2 == 0;
    const double low = is_signed ? -std::ldexp(1, bits - 1) : 0;
    const double end = image.type == dtype::boolean ? 2 : std::ldexp(1, is_signed ? bits - 1 : bits);
    const double real = value.real();
    const bool whole = !value.is_real() || real == std::floor(real);
    // 2^64 - 1 would round to 2^64 as a double, so integers of 64 bits are compared as integers.
    const bool fits = value.is_real() ? real >= low && real < end
                      : bits == 64 ? is_signed ? value.is_negative() || value.bits() >> 63 == 0 : !value.is_negative()
                                   : real >= low && real < end;
    if (!whole || !fits)
        fail(
            fmt::format("options.background is {}, which {} cannot hold; give one of the image's values, which the "
                        "dropped cells get",
                        real, name_of(image.type)));
}

template <class Place>
void check_remove(const Place& on, const any_input<Place>& image, const any_output<Place>& out, std::int64_t smallest,
                  const label_options& options) {
    check_place(on);
    check_image<Place>("image", image, most_cells_a_side);
    if (!out.wanted()) fail("out has no axes; give an array of the image's shape");
    check_same_shape<Place>("out", out, image);
    check_type("out", out.type, {image.type});
    if (smallest < 0) fail(fmt::format("smallest is {}; give a number of cells", smallest));
    if (options.criterion != criterion::nonzero) check_background(image, options.background);
    check_data<Place>(std::array<named_view<Place>, 2>{{{"image", image}, {"out", out}}});
    const bool same = image.data == out.data &&
                      std::equal(image.stride.begin(), image.stride.begin() + image.rank, out.stride.begin());
    if (same) check_memory<Place>({{"out", out}}, 0);
    else check_memory<Place>({{"image", image}, {"out", out}}, 1);
}

int checked_connectivity(int given, int axes) {
    if (given >= 1 && given <= axes) return given;
    constexpr int neighbours[most_axes][most_axes] = {{2, 0, 0}, {4, 8, 0}, {6, 18, 26}};
    for (int changes = 1; changes <= axes; ++changes)
        if (given == neighbours[axes - 1][changes - 1]) return changes;
    fail(fmt::format("connectivity is {} for {} axes; give 1 to {}, or {}", given, axes, axes,
                     axes == 1   ? "2 neighbours"
                     : axes == 2 ? "4 or 8 neighbours"
                                 : "6, 18 or 26 neighbours"));
}

/// Areas of a cell's faces by the axis to which they are normal: the product of the other axes' spacings.
std::array<double, most_axes> areas_of_faces(const std::array<double, max_rank>& length, int axes) {
    std::array<double, most_axes> area{1, 1, 1};
    for (int axis = 0; axis < axes; ++axis)
        for (int other = 0; other < axes; ++other)
            if (other != axis)
                area[static_cast<std::size_t>(most_axes - axes + axis)] *= length[static_cast<std::size_t>(other)];
    return area;
}

template <class Place>
std::vector<contact> contacts_of(const Place& on, const any_input<Place>& labels, int connectivity,
                                 const spacing& cell) {
    check_place(on);
    check_labels(labels);
    const steps3 steps = forward_steps(labels.rank, checked_connectivity(connectivity, labels.rank));
    const auto area = areas_of_faces(checked_spacing(cell, labels.shape.data(), labels.rank), labels.rank);
    check_memory<Place>({{"labels", labels}}, 1);
    if (labels.cells() == 0) return {};
    contact_list found(area);
    find_touching(on, labels, steps, found);
    return found.take();
}

}  // namespace

hash_seed process_seed() {
    static const hash_seed drawn = [] {
        std::random_device random;
        const auto word = [&] { return static_cast<std::uint64_t>(random()) << 32 | random(); };
        return hash_seed{word(), word() | 1};
    }();
    return drawn;
}

void check_numbers(dtype out, std::int64_t values) {
    if (values <= most_of(out)) return;
    fail(fmt::format("out has element type {}, which numbers {} values; labels has {}; give {}", name_of(out),
                     most_of(out), values, values <= most_of(dtype::int32) ? "int32" : "int64"));
}

}  // namespace components

void component_statistics(const host& on, const any_input<host>& labels, const component_tables<host>& tables) {
    in_call([&] {
        components::check_place(on);
        components::check_labels(labels);
        components::check_tables(labels, tables);
        const expected_outputs columns = columns_of(tables);
        components::measure(on, labels, tables);
    });
}
void component_statistics(const device& on, const any_input<device>& labels, const component_tables<device>& tables) {
    in_call([&] {
        components::check_labels(labels);
        components::check_tables(labels, tables);
        components::measure(on, labels, tables);
    });
}

void component_statistics(const device& on, const any_input<device>& labels,
                          const std::function<component_tables<device>(std::int64_t largest)>& make_tables) {
    in_call([&] {
        components::check_labels(labels);
        check_type("labels", labels.type, {dtype::int32, dtype::uint32});
        check_data<device>(std::array<named_view<device>, 1>{{{"labels", labels}}});
        components::measure(on, labels, make_tables);
    });
}

void label_list_offsets(const host& on, const any_input<host>& labels, const any_output<host>& offsets, list_of what) {
    in_call([&] { components::offsets_of(on, labels, offsets, what); });
}
void label_list_offsets(const device& on, const any_input<device>& labels, const any_output<device>& offsets,
                        list_of what) {
    in_call([&] { components::offsets_of(on, labels, offsets, what); });
}

void label_lists(const host& on, const any_input<host>& labels, const any_input<host>& offsets,
                 const any_output<host>& entries, list_of what) {
    in_call([&] { components::lists_of(on, labels, offsets, entries, what); });
}
void label_lists(const device& on, const any_input<device>& labels, const any_input<device>& offsets,
                 const any_output<device>& entries, list_of what) {
    in_call([&] { components::lists_of(on, labels, offsets, entries, what); });
}

void relabel(const host& on, const any_input<host>& labels, const any_output<host>& out,
             const any_output<host>& count) {
    in_call([&] {
        components::check_relabel(on, labels, out, count);
        const expected_outputs written{out};
        components::renumber(on, labels, out, count);
    });
}
void relabel(const device& on, const any_input<device>& labels, const any_output<device>& out,
             const any_output<device>& count) {
    in_call([&] {
        components::check_relabel(on, labels, out, count);
        components::renumber(on, labels, out, count);
    });
}

void remove_small(const host& on, const any_input<host>& image, const any_output<host>& out, std::int64_t smallest,
                  const label_options& options) {
    in_call([&] {
        components::check_remove(on, image, out, smallest, options);
        const expected_outputs written{out};
        label_options kept = options;
        kept.smallest = std::max(smallest, options.smallest);
        components::keep_labelled(on, image, out, kept);
    });
}
void remove_small(const device& on, const any_input<device>& image, const any_output<device>& out,
                  std::int64_t smallest, const label_options& options) {
    in_call([&] {
        components::check_remove(on, image, out, smallest, options);
        label_options kept = options;
        kept.smallest = std::max(smallest, options.smallest);
        components::keep_labelled(on, image, out, kept);
    });
}

std::int64_t count_components(const host& on, const any_input<host>& image, const label_options& options) {
    return in_call([&] { return components::count_of(on, image, options); });
}
std::int64_t count_components(const device& on, const any_input<device>& image, const label_options& options) {
    return in_call([&] { return components::count_of(on, image, options); });
}

std::vector<contact> contacts(const host& on, const any_input<host>& labels, int connectivity, const spacing& cell) {
    return in_call([&] { return components::contacts_of(on, labels, connectivity, cell); });
}
std::vector<contact> contacts(const device& on, const any_input<device>& labels, int connectivity,
                              const spacing& cell) {
    return in_call([&] { return components::contacts_of(on, labels, connectivity, cell); });
}

}  // namespace nearfield
