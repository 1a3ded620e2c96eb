// The mathematics that the published methods share: how a site is packed into one integer, its distance, the tie rule,
// and which cells are sites. It also decides, once for a grid, which number type is exact.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/annotate.hpp"
#include "base/hash.hpp"
#include "exact/core.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::methods {

using exact::nearer;
using exact::no_site;
using numbers = exact::tier;

/// Marks a cell without a site. Packed sites are numbers of at least 0.
template <class Key>
inline constexpr Key none = -1;

/// Packs a site so that the smaller of two numbers wins a tie: last axis in the highest bits.
struct packing {
    int shift[3]{};
    std::uint32_t mask[3]{};

    template <class Key>
    NF_HD constexpr Key pack(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return static_cast<Key>(z) << shift[0] | static_cast<Key>(y) << shift[1] | static_cast<Key>(x) << shift[2];
    }
    template <class Key>
    NF_HD constexpr std::int32_t coordinate(Key key, int axis) const {
        using U = std::make_unsigned_t<Key>;
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<U>(key) >> shift[axis]) & mask[axis]);
    }
};

/// The grid in 3-D, with axes of length 1 in front; the last axis is contiguous. It has at most 2^31 - 2 cells.
struct grid {
    int rank = 3;  ///< of the caller's arrays, which have the last axes of these
    std::int64_t size[3]{1, 1, 1};
    double weight[3]{1, 1, 1};  ///< squared spacing
    bool integral = true;       ///< true if all of `weight` are integers
    bool wide_keys = false;     ///< true if packed sites take 64 bits
    numbers in = numbers::int32;
    packing keys{};

    [[nodiscard]] constexpr std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] constexpr std::int64_t key_bytes() const { return wide_keys ? 8 : 4; }
};

/// Squared distances in V: std::int32_t or std::int64_t if they are integers, else double. Kernels take it by
/// value.
template <class V>
struct metric {
    packing keys{};
    V weight[3]{};

    /// Term of an axis for coordinates a and b: exact in integers; in double each product rounds once.
    NF_HD constexpr V term(int axis, std::int32_t a, std::int32_t b) const {
        const V d = static_cast<V>(a) - static_cast<V>(b);
        return weight[axis] * (d * d);
    }
    /// Squared distance from a cell to a packed site. Adds terms from the last axis on.
    template <class Key>
    NF_HD constexpr V between(Key site, std::int32_t z, std::int32_t y, std::int32_t x) const {
        return (term(2, keys.coordinate(site, 2), x) + term(1, keys.coordinate(site, 1), y)) +
               term(0, keys.coordinate(site, 0), z);
    }
};

/// Fills in the members that follow from `size` and `weight`.
constexpr grid finished(grid g) {
    int bits = 0;
    double largest = 0;
    g.integral = true;
    for (int axis = 0; axis < 3; ++axis) {
        const int width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(g.size[axis] - 1)));
        g.keys.shift[axis] = bits < 32 && width == 0 ? 0 : bits;
        g.keys.mask[axis] = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
        bits += width;
        const double side = static_cast<double>(g.size[axis] - 1);
        largest += g.weight[axis] * side * side;
        constexpr double most = 4611686018427387904.0;
        g.integral = g.integral && g.weight[axis] < most &&
                     static_cast<double>(static_cast<std::int64_t>(g.weight[axis] < most ? g.weight[axis] : 0)) ==
                         g.weight[axis];
    }
    g.wide_keys = bits > exact::narrow_key_bits;
    const auto below = [largest](double limit) { return largest < limit; };
    g.in = !g.integral || !below(static_cast<double>(no_site<std::int64_t>()))   ? numbers::float64
           : !g.wide_keys && below(static_cast<double>(no_site<std::int32_t>())) ? numbers::int32
                                                                                 : numbers::int64;
    return g;
}

template <class V>
constexpr metric<V> metric_of(const grid& g) {
    metric<V> m;
    m.keys = g.keys;
    for (int axis = 0; axis < 3; ++axis) {
        const bool fits = g.weight[axis] < static_cast<double>(no_site<V>());  // callers that use V have tested it
        m.weight[axis] = fits ? static_cast<V>(g.weight[axis]) : no_site<V>();
    }
    return m;
}

/// Calls body(metric<V>, Key) with the types in which the grid is solved: one of five pairs.
template <class Body>
void with_types(const grid& g, const Body& body) {
    if (g.wide_keys) {
        if (g.in == numbers::float64) return body(metric_of<double>(g), std::int64_t{});
        return body(metric_of<std::int64_t>(g), std::int64_t{});
    }
    switch (g.in) {
        case numbers::int32: return body(metric_of<std::int32_t>(g), std::int32_t{});
        case numbers::int64: return body(metric_of<std::int64_t>(g), std::int32_t{});
        default: return body(metric_of<double>(g), std::int32_t{});
    }
}

/// Calls body(Bits, keep): an element is zero if (bits & keep) is; `keep` drops the sign of floats.
template <class Body>
void with_bits(dtype type, const Body& body) {
    switch (type) {
        case dtype::boolean:
        case dtype::int8:
        case dtype::uint8: return body(std::uint8_t{}, std::uint8_t{0xff});
        case dtype::int16:
        case dtype::uint16: return body(std::uint16_t{}, std::uint16_t{0xffff});
        case dtype::float16: return body(std::uint16_t{}, std::uint16_t{0x7fff});
        case dtype::int32:
        case dtype::uint32: return body(std::uint32_t{}, std::uint32_t{0xffffffff});
        case dtype::float32: return body(std::uint32_t{}, std::uint32_t{0x7fffffff});
        case dtype::float64: return body(std::uint64_t{}, std::uint64_t{0x7fffffffffffffff});
        default: return body(std::uint64_t{}, ~std::uint64_t{});
    }
}

namespace self_check {
constexpr grid image = finished(grid{.rank = 3, .size = {1, 1025, 1024}});
static_assert(!image.wide_keys && image.in == numbers::int32 && image.integral);
constexpr std::int32_t corner = image.keys.pack<std::int32_t>(0, 1024, 1023);
static_assert(image.keys.coordinate(corner, 0) == 0 && image.keys.coordinate(corner, 1) == 1024);
static_assert(image.keys.coordinate(corner, 2) == 1023);
static_assert(image.keys.pack<std::int32_t>(0, 0, 1) > image.keys.pack<std::int32_t>(0, 1024, 0), "last axis first");
static_assert(metric_of<std::int32_t>(image).between(corner, 0, 1021, 1019) == 25);
static_assert(finished(grid{.rank = 3, .size = {1025, 1025, 1025}}).wide_keys);
static_assert(finished(grid{.rank = 3, .size = {1, 1, 40000}}).in == numbers::int64);
static_assert(finished(grid{.rank = 3, .size = {1, 5, 5}, .weight = {1, 0.25, 1}}).in == numbers::float64);
static_assert(finished(grid{.rank = 3, .size = {1, 1, 9}, .weight = {1, 1, 1e300}}).in == numbers::float64);
}  // namespace self_check

}  // namespace nearfield::methods
