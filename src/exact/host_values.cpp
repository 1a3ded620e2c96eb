// Values from packed sites, and distances from values: compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_values.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "exact/host_lanes.hpp"
#include "exact/host_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

template <class V>
struct wrapping {
    using type = std::make_unsigned_t<V>;
};
template <>
struct wrapping<double> {
    using type = double;
};

// Plain loops: the compiler turns them into this instruction set's vectors.
template <class V, class K>
void values_from(const metric<V>& m, int first, const K* HWY_RESTRICT key, const std::int64_t* const* at,
                 std::int64_t count, V* HWY_RESTRICT value) {
    // What "no site" unpacks to may overflow before it is replaced; unsigned numbers may.
    using N = typename wrapping<V>::type;
    const auto add = [&](int axis, bool start) {
        const std::int64_t* HWY_RESTRICT here = at[axis];
        const int shift = m.keys.shift[axis];
        const K mask = static_cast<K>((std::make_unsigned_t<K>{1} << m.keys.bits[axis]) - 1);
        const N weight = static_cast<N>(m.weight[axis]);
        const auto sum_up = [&](const auto& steps_of) {
            for (std::int64_t i = 0; i < count; ++i) {
                const N steps = static_cast<N>(
                    steps_of(static_cast<K>(static_cast<K>(here[i]) - static_cast<K>((key[i] >> shift) & mask))));
                const N term = weight * (steps * steps);
                value[i] = static_cast<V>(start ? term : static_cast<N>(value[i]) + term);
            }
        };
        if (!m.periodic[axis] && !m.half_cell) return sum_up([](K difference) { return difference; });
        const K size = static_cast<K>(m.size[axis]);
        const bool periodic = m.periodic[axis], half_cell = m.half_cell;
        sum_up([=](K difference) {
            const K direct = difference < 0 ? static_cast<K>(-difference) : difference;
            const K steps = periodic ? std::min<K>(direct, static_cast<K>(size - direct)) : direct;
            return half_cell ? std::max<K>(static_cast<K>(2 * steps - 1), 0) : steps;
        });
    };
    add(m.rank - 1, true);
    for (int axis = m.rank - 2; axis >= first; --axis) add(axis, false);
    for (std::int64_t i = 0; i < count; ++i) value[i] = key[i] == no_key<K> ? no_site<V>() : value[i];
}
void values_int32(const metric<std::int32_t>& m, int first, const std::int32_t* key, const std::int64_t* const* at,
                  std::int64_t count, std::int32_t* value) {
    values_from(m, first, key, at, count, value);
}
void values_int64(const metric<std::int64_t>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                  std::int64_t count, std::int64_t* value) {
    values_from(m, first, key, at, count, value);
}
void values_float64(const metric<double>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, double* value) {
    values_from(m, first, key, at, count, value);
}

/// A root in double, rounded. Integers below 2^24 are floats, whose correctly rounded root is the same number.
void roots_int32(const std::int32_t* squared, std::int64_t count, float* out) {
    const hn::ScalableTag<std::int32_t> whole;
    const hn::Rebind<float, decltype(whole)> single;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(whole));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto v = hn::LoadU(whole, squared + i);
        const auto exact = hn::Lt(v, hn::Set(whole, 1 << 24));
        const auto none = hn::Eq(v, hn::Set(whole, no_site<std::int32_t>()));
        if (hn::AllTrue(whole, hn::Or(exact, none))) {
            const auto root = hn::Sqrt(hn::ConvertTo(single, v));
            const auto infinite = hn::Set(single, std::numeric_limits<float>::infinity());
            hn::StoreU(hn::IfThenElse(hn::RebindMask(single, none), infinite, root), single, out + i);
        } else {
            roots_one_by_one(squared + i, 1, lanes, out + i);
        }
    }
    roots_one_by_one(squared + i, 1, count - i, out + i);
}

/// The same of values in other units: in double, half as many at a time.
void roots_scaled(const std::int32_t* squared, double unit2, std::int64_t count, float* out) {
    const hn::ScalableTag<double> precise;
    const hn::Rebind<std::int32_t, decltype(precise)> whole;
    const hn::Rebind<float, decltype(precise)> single;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(precise));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto v = hn::LoadU(whole, squared + i);
        const auto none = hn::Eq(v, hn::Set(whole, no_site<std::int32_t>()));
        const auto root = hn::Sqrt(hn::Mul(hn::Set(precise, unit2), hn::PromoteTo(precise, v)));
        const auto infinite = hn::Set(single, std::numeric_limits<float>::infinity());
        hn::StoreU(hn::IfThenElse(hn::RebindMask(single, none), infinite, hn::DemoteTo(single, root)), single, out + i);
    }
    roots_one_by_one(squared + i, unit2, count - i, out + i);
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(values_int32);
HWY_EXPORT(values_int64);
HWY_EXPORT(values_float64);
HWY_EXPORT(roots_int32);
HWY_EXPORT(roots_scaled);

void values_of_keys(const metric<std::int32_t>& m, int first, const std::int32_t* key, const std::int64_t* const* at,
                    std::int64_t count, std::int32_t* value) {
    HWY_DYNAMIC_DISPATCH(values_int32)(m, first, key, at, count, value);
}
void values_of_keys(const metric<std::int64_t>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, std::int64_t* value) {
    HWY_DYNAMIC_DISPATCH(values_int64)(m, first, key, at, count, value);
}
void values_of_keys(const metric<double>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, double* value) {
    HWY_DYNAMIC_DISPATCH(values_float64)(m, first, key, at, count, value);
}

template <>
void roots(const std::int32_t* squared, std::int64_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(roots_int32)(squared, count, out);
}
void roots_in_units(const std::int32_t* squared, double unit2, std::int64_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(roots_scaled)(squared, unit2, count, out);
}

template <>
void roots(const std::int32_t* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const std::int64_t* squared, std::int64_t count, float* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const std::int64_t* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const double* squared, std::int64_t count, float* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const double* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, 1, count, out);
}

}  // namespace nearfield::exact
#endif
