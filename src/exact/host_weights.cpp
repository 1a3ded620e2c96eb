#include "exact/host_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/lines.hpp"
#include "base/with_integer.hpp"
#include "exact/sites.hpp"

namespace nearfield::exact {
namespace {

template <class V, class Wide>
V wide_weight(Wide weight) {
    if (std::cmp_greater(weight, most_wide_weight) || std::cmp_less(weight, -most_wide_weight))
        fail(fmt::format("weights holds {} at a seed; integers up to 2^53 are exact: give smaller ones, or float64",
                         weight));
    return static_cast<V>(weight);
}

template <class V>
V element(const void* data, dtype type, std::int64_t at) {
    return with_number(type, [&]<class T>(T) {
        const T weight = static_cast<const T*>(data)[at];
        if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return wide_weight<V>(weight);
        else return static_cast<V>(weight);
    });
}

/// Number, least value and largest magnitude of the sites of one thread.
template <class V>
struct extremes {
    std::int64_t sites = 0;
    V least = no_site<V>();
    double magnitude = 0;
    void add(V value) {
        ++sites, least = std::min(least, value);
        magnitude = std::max(magnitude, std::abs(static_cast<double>(value)));
    }
};

}  // namespace

template <class V>
weight_field<V>::weight_field(const plan& p, const arrays<host>& a, workers& crew) : initial_(p.cells) {
    const auto last = static_cast<std::size_t>(p.rank - 1);
    const std::int64_t length = p.size[last];
    std::array<std::int64_t, max_rank> stride{};
    for (std::size_t axis = 0; axis <= last; ++axis)
        stride[axis] = a.weights->stride[static_cast<std::size_t>(p.source_axis[axis])];
    std::vector<extremes<V>> found(static_cast<std::size_t>(crew.threads()));
    const auto offset_in = [&](const std::array<std::int64_t, max_rank>& strides, std::int64_t line) {
        return p.rank == 1 ? 0 : offset_of(line, p.size.data(), strides.data(), p.rank - 1);
    };
    crew.for_each(p.cells / length, std::max<std::int64_t>(1, (1 << 16) / length), length,
                  [&](std::int64_t first, std::int64_t end, int thread) {
                      std::vector<std::uint8_t> site(static_cast<std::size_t>(length));
                      extremes<V>& mine = found[static_cast<std::size_t>(thread)];
                      for (std::int64_t line = first; line < end; ++line) {
                          read_sites(static_cast<const std::byte*>(a.image.data) +
                                         offset_in(p.image_stride, line) * size_of(a.image.type),
                                     a.image.type, p.image_stride[last], length, p.rule, site.data());
                          const std::int64_t from = offset_in(stride, line);
                          for (std::int64_t x = 0; x < length; ++x) {
                              V value = no_site<V>();
                              if (site[static_cast<std::size_t>(x)] != 0) {
                                  const V weight =
                                      element<V>(a.weights->data, a.weights->type, from + x * stride[last]);
                                  // NaN: no site. A difference, because negation would make -0.0 of zero.
                                  if (weight == weight) value = V{} - weight;
                              }
                              initial_.get()[line * length + x] = value;
                              if (value < no_site<V>()) mine.add(value);
                          }
                      }
                  });
    base_ = no_site<V>();
    std::int64_t sites = 0;
    for (const extremes<V>& each : found) {
        base_ = std::min(base_, each.least);
        magnitude_ = std::max(magnitude_, each.magnitude);
        sites += each.sites;
    }
    sparse_ = sites <= p.cells / 32;
}

template class weight_field<std::int64_t>;
template class weight_field<double>;

}  // namespace nearfield::exact
