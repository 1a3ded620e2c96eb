#include "skeleton/host_state.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/lines.hpp"
#include "base/rehearsal.hpp"

namespace nearfield::skeleton {

cell_bytes::cell_bytes(const shape_of_call& shape)
    : shape_(shape),
      flat_(shape.size[0] == 1),
      row_(shape.size[2] + 2),
      plane_(row_ * (shape.size[1] + 2)),
      image_(plane_ * (shape.size[0] + (flat_ ? 0 : 2))),
      total_(image_ * shape.images),
      bytes_(total_) {
    clear_scratch(bytes_.get(), total_);
}

cell_bytes::place cell_bytes::place_of(std::int64_t cell) const {
    place here{cell / image_, {}};
    cell %= image_;
    here.at[0] = cell / plane_ - (flat_ ? 0 : 1), cell %= plane_;
    here.at[1] = cell / row_ - 1, here.at[2] = cell % row_ - 1;
    return here;
}

void cell_bytes::copy_to_margin(std::int64_t cell) const {
    const place here = place_of(cell);
    // Offsets of the cell and its copies in the margin along each axis: at most one copy at each end.
    std::int64_t seen[3][3]{};
    int count[3]{};
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t size = shape_.size[axis], at = here.at[axis];
        seen[axis][count[axis]++] = at;
        if (shape_.wraps[axis] && at == 0) seen[axis][count[axis]++] = size;
        if (shape_.wraps[axis] && at == size - 1) seen[axis][count[axis]++] = -1;
    }
    const std::uint8_t byte = bytes_.get()[cell];
    const auto value = static_cast<std::uint8_t>((byte & in_shape) != 0 ? in_shape : byte & candidate);
    for (int k = 0; k < count[0]; ++k)
        for (int j = 0; j < count[1]; ++j)
            for (int i = 0; i < count[2]; ++i)
                if (k + j + i > 0) bytes_.get()[at(here.image, seen[0][k], seen[1][j], seen[2][i])] = value;
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
            const cell_bytes& bytes)
        : team_(team),
          shape_(shape),
          squared_(static_cast<const Squared*>(squared.data)),
          anchors_(anchors),
          bytes_(bytes),
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
    /// Calls use(part, cell of the bytes, squared distance) for the cells that may be removed.
    template <class Use>
    void for_each_listed(const Use& use) {
        for_each_row([&](std::int64_t part, std::int64_t row, std::int64_t at) {
            const Squared* const from = squared_ + row * shape_.size[2];
            const std::uint8_t* const byte = bytes_.get() + at;
            for (std::int64_t x = 0; x < shape_.size[2]; ++x)
                if ((byte[x] & candidate) != 0) use(part, at + x, byte[x], from[x]);
        });
    }
    template <class Use>
    void for_each_row(const Use& use) {
        const std::int64_t* const size = shape_.size;
        team_.for_each(rows_.parts, 1, 0, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t part = begin; part < end; ++part)
                for (std::int64_t row = rows_.first(part); row < rows_.first(part + 1); ++row)
                    use(part, row, bytes_.at(row / size[1] / size[0], row / size[1] % size[0], row % size[1], 0));
        });
    }

    /// Writes the bytes. Cells that may be removed are marked as candidates until they are listed.
    void mark() {
        std::vector<Squared> largest(static_cast<std::size_t>(rows_.parts));
        std::vector<std::int64_t> count(largest.size());
        std::vector<std::uint8_t> endless(largest.size());
        const cell_offsets anchor(anchors_.shape.data(), anchors_.stride.data(), anchors_.rank);
        const auto* const held = static_cast<const std::uint8_t*>(anchors_.data);
        for_each_row([&](std::int64_t part, std::int64_t row, std::int64_t at) {
            const std::int64_t nx = shape_.size[2], y = row % shape_.size[1], z = row / shape_.size[1] % shape_.size[0];
            const bool seam = (shape_.wraps[0] && (z == 0 || z == shape_.size[0] - 1)) ||
                              (shape_.wraps[1] && (y == 0 || y == shape_.size[1] - 1));
            const int turn_of_row = shape_.turn(z, y, 0);
            Squared most = 0;
            std::int64_t listed = 0;
            bool without = false;
            for (std::int64_t x = 0; x < nx; ++x) {
                const Squared distance = squared_[row * nx + x];
                if (distance == 0) continue;
                const bool stays = held != nullptr && held[anchor.of(row * nx + x)] != 0;
                const bool wraps = seam || (shape_.wraps[2] && (x == 0 || x == nx - 1));
                bytes_.get()[at + x] =
                    static_cast<std::uint8_t>(in_shape | (stays ? 0 : candidate) | (wraps ? on_seam : 0) |
                                              (turn_of_row + shape_.turn(2, x)) << turn_shift);
                if (wraps) bytes_.copy_to_margin(at + x);
                listed += stays ? 0 : 1;
                if (is_endless(distance)) without = true;
                else most = std::max(most, distance);
            }
            const auto p = static_cast<std::size_t>(part);
            largest[p] = std::max(largest[p], most), count[p] += listed;
            if (without) endless[p] = 1;
        });
        for (std::size_t p = 0; p < largest.size(); ++p) {
            largest_ = std::max(largest_, largest[p]), count_ += count[p];
            endless_ = endless_ || endless[p] != 0;
        }
    }

    layer_lists<Index> counted() {
        const auto turns = static_cast<std::size_t>(shape_.turns());
        const std::size_t layers = layers_.count(), lists = layers * turns;
        std::vector<Index> next(lists * static_cast<std::size_t>(rows_.parts));
        const auto counter = [&](std::int64_t part, std::uint8_t byte, Squared squared) -> Index& {
            return next[(static_cast<std::size_t>(part) * layers + layers_.of(squared)) * turns + (byte >> turn_shift)];
        };
        for_each_listed([&](std::int64_t part, std::int64_t, std::uint8_t byte, Squared squared) {
            ++counter(part, byte, squared);
        });
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
        for_each_listed([&](std::int64_t part, std::int64_t cell, std::uint8_t byte, Squared squared) {
            made.cells.get()[counter(part, byte, squared)++] = static_cast<Index>(cell);
        });
        list_no_more();
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
        for_each_listed([&](std::int64_t, std::int64_t cell, std::uint8_t byte, Squared squared) {
            entries.get()[next++] = {layers_.of(squared),
                                     static_cast<std::int64_t>(byte >> turn_shift) << shift | cell};
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
        list_no_more();
        return made;
    }

    void list_no_more() {
        for_each_row([&](std::int64_t, std::int64_t, std::int64_t at) {
            std::uint8_t* const byte = bytes_.get() + at;
            for (std::int64_t x = 0; x < shape_.size[2]; ++x) byte[x] = static_cast<std::uint8_t>(byte[x] & ~candidate);
        });
    }

    workers& team_;
    const shape_of_call& shape_;
    const Squared* squared_;
    const any_input<host>& anchors_;
    const cell_bytes& bytes_;
    layer_table<Squared> layers_;
    dealt rows_;
    Squared largest_ = 0;
    bool endless_ = false;  ///< some cell has no site
    std::int64_t count_ = 0;
};

}  // namespace

template <class Index>
layer_lists<Index> fill(workers& team, const shape_of_call& shape, const any_output<host>& squared,
                        const any_input<host>& anchors, const cell_bytes& bytes) {
    switch (squared.type) {
        case dtype::uint32: return filling<Index, std::uint32_t>(team, shape, squared, anchors, bytes).lists();
        case dtype::uint64: return filling<Index, std::uint64_t>(team, shape, squared, anchors, bytes).lists();
        default: return filling<Index, double>(team, shape, squared, anchors, bytes).lists();
    }
}

template layer_lists<std::uint32_t> fill(workers&, const shape_of_call&, const any_output<host>&,
                                         const any_input<host>&, const cell_bytes&);
template layer_lists<std::int64_t> fill(workers&, const shape_of_call&, const any_output<host>&, const any_input<host>&,
                                        const cell_bytes&);

}  // namespace nearfield::skeleton
