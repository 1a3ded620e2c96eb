#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host/sites.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/with_bytes.hpp"
#include "exact/host/sites.hpp"
#include "exact/host_lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

// Plain loops, which the compiler vectorises for this instruction set.

/// A cell shares the site of a neighbour that has one step less; beside another class the neighbour itself may be it.
template <class Steps, bool Runs, bool Periodic>
void sites_from(const Steps* HWY_RESTRICT steps, const std::uint8_t* HWY_RESTRICT changed, std::int64_t count,
                std::int32_t* HWY_RESTRICT site) {
    // Unsigned, because positions round the ends reach 2^32.
    const auto n = static_cast<std::uint32_t>(count);
    for (std::int64_t x = 0; x < count; ++x) {
        const auto at = static_cast<std::uint32_t>(x), s = static_cast<std::uint32_t>(steps[x]);
        bool left = steps[x - 1] < steps[x];
        if constexpr (Runs) left = left | ((s == 1) & (changed[x] != 0));
        std::uint32_t before = at - s, after = at + s;
        if constexpr (Periodic) {
            bool right = steps[x + 1] < steps[x];
            if constexpr (Runs) right = right | ((s == 1) & (changed[x + 1] != 0));
            before = at < s ? before + n : before, after = after >= n ? after - n : after;
            before = right ? std::min(before, after) : before;
        }
        site[x] = static_cast<std::int32_t>(left ? before : after);
    }
}
template <class Steps>
void sites_of(const Steps* steps, const std::uint8_t* changed, std::int64_t count, bool periodic, std::int32_t* site) {
    if (changed == nullptr && !periodic) return sites_from<Steps, false, false>(steps, changed, count, site);
    if (changed == nullptr) return sites_from<Steps, false, true>(steps, changed, count, site);
    if (!periodic) return sites_from<Steps, true, false>(steps, changed, count, site);
    sites_from<Steps, true, true>(steps, changed, count, site);
}

template <class T>
void put(const std::int32_t* HWY_RESTRICT site, std::int64_t rows, const row_of_sites& r, std::int64_t first,
         const step_cost<lane_of_number<T>>& cost, T* HWY_RESTRICT to) {
    using lane = lane_of_number<T>;
    constexpr int columns = number<T>::columns;
    const auto weight = cost.weight, step = static_cast<lane>(std::int64_t{1} << r.shift);
    // Unsigned, because without a period no distance is shortened.
    const std::uint32_t period = r.periodic ? static_cast<std::uint32_t>(r.count) : ~std::uint32_t{0};
    const lane twice = cost.half_cell ? 2 : 1;
    const std::uint32_t less = cost.half_cell ? 1 : 0;
    std::int32_t own[columns];
    for (int c = 0; c < columns; ++c) own[c] = static_cast<std::int32_t>(std::min(first + c, r.count - 1));
    for (; rows > 0; --rows, site += columns, to += columns) {
        lane* HWY_RESTRICT const value = reinterpret_cast<lane*>(to);
        std::int64_t* HWY_RESTRICT const sites = reinterpret_cast<std::int64_t*>(to) + columns;
        if (site[0] < 0) {
            std::fill_n(value, columns, number<T>::infinite);
            if constexpr (number<T>::wide) std::fill_n(sites, columns, no_key<std::int64_t>);
            continue;
        }
        for (int c = 0; c < columns; ++c) {
            const auto straight = static_cast<std::uint32_t>(std::max(own[c] - site[c], site[c] - own[c]));
            const std::uint32_t away = std::min(straight, period - straight);
            const lane cells = twice * static_cast<lane>(static_cast<std::int32_t>(away)) -
                               static_cast<lane>(static_cast<std::int32_t>(std::min(away, less)));
            if constexpr (number<T>::wide) {
                value[c] = weight * (cells * cells);
                sites[c] = std::int64_t{site[c]} << r.shift;
            } else {
                value[c] = weight * (cells * cells) + static_cast<lane>(site[c]) * step;
            }
        }
    }
}

void add_packed(double* HWY_RESTRICT value, std::int64_t count, double step) {
    for (std::int64_t i = 0; i < count; ++i) value[i] += step;
}

template <class V>
auto whole_of(hn::Vec<hn::CappedTag<double, 8>> number) {
    const hn::Rebind<V, hn::CappedTag<double, 8>> tag;
    if constexpr (sizeof(V) == 4) return hn::DemoteTo(tag, number);
    else return hn::ConvertTo(tag, number);
}
/// Computes in doubles, which is exact, and converts at the end: compilers leave the loop scalar.
template <class V>
void split(const double* HWY_RESTRICT cell, std::int64_t count, int bits, std::int64_t base, V* HWY_RESTRICT value,
           V* HWY_RESTRICT site) {
    const hn::CappedTag<double, 8> tag;
    const hn::Rebind<V, decltype(tag)> whole_tag;
    const double step = static_cast<double>(std::int64_t{1} << bits);
    const auto unit = hn::Set(tag, step), share = hn::Set(tag, 1 / step), one = hn::Set(tag, 1.0);
    const auto whole_from = hn::Set(tag, 0x1p52), least = hn::Set(tag, static_cast<double>(base));
    const auto absent = hn::Set(tag, static_cast<double>(no_site<V>())), no_one = hn::Set(tag, -1.0);
    const auto infinite = hn::Set(tag, number<double>::infinite);
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(tag))) {
        const auto some = hn::LoadU(tag, cell + i), parts = hn::Mul(some, share);
        const auto nearest = hn::Sub(hn::Add(parts, whole_from), whole_from);
        const auto whole = hn::IfThenElse(hn::Lt(parts, nearest), hn::Sub(nearest, one), nearest);
        const auto rest = hn::Sub(some, hn::Mul(whole, unit)), kept = hn::Add(whole, least);
        const auto found = hn::Lt(some, infinite);
        hn::StoreU(whole_of<V>(hn::IfThenElse(found, kept, absent)), whole_tag, value + i);
        hn::StoreU(whole_of<V>(hn::IfThenElse(found, rest, no_one)), whole_tag, site + i);
    }
}

template <class K>
void coordinates(const K* HWY_RESTRICT site, std::int64_t count, int shift, int bits, std::int32_t* HWY_RESTRICT to) {
    const K mask = static_cast<K>((std::int64_t{1} << bits) - 1);
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = site[i] < 0 ? -1 : static_cast<std::int32_t>(site[i] >> shift & mask);
}

/// Unsigned, because a number is right modulo 2^32 although sums on the way to it may pass 2^31.
template <class K, class T>
void offsets(const K* HWY_RESTRICT site, std::int64_t count, const site_steps& s, T* HWY_RESTRICT to) {
    using U = std::make_unsigned_t<T>;
    using bits = std::make_unsigned_t<K>;
    constexpr std::int64_t batch = 512;  // few enough for the first-level cache
    for (std::int64_t from = 0; from < count; from += batch, site += batch, to += batch) {
        const std::int64_t n = std::min(batch, count - from);
        std::fill_n(to, n, T{0});
        for (int axis = s.first; axis < s.end; ++axis) {
            const int shift = s.keys.shift[axis];
            const auto mask = static_cast<bits>((bits{1} << s.keys.bits[axis]) - 1);
            const auto by = static_cast<U>(s.step[axis]);
            for (std::int64_t i = 0; i < n; ++i)
                to[i] = static_cast<T>(static_cast<U>(to[i]) +
                                       static_cast<U>(static_cast<bits>(site[i]) >> shift & mask) * by);
        }
        for (std::int64_t i = 0; i < n; ++i) to[i] = site[i] < 0 ? T{-1} : to[i];
    }
}

/// Compilers leave this loop scalar.
template <class Steps, class T>
void costs(const Steps* steps, std::int64_t rows, std::int64_t pitch, const step_cost<T>& cost, T* to) {
    const hn::CappedTag<T, 64 / sizeof(T)> tag;
    const hn::Rebind<Steps, decltype(tag)> narrow;
    const hn::Rebind<std::int32_t, decltype(tag)> whole;
    const auto load = [&](const Steps* from) {
        if constexpr (std::is_same_v<Steps, T>) return hn::LoadU(tag, from);
        else if constexpr (sizeof(Steps) == 2 && sizeof(T) == 8)
            return hn::PromoteTo(tag, hn::PromoteTo(whole, hn::LoadU(narrow, from)));
        else return hn::PromoteTo(tag, hn::LoadU(narrow, from));
    };
    const auto last = static_cast<T>(std::is_same_v<T, double> ? std::numeric_limits<Steps>::max() - 1 : cost.most);
    const auto farthest = hn::Set(tag, last), most = hn::Set(tag, static_cast<T>(cost.most)), one = hn::Set(tag, T{1});
    const auto weight = hn::Set(tag, cost.weight), none = hn::Set(tag, number<T>::infinite);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    for (; rows > 0; --rows, steps += pitch, to += number<T>::columns)
        for (std::int64_t c = 0; c < number<T>::columns; c += lanes) {
            const auto away = load(steps + c), near = hn::Min(away, most);
            auto cells = near;
            if (cost.half_cell) cells = hn::Sub(hn::Add(near, near), hn::Min(near, one));
            const auto value = hn::Mul(weight, hn::Mul(cells, cells));
            const auto within = hn::Eq(hn::Max(away, farthest), farthest);
            hn::StoreU(hn::IfThenElse(within, value, none), tag, to + c);
        }
}
/// Costs of more steps than fit are infinite.
template <class Steps>
void copy_steps(const std::uint8_t* HWY_RESTRICT near, const std::int32_t* HWY_RESTRICT far, std::int64_t count,
                Steps* HWY_RESTRICT to) {
    constexpr std::int32_t most = std::numeric_limits<Steps>::max() - 1;
    if (near != nullptr)
        for (std::int64_t x = 0; x < count; ++x) to[x] = near[x];
    else
        for (std::int64_t x = 0; x < count; ++x) to[x] = static_cast<Steps>(std::min(far[x], most));
}

const site_loops& site_table() {
    static constexpr site_loops every{
        {sites_of<std::uint8_t>, sites_of<std::int32_t>},
        {put<packed_site>, put<wide_site<std::int64_t>>, put<wide_site<double>>},
        add_packed,
        {split<std::int32_t>, split<std::int64_t>},
        {coordinates<std::int32_t>, coordinates<std::int64_t>},
        {offsets<std::int32_t, std::int32_t>, offsets<std::int32_t, std::int64_t>, offsets<std::int64_t, std::int64_t>},
        {costs<std::uint16_t, std::uint16_t>, costs<std::uint16_t, std::int32_t>, costs<std::uint16_t, double>,
         costs<std::int32_t, double>},
        {copy_steps<std::uint16_t>, copy_steps<std::int32_t>}};
    return every;
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(site_table);
const site_loops& loops_of_sites() { return HWY_DYNAMIC_DISPATCH(site_table)(); }

void sites_of_row(std::int64_t count, row_kind kind, bool periodic, const std::uint8_t* changed, row_scratch& r) {
    constexpr std::int64_t columns = number<packed_site>::columns;
    if (kind == row_kind::none) {
        std::fill_n(r.site, count + columns, -1);
        return;
    }
    const auto surround = [&](auto* steps, auto none) {
        steps[-1] = periodic ? steps[count - 1] : none, steps[count] = periodic ? steps[0] : none;
    };
    if (kind == row_kind::near) {
        surround(r.steps, std::uint8_t{255});
        loops_of_sites().share(r.steps, changed, count, periodic, r.site);
    } else {
        surround(r.far_steps, std::numeric_limits<std::int32_t>::max());
        loops_of_sites().share(r.far_steps, changed, count, periodic, r.site);
    }
    std::fill_n(r.site + count, columns, r.site[count - 1]);
}

void changes_of_row(const void* classes, int bytes, std::int64_t count, bool periodic, std::uint8_t* changed) {
    with_bytes(bytes, [&]<class In>(In) {
        const auto* const row = static_cast<const In*>(classes);
        changed[0] = changed[count] = periodic && row[0] != row[count - 1];
        for (std::int64_t x = 1; x < count; ++x) changed[x] = row[x] != row[x - 1];
    });
}

void add_coordinates(packed_site* value, std::int64_t rows, std::int64_t pitch, int shift) {
    const auto add = loops_of_sites().add;
    for (std::int64_t r = 1; r < rows; ++r)
        add(reinterpret_cast<double*>(value + r * pitch), number<packed_site>::columns,
            static_cast<double>(r) * static_cast<double>(std::int64_t{1} << shift));
}
template <class V>
void add_coordinates(wide_site<V>* value, std::int64_t rows, std::int64_t pitch, int shift) {
    constexpr int columns = number<wide_site<V>>::columns;
    for (std::int64_t r = 1; r < rows; ++r) {
        auto* const site = reinterpret_cast<std::int64_t*>(value + r * pitch) + columns;
        for (int c = 0; c < columns; ++c) site[c] |= r << shift;
    }
}
template void add_coordinates(wide_site<std::int64_t>*, std::int64_t, std::int64_t, int);
template void add_coordinates(wide_site<double>*, std::int64_t, std::int64_t, int);

template <class L, class V, class K>
void split_sites(const wide_site<L>* tile, std::int64_t rows, V* value, K* site) {
    constexpr int columns = number<wide_site<L>>::columns;
    for (std::int64_t r = 0; r < rows; ++r, tile += columns, value += columns, site += columns) {
        const auto* const from = reinterpret_cast<const L*>(tile);
        const auto* const key = reinterpret_cast<const std::int64_t*>(tile) + columns;
        for (int c = 0; c < columns; ++c) {
            const bool none = !(from[c] < number<L>::infinite);
            value[c] = none ? no_site<V>() : static_cast<V>(from[c]);
            site[c] = none ? no_key<K> : static_cast<K>(key[c]);
        }
    }
}
template void split_sites(const wide_site<std::int64_t>*, std::int64_t, std::int32_t*, std::int32_t*);
template void split_sites(const wide_site<std::int64_t>*, std::int64_t, std::int64_t*, std::int64_t*);
template void split_sites(const wide_site<double>*, std::int64_t, double*, std::int64_t*);

template <class Steps>
void put_steps(const row_scratch& r, row_kind kind, std::int64_t count, Steps* to) {
    if (kind == row_kind::none) return (void)std::fill_n(to, count, std::numeric_limits<Steps>::max());
    loops_of_sites().steps(kind == row_kind::near ? r.steps : nullptr, r.far_steps, count, to);
}
template void put_steps(const row_scratch&, row_kind, std::int64_t, std::uint16_t*);
template void put_steps(const row_scratch&, row_kind, std::int64_t, std::int32_t*);

}  // namespace nearfield::exact
#endif
