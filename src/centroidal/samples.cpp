// Samples of a density: one from each stretch of equal mass along a curve that fills the grid.
#include <algorithm>
#include <bit>
#include <numeric>

#include "base/hash.hpp"
#include "centroidal/room.hpp"

namespace nearfield::centroidal {
namespace {

/// Returns a point's position along Hilbert's curve through a cube of 2^bits a side.
///
/// Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004.
std::uint64_t along_curve(std::array<std::uint32_t, 3> x, int axes, int bits) {
    const std::size_t first = static_cast<std::size_t>(3 - axes), last = 2;
    for (std::uint32_t q = std::uint32_t{1} << (bits - 1); q > 1; q /= 2)
        for (std::size_t k = first; k <= last; ++k) {
            const std::uint32_t low = (x[k] & q) != 0 ? q - 1 : 0, swapped = (x[first] ^ x[k]) & (q - 1) & ~low;
            x[first] ^= low | swapped;
            x[k] ^= swapped;
        }
    for (std::size_t k = first + 1; k <= last; ++k) x[k] ^= x[k - 1];
    std::uint32_t turned = 0;
    for (std::uint32_t q = std::uint32_t{1} << (bits - 1); q > 1; q /= 2)
        if ((x[last] & q) != 0) turned ^= q - 1;
    std::uint64_t key = 0;
    for (int bit = bits - 1; bit >= 0; --bit)
        for (std::size_t k = first; k <= last; ++k) key = 2 * key + (((x[k] ^ turned) >> bit) & 1);
    return key;
}

/// A cube of cells, clipped to the grid.
struct tile {
    std::uint64_t key = 0;
    std::array<std::int64_t, 3> first{};
    std::uint64_t mass = 0;  ///< its own mass; after summing, the mass of all tiles before it
};

class sampler {
public:
    sampler(const problem& p, const std::uint16_t* density, std::int64_t count)
        : p_(p), density_(density), taken_(static_cast<std::size_t>(p.parts())) {
        while (tiles() > std::max<std::int64_t>(std::int64_t{1} << 14, count)) side_ *= 2;
        make_tiles();
    }

    [[nodiscard]] std::vector<std::int32_t> drawn(std::int64_t count, std::uint64_t seed) {
        std::vector<std::int32_t> parts;
        parts.reserve(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) parts.push_back(draw(i, count, seed));
        return parts;
    }

private:
    [[nodiscard]] std::int64_t tiles_along(int axis) const { return (p_.cells_along(axis) + side_ - 1) / side_; }
    [[nodiscard]] std::int64_t tiles() const { return tiles_along(0) * tiles_along(1) * tiles_along(2); }
    [[nodiscard]] std::int64_t end_of(const tile& t, std::size_t axis) const {
        return std::min(t.first[axis] + side_, p_.cells_along(static_cast<int>(axis)));
    }

    /// Calls body(cell) for the cells of a tile in raster order until it returns false.
    template <class Body>
    void for_cells(const tile& t, const Body& body) const {
        // Divisions before the loops: cells_along() divides.
        const std::int64_t end[] = {end_of(t, 0), end_of(t, 1), end_of(t, 2)}, columns = p_.cells_along(2),
                           rows = p_.cells_along(1);
        for (std::int64_t z = t.first[0]; z < end[0]; ++z)
            for (std::int64_t y = t.first[1]; y < end[1]; ++y)
                for (std::int64_t x = t.first[2]; x < end[2]; ++x)
                    if (!body((z * rows + y) * columns + x)) return;
    }

    void make_tiles() {
        const auto most = static_cast<std::uint64_t>(std::max({tiles_along(0), tiles_along(1), tiles_along(2)}));
        const int bits = std::max(1, static_cast<int>(std::bit_width(most - 1)));
        tile t;
        for (t.first[0] = 0; t.first[0] < p_.cells_along(0); t.first[0] += side_)
            for (t.first[1] = 0; t.first[1] < p_.cells_along(1); t.first[1] += side_)
                for (t.first[2] = 0; t.first[2] < p_.cells_along(2); t.first[2] += side_) {
                    std::array<std::uint32_t, 3> at{};
                    for (std::size_t k = 0; k < 3; ++k) at[k] = static_cast<std::uint32_t>(t.first[k] / side_);
                    t.key = along_curve(at, p_.axes, bits), t.mass = 0;
                    for_cells(t, [&](std::int64_t cell) { return t.mass += density_[cell], true; });
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
        constexpr std::uint64_t attempts = 16;
        std::int64_t cell = 0;
        const std::size_t first = tile_;
        for (std::uint64_t k = 0; k < attempts; ++k) {
            const std::uint64_t bits = mixed(mixed(seed) + static_cast<std::uint64_t>(i) * attempts + k);
            const uint128 at = (static_cast<uint128>(static_cast<std::uint64_t>(i)) * all_ + bits % all_) /
                               static_cast<std::uint64_t>(count);
            const auto mass = static_cast<std::uint64_t>(at);
            for (tile_ = first; tile_ + 1 < tiles_.size() && tiles_[tile_ + 1].mass <= mass;) ++tile_;
            cell = cell_at(tiles_[tile_], mass);
            if (const std::int32_t part = take(cell, mixed(bits)); part >= 0) return part;
        }
        return first_free(cell);
    }

    [[nodiscard]] std::int64_t cell_at(const tile& in, std::uint64_t mass) const {
        std::int64_t found = -1;
        std::uint64_t rest = mass - in.mass;
        for_cells(in, [&](std::int64_t cell) {
            found = cell;
            const bool beyond = rest >= density_[cell];
            rest -= beyond ? density_[cell] : 0;
            return beyond;
        });
        return found;
    }

    /// Takes one of the parts of a cell; returns -1 if it is taken already.
    std::int32_t take(std::int64_t cell, std::uint64_t choice) {
        std::int64_t part = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t before = axis == 0   ? p_.cells_along(1) * p_.cells_along(2)
                                        : axis == 1 ? p_.cells_along(2)
                                                    : 1;
            const auto factor = static_cast<std::uint64_t>(p_.factor[axis]);
            part = part * p_.size[axis] + cell / before * p_.factor[axis] + static_cast<std::int64_t>(choice % factor);
            cell %= before, choice /= factor;
        }
        const auto at = static_cast<std::size_t>(part);
        if (taken_[at]) return -1;
        taken_[at] = true;
        return static_cast<std::int32_t>(part);
    }

    /// Takes the first free part along the curve, starting at a cell's tile.
    std::int32_t first_free(std::int64_t from) {
        const std::int64_t choices = p_.factor[0] * p_.factor[1] * p_.factor[2];
        std::size_t begin = 0;
        while (begin < tiles_.size() && !holds(tiles_[begin], from)) ++begin;
        std::int32_t found = -1;
        for (std::size_t k = 0; found < 0 && k < tiles_.size(); ++k)
            for_cells(tiles_[(begin + k) % tiles_.size()], [&](std::int64_t cell) {
                for (std::int64_t c = 0; found < 0 && density_[cell] > 0 && c < choices; ++c)
                    found = take(cell, static_cast<std::uint64_t>(c));
                return found < 0;
            });
        return found;
    }
    [[nodiscard]] bool holds(const tile& t, std::int64_t cell) const {
        bool inside = false;
        for_cells(t, [&](std::int64_t each) { return inside = each == cell, !inside; });
        return inside;
    }

    const problem& p_;
    const std::uint16_t* density_;
    std::int64_t side_ = 1;
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
