// Geodesic distances on the host: bucket queues within tiles, and tiles in the order of their least waiting cost. Keys
// only fall until the local equation holds everywhere, so the result does not depend on the order of work.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>

#include "base/check.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "geodesic/buckets.hpp"
#include "geodesic/rows.hpp"
#include "geodesic/schedule.hpp"

namespace nearfield::geodesics {
namespace {

template <class Key>
class solver {
public:
    using word = typename Key::word;

    solver(const host& on, const problem& p)
        : p_(p),
          t_(p.where),
          team_(on, 4 * t_.tiles * t_.cells_a_tile()),
          key_(t_.tiles * t_.cells_a_tile()),
          kind_(t_.tiles * t_.cells_a_tile()),
          cost_(p.cost.wanted() ? t_.tiles * t_.cells_a_tile() : 0),
          tiles_(rehearsing() == nullptr ? t_.tiles : 0) {
        for (const step& each : p.steps) {
            quick_.push_back({each.offset, static_cast<std::uint32_t>(each.price), sides_of(each.by), &each});
            between_ = between_ || !each.between.empty();
        }
    }

    /// False if a path costs more than the key holds; then the caller takes a wider key.
    bool solve() {
        prepare();
        set_widths();
        tiles_.start_all();
        const std::int64_t threads = std::min<std::int64_t>(team_.threads(), t_.tiles);
        team_.for_each(threads, 1, 0, [&](std::int64_t, std::int64_t, int) {
            try {
                work();
            } catch (...) {
                tiles_.stop();
                throw;
            }
        });
        if (too_wide_) return false;
        write();
        return true;
    }

private:
    struct quick {
        std::int32_t offset;
        std::uint32_t price, sides;
        const step* whole;
    };

    [[nodiscard]] std::int64_t tiles_at_once() const {
        return std::max<std::int64_t>(1, (std::int64_t{1} << 15) >> t_.tile_bits);
    }

    // ---- the cells --------------------------------------------------------------------------------------------------

    void prepare() {
        const row_reader read(p_);
        team_.for_each(t_.tiles, tiles_at_once(), t_.cells_a_tile(), [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t tile = first; tile < last; ++tile) prepare_tile(read, tile);
        });
    }
    void prepare_tile(const row_reader& read, std::int64_t tile) {
        const std::int64_t base = tile << t_.tile_bits;
        std::uint32_t least = ~std::uint32_t{0}, most = 0;
        for_rows(t_, tile, [&](std::int32_t local, const std::int64_t* at, std::int64_t count) {
            std::uint8_t* const kind = kind_.get() + base + local;
            std::uint32_t* const cost = cost_.get() == nullptr ? nullptr : cost_.get() + base + local;
            read.cells(at, count, kind, cost);
            word* const key = key_.get() + base + local;
            const std::int64_t side = t_.side(t_.axes - 1);
            for (std::int64_t i = 0; i < side; ++i) key[i] = kind[i] == 0 ? word{0} : Key::unreached;
            for (std::int64_t i = 0; i < side && cost != nullptr; ++i) {
                least = std::min(least, kind[i] != 0 ? cost[i] : ~std::uint32_t{0});
                most = std::max(most, kind[i] != 0 ? cost[i] : 0);
            }
            read.seeds(at, count, [&](std::int64_t i, std::uint64_t number) {
                if (kind[i] == 0) return;
                key[i] = static_cast<word>(Key::seed_bits == 0 ? 0 : number);
                tiles_.start(tile, local + static_cast<std::int32_t>(i));
            });
        });
        lower(least_cost_, least), raise(most_cost_, most);
    }
    static void lower(std::atomic<std::uint32_t>& a, std::uint32_t by) {
        for (std::uint32_t now = a; by < now && !a.compare_exchange_weak(now, by);) {
        }
    }
    static void raise(std::atomic<std::uint32_t>& a, std::uint32_t to) {
        for (std::uint32_t now = a; to > now && !a.compare_exchange_weak(now, to);) {
        }
    }

    /// Sets the width of a bucket, and how far a tile may run ahead of the others, in cost.
    void set_widths() {
        std::uint64_t least = ~std::uint64_t{0}, most = 0;
        for (const quick& each : quick_) least = std::min<std::uint64_t>(least, each.price);
        for (const quick& each : quick_) most = std::max<std::uint64_t>(most, each.price);
        if (quick_.empty()) least = 1;
        one_price_ = !p_.cost.wanted() && !between_ && least == 1 && most == 1;
        if (p_.cost.wanted()) {
            const std::uint64_t ends = p_.both ? 2 : 1;
            least *= ends * std::max<std::uint32_t>(1, std::min(least_cost_.load(), most_cost_.load()));
            if (most * ends * most_cost_ >= std::uint64_t{1} << 31)
                fail(fmt::format("cost goes up to {}, so that a step costs {} times {}; prices end at 2^31 - 1",
                                 most_cost_.load(), most, ends * most_cost_));
            most *= ends * most_cost_;
        }
        width_ = static_cast<int>(std::bit_width(least)) - 1;
        while (most >> width_ > 61) ++width_;
        ahead_ = (std::max(least, most >> 6) << t_.bits[t_.axes - 1]) * ahead_sides;
    }
    static constexpr std::uint64_t ahead_sides = 2;

    // ---- a thread ---------------------------------------------------------------------------------------------------

    void work() {
        visit<word> v;
        buckets queue(width_);
        while (tiles_.take(v)) {
            settle(v, queue);
            tiles_.give(v);
            team_.go_on(queue.count_taken());
        }
    }

    /// Relaxes from a tile's waiting cells until all that wait cost much more than the first ones did.
    void settle(visit<word>& v, buckets& queue) {
        const std::int64_t base = v.tile << t_.tile_bits;
        word* const key = key_.get() + base;
        queue.start(v.least);
        for (const offer<word>& each : v.inbox)
            if (key[each.local] > each.key) key[each.local] = each.key, queue.push(each.local, each.cost);
        for (const std::int32_t local : v.waiting) queue.push(local, Key::cost(key[local]));
        v.inbox.clear(), v.waiting.clear();
        const auto cost_of = [&](std::int32_t local) { return Key::cost(key[local]); };
        std::int64_t origin[max_rank]{};
        t_.origin(v.tile, origin);
        const auto from_all = [&](const auto& use) {
            queue.run(v.least + ahead_, cost_of, [&](std::int32_t local, std::uint64_t cost) {
                if (cost > p_.most) return;
                if (cost > Key::most_cost) return stop_too_wide();
                use(local);
            });
        };
        if (one_price_ && v.least + ahead_ <= std::min(p_.most, Key::most_cost)) {
            if (quick_.size() == 4) return settle_levels<4>(v, origin, queue);
            if (quick_.size() == 6) return settle_levels<6>(v, origin, queue);
            if (quick_.size() == 8) return settle_levels<8>(v, origin, queue);
        }
        const auto spread_all = [&](auto between, auto costs) {
            from_all([&](std::int32_t local) {
                if (kind_.get()[base + local] == inner) spread<between(), costs()>(base, local, queue);
                else spread_rim<between(), costs()>(v, origin, local, queue);
            });
        };
        constexpr std::true_type yes;
        constexpr std::false_type no;
        if (p_.cost.wanted()) between_ ? spread_all(yes, yes) : spread_all(no, yes);
        else between_ ? spread_all(yes, no) : spread_all(no, no);
        v.left = queue.drain(v.waiting, cost_of);
    }
    /// settle() for steps that all cost 1.
    template <std::size_t Steps>
    void settle_levels(visit<word>& v, const std::int64_t* origin, buckets& queue) {
        const std::int64_t base = v.tile << t_.tile_bits;
        word* const key = key_.get() + base;
        const std::uint8_t* const kind = kind_.get() + base;
        std::array<std::int32_t, Steps> offsets;
        for (std::size_t s = 0; s < Steps; ++s) offsets[s] = quick_[s].offset;
        const auto cost_of = [=](std::int32_t local) { return Key::cost(key[local]); };
        const auto spread_inner = [=](std::int32_t local, std::int32_t* end) {
            const word offered = static_cast<word>(key[local] + Key::of(1));
            for (std::size_t s = 0; s < Steps; ++s) {
                const std::int32_t to = local + offsets[s];
                if (offered < key[to]) key[to] = offered, *end++ = to;
            }
            return end;
        };
        queue.run_levels(
            v.least + ahead_, Steps, cost_of, [=](std::int32_t local) { return kind[local] == inner; }, spread_inner,
            [&](std::int32_t local) { spread_rim<false, false>(v, origin, local, queue); });
        v.left = queue.drain(v.waiting, cost_of);
    }
    void stop_too_wide() {
        too_wide_ = true;
        tiles_.stop();
    }

    [[nodiscard]] std::uint64_t price_of(const quick& s, std::int64_t from, std::int64_t to) const {
        if (!p_.cost.wanted()) return s.price;
        return std::uint64_t{s.price} * (std::uint64_t{cost_.get()[to]} + (both_ ? cost_.get()[from] : 0));
    }

    template <bool Between, bool Costs>
    void spread(std::int64_t base, std::int32_t local, buckets& queue) {
        word* const key = key_.get() + base;
        const word own = key[local];
        for (const quick& s : quick_) relax<Between, Costs>(base, key, own, local, s, queue);
    }
    template <bool Between, bool Costs>
    void relax(std::int64_t base, word* key, word own, std::int32_t local, const quick& s, buckets& queue) {
        const std::int32_t to = local + s.offset;
        std::uint64_t price = s.price;
        if constexpr (Costs) {
            const std::uint32_t* const cost = cost_.get() + base;
            price *= std::uint64_t{cost[to]} + (both_ ? cost[local] : 0);
        }
        const word offered = static_cast<word>(own + Key::of(price));
        if (offered >= key[to]) return;
        if constexpr (Between)
            for (const std::int32_t step : s.whole->between_offset)
                if (kind_.get()[base + local + step] == 0) return;
        key[to] = offered;
        queue.push(to, Key::cost(offered));
    }

    /// Relaxes the steps of a cell that has neighbours in other tiles or across a periodic end.
    template <bool Between, bool Costs>
    void spread_rim(visit<word>& v, const std::int64_t* origin, std::int32_t local, buckets& queue) {
        const std::int64_t base = v.tile << t_.tile_bits;
        word* const key = key_.get() + base;
        const word own = key[local];
        std::int64_t at[max_rank]{};
        for (int axis = 0; axis < t_.axes; ++axis) at[axis] = origin[axis] + t_.within(local, axis);
        const std::uint32_t near = sides_near(local, at);
        for (const quick& s : quick_) {
            if ((s.sides & near) == 0 || stays(local, at, s.whole->by)) {
                relax<Between, Costs>(base, key, own, local, s, queue);
                continue;
            }
            const std::int64_t to = neighbour(at, s.whole->by);
            if (to < 0 || kind_.get()[to] == 0 || !is_open(at, *s.whole)) continue;
            const word offered = static_cast<word>(own + Key::of(price_of(s, base + local, to)));
            const std::int64_t tile = to >> t_.tile_bits;
            const auto there = static_cast<std::int32_t>(to & (t_.cells_a_tile() - 1));
            if (tile != v.tile) v.outbox.push_back({tile, there, Key::cost(offered), offered});
            else if (offered < key[there]) key[there] = offered, queue.push(there, Key::cost(offered));
        }
    }
    /// The sides of a tile to which a step leads, a bit each: the lower and the upper one of each axis.
    [[nodiscard]] static std::uint32_t sides_of(const vector_of_step& by) {
        std::uint32_t sides = 0;
        for (std::size_t axis = 0; axis < by.size(); ++axis)
            sides |= (by[axis] < 0 ? 1U : by[axis] > 0 ? 2U : 0U) << 2 * axis;
        return sides;
    }
    /// The sides that a step may cross from this cell.
    [[nodiscard]] std::uint32_t sides_near(std::int32_t local, const std::int64_t* at) const {
        std::uint32_t sides = 0;
        for (int axis = t_.batch; axis < t_.axes; ++axis) {
            const std::int64_t there = t_.within(local, axis);
            if (there < p_.reach) sides |= 1U << 2 * axis;
            if (there >= t_.side(axis) - p_.reach || (t_.wraps[axis] && at[axis] >= t_.size[axis] - p_.reach))
                sides |= 2U << 2 * axis;
        }
        return sides;
    }
    /// True if a step ends in the same tile without wrapping around.
    [[nodiscard]] bool stays(std::int32_t local, const std::int64_t* at, const vector_of_step& by) const {
        for (int axis = t_.batch; axis < t_.axes; ++axis) {
            const std::int64_t there = t_.within(local, axis) + by[static_cast<std::size_t>(axis)];
            if (there < 0 || there >= t_.side(axis)) return false;
            if (t_.wraps[axis] && at[axis] + by[static_cast<std::size_t>(axis)] >= t_.size[axis]) return false;
        }
        return true;
    }
    [[nodiscard]] std::int64_t neighbour(const std::int64_t* at, const vector_of_step& by) const {
        std::int64_t to[max_rank]{};
        for (int axis = 0; axis < t_.axes; ++axis) {
            const std::int64_t size = t_.size[axis];
            to[axis] = at[axis] + by[static_cast<std::size_t>(axis)];
            if (to[axis] >= 0 && to[axis] < size) continue;
            if (!t_.wraps[axis]) return -1;
            to[axis] = (to[axis] % size + size) % size;
        }
        return t_.place_of(to);
    }
    [[nodiscard]] bool is_open(const std::int64_t* at, const step& s) const {
        for (const vector_of_step& by : s.between)
            if (const std::int64_t place = neighbour(at, by); place < 0 || kind_.get()[place] == 0) return false;
        return true;
    }

    // ---- the answer -------------------------------------------------------------------------------------------------

    void write() {
        team_.for_each(t_.tiles, tiles_at_once(), t_.cells_a_tile(), [&](std::int64_t first, std::int64_t last, int) {
            row_writer writer(p_);
            for (std::int64_t tile = first; tile < last; ++tile)
                for_rows(t_, tile, [&](std::int32_t local, const std::int64_t* at, std::int64_t count) {
                    const std::int64_t place = (tile << t_.tile_bits) + local;
                    writer.write(at, count, row_of_keys<Key>(key_.get() + place, kind_.get() + place, p_.most));
                });
        });
    }

    const problem& p_;
    const tiling& t_;
    workers team_;
    host_scratch<word> key_;
    host_scratch<std::uint8_t> kind_;
    host_scratch<std::uint32_t> cost_;
    schedule<word> tiles_;
    std::vector<quick> quick_;
    const bool both_ = p_.both;
    bool between_ = false, one_price_ = false;
    int width_ = 0;
    std::uint64_t ahead_ = 0;
    std::atomic<std::uint32_t> least_cost_{~std::uint32_t{0}}, most_cost_{0};
    std::atomic<bool> too_wide_{false};
};

template <class Narrow, class Wide>
void solve(const host& on, const problem& p, bool fits) {
    if (fits && solver<Narrow>(on, p).solve()) return;
    solver<Wide>(on, p).solve();
}

}  // namespace

void run(const host& on, const problem& p) {
    if (p.wants_seeds())
        solve<key<std::uint64_t, 32>, key<uint128, 64>>(on, p, p.image_cells() < std::uint64_t{1} << 32);
    else solve<key<std::uint32_t, 0>, key<std::uint64_t, 0>>(on, p, true);
}

}  // namespace nearfield::geodesics
