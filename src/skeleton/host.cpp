#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>

#include "base/lines.hpp"
#include "base/rehearsal.hpp"
#include "skeleton/host_state.hpp"

namespace nearfield::skeleton {
namespace {

/// Tests cells layer by layer and turn by turn. Cells that were kept are tested again in their next turn after a
/// neighbour is removed. Only the thread that tests a cell writes its byte.
template <class Index>
class thinner {
public:
    thinner(workers& team, const cell_bytes& bytes, const rule& by, int turns, const layer_lists<Index>& lists)
        : team_(team), bytes_(bytes), by_(by), turns_(turns), lists_(lists), queued_(bytes.size()) {
        clear_scratch(queued_.get(), bytes.size());
        pending_.resize(static_cast<std::size_t>(team.threads()));
        for (int n = 0; n < 27; ++n)
            step_[static_cast<std::size_t>(n)] = bytes.step(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1);
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
                    looked = look_at_pending(turn) || looked;
                }
                end_round();
            }
        }
    }

private:
    static constexpr std::int64_t at_once = 1024;

    void look_at_layer(std::int64_t list) {
        const std::int64_t first = lists_.first[static_cast<std::size_t>(list)];
        const std::int64_t count = lists_.first[static_cast<std::size_t>(list) + 1] - first;
        look_at_all(lists_.cells.get() + first, count, 1);
    }
    bool look_at_pending(int turn) {
        now_.clear();
        for (auto& of_thread : pending_) {
            auto& cells = of_thread.turn[static_cast<std::size_t>(turn)];
            now_.insert(now_.end(), cells.begin(), cells.end());
            cells.clear();
        }
        look_at_all(now_.data(), static_cast<std::int64_t>(now_.size()), 0);
        return !now_.empty();
    }
    void look_at_all(const Index* cells, std::int64_t count, std::int64_t weight) {
        const auto body = [&](std::int64_t first, std::int64_t last, int thread) {
            for (std::int64_t i = first; i < last; ++i)
                look(static_cast<std::int64_t>(cells[i]), pending_[static_cast<std::size_t>(thread)]);
        };
        if (count > at_once) return team_.for_each(count, at_once, weight, body);
        body(0, count, 0);
        if (count > 0) team_.go_on(count * weight);
    }

    struct alignas(64) lists_of_thread {
        std::array<std::vector<Index>, most_turns> turn;
        std::vector<Index> removed;  ///< in this round
    };

    void look(std::int64_t cell, lists_of_thread& pending) {
        std::uint8_t& byte = bytes_.get()[cell];
        // Only candidates are ever queued.
        if ((byte & candidate) != 0) flag(cell).store(0, std::memory_order_relaxed);
        const auto [shape, candidates] = bytes_.around(cell);
        verdict said = verdict::waiting;
        if (ends_ && is_single(shape & near_)) said = look_at(shape, shape | candidates, by_);
        else if (bytes_.flat()) said = flat_[(shape >> 9 & 15) | (shape >> 14 & 15) << 4];
        else said = look_at(shape, shape, by_);
        if (said == verdict::removed) return remove(cell, shape & candidates & round_middle, pending);
        const auto marked = static_cast<std::uint8_t>(said == verdict::held ? byte & ~candidate : byte | candidate);
        if (marked != byte) byte = marked;
    }
    void remove(std::int64_t cell, word again, lists_of_thread& pending) {
        std::uint8_t& byte = bytes_.get()[cell];
        const bool seam = (byte & on_seam) != 0;
        byte = static_cast<std::uint8_t>((byte & ~(in_shape | candidate)) | (ends_ ? candidate : 0));
        if (ends_) pending.removed.push_back(static_cast<Index>(cell));
        if (seam) {
            bytes_.copy_to_margin(cell);
            constexpr int both = in_shape | candidate;
            return bytes_.for_each_wrapped(cell, [&](std::int64_t other) {
                if ((bytes_.get()[other] & both) == both) queue(other, pending);
            });
        }
        for (; again != 0; again &= again - 1)
            queue(cell + step_[static_cast<std::size_t>(std::countr_zero(again))], pending);
    }
    /// Clears the marks of cells removed in this round.
    void end_round() {
        const auto forget = [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t thread = first; thread < last; ++thread) {
                auto& removed = pending_[static_cast<std::size_t>(thread)].removed;
                for (const Index cell : removed) {
                    std::uint8_t& byte = bytes_.get()[cell];
                    byte = static_cast<std::uint8_t>(byte & ~candidate);
                    if ((byte & on_seam) != 0) bytes_.copy_to_margin(static_cast<std::int64_t>(cell));
                }
                removed.clear();
            }
        };
        const auto lists = static_cast<std::int64_t>(pending_.size());
        if (pending_.front().removed.size() > at_once) team_.for_each(lists, 1, 0, forget);
        else forget(0, lists, 0);
    }
    void queue(std::int64_t cell, lists_of_thread& pending) {
        auto mark = flag(cell);
        if (mark.load(std::memory_order_relaxed) != 0 || mark.exchange(1, std::memory_order_relaxed) != 0) return;
        pending.turn[static_cast<std::size_t>(bytes_.get()[cell] >> turn_shift)].push_back(static_cast<Index>(cell));
    }
    [[nodiscard]] std::atomic_ref<std::uint8_t> flag(std::int64_t cell) const {
        return std::atomic_ref<std::uint8_t>(queued_.get()[cell]);
    }

    workers& team_;
    const cell_bytes& bytes_;
    const rule by_;
    const bool ends_ = by_.keep == kept_cells::ends;
    const word near_ = near_cells(by_.faces) & round_middle;
    const int turns_;
    const layer_lists<Index>& lists_;
    host_scratch<std::uint8_t> queued_;
    std::vector<lists_of_thread> pending_;
    std::vector<Index> now_;
    std::array<std::int64_t, 27> step_{};
    std::array<verdict, 256> flat_{};
};

void write(workers& team, const shape_of_call& shape, const cell_bytes& bytes, const any_output<host>& out) {
    const cell_offsets to(out.shape.data(), out.stride.data(), out.rank);
    auto* const written = static_cast<std::uint8_t*>(out.data);
    const std::int64_t* const size = shape.size;
    const std::int64_t rows = shape.images * size[0] * size[1];
    const std::int64_t at_once = std::max<std::int64_t>(1, 65536 / size[2]);
    team.for_each(rows, at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t y = row % size[1], z = row / size[1] % size[0], image = row / size[1] / size[0];
            const std::uint8_t* const from = bytes.get() + bytes.at(image, z, y, 0);
            const std::int64_t start = to.of(row * size[2]);
            const std::int64_t step = out.stride[static_cast<std::size_t>(out.rank) - 1];
            for (std::int64_t x = 0; x < size[2]; ++x) written[start + x * step] = from[x] & in_shape;
        }
    });
}

template <class Index>
void thin_with(const host& on, const shape_of_call& shape, const rule& by, const any_output<host>& squared,
               const any_input<host>& anchors, const cell_bytes& bytes, const any_output<host>& out) {
    // Only the tests report progress: they take the time. A call has one team at a time, since teams share threads.
    const host silent{on.threads, {}};
    const layer_lists<Index> lists = [&] {
        workers team(silent, 1);
        return fill<Index>(team, shape, squared, anchors, bytes);
    }();
    {
        workers team(on, lists.first.back());
        thinner<Index>(team, bytes, by, shape.turns(), lists).run();
    }
    workers team(silent, 1);
    write(team, shape, bytes, out);
}

}  // namespace

void thin(const host& on, const shape_of_call& shape, const rule& by, const any_output<host>& squared,
          const any_input<host>& anchors, const any_output<host>& out) {
    const cell_bytes bytes(shape);
    if (bytes.size() <= most_narrow) thin_with<std::uint32_t>(on, shape, by, squared, anchors, bytes, out);
    else thin_with<std::int64_t>(on, shape, by, squared, anchors, bytes, out);
}

}  // namespace nearfield::skeleton
