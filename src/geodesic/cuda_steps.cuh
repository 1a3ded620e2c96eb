// The steps of a call as kernels read them, and the families of lines that they form.
#pragma once

#include <algorithm>
#include <vector>

#include "geodesic/cuda_grid.cuh"

namespace nearfield::geodesics {

template <int Axes>
class listed_steps {
public:
    std::vector<device_step> rows;
    std::vector<device_between> between;
    std::vector<family<Axes>> families;  ///< none if a step has no family
    swept_steps sweeps;

    explicit listed_steps(const problem_of<device>& p) : p_(p), skipped_(Axes - p.where.axes) {
        const bool all = std::all_of(p.steps.begin(), p.steps.end(), [&](const auto& s) { return is_of_family(s); });
        for (const geodesics::step& s : p.steps) {
            rows.push_back({moved(s.by), static_cast<std::uint32_t>(s.price), static_cast<std::uint32_t>(s.offset),
                            static_cast<std::uint32_t>(between.size()), static_cast<std::uint32_t>(s.between.size())});
            for (std::size_t k = 0; k < s.between.size(); ++k)
                between.push_back({moved(s.between[k]), static_cast<std::uint32_t>(s.between_offset[k])});
            const int main = main_axis(s);
            if (all && rows.back().by[static_cast<std::size_t>(main)] > 0) add_family(rows.back(), main);
        }
        if (Axes == few_axes && p.where.axes == few_axes && p.where.batch == 0) find_volume_sweeps();
        else find_sweeps();
    }

    /// Number of pairs of cell and step for which the step leaves a tile.
    [[nodiscard]] std::int64_t crossings(const device_tiling<Axes>& t) const {
        std::int64_t all = 0;
        for (const device_step& s : rows) all += t.leaving(s.by);
        return all;
    }

    /// True if all steps go along so many axes, both ways, for one price.
    [[nodiscard]] bool go_for_one_price(int axes) const {
        return std::ssize(families) == axes && std::ssize(rows) == 2 * axes &&
               std::all_of(families.begin(), families.end(),
                           [&](const auto& f) { return !f.skewed && f.price == families[0].price; });
    }

    /// True if the neighbours of a cell show whether it is redundant, as redundant() does: there are eight steps, and a
    /// diagonal one costs as much as each other one at least, and as two at most.
    [[nodiscard]] bool show_redundant_cells() const {
        std::int64_t price[2][2]{};  // by whether a step changes the row, and the column
        for (const device_step& s : rows) {
            std::int64_t& of = price[s.by[Axes - 2] == 0 ? 0 : 1][s.by[Axes - 1] == 0 ? 0 : 1];
            if (s.between > 0 || (of != 0 && of != s.price)) return false;
            of = s.price;
        }
        const std::int64_t high = price[1][0], wide = price[0][1], aside = price[1][1];
        return rows.size() == 8 && !p_.cost.wanted() && aside >= std::max(high, wide) && aside <= high + wide;
    }

private:
    [[nodiscard]] vector_of_step moved(const vector_of_step& by) const {
        vector_of_step to{};
        std::copy_n(by.begin(), p_.where.axes, to.begin() + skipped_);
        return to;
    }
    /// The longest axis of the tile that a step changes, numbered as in the kernels.
    [[nodiscard]] int main_axis(const geodesics::step& s) const {
        int main = 0;
        for (int axis = 1; axis < p_.where.axes; ++axis)
            if (s.by[static_cast<std::size_t>(axis)] != 0 &&
                (s.by[static_cast<std::size_t>(main)] == 0 || p_.where.bits[axis] > p_.where.bits[main]))
                main = axis;
        return main + skipped_;
    }
    /// True if the step forms a family with its opposite, for which the answer is the same.
    [[nodiscard]] bool is_of_family(const geodesics::step& s) const {
        bool neighbours = p_.steps.size() <= 2 * most_families && p_.where.bits[main_axis(s) - skipped_] >= 3;
        for (int axis = 0; axis < p_.where.axes; ++axis) {
            const int by = s.by[static_cast<std::size_t>(axis)];
            neighbours = neighbours && by >= -1 && by <= 1 && (by == 0 || p_.where.bits[axis] > 0);
        }
        return neighbours;
    }
    void add_family(const device_step& s, int main) {
        family<Axes> f{};
        for (int axis = 0; axis < Axes; ++axis) {
            f.sign[axis] = s.by[static_cast<std::size_t>(axis)];
            f.skewed = f.skewed || (axis != main && f.sign[axis] != 0);
        }
        f.main = static_cast<std::int8_t>(main);
        f.price = s.price;
        families.push_back(f);
    }

    /// Sorts the steps into cones, if tiles are square images and some step is not along a side.
    void find_sweeps() {
        const tiling& t = p_.where;
        if (Axes != few_axes || t.axes < 2) return;
        bool all = rows.size() <= std::size_t{2} * cones * slots, aside = false;
        for (int axis = 0; axis < t.axes; ++axis)
            all = all && t.bits[axis] == (axis < t.axes - 2 ? 0 : device_tile_bits / 2);
        for (auto& cone : sweeps.step) std::fill_n(cone, slots, static_cast<std::int8_t>(-1));
        int reach = 0;
        for (std::size_t i = 0; all && i < rows.size(); ++i) {
            const vector_of_step& by = rows[i].by;
            all = put_in_cones(by, static_cast<std::int8_t>(i));
            aside = aside || (by[Axes - 2] != 0 && by[Axes - 1] != 0), sweeps.masked |= rows[i].between > 0;
            reach = std::max({reach, std::abs(by[Axes - 2]), std::abs(by[Axes - 1])});
        }
        if (all && aside) sweeps.reach = reach;
    }
    /// Finds the prices of steps to neighbours in a volume, if tiles are cubes, no step passes cells, and some step is
    /// not along an axis.
    void find_volume_sweeps() {
        bool all = true, aside = false;
        for (int axis = 0; axis < few_axes; ++axis) all = all && p_.where.bits[axis] == device_tile_bits / few_axes;
        std::size_t slots_filled = 0;
        for (std::size_t i = 0; all && i < rows.size(); ++i) {
            const vector_of_step& by = rows[i].by;
            const auto changes = [&](int axis) { return by[static_cast<std::size_t>(axis)] != 0; };
            for (int axis = 0; axis < few_axes; ++axis) {
                const int row = axis == 0 ? 1 : 0, cell = axis == 2 ? 1 : 2;
                all = all && std::abs(by[static_cast<std::size_t>(axis)]) <= 1 && rows[i].between == 0;
                if (!changes(axis)) continue;
                std::uint32_t& price = sweeps.price[axis][(changes(row) ? 2 : 0) + (changes(cell) ? 1 : 0)];
                all = all && (price == 0 || price == rows[i].price), price = rows[i].price;
                aside = aside || changes(row) || changes(cell), ++slots_filled;
            }
        }
        // Each price of an axis holds for 2, 4, 4 or 8 steps, of both directions.
        for (const auto& prices : sweeps.price)
            for (int k = 0; k < 4; ++k) slots_filled -= prices[k] == 0 ? 0 : k == 0 ? 2 : k == 3 ? 8 : 4;
        if (all && aside && slots_filled == 0) sweeps.volume = true, sweeps.reach = 1;
    }
    /// Puts a step into its cones; false if it has none, or another step took its slot.
    bool put_in_cones(const vector_of_step& by, std::int8_t step) {
        bool any = false;
        for (int cone = 0; cone < cones; ++cone) {
            const std::size_t axis = cone < 2 ? Axes - 2 : Axes - 1, other = cone < 2 ? Axes - 1 : Axes - 2;
            for (int s = 0; s < slots; ++s) {
                if (by[axis] != (cone % 2 == 0 ? ahead(s) : -ahead(s)) || by[other] != geodesics::aside(s)) continue;
                if (sweeps.step[cone][s] >= 0) return false;
                sweeps.step[cone][s] = step, any = true;
            }
        }
        return any && by[Axes - 3] == 0;
    }

    const problem_of<device>& p_;
    int skipped_;
};

}  // namespace nearfield::geodesics
