#include "io/geotiff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace nearfield::io {
namespace {

constexpr std::uint32_t scale_tag = 33550, tie_tag = 33922, matrix_tag = 34264, keys_tag = 34735, numbers_tag = 34736,
                        words_tag = 34737, no_data_tag = 42113;
constexpr int model_key = 1024, geographic_key = 2048, projected_key = 3072, unit_key = 3076;
constexpr int projected = 1, geographic = 2;

/// Returns the values of a tag unknown to libtiff; empty unless they have this type.
template <class T>
std::span<const T> values_of(TIFF* tiff, std::uint32_t tag, TIFFDataType type) {
    const TIFFField* field = TIFFFindField(tiff, tag, TIFF_ANY);
    if (field == nullptr || TIFFFieldDataType(field) != type || TIFFFieldPassCount(field) == 0 ||
        TIFFFieldReadCount(field) != TIFF_VARIABLE2)
        return {};
    std::uint32_t count = 0;
    const T* values = nullptr;
    if (TIFFGetField(tiff, tag, &count, &values) != 1 || values == nullptr) return {};
    return {values, count};
}

/// Returns the text before the first 0.
std::string text_of(std::span<const char> values) {
    return {values.begin(), std::find(values.begin(), values.end(), '\0')};
}

/// Returns a key's value, or 0 if the key is missing or its value is no short.
int key(const geo_place& place, int wanted) {
    for (std::size_t at = 4; at + 4 <= place.keys.size(); at += 4)
        if (place.keys[at] == wanted && place.keys[at + 1] == 0) return place.keys[at + 3];
    return 0;
}

}  // namespace

geo_place read_place(TIFF* tiff) {
    geo_place made;
    const auto copy = [&](std::vector<double>& to, std::uint32_t tag) {
        const auto values = values_of<double>(tiff, tag, TIFF_DOUBLE);
        to.assign(values.begin(), values.end());
    };
    copy(made.scale, scale_tag), copy(made.tie_points, tie_tag), copy(made.matrix, matrix_tag);
    copy(made.numbers, numbers_tag);
    const auto keys = values_of<std::uint16_t>(tiff, keys_tag, TIFF_SHORT);
    made.keys.assign(keys.begin(), keys.end());
    made.words = text_of(values_of<char>(tiff, words_tag, TIFF_ASCII));
    made.no_data = text_of(values_of<char>(tiff, no_data_tag, TIFF_ASCII));
    return made;
}

void write_place(TIFF* tiff, const geo_place& place) {
    const auto field = [](std::uint32_t tag, TIFFDataType type, const char* name) {
        return TIFFFieldInfo{tag, TIFF_VARIABLE2, TIFF_VARIABLE2, type, FIELD_CUSTOM, 1, 1, const_cast<char*>(name)};
    };
    const TIFFFieldInfo fields[] = {
        field(scale_tag, TIFF_DOUBLE, "ModelPixelScale"),      field(tie_tag, TIFF_DOUBLE, "ModelTiepoint"),
        field(matrix_tag, TIFF_DOUBLE, "ModelTransformation"), field(keys_tag, TIFF_SHORT, "GeoKeyDirectory"),
        field(numbers_tag, TIFF_DOUBLE, "GeoDoubleParams"),    field(words_tag, TIFF_ASCII, "GeoAsciiParams"),
        field(no_data_tag, TIFF_ASCII, "GDAL_NODATA")};
    TIFFMergeFieldInfo(tiff, fields, static_cast<std::uint32_t>(std::size(fields)));
    const auto set = [&](std::uint32_t tag, const auto& values, std::size_t more = 0) {
        if (!values.empty()) TIFFSetField(tiff, tag, static_cast<std::uint32_t>(values.size() + more), values.data());
    };
    set(scale_tag, place.scale), set(tie_tag, place.tie_points), set(matrix_tag, place.matrix);
    set(keys_tag, place.keys), set(numbers_tag, place.numbers);
    set(words_tag, place.words, 1), set(no_data_tag, place.no_data, 1);
}

cell_lengths lengths_of(const geo_place& place) {
    cell_lengths made;
    if (place.scale.size() >= 2) made.x = place.scale[0], made.y = place.scale[1];
    else if (place.matrix.size() == 16) {  // rotated axes
        const double a = place.matrix[0], b = place.matrix[1], c = place.matrix[4], d = place.matrix[5];
        made.x = std::hypot(a, c), made.y = std::hypot(b, d);
        if (!(std::abs(a * b + c * d) <= 1e-9 * made.x * made.y)) made = {};
    }
    if (!(made.x > 0 && made.y > 0 && std::isfinite(made.x) && std::isfinite(made.y))) made = {};
    if (key(place, model_key) != projected) return made;
    switch (key(place, unit_key)) {
        case 9001: made.unit = "m"; break;
        case 9002: made.unit = "ft"; break;
        case 9003: made.unit = "US survey ft"; break;
        default: break;
    }
    return made;
}

std::string text_of(const geo_place& place) {
    if (!place.known()) return {};
    const int model = key(place, model_key);
    const int code = key(place, model == projected ? projected_key : geographic_key);
    std::string text = model == projected ? "projected" : model == geographic ? "in degrees" : "of no known projection";
    if (code > 0 && code < 32767) text += fmt::format(", EPSG {}", code);
    if (place.tie_points.size() == 6)
        text += fmt::format(", column {:.9g} and row {:.9g} at {:.12g}, {:.12g}", place.tie_points[0],
                            place.tie_points[1], place.tie_points[3], place.tie_points[4]);
    return text;
}

}  // namespace nearfield::io
