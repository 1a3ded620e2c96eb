// Signed distances to outlines: those of glyphs, whose curves are cut into straight edges.
#pragma once

#include <cstdint>
#include <vector>

namespace nearfield::cli {

/// A place in pixels. Rows go down, and the centre of pixel (i, j) is at (i, j).
struct place {
    double y, x;
};
struct edge {
    place from, to;
};

/// Closed contours. Inside is what they wind around, in either direction; they may overlap.
class outlines {
public:
    void begin(place at) { at_ = at; }
    void line(place to);
    void curve(place control, place to);
    void curve(place first, place second, place to);

    /// Writes the distances of pixels to the boundary of the inside, positive there, in rows that are `step` apart;
    /// -inf if there are no contours. With `down` or `across` the picture repeats along that axis. Exact but for the
    /// curves, whose edges keep to them within 1/1024 of a pixel.
    void write(float* to, std::int64_t rows, std::int64_t columns, std::int64_t step, bool down = false,
               bool across = false) const;

private:
    place at_{};
    std::vector<edge> edges_;
};

}  // namespace nearfield::cli
