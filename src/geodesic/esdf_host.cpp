// Distance fields for robots on the host. A thread owns a range of cells, or rows of a costmap.
#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "geodesic/esdf_core.hpp"

namespace nearfield::geodesics {
namespace {

constexpr std::int64_t cells_at_once = 1 << 14;

template <class Body>
void for_cells(const host& on, const inflating& w, const Body& body) {
    const host quiet{on.threads, {}};
    workers team(quiet, 1);
    team.for_each(w.rows, std::max<std::int64_t>(1, cells_at_once / w.columns), 0,
                  [&](std::int64_t first, std::int64_t last, int) {
                      for (std::int64_t y = first; y < last; ++y)
                          for (std::int64_t x = 0; x < w.columns; ++x) body(y, x);
                  });
}

}  // namespace

void write_fields(const host& on, const field_writing& w) {
    const host quiet{on.threads, {}};
    workers team(quiet, w.cells);
    const auto write = [&]<int Axes, class Number>(std::int64_t first, std::int64_t last, Number) {
        for (std::int64_t i = first; i < last; ++i) w.write<Axes>(static_cast<Number>(i));
    };
    team.for_each(w.cells, cells_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        const bool few = w.axes() == field_writing::few_axes;
        if (w.wide) write.operator()<max_rank>(first, last, std::int64_t{});
        else if (few) write.operator()<field_writing::few_axes>(first, last, std::int32_t{});
        else write.operator()<max_rank>(first, last, std::int32_t{});
    });
}

void mark_lethal(const host& on, const inflating& w) {
    for_cells(on, w,
              [&](std::int64_t y, std::int64_t x) { w.lethal[y * w.columns + x] = w.is_lethal(w.old_cost(y, x)); });
}

void write_costs(const host& on, const inflating& w) {
    std::vector<std::uint8_t> table(static_cast<std::size_t>(w.farthest[1] + 1));
    for (std::size_t squared = 0; squared < table.size(); ++squared)
        table[squared] = cost_at(w.farthest, static_cast<std::uint32_t>(squared));
    for_cells(on, w, [&](std::int64_t y, std::int64_t x) {
        const std::uint32_t squared = w.squared[y * w.columns + x];
        w.put(y, x, squared < table.size() ? table[squared] : costmap_free);
    });
}

}  // namespace nearfield::geodesics
