#include "label/host/filter.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "label/host/expand.hpp"

namespace nearfield::labelling {
namespace {

constexpr std::int64_t task_cells = 1 << 16;

class filter {
public:
    filter(workers& crew, const problem& p, const bit_rows& bits, std::uint32_t* label,
           std::vector<std::int64_t>& found)
        : crew_(crew), p_(p), bits_(bits), label_(label), found_(found), rows_(bits.planes * bits.side) {
        std::int64_t components = 0;
        for (const std::int64_t n : found) base_.push_back(components), components += n;
        cells_.assign(static_cast<std::size_t>(components), 0);
        at_border_.assign(static_cast<std::size_t>(components), 0);
    }

    void apply(std::vector<band>& bands) {
        const std::int64_t block = std::max<std::int64_t>(1, task_cells / bits_.cells);
        crew_.for_each(bits_.rows, block, 0, [&](std::int64_t first, std::int64_t last, int) {
            std::vector<row_run> runs(bits_.most_runs(first, last));
            for (std::int64_t row = first; row < last; ++row) measure(row, runs.data());
        });
        for (std::size_t image = 0; image < found_.size(); ++image) choose(image);
        for (band& b : bands) b.labels_before = kept_before(b);
        crew_.for_each(bits_.rows, block, 0, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t row = first; row < last; ++row) renumber(row);
        });
    }

private:
    [[nodiscard]] bool end_row(std::int64_t row) const {
        const std::int64_t y = row % bits_.side, z = row / bits_.side % bits_.planes;
        return (has_ends(1) && (y == 0 || y == bits_.side - 1)) || (has_ends(2) && (z == 0 || z == bits_.planes - 1));
    }
    /// True if the axis, counted from the last one, has ends.
    [[nodiscard]] bool has_ends(int axis) const {
        return axis < p_.rank && !p_.periodic[static_cast<std::size_t>(p_.rank - 1 - axis)];
    }

    /// Sums the runs of one component in a row first, before it adds them to totals that threads share.
    void measure(std::int64_t row, row_run* runs) {
        const std::int64_t count = list_runs(bits_.foreground(row), bits_.starts(row), bits_.words, runs);
        const std::uint32_t* const label = label_ + bits_.first_run()[row];
        const std::int64_t base = base_[static_cast<std::size_t>(row / rows_)] - 1;
        const bool at_end = end_row(row), has_ends_of_row = has_ends(0);
        for (std::int64_t k = 0; k < count;) {
            const std::uint32_t mine = label[k];
            std::int64_t cells = 0;
            bool border = at_end;
            for (; k < count && label[k] == mine; ++k) {
                cells += runs[k].end - runs[k].first;
                border = border || (has_ends_of_row && (runs[k].first == 0 || runs[k].end == bits_.cells));
            }
            const auto component = static_cast<std::size_t>(base + mine);
            std::atomic_ref(cells_[component]).fetch_add(cells, std::memory_order_relaxed);
            if (border) std::atomic_ref(at_border_[component]).store(1, std::memory_order_relaxed);
        }
    }

    /// Replaces the size of each component by its new label, 0 for none.
    void choose(std::size_t image) {
        const label_options& o = p_.options;
        std::int64_t* const cells = cells_.data() + base_[image];
        const std::uint8_t* const border = at_border_.data() + base_[image];
        std::vector<std::int64_t> left;
        for (std::int64_t i = 0; i < found_[image]; ++i)
            if (passes(cells[i], border[i] != 0, o.smallest, o.largest, o.clear_border)) left.push_back(i);
        if (o.keep_largest < static_cast<std::int64_t>(left.size())) {
            std::stable_sort(left.begin(), left.end(), [&](auto a, auto b) { return cells[a] > cells[b]; });
            left.resize(static_cast<std::size_t>(o.keep_largest));
            std::sort(left.begin(), left.end());
        }
        std::fill(cells, cells + found_[image], 0);
        found_[image] = 0;
        for (const std::int64_t i : left) cells[i] = ++found_[image];
    }

    [[nodiscard]] std::int64_t kept_before(const band& b) const {
        const std::int64_t* const fresh = cells_.data() + base_[static_cast<std::size_t>(b.first / rows_)];
        std::int64_t i = b.labels_before;
        while (i > 0 && fresh[i - 1] == 0) --i;
        return i > 0 ? fresh[i - 1] : 0;
    }

    void renumber(std::int64_t row) {
        const std::int64_t base = base_[static_cast<std::size_t>(row / rows_)] - 1;
        for (std::int64_t run = bits_.first_run()[row]; run < bits_.first_run()[row + 1]; ++run)
            label_[run] = static_cast<std::uint32_t>(cells_[static_cast<std::size_t>(base + label_[run])]);
    }

    workers& crew_;
    const problem& p_;
    const bit_rows& bits_;
    std::uint32_t* label_;
    std::vector<std::int64_t>& found_;
    std::int64_t rows_;
    std::vector<std::int64_t> base_, cells_;
    std::vector<std::uint8_t> at_border_;
};

}  // namespace

void filter_labels(workers& crew, const problem& p, const bit_rows& bits, std::uint32_t* label,
                   std::vector<band>& bands, std::vector<std::int64_t>& found) {
    filter(crew, p, bits, label, found).apply(bands);
}

}  // namespace nearfield::labelling
