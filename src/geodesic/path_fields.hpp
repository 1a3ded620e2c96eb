// The fields from which paths are made: squared clearances, and costs from the goals. Few of their cells are read.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/annotate.hpp"
#include "base/scratch.hpp"
#include "geodesic/core.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/path.hpp"
#include "nearfield/skeleton.hpp"

namespace nearfield::geodesics {

inline constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint16_t price_parts = 16;  ///< resolution: parts of the price of a unit of length

/// The price of a unit of length, in parts, up to a squared clearance.
struct clearance_price {
    double farthest;
    std::uint16_t price;
};

/// A cell's squared clearance says whether the cell is open, and its price.
struct cell_rule {
    double blocked = 0;                       ///< largest squared clearance of a cell that is not free
    double level = -1;                        ///< least squared clearance of an open cell
    bool priced = false;                      ///< steps cost their length times the prices of both ends
    const clearance_price* prices = nullptr;  ///< by rising clearance; price_parts beyond the last
    int count = 0;

    [[nodiscard]] NF_HD bool is_free(double squared) const { return squared > blocked; }
    [[nodiscard]] NF_HD bool is_open(double squared) const { return is_free(squared) && squared >= level; }
    [[nodiscard]] NF_HD std::uint16_t price(double squared) const {
        int low = 0;
        for (int high = count; low < high;) {
            const int middle = (low + high) / 2;
            if (squared > prices[middle].farthest) low = middle + 1;
            else high = middle;
        }
        return low < count ? prices[low].price : price_parts;
    }
};

/// Computes and reads the fields of a grid of obstacles. Numbers of cells count in C order; a place is a cell's number
/// in the order of where().
class path_fields {
public:
    explicit path_fields(const tiling& where) : where_(where) {}
    path_fields(const path_fields&) = delete;
    path_fields& operator=(const path_fields&) = delete;
    virtual ~path_fields() = default;

    [[nodiscard]] const tiling& where() const { return where_; }

    /// Computes squared distances to obstacles, 0 inside them.
    virtual void measure(const distance_options& how) = 0;
    /// Computes costs from cells through open cells.
    virtual void flood(const cell_rule& rule, std::span<const std::int64_t> seeds, const geodesic_options& how) = 0;
    [[nodiscard]] virtual double squared(std::int64_t place) = 0;
    /// Returns the cost of a place; `none` if there is no path.
    [[nodiscard]] virtual std::int64_t cost(std::int64_t place) = 0;
    /// Returns for each start the squared clearance of the widest way along axes to a goal; -1 if there is none.
    [[nodiscard]] virtual std::vector<double> widths(const cell_rule& rule, std::span<const std::int64_t> starts,
                                                     std::span<const std::int64_t> goals, const borders& ends) = 0;
    /// Returns the number of the component of open cells, joined by faces, to which each cell belongs.
    [[nodiscard]] virtual std::vector<std::int64_t> components(const cell_rule& rule,
                                                               std::span<const std::int64_t> cells,
                                                               const borders& ends) = 0;
    /// Returns the skeleton of the open cells, 1 where a cell is in it, by their numbers.
    [[nodiscard]] virtual host_scratch<std::uint8_t> thinned(const cell_rule& rule, const skeleton_options& how) = 0;
    /// Returns the threads of steps beside these fields, and a callback for them that is asked and hears no progress.
    [[nodiscard]] virtual host asking() const { return {}; }

protected:
    /// Returns the tiling of an array, with tiles of `bits` bits.
    template <class View>
    static tiling tiling_of(const View& array, int bits) {
        tiling t;
        t.axes = array.rank;
        std::copy_n(array.shape.begin(), array.rank, t.size);
        set_sides(t, bits);
        return t;
    }

private:
    tiling where_;
};

/// Fields in memory of the host; a place is a cell's number.
class host_fields final : public path_fields {
public:
    /// measure() and flood() read both arguments.
    host_fields(const host& on, const any_input<host>& obstacles);

    void measure(const distance_options& how) override;
    void flood(const cell_rule& rule, std::span<const std::int64_t> seeds, const geodesic_options& how) override;
    [[nodiscard]] double squared(std::int64_t place) override { return squared_.get()[place]; }
    [[nodiscard]] std::int64_t cost(std::int64_t place) override { return cost_.get()[place]; }
    [[nodiscard]] std::vector<double> widths(const cell_rule& rule, std::span<const std::int64_t> starts,
                                             std::span<const std::int64_t> goals, const borders& ends) override;
    [[nodiscard]] std::vector<std::int64_t> components(const cell_rule& rule, std::span<const std::int64_t> cells,
                                                       const borders& ends) override;
    [[nodiscard]] host_scratch<std::uint8_t> thinned(const cell_rule& rule, const skeleton_options& how) override;
    [[nodiscard]] host asking() const override { return quiet_; }

private:
    /// Marks the open cells with 1.
    [[nodiscard]] host_scratch<std::uint8_t> open_cells(const cell_rule& rule) const;
    template <class Body>
    void for_cells(const Body& body) const;
    [[nodiscard]] std::span<const std::int64_t> shape() const {
        return {where().size, static_cast<std::size_t>(where().axes)};
    }

    const host& on_;
    const any_input<host>& obstacles_;
    std::int64_t cells_;
    host quiet_;  ///< asks whether to go on and reports no progress
    host_scratch<double> squared_;
    host_scratch<std::int64_t> cost_;
};

/// Makes fields in memory of a device, of which the host fetches the tiles that it reads.
std::unique_ptr<path_fields> fields_of(const device& on, const any_input<device>& obstacles);
/// Makes fields that a device computes and the host keeps whole, for a measure(), a thinned() and then a flood(). Many
/// threads may read them. A place is a cell's number.
std::unique_ptr<path_fields> kept_fields_of(const device& on, const any_input<device>& obstacles);

/// Returns for each start the squared clearance of its widest way, from squared clearances on the host.
std::vector<double> widths_of(const host& on, const any_input<host>& squared, const any_input<host>& open,
                              std::span<const std::int64_t> starts, std::span<const std::int64_t> goals,
                              const borders& ends);

}  // namespace nearfield::geodesics
