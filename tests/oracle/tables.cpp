#include "oracle/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace oracle {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Lists the neighbours of a place.
std::vector<std::vector<std::int64_t>> around(const std::vector<std::int64_t>& place, int connectivity) {
    std::vector<std::vector<std::int64_t>> found;
    const std::size_t axes = place.size();
    std::size_t blocks = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) blocks *= 3;
    for (std::size_t k = 0; k < blocks; ++k) {
        std::vector<std::int64_t> other = place;
        int changes = 0;
        std::size_t rest = k;
        for (std::size_t axis = 0; axis < axes; ++axis, rest /= 3) {
            const std::int64_t by = static_cast<std::int64_t>(rest % 3) - 1;
            other[axis] += by;
            changes += by != 0 ? 1 : 0;
        }
        if (changes > 0 && changes <= connectivity) found.push_back(other);
    }
    return found;
}

/// The cells of each label, in raster order.
std::map<std::int64_t, std::vector<std::int64_t>> cells_of(const label_image& image) {
    std::map<std::int64_t, std::vector<std::int64_t>> found;
    for (std::int64_t cell = 0; cell < image.cells(); ++cell)
        found[image.label[static_cast<std::size_t>(cell)]].push_back(cell);
    return found;
}

void put_places(const label_image& image, const std::vector<std::int64_t>& cells, table_row& row) {
    std::vector<std::int64_t> sums(image.shape.size(), 0);
    for (const std::int64_t cell : cells) {
        const std::vector<std::int64_t> place = image.place_of(cell);
        for (std::size_t axis = 0; axis < place.size(); ++axis) {
            row.first[axis] = row.size == 0 ? place[axis] : std::min(row.first[axis], place[axis]);
            row.end[axis] = std::max(row.end[axis], place[axis] + 1);
            sums[axis] += place[axis];
        }
        ++row.size;
        for (const auto& other : around(place, 1)) {
            const std::int64_t there = image.at(other);
            if (there < 0) row.border = true;
            if (there < 0 ||
                image.label[static_cast<std::size_t>(there)] != image.label[static_cast<std::size_t>(cell)])
                ++row.faces;
        }
    }
    for (std::size_t axis = 0; axis < sums.size(); ++axis)
        row.centroid[axis] = static_cast<double>(sums[axis]) / static_cast<double>(row.size);
}

void put_values(const std::vector<std::int64_t>& cells, const std::vector<double>& values, table_row& row) {
    const auto value = [&](std::int64_t cell) { return values[static_cast<std::size_t>(cell)]; };
    row.lowest = row.highest = value(cells[0]);
    for (const std::int64_t cell : cells) {
        row.sum += static_cast<quad>(value(cell));
        row.lowest = std::isnan(value(cell)) || value(cell) < row.lowest ? value(cell) : row.lowest;
        row.highest = std::isnan(value(cell)) || value(cell) > row.highest ? value(cell) : row.highest;
        if (std::isnan(row.lowest)) row.lowest = row.highest = nan;
    }
    const auto n = static_cast<quad>(row.size);
    row.mean = row.sum / n;
    for (const std::int64_t cell : cells)
        row.variance += (static_cast<quad>(value(cell)) - row.mean) * (static_cast<quad>(value(cell)) - row.mean) / n;
}

}  // namespace

std::vector<std::int64_t> label_image::place_of(std::int64_t cell) const {
    std::vector<std::int64_t> place(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; cell /= shape[axis]) place[axis] = cell % shape[axis];
    return place;
}

std::int64_t label_image::at(const std::vector<std::int64_t>& place) const {
    std::int64_t cell = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const bool outside = place[axis] < 0 || place[axis] >= shape[axis];
        if (outside && (periodic.empty() || !periodic[axis])) return -1;
        cell = cell * shape[axis] + (place[axis] + shape[axis]) % shape[axis];
    }
    return cell;
}

std::vector<table_row> rows_of(const label_image& image, std::int64_t rows, const std::vector<double>& values) {
    const std::size_t axes = image.shape.size();
    table_row none;
    none.first.assign(axes, 0), none.end.assign(axes, 0), none.centroid.assign(axes, nan);
    none.mean = none.variance = nan;
    std::vector<table_row> found(static_cast<std::size_t>(rows), none);
    for (const auto& [label, cells] : cells_of(image)) {
        if (label < 1 || label > rows) continue;
        table_row& row = found[static_cast<std::size_t>(label - 1)];
        row.mean = row.variance = 0;
        put_places(image, cells, row);
        if (!values.empty()) put_values(cells, values, row);
    }
    return found;
}

std::vector<std::vector<std::int64_t>> lists_of(const label_image& image, std::int64_t rows, bool runs) {
    std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(rows));
    for (const auto& [label, cells] : cells_of(image)) {
        if (label < 1 || label > rows) continue;
        std::vector<std::int64_t>& list = lists[static_cast<std::size_t>(label - 1)];
        for (const std::int64_t cell : cells) {
            const bool begins_line = cell % image.shape.back() == 0;
            if (!runs) list.push_back(cell);
            else if (!list.empty() && !begins_line && list[list.size() - 2] + list.back() == cell) ++list.back();
            else list.push_back(cell), list.push_back(1);
        }
    }
    return lists;
}

std::vector<std::int64_t> numbered(const label_image& image) {
    std::map<std::int64_t, std::int64_t> number{{0, 0}};
    std::vector<std::int64_t> out;
    for (const std::int64_t label : image.label)
        out.push_back(number.try_emplace(label, static_cast<std::int64_t>(number.size())).first->second);
    return out;
}

std::vector<touching_pair> touching(const label_image& image, int connectivity, const std::vector<double>& lengths) {
    struct counts {
        std::int64_t pairs = 0;
        std::vector<std::int64_t> faces = {0, 0, 0};
    };
    std::map<std::pair<std::int64_t, std::int64_t>, counts> found;
    for (std::int64_t cell = 0; cell < image.cells(); ++cell) {
        const std::vector<std::int64_t> place = image.place_of(cell);
        const std::int64_t a = image.label[static_cast<std::size_t>(cell)];
        for (const auto& other : around(place, connectivity)) {
            const std::int64_t there = image.at(other);
            if (there < 0 || a == 0) continue;
            const std::int64_t b = image.label[static_cast<std::size_t>(there)];
            if (b == 0 || a >= b) continue;  // pairs occur twice; those from the smaller value count
            counts& pair = found[{a, b}];
            ++pair.pairs;
            std::size_t changed = 0, changes = 0;
            for (std::size_t axis = 0; axis < place.size(); ++axis)
                if (place[axis] != other[axis]) changed = axis, ++changes;
            if (changes == 1) ++pair.faces[changed];
        }
    }
    std::vector<touching_pair> all;
    for (const auto& [pair, c] : found) {
        double area = 0;
        for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
            double face = 1;
            for (std::size_t other = 0; other < lengths.size(); ++other)
                if (other != axis) face *= lengths[other];
            area += static_cast<double>(c.faces[axis]) * face;
        }
        all.push_back({pair.first, pair.second, c.pairs, area});
    }
    return all;
}

}  // namespace oracle
