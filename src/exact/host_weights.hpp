// First values of the sites of a power diagram.
#pragma once

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Minus the weight of every site, contiguous; no_site for other cells. V is std::int64_t or double.
template <class V>
class weight_field {
public:
    weight_field() = default;
    weight_field(const plan& p, const arrays<host>& a, workers& crew);

    [[nodiscard]] V* values() const { return initial_.get(); }
    [[nodiscard]] V base() const { return base_; }                 ///< the least value
    [[nodiscard]] double magnitude() const { return magnitude_; }  ///< the largest magnitude
    [[nodiscard]] bool sparse() const { return sparse_; }          ///< at most one cell in 32 is a site

private:
    host_scratch<V> initial_;
    V base_{};
    double magnitude_ = 0;
    bool sparse_ = false;
};

}  // namespace nearfield::exact
