#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host/short_rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <type_traits>

#include "base/lines.hpp"
#include "exact/host/rows.hpp"
#include "exact/host/short_rows.hpp"
#include "exact/host_lanes.hpp"

HWY_BEFORE_NAMESPACE();
#include "exact/host/line_lanes.hpp"
namespace nearfield::exact::HWY_NAMESPACE {

/// Adds two numbers, possibly both without a site: as unsigned numbers they stay in range and above all others.
template <class L>
HWY_INLINE auto sum(L value, L cost) {
    if constexpr (std::is_floating_point_v<L>) {
        return value + cost;
    } else if constexpr (sizeof(L) == 2) {
        // Compilers would widen a sum in 32 bits.
        return static_cast<L>(value + std::min<L>(cost, static_cast<L>(number<L>::infinite - value)));
    } else {
        using U = std::make_unsigned_t<L>;
        return static_cast<L>(std::min<U>(static_cast<U>(value) + static_cast<U>(cost), U{number<L>::infinite}));
    }
}

/// Shifts whole vectors of doubles with sites, for which compilers leave the loop scalar; returns the cells done.
std::int64_t shift_sites(const row_candidates<double>& r) {
    using lanes_of = line_lanes<wide_site<double>>;
    constexpr auto tag = lanes_of::tag;
    constexpr auto site_tag = lanes_of::site_tag;
    const hn::Rebind<std::int32_t, lanes_of::tag_of> half;
    const hn::Rebind<std::uint8_t, lanes_of::tag_of> byte;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    std::int64_t x = 0;
    for (; x + lanes <= r.count; x += lanes) {
        lanes_of::cells c{hn::LoadU(tag, r.value + x), hn::LoadU(site_tag, r.site + x)};
        if (r.differs != nullptr) {
            const auto flag = hn::PromoteTo(site_tag, hn::PromoteTo(half, hn::LoadU(byte, r.differs + x)));
            const auto same = hn::Eq(flag, hn::Zero(site_tag));
            c.value = hn::IfThenElse(hn::RebindMask(tag, same), c.value, hn::Zero(tag));
            c.site = hn::IfThenElse(same, c.site, hn::LoadU(site_tag, r.own_site + x));
        }
        c.value = hn::Add(c.value, hn::LoadU(tag, r.cost + x));
        const lanes_of::cells best{hn::LoadU(tag, r.best + x), hn::LoadU(site_tag, r.best_site + x)},
            nearer = lanes_of::nearer(c, best);
        hn::StoreU(nearer.value, tag, r.best + x), hn::StoreU(nearer.site, site_tag, r.best_site + x);
    }
    return x;
}

// Plain loops, which the compiler vectorises for this instruction set.

template <class L>
void shift(const row_candidates<L>& r) {
    const L* HWY_RESTRICT const value = r.value;
    const L* HWY_RESTRICT const own = r.own;
    const L* HWY_RESTRICT const cost = r.cost;
    L* HWY_RESTRICT const best = r.best;
    if (r.best_site == nullptr) {
        if (r.differs == nullptr) {
            for (std::int64_t x = 0; x < r.count; ++x) best[x] = std::min(best[x], sum(value[x], cost[x]));
        } else {
            for (std::int64_t x = 0; x < r.count; ++x)
                best[x] = std::min(best[x], sum(r.differs[x] != 0 ? own[x] : value[x], cost[x]));
        }
        return;
    }
    std::int64_t* HWY_RESTRICT const best_site = r.best_site;
    const auto take = [&](std::int64_t x, L candidate, std::int64_t site) {
        const bool nearer = (candidate < best[x]) | ((candidate == best[x]) & (site < best_site[x]));
        best[x] = nearer ? candidate : best[x], best_site[x] = nearer ? site : best_site[x];
    };
    std::int64_t done = 0;
    if constexpr (std::is_same_v<L, double>) done = shift_sites(r);
    if (r.differs == nullptr) {
        for (std::int64_t x = done; x < r.count; ++x) take(x, sum(value[x], cost[x]), r.site[x]);
    } else {
        for (std::int64_t x = done; x < r.count; ++x) {
            const bool other = r.differs[x] != 0;
            take(x, sum(other ? L{0} : value[x], cost[x]), other ? r.own_site[x] : r.site[x]);
        }
    }
}
void shift16(const row_candidates<std::uint16_t>& r) { shift(r); }
void shift32(const row_candidates<std::int32_t>& r) { shift(r); }
void shift64(const row_candidates<std::int64_t>& r) { shift(r); }
void shift_real(const row_candidates<double>& r) { shift(r); }

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(shift16);
HWY_EXPORT(shift32);
HWY_EXPORT(shift64);
HWY_EXPORT(shift_real);

namespace {

/// A last axis of few cells leaves half of a tile empty, so earlier axes join until a row has least_row cells; longer
/// axes have too many shifts. (20,)*5 takes 17 ms for distances with one axis and 26 with two.
constexpr std::int64_t least_axis = 16, least_row = 32, most_cells = 32;

template <class L>
void relax(const row_candidates<L>& r) {
    if constexpr (sizeof(L) == 2) HWY_DYNAMIC_DISPATCH(shift16)(r);
    else if constexpr (sizeof(L) == 4) HWY_DYNAMIC_DISPATCH(shift32)(r);
    else if constexpr (std::is_same_v<L, double>) HWY_DYNAMIC_DISPATCH(shift_real)(r);
    else HWY_DYNAMIC_DISPATCH(shift64)(r);
}

}  // namespace

int row_axis_of(const plan& p) {
    int axis = p.rank - 1;
    std::int64_t length = p.size[static_cast<std::size_t>(axis)];
    if (p.weighted || length >= least_axis) return axis;
    while (length < least_row && axis > p.first_axis && p.size[static_cast<std::size_t>(axis - 1)] <= most_cells)
        length *= p.size[static_cast<std::size_t>(--axis)];
    return axis;
}

template <class T>
short_rows<T>::short_rows(const plan& p, int first_axis, double scale) : background_(p.background) {
    for (int axis = first_axis; axis < p.rank; ++axis) length_ *= p.size[static_cast<std::size_t>(axis)];
    cells_ = length_ * rows_together(length_);
    own_site_.assign(static_cast<std::size_t>(cells_), 0);
    for (int axis = p.rank - 1; axis >= first_axis; --axis) {
        const auto i = static_cast<std::size_t>(axis);
        const std::int64_t size = p.size[i], inner = cells_between(p.size.data(), axis + 1, p.rank);
        const axis_terms<lane> terms(scale * p.weight[i], p.half_cell, size, size - 1);
        const auto at = [&](std::int64_t x) { return x / inner % size; };
        for (std::int64_t x = 0; x < cells_; ++x) own_site_[static_cast<std::size_t>(x)] += at(x) << p.keys.shift[axis];
        margin_ = std::max(margin_, (size - 1) * inner);
        auto& shifts = axes_.emplace_back();
        for (std::int64_t k = 1 - size; k < size; ++k) {
            if (k == 0) continue;
            const std::int64_t far = std::abs(k);
            const bool round = p.borders[i] == border::periodic;
            row_shift<lane> one{k * inner, host_scratch<lane>(cells_)};
            for (std::int64_t x = 0; x < cells_; ++x)
                one.cost.get()[x] = at(x) + k < 0 || at(x) + k >= size
                                        ? number<lane>::infinite
                                        : terms.get()[round ? std::min(far, size - far) : far];
            shifts.push_back(std::move(one));
        }
        border_.emplace_back(p.borders[i] == border::closed && !number<T>::sited ? cells_ : 0);
        for (std::int64_t x = 0; x < cells_ && border_.back().get() != nullptr; ++x)
            border_.back().get()[x] = terms.cost().of(std::min(at(x) + 1, size - at(x)));
    }
    own_ = host_scratch<lane>(cells_ + 2 * margin_);
    std::fill_n(own_.get(), cells_ + 2 * margin_, lane{0});
    if constexpr (number<T>::sited && !number<T>::wide)
        for (std::int64_t x = 0; x < cells_; ++x)
            own_.get()[margin_ + x] = static_cast<lane>(own_site_[static_cast<std::size_t>(x)]);
}

template <class T>
std::int64_t short_rows<T>::bytes(const plan& p, int first_axis) {
    const std::int64_t length = cells_between(p.size.data(), first_axis, p.rank);
    std::int64_t shifts = 0;
    for (int axis = first_axis; axis < p.rank; ++axis) shifts += 2 * p.size[static_cast<std::size_t>(axis)];
    return length * rows_together(length) * (shifts + 6) * static_cast<std::int64_t>(sizeof(lane));
}

template <class T>
short_rows<T>::scratch::scratch(std::int64_t length) {
    const std::int64_t cells = length * rows_together(length);
    value_ = host_scratch<lane>(cells), best_ = host_scratch<lane>(cells);
    classes = host_scratch<std::uint8_t>(8 * cells);
    differs = host_scratch<std::uint8_t>(cells + row_slack), bits = host_scratch<std::uint8_t>(cells + row_slack);
    if (number<T>::wide) site_ = host_scratch<std::int64_t>(cells), best_site_ = host_scratch<std::int64_t>(cells);
}

template <class T>
void short_rows<T>::start(std::int64_t cells, int bytes, bool runs, scratch& s) const {
    zeros(s.classes.get(), bytes, cells, 0, s.differs.get(), s.bits.get());
    for (std::int64_t x = 0; x < cells; ++x) {
        const bool zero = s.differs.get()[x] != 0, site = runs ? background_ && zero : !zero;
        s.value_.get()[x] = site ? own_.get()[margin_ + x] : number<lane>::infinite;
        if constexpr (number<T>::wide)
            s.site_.get()[x] = site ? own_site_[static_cast<std::size_t>(x)] : no_key<std::int64_t>;
    }
}

template <class T>
void short_rows<T>::solve(std::int64_t rows, int bytes, bool runs, scratch& s) const {
    const std::int64_t cells = rows * length_;
    start(cells, bytes, runs, s);
    const std::uint8_t* const from = s.classes.get();
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        std::copy_n(s.value_.get(), cells, s.best_.get());
        if (number<T>::wide) std::copy_n(s.site_.get(), cells, s.best_site_.get());
        for (const row_shift<lane>& one : axes_[axis]) {
            const std::int64_t k = one.cells, first = std::max<std::int64_t>(-k, 0),
                               last = cells - std::max<std::int64_t>(k, 0);
            if (runs)
                differing(from + first * bytes, from + (first + k) * bytes, bytes, last - first, 0, s.differs.get(),
                          s.bits.get());
            row_candidates<lane> r;
            r.count = last - first, r.cost = one.cost.get() + first, r.differs = runs ? s.differs.get() : nullptr;
            r.value = s.value_.get() + first + k, r.own = own_.get() + margin_ + first + k;
            r.best = s.best_.get() + first;
            if constexpr (number<T>::wide) {
                r.site = s.site_.get() + first + k, r.own_site = own_site_.data() + first + k;
                r.best_site = s.best_site_.get() + first;
            }
            relax(r);
        }
        if (const lane* const border = border_[axis].get(); border != nullptr)
            for (std::int64_t x = 0; x < cells; ++x) s.best_.get()[x] = std::min(s.best_.get()[x], border[x]);
        std::swap(s.value_, s.best_), std::swap(s.site_, s.best_site_);
    }
}

template <class T>
void short_rows<T>::put(std::int64_t row, const scratch& s, T* to, std::int64_t tile_pitch) const {
    constexpr int columns = number<T>::columns;
    for (std::int64_t x = 0; x < length_; x += columns, to += tile_pitch)
        for (int c = 0; c < columns; ++c) {
            const std::int64_t at = row * length_ + std::min(x + c, length_ - 1);
            reinterpret_cast<lane*>(to)[c] = s.value_.get()[at];
            if constexpr (number<T>::wide) reinterpret_cast<std::int64_t*>(to)[columns + c] = s.site_.get()[at];
        }
}

template class short_rows<std::uint16_t>;
template class short_rows<std::int32_t>;
template class short_rows<double>;
template class short_rows<packed_site>;
template class short_rows<wide_site<std::int64_t>>;
template class short_rows<wide_site<double>>;

}  // namespace nearfield::exact
#endif
