#include "effects/core.hpp"
#include "effects/rows.hpp"

namespace nearfield::effects {
namespace {

/// Calls body(y, x) for all pixels.
template <class Work, class Body>
void for_pixels(const host& on, const Work& w, const Body& body) {
    for_rows(on, w.rows, w.columns, [&](std::int64_t y) {
        for (std::int64_t x = 0; x < w.columns; ++x) body(y, x);
    });
}

/// Returns a host without progress: padding reports only the distances, which take most of the time.
host silent(const host& on) { return {on.threads, {}}; }

}  // namespace

void shade_all(const host& on, const layer_work& w) {
    for_pixels(on, w, [&](std::int64_t y, std::int64_t x) { shade(w, y, x); });
}
void mark_all(const host& on, const pad_work& w) {
    for_pixels(silent(on), w, [&](std::int64_t y, std::int64_t x) { mark_pixel(w, y, x); });
}
void fill_all(const host& on, const pad_work& w) {
    for_pixels(silent(on), w, [&](std::int64_t y, std::int64_t x) { fill_pixel(w, y, x); });
}

}  // namespace nearfield::effects
