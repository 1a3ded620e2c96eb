#include "skeleton/host_state.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/lines.hpp"
#include "base/rehearsal.hpp"

namespace nearfield::skeleton {

cell_bits::cell_bits(const shape_of_call& shape)
    : shape_(shape),
      flat_(shape.size[0] == 1),
      wraps_(shape.wraps[0] || shape.wraps[1] || shape.wraps[2]),
      row_((lead + shape.size[2] + 3 + 7) / 8 * 8),  // around() reads eight places, within a row
      plane_(row_ * (shape.size[1] + 2)),
      image_(plane_ * (shape.size[0] + (flat_ ? 0 : 2))),
      total_(image_ * shape.images),
      states_(total_ / 4) {
    clear_scratch(states_.get(), total_ / 4);
}

cell_bits::place cell_bits::place_of(std::int64_t cell) const {
    const std::int64_t row = cell / row_, rows = shape_.size[1] + 2, plane = row / rows;
    const std::int64_t planes = shape_.size[0] + (flat_ ? 0 : 2), image = plane / planes;
    return {image, {plane - image * planes - (flat_ ? 0 : 1), row - plane * rows - 1, cell - row * row_ - lead}};
}

namespace {

/// Maps squared distances to layers: by a table of all integers if the largest is below 1/16 of the number of cells.
template <class Squared>
class layer_table {
public:
    explicit layer_table(double thickness) : thickness_(thickness) {}

    /// Prepares squared distances up to `largest`; cells without a site come after all others.
    void prepare(Squared largest, bool endless, std::int64_t cells) {
        count_ = static_cast<std::size_t>(layer_of(static_cast<double>(largest), thickness_)) + (endless ? 2 : 1);
        if constexpr (!std::is_floating_point_v<Squared>) {
            if (static_cast<double>(largest) > static_cast<double>(cells) / 16) return;
            for (Squared squared = 0; squared <= largest; ++squared)
                layer_.push_back(static_cast<std::uint16_t>(layer_of(static_cast<double>(squared), thickness_)));
        }
    }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t of(Squared squared) const {
        if constexpr (!std::is_floating_point_v<Squared>)
            if (squared < layer_.size()) return layer_[static_cast<std::size_t>(squared)];
        if (is_endless(squared)) return count_ - 1;
        return static_cast<std::size_t>(layer_of(static_cast<double>(squared), thickness_));
    }

private:
    double thickness_;
    std::size_t count_ = 1;
    std::vector<std::uint16_t> layer_;
};

/// The rows of a call, divided into a fixed number of parts: the same rows in every loop.
struct dealt {
    std::int64_t rows, parts;
    [[nodiscard]] std::int64_t first(std::int64_t part) const { return rows * part / parts; }
};

template <class Index, class Squared>
class filling {
public:
    filling(workers& team, const shape_of_call& shape, const any_output<host>& squared, const any_input<host>& anchors,
            const cell_bits& bits)
        : team_(team),
          shape_(shape),
          squared_(static_cast<const Squared*>(squared.data)),
          anchor_(anchors.shape.data(), anchors.stride.data(), anchors.rank),
          held_(static_cast<const std::uint8_t*>(anchors.data)),
          bits_(bits),
          layers_(shape.thickness),
          rows_{shape.images * shape.size[0] * shape.size[1], 1} {
        rows_.parts = std::clamp<std::int64_t>(2 * team.threads(), 1, std::max<std::int64_t>(rows_.rows, 1));
    }

    layer_lists<Index> lists() {
        mark();
        const std::int64_t cells = shape_.images * shape_.cells();
        layers_.prepare(largest_, endless_, cells);
        if (rehearsing() != nullptr) count_ = cells;
        // Each part needs one counter per layer and turn.
        const auto counters = layers_.count() * static_cast<std::uint64_t>(shape_.turns() * rows_.parts);
        return counters <= static_cast<std::uint64_t>(cells) / 4 + 65536 ? counted() : sorted();
    }

private:
    /// Calls use(part, place, turn, squared distance) for the cells that may be removed.
    template <class Use>
    void for_each_listed(const Use& use) {
        for_each_row([&](std::int64_t part, std::int64_t row, std::int64_t at) {
            const std::int64_t first = row * shape_.size[2];
            const int turn = turn_of_row(row);
            for (std::int64_t x = 0; x < shape_.size[2]; ++x)
                if (squared_[first + x] != 0 && !stays(first + x))
                    use(part, at + x, turn + shape_.turn(2, x), squared_[first + x]);
        });
    }
    [[nodiscard]] int turn_of_row(std::int64_t row) const {
        return shape_.turn(row / shape_.size[1] % shape_.size[0], row % shape_.size[1], 0);
    }
    [[nodiscard]] bool stays(std::int64_t cell) const { return held_ != nullptr && held_[anchor_.of(cell)] != 0; }
    template <class Use>
    void for_each_row(const Use& use) {
        const std::int64_t* const size = shape_.size;
        team_.for_each(rows_.parts, 1, 0, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t part = begin; part < end; ++part)
                for (std::int64_t row = rows_.first(part); row < rows_.first(part + 1); ++row)
                    use(part, row, bits_.at(row / size[1] / size[0], row / size[1] % size[0], row % size[1], 0));
        });
    }

    /// Writes the states, counts the cells that may be removed, and finds the largest distance.
    void mark() {
        std::vector<found> all(static_cast<std::size_t>(rows_.parts));
        for_each_row([&](std::int64_t part, std::int64_t row, std::int64_t at) {
            mark_row(row, at, all[static_cast<std::size_t>(part)]);
        });
        for (const found& each : all) {
            largest_ = std::max(largest_, each.largest), count_ += each.count;
            endless_ = endless_ || each.endless;
        }
    }
    /// Findings of a part of the rows.
    struct alignas(64) found {
        Squared largest = 0;
        std::int64_t count = 0;
        bool endless = false;
    };
    void mark_row(std::int64_t row, std::int64_t at, found& f) {
        const std::int64_t nx = shape_.size[2], y = row % shape_.size[1], z = row / shape_.size[1] % shape_.size[0];
        const Squared* const from = squared_ + row * nx;
        std::uint8_t* const states = bits_.states() + at / 4;
        for (std::int64_t x = 0; x < nx; x += 4) {
            int four = 0;
            for (std::int64_t k = 0; k < std::min<std::int64_t>(4, nx - x); ++k)
                four |= (from[x + k] != 0 ? inside : outside) << 2 * k;
            states[x / 4] = static_cast<std::uint8_t>(four);
        }
        Squared largest = f.largest;
        std::int64_t count = 0, endless = 0;
        for (std::int64_t x = 0; x < nx; ++x) {
            largest = std::max(largest, is_endless(from[x]) ? Squared{0} : from[x]);
            count += from[x] != 0, endless += is_endless(from[x]);
        }
        f.largest = largest, f.endless = f.endless || endless != 0;
        if (held_ != nullptr)
            for (std::int64_t x = 0; x < nx; ++x) count -= from[x] != 0 && stays(row * nx + x);
        f.count += count;
        const bool seam = (shape_.wraps[0] && (z == 0 || z == shape_.size[0] - 1)) ||
                          (shape_.wraps[1] && (y == 0 || y == shape_.size[1] - 1));
        const auto copy = [&](std::int64_t x) {
            if (from[x] != 0) bits_.for_each_copy(at + x, [&](std::int64_t to) { bits_.set(to, inside); });
        };
        if (seam)
            for (std::int64_t x = 0; x < nx; ++x) copy(x);
        else if (shape_.wraps[2]) copy(0), copy(nx - 1);
    }

    layer_lists<Index> counted() {
        const auto turns = static_cast<std::size_t>(shape_.turns());
        const std::size_t layers = layers_.count(), lists = layers * turns;
        std::vector<Index> next(lists * static_cast<std::size_t>(rows_.parts));
        const auto counter = [&](std::int64_t part, int turn, Squared squared) -> Index& {
            return next[(static_cast<std::size_t>(part) * layers + layers_.of(squared)) * turns +
                        static_cast<std::size_t>(turn)];
        };
        for_each_listed(
            [&](std::int64_t part, std::int64_t, int turn, Squared squared) { ++counter(part, turn, squared); });
        layer_lists<Index> made;
        made.cells = host_scratch<Index>(count_);
        std::int64_t total = 0;
        for (std::size_t layer = 0; layer < layers; ++layer) {
            const std::int64_t before = total;
            for (std::size_t turn = 0; turn < turns; ++turn) {
                made.first.push_back(total);
                for (std::size_t part = 0; part < static_cast<std::size_t>(rows_.parts); ++part) {
                    Index& one = next[part * lists + layer * turns + turn];
                    const auto count = static_cast<std::int64_t>(one);
                    one = static_cast<Index>(total), total += count;
                }
            }
            if (total == before) made.first.resize(made.first.size() - turns);
            else made.layers.push_back(static_cast<int>(layer));
        }
        made.first.push_back(total);
        for_each_listed([&](std::int64_t part, std::int64_t cell, int turn, Squared squared) {
            made.cells.get()[counter(part, turn, squared)++] = static_cast<Index>(cell);
        });
        return made;
    }

    layer_lists<Index> sorted() {
        struct entry {
            std::size_t layer;
            std::int64_t turn_and_cell;
            bool operator<(const entry& other) const {
                return layer != other.layer ? layer < other.layer : turn_and_cell < other.turn_and_cell;
            }
        };
        constexpr int shift = 58;
        const host_scratch<entry> entries(count_);
        std::atomic<std::int64_t> next{0};
        for_each_listed([&](std::int64_t, std::int64_t cell, int turn, Squared squared) {
            entries.get()[next++] = {layers_.of(squared), static_cast<std::int64_t>(turn) << shift | cell};
        });
        std::sort(entries.get(), entries.get() + count_);
        layer_lists<Index> made;
        made.cells = host_scratch<Index>(count_);
        const std::int64_t turns = shape_.turns();
        for (std::int64_t i = 0; i < count_; ++i) {
            const entry& one = entries.get()[i];
            if (i == 0 || one.layer != entries.get()[i - 1].layer) made.layers.push_back(static_cast<int>(one.layer));
            const auto before = static_cast<std::int64_t>(made.layers.size()) - 1;
            const std::int64_t list = before * turns + (one.turn_and_cell >> shift);
            made.first.resize(static_cast<std::size_t>(list) + 1, i);
            made.cells.get()[i] = static_cast<Index>(one.turn_and_cell & ((std::int64_t{1} << shift) - 1));
        }
        made.first.resize(made.layers.size() * static_cast<std::size_t>(turns) + 1, count_);
        return made;
    }

    workers& team_;
    const shape_of_call& shape_;
    const Squared* squared_;
    const cell_offsets anchor_;
    const std::uint8_t* held_;  ///< the anchors, or null
    const cell_bits& bits_;
    layer_table<Squared> layers_;
    dealt rows_;
    Squared largest_ = 0;
    bool endless_ = false;  ///< some cell has no site
    std::int64_t count_ = 0;
};

}  // namespace

template <class Index>
layer_lists<Index> fill(workers& team, const shape_of_call& shape, const any_output<host>& squared,
                        const any_input<host>& anchors, const cell_bits& bits) {
    switch (squared.type) {
        case dtype::uint32: return filling<Index, std::uint32_t>(team, shape, squared, anchors, bits).lists();
        case dtype::uint64: return filling<Index, std::uint64_t>(team, shape, squared, anchors, bits).lists();
        default: return filling<Index, double>(team, shape, squared, anchors, bits).lists();
    }
}

template layer_lists<std::uint32_t> fill(workers&, const shape_of_call&, const any_output<host>&,
                                         const any_input<host>&, const cell_bits&);
template layer_lists<std::int64_t> fill(workers&, const shape_of_call&, const any_output<host>&, const any_input<host>&,
                                        const cell_bits&);

}  // namespace nearfield::skeleton
