// On the host: marks points of surfaces line by line, and computes sums and ranks of lists.
#include "metrics/host_lines.hpp"

namespace nearfield::metrics {
namespace {

/// Marks points, line by line, in one job's box.
template <class Code>
class marker {
public:
    marker(const problem& p, const weights& w, const coded& codes, const group& g, const job& j)
        : p_(p),
          w_(w),
          g_(g),
          job_(j),
          code_(static_cast<Code>(j.row % p.labels + 1)),
          codes_(codes),
          image_(j.row / p.labels * p.image_cells()),
          bits_(static_cast<std::size_t>(j.size[2] + 2)) {}

    /// Marks the points of a line, and adds their number and their weights to the arguments.
    void mark(int side, std::int64_t line, std::int64_t& points, std::uint64_t& weight) {
        std::uint8_t* const to = g_.mask[side] + job_.base + line * job_.size[2];
        const std::int64_t z = job_.first[0] + line / job_.size[1], y = job_.first[1] + line % job_.size[1];
        if (p_.elements) mark_corners(side, z, y, to);
        else mark_cells(side, z, y, to);
        for_marked(to, job_.size[2], [&](std::int64_t x) { ++points, weight += w_.rank[to[x]]; });
    }

private:
    /// Cells of a line of the box; null if it lies outside the image.
    [[nodiscard]] const Code* line_of(int side, std::int64_t z, std::int64_t y) const {
        if (z < 0 || y < 0 || z >= p_.size[0] || y >= p_.size[1]) return nullptr;
        return codes_.side<Code>(side) + image_ + (z * p_.size[1] + y) * p_.size[2] + job_.first[2];
    }
    /// Marks corners from the cells' bits in `bits_`, plus one at either end, because outside cells lack the code.
    void mark_corners(int side, std::int64_t z, std::int64_t y, std::uint8_t* to) {
        const std::int64_t cells = job_.size[2] - 1;
        std::fill(bits_.begin(), bits_.end(), std::uint8_t{0});
        for (int k = 0; k < 4; ++k) {
            const Code* const from =
                line_of(side, z - (p_.has(0) && k < 2 ? 1 : 0), y - (p_.has(1) && k % 2 == 0 ? 1 : 0));
            if (from == nullptr) continue;
            std::uint8_t* const bits = bits_.data() + 1;
            for (std::int64_t x = 0; x < cells; ++x)
                bits[x] = static_cast<std::uint8_t>(bits[x] | (from[x] == code_ ? 1 << k : 0));
        }
        for (std::int64_t x = 0; x <= cells; ++x) {
            const auto both = static_cast<std::uint8_t>(bits_[static_cast<std::size_t>(x)] |
                                                        bits_[static_cast<std::size_t>(x + 1)] << 4);
            to[x] = both == 255 ? 0 : both;
        }
    }
    /// Marks cells. Bits in `bits_` are 1 if all neighbours across the line have the code. Only cells between the first
    /// and the last one that have it may be points.
    void mark_cells(int side, std::int64_t z, std::int64_t y, std::uint8_t* to) {
        const std::int64_t n = job_.size[2];
        const Code* const own = line_of(side, z, y);
        std::fill_n(to, n, std::uint8_t{0});
        const std::int64_t first = first_of_code(own, n);
        if (first == n) return;
        const std::int64_t end = end_of_code(own, first, n);
        std::uint8_t* const inner = bits_.data();
        std::fill(inner + first, inner + end, std::uint8_t{1});
        for (int k = 0; k < 4; ++k) {
            if (!p_.has(k / 2)) continue;
            const std::int64_t by = k % 2 == 0 ? -1 : 1;
            const Code* const beside = line_of(side, z + (k < 2 ? by : 0), y + (k < 2 ? 0 : by));
            if (beside == nullptr) std::fill(inner + first, inner + end, std::uint8_t{0});
            else
                for (std::int64_t x = first; x < end; ++x) inner[x] = inner[x] & (beside[x] == code_ ? 1 : 0);
        }
        inner[first] = inner[end - 1] = 0;
        for (std::int64_t x = first + 1; x < end - 1; ++x)
            inner[x] = inner[x] & (own[x - 1] == code_ ? 1 : 0) & (own[x + 1] == code_ ? 1 : 0);
        for (std::int64_t x = first; x < end; ++x) to[x] = (own[x] == code_ ? 1 : 0) & (inner[x] ^ 1);
    }
    /// Returns the first of a line's n cells that has the code, or n.
    [[nodiscard]] std::int64_t first_of_code(const Code* own, std::int64_t n) const {
        if constexpr (sizeof(Code) > 1) return std::find(own, own + n, code_) - own;
        const void* const found = std::memchr(own, code_, static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
        return found == nullptr ? n : static_cast<const Code*>(found) - own;
    }
    /// Returns the place after the last of a line's n cells that has the code, as cell `first` has.
    [[nodiscard]] std::int64_t end_of_code(const Code* own, std::int64_t first, std::int64_t n) const {
        constexpr std::int64_t many = 64;
        std::int64_t end = n;
        for (; end - first > many; end -= many) {
            unsigned found = 0;  // one flag for all cells, which the compiler vectorizes
            for (std::int64_t x = end - many; x < end; ++x) found |= own[x] == code_ ? 1U : 0U;
            if (found != 0) break;
        }
        while (own[end - 1] != code_) --end;
        return end;
    }

    const problem& p_;
    const weights& w_;
    const group& g_;
    const job& job_;
    Code code_;
    const coded& codes_;
    std::int64_t image_;
    std::vector<std::uint8_t> bits_;
};

template <class Code>
void mark_all(const host& on, const problem& p, const weights& w, const coded& codes, group& g) {
    workers team(on, 2 * g.cells);
    line_numbers(g).for_each(team, g, [&](std::size_t k, std::int64_t first, std::int64_t last) {
        job& j = g.jobs[k];
        marker<Code> lines(p, w, codes, g, j);
        for (int side = 0; side < 2; ++side) {
            std::int64_t points = 0;
            std::uint64_t weight = 0;
            for (std::int64_t line = first; line < last; ++line) lines.mark(side, line, points, weight);
            std::atomic_ref(j.points[side]).fetch_add(points, std::memory_order_relaxed);
            std::atomic_ref(j.weight[side]).fetch_add(weight, std::memory_order_relaxed);
        }
    });
}

side_sums sum_side(const problem& p, const weights& w, const group& g, const job& j, int side) {
    side_sums sums;
    const bool doubles = p.squared == dtype::float64;
    for (std::int64_t i = j.start[side], end = i + j.points[side]; i < end; ++i) {
        const double distance = distance_of(g.key[i], doubles);
        const std::uint8_t code = g.code[i];
        sums.area.add(w.area_parts[code]);
        if (g.key[i] != 0) sums.moment.add(parts_of(w.area[code] * distance, p.per_moment));
        for (int t = 0; t < p.tolerances; ++t)
            if (distance <= p.tolerance[t]) sums.within[t].add(w.area_parts[code]);
        sums.largest = std::max(sums.largest, g.key[i]);
    }
    return sums;
}

void search_ranks(const problem& p, const weights& w, const group& g, const job& j, int side, wanted_ranks wanted,
                  side_sums& sums) {
    const int top = sums.largest == 0 ? 0 : (63 - leading_zeros(sums.largest)) / digit_bits * digit_bits;
    for (int k = 0; k < p.ranks(); ++k)
        for (int shift = top; shift >= 0; shift -= digit_bits) {
            std::uint64_t counts[digits] = {};
            for (std::int64_t i = j.start[side], end = i + j.points[side]; i < end; ++i)
                if (begins_with(g.key[i], shift, sums.at_rank[k]))
                    counts[g.key[i] >> shift & (digits - 1)] += w.rank[g.code[i]];
            take_digit(counts, wanted.of[k], sums.at_rank[k]);
        }
}

}  // namespace

void mark(const host& on, const problem& p, const weights& w, const coded& codes, group& g) {
    if (p.wide_codes()) mark_all<std::uint32_t>(on, p, w, codes, g);
    else mark_all<std::uint8_t>(on, p, w, codes, g);
}

std::vector<side_sums> sum(const host& on, const problem& p, const weights& w, const group& g,
                           const std::vector<wanted_ranks>& wanted) {
    std::vector<side_sums> sums(2 * g.jobs.size());
    workers team(on, static_cast<std::int64_t>(sums.size()));
    team.for_each(static_cast<std::int64_t>(sums.size()), 1, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
            const job& j = g.jobs[i / 2];
            const int side = static_cast<int>(i % 2);
            sums[i] = sum_side(p, w, g, j, side);
            search_ranks(p, w, g, j, side, wanted[i], sums[i]);
        }
    });
    return sums;
}

}  // namespace nearfield::metrics
