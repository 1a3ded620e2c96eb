#include "base/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/rehearsal.hpp"

namespace nearfield {
namespace {

constexpr std::int64_t max_cells = std::int64_t{1} << 62;

template <class View>
bool empty(const View& v) {
    return v.cells() == 0;
}

struct byte_range {
    std::uintptr_t first = 0, last = 0;  // inclusive
};

template <class Place>
byte_range range_of(const any_input<Place>& v) {
    const auto start = reinterpret_cast<std::uintptr_t>(v.data);
    std::int64_t low = 0, high = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(v.rank); ++axis) {
        const std::int64_t reach = (v.shape[axis] - 1) * v.stride[axis];
        (reach < 0 ? low : high) += reach;
    }
    const std::int64_t size = size_of(v.type);
    return {start + static_cast<std::uintptr_t>(low * size),
            start + static_cast<std::uintptr_t>(high * size + size - 1)};
}

/// Returns true if no two cells of the view can share an element: sorted by stride, each axis must step beyond all the
/// smaller ones.
template <class Place>
bool writes_once(const any_input<Place>& v) {
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(v.rank); ++axis)
        if (v.shape[axis] > 1) axes.emplace_back(std::abs(v.stride[axis]), v.shape[axis]);
    std::sort(axes.begin(), axes.end());
    std::int64_t reach = 0;
    for (const auto& [stride, size] : axes) {
        if (stride <= reach) return false;
        reach += stride * (size - 1);
    }
    return true;
}

}  // namespace

void fail(const std::string& message, std::source_location where) {
    throw error(error_code::invalid_argument, message, where);
}

void fail_rank(const char* name, int rank) {
    fail(fmt::format("{} has {} axes; give an array of 1 to {} axes", name, rank, max_rank));
}

std::string shape_text(const std::int64_t* shape, int rank) {
    if (rank < 0 || rank > max_rank + 1) return fmt::format("of {} axes", rank);
    return rank == 0 ? std::string("()") : fmt::format("{}", fmt::join(shape, shape + rank, "x"));
}

std::array<double, max_rank> checked_spacing(const spacing& cell, const std::int64_t* shape, int rank) {
    if (cell.count() > 1 && cell.count() != rank)
        fail(
            fmt::format("spacing has {} values for a {}-D array (shape {}); give one per axis in array order, e.g. "
                        "spacing=(5.0, 0.4, 0.4), or one for all axes",
                        cell.count(), rank, shape_text(shape, rank)));
    std::array<double, max_rank> value{};
    for (int axis = 0; axis < rank; ++axis) {
        const double length = cell[axis];
        if (!(length > 0) || !std::isfinite(length))
            fail(fmt::format("spacing along axis {} is {}; give a finite length above 0", axis, length));
        if (!std::isnormal(length * length))
            fail(fmt::format(
                "spacing along axis {} is {}, whose square a double cannot hold; use another unit of length", axis,
                length));
        value[static_cast<std::size_t>(axis)] = length;
    }
    return value;
}

std::array<border, max_rank> checked_borders(const borders& beyond, const std::int64_t* shape, int rank) {
    if (beyond.count() > 1 && beyond.count() != rank)
        fail(fmt::format(
            "border has {} values for a {}-D array (shape {}); give one per axis in array order, or one for all "
            "axes",
            beyond.count(), rank, shape_text(shape, rank)));
    std::array<border, max_rank> value{};
    for (int axis = 0; axis < rank; ++axis) {
        if (beyond[axis] > border::periodic)
            fail(fmt::format("border along axis {} is {}; give open, closed or periodic", axis,
                             static_cast<int>(beyond[axis])));
        value[static_cast<std::size_t>(axis)] = beyond[axis];
    }
    return value;
}

void check_type(const char* name, dtype came, std::initializer_list<dtype> accepted) {
    if (std::find(accepted.begin(), accepted.end(), came) != accepted.end()) return;
    std::vector<const char*> names;
    for (dtype type : accepted) names.push_back(name_of(type));
    fail(fmt::format("{} has element type {}; give an array of {}", name, name_of(came), fmt::join(names, " or ")));
}

template <class Place>
void check_image(const char* name, const any_input<Place>& image, std::int64_t max_side) {
    if (image.rank < 1 || image.rank > max_rank) fail_rank(name, image.rank);
    bool none = false;
    double cells = 1;
    for (int axis = 0; axis < image.rank; ++axis) {
        const std::int64_t n = image.shape[static_cast<std::size_t>(axis)];
        if (n < 0 || n > max_side)
            fail(fmt::format("{} has {} cells along axis {}; a side may have 0 to {}", name, n, axis, max_side));
        none = none || n == 0;
        cells *= static_cast<double>(n);
    }
    if (none) return;
    if (cells >= static_cast<double>(max_cells))
        fail(fmt::format("{} of shape {} has more than 2^62 cells", name, shape_text(image.shape.data(), image.rank)));
}

template <class Place>
void check_same_shape(const char* name, const any_input<Place>& other, const any_input<Place>& image) {
    if (!other.wanted()) return;
    const auto rank = static_cast<std::size_t>(image.rank);
    if (other.rank != image.rank || !std::equal(other.shape.begin(), other.shape.begin() + rank, image.shape.begin()))
        fail(fmt::format("{} has shape {}; give one of the image's shape {}", name,
                         shape_text(other.shape.data(), other.rank), shape_text(image.shape.data(), image.rank)));
}

template <class Place>
void check_coordinate_shape(const char* name, const any_output<Place>& out, const any_input<Place>& image,
                            int batch_axes) {
    if (!out.wanted()) return;
    const auto rank = static_cast<std::size_t>(image.rank);
    const int axes = image.rank - batch_axes;
    if (out.rank != image.rank + 1 || out.shape[0] != axes ||
        !std::equal(image.shape.begin(), image.shape.begin() + rank, out.shape.begin() + 1))
        fail(fmt::format("{} has shape {}; coordinates of a {}-D image need shape {}x{}", name,
                         shape_text(out.shape.data(), out.rank), axes, axes,
                         shape_text(image.shape.data(), image.rank)));
}

template <class Place>
void check_data(std::span<const named_view<Place>> views) {
    for (const auto& each : views)
        if (each.view.wanted() && !empty(each.view) && each.view.data == nullptr)
            fail(fmt::format("{} has no data (null pointer)", each.name));
    rehearsal* const now = rehearsing();
    if (now == nullptr || views.empty()) return;
    std::int64_t bytes[2]{};
    for (const auto& [name, view] : views)
        if (view.wanted())
            bytes[std::string_view(name).starts_with("out") || std::string_view(name) == "picture" ? 1 : 0] +=
                view.cells() * size_of(view.type);
    now->note_arrays(std::is_same_v<Place, device>, views.front().view.cells(), bytes[0], bytes[1]);
}

template <class Place>
void check_apart(std::span<const named_view<Place>> views, std::size_t inputs) {
    for (std::size_t i = inputs; i < views.size(); ++i) {
        const auto& written = views[i];
        if (!written.view.wanted() || empty(written.view)) continue;
        if (!writes_once<Place>(written.view))
            fail(fmt::format("{} has strides that lead two cells to one element; give an array of its own",
                             written.name));
        const byte_range a = range_of<Place>(written.view);
        for (std::size_t j = 0; j < i; ++j) {
            if (!views[j].view.wanted() || empty(views[j].view)) continue;
            const byte_range b = range_of<Place>(views[j].view);
            if (a.first <= b.last && b.first <= a.last)
                fail(fmt::format("{} overlaps {} in memory; give it memory of its own", written.name, views[j].name));
        }
    }
}

template void check_image<host>(const char*, const any_input<host>&, std::int64_t);
template void check_image<device>(const char*, const any_input<device>&, std::int64_t);
template void check_same_shape<host>(const char*, const any_input<host>&, const any_input<host>&);
template void check_same_shape<device>(const char*, const any_input<device>&, const any_input<device>&);
template void check_coordinate_shape<host>(const char*, const any_output<host>&, const any_input<host>&, int);
template void check_coordinate_shape<device>(const char*, const any_output<device>&, const any_input<device>&, int);
template void check_data<host>(std::span<const named_view<host>>);
template void check_data<device>(std::span<const named_view<device>>);
template void check_apart<host>(std::span<const named_view<host>>, std::size_t);
template void check_apart<device>(std::span<const named_view<device>>, std::size_t);

}  // namespace nearfield
