// Two raster passes on the host. A pass goes over tiles, which are pieces of rows. Each tile takes the offers of steps
// from earlier tiles, row by row in SIMD, and then scans along itself. Tiles whose coordinates have the same sum,
// weighted by 2^k, are independent, so threads take one such front after the other.
#include "chamfer/host.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "chamfer/core.hpp"

namespace nearfield::chamfer {
namespace {

constexpr std::int64_t tile_cells = 1024;
constexpr std::int64_t tiles_a_task = 4;
// A task reads or writes whole rows, of about this many cells together.
constexpr std::int64_t task_cells = 1 << 14;

using coordinates = std::array<std::int64_t, max_rank>;

/// The steps from one other row: a price for each of its three cells beside a cell, 0 for none.
template <class State>
struct row_step {
    std::array<int, max_rank> along{};  ///< direction, -1, 0 or 1, along all axes but the last
    std::int64_t cells = 0;             ///< distance of that row in memory, in cells
    bool own = true;                    ///< true if it is the cell's own row
    std::array<State, 3> price{};
};

/// Tiles of a pass, ordered so that each comes after the tiles it needs. Front f is [first[f], first[f + 1]).
struct fronts {
    std::vector<std::int64_t> tile;
    std::vector<std::int64_t> first;
};

template <class State, bool Watch, bool FirstFound>
class engine {
public:
    engine(const host& on, const problem& p, const any_input<host>& image, const chamfer_fields<host>& out)
        : p_(p),
          image_(image),
          out_(out),
          row_(p.size[last_axis()]),
          rows_(p.cells / row_),
          pieces_((row_ + tile_cells - 1) / tile_cells),
          crew_(on, 4 * p.cells) {
        const any_output<host>& lent = out.distance;
        if (sizeof(State) == 4 && is_contiguous(p.size.data(), lent.stride.data(), p.rank)) {
            state_ = static_cast<State*>(lent.data);
        } else {
            own_state_ = host_scratch<State>(p.cells);
            state_ = own_state_.get();
        }
        // Row numbers are counted as in sites: the last axis is most significant, so the first one varies fastest.
        std::int64_t step = 1;
        for (std::size_t axis = 0; axis < last_axis(); ++axis) number_step_[axis] = step, step *= p.size[axis];
    }

    void solve() {
        for_rows([this](std::int64_t row) { read(row); });
        const std::vector<row_step<State>> before = steps(0, middle_of(p_.rank)),
                                           after = steps(middle_of(p_.rank) + 1, three_to(p_.rank));
        const fronts order = crew_.threads() > 1 ? fronts_of_tiles() : fronts{};
        do {
            changed_.store(false, std::memory_order_relaxed);
            pass<false>(before, order);
            pass<true>(after, order);
        } while (Watch && changed_.load(std::memory_order_relaxed));
        for_rows([this](std::int64_t row) { write(row); });
    }

private:
    [[nodiscard]] std::size_t last_axis() const { return static_cast<std::size_t>(p_.rank - 1); }
    [[nodiscard]] State nothing() const { return state_of<State>(unreached(p_.dearest), 0xffffffffU); }

    template <class Body>
    void for_rows(const Body& body) {
        crew_.for_each(rows_, std::max<std::int64_t>(1, task_cells / row_), row_,
                       [&](std::int64_t first, std::int64_t last, int) {
                           for (std::int64_t row = first; row < last; ++row) body(row);
                       });
    }

    /// Coordinates of a row along all axes but the last.
    [[nodiscard]] coordinates place_of(std::int64_t row) const {
        coordinates at{};
        for (std::size_t axis = last_axis(); axis-- > 0;) at[axis] = row % p_.size[axis], row /= p_.size[axis];
        return at;
    }

    // ---- the image --------------------------------------------------------------------------------------------------

    void read(std::int64_t row) {
        switch (image_.type) {
            case dtype::boolean:
            case dtype::int8:
            case dtype::uint8: return read_as<std::uint8_t>(row);
            case dtype::int16:
            case dtype::uint16: return read_as<std::uint16_t>(row);
            case dtype::float16: return read_as<std::uint16_t>(row, 0x7fff);  // ignores the sign of zero
            case dtype::int32:
            case dtype::uint32: return read_as<std::uint32_t>(row);
            case dtype::float32: return read_as<std::uint32_t>(row, 0x7fffffff);
            case dtype::float64: return read_as<std::uint64_t>(row, 0x7fffffffffffffff);
            default: return read_as<std::uint64_t>(row);
        }
    }

    template <class Bits>
    void read_as(std::int64_t row, std::type_identity_t<Bits> looked_at = static_cast<Bits>(~Bits{0})) {
        const coordinates at = place_of(row);
        std::int64_t offset = 0, number = 0;
        for (std::size_t axis = 0; axis < last_axis(); ++axis)
            offset += at[axis] * image_.stride[axis], number += at[axis] * number_step_[axis];
        const Bits* cell = static_cast<const Bits*>(image_.data) + offset;
        State* to = state_ + row * row_;
        for (std::int64_t x = 0; x < row_; ++x, number += rows_) {
            Bits bits;
            std::memcpy(&bits, cell + x * image_.stride[last_axis()], sizeof(Bits));
            const bool is_zero = (bits & looked_at) == 0;
            to[x] = is_zero != p_.nonzero ? state_of<State>(0, static_cast<std::uint32_t>(number)) : nothing();
        }
    }

    // ---- passes -----------------------------------------------------------------------------------------------------

    /// Groups steps [first, last) by rows. The own row comes last for earlier cells, and first for later cells.
    [[nodiscard]] std::vector<row_step<State>> steps(std::int64_t first, std::int64_t last) const {
        std::vector<row_step<State>> found;
        std::int64_t group = -1;
        for (std::int64_t step = first; step < last; ++step) {
            const std::int32_t weight = p_.weight[static_cast<std::size_t>(step)];
            if (weight == 0) continue;
            if (step / 3 != group) {
                group = step / 3;
                row_step<State>& fresh = found.emplace_back();
                std::int64_t cells = row_;
                for (int axis = p_.rank - 2; axis >= 0; --axis) {
                    const int one = along(step, axis, p_.rank);
                    fresh.along[static_cast<std::size_t>(axis)] = one, fresh.cells += one * cells;
                    fresh.own = fresh.own && one == 0;
                    cells *= p_.size[static_cast<std::size_t>(axis)];
                }
            }
            found.back().price[static_cast<std::size_t>(step % 3)] = price_of<State>(weight);
        }
        return found;
    }

    template <bool Backward>
    void pass(const std::vector<row_step<State>>& by, const fronts& order) {
        const std::int64_t tiles = rows_ * pieces_;
        if (by.empty()) return;
        const auto one = [&](std::int64_t tile) { relax<Backward>(by, Backward ? tiles - 1 - tile : tile); };
        if (order.tile.empty()) return one_after_another(tiles, one);
        for (std::size_t f = 0; f + 1 < order.first.size(); ++f) {
            const std::int64_t start = order.first[f];
            crew_.for_each(order.first[f + 1] - start, tiles_a_task, tile_weight(),
                           [&](std::int64_t first, std::int64_t last, int) {
                               for (std::int64_t k = first; k < last; ++k)
                                   one(order.tile[static_cast<std::size_t>(start + k)]);
                           });
        }
    }
    [[nodiscard]] std::int64_t tile_weight() const { return std::max<std::int64_t>(1, row_ / pieces_); }

    template <class Body>
    void one_after_another(std::int64_t tiles, const Body& one) {
        const std::int64_t together = std::max<std::int64_t>(1, task_cells / tile_weight());
        for (std::int64_t start = 0; start < tiles; start += together) {
            const std::int64_t end = std::min(start + together, tiles);
            crew_.for_each(1, 1, (end - start) * tile_weight(), [&](std::int64_t, std::int64_t, int) {
                for (std::int64_t tile = start; tile < end; ++tile) one(tile);
            });
        }
    }

    template <bool Backward>
    void relax(const std::vector<row_step<State>>& by, std::int64_t tile) {
        const std::int64_t row = tile / pieces_, begin = tile % pieces_ * tile_cells;
        const std::int64_t end = std::min(begin + tile_cells, row_);
        const coordinates at = place_of(row);
        State* to = state_ + row * row_;
        bool changed = false;
        for (std::size_t k = 0; k < by.size(); ++k) {
            const row_step<State>& step = by[Backward ? by.size() - 1 - k : k];
            if (step.own) continue;
            bool inside = true;
            for (std::size_t axis = 0; axis < last_axis(); ++axis) {
                const std::int64_t there = at[axis] + step.along[axis];
                inside = inside && there >= 0 && there < p_.size[axis];
            }
            if (inside) changed |= take<Backward>(to, to + step.cells, step.price, begin, end);
        }
        const row_step<State>& own = Backward ? by.front() : by.back();
        if (own.own) changed |= run_along<Backward>(to, own.price[Backward ? 2 : 0], begin, end);
        if (Watch && changed) changed_.store(true, std::memory_order_relaxed);
    }

    /// Relaxes each cell of a row from three cells of another row.
    template <bool Backward>
    bool take(State* to, const State* from, const std::array<State, 3>& price, std::int64_t begin, std::int64_t end) {
        bool changed = false;
        for (int k = -1; k <= 1; ++k) {
            const int shift = Backward ? -k : k;
            const State more = price[static_cast<std::size_t>(shift + 1)];
            if (more == 0) continue;
            const std::int64_t first = std::max<std::int64_t>(begin, -shift), last = std::min(end, row_ - shift);
            const State* there = from + shift;
            for (std::int64_t x = first; x < last; ++x) {
                const State offer = there[x] + more;
                const bool taken = better<FirstFound>(offer, to[x]);
                if constexpr (Watch) changed |= taken;
                to[x] = taken ? offer : to[x];
            }
        }
        return changed;
    }

    template <bool Backward>
    bool run_along(State* to, State price, std::int64_t begin, std::int64_t end) {
        bool changed = false;
        constexpr std::int64_t on = Backward ? -1 : 1;
        std::int64_t x = Backward ? end - 1 : begin;
        const std::int64_t stop = Backward ? begin - 1 : end;
        if (x == (Backward ? row_ - 1 : 0)) x += on;
        for (State carried = x == stop ? 0 : to[x - on]; x != stop; x += on) {
            carried += price;
            const bool taken = better<FirstFound>(carried, to[x]);
            if constexpr (Watch) changed |= taken;
            carried = to[x] = taken ? carried : to[x];
        }
        return changed;
    }

    // ---- fronts -----------------------------------------------------------------------------------------------------

    /// Orders tiles by fronts. A tile needs tiles whose coordinates differ by -1, 0 or 1, first by -1. So their sums
    /// with weights 2^k, lightest for pieces of a row, are smaller. Empty if fronts are too short for the threads.
    [[nodiscard]] fronts fronts_of_tiles() const {
        std::int64_t count = pieces_;
        for (std::size_t axis = 0; axis < last_axis(); ++axis) count += (p_.size[axis] - 1) << (last_axis() - axis);
        const std::int64_t tiles = rows_ * pieces_;
        if (row_ < 16 || count * 2 > tiles) return {};
        fronts made;
        made.tile.resize(static_cast<std::size_t>(tiles));
        made.first.assign(static_cast<std::size_t>(count) + 1, 0);
        for (std::int64_t tile = 0; tile < tiles; ++tile) ++made.first[front_of(tile) + 1];
        for (std::size_t f = 1; f < made.first.size(); ++f) made.first[f] += made.first[f - 1];
        std::vector<std::int64_t> next(made.first.begin(), made.first.end() - 1);
        // Reverses the tiles of a front: a wrong dependence between two of them would then change the result.
        for (std::int64_t tile = tiles; tile-- > 0;) made.tile[static_cast<std::size_t>(next[front_of(tile)]++)] = tile;
        return made;
    }
    [[nodiscard]] std::size_t front_of(std::int64_t tile) const {
        const coordinates at = place_of(tile / pieces_);
        std::int64_t front = tile % pieces_;
        for (std::size_t axis = 0; axis < last_axis(); ++axis) front += at[axis] << (last_axis() - axis);
        return static_cast<std::size_t>(front);
    }

    // ---- the answer -------------------------------------------------------------------------------------------------

    void write(std::int64_t row) {
        const coordinates at = place_of(row);
        const State* from = state_ + row * row_;
        if (out_.distance.wanted()) {
            std::int64_t step = 0;
            auto* to = cell_of<std::uint32_t>(out_.distance, 0, at, step);
            const std::uint32_t most = out_.distance.type == dtype::uint32 ? 0xffffffffU : 0x7fffffffU;
            for (std::int64_t x = 0; x < row_; ++x) {
                const std::int32_t d = distance_in(from[x]);
                to[x * step] = d >= unreached(p_.dearest) ? most : static_cast<std::uint32_t>(d);
            }
        }
        if constexpr (sizeof(State) == 8) {
            for (int axis = 0; axis < p_.rank && out_.coordinates.wanted(); ++axis) write_axis(from, at, axis);
            if (!out_.index.wanted()) return;
            if (out_.index.type == dtype::int32) write_index<std::int32_t>(from, at);
            else write_index<std::int64_t>(from, at);
        }
    }

    /// The row's first cell in an output with `more` axes in front, and the element step along the row.
    template <class T>
    T* cell_of(const any_output<host>& v, std::size_t more, const coordinates& at, std::int64_t& step) const {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < last_axis(); ++axis) offset += at[axis] * v.stride[axis + more];
        step = v.stride[last_axis() + more];
        return static_cast<T*>(v.data) + offset;
    }

    void write_axis(const State* from, const coordinates& at, int axis) {
        std::int64_t step = 0;
        std::int32_t* to = cell_of<std::int32_t>(out_.coordinates, 1, at, step) + axis * out_.coordinates.stride[0];
        const bool last = axis == p_.rank - 1;
        const auto below = static_cast<std::uint32_t>(last ? rows_ : number_step_[static_cast<std::size_t>(axis)]);
        const auto size = static_cast<std::uint32_t>(p_.size[static_cast<std::size_t>(axis)]);
        for (std::int64_t x = 0; x < row_; ++x) {
            const auto site = static_cast<std::uint32_t>(from[x]);
            to[x * step] =
                !reached(from[x]) ? -1 : static_cast<std::int32_t>(last ? site / below : site / below % size);
        }
    }

    template <class Index>
    void write_index(const State* from, const coordinates& at) {
        std::int64_t step = 0;
        Index* to = cell_of<Index>(out_.index, 0, at, step);
        for (std::int64_t x = 0; x < row_; ++x) {
            std::int64_t rest = static_cast<std::uint32_t>(from[x]), index = 0;
            for (std::size_t axis = 0; axis < last_axis(); ++axis)
                index = index * p_.size[axis] + rest % p_.size[axis], rest /= p_.size[axis];
            to[x * step] = reached(from[x]) ? static_cast<Index>(index * row_ + rest) : Index{-1};
        }
    }
    [[nodiscard]] bool reached(State s) const { return distance_in(s) < unreached(p_.dearest); }

    const problem& p_;
    const any_input<host>& image_;
    const chamfer_fields<host>& out_;
    std::int64_t row_, rows_, pieces_;
    workers crew_;
    host_scratch<State> own_state_;
    State* state_ = nullptr;
    std::array<std::int64_t, max_rank> number_step_{};
    std::atomic<bool> changed_{false};
};

template <class State, bool FirstFound>
void solve(const host& on, const problem& p, const any_input<host>& image, const chamfer_fields<host>& out) {
    if (p.two_passes) engine<State, false, FirstFound>(on, p, image, out).solve();
    else engine<State, true, FirstFound>(on, p, image, out).solve();
}

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& image, const chamfer_fields<host>& out) {
    if (!out.index.wanted() && !out.coordinates.wanted()) solve<std::int32_t, false>(on, p, image, out);
    else if (p.first_found) solve<std::int64_t, true>(on, p, image, out);
    else solve<std::int64_t, false>(on, p, image, out);
}

}  // namespace nearfield::chamfer
