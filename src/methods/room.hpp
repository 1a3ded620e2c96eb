// What each room of a published method implements: from a grid of sites to a site for every cell. The rest of the call
// (checks, the image to sites, sites to fields) is in this room, methods/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "methods/core.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::methods {

/// Two contiguous arrays of a packed site for each cell, in C order: std::int64_t where the grid has wide keys, else
/// std::int32_t. A room finds sites holding themselves and other cells `none` in `now`, and leaves its answer in `now`;
/// it may exchange the two.
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

/// Takes the time, from one call of `done` to the next; on a device by events on the stream, without waiting.
class stages {
public:
    virtual ~stages() = default;
    /// All the work of a stage has been done or, on a device, ordered.
    virtual void done(std::string name, std::int64_t rounds, std::int64_t bytes) = 0;
};

/// body(first, last) over [0, count) items of `cells` cells, one piece after the other: the progress callback can stop
/// a serial loop.
template <class Crew, class Body>
void in_order(Crew& crew, std::int64_t count, std::int64_t cells, const Body& body) {
    const std::int64_t piece = std::max<std::int64_t>(1, (1 << 17) / cells);
    for (std::int64_t first = 0; first < count; first += piece)
        crew.for_each(1, 1, 0, [&](std::int64_t, std::int64_t, int) { body(first, std::min(first + piece, count)); });
}
/// The same of cells on all threads, in any order.
template <class Crew, class Body>
void in_pieces(Crew& crew, std::int64_t count, const Body& body) {
    crew.for_each(count, 1 << 17, 0, [&](std::int64_t first, std::int64_t last, int) { body(first, last); });
}

void solve(const host& on, const grid& g, const banding& how, buffers& site, stages& report);
void solve(const host& on, const grid& g, const jump_flood& how, buffers& site, stages& report);
void solve(const host& on, const grid& g, const plane_sweep& how, buffers& site, stages& report);
void solve(const host& on, const grid& g, const brushfire& how, buffers& site, stages& report);

/// The cheapest path's price beside its site; -1 where no path leads to one.
void solve(const host& on, const grid& g, const chamfer_method& how, buffers& site, std::int32_t* price,
           stages& report);

void solve(const device& on, const grid& g, const banding& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const jump_flood& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const plane_sweep& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const brushfire& how, buffers& site, stages& report);
void solve(const device& on, const grid& g, const chamfer_method& how, buffers& site, std::int32_t* price,
           stages& report);

}  // namespace nearfield::methods
