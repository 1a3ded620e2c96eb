// Labels of nearest sites, where the engine without options finds the sites: their indices first, then what the image has
// there.
#pragma once

#include "base/cuda.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact {

class labels_by_index {
public:
    labels_by_index(const device& on, const plan& p, const arrays<device>& a);

    /// Labels are wanted, and image and label are contiguous.
    [[nodiscard]] bool serve() const { return serve_; }
    /// The problem without labels, for its own fields.
    [[nodiscard]] const plan& sites() const { return sites_; }
    [[nodiscard]] const fields<device>& out() const { return out_; }
    /// A byte a cell says as much of sites as the image does.
    [[nodiscard]] const any_input<device>& image() const { return image_; }
    /// Of indices that nobody asked for, and of those bytes.
    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }

    /// Before the sites are searched.
    void begin();
    /// And after.
    void put() const;

private:
    const device& on_;
    const arrays<device> a_;
    any_input<device> image_;
    plan sites_;
    fields<device> out_;
    cuda::workspace memory_;
    std::int64_t index_ = 0, bytes_ = 0;
    bool serve_ = false, own_index_ = false;
};

}  // namespace nearfield::exact
