// Calls whose arrays have the first axis contiguous in memory, for every place.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "exact/cases.hpp"
#include "exact/options_call.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {

/// Checks every rule and field, in layouts that share an order of axes.
inline void check_orders(const std::function<std::string(const shape_t&, const codes_t&, const distance_options&,
                                                         const wanted_fields&)>& differs_in) {
    static const double whole[] = {3, 1, 2, 2}, real[] = {1.4142135623730951, 1, 0.77, 1};
    static const border mixed[] = {border::periodic, border::closed, border::open, border::periodic};
    std::uint64_t k = 0;
    for (const shape_t& shape :
         {shape_t{23, 40}, shape_t{5, 1, 70}, shape_t{9, 20, 33}, shape_t{2, 90, 3}, shape_t{3, 4, 5, 40}})
        for (const double* lengths : {whole, real})
            for (int rule = 0; rule < 5; ++rule) {
                if (k++ * 29 % 50 >= share(0, 50)) continue;
                const codes_t codes = random_labels<std::uint32_t>(shape, rule > 2 ? 4 : 1, 0.03, k);
                distance_options options{.spacing = spacing(lengths, shape.size())};
                options.border = borders(mixed, shape.size());
                if (rule % 2 == 1) options.sign = sign::inside_negative;
                if (rule > 2) options.sites = sites::other_labels;
                if (rule == 2) options.half_cell = true;
                if (rule == 0) options.max_distance = 6;
                wanted_fields wanted{.distance = k % 3 == 0 ? dtype::float16 : dtype::float32};
                if (k % 4 == 1) wanted.squared = dtype::float64;
                if (k % 5 == 1) wanted.trusted = dtype::boolean;
                wanted.image_layout = layout::transposed;
                for (const layout how : {layout::transposed, layout::contiguous}) {
                    wanted.output_layout = how;
                    ASSERT_EQ(differs_in(shape, codes, options, wanted), "") << text_of(shape) << ", case " << k;
                }
            }
}

}  // namespace nearfield::test
