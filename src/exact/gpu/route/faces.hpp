// Signed distances of images that end at faces, in unit spacing: one plain search serves both classes.
//
// The nearest face of the other class lies on the line between the classes. A point of that line is a corner of four
// cells, or the middle of a face, which lies in the row or column of the cell for which it is nearest. The nearest
// corner, k columns and t rows of corners away, is at (k + 1/2)^2 + (t + 1/2)^2 = Q + 1/2, so words and tiles search
// for it as for plain sites (rows/words.cuh, packed_lines::half). A middle of a face beside it, in the cell's own row
// or column, is nearer by exactly 1/4. It exists only if Q = k (k + 1), and is then k + 1/2 away: one look at the four
// places settles that.
//
// A smooth mask of 8192^2 takes 1.12 ms on an H200, where lines take 2.64: tiles finish far cells quickly. With 10 %
// of sites it takes 0.83 instead of 0.77. Distances in float64 cost four bytes a cell more.
#pragma once

#include <cstdint>

#include "base/cuda.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact::gpu {

class face_search {
public:
    face_search(const device& on, const plan& p, const arrays<device>& a);

    /// Returns false for volumes, images of few rows or columns, and calls with other options.
    [[nodiscard]] bool serve() const { return serve_; }
    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }
    /// Returns the plan and the field of the search for corners.
    [[nodiscard]] const plan& corners() const { return corners_; }
    [[nodiscard]] const fields<device>& out() const { return out_; }
    void begin();
    /// Writes the distances, after the search.
    void put() const;

private:
    [[nodiscard]] bool could_serve() const;

    const device& on_;
    const plan& p_;
    const arrays<device> a_;
    plan corners_;
    fields<device> out_;
    cuda::workspace memory_;
    std::int64_t values_ = 0;
    bool lends_ = false;  ///< the distances' memory holds the values of the search
    bool serve_ = false;
};

}  // namespace nearfield::exact::gpu
