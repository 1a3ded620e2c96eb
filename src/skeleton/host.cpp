#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

#include "base/lines.hpp"
#include "base/rehearsal.hpp"
#include "skeleton/host_state.hpp"

namespace nearfield::skeleton {
namespace {

/// Tests cells layer by layer and turn by turn. Cells that were kept are tested again in their next turn after a
/// neighbour is removed. No two cells of a turn are neighbours, so each thread tests and changes whole rows of a turn.
template <class Index>
class thinner {
public:
    thinner(workers& team, const cell_bits& bits, const rule& by, int turns, const layer_lists<Index>& lists)
        : team_(team), bits_(bits), by_(by), turns_(turns), lists_(lists), queued_(bits.size() / 8) {
        clear_scratch(queued_.get(), bits.size() / 8);
        mine_.resize(static_cast<std::size_t>(team.threads()));
        for (int n = 0; n < 27; ++n)
            step_[static_cast<std::size_t>(n)] = bits.step(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1);
        // No cell of these is a kept end, since all were in the shape before the round.
        for (word n = 0; n < 256; ++n) flat_[n] = look_at((n & 15) << 9 | (n >> 4) << 14, round_middle, by);
    }

    void run() {
        for (std::size_t layer = 0; layer < lists_.layers.size(); ++layer) {
            const std::uint32_t rounds = lists_.rounds(layer);
            bool looked = true;
            for (std::uint32_t round = 0; looked && round < rounds; ++round) {
                looked = round == 0;
                for (int turn = 0; turn < turns_; ++turn) {
                    if (round == 0) look_at_layer(static_cast<std::int64_t>(layer) * turns_ + turn);
                    looked = look_at_queued(turn) || looked;
                }
                end_round();
            }
        }
    }

private:
    static constexpr std::int64_t at_once = 1024;

    struct alignas(64) state_of_thread {
        neighbourhoods batch;
        std::array<std::vector<Index>, most_turns> queued;
        std::vector<Index> removed;  ///< in this round
    };

    void look_at_layer(std::int64_t list) {
        const std::int64_t first = lists_.first[static_cast<std::size_t>(list)];
        const std::int64_t count = lists_.first[static_cast<std::size_t>(list) + 1] - first;
        look_at_cells(lists_.cells.get() + first, count, 1);
    }
    bool look_at_queued(int turn) {
        now_.clear();
        for (auto& thread : mine_) {
            auto& cells = thread.queued[static_cast<std::size_t>(turn)];
            now_.insert(now_.end(), cells.begin(), cells.end());
            cells.clear();
        }
        const auto count = static_cast<std::int64_t>(now_.size());
        if (count <= at_once) look_at_range(now_.data(), count, mine_.front());
        else look_at_groups();
        return count > 0;
    }
    /// Tests the queued cells, which threads share by groups of rows.
    void look_at_groups() {
        constexpr std::size_t groups = 64;
        const auto group_of = [&](Index cell) {
            return static_cast<std::size_t>(bits_.row_of(static_cast<std::int64_t>(cell)) / 2) % groups;
        };
        std::array<std::int64_t, groups + 1> end{};  // first of the beginnings of groups, then of their ends
        for (const Index cell : now_) ++end[group_of(cell) + 1];
        for (std::size_t group = 0; group < groups; ++group) end[group + 1] += end[group];
        dealt_.resize(now_.size());
        for (const Index cell : now_) dealt_[static_cast<std::size_t>(end[group_of(cell)]++)] = cell;
        team_.for_each(groups, 1, 0, [&](std::int64_t first, std::int64_t last, int thread) {
            const std::int64_t from = first == 0 ? 0 : end[static_cast<std::size_t>(first) - 1];
            look_at_range(dealt_.data() + from, end[static_cast<std::size_t>(last) - 1] - from,
                          mine_[static_cast<std::size_t>(thread)]);
        });
    }
    /// Tests cells of one turn, in ascending order, which threads share by rows.
    void look_at_cells(const Index* cells, std::int64_t count, std::int64_t weight) {
        if (count <= at_once) {
            look_at_range(cells, count, mine_.front());
            if (count > 0) team_.go_on(count * weight);
            return;
        }
        const auto row_from = [&](std::int64_t i) {
            if (i == 0) return i;
            const std::int64_t next = (bits_.row_of(static_cast<std::int64_t>(cells[i - 1])) + 1) * bits_.step(0, 1, 0);
            return static_cast<std::int64_t>(std::lower_bound(cells + i, cells + count, static_cast<Index>(next)) -
                                             cells);
        };
        team_.for_each(count, at_once, weight, [&](std::int64_t first, std::int64_t last, int thread) {
            first = row_from(first), last = row_from(last);
            look_at_range(cells + first, last - first, mine_[static_cast<std::size_t>(thread)]);
        });
    }
    void look_at_range(const Index* cells, std::int64_t count, state_of_thread& mine) {
        for (std::int64_t i = 0; i < count; i += neighbourhoods::most)
            look_at_batch(cells + i, static_cast<int>(std::min<std::int64_t>(count - i, neighbourhoods::most)), mine);
    }

    void look_at_batch(const Index* cells, int count, state_of_thread& mine) {
        neighbourhoods& batch = mine.batch;
        for (int i = 0; i < count; ++i) batch.states[i] = bits_.around(static_cast<std::int64_t>(cells[i]));
        if (!bits_.flat()) look_at_all(batch, count, by_);
        else
            for (int i = 0; i < count; ++i) {
                const word shape = batch.shape[i] = halved(batch.states[i]);
                batch.marks[i] = halved(batch.states[i] >> 1);
                batch.said[i] = flat_[(shape >> 9 & 15) | (shape >> 14 & 15) << 4];
            }
        for (int i = 0; i < count; ++i) settle(static_cast<std::int64_t>(cells[i]), batch, i, mine);
    }
    void settle(std::int64_t cell, const neighbourhoods& batch, int i, state_of_thread& mine) {
        const word shape = batch.shape[i], waits = batch.marks[i] & shape;
        // Only waiting cells are ever queued.
        if ((waits >> middle & 1) != 0) flags_of(cell).fetch_and(static_cast<std::uint8_t>(~flag_of(cell)), relaxed);
        verdict said = batch.said[i];
        if (ends_ && is_single(shape & near_) && is_kept_end(shape, shape | batch.marks[i], by_)) said = verdict::held;
        if (said == verdict::removed) return remove(cell, waits & round_middle, mine);
        bits_.set(cell, said == verdict::held ? inside : waiting);
    }
    void remove(std::int64_t cell, word again, state_of_thread& mine) {
        const int now = ends_ ? removed : outside;
        bits_.set(cell, now);
        if (ends_) mine.removed.push_back(static_cast<Index>(cell));
        if (bits_.on_seam(cell)) {
            bits_.for_each_copy(cell, [&](std::int64_t copy) { bits_.set(copy, now); });
            return bits_.for_each_wrapped(cell, [&](std::int64_t other) {
                if (bits_.state(other) == waiting) queue(other, mine);
            });
        }
        for (; again != 0; again &= again - 1)
            queue(cell + step_[static_cast<std::size_t>(std::countr_zero(again))], mine);
    }
    /// Makes the cells removed in this round outside.
    void end_round() {
        const auto forget = [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t thread = first; thread < last; ++thread) {
                auto& cells = mine_[static_cast<std::size_t>(thread)].removed;
                for (const Index each : cells) {
                    const auto cell = static_cast<std::int64_t>(each);
                    bits_.forget_removed(cell);
                    if (bits_.on_seam(cell))
                        bits_.for_each_copy(cell, [&](std::int64_t copy) { bits_.forget_removed(copy); });
                }
                cells.clear();
            }
        };
        const auto lists = static_cast<std::int64_t>(mine_.size());
        if (mine_.front().removed.size() > at_once) team_.for_each(lists, 1, 0, forget);
        else forget(0, lists, 0);
    }

    void queue(std::int64_t cell, state_of_thread& mine) {
        const auto flags = flags_of(cell);
        const std::uint8_t flag = flag_of(cell);
        if ((flags.load(relaxed) & flag) != 0 || (flags.fetch_or(flag, relaxed) & flag) != 0) return;
        mine.queued[static_cast<std::size_t>(bits_.turn_of(cell))].push_back(static_cast<Index>(cell));
    }
    /// Eight cells' flags; other threads may change those of the other cells at the same time.
    [[nodiscard]] std::atomic_ref<std::uint8_t> flags_of(std::int64_t cell) const {
        return std::atomic_ref(queued_.get()[cell >> 3]);
    }
    static std::uint8_t flag_of(std::int64_t cell) { return static_cast<std::uint8_t>(1 << (cell & 7)); }

    static constexpr auto relaxed = std::memory_order_relaxed;

    workers& team_;
    const cell_bits& bits_;
    const rule by_;
    const bool ends_ = by_.keep == kept_cells::ends;
    const word near_ = near_cells(by_.faces) & round_middle;
    const int turns_;
    const layer_lists<Index>& lists_;
    host_scratch<std::uint8_t> queued_;  ///< a bit for each cell
    std::vector<state_of_thread> mine_;
    std::vector<Index> now_, dealt_;
    std::array<std::int64_t, 27> step_{};
    std::array<verdict, 256> flat_{};  ///< results in images, by the eight neighbours in the shape
};

/// Four answers for each byte of states.
constexpr std::array<std::uint32_t, 256> four_flags() {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t n = 0; n < 256; ++n) made[n] = (n & 1) | (n & 4) << 6 | (n & 16) << 12 | (n & 64) << 18;
    return made;
}

void write(workers& team, const shape_of_call& shape, const cell_bits& bits, const any_output<host>& out) {
    static constexpr auto four = four_flags();
    const cell_offsets to(out.shape.data(), out.stride.data(), out.rank);
    auto* const written = static_cast<std::uint8_t*>(out.data);
    const std::int64_t* const size = shape.size;
    const std::int64_t rows = shape.images * size[0] * size[1];
    const std::int64_t at_once = std::max<std::int64_t>(1, 65536 / size[2]);
    const std::int64_t step = out.stride[static_cast<std::size_t>(out.rank) - 1];
    team.for_each(rows, at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t y = row % size[1], z = row / size[1] % size[0], image = row / size[1] / size[0];
            const std::uint8_t* const from = bits.states() + bits.at(image, z, y, 0) / 4;
            const std::int64_t start = to.of(row * size[2]), fast = step == 1 ? size[2] / 4 * 4 : 0;
            for (std::int64_t x = 0; x < fast; x += 4) std::memcpy(written + start + x, &four[from[x / 4]], 4);
            for (std::int64_t x = fast; x < size[2]; ++x)
                written[start + x * step] = from[x / 4] >> 2 * (x & 3) & inside;
        }
    });
}

template <class Index>
void thin_with(const host& on, const shape_of_call& shape, const rule& by, const any_output<host>& squared,
               const any_input<host>& anchors, const cell_bits& bits, const any_output<host>& out) {
    // Only the tests report progress: they take the time. A call has one team at a time, since teams share threads.
    const host silent{on.threads, {}};
    const layer_lists<Index> lists = [&] {
        workers team(silent, 1);
        return fill<Index>(team, shape, squared, anchors, bits);
    }();
    {
        workers team(on, lists.first.back());
        thinner<Index>(team, bits, by, shape.turns(), lists).run();
    }
    workers team(silent, 1);
    write(team, shape, bits, out);
}

}  // namespace

void thin(const host& on, const shape_of_call& shape, const rule& by, const any_output<host>& squared,
          const any_input<host>& anchors, const any_output<host>& out) {
    const cell_bits bits(shape);
    if (bits.size() <= most_narrow) thin_with<std::uint32_t>(on, shape, by, squared, anchors, bits, out);
    else thin_with<std::int64_t>(on, shape, by, squared, anchors, bits, out);
}

}  // namespace nearfield::skeleton
