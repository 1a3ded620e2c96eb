// Where the sites of a power diagram start from.
#pragma once

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Minus the weight of every site, contiguous; no_site for cells that are none. V is std::int64_t or double.
template <class V>
class weight_field {
public:
    weight_field() = default;
    weight_field(const plan& p, const arrays<host>& a, workers& crew);

    [[nodiscard]] V* values() const { return initial_.get(); }
    [[nodiscard]] V base() const { return base_; }                 ///< the least of them
    [[nodiscard]] double magnitude() const { return magnitude_; }  ///< the largest of their sizes

private:
    host_scratch<V> initial_;
    V base_{};
    double magnitude_ = 0;
};

}  // namespace nearfield::exact
