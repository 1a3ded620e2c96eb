// The state of a call's cells, as bytes with a margin, and the lists of cells of each layer.
#pragma once

#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "skeleton/core.hpp"

namespace nearfield::skeleton {

/// Bits of a cell's byte; the bits above hold its turn. A candidate is tested again when a neighbour is removed.
/// Outside of the shape the candidate bit marks a cell that was removed in this round.
inline constexpr std::uint8_t in_shape = 1, candidate = 2, on_seam = 4;
inline constexpr int turn_shift = 3;

/// The state of all cells: one byte each, with a margin of one cell around every image. The margin is background; along
/// a periodic axis it copies the cells of the other end, in_shape or removed in this round. A 2-D image has no margin
/// above and below.
class cell_bytes {
public:
    explicit cell_bytes(const shape_of_call& shape);

    [[nodiscard]] std::int64_t size() const { return total_; }
    [[nodiscard]] bool flat() const { return flat_; }
    [[nodiscard]] std::uint8_t* get() const { return bytes_.get(); }
    [[nodiscard]] std::int64_t at(std::int64_t image, std::int64_t z, std::int64_t y, std::int64_t x) const {
        return image * image_ + (z + (flat_ ? 0 : 1)) * plane_ + (y + 1) * row_ + x + 1;
    }
    /// Returns the offset of the neighbour in this direction.
    [[nodiscard]] std::int64_t step(int dz, int dy, int dx) const { return dz * plane_ + dy * row_ + dx; }

    /// Returns the neighbours of a cell whose bytes have the bit in_shape, and those with the bit candidate. It reads
    /// bytes one by one, since other threads change cells at distance two.
    struct surroundings {
        word shape, candidates;
    };
    [[nodiscard]] surroundings around(std::int64_t cell) const {
        const std::uint8_t* const first = bytes_.get() + cell - row_ - 1;
        surroundings found{0, 0};
        if (flat_) {
            add(found, first, 9);
            return found;
        }
        add(found, first - plane_, 0), add(found, first, 9), add(found, first + plane_, 18);
        return found;
    }

    /// Updates the copies of a cell at a periodic end.
    void copy_to_margin(std::int64_t cell) const;
    /// Calls use(cell) for the neighbours of a cell at a periodic end; it may call it several times for one cell.
    template <class Use>
    void for_each_wrapped(std::int64_t cell, const Use& use) const;

private:
    struct place {
        std::int64_t image, at[3];
    };
    [[nodiscard]] place place_of(std::int64_t cell) const;

    void add(surroundings& found, const std::uint8_t* first, int at) const {
        const word a = three(first), b = three(first + row_), c = three(first + 2 * row_);
        found.shape |= (packed(a) | packed(b) << 3 | packed(c) << 6) << at;
        // Candidates are rare.
        if (((a | b | c) & 0x020202) != 0)
            found.candidates |= (packed(a >> 1) | packed(b >> 1) << 3 | packed(c >> 1) << 6) << at;
    }
    static word three(const std::uint8_t* first) {
        std::uint16_t two = 0;
        std::memcpy(&two, first, sizeof two);
        return two | static_cast<word>(first[2]) << 16;
    }
    /// Returns the lowest bits of three bytes, side by side.
    static word packed(word bytes) { return (bytes & 0x010101) * 0x010204 >> 16 & 7; }

    const shape_of_call& shape_;
    bool flat_;
    std::int64_t row_, plane_, image_, total_;
    host_scratch<std::uint8_t> bytes_;
};

template <class Use>
void cell_bytes::for_each_wrapped(std::int64_t cell, const Use& use) const {
    const place here = place_of(cell);
    for (int n = 0; n < 27; ++n) {
        const int to[] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        std::int64_t at[3]{};
        bool inside = n != middle;
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t size = shape_.size[axis];
            at[axis] = here.at[axis] + to[axis];
            if (shape_.wraps[axis]) at[axis] = (at[axis] + size) % size;
            inside = inside && at[axis] >= 0 && at[axis] < size;
        }
        if (inside) use(this->at(here.image, at[0], at[1], at[2]));
    }
}

/// The cells that may be removed, by their offset in cell_bytes: sorted by layer from the outside, then by turn.
template <class Index>
struct layer_lists {
    host_scratch<Index> cells;
    /// The cells of turn t in layer l are [first[l * turns + t], first[l * turns + t + 1]).
    std::vector<std::int64_t> first;
    std::vector<int> layers;  ///< the numbers of those that have cells

    [[nodiscard]] std::uint32_t rounds(std::size_t layer) const {
        return layer + 1 == layers.size() ? rounds_of_last : rounds_before(layers[layer], layers[layer + 1]);
    }
};

/// Fills the bytes and lists the cells of the shape that are not anchors.
template <class Index>
layer_lists<Index> fill(workers& team, const shape_of_call& shape, const any_output<host>& squared,
                        const any_input<host>& anchors, const cell_bytes& bytes);

}  // namespace nearfield::skeleton
