// The state of a call's cells, as bits with a margin, and the lists of cells of each layer.
#pragma once

#include <atomic>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "skeleton/core.hpp"

namespace nearfield::skeleton {

/// State of a cell, in two bits: the lower one says whether it is in the shape. A waiting cell is tested again when a
/// neighbour is removed. A cell is `removed` until the round ends, then outside.
inline constexpr int outside = 0, inside = 1, removed = 2, waiting = 3;

/// The states of all cells, with a margin of one cell around every image. The margin is background; along a periodic
/// axis it copies the cells of the other end, which never wait there. A 2-D image has no margin above and below.
/// A row begins at a byte of its own, so that threads may write different rows at the same time.
class cell_bits {
public:
    explicit cell_bits(const shape_of_call& shape);

    [[nodiscard]] bool flat() const { return flat_; }
    /// Number of places: cells, margins and gaps.
    [[nodiscard]] std::int64_t size() const { return total_; }
    [[nodiscard]] std::int64_t at(std::int64_t image, std::int64_t z, std::int64_t y, std::int64_t x) const {
        return image * image_ + (z + (flat_ ? 0 : 1)) * plane_ + (y + 1) * row_ + x + lead;
    }
    /// Returns the offset of the neighbour in this direction.
    [[nodiscard]] std::int64_t step(int dz, int dy, int dx) const { return dz * plane_ + dy * row_ + dx; }
    /// Returns the number of a cell's row, margins included.
    [[nodiscard]] std::int64_t row_of(std::int64_t cell) const { return cell / row_; }
    /// Returns the turn that tests a cell.
    [[nodiscard]] int turn_of(std::int64_t cell) const {
        const place here = place_of(cell);
        return shape_.turn(here.at[0], here.at[1], here.at[2]);
    }

    /// The states, four to a byte; a row's first cell has the lowest bits of a byte.
    [[nodiscard]] std::uint8_t* states() const { return states_.get(); }
    [[nodiscard]] int state(std::int64_t cell) const { return states_.get()[cell >> 2] >> 2 * (cell & 3) & 3; }
    void set(std::int64_t cell, int state) const {
        std::uint8_t& byte = states_.get()[cell >> 2];
        const auto shift = static_cast<int>(2 * (cell & 3));
        byte = static_cast<std::uint8_t>((byte & ~(3 << shift)) | state << shift);
    }
    /// Returns the states of a cell and its neighbours, as a word with two bits for each of its cells.
    [[nodiscard]] std::uint64_t around(std::int64_t cell) const {
        const std::uint8_t* const first = states_.get() + (cell - 1 - row_) / 4;
        const auto shift = static_cast<int>(2 * ((cell - 1) & 3));
        const std::int64_t row = row_ / 4, plane = plane_ / 4;
        const auto three = [&](const std::uint8_t* at) -> std::uint64_t {
            std::uint16_t eight = 0;
            std::memcpy(&eight, at, sizeof eight);
            return eight >> shift & 63;
        };
        const auto of_plane = [&](const std::uint8_t* at) {
            return three(at) | three(at + row) << 6 | three(at + 2 * row) << 12;
        };
        const std::uint64_t here = of_plane(first) << 18;
        return flat_ ? here : of_plane(first - plane) | here | of_plane(first + plane) << 36;
    }

    /// Makes a removed cell, and those of its byte, outside: from several threads while none does anything else.
    void forget_removed(std::int64_t cell) const {
        const std::atomic_ref byte(states_.get()[cell >> 2]);
        const unsigned four = byte.load(std::memory_order_relaxed);
        byte.store(static_cast<std::uint8_t>(four & (0x55 | four << 1)), std::memory_order_relaxed);
    }

    /// Returns whether the cell lies at a periodic end.
    [[nodiscard]] bool on_seam(std::int64_t cell) const {
        if (!wraps_) return false;
        const place here = place_of(cell);
        bool found = false;
        for (int axis = 0; axis < 3; ++axis)
            found = found || (shape_.wraps[axis] && (here.at[axis] == 0 || here.at[axis] == shape_.size[axis] - 1));
        return found;
    }
    /// Calls use(place) for the copies of a cell at a periodic end.
    template <class Use>
    void for_each_copy(std::int64_t cell, const Use& use) const;
    /// Calls use(cell) for the neighbours of a cell at a periodic end; it may call it several times for one cell.
    template <class Use>
    void for_each_wrapped(std::int64_t cell, const Use& use) const;

private:
    static constexpr std::int64_t lead = 4;  ///< places before the first cell of a row

    struct place {
        std::int64_t image, at[3];
    };
    [[nodiscard]] place place_of(std::int64_t cell) const;

    const shape_of_call& shape_;
    bool flat_, wraps_;
    std::int64_t row_, plane_, image_, total_;
    host_scratch<std::uint8_t> states_;
};

template <class Use>
void cell_bits::for_each_copy(std::int64_t cell, const Use& use) const {
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
    for (int k = 0; k < count[0]; ++k)
        for (int j = 0; j < count[1]; ++j)
            for (int i = 0; i < count[2]; ++i)
                if (k + j + i > 0) use(at(here.image, seen[0][k], seen[1][j], seen[2][i]));
}

template <class Use>
void cell_bits::for_each_wrapped(std::int64_t cell, const Use& use) const {
    const place here = place_of(cell);
    for (int n = 0; n < 27; ++n) {
        const int to[] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        std::int64_t at[3]{};
        bool exists = n != middle;
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t size = shape_.size[axis];
            at[axis] = here.at[axis] + to[axis];
            if (shape_.wraps[axis]) at[axis] = (at[axis] + size) % size;
            exists = exists && at[axis] >= 0 && at[axis] < size;
        }
        if (exists) use(this->at(here.image, at[0], at[1], at[2]));
    }
}

/// The cells that may be removed, by their place in cell_bits: sorted by layer from the outside, then by turn.
template <class Index>
struct layer_lists {
    host_scratch<Index> cells;
    /// The cells of turn t in layer l are [first[l * turns + t], first[l * turns + t + 1]), in ascending order.
    std::vector<std::int64_t> first;
    std::vector<int> layers;  ///< the numbers of those that have cells

    [[nodiscard]] std::uint32_t rounds(std::size_t layer) const {
        return layer + 1 == layers.size() ? rounds_of_last : rounds_before(layers[layer], layers[layer + 1]);
    }
};

/// Fills the states and lists the cells of the shape that are not anchors.
template <class Index>
layer_lists<Index> fill(workers& team, const shape_of_call& shape, const any_output<host>& squared,
                        const any_input<host>& anchors, const cell_bits& bits);

/// Neighbourhoods that are tested together. Bit n of a word belongs to neighbour n.
struct neighbourhoods {
    static constexpr int most = 64;
    std::uint64_t states[most];     ///< of cell_bits::around()
    word shape[most], marks[most];  ///< neighbours in the shape; those that wait or were removed in this round
    verdict said[most];             ///< as look_at() says of a cell that is no kept end
};
/// Returns every second bit of a word, beginning with the lowest.
inline word halved(std::uint64_t n) {
    n &= 0x5555555555555555;
    n = (n | n >> 1) & 0x3333333333333333;
    n = (n | n >> 2) & 0x0f0f0f0f0f0f0f0f;
    n = (n | n >> 4) & 0x00ff00ff00ff00ff;
    n = (n | n >> 8) & 0x0000ffff0000ffff;
    return static_cast<word>(n | n >> 16);
}
void look_at_all(neighbourhoods& cells, int count, const rule& by);

}  // namespace nearfield::skeleton
