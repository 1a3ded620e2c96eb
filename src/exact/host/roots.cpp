#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host/roots.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "exact/host/roots.hpp"
#include "exact/host_lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

// Tiles are whole vectors, and so are counts.

void roots16(const std::uint16_t* value, std::int64_t count, float unit, std::uint16_t limit, float* out) {
    const hn::CappedTag<float, 16> tag;
    const hn::Rebind<std::int32_t, decltype(tag)> whole;
    const hn::Rebind<std::uint16_t, decltype(tag)> narrow;
    const auto infinite = hn::Set(tag, std::numeric_limits<float>::infinity());
    const auto most = hn::Set(tag, static_cast<float>(limit)), factor = hn::Set(tag, unit);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(tag))) {
        const auto v = hn::ConvertTo(tag, hn::PromoteTo(whole, hn::LoadU(narrow, value + i)));
        hn::StoreU(hn::IfThenElse(hn::Lt(most, v), infinite, hn::Mul(hn::Sqrt(v), factor)), tag, out + i);
    }
}

/// Integers below 2^24 are floats, whose correctly rounded root equals that of the double.
void roots32(const std::int32_t* value, std::int64_t count, double unit2, float unit, std::int32_t limit, float* out) {
    const hn::CappedTag<double, 8> wide;
    const hn::CappedTag<std::int32_t, 16> whole;
    const hn::Rebind<float, decltype(whole)> tag;
    const hn::Rebind<std::int32_t, decltype(wide)> half;
    const hn::Rebind<float, decltype(wide)> half_tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(whole)),
               wide_lanes = static_cast<std::int64_t>(hn::Lanes(wide));
    const auto infinite = hn::Set(tag, std::numeric_limits<float>::infinity());
    const auto most = hn::Set(whole, limit);
    for (std::int64_t i = 0; i < count; i += lanes) {
        const auto v = hn::LoadU(whole, value + i);
        if (hn::AllTrue(whole, hn::Eq(v, hn::Zero(whole)))) {
            hn::StoreU(hn::Zero(tag), tag, out + i);
            continue;
        }
        const auto none = hn::RebindMask(tag, hn::Lt(most, v));
        if (unit != 0 && hn::AllTrue(whole, hn::Lt(v, hn::Set(whole, 1 << 24)))) {
            const auto root = hn::Mul(hn::Sqrt(hn::ConvertTo(tag, v)), hn::Set(tag, unit));
            hn::StoreU(hn::IfThenElse(none, infinite, root), tag, out + i);
            continue;
        }
        for (std::int64_t j = i; j < i + lanes; j += wide_lanes) {
            const auto real = hn::PromoteTo(wide, hn::LoadU(half, value + j));
            hn::StoreU(hn::DemoteTo(half_tag, hn::Sqrt(hn::Mul(hn::Set(wide, unit2), real))), half_tag, out + j);
        }
        hn::StoreU(hn::IfThenElse(none, infinite, hn::LoadU(tag, out + i)), tag, out + i);
    }
}

void roots64(const double* value, std::int64_t count, double unit2, double limit, float* out) {
    const hn::CappedTag<double, 8> tag;
    const hn::Rebind<float, decltype(tag)> single;
    const auto infinite = hn::Set(tag, std::numeric_limits<double>::infinity());
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(tag))) {
        auto v = hn::LoadU(tag, value + i);
        if (hn::AllTrue(tag, hn::Eq(v, hn::Zero(tag)))) {
            hn::StoreU(hn::Zero(single), single, out + i);
            continue;
        }
        v = hn::IfThenElse(hn::Lt(hn::Set(tag, limit), v), infinite, hn::Mul(hn::Set(tag, unit2), v));
        hn::StoreU(hn::DemoteTo(single, hn::Sqrt(v)), single, out + i);
    }
}

/// Vectors of 64 bytes; there is at least one.
template <class T>
T most(const T* number, std::int64_t count) {
    const hn::CappedTag<T, 64 / sizeof(T)> tag;
    auto all = hn::Zero(tag);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    for (std::int64_t i = 0; i < count; i += lanes)
        all = hn::Max(all, hn::LoadU(tag, number + std::min(i, count - lanes)));
    return hn::GetLane(hn::MaxOfLanes(tag, all));
}
std::uint16_t most16(const std::uint16_t* number, std::int64_t count) { return most(number, count); }
std::int32_t most32(const std::int32_t* number, std::int64_t count) { return most(number, count); }
double most64(const double* number, std::int64_t count) { return most(number, count); }

void reals_of(std::int64_t* value, std::int64_t count) {
    const hn::CappedTag<double, 8> tag;
    const hn::Rebind<std::int64_t, decltype(tag)> whole;
    const auto most = hn::Set(tag, static_cast<double>(no_site<std::int64_t>()));
    const auto infinite = hn::Set(tag, number<double>::infinite);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(tag))) {
        const auto real = hn::ConvertTo(tag, hn::LoadU(whole, value + i));
        const auto all = hn::IfThenElse(hn::Lt(real, most), real, infinite);
        hn::StoreU(hn::BitCast(whole, all), whole, value + i);
    }
}

void signs(float* root, const std::uint8_t* bits, std::int64_t count, float set) {
    const hn::CappedTag<float, 16> tag;
    const hn::Rebind<std::int32_t, decltype(tag)> whole;
    static constexpr std::int32_t bit[16] = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                             1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(tag))) {
        const auto own = hn::LoadU(whole, bit + i % 16);
        const auto word = hn::Set(whole, bits[i / 16 * 2] | bits[i / 16 * 2 + 1] << 8);
        const auto is_set = hn::RebindMask(tag, hn::Eq(hn::And(word, own), own));
        const auto sign = hn::IfThenElse(is_set, hn::Set(tag, set), hn::Set(tag, -set));
        hn::StoreU(hn::Mul(hn::LoadU(tag, root + i), sign), tag, root + i);
    }
}

/// number = factor * root(scale * number), for any count.
void roots_in_place(double* number, std::int64_t count, double scale, double factor) {
    const hn::CappedTag<double, 8> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto scaled = hn::Mul(hn::Set(tag, scale), hn::LoadU(tag, number + i));
        hn::StoreU(hn::Mul(hn::Set(tag, factor), hn::Sqrt(scaled)), tag, number + i);
    }
    for (; i < count; ++i) number[i] = factor * std::sqrt(scale * number[i]);
}

/// Copies whole vectors of 64 bytes, without a call of memcpy for each row.
void copy_rows(const std::uint8_t* from, std::int64_t row_bytes, std::int64_t from_pitch, std::int64_t rows,
               std::uint8_t* to, std::int64_t to_pitch, bool past_caches) {
    const hn::CappedTag<std::int32_t, 16> tag;
    const auto bytes = static_cast<std::int64_t>(hn::Lanes(tag) * 4);
    for (std::int64_t r = 0; r < rows; ++r, from += from_pitch, to += to_pitch)
        for (std::int64_t i = 0; i < row_bytes; i += bytes) {
            const auto v = hn::LoadU(tag, reinterpret_cast<const std::int32_t*>(from + i));
            if (past_caches) hn::Stream(v, tag, reinterpret_cast<std::int32_t*>(to + i));
            else hn::StoreU(v, tag, reinterpret_cast<std::int32_t*>(to + i));
        }
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(roots16);
HWY_EXPORT(roots32);
HWY_EXPORT(roots64);
HWY_EXPORT(roots_in_place);
HWY_EXPORT(signs);
HWY_EXPORT(reals_of);
HWY_EXPORT(most16);
HWY_EXPORT(most32);
HWY_EXPORT(most64);
HWY_EXPORT(copy_rows);

/// Bytes of the largest vector, and of a cache line.
constexpr std::int64_t vector = 64;

template <class T>
root_rule<T>::root_rule(const plan& p) : unit2_(p.unit2), unit_(p.unit()), limit_(number<T>::infinite) {
    if (p.limit < static_cast<double>(number<T>::infinite)) limit_ = static_cast<T>(p.limit);
    else if constexpr (std::is_same_v<T, double>) limit_ = std::numeric_limits<double>::max();
    else limit_ = number<T>::infinite - 1;
    if constexpr (sizeof(T) == 2) {
        if (unit_ != 0) return;
        table_ = host_scratch<float>(65536);
        for (int v = 0; v < 65536; ++v)
            table_.get()[v] = v > limit_ ? std::numeric_limits<float>::infinity()
                                         : static_cast<float>(std::sqrt(unit2_ * static_cast<double>(v)));
    }
}

template <class T>
void root_rule<T>::roots(const T* value, std::int64_t count, float* out) const {
    const auto unit = static_cast<float>(unit_);
    if constexpr (sizeof(T) == 4) {
        HWY_DYNAMIC_DISPATCH(roots32)(value, count, unit2_, unit, limit_, out);
    } else if constexpr (sizeof(T) == 8) {
        HWY_DYNAMIC_DISPATCH(roots64)(value, count, unit2_, limit_, out);
    } else if (unit_ != 0) {
        HWY_DYNAMIC_DISPATCH(roots16)(value, count, unit, limit_, out);
    } else {
        const float* const root_of = table_.get();
        for (std::int64_t i = 0; i < count; ++i) out[i] = root_of[value[i]];
    }
}

template class root_rule<std::uint16_t>;
template class root_rule<std::int32_t>;
template class root_rule<double>;

template <class V>
void field_roots<V>::roots(const V* value, std::int64_t count, float* out) const {
    constexpr std::int64_t batch = 64;
    std::conditional_t<sizeof(V) == 4, V, double> part[batch];
    float root[batch];
    std::int64_t from = 0;
    if constexpr (!std::is_same_v<V, std::int64_t>) {
        from = count / batch * batch;
        rule_.roots(value, from, out);
    }
    for (; from < count; from += batch) {
        const std::int64_t n = std::min(batch, count - from);
        for (std::int64_t i = 0; i < batch; ++i) {
            const V v = value[from + std::min(i, n - 1)];
            if constexpr (std::is_same_v<V, std::int64_t>)
                part[i] = v < no_site<V>() ? static_cast<double>(v) : number<double>::infinite;
            else part[i] = v;
        }
        rule_.roots(part, batch, root);
        std::copy_n(root, n, out + from);
    }
}
template <class V>
void field_roots<V>::roots(const V* value, std::int64_t count, double* out) const {
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = value[i] < no_site<V>() ? static_cast<double>(value[i]) : number<double>::infinite;
    HWY_DYNAMIC_DISPATCH(roots_in_place)(out, count, unit_ != 0 ? 1 : unit2_, unit_ != 0 ? unit_ : 1);
}
template class field_roots<std::int32_t>;
template class field_roots<std::int64_t>;
template class field_roots<double>;

void put_signs(float* root, const std::uint8_t* bits, std::int64_t count, std::int8_t set) {
    HWY_DYNAMIC_DISPATCH(signs)(root, bits, count, set);
}
const double* as_reals(std::int64_t* value, std::int64_t count) {
    HWY_DYNAMIC_DISPATCH(reals_of)(value, count);
    return reinterpret_cast<const double*>(value);
}
std::uint16_t largest(const std::uint16_t* number, std::int64_t count) {
    return HWY_DYNAMIC_DISPATCH(most16)(number, count);
}
std::int32_t largest(const std::int32_t* number, std::int64_t count) {
    return HWY_DYNAMIC_DISPATCH(most32)(number, count);
}
double largest(const double* number, std::int64_t count) { return HWY_DYNAMIC_DISPATCH(most64)(number, count); }

void copy_rows_out(const void* from, std::int64_t row_bytes, std::int64_t from_pitch, std::int64_t rows, void* to,
                   std::int64_t to_pitch, bool past_caches) {
    const auto* source = static_cast<const std::uint8_t*>(from);
    auto* target = static_cast<std::uint8_t*>(to);
    past_caches = past_caches && to_pitch % vector == 0 && reinterpret_cast<std::uintptr_t>(to) % vector == 0;
    if (row_bytes % vector == 0)
        return HWY_DYNAMIC_DISPATCH(copy_rows)(source, row_bytes, from_pitch, rows, target, to_pitch, past_caches);
    for (std::int64_t r = 0; r < rows; ++r, source += from_pitch, target += to_pitch)
        std::memcpy(target, source, static_cast<std::size_t>(row_bytes));
}
void copy_past_caches(const void* from, std::int64_t bytes, void* to) {
    const auto before = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % vector);
    const std::int64_t head = std::min(before, bytes), whole = (bytes - head) / vector * vector;
    const auto* const source = static_cast<const std::uint8_t*>(from);
    auto* const target = static_cast<std::uint8_t*>(to);
    std::memcpy(target, source, static_cast<std::size_t>(head));
    HWY_DYNAMIC_DISPATCH(copy_rows)(source + head, whole, 0, 1, target + head, 0, true);
    std::memcpy(target + head + whole, source + head + whole, static_cast<std::size_t>(bytes - head - whole));
}
void end_copies() { hwy::FlushStream(); }

}  // namespace nearfield::exact
#endif
