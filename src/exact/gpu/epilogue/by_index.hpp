// Labels of plain sites: the search finds linear indices, in less time than any other field where seeds are few, and
// one more kernel makes all fields of them. Reads 4 bytes a cell, and writes what is wanted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cuda.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact::gpu {

class fields_by_index {
public:
    fields_by_index(const device& on, const plan& p, const arrays<device>& a);

    /// False where the call wants no labels, or fields that are not contiguous or of rare types.
    [[nodiscard]] bool serve() const { return serve_; }
    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }
    /// The call for the search: its plan and fields.
    [[nodiscard]] const plan& sites() const { return sites_; }
    [[nodiscard]] const fields<device>& out() const { return out_; }
    void begin();
    /// Writes the fields, after the search.
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
