// Two searches along a line. Near cells first: outward from all cells of a vector together, loading the line shifted by
// 1, 2, 3, ... cells to either side, until nothing farther can win. If that takes long, blocks: the winners of a
// block's two ends bound those of all cells between them (core.hpp), and of the cells between the winners only those
// that could win somewhere in the block relax it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exact/core.hpp"
#include "exact/host_lanes.hpp"
#include "exact/host_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

/// Cells to either side before blocks cost less; fewer after a vector that needed blocks. 256^3, 0.01 % sites, with 12,
/// 16, 24, 32, 48 and 64: 70, 71, 54, 48, 47 and 48 ms.
constexpr std::int64_t near_after_far = 4;
constexpr std::int64_t near_cells = 32;
/// Lines with at most this number of cells with a value are searched by relaxing all with each (4096^2 with one site:
/// 20 ms instead of 66).
constexpr int few_cells = 12;
static_assert(near_cells <= row_padding && near_cells % 2 == 0 && near_after_far % 2 == 0);

template <class N>
using tag_of = hn::CappedTag<N, 64 / sizeof(N)>;

template <class N>
HWY_INLINE hn::Vec<tag_of<N>> plus(hn::Vec<tag_of<N>> a, hn::Vec<tag_of<N>> b) {
    if constexpr (sizeof(N) == 2) return hn::SaturatedAdd(a, b);
    else return hn::Add(a, b);
}

template <class N>
void fold(const fold_of_rows<N>& f) {
    const tag_of<N> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const std::int64_t above = std::min(f.row, f.window), below = std::min(f.rows - 1 - f.row, f.window);
    const std::int64_t both = std::min(above, below), most = std::max(above, below);
    const std::int64_t one_way = above > below ? -f.pitch : f.pitch;
    const N* const here = f.value + f.row * f.pitch;
    for (std::int64_t x = 0;;) {
        auto best = hn::LoadU(tag, here + x);
        const auto settled = [&](std::int64_t r) {
            const auto term = hn::Set(tag, f.term[r]);
            return hn::AllTrue(tag, hn::Eq(hn::Max(best, term), term));
        };
        const auto look = [&](std::int64_t r, const N* up, const N* down) {
            best = hn::Min(best, plus<N>(hn::Min(hn::LoadU(tag, up), hn::LoadU(tag, down)), hn::Set(tag, f.term[r])));
        };
        // Tests after every second row: a test costs as much as half a row.
        const N *up = here + x - f.pitch, *down = here + x + f.pitch;
        std::int64_t r = 1;
        for (; r < both; r += 2, up -= 2 * f.pitch, down += 2 * f.pitch) {
            if (settled(r)) break;
            look(r, up, down);
            look(r + 1, up - f.pitch, down + f.pitch);
        }
        if (r == both && !settled(r)) look(r, up, down), ++r;
        if (r > both) {
            for (const N* at = here + x + r * one_way; r <= most && !settled(r); ++r, at += one_way) look(r, at, at);
        }
        hn::StoreU(best, tag, f.best + x);
        if (x + lanes >= f.count) return;
        x = std::min(x + lanes, f.count - lanes);
    }
}
void fold16(const fold_of_rows<std::uint16_t>& f) { fold(f); }
void fold32(const fold_of_rows<std::int32_t>& f) { fold(f); }

template <class N>
class line {
    using values = hn::Vec<tag_of<N>>;
    static constexpr tag_of<N> tag{};

    struct winner {
        std::int64_t query = -1, at = 0;  ///< the cell whose winner this is, and the winner's position
        N value{};
    };

public:
    explicit line(const line_search<N>& s) : s_(s), lanes_(static_cast<std::int64_t>(hn::Lanes(tag))) {
        while (most_near_ < near_cells && s.term[most_near_ + 1] <= s.limit) most_near_ += 2;
        all_near_ = s.term[most_near_ + 1] > s.limit;
        near_ = most_near_;
    }

    N solve() {
        const bool by_cells = find_cells();
        values most = hn::Zero(tag);
        for (std::int64_t x = 0;;) {
            values best = hn::LoadU(tag, s_.value + x);
            if (!known(x, best)) {
                best = by_cells ? from_cells(x, best) : from_line(x, best);
                if constexpr (sizeof(N) > 2) best = hn::Min(best, hn::Set(tag, none<N>));
            }
            hn::StoreU(best, tag, s_.best + x);
            most = hn::Max(most, best);
            if (x + lanes_ >= s_.count) break;
            x = std::min(x + lanes_, s_.count - lanes_);
        }
        return hn::GetLane(hn::MaxOfLanes(tag, most));
    }

private:
    /// Lists the cells that have a value; returns false if there are many.
    bool find_cells() {
        for (std::int64_t x = 0; x < s_.count; x += lanes_) {
            std::uint64_t some = below(hn::LoadU(tag, s_.value + x), hn::Set(tag, none<N>));
            if (cells_ + std::popcount(some) > few_cells) return false;
            for (; some != 0; some &= some - 1) cell_[cells_++] = x + std::countr_zero(some);
        }
        return true;
    }
    HWY_INLINE values from_cells(std::int64_t x, values best) const {
        for (int k = 0; k < cells_; ++k) best = hn::Min(best, candidate(x, cell_[k]));
        return best;
    }

    HWY_INLINE values from_line(std::int64_t x, values best) {
        if (near(x, best)) {
            near_ = most_near_;
            return best;
        }
        near_ = std::min(near_after_far, most_near_);
        return far(x, best);
    }

    /// True if all of these cells are known from a search in narrower numbers.
    HWY_INLINE bool known(std::int64_t x, values& best) const {
        if constexpr (sizeof(N) > 2) {
            if (s_.known == nullptr) return false;
            const auto found = hn::PromoteTo(tag, hn::LoadU(hn::Rebind<narrower<N>, tag_of<N>>(), s_.known + x));
            const values most = hn::Set(tag, N{s_.known_up_to});
            if (!hn::AllTrue(tag, hn::Eq(hn::Max(found, most), most))) return false;
            best = found;
            return true;
        }
        return false;
    }

    /// Returns false if cells farther away may be nearer. Tests after every second step: a test costs half a step.
    HWY_INLINE bool near(std::int64_t x, values& best) const {
        const N* const here = s_.value + x;
        const auto settled = [&](std::int64_t r) {
            const values term = hn::Set(tag, s_.term[r]);
            return hn::AllTrue(tag, hn::Eq(hn::Max(best, term), term));
        };
        const auto look = [&](std::int64_t r) {
            const values nearer = hn::Min(hn::LoadU(tag, here - r), hn::LoadU(tag, here + r));
            best = hn::Min(best, plus<N>(nearer, hn::Set(tag, s_.term[r])));
        };
        for (std::int64_t r = 1; r <= near_; r += 2) {
            if (settled(r)) return true;
            look(r);
            look(r + 1);
        }
        return all_near_ || settled(near_ + 1);
    }

    HWY_NOINLINE values far(std::int64_t x, values best) {
        if (blocks_ == 0) find_least();
        const std::int64_t end = std::min(x + lanes_, s_.count - 1);
        // The line's last vector overlaps the one before it, so that the last winner may belong to a later cell.
        const winner first = last_.query == x ? last_ : winner_of(x, last_.query < x ? last_ : winner{});
        last_ = winner_of(end, first);
        best = hn::Min(best, candidate(x, first.at));
        if (last_.at == first.at) return best;
        best = hn::Min(best, candidate(x, last_.at));
        return between(x, first.at + 1, last_.at - 1, best);
    }

    HWY_INLINE values candidate(std::int64_t x, std::int64_t p) const {
        return plus<N>(hn::Set(tag, s_.value[p]), hn::LoadU(tag, s_.term + (x - p)));
    }

    /// Computes the least value of each block of the line.
    void find_least() {
        blocks_ = (s_.count + lanes_ - 1) / lanes_;
        for (std::int64_t j = 0; j < blocks_; ++j)
            s_.least[j] = hn::GetLane(hn::MinOfLanes(tag, hn::LoadU(tag, s_.value + j * lanes_)));
        std::fill_n(s_.least + blocks_, lanes_, none<N>);
    }

    /// Returns the winner of cell q, which does not lie before that of an earlier cell, `before`. Searches only blocks
    /// whose least value could win from the position in the block nearest to q.
    winner winner_of(std::int64_t q, const winner& before) const {
        winner w{q, std::max(q, before.at), {}};
        w.value = sum(w.at, q);
        if (const N again = sum(before.at, q); again < w.value) w.value = again, w.at = before.at;
        const std::int64_t own = q / lanes_;
        for (std::int64_t j = before.at / lanes_; j < blocks_; j += lanes_) {
            // The first ones of these are the nearest to q, or all are to its left.
            if (j > own && s_.gap[j - own] >= w.value) break;
            const values bounds = plus<N>(hn::LoadU(tag, s_.least + j), hn::LoadU(tag, s_.gap + (j - own)));
            for (std::uint64_t open = below(bounds, hn::Set(tag, w.value)); open != 0; open &= open - 1)
                look_into(j + std::countr_zero(open), q, w);
        }
        // An unknown sum does not identify the winner, but a winner that is known elsewhere does not lie behind this
        // position.
        if (w.value >= unknown<N>) w.at = std::max(q, before.at);
        return w;
    }

    N sum(std::int64_t p, std::int64_t q) const {
        return hn::GetLane(plus<N>(hn::Set(tag, s_.value[p]), hn::Set(tag, s_.term[p - q])));
    }

    HWY_INLINE void look_into(std::int64_t block, std::int64_t q, winner& w) const {
        const std::int64_t p = block * lanes_;
        const values sums = plus<N>(hn::LoadU(tag, s_.value + p), hn::LoadU(tag, s_.term + (p - q)));
        if (below(sums, hn::Set(tag, w.value)) == 0) return;
        w.value = hn::GetLane(hn::MinOfLanes(tag, sums));
        w.at = p + hn::FindFirstTrue(tag, hn::Eq(sums, hn::Set(tag, w.value)));
    }

    /// Returns one bit for each lane of `a` that is less than `b`. It is read back as wide as it is written: a wider
    /// load would wait until the store has left the core.
    static HWY_INLINE std::uint64_t below(values a, values b) {
        constexpr std::size_t lanes = hn::MaxLanes(tag);
        using word = std::conditional_t<lanes == 32, std::uint32_t,
                                        std::conditional_t<lanes == 16, std::uint16_t, std::uint8_t>>;
        static_assert(lanes <= 8 || lanes == 16 || lanes == 32);
        std::uint8_t bits[8];
        hn::StoreMaskBits(tag, hn::Not(hn::Eq(hn::Max(a, b), a)), bits);
        word all;
        std::memcpy(&all, bits, sizeof(all));
        return all;
    }

    /// Relaxes the block at x with the cells [from, to] that could win there, whose values are at most `best`.
    HWY_INLINE values between(std::int64_t x, std::int64_t from, std::int64_t to, values best) const {
        const values most = hn::Set(tag, hn::GetLane(hn::MaxOfLanes(tag, best)));
        const std::int64_t last = x + lanes_ - 1;
        for (std::int64_t p = from; p <= to; p += lanes_) {
            // The block's cell nearest to each candidate: an end, or the candidate's own.
            values least = hn::LoadU(tag, s_.value + p);
            if (p + lanes_ <= x) least = plus<N>(least, hn::LoadU(tag, s_.term + (p - x)));
            else if (p > last) least = plus<N>(least, hn::LoadU(tag, s_.term + (p - last)));
            std::uint64_t open = below(least, most);
            const std::int64_t n = std::min(to - p + 1, lanes_);
            if (n < lanes_) open &= (std::uint64_t{1} << n) - 1;
            if (2 * std::popcount(open) > n) {
                for (std::int64_t k = 0; k < n; ++k) best = hn::Min(best, candidate(x, p + k));
            } else {
                for (; open != 0; open &= open - 1) best = hn::Min(best, candidate(x, p + std::countr_zero(open)));
            }
        }
        return best;
    }

    const line_search<N>& s_;
    const std::int64_t lanes_;
    std::int64_t cell_[few_cells];
    int cells_ = 0;
    std::int64_t blocks_ = 0;
    std::int64_t most_near_ = 0;  ///< near_cells, or less if the limit allows it
    bool all_near_ = false;       ///< the limit allows it: nothing farther matters
    std::int64_t near_ = 0;
    winner last_;
};

std::uint16_t line16(const line_search<std::uint16_t>& s) { return line<std::uint16_t>(s).solve(); }
std::int32_t line32(const line_search<std::int32_t>& s) { return line<std::int32_t>(s).solve(); }
std::int64_t line64(const line_search<std::int64_t>& s) { return line<std::int64_t>(s).solve(); }

template <class N>
void gaps(const N* term, std::int64_t count, N* gap) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag_of<N>()));
    const std::int64_t most = count + row_padding;
    for (std::int64_t k = 0; k <= most; ++k)
        gap[k] = gap[-k] = k == 0 ? N{0} : term[std::min((k - 1) * lanes + 1, most)];
}
void gaps16(const std::uint16_t* term, std::int64_t count, std::uint16_t* gap) { gaps(term, count, gap); }
void gaps32(const std::int32_t* term, std::int64_t count, std::int32_t* gap) { gaps(term, count, gap); }
void gaps64(const std::int64_t* term, std::int64_t count, std::int64_t* gap) { gaps(term, count, gap); }

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(fold16);
HWY_EXPORT(fold32);
HWY_EXPORT(line16);
HWY_EXPORT(line32);
HWY_EXPORT(line64);
HWY_EXPORT(gaps16);
HWY_EXPORT(gaps32);
HWY_EXPORT(gaps64);

void fold_rows(const fold_of_rows<std::uint16_t>& f) { HWY_DYNAMIC_DISPATCH(fold16)(f); }
void fold_rows(const fold_of_rows<std::int32_t>& f) { HWY_DYNAMIC_DISPATCH(fold32)(f); }
std::uint16_t search_line(const line_search<std::uint16_t>& s) { return HWY_DYNAMIC_DISPATCH(line16)(s); }
std::int32_t search_line(const line_search<std::int32_t>& s) { return HWY_DYNAMIC_DISPATCH(line32)(s); }
std::int64_t search_line(const line_search<std::int64_t>& s) { return HWY_DYNAMIC_DISPATCH(line64)(s); }
void block_gaps(const std::uint16_t* term, std::int64_t count, std::uint16_t* gap) {
    HWY_DYNAMIC_DISPATCH(gaps16)(term, count, gap);
}
void block_gaps(const std::int32_t* term, std::int64_t count, std::int32_t* gap) {
    HWY_DYNAMIC_DISPATCH(gaps32)(term, count, gap);
}
void block_gaps(const std::int64_t* term, std::int64_t count, std::int64_t* gap) {
    HWY_DYNAMIC_DISPATCH(gaps64)(term, count, gap);
}

}  // namespace nearfield::exact
#endif
