// Labels of plain sites: if seeds are few, the search finds linear indices faster than any other field, so one more
// kernel computes all fields from them. Reads 4 or 8 bytes a cell, and writes the wanted fields. Large images, whose
// values need 64 bits, get coordinates and several fields from it too: a smooth mask of 32768^2 takes 24 ps a cell
// (H200, 2026-11-29), where lines took 178 for indices alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cuda.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact::gpu {

class fields_by_index {
public:
    fields_by_index(const device& on, const plan& p, const arrays<device>& a);

    /// Returns false if the call wants no labels and has values of 32 bits, or if fields are not contiguous or of rare
    /// types.
    [[nodiscard]] bool serve() const { return serve_; }
    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }
    /// Returns the plan and the fields of the search.
    [[nodiscard]] const plan& sites() const { return sites_; }
    [[nodiscard]] const fields<device>& out() const { return out_; }
    void begin();
    /// Computes the fields, after the search.
    void put() const;

private:
    [[nodiscard]] bool could_serve() const;

    const device& on_;
    const arrays<device>& a_;
    plan sites_;
    fields<device> out_;
    cuda::workspace memory_;
    std::int64_t index_ = 0;
    bool serve_ = false, own_index_ = false;
};

}  // namespace nearfield::exact::gpu
