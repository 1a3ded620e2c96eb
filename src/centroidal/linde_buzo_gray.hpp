// Linde-Buzo-Gray stippling: points split and vanish until each has its share of the ink.
#pragma once

#include <vector>

#include "centroidal/room.hpp"

namespace nearfield::centroidal {

class linde_buzo_gray {
public:
    /// Starts from one point in the middle; a point's share is 1 / shares of the ink. The density must not be all zero.
    linde_buzo_gray(const problem& p, const std::uint16_t* density, engine& engine, std::uint64_t shares);

    [[nodiscard]] const std::vector<std::int32_t>& sites() const { return sites_; }
    /// Runs one round; returns whether points split or vanished.
    bool round(int number);
    /// Removes the points with the least ink, or splits those with the most, until there are `points` of them. If
    /// regions are too small to split, it adds points anywhere.
    void settle_on(std::int64_t points);

private:
    enum class fate : std::uint8_t { stays, goes, splits };

    /// Replaces the points, each by its fate. A new point is left out if its part already has one.
    void follow(const std::vector<moments>& found, const std::vector<fate>& fates);
    bool add(std::int32_t part);
    /// Makes the added points the current ones.
    void finish();
    /// Adds points in the first free parts that have ink.
    void fill_up(std::int64_t points);

    problem p_;
    const std::uint16_t* density_;
    engine& engine_;
    std::uint64_t shares_;
    uint128 all_ = 0;  ///< ink of all parts
    std::vector<std::int32_t> sites_, made_;
    std::vector<bool> taken_;
};

/// Offset of a split region's two points from its centroid: 0.866 standard deviations along the main axis, the exact
/// value for a uniform bar.
struct way {
    double along[3];
};
way main_axis(const problem& p, const moments& of);

}  // namespace nearfield::centroidal
