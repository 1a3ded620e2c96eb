// The interface of a published method's room: it turns a grid of sites into a site for every cell. The room methods/
// does the rest of a call: checks, the image to sites, sites to fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "methods/core.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::methods {

/// Two contiguous arrays with a packed site for each cell, in C order: std::int64_t if the grid has wide keys, else
/// std::int32_t. On entry `now` holds each site's own key and `none` in other cells. On return `now` holds the result;
/// a room may exchange the two.
struct buffers {
    void* now = nullptr;
    void* spare = nullptr;

    template <class Key>
    [[nodiscard]] Key* in() const {
        return static_cast<Key*>(now);
    }
    template <class Key>
    [[nodiscard]] Key* out() const {
        return static_cast<Key*>(spare);
    }
    void exchange() {
        void* const was = now;
        now = spare, spare = was;
    }
};

/// Measures the time from one call of `done` to the next; on a device by events on the stream, without waiting.
class stages {
public:
    virtual ~stages() = default;
    /// Ends a stage: all its work has been done or, on a device, ordered.
    virtual void done(std::string name, std::int64_t rounds, std::int64_t bytes) = 0;
};

/// Calls body(first, last) over [0, count) items of `cells` cells, one piece after the other, so that the progress
/// callback can stop a serial loop.
template <class Crew, class Body>
void in_order(Crew& crew, std::int64_t count, std::int64_t cells, const Body& body) {
    const std::int64_t piece = std::max<std::int64_t>(1, (1 << 17) / cells);
    for (std::int64_t first = 0; first < count; first += piece)
        crew.for_each(1, 1, 0, [&](std::int64_t, std::int64_t, int) { body(first, std::min(first + piece, count)); });
}
/// Calls body(first, last) over [0, count) cells on all threads, in any order.
template <class Crew, class Body>
void in_pieces(Crew& crew, std::int64_t count, const Body& body) {
    crew.for_each(count, 1 << 17, 0, [&](std::int64_t first, std::int64_t last, int) { body(first, last); });
}

void solve(const host& on, const grid& g, const banding& how, buffers& site, stages& report);
void solve(const host& on, const grid& g, const jump_flood& how, buffers& site, stages& report);
void solve(const host& on, const grid& g, const plane_sweep& how, buffers& site, stages& report);
void solve(const host& on, const grid& g, const brushfire& how, buffers& site, stages& report);

/// Also writes the price of the cheapest path to a cell's site; -1 if no path leads to one.
void solve(const host& on, const grid& g, const chamfer_method& how, buffers& site, std::int32_t* price,
           stages& report);

void solve(const device& on, const grid& g, const banding& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const jump_flood& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const plane_sweep& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const brushfire& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const chamfer_method& how, buffers& site, std::int32_t* price,
           stages& report);

}  // namespace nearfield::methods
