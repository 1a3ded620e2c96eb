#include "components/tables.hpp"

#include <fmt/format.h>

#include <array>

#include "base/check.hpp"
#include "label/statistics.hpp"

namespace nearfield::components {
namespace {

/// The shape and types that a table must have.
template <class Place>
struct rule {
    named_view<Place> table;
    std::vector<std::int64_t> behind_rows;
    std::vector<dtype> types;
    bool of_intensity;
};

template <class Place>
std::vector<rule<Place>> rules_of(const any_input<Place>& labels, const component_tables<Place>& t) {
    const std::int64_t axes = labels.rank;
    const dtype value = t.intensity.type;
    std::vector<dtype> sums{dtype::float64};
    if (value <= dtype::uint32) sums.push_back(dtype::int64);
    return {{{"tables.size", t.size}, {}, {dtype::int64}, false},
            {{"tables.box", t.box}, {2, axes}, {dtype::int64}, false},
            {{"tables.centroid", t.centroid}, {axes}, {dtype::float64}, false},
            {{"tables.border", t.border}, {}, {dtype::boolean, dtype::uint8}, false},
            {{"tables.faces", t.faces}, {}, {dtype::int64}, false},
            {{"tables.lowest", t.lowest}, {}, {value}, true},
            {{"tables.highest", t.highest}, {}, {value}, true},
            {{"tables.sum", t.sum}, {}, sums, true},
            {{"tables.mean", t.mean}, {}, {dtype::float64}, true},
            {{"tables.variance", t.variance}, {}, {dtype::float64}, true}};
}

template <class Place>
void check_table(const rule<Place>& r, bool has_intensity) {
    const any_input<Place>& table = r.table.view;
    if (r.of_intensity && !has_intensity)
        fail(fmt::format("{} is asked for, but tables.intensity, which it measures, is not given", r.table.name));
    std::vector<const char*> names;
    for (dtype type : r.types) names.push_back(name_of(type));
    if (std::find(r.types.begin(), r.types.end(), table.type) == r.types.end())
        fail(fmt::format("{} has element type {}; give an array of {}", r.table.name, name_of(table.type),
                         fmt::join(names, " or ")));
    bool right = table.rank == 1 + static_cast<int>(r.behind_rows.size());
    for (std::size_t axis = 0; right && axis < r.behind_rows.size(); ++axis)
        right = table.shape[axis + 1] == r.behind_rows[axis];
    if (!right)
        fail(fmt::format("{} has shape {}; give one of shape N{}{}, with a row for each label", r.table.name,
                         shape_text(table.shape.data(), table.rank), r.behind_rows.empty() ? "" : "x",
                         fmt::join(r.behind_rows, "x")));
}

}  // namespace

template <class Place>
void check_tables(const any_input<Place>& labels, const component_tables<Place>& tables) {
    if (!tables.any()) fail("tables asks for nothing; give at least one table to fill");
    std::vector<named_view<Place>> views{{"labels", labels}, {"tables.intensity", tables.intensity}};
    if (tables.intensity.wanted() && tables.intensity.type == dtype::float16)
        fail("tables.intensity has element type float16; give float32 or float64");
    check_same_shape<Place>("tables.intensity", tables.intensity, labels);
    for (const rule<Place>& each : rules_of(labels, tables)) {
        if (!each.table.view.wanted()) continue;
        check_table(each, tables.intensity.wanted());
        views.push_back(each.table);
    }
    check_data<Place>(views);
    check_apart<Place>(views, 2);
    if (tables.centroid.wanted() && !statistics::sums_fit(labels.shape.data(), labels.rank))
        throw error(error_code::unsupported,
                    fmt::format("tables.centroid: sums of coordinates in labels of shape {} could pass 64 bits; "
                                "measure parts of it",
                                shape_text(labels.shape.data(), labels.rank)));
}

template void check_tables<host>(const any_input<host>&, const component_tables<host>&);
template void check_tables<device>(const any_input<device>&, const component_tables<device>&);

}  // namespace nearfield::components
