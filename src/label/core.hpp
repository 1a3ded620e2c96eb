// The mathematics of connected components: which cells are foreground, which neighbours are connected, how steps to
// neighbours are listed, and how many components there can be.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/annotate.hpp"
#include "nearfield/label.hpp"

namespace nearfield::labelling {

// ---- numbers given for any type of element --------------------------------------------------------------------------

/// A number as an element of type T; `exists` is false if no element equals it.
template <class T>
struct element {
    T value{};
    bool exists = false;
};

/// 2^digits of T as a double: the smallest power of two that T cannot hold.
template <class T>
constexpr double beyond() {
    return 2.0 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
}

template <class T>
constexpr element<T> as_element(const scalar& s) {
    using limits = std::numeric_limits<T>;
    const double real = s.real();
    if constexpr (std::is_floating_point_v<T>) {
        if (real != real) return {limits::quiet_NaN(), true};
        if (real > limits::max() || real < limits::lowest())
            return {real < 0 ? -limits::infinity() : limits::infinity(),
                    real < std::numeric_limits<double>::lowest() || real > std::numeric_limits<double>::max()};
        const T value = static_cast<T>(real);
        if (s.is_real()) return {value, static_cast<double>(value) == real};
        // Integers like 2^64 - 1 have no exact double, so no floating-point element equals them.
        if (real >= beyond<std::uint64_t>()) return {value, false};
        const bool same_integer = s.is_negative()
                                      ? static_cast<std::uint64_t>(static_cast<std::int64_t>(real)) == s.bits()
                                      : static_cast<std::uint64_t>(real) == s.bits();
        return {value, static_cast<double>(value) == real && same_integer};
    } else if (s.is_real()) {
        if (!(real >= static_cast<double>(limits::lowest()) && real < beyond<T>())) return {};
        const T value = static_cast<T>(real);
        return {value, static_cast<double>(value) == real};
    } else if (s.is_negative()) {
        const auto value = static_cast<std::int64_t>(s.bits());
        if (std::is_unsigned_v<T> || value < static_cast<std::int64_t>(limits::lowest())) return {};
        return {static_cast<T>(value), true};
    } else {
        if (s.bits() > static_cast<std::uint64_t>(limits::max())) return {};
        return {static_cast<T>(s.bits()), true};
    }
}

/// Type of differences between elements: exact for integers, a double rounded once for floating point.
template <class T>
using measure = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

/// The largest difference of elements that does not exceed `s`, which is not negative and not NaN.
template <class T>
constexpr measure<T> as_tolerance(const scalar& s) {
    if constexpr (std::is_floating_point_v<T>) return s.real();
    else if (!s.is_real()) return s.bits();
    else if (s.real() >= beyond<std::uint64_t>()) return std::numeric_limits<std::uint64_t>::max();
    else return static_cast<std::uint64_t>(s.real());
}

// ---- cells ----------------------------------------------------------------------------------------------------------

/// Decides on cells of element type T (bool is read as uint8). Kernels take it by value.
template <class T>
struct rule {
    criterion kind = criterion::nonzero;
    bool has_background = true;  ///< some value is background: `background`, or NaN
    bool nan_background = false;
    colour_norm norm = colour_norm::maximum;
    T background{};
    measure<T> tolerance{};
    double tolerance2 = 0;  ///< tolerance squared, of colours, for colour_norm::euclidean
    T here{}, there{};      ///< for criterion::links: the bits by which `a` names `b`, and `b` names `a`

    [[nodiscard]] NF_HD constexpr bool foreground(T v) const {
        if (!has_background) return true;
        return nan_background ? v == v : v != background;
    }
    /// True if `a` and `b`, which are foreground neighbours, are connected.
    [[nodiscard]] NF_HD constexpr bool linked(T a, T b) const {
        if (kind == criterion::nonzero) return true;
        if constexpr (std::is_integral_v<T>)
            if (kind == criterion::links) return ((a & here) | (b & there)) != 0;
        return a == b || (kind == criterion::within && difference(a, b) <= tolerance);
    }

    /// |a - b|, 0 for equal infinities, NaN when one is.
    [[nodiscard]] NF_HD static constexpr measure<T> difference(T a, T b) {
        if (a == b) return 0;
        if constexpr (std::is_floating_point_v<T>) {
            const double d = static_cast<double>(a) - static_cast<double>(b);
            return d < 0 ? -d : d;
        } else {
            // The difference modulo 2^64 is exact, because it is below 2^64.
            return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
                         : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
        }
    }

    /// These make the same tests for colours, whose channels lie `stride` elements apart.
    [[nodiscard]] NF_HD constexpr bool foreground(const T* v, int channels, std::int64_t stride) const {
        for (int c = 0; c < channels; ++c)
            if (foreground(v[c * stride])) return true;
        return false;
    }
    [[nodiscard]] NF_HD constexpr bool linked(const T* a, const T* b, int channels, std::int64_t stride) const {
        if (kind == criterion::nonzero) return true;
        measure<T> sum = 0;
        double sum2 = 0;
        for (int c = 0; c < channels; ++c) {
            const T one = a[c * stride], other = b[c * stride];
            if (kind == criterion::equal || norm == colour_norm::maximum) {
                if (!linked(one, other)) return false;
                continue;
            }
            const measure<T> d = difference(one, other);
            sum += d;
            sum2 += static_cast<double>(d) * static_cast<double>(d);
        }
        if (kind == criterion::equal || norm == colour_norm::maximum) return true;
        return norm == colour_norm::sum ? sum <= tolerance : sum2 <= tolerance2;
    }
};

/// The bit by which a cell names a neighbour, and the bit by which that neighbour names the cell.
struct link_pair {
    std::uint32_t here = 0, there = 0;
};

/// Makes the rule of a call. Only criterion::links uses `by`, as it distinguishes its neighbours.
template <class T>
constexpr rule<T> make_rule(const label_options& options, link_pair by = {}) {
    rule<T> r;
    r.kind = options.criterion, r.norm = options.norm;
    if (r.kind == criterion::nonzero) return r;
    if (r.kind == criterion::links) {
        r.has_background = false;
        r.here = static_cast<T>(by.here), r.there = static_cast<T>(by.there);
        return r;
    }
    const element<T> background = as_element<T>(options.background);
    r.has_background = options.has_background && background.exists;
    r.nan_background = background.value != background.value;
    r.background = background.value;
    r.tolerance = as_tolerance<T>(options.tolerance);
    r.tolerance2 = options.tolerance.real() * options.tolerance.real();
    return r;
}

// ---- steps to neighbours --------------------------------------------------------------------------------------------

/// Number of coordinates that a step may change, from either form of a connectivity; 0 if it is invalid.
constexpr int changes_of(int connectivity, int rank) {
    if (connectivity >= 1 && connectivity <= rank) return connectivity;
    constexpr int names[3][3] = {{2, 0, 0}, {4, 8, 0}, {6, 18, 26}};
    for (int changes = 1; rank <= 3 && changes <= rank; ++changes)
        if (connectivity == names[rank - 1][changes - 1]) return changes;
    return 0;
}

constexpr std::int64_t three_to(int power) {
    std::int64_t n = 1;
    for (int i = 0; i < power; ++i) n *= 3;
    return n;
}

/// Steps are numbered 0 .. 3^rank - 1 in C order over (-1, 0, 1) along every axis. Numbers below the middle lead to
/// cells that come before in raster order, and 3^rank - 1 - s is the opposite of s.
constexpr int along(std::int64_t step, int axis, int rank) {
    return static_cast<int>(step / three_to(rank - 1 - axis) % 3) - 1;
}
constexpr int changes_in(std::int64_t step, int rank) {
    int changes = 0;
    for (int axis = 0; axis < rank; ++axis) changes += along(step, axis, rank) != 0;
    return changes;
}

/// Number of a step in a volume, or in an image or a line, which lack the first axes.
constexpr std::int64_t step_of(int dz, int dy, int dx, int rank) {
    return (9 * (dz + 1) + 3 * (dy + 1) + dx + 1) % three_to(rank);
}
constexpr link_pair links_along(std::int64_t step, int rank) {
    int to[3] = {}, back[3] = {};
    for (int axis = 0; axis < rank; ++axis) to[axis] = along(step, axis, rank), back[axis] = -to[axis];
    return {link_bit(to, rank), link_bit(back, rank)};
}

/// A call's image and options, checked: the input of both backends.
struct problem {
    int rank = 0;                               ///< axes that are neither batch nor channels
    std::array<std::int64_t, max_rank> size{};  ///< cells along each of them
    std::int64_t cells = 0;                     ///< cells of one image
    std::int64_t images = 1;                    ///< images of the batch
    int batch_axes = 0;
    int channels = 1;
    bool colour = false;  ///< the last axis of the input holds channels
    int changes = 1;      ///< largest number of coordinates that a step changes; 0: `steps` lists the steps
    std::array<bool, max_rank> periodic{};
    label_options options{};

    [[nodiscard]] bool is_step(std::int64_t step) const {
        if (changes == 0) return options.steps[static_cast<std::size_t>(step)] != 0;
        return changes_in(step, rank) <= changes;
    }
    [[nodiscard]] bool filtered() const {
        return options.smallest > 1 || options.largest < cells || options.keep_largest < cells || options.clear_border;
    }
};

/// Makes the rule for a cell and its neighbour one step away; it depends on the step for criterion::links only.
template <class T>
constexpr rule<T> make_rule(const problem& p, int dz, int dy, int dx) {
    if (p.options.criterion != criterion::links) return make_rule<T>(p.options);
    return make_rule<T>(p.options, links_along(step_of(dz, dy, dx, p.rank), p.rank));
}

/// Returns the numbers of the steps that lead backwards, in ascending order.
inline std::vector<std::int64_t> backward_steps(const problem& p) {
    std::vector<std::int64_t> found;
    for (std::int64_t step = 0; step < three_to(p.rank) / 2; ++step)
        if (p.is_step(step)) found.push_back(step);
    return found;
}

// ---- number of components ----------------------------------------------------------------------------------------

/// Upper bound of the components of an image. If zero is the only background, at most every second cell of a path
/// through all cells is a component; and each block of two cells a side has at most 2^(axes - changes), since cells of
/// a block that differ in at most `changes` coordinates are neighbours (the Singleton bound of codes). Axes of length 1
/// are not counted.
constexpr std::int64_t most_components(const std::int64_t* size, int rank, int changes, criterion kind) {
    std::int64_t cells = 1, blocks = 1;
    int axes = 0;
    for (int axis = 0; axis < rank; ++axis) {
        cells *= size[axis];
        blocks *= size[axis] / 2 + size[axis] % 2;
        axes += size[axis] > 1;
    }
    if (kind != criterion::nonzero || changes == 0) return cells;
    const std::int64_t half = cells / 2 + cells % 2;
    const int free_axes = axes > changes ? axes - changes : 0;
    return blocks > (half >> free_axes) ? half : blocks << free_axes;
}
/// Returns the upper bound of the components that are left after the filters.
constexpr std::int64_t most_components(const problem& p) {
    std::int64_t most = most_components(p.size.data(), p.rank, p.changes, p.options.criterion);
    const label_options& o = p.options;
    if (o.smallest > 1 && p.cells / o.smallest < most) most = p.cells / o.smallest;
    return o.keep_largest < most ? o.keep_largest : most;
}

/// The largest label that a type holds.
constexpr std::int64_t largest_label(dtype type) {
    switch (type) {
        case dtype::uint16: return std::numeric_limits<std::uint16_t>::max();
        case dtype::int32: return std::numeric_limits<std::int32_t>::max();
        case dtype::uint32: return std::numeric_limits<std::uint32_t>::max();
        default: return std::numeric_limits<std::int64_t>::max();
    }
}

/// True if a component of `cells` cells passes the filters that examine it alone; at_border: it touches a border.
NF_HD constexpr bool passes(std::int64_t cells, bool at_border, std::int64_t smallest, std::int64_t largest,
                            bool clear_border) {
    return cells >= smallest && cells <= largest && !(clear_border && at_border);
}

#ifndef __CUDACC__  // nvcc cannot compare NaN at compile time
namespace self_check {
constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
static_assert(!as_element<std::uint8_t>(300).exists && !as_element<std::uint8_t>(-1).exists);
static_assert(as_element<std::int8_t>(-128).value == -128 && !as_element<std::int8_t>(-129).exists);
static_assert(!as_element<int>(0.5).exists && as_element<int>(-3.0).value == -3 && !as_element<int>(nan).exists);
static_assert(as_element<std::uint64_t>(~std::uint64_t{0}).value == ~std::uint64_t{0});
static_assert(!as_element<std::uint64_t>(0x1p64).exists && as_element<std::uint64_t>(0x1p63).exists);
static_assert(!as_element<double>(~std::uint64_t{0}).exists && as_element<double>(std::uint64_t{1} << 63).exists);
static_assert(!as_element<double>((std::int64_t{1} << 53) + 1).exists && !as_element<float>(16777217).exists);
static_assert(!as_element<float>(0.1).exists && as_element<float>(0.1F).exists && !as_element<float>(1e300).exists);
static_assert(as_element<float>(infinity).exists && as_element<float>(nan).exists);
static_assert(as_tolerance<int>(0.5) == 0 && as_tolerance<int>(2.9) == 2 && as_tolerance<int>(1e30) > 1U << 31);

constexpr rule<float> alike(double tolerance, scalar background = 0) {
    return make_rule<float>({.criterion = criterion::within, .tolerance = tolerance, .background = background});
}
static_assert(alike(0).foreground(std::numeric_limits<float>::quiet_NaN()) && !alike(0).foreground(-0.0F));
static_assert(!alike(0, nan).foreground(std::numeric_limits<float>::quiet_NaN()) && alike(0, nan).foreground(0));
static_assert(alike(1).linked(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()));
constexpr std::int64_t lowest64 = std::numeric_limits<std::int64_t>::min(), highest64 = -(lowest64 + 1);
static_assert(rule<std::int64_t>::difference(lowest64, highest64) == ~std::uint64_t{0});
static_assert(rule<std::int8_t>::difference(-128, 127) == 255 && rule<std::uint8_t>::difference(0, 255) == 255);

static_assert(link_bit({1}) == 1 && link_bit({-1}) == 2 && link_bit({0, 1}) == 1 && link_bit({-1, 0}) == 8);
static_assert(link_bit({1, 1}) == 1 << 4 && link_bit({1, -1}) == 1 << 5 && link_bit({-1, -1}) == 1 << 7);
static_assert(link_bit({-1, 0, 0}) == 1 << 5 && link_bit({0, 1, 1}) == 1 << 6 && link_bit({0, -1, -1}) == 1 << 9);
static_assert(link_bit({1, 0, 1}) == 1 << 10 && link_bit({1, 0, -1}) == 1 << 11 && link_bit({1, 1, 0}) == 1 << 12);
static_assert(link_bit({1, -1, 0}) == 1 << 13 && link_bit({-1, 0, 1}) == 1 << 14 && link_bit({-1, 0, -1}) == 1 << 15);
static_assert(link_bit({-1, 1, 0}) == 1 << 16 && link_bit({-1, -1, 0}) == 1 << 17 && link_bit({1, 1, 1}) == 1 << 18);
static_assert(link_bit({-1, 1, 1}) == 1 << 22 && link_bit({-1, -1, -1}) == 1 << 25);
static_assert(links_along(step_of(0, 0, -1, 2), 2).here == 2 && links_along(step_of(0, 0, -1, 2), 2).there == 1);
static_assert(changes_of(8, 2) == 2 && changes_of(4, 2) == 1 && changes_of(2, 1) == 1 && changes_of(18, 3) == 2);
static_assert(changes_of(26, 3) == 3 && changes_of(4, 3) == 0 && changes_of(6, 2) == 0 && changes_of(0, 2) == 0);
static_assert(changes_of(4, 4) == 4 && changes_of(80, 4) == 0);

constexpr std::int64_t most(std::array<std::int64_t, 3> s, int changes) {
    return most_components(s.data(), 3, changes, criterion::nonzero);
}
static_assert(most({4, 6, 8}, 1) == 96 && most({4, 6, 8}, 2) == 48 && most({4, 6, 8}, 3) == 24);
static_assert(most({3, 3, 3}, 1) == 14 && most({3, 3, 3}, 2) == 14 && most({3, 3, 3}, 3) == 8);
static_assert(most({1, 5, 5}, 1) == 13 && most({1, 5, 5}, 2) == 9 && most({1, 5, 5}, 3) == 9);
static_assert(most({1, 1, 5}, 2) == 3 && most({1, 1, 1}, 1) == 1 && most({0, 4, 4}, 2) == 0);
}  // namespace self_check
#endif

}  // namespace nearfield::labelling
