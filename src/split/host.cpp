// The steps on the host; one thread runs them.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "nearfield/components.hpp"
#include "split/room.hpp"

namespace nearfield::splitting {
namespace {

template <class T>
std::span<T> values(const any_output<host>& a) {
    return {static_cast<T*>(a.data), static_cast<std::size_t>(a.cells())};
}

}  // namespace

double largest_of(const host&, const any_output<host>& squared) {
    double largest = 0;
    for (const double each : values<double>(squared))
        if (std::isfinite(each)) largest = std::max(largest, each);
    return largest;
}

std::int64_t read(const host&, const any_output<host>& value) { return *static_cast<std::int64_t*>(value.data); }

void shrink(const host& on, const any_output<host>& parts, std::int64_t count) {
    const auto rank = static_cast<std::size_t>(parts.rank);
    const std::array<std::int64_t, 2> shape{count, parts.rank};
    std::vector<double> centres(static_cast<std::size_t>(count) * rank);
    component_tables<host> tables;
    tables.centroid = any_output<host>::contiguous(centres.data(), dtype::float64, shape);
    if (count > 0) component_statistics(host{on.threads, {}}, parts, tables);
    const auto cells = values<std::int32_t>(parts);
    std::fill(cells.begin(), cells.end(), 0);
    for (std::int64_t part = count; part > 0; --part) {
        std::int64_t cell = 0;
        for (std::size_t axis = 0; axis < rank; ++axis)
            cell =
                cell * parts.shape[axis] +
                static_cast<std::int64_t>(std::floor(centres[static_cast<std::size_t>(part - 1) * rank + axis] + 0.5));
        cells[static_cast<std::size_t>(cell)] = static_cast<std::int32_t>(part);
    }
}

void keep_large(const host&, const any_output<host>& inside, const any_output<host>& labels, std::int64_t count,
                std::int64_t smallest) {
    const auto cells = values<std::int32_t>(labels);
    const auto within = values<bool>(inside);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(count) + 1);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!within[i]) cells[i] = 0;
        ++sizes[static_cast<std::size_t>(cells[i])];
    }
    for (auto& each : cells)
        if (sizes[static_cast<std::size_t>(each)] < smallest) each = 0;
}

}  // namespace nearfield::splitting
