// Bounds of a tile's rows in blocks of 16, 256, 4096 and so on, for searches in which winners do not bound each other.
// To be included after "exact/host_lanes.hpp"; read once for each instruction set.

namespace nearfield::exact::HWY_NAMESPACE {

/// The best of some rows' own values, lane by lane: the least value, the least key of the rows that have it, and the
/// least value of the others.
template <class Values, class Keys>
struct block_bounds {
    Values least;
    Keys key;
    Values others;
};

/// Blocks of the rows of a group of lines. A block of level n has 16^n rows and starts at a multiple of that.
template <class V, class K, bool Keyed>
class row_blocks {
    using value_tag = hn::CappedTag<V, tile_align / sizeof(V)>;
    using key_tag = hn::Rebind<K, value_tag>;
    using values = hn::Vec<value_tag>;
    using keys = hn::Vec<key_tag>;
    using bounds = block_bounds<values, keys>;
    static_assert(sizeof(V) == sizeof(K));
    static constexpr value_tag of_value{};
    static constexpr key_tag of_key{};
    static constexpr int level_bits = 4, most_levels = 16;
    static constexpr std::int64_t numbers = Keyed ? 3 : 1;  // vectors of a block: together at most a fifth of the tile

public:
    /// Uses the tile's scratch of winners.
    row_blocks(const tile<V, K>& t, std::int64_t line) : t_(t), line_(line) {
        V* free = t.winner;
        for (std::int64_t count = t.rows >> level_bits; count > 0; count >>= level_bits) {
            level_[++top_] = free;
            for (std::int64_t block = 0; block < count; ++block, free += numbers * lanes()) {
                bounds all = of(top_ - 1, block << level_bits);
                for (std::int64_t i = 1; i < std::int64_t{1} << level_bits; ++i)
                    all = join(all, of(top_ - 1, (block << level_bits) + i));
                keep(all, free);
            }
        }
    }

    static std::int64_t rows_of(int level) { return std::int64_t{1} << (level * level_bits); }

    /// Level of the longest block that has an end at `edge` and at most `room` rows.
    [[nodiscard]] int level_at(std::int64_t edge, std::int64_t room) const {
        int level = 0;
        while (level < top_ && edge % rows_of(level + 1) == 0 && rows_of(level + 1) <= room) ++level;
        return level;
    }

    /// False when no row of the block that starts at `row` can change a lane of (value, key), provided that each adds
    /// `extra` or more. Rounded sums never decrease when a term grows. So a row with the least value offers that value
    /// plus `extra`, or more; at equality it loses if the least key of these rows loses. Any other row offers `others`
    /// plus `extra`, or more. Nothing at an equal value wins against no_key, the least key of all.
    HWY_INLINE bool may_win(int level, std::int64_t row, values extra, values value, keys key) const {
        const bounds b = of(level, row >> (level * level_bits));
        const values offer = hn::Add(b.least, extra);
        if constexpr (Keyed) {
            const auto first =
                hn::RebindMask(of_key, hn::And(hn::Eq(value, offer), hn::Lt(value, hn::Add(b.others, extra))));
            const auto key_loses = hn::And(first, hn::Not(hn::Lt(b.key, key)));
            const auto any_loses =
                hn::And(hn::RebindMask(of_key, hn::Eq(value, offer)), hn::Eq(key, hn::Set(of_key, no_key<K>)));
            const auto farther = hn::RebindMask(of_key, hn::Lt(value, offer));
            return !hn::AllTrue(of_key, hn::Or(farther, hn::Or(key_loses, any_loses)));
        } else {
            return !hn::AllFalse(of_value, hn::Lt(offer, value));
        }
    }

private:
    static std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(of_value)); }

    HWY_INLINE bounds of(int level, std::int64_t block) const {
        bounds b{{}, {}, hn::Set(of_value, no_site<V>())};
        if (level == 0) {
            b.least = hn::LoadU(of_value, t_.value + block * t_.pitch + line_);
            if constexpr (Keyed) b.key = hn::LoadU(of_key, t_.key + block * t_.pitch + line_);
            return b;
        }
        const V* const from = level_[level] + block * numbers * lanes();
        b.least = hn::LoadU(of_value, from);
        if constexpr (Keyed) {
            b.key = hn::BitCast(of_key, hn::LoadU(of_value, from + lanes()));
            b.others = hn::LoadU(of_value, from + 2 * lanes());
        }
        return b;
    }

    HWY_INLINE bounds join(bounds a, const bounds& b) const {
        if constexpr (Keyed) {
            const auto same = hn::Eq(a.least, b.least);
            const values loser = hn::IfThenElse(same, hn::Set(of_value, no_site<V>()), hn::Max(a.least, b.least));
            const values rest = hn::Min(hn::Min(a.others, b.others), loser);
            const auto tie_wins = hn::And(hn::RebindMask(of_key, same), hn::Lt(b.key, a.key));
            const auto wins = hn::Or(hn::RebindMask(of_key, hn::Lt(b.least, a.least)), tie_wins);
            a.key = hn::IfThenElse(wins, b.key, a.key);
            a.others = rest;
        }
        a.least = hn::Min(a.least, b.least);
        return a;
    }

    HWY_INLINE void keep(const bounds& b, V* to) const {
        hn::StoreU(b.least, of_value, to);
        if constexpr (Keyed) {
            hn::StoreU(hn::BitCast(of_value, b.key), of_value, to + lanes());
            hn::StoreU(b.others, of_value, to + 2 * lanes());
        }
    }

    const tile<V, K>& t_;
    std::int64_t line_;
    const V* level_[most_levels + 1]{};
    int top_ = 0;
};

}  // namespace nearfield::exact::HWY_NAMESPACE
