#include "cli/component_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>

#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

template <class T>
T at(const io::array& column, std::int64_t index) {
    return reinterpret_cast<const T*>(column.data.get())[index];
}

/// The suffix of a column's name, as "_mm"; empty for an unknown unit, or one that would break a header.
std::string suffix_of(const std::string& unit) { return unit.empty() || !is_plain_word(unit) ? "" : "_" + unit; }

/// Name of the size of a component, as "area_mm2".
std::string extent_name(int axes, const std::string& suffix) {
    constexpr const char* names[] = {"length", "area", "volume"};
    const std::string name = axes <= std::ssize(names) ? names[axes - 1] : "extent";
    return name + suffix + (suffix.empty() || axes == 1 ? "" : std::to_string(axes));
}

/// Drops the sign of NaN, as Python prints none.
double unsigned_nan(double number) { return std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number; }

/// Image in the batch and label in that image, for every row.
std::vector<std::array<std::int64_t, 2>> places_of(const std::vector<std::int64_t>& images) {
    std::vector<std::array<std::int64_t, 2>> places;
    for (std::size_t image = 0; image < images.size(); ++image)
        for (std::int64_t label = 1; label <= images[image]; ++label)
            places.push_back({static_cast<std::int64_t>(image), label});
    return places;
}

/// Passes text on once it exceeds `most`, so that a long table is never in memory as text; with `most` = 0 all of it.
void hand_on(std::string& text, const text_sink& to, std::size_t most = std::size_t{1} << 20) {
    if (text.size() <= most) return;
    to(text);
    text.clear();
}

}  // namespace

bool is_plain_word(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128 && std::isalnum(c) != 0; });
}

component_tables<host> component_columns::make(std::int64_t rows, int axes, const any_input<host>& intensity) {
    rows_ = rows, axes_ = axes;
    component_tables<host> tables;
    const auto add = [](io::array& to, any_output<host>& table, dtype type, std::vector<std::int64_t> shape) {
        to = io::make_array(type, std::move(shape));
        table = to.out();
    };
    add(size_, tables.size, dtype::int64, {rows});
    add(box_, tables.box, dtype::int64, {rows, 2, axes});
    add(centroid_, tables.centroid, dtype::float64, {rows, axes});
    add(border_, tables.border, dtype::uint8, {rows});
    add(faces_, tables.faces, dtype::int64, {rows});
    if (!intensity.wanted()) return tables;
    tables.intensity = intensity;
    const bool exact = !is_floating(intensity.type) && size_of(intensity.type) <= 4;
    add(lowest_, tables.lowest, intensity.type, {rows});
    add(highest_, tables.highest, intensity.type, {rows});
    add(sum_, tables.sum, exact ? dtype::int64 : dtype::float64, {rows});
    add(mean_, tables.mean, dtype::float64, {rows});
    add(variance_, tables.variance, dtype::float64, {rows});
    return tables;
}

std::int64_t component_columns::cells_of(std::int64_t row) const { return at<std::int64_t>(size_, row); }

std::vector<component_columns::column> component_columns::columns(const measure& lengths,
                                                                  const std::vector<std::int64_t>& images) const {
    std::vector<column> made;
    if (lengths.of_batch) {
        const auto places = std::make_shared<const std::vector<std::array<std::int64_t, 2>>>(places_of(images));
        made.push_back({"image", [places](std::int64_t row) { return (*places)[static_cast<std::size_t>(row)][0]; }});
        made.push_back({"label", [places](std::int64_t row) { return (*places)[static_cast<std::size_t>(row)][1]; }});
    } else {
        made.push_back({"label", [](std::int64_t row) { return row + 1; }});
    }
    made.push_back({"size", [this](std::int64_t row) { return cells_of(row); }});
    const std::string suffix = suffix_of(lengths.unit);
    const double cell =
        std::accumulate(lengths.per_axis.begin(), lengths.per_axis.end(), 1.0, std::multiplies<double>());
    made.push_back({extent_name(axes_, suffix),
                    [this, cell](std::int64_t row) { return static_cast<double>(cells_of(row)) * cell; }});
    for (int axis = 0; axis < axes_; ++axis)
        for (const int side : {0, 1})
            made.push_back({fmt::format("{}_{}", side == 0 ? "start" : "stop", axis),
                            [this, at_row = side * axes_ + axis](std::int64_t row) {
                                return at<std::int64_t>(box_, 2 * axes_ * row + at_row);
                            }});
    for (int axis = 0; axis < axes_; ++axis)
        made.push_back({fmt::format("centroid_{}{}", axis, suffix),
                        [this, axis, length = lengths.per_axis[static_cast<std::size_t>(axis)]](std::int64_t row) {
                            return at<double>(centroid_, axes_ * row + axis) * length;
                        }});
    made.push_back({"border", [this](std::int64_t row) { return std::int64_t{at<std::uint8_t>(border_, row)}; }});
    made.push_back({"faces", [this](std::int64_t row) { return at<std::int64_t>(faces_, row); }});
    if (!lowest_.shape.empty()) add_intensities(made);
    if (with_shapes_) add_shapes(made, suffix);
    return made;
}

void component_columns::add_intensities(std::vector<column>& made) const {
    const auto add = [&](const char* name, const io::array& from) {
        made.push_back({name, [&from](std::int64_t row) {
                            return with_elements(from.data.get(), from.type, [&]<class T>(const T* values) -> value {
                                if constexpr (!std::is_integral_v<T>)
                                    return unsigned_nan(static_cast<double>(values[row]));
                                else if constexpr (std::is_same_v<T, std::uint64_t>) return values[row];
                                else return static_cast<std::int64_t>(values[row]);
                            });
                        }});
    };
    add("lowest", lowest_), add("highest", highest_), add("sum", sum_), add("mean", mean_), add("variance", variance_);
}

/// Adds the columns of nearfield.ShapeTable, in its order and with its names.
void component_columns::add_shapes(std::vector<column>& made, const std::string& suffix) const {
    const bool flat = axes_ == 2;
    const auto add = [&](bool is_defined, std::string name, int power, auto read) {
        if (!is_defined) return;
        if (!suffix.empty() && power > 0) name += suffix + (power > 1 ? std::to_string(power) : "");
        made.push_back({std::move(name), [this, read](std::int64_t row) -> value {
                            const auto number = read(shapes_[static_cast<std::size_t>(row)]);
                            if constexpr (std::is_integral_v<decltype(number)>) return number;
                            else return unsigned_nan(number);
                        }});
    };
    using shape = component_shape;
    add(true, "extent", 0, [](const shape& s) { return s.extent; });
    add(true, "equivalent_diameter_area", 1, [](const shape& s) { return s.equivalent_diameter_area; });
    add(true, "euler_number", 0, [](const shape& s) { return s.euler_number; });
    add(true, "euler_number_faces", 0, [](const shape& s) { return s.euler_number_faces; });
    for (int i = 0; i < axes_; ++i)
        for (int j = 0; j < axes_; ++j)
            add(true, fmt::format("inertia_tensor-{}-{}", i, j), 2,
                [i, j](const shape& s) { return s.inertia_tensor[i][j]; });
    for (int i = 0; i < axes_; ++i)
        add(true, fmt::format("inertia_tensor_eigvals-{}", i), 2,
            [i](const shape& s) { return s.inertia_tensor_eigvals[i]; });
    add(true, "axis_major_length", 1, [](const shape& s) { return s.axis_major_length; });
    add(true, "axis_minor_length", 1, [](const shape& s) { return s.axis_minor_length; });
    add(flat, "orientation", 0, [](const shape& s) { return s.orientation; });
    add(flat, "eccentricity", 0, [](const shape& s) { return s.eccentricity; });
    add(flat && square_, "perimeter", 1, [](const shape& s) { return s.perimeter; });
    add(flat, "perimeter_crofton", 1, [](const shape& s) { return s.perimeter_crofton; });
    add(!flat, "surface_area", 2, [](const shape& s) { return s.surface_area; });
    add(flat, "area_convex", 2, [](const shape& s) { return s.area_convex; });
    add(flat, "solidity", 0, [](const shape& s) { return s.solidity; });
    add(flat, "feret_diameter_max", 1, [](const shape& s) { return s.feret_diameter_max; });
}

void component_columns::csv(const measure& lengths, const std::vector<std::int64_t>& images,
                            const text_sink& to) const {
    const std::vector<column> made = columns(lengths, images);
    std::string text;
    for (const column& each : made) text += (text.empty() ? "" : ",") + each.name;
    text += '\n';
    for (std::int64_t row = 0; row < rows_; ++row) {
        hand_on(text, to);
        for (const column& each : made) {
            if (&each != &made.front()) text += ',';
            std::visit([&](auto number) { fmt::format_to(std::back_inserter(text), "{}", number); }, each.at(row));
        }
        text += '\n';
    }
    hand_on(text, to, 0);
}

void component_columns::json(const measure& lengths, const std::vector<std::int64_t>& images,
                             const text_sink& to) const {
    const std::vector<column> made = columns(lengths, images);
    std::string text = "[";
    for (std::int64_t row = 0; row < rows_; ++row) {
        hand_on(text, to);
        text += row == 0 ? "\n" : ",\n";
        for (const column& each : made) {
            text += (&each == &made.front() ? "{\"" : ", \"") + each.name + "\": ";
            std::visit(
                [&](auto number) {
                    if (std::isfinite(static_cast<double>(number)))
                        fmt::format_to(std::back_inserter(text), "{}", number);
                    else text += "null";
                },
                each.at(row));
        }
        text += '}';
    }
    text += ']';
    hand_on(text, to, 0);
}

}  // namespace nearfield::cli
