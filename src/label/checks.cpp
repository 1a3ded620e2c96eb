#include "label/checks.hpp"

#include <fmt/format.h>

#include <array>

#include "base/check.hpp"
#include "label/statistics.hpp"

namespace nearfield::labelling {
namespace {

template <class Place>
struct table {
    const char* name;
    any_output<Place> view;
    int rank = 1;                    ///< axes of the view
    std::int64_t inner[2] = {0, 0};  ///< sizes of the view's axes after the first, which numbers rows
    bool of_intensity = false;
};

template <class Place>
std::array<table<Place>, 10> list_of(const problem& p, const component_tables<Place>& t) {
    return {{{"size", t.size},
             {"box", t.box, 3, {2, p.rank}},
             {"centroid", t.centroid, 2, {p.rank, 0}},
             {"border", t.border},
             {"faces", t.faces},
             {"lowest", t.lowest, 1, {}, true},
             {"highest", t.highest, 1, {}, true},
             {"sum", t.sum, 1, {}, true},
             {"mean", t.mean, 1, {}, true},
             {"variance", t.variance, 1, {}, true}}};
}

template <class Place>
void check_shape(const table<Place>& t) {
    bool right = t.view.rank == t.rank && t.view.shape[0] >= 0;
    for (int axis = 1; axis < t.rank && right; ++axis)
        right = t.view.shape[static_cast<std::size_t>(axis)] == t.inner[axis - 1];
    if (right) return;
    const std::string behind = t.rank == 1   ? ""
                               : t.rank == 2 ? fmt::format("x{}", t.inner[0])
                                             : fmt::format("x{}x{}", t.inner[0], t.inner[1]);
    fail(fmt::format("tables.{} has shape {}; give one of shape N{}, with a row for each component", t.name,
                     shape_text(t.view.shape.data(), t.view.rank), behind));
}

template <class Place>
void check_types(const component_tables<Place>& t) {
    if (t.size.wanted()) check_type("tables.size", t.size.type, {dtype::int64});
    if (t.box.wanted()) check_type("tables.box", t.box.type, {dtype::int64});
    if (t.centroid.wanted()) check_type("tables.centroid", t.centroid.type, {dtype::float64});
    if (t.border.wanted()) check_type("tables.border", t.border.type, {dtype::boolean, dtype::uint8});
    if (t.faces.wanted()) check_type("tables.faces", t.faces.type, {dtype::int64});
    if (t.mean.wanted()) check_type("tables.mean", t.mean.type, {dtype::float64});
    if (t.variance.wanted()) check_type("tables.variance", t.variance.type, {dtype::float64});
    if (!t.intensity.wanted()) return;
    const dtype type = t.intensity.type;
    if (type == dtype::float16) fail("tables.intensity has element type float16; give float32 or float64");
    if (t.lowest.wanted()) check_type("tables.lowest", t.lowest.type, {type});
    if (t.highest.wanted()) check_type("tables.highest", t.highest.type, {type});
    const bool small_integers = type <= dtype::uint32;
    if (t.sum.wanted() && small_integers) check_type("tables.sum", t.sum.type, {dtype::float64, dtype::int64});
    else if (t.sum.wanted()) check_type("tables.sum", t.sum.type, {dtype::float64});
}

}  // namespace

template <class Place>
void check_tables(const problem& p, const any_input<Place>& image, const label_fields<Place>& fields,
                  const component_tables<Place>& tables) {
    any_input<Place> labels = image;
    if (p.colour) --labels.rank;
    const auto all = list_of(p, tables);
    for (const table<Place>& each : all) {
        if (!each.view.wanted()) continue;
        if (each.of_intensity && !tables.intensity.wanted())
            fail(fmt::format("tables.{} is asked for, but tables.intensity, which it measures, is not given",
                             each.name));
        check_shape(each);
    }
    check_same_shape<Place>("tables.intensity", tables.intensity, labels);
    check_types(tables);
    constexpr const char* names[] = {"tables.size",  "tables.box",     "tables.centroid", "tables.border",
                                     "tables.faces", "tables.lowest",  "tables.highest",  "tables.sum",
                                     "tables.mean",  "tables.variance"};
    std::array<named_view<Place>, 14> views{{{"image", image},
                                             {"tables.intensity", tables.intensity},
                                             {"out.label", fields.label},
                                             {"out.count", fields.count}}};
    for (std::size_t k = 0; k < all.size(); ++k) views[k + 4] = {names[k], all[k].view};
    check_data<Place>(views);
    check_apart<Place>(views, 2);
    if (tables.centroid.wanted() && !statistics::sums_fit(p.size.data(), p.rank))
        throw error(error_code::unsupported,
                    fmt::format("tables.centroid: sums of coordinates in images of shape {} could pass 64 bits; label "
                                "parts of it",
                                shape_text(p.size.data(), p.rank)));
}

void check_number(dtype label, std::int64_t components) {
    if (components <= largest_label(label)) return;
    fail(fmt::format("out.label has element type {}, which numbers {} components; the image has {}; give {}",
                     name_of(label), largest_label(label), components,
                     components <= largest_label(dtype::int32) ? "int32" : "int64"));
}

template void check_tables<host>(const problem&, const any_input<host>&, const label_fields<host>&,
                                 const component_tables<host>&);
template void check_tables<device>(const problem&, const any_input<device>&, const label_fields<device>&,
                                   const component_tables<device>&);

}  // namespace nearfield::labelling
