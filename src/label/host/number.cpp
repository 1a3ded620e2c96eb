#include "label/host/number.hpp"

#include <algorithm>

namespace nearfield::labelling {
namespace {

class numbering {
public:
    numbering(workers& crew, const bit_rows& bits, std::uint32_t* tree, std::vector<band>& bands,
              std::vector<std::int64_t>& found)
        : crew_(crew),
          first_run_(bits.first_run()),
          image_rows_(bits.planes * bits.side),
          tree_(tree),
          bands_(bands),
          found_(found) {}

    /// Numbers components from 1, separately in each image if the band has whole images.
    void number(band& b) const {
        for (std::int64_t row = b.first; row < b.last;) {
            const std::int64_t next = std::min(b.last, (row / image_rows_ + 1) * image_rows_);
            b.numbers = number(first_run_[row], first_run_[next], b.crossings);
            if (whole(b)) found_[static_cast<std::size_t>(row / image_rows_)] = b.numbers;
            row = next;
        }
    }

    /// Settles the crossings band by band, since a parent's label must be known.
    void settle() const {
        std::int64_t count = 0;
        for (band& b : bands_) {
            if (whole(b)) continue;
            if (b.first % image_rows_ == 0) count = 0;
            b.labels_before = count;
            for (crossing& c : b.crossings) c.label = label_of(c.parent);
            count += b.numbers - static_cast<std::int64_t>(b.crossings.size());
            if (b.last % image_rows_ == 0) found_[static_cast<std::size_t>(b.first / image_rows_)] = count;
        }
    }

    /// Replaces the band's numbers by labels. After its last crossing all numbers shift by the same amount.
    void rename(const band& b) const {
        if (whole(b) || (b.labels_before == 0 && b.crossings.empty())) return;
        const std::int64_t first = first_run_[b.first], end = first_run_[b.last];
        const auto by = static_cast<std::uint32_t>(b.labels_before - static_cast<std::int64_t>(b.crossings.size()));
        if (b.crossings.empty()) {
            in_steps(first, end, [&](std::int64_t run) { tree_[run] += by; });
            return;
        }
        const std::uint32_t last = b.crossings.back().number;
        std::vector<std::uint32_t> label(last + 1);
        auto next = b.crossings.begin();
        auto own = static_cast<std::uint32_t>(b.labels_before);
        for (std::uint32_t number = 1; number <= last; ++number)
            label[number] = number == next->number ? static_cast<std::uint32_t>((next++)->label) : ++own;
        in_steps(first, end, [&](std::int64_t run) {
            const std::uint32_t number = tree_[run];
            tree_[run] = number <= last ? label[number] : number + by;
        });
    }

private:
    /// Calls body(run) in steps, between which the call can be cancelled.
    template <class Body>
    void in_steps(std::int64_t first, std::int64_t end, const Body& body) const {
        constexpr std::int64_t at_once = 1 << 20;
        while (first < end) {
            for (const std::int64_t next = std::min(end, first + at_once); first < next; ++first) body(first);
            if (first < end) crew_.go_on(0);
        }
    }
    [[nodiscard]] bool whole(const band& b) const { return b.first % image_rows_ == 0 && b.last % image_rows_ == 0; }

    /// Numbers the runs of a band. A run's parent comes before it, so it already has its number.
    std::int64_t number(std::int64_t first, std::int64_t end, std::vector<crossing>& crossings) const {
        std::uint32_t count = 0;
        in_steps(first, end, [&](std::int64_t run) {
            const std::uint32_t up = tree_[run];
            if (up < first) [[unlikely]] {
                tree_[run] = ++count;
                crossings.push_back({count, up});
                return;
            }
            const bool is_root = up == static_cast<std::uint32_t>(run);
            count += is_root;
            tree_[run] = is_root ? count : tree_[up];
        });
        return count;
    }

    /// Returns the label of a run in a band that is settled but not renamed.
    [[nodiscard]] std::int64_t label_of(std::uint32_t run) const {
        const auto behind = std::upper_bound(bands_.begin(), bands_.end(), run, [&](std::uint32_t r, const band& b) {
            return static_cast<std::int64_t>(r) < first_run_[b.first];
        });
        const band& b = *(behind - 1);
        const std::uint32_t number = tree_[run];
        const auto at = std::lower_bound(b.crossings.begin(), b.crossings.end(), number,
                                         [](const crossing& c, std::uint32_t n) { return c.number < n; });
        if (at != b.crossings.end() && at->number == number) return at->label;
        return b.labels_before + number - (at - b.crossings.begin());
    }

    workers& crew_;
    const std::int64_t* first_run_;
    std::int64_t image_rows_;
    std::uint32_t* tree_;
    std::vector<band>& bands_;
    std::vector<std::int64_t>& found_;
};

}  // namespace

void number_trees(workers& crew, const bit_rows& bits, std::uint32_t* tree, std::vector<band>& bands,
                  std::vector<std::int64_t>& found) {
    const numbering numbers(crew, bits, tree, bands, found);
    const auto for_bands = [&](const auto& body) {
        crew.for_each(static_cast<std::int64_t>(bands.size()), 1, 0,
                      [&](std::int64_t k, std::int64_t, int) { body(bands[static_cast<std::size_t>(k)]); });
    };
    for_bands([&](band& b) { numbers.number(b); });
    numbers.settle();
    for_bands([&](const band& b) { numbers.rename(b); });
}

}  // namespace nearfield::labelling
