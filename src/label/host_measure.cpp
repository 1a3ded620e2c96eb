#include "label/host_measure.hpp"

#include <algorithm>

#include "label/host_expand.hpp"
#include "label/host_tables.hpp"

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
          open_{p.rank > 1, p.rank > 2},
          nothing_(static_cast<std::size_t>(bits.words), 0),
          base_(first_components(found)),
          sums_(p, tables, base_.back()) {}

    void fill(const std::vector<band>& bands) {
        if (sums_.none()) return;
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
    /// Components of all images before each, and of all.
    static std::vector<std::int64_t> first_components(const std::vector<std::int64_t>& found) {
        std::vector<std::int64_t> base{0};
        for (const std::int64_t n : found) base.push_back(base.back() + n);
        return base;
    }

    void look_through(const band& b, typename component_sums<Axes>::part& part, const look& what) const {
        std::vector<row_run> runs(static_cast<std::size_t>(bits_.cells));
        std::vector<std::uint32_t> lines(sums_.with_faces() && !bits_.plain ? 2 * static_cast<std::size_t>(bits_.cells)
                                                                            : 0);
        for (std::int64_t row = b.first; row < b.last; ++row) {
            std::int64_t count = list_runs(bits_.foreground(row), bits_.starts(row), bits_.words, runs.data());
            if (what.shapes && sums_.with_faces()) add_faces(row, runs.data(), count, lines.data());
            count = name(row, runs.data(), count);
            sums_.add_row(part, row, {runs.data(), static_cast<std::size_t>(count)}, what);
        }
    }

    /// Gives the runs their components and leaves out those that have none.
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

    // ---- faces -------------------------------------------------------------------------------------------------------

    /// Rows that share faces with this one, -1 where the grid ends there; returns how many.
    int rows_beside(std::int64_t row, std::int64_t* beside) const {
        const std::int64_t y = row % bits_.side, z = row / bits_.side % bits_.planes;
        int count = 0;
        if (open_[0]) {
            beside[count++] = y > 0 ? row - 1 : -1;
            beside[count++] = y + 1 < bits_.side ? row + 1 : -1;
        }
        if (open_[1]) {
            beside[count++] = z > 0 ? row - bits_.side : -1;
            beside[count++] = z + 1 < bits_.planes ? row + bits_.side : -1;
        }
        return count;
    }

    void add_faces(std::int64_t row, row_run* runs, std::int64_t count, std::uint32_t* lines) const {
        std::int64_t beside[4];
        const int rows = rows_beside(row, beside);
        if (!bits_.plain) return compare_labels(row, beside, rows, runs, count, lines);
        const std::uint64_t* words[4];
        for (int k = 0; k < rows; ++k) words[k] = beside[k] < 0 ? nothing_.data() : bits_.foreground(beside[k]);
        count_faces(bits_.foreground(row), words, rows, runs, count);
    }

    void expand(std::int64_t row, std::uint32_t* to) const {
        if (row < 0) std::fill(to, to + bits_.cells, 0);
        else expand_labels(bits_.foreground(row), bits_.starts(row), bits_.cells, label_ + bits_.first_run()[row], to);
    }

    /// Runs of one component may lie side by side, and neighbours belong to others: labels are compared cell by cell.
    void compare_labels(std::int64_t row, const std::int64_t* beside, int rows, row_run* runs, std::int64_t count,
                        std::uint32_t* here) const {
        std::uint32_t* const there = here + bits_.cells;
        expand(row, here);
        for (row_run* run = runs; run != runs + count; ++run) {
            const bool west = run->first == 0 || here[run->first - 1] != here[run->first];
            const bool east = run->end == bits_.cells || here[run->end] != here[run->first];
            run->faces = static_cast<std::uint64_t>(west) + static_cast<std::uint64_t>(east);
        }
        for (int k = 0; k < rows; ++k) {
            expand(beside[k], there);
            for (row_run* run = runs; run != runs + count; ++run) {
                std::uint64_t faces = 0;
                for (std::int64_t x = run->first; x < run->end; ++x) faces += here[x] != there[x];
                run->faces += faces;
            }
        }
    }

    workers& crew_;
    const bit_rows& bits_;
    const std::uint32_t* label_;
    std::int64_t image_rows_;
    bool open_[2];  ///< there is an axis of rows; of planes
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
