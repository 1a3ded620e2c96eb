#include "methods/engines.hpp"

#include <gtest/gtest.h>

namespace nearfield::test {
namespace {

any_input<host> image_of(const flags_t& sites, const shape_t& shape) {
    return any_input<host>::contiguous(sites.data(), dtype::uint8, shape);
}

distance_options options_of(const std::vector<double>& spacing) {
    distance_options options;
    options.sites = sites::nonzero;
    options.spacing = nearfield::spacing(spacing.data(), spacing.size());
    return options;
}

}  // namespace

engine method_engine(method by, int threads) {
    return [by = std::move(by), threads](call& c) {
        fields<host> out;
        const auto view = [](std::optional<guarded>& array) {
            return array ? array->view_of<host>(static_cast<void*>(array->bytes().data())) : any_output<host>{};
        };
        out.distance = view(c.distance), out.squared = view(c.squared);
        out.index = view(c.index), out.coordinates = view(c.coordinates);
        const auto image = c.image.view_of<host>(static_cast<const void*>(c.image.bytes().data()));
        static_cast<void>(nearest_sites(by, host{threads}, image, out, c.options));
    };
}

const std::vector<shape_case>& method_shapes() {
    static const std::vector<shape_case> list = {
        {{0, 5}, "no rows"},
        {{1}, "one cell: no round at all"},
        {{2}, "the shortest line with a neighbour"},
        {{37}, "1-D"},
        {{1, 1, 67}, "a row as a volume"},
        {{67, 1, 1}, "a column as a volume"},
        {{16, 16}, "2-D, a power of two"},
        {{31, 33}, "2-D, one below and one above one"},
        {{3, 70}, "2-D, wide: steps longer than the other side"},
        {{70, 3}, "2-D, tall"},
        {{8, 8, 8}, "3-D, a power of two"},
        {{5, 11, 13}, "3-D, odd sides"},
        {{19, 1, 23}, "3-D, middle axis of length 1"},
        {{2, 3, 33}, "3-D, long along the last axis"},
    };
    return list;
}

const std::vector<spacing_case>& method_spacings() {
    static const std::vector<spacing_case> list = {
        {{}, "not given"},
        {{2, 1, 3}, "integral anisotropic"},
        {{1.0 / 3, 0.1}, "near-degenerate: ties made and broken by rounding"},
        {{1, 1000003}, "extreme ratio: 64 bits"},
        {{1e12, 3}, "integral, but squares beyond 2^62: double"},
    };
    return list;
}

solved unsolved(const shape_t& shape, const flags_t& sites, const spacing_case& cell) {
    const std::vector<double> values = per_axis(cell, shape.size());
    return {{shape, values, sites}, nearfield::spacing(values.data(), values.size()), {}};
}

void expect_sites(const method& by, solved s, const std::vector<std::int64_t>& index, std::uint64_t k) {
    s.answer = oracle::of_sites(s.problem, index);
    EXPECT_EQ(check(method_engine(by, 1), s, outputs::all(), dress{}), "");
    EXPECT_EQ(check(method_engine(by, 3), s, outputs::number(1 + k % (output_combinations - 1)), dress::number(k)), "");
}

std::vector<std::int64_t> sites_of(const method& by, const shape_t& shape, const flags_t& sites,
                                   const std::vector<double>& spacing) {
    std::vector<std::int64_t> index(sites.size());
    fields<host> out;
    out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
    static_cast<void>(nearest_sites(by, host{2}, image_of(sites, shape), out, options_of(spacing)));
    return index;
}

method_errors errors_of(const std::vector<std::int64_t>& index, const shape_t& shape, const flags_t& sites) {
    return compare_sites(host{2}, image_of(sites, shape),
                         any_input<host>::contiguous(index.data(), dtype::int64, shape), {}, options_of({}));
}

}  // namespace nearfield::test
