// A stream, and the solution of a case of geodesic distances on a device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "geodesic/cases.hpp"
#include "geodesic/on_device.hpp"

namespace nearfield::test {

enum class fields_wanted : std::uint8_t { costs, seeds, both };

class GeodesicDevice : public testing::Test {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
        stream_.emplace();
    }
    std::optional<stream> stream_;

    /// Outputs that are not asked for, costs or seeds, are copied from `wanted`.
    geodesic_result solved(const geodesic_case& c, fields_wanted asked, const geodesic_result& wanted,
                           bool graph = false) const {
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
        const std::vector<std::int64_t> nothing(c.mask.size(), 7);
        const sent<std::uint8_t> mask(c.mask, *stream_);
        const sent<std::int64_t> seeds(c.seeds, *stream_), cost(nothing, *stream_), index(nothing, *stream_),
            label(nothing, *stream_);
        const std::vector<std::int32_t> costs(c.cost.begin(), c.cost.end());
        const std::vector<std::uint8_t> bytes(c.cost.begin(), c.cost.end());
        const sent<std::int32_t> image(costs, *stream_);
        const std::vector<std::uint16_t> words(c.cost.begin(), c.cost.end());
        const sent<std::uint8_t> small(bytes, *stream_);
        const sent<std::uint16_t> middling(words, *stream_);
        geodesic_fields<device> out;
        const bool with_costs = asked != fields_wanted::seeds, with_seeds = asked != fields_wanted::costs;
        if (with_costs) out.cost = cost.out(dtype::int64, c.shape);
        if (with_seeds) out.index = index.out(dtype::int64, c.shape), out.label = label.out(dtype::int64, c.shape);
        any_input<device> paid;
        const std::int64_t dearest = c.cost.empty() ? 0 : *std::max_element(c.cost.begin(), c.cost.end());
        if (!c.cost.empty())
            paid = dearest < 1 << 8    ? small.in(dtype::uint8, c.shape)
                   : dearest < 1 << 16 ? middling.in(dtype::uint16, c.shape)
                                       : image.in(dtype::int32, c.shape);
        const geodesic_options o = c.options();
        const auto start = [&] {
            geodesic(device(stream_->get()), mask.in(dtype::uint8, c.shape), seeds.in(dtype::int64, c.shape), out, o,
                     paid);
        };
        if (graph) {
            const recorded work(start, *stream_);
            work.replay(), work.replay();
        } else {
            start();
        }
        geodesic_result r = wanted;
        if (with_costs) r.cost = cost.fetched();
        for (std::int64_t& each : r.cost) each = each == none ? -1 : each;
        if (with_seeds) r.index = index.fetched(), r.label = label.fetched();
        return r;
    }
};

}  // namespace nearfield::test
