// Samples of a density on the host.
#include "centroidal/samples.hpp"

#include <algorithm>

#include "centroidal/room.hpp"

namespace nearfield::centroidal {
namespace {

/// A cube of cells, clipped to the grid.
struct tile {
    std::uint64_t key = 0;
    std::int64_t first[3] = {};
    std::uint64_t mass = 0;  ///< its own mass; after summing, the mass of all tiles before it
};

class sampler {
public:
    sampler(const problem& p, const std::uint16_t* density, std::int64_t count)
        : p_(p), density_(density), grid_(p, count), taken_(static_cast<std::size_t>(p.parts())) {
        make_tiles();
    }

    [[nodiscard]] std::vector<std::int32_t> drawn(std::int64_t count, std::uint64_t seed) {
        std::vector<std::int32_t> parts;
        parts.reserve(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) parts.push_back(draw(i, count, seed));
        return parts;
    }

private:
    void make_tiles() {
        tile t;
        for (t.first[0] = 0; t.first[0] < grid_.cells[0]; t.first[0] += grid_.side)
            for (t.first[1] = 0; t.first[1] < grid_.cells[1]; t.first[1] += grid_.side)
                for (t.first[2] = 0; t.first[2] < grid_.cells[2]; t.first[2] += grid_.side) {
                    t.key = grid_.key_of(t.first), t.mass = 0;
                    grid_.for_cells(t.first, [&](std::int64_t cell) { return t.mass += density_[cell], true; });
                    if (t.mass > 0) tiles_.push_back(t);
                }
        std::sort(tiles_.begin(), tiles_.end(), [](const tile& a, const tile& b) { return a.key < b.key; });
        for (tile& each : tiles_) {
            const std::uint64_t own = each.mass;
            each.mass = all_, all_ += own;
        }
    }

    /// Draws from the stretch of mass number i. Stretches are drawn in order, so that a search for a tile begins where
    /// the one before ended.
    std::int32_t draw(std::int64_t i, std::int64_t count, std::uint64_t seed) {
        std::int64_t cell = 0;
        const std::size_t first = tile_;
        for (std::uint64_t k = 0; k < attempt::most; ++k) {
            const attempt at = attempt::of(i, count, k, seed, all_);
            for (tile_ = first; tile_ + 1 < tiles_.size() && tiles_[tile_ + 1].mass <= at.mass;) ++tile_;
            cell = grid_.cell_at(tiles_[tile_].first, density_, at.mass - tiles_[tile_].mass);
            if (const std::int32_t part = take(cell, at.choice); part >= 0) return part;
        }
        return first_free(cell);
    }

    /// Takes one of the parts of a cell; returns -1 if it is taken already.
    std::int32_t take(std::int64_t cell, std::uint64_t choice) {
        const std::int32_t part = part_in(p_, cell, choice);
        if (taken_[static_cast<std::size_t>(part)]) return -1;
        taken_[static_cast<std::size_t>(part)] = true;
        return part;
    }

    /// Takes the first free part along the curve, starting at a cell's tile.
    std::int32_t first_free(std::int64_t from) {
        const std::int64_t choices = p_.factor[0] * p_.factor[1] * p_.factor[2];
        std::size_t begin = 0;
        while (begin < tiles_.size() && !holds(tiles_[begin], from)) ++begin;
        std::int32_t found = -1;
        for (std::size_t k = 0; found < 0 && k < tiles_.size(); ++k)
            grid_.for_cells(tiles_[(begin + k) % tiles_.size()].first, [&](std::int64_t cell) {
                for (std::int64_t c = 0; found < 0 && density_[cell] > 0 && c < choices; ++c)
                    found = take(cell, static_cast<std::uint64_t>(c));
                return found < 0;
            });
        return found;
    }
    [[nodiscard]] bool holds(const tile& t, std::int64_t cell) const {
        bool inside = false;
        grid_.for_cells(t.first, [&](std::int64_t each) { return inside = each == cell, !inside; });
        return inside;
    }

    const problem& p_;
    const std::uint16_t* density_;
    tile_grid grid_;
    std::vector<tile> tiles_;
    std::size_t tile_ = 0;  ///< of the last draw
    std::uint64_t all_ = 0;
    std::vector<bool> taken_;
};

}  // namespace

std::vector<std::int32_t> samples(const problem& p, const std::uint16_t* density, std::int64_t count,
                                  std::uint64_t seed) {
    return sampler(p, density, count).drawn(count, seed);
}

}  // namespace nearfield::centroidal
