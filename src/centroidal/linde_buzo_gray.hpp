// Linde-Buzo-Gray stippling: points split and go until each has its share of the ink.
#pragma once

#include <vector>

#include "centroidal/room.hpp"

namespace nearfield::centroidal {

class linde_buzo_gray {
public:
    /// Starts from one point in the middle; a point's share is 1 / shares of the ink. The density has some.
    linde_buzo_gray(const problem& p, const std::uint16_t* density, engine& engine, std::uint64_t shares);

    [[nodiscard]] const std::vector<std::int32_t>& sites() const { return sites_; }
    /// True where points went or split.
    bool round(int number);
    /// The points with the least ink go, or those with the most split, until there are so many; where regions are too
    /// small to split, points come anywhere.
    void settle_on(std::int64_t points);

private:
    enum class fate : std::uint8_t { stays, goes, splits };

    /// Sets the points anew, each by its fate. What would be where one is already is left out.
    void follow(const std::vector<moments>& found, const std::vector<fate>& fates);
    bool add(std::int32_t part);
    /// What was added are the points now.
    void finish();
    /// Points in the first parts that are free and have ink.
    void fill_up(std::int64_t points);

    problem p_;
    const std::uint16_t* density_;
    engine& engine_;
    std::uint64_t shares_;
    uint128 all_ = 0;  ///< ink of all parts
    std::vector<std::int32_t> sites_, made_;
    std::vector<bool> taken_;
};

/// Along which way, and how far, the two halves of a region lie from its centroid: 0.866 standard deviations along its
/// main axis, as in a bar.
struct way {
    double along[3];
};
way main_axis(const problem& p, const moments& of);

}  // namespace nearfield::centroidal
