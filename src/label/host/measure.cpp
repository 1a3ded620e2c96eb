#include "label/host/measure.hpp"

#include <algorithm>
#include <numeric>

#include "label/host/shapes.hpp"
#include "label/host/tables.hpp"

namespace nearfield::labelling {
namespace {

template <int Axes>
class measurement {
public:
    measurement(workers& crew, const problem& p, const bit_rows& bits, const std::uint32_t* label,
                const std::vector<std::int64_t>& found, const component_tables<host>& tables)
        : crew_(crew),
          bits_(bits),
          label_(label),
          image_rows_(bits.planes * bits.side),
          sides_{p.rank > 1, p.rank > 2},
          periodic_{p.periodic[static_cast<std::size_t>(p.rank - 1)],
                    p.rank > 1 && p.periodic[static_cast<std::size_t>(p.rank - 2)], p.rank > 2 && p.periodic[0]},
          nothing_(static_cast<std::size_t>(bits.words), 0),
          base_(first_components(found)),
          sums_(p, tables, base_.back()) {}

    void fill(const std::vector<band>& bands) {
        if (sums_.none()) return;
        if (!by_words()) sums_.shapes().clear();
        std::vector<typename component_sums<Axes>::part> parts;
        for (const band& b : bands)
            parts.emplace_back(base_[static_cast<std::size_t>(b.first / image_rows_)] + b.labels_before);
        for (const look& what : sums_.looks()) {
            crew_.for_each(static_cast<std::int64_t>(bands.size()), 1, 0, [&](std::int64_t k, std::int64_t, int) {
                const auto at = static_cast<std::size_t>(k);
                look_through(bands[at], parts[at], what);
            });
            for (auto& part : parts) sums_.join(part);
        }
        sums_.finish(crew_);
    }

private:
    /// Returns the number of components of the images before each, and of all.
    static std::vector<std::int64_t> first_components(const std::vector<std::int64_t>& found) {
        std::vector<std::int64_t> base{0};
        for (const std::int64_t n : found) base.push_back(base.back() + n);
        return base;
    }

    /// Number of rows between two checks of whether the call is cancelled.
    [[nodiscard]] std::int64_t rows_at_once() const {
        constexpr std::int64_t cells = 1 << 18;
        return std::max<std::int64_t>(1, cells / bits_.cells);
    }
    /// True if shapes need no list of runs: unless faces lie between labels instead of around the foreground.
    [[nodiscard]] bool by_words() const { return bits_.plain || !sums_.with_faces(); }

    void look_through(const band& b, typename component_sums<Axes>::part& part, look what) const {
        if (what.shapes && by_words()) {
            add_shapes_of(b, part);
            what.shapes = false;
        }
        if (!what.shapes && !what.ranges && !what.sums) return;
        std::vector<row_run> runs(bits_.most_runs(b.first, b.last));
        std::vector<std::uint32_t> lines(what.shapes ? 3 * static_cast<std::size_t>(bits_.cells) : 0);
        for (std::int64_t row = b.first; row < b.last; ++row) {
            if ((row - b.first) % rows_at_once() == 0) crew_.go_on(0);
            std::int64_t count = list_runs(bits_.foreground(row), bits_.starts(row), bits_.words, runs.data());
            if (what.shapes) compare_labels(row, runs.data(), count, lines.data());
            count = name(row, runs.data(), count);
            sums_.add_row(part, row, {runs.data(), static_cast<std::size_t>(count)}, what);
        }
    }

    // ---- shapes -----------------------------------------------------------------------------------------------------

    /// Adds shapes; rows that repeat the one above are added together with it.
    void add_shapes_of(const band& b, typename component_sums<Axes>::part& part) const {
        std::vector<row_run> others(bits_.most_runs(b.first, b.last));
        std::int64_t begun = 0;
        for (std::int64_t row = b.first, next = row, told = row; row < b.last; row = next) {
            if (row - told >= rows_at_once()) told = row, crew_.go_on(0);
            for (next = row + 1; next < b.last && next % bits_.side != 0 && !sums_.with_faces() && alike(row, next);)
                ++next;
            const std::int64_t before = row < b.first / image_rows_ * image_rows_ + image_rows_ ? b.labels_before : 0;
            if (row == b.first || row % image_rows_ == 0) begun = before;
            const std::int64_t image = base_[static_cast<std::size_t>(row / image_rows_)];
            const std::int64_t first = std::min(image + before, sums_.rows());
            const std::int64_t count = add_shapes(Axes, sums_.shapes().from(first), rows_of(row, next), before + 1,
                                                  sums_.rows() - first, begun, others.data());
            sums_.add_earlier(part, row, next - row, named(others.data(), count, image - 1));
        }
    }

    [[nodiscard]] bool alike(std::int64_t row, std::int64_t other) const {
        const auto same = [](const auto* a, const auto* b, std::int64_t count) { return std::equal(a, a + count, b); };
        if (!same(bits_.foreground(row), bits_.foreground(other), bits_.words)) return false;
        if (bits_.plain) return true;  // cells below a cell of the same component belong to it
        const std::int64_t *const first = bits_.first_run() + row, *const there = bits_.first_run() + other;
        return same(bits_.starts(row), bits_.starts(other), bits_.words) &&
               same(label_ + first[0], label_ + there[0], first[1] - first[0]);
    }

    [[nodiscard]] rows_alike rows_of(std::int64_t first, std::int64_t last) const {
        const std::int64_t y = first % bits_.side, z = first / bits_.side % bits_.planes;
        rows_alike r;
        r.foreground = bits_.foreground(first), r.starts = bits_.starts(first);
        r.words = bits_.words, r.cells = bits_.cells;
        r.runs = bits_.first_run()[first + 1] - bits_.first_run()[first];
        r.label = label_ + bits_.first_run()[first];
        r.z = z, r.y = y, r.rows = last - first;
        r.at_end = (sides_[0] && !periodic_[1] && (y == 0 || y + r.rows == bits_.side)) ||
                   (sides_[1] && !periodic_[2] && (z == 0 || z == bits_.planes - 1));
        r.periodic = periodic_[0];
        if (!sums_.with_faces()) return r;
        std::int64_t beside[4];
        r.beside = rows_beside(first, beside);
        for (int k = 0; k < r.beside; ++k)
            r.beside_words[k] = beside[k] < 0 ? nothing_.data() : bits_.foreground(beside[k]);
        return r;
    }

    /// Replaces labels by components and leaves out runs without one.
    std::span<const row_run> named(row_run* runs, std::int64_t count, std::int64_t base) const {
        const auto end = std::remove_if(runs, runs + count, [&](row_run& run) {
            const bool none = run.component == 0;
            run.component += base;
            return none || run.component >= sums_.rows();
        });
        return {runs, end};
    }

    // ---- lists of runs ----------------------------------------------------------------------------------------------

    /// Sets the components of the runs and leaves out runs without one.
    std::int64_t name(std::int64_t row, row_run* runs, std::int64_t count) const {
        const std::uint32_t* const label = label_ + bits_.first_run()[row];
        const std::int64_t base = base_[static_cast<std::size_t>(row / image_rows_)] - 1;
        std::int64_t kept = 0;
        for (std::int64_t k = 0; k < count; ++k) {
            row_run run = runs[k];
            run.component = base + label[k];
            runs[kept] = run;
            kept += label[k] != 0;
        }
        return kept;
    }

    // ---- faces ------------------------------------------------------------------------------------------------------

    /// Finds the rows that share faces with this one, -1 where the grid ends there; returns their number.
    int rows_beside(std::int64_t row, std::int64_t* beside) const {
        const std::int64_t y = row % bits_.side, z = row / bits_.side % bits_.planes;
        int count = 0;
        const auto both = [&](std::int64_t at, std::int64_t end, std::int64_t step, bool periodic) {
            const std::int64_t around = (end - 1) * step;
            beside[count++] = at > 0 ? row - step : periodic ? row + around : -1;
            beside[count++] = at + 1 < end ? row + step : periodic ? row - around : -1;
        };
        if (sides_[0]) both(y, bits_.side, 1, periodic_[1]);
        if (sides_[1]) both(z, bits_.planes, bits_.side, periodic_[2]);
        return count;
    }

    void expand(std::int64_t row, std::uint32_t* to) const {
        if (row < 0) std::fill(to, to + bits_.cells, 0);
        else expand_labels(bits_.foreground(row), bits_.starts(row), bits_.cells, label_ + bits_.first_run()[row], to);
    }

    /// Compares labels cell by cell, since adjacent runs may belong to one component, and neighbours to others.
    void compare_labels(std::int64_t row, row_run* runs, std::int64_t count, std::uint32_t* here) const {
        std::int64_t beside[4];
        const int rows = rows_beside(row, beside);
        std::uint32_t *const there = here + bits_.cells, *const differ = there + bits_.cells;
        expand(row, here);
        std::fill_n(differ, bits_.cells, 0);
        for (int k = 0; k < rows; ++k) {
            expand(beside[k], there);
            for (std::int64_t x = 0; x < bits_.cells; ++x) differ[x] += here[x] != there[x] ? 1 : 0;
        }
        for (row_run* run = runs; run != runs + count; ++run) {
            const auto other = [&](std::int64_t x) { return here[x] != here[run->first]; };
            const bool west = run->first == 0 ? !periodic_[0] || other(bits_.cells - 1) : other(run->first - 1);
            const bool east = run->end == bits_.cells ? !periodic_[0] || other(0) : other(run->end);
            run->faces = std::accumulate(differ + run->first, differ + run->end,
                                         static_cast<std::uint64_t>(west) + static_cast<std::uint64_t>(east));
        }
    }

    workers& crew_;
    const bit_rows& bits_;
    const std::uint32_t* label_;
    std::int64_t image_rows_;
    bool sides_[2];     ///< the image has an axis of rows; of planes
    bool periodic_[3];  ///< along a row; along rows; along planes
    std::vector<std::uint64_t> nothing_;
    std::vector<std::int64_t> base_;
    component_sums<Axes> sums_;
};

}  // namespace

void measure_runs(workers& crew, const problem& p, const bit_rows& bits, const std::uint32_t* label,
                  const std::vector<band>& bands, const std::vector<std::int64_t>& found,
                  const component_tables<host>& tables) {
    if (p.rank == 3) measurement<3>(crew, p, bits, label, found, tables).fill(bands);
    else if (p.rank == 2) measurement<2>(crew, p, bits, label, found, tables).fill(bands);
    else measurement<1>(crew, p, bits, label, found, tables).fill(bands);
}

}  // namespace nearfield::labelling
