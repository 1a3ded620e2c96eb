#include <algorithm>

#include "base/parallel.hpp"
#include "sdf/outline.hpp"

namespace nearfield::signed_field {
namespace {

/// Calls body(image, row) for all rows of all images.
template <class Body>
void for_rows(const host& on, std::int64_t images, std::int64_t rows, std::int64_t columns, const Body& body) {
    constexpr std::int64_t at_once = 1 << 13;
    const host silent{on.threads, {}};  // distances have taken most of the time, so only they report progress
    workers team(silent, images * rows * columns);
    team.for_each(images * rows, std::max<std::int64_t>(at_once / columns, 1), columns,
                  [&](std::int64_t first, std::int64_t last, int) {
                      for (std::int64_t row = first; row < last; ++row) body(row / rows, row % rows);
                  });
}

}  // namespace

void trace_outline(const host& on, const work& w) {
    for_rows(on, w.images, w.rows, w.columns, [&](std::int64_t which, std::int64_t y) {
        const plane p(w, which);
        for (std::int64_t x = 0; x < w.columns; ++x) trace(w, p, y, x, (which * w.rows + y) * w.columns + x);
    });
}

void find_corners(const host& on, const work& w) {
    for_rows(on, w.images, w.rows, w.columns, [&](std::int64_t which, std::int64_t y) {
        const plane p(w, which);
        for (std::int64_t x = 0; x < w.columns; ++x) find_corner(w, p, which * w.rows * w.columns, y, x);
    });
}

void touch_corners(const host& on, const work& w) {
    const std::int64_t rows = w.corner_rows(), columns = w.corner_columns();
    for_rows(on, w.images, rows, columns, [&](std::int64_t which, std::int64_t y) {
        const plane p(w, which);
        for (std::int64_t x = 0; x < columns; ++x) touch(w, p, y, x, (which * rows + y) * columns + x);
    });
}

void write_pixels(const host& on, const work& w) {
    const std::int64_t columns = w.out_columns();
    const auto run = [&]<class Number>(Number) {
        for_rows(on, w.images, w.out_rows(), columns, [&](std::int64_t which, std::int64_t row) {
            const plane p(w, which);
            const std::int64_t start = w.start_of(which, w.out_step);
            for (std::int64_t column = 0; column < columns; ++column) write<Number>(w, p, which, start, row, column);
        });
    };
    if (w.wide) run(std::int64_t{});
    else run(std::int32_t{});
}

}  // namespace nearfield::signed_field
