#include "isosurface/planes.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/check.hpp"
#include "base/with_integer.hpp"

namespace nearfield::isosurfaces {

void load(const problem<host>& p, std::int64_t i, plane& to) {
    const std::int64_t n = p.nodes[2], rim = p.rim;
    constexpr double outside = std::numeric_limits<double>::quiet_NaN();
    const auto read_row = [&]<class T>(T, std::int64_t j, double* row) {
        const T* from =
            static_cast<const T*>(p.field.data) + (i - rim) * p.field.stride[0] + (j - rim) * p.field.stride[1];
        for (std::int64_t k = rim; k < n - rim; ++k) row[k] = static_cast<double>(from[(k - rim) * p.field.stride[2]]);
    };
    for (std::int64_t j = 0; j < p.nodes[1]; ++j) {
        double* const row = to.value.data() + j * n;
        std::uint8_t* const inside = to.inside.data() + j * n;
        if (i < rim || i >= p.nodes[0] - rim || j < rim || j >= p.nodes[1] - rim) std::fill(row, row + n, outside);
        else {
            if (rim > 0) row[0] = row[n - 1] = outside;
            with_number(p.field.type, [&](auto zero) { read_row(zero, j, row); });
        }
        for (std::int64_t k = 0; k < n; ++k) inside[k] = p.is_inside(row[k]) ? 1 : 0;
    }
}

void cross(const problem<host>& p, plane& of, const plane* above) {
    const std::int64_t n = p.nodes[2], all = p.plane_nodes();
    const std::uint8_t* const in = of.inside.data();
    std::uint8_t* const to = of.crossed.data();
    for (std::int64_t c = 0; c < all; ++c)
        to[c] = above == nullptr ? std::uint8_t{0}
                                 : static_cast<std::uint8_t>(in[c] ^ above->inside[static_cast<std::size_t>(c)]);
    for (std::int64_t c = 0; c + n < all; ++c) to[c] = static_cast<std::uint8_t>(to[c] | (in[c] ^ in[c + n]) << 1);
    for (std::int64_t row = 0; row < all; row += n)
        for (std::int64_t k = row; k + 1 < row + n; ++k)
            to[k] = static_cast<std::uint8_t>(to[k] | (in[k] ^ in[k + 1]) << 2);
}

std::int64_t sum_up(std::vector<std::int64_t>& counts) {
    std::int64_t sum = 0;
    for (std::int64_t& each : counts) sum += std::exchange(each, sum);
    return sum;
}

void check_counts(std::int64_t vertices, std::int64_t faces) {
    if (vertices >= std::int64_t{1} << 31 || faces >= std::int64_t{1} << 31)
        fail(fmt::format(
            "the surface has {} vertices and {} faces; give a smaller field, or parts of it: fewer than 2^31", vertices,
            faces));
}

}  // namespace nearfield::isosurfaces
