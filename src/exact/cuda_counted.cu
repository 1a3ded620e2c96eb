#include "exact/cuda_counted.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/lines.hpp"
#include "exact/cuda_counted_mend.cuh"
#include "exact/cuda_pack.cuh"

namespace nearfield::exact {
namespace {

// Larger ones leave few rows below counted_end: of this one 22.
constexpr double most_counted_weight = 16384;
// Distances, their squares and what those lack are normal floats.
constexpr double least_unit = 0x1p-60, most_unit = 0x1p60;
constexpr int doubtful_capacity = 4096;
constexpr std::int64_t most_blocks = 4 * multiprocessors;

/// Whether all weights are whole numbers of `unit`, as near as the proof in cuda_counted.cuh asks for: 2^-51 of them.
bool counts_in(const plan& p, double unit, counted_weights& weights) {
    for (int axis = p.first_axis; axis < p.rank; ++axis) {
        const double weight = p.weight[static_cast<std::size_t>(axis)], number = std::round(weight / unit);
        if (number < 1 || number > most_counted_weight) return false;
        if (std::abs(std::fma(-unit, number, weight)) > 0x1p-51 * weight) return false;
        weights.of[axis] = static_cast<std::uint32_t>(number);
    }
    weights.unit = unit;
    return true;
}

/// The denominator of the fraction that `ratio` is, to 2^-49 of it, in lowest terms; 0 where it is larger than counts may be.
/// Two such fractions are farther apart than that, so that it is one of the convergents of the ratio's continued fraction.
std::int64_t denominator_of(double ratio) {
    double numerator = std::floor(ratio), denominator = 1, numerator_before = 1, denominator_before = 0;
    for (double rest = ratio; denominator <= most_counted_weight && numerator <= most_counted_weight;) {
        if (std::abs(ratio - numerator / denominator) <= 0x1p-49 * ratio) return static_cast<std::int64_t>(denominator);
        const double part = rest - std::floor(rest);
        if (part == 0) break;
        rest = 1 / part;
        const double whole = std::floor(rest);
        numerator_before = std::exchange(numerator, whole * numerator + numerator_before);
        denominator_before = std::exchange(denominator, whole * denominator + denominator_before);
    }
    return 0;
}

/// In the largest unit that all weights are whole numbers of, if that is small enough a number of each.
void count_weights(const plan& p, counted_weights& weights) {
    const double first = p.weight[static_cast<std::size_t>(p.first_axis)];
    double largest = 1;
    std::int64_t least = 1;
    for (int axis = p.first_axis + 1; axis < p.rank; ++axis) {
        const double ratio = p.weight[static_cast<std::size_t>(axis)] / first;
        const std::int64_t denominator = denominator_of(ratio);
        if (denominator == 0) return;
        least = std::lcm(least, denominator);
        largest = std::max(largest, ratio);
    }
    for (auto number = static_cast<double>(least); number * largest < most_counted_weight + 1 && !weights.serve;
         number += static_cast<double>(least)) {
        const double unit = first / number;
        weights.serve = unit >= least_unit && unit <= most_unit && counts_in(p, unit, weights);
    }
}

std::int64_t size_of_axis(const plan& p, int axis) { return p.size[static_cast<std::size_t>(axis)]; }

/// The largest sum of two cells.
double largest_number(const plan& p, const counted_weights& weights) {
    double sum = 0;
    for (int axis = p.first_axis; axis < p.rank; ++axis) {
        const auto far = static_cast<double>(size_of_axis(p, axis) - 1);
        sum += weights.of[axis] * (far * far);
    }
    return sum;
}

class counted_search {
public:
    counted_search(const device_call& call, const counted_weights& weights)
        : on_(call.on), p_(call.p), call_(call), weights_(weights), memory_(call.on) {
        const packed_lines lines = this->lines();
        words_ = memory_.reserve<line_word>(lines.tiles * lines.rows);
        sited_ = memory_.reserve<std::uint32_t>(lines.images * lines.groups());
        if (lines.stretches > 1) ends_ = memory_.reserve<std::uint32_t>(lines.images * lines.stretches * lines.rows);
        left_ = memory_.reserve<std::int32_t>(lines.tiles * left_windows());
        hard_ = memory_.reserve<std::int32_t>(std::max(lines.tiles, groups(p_.first_axis)));
        doubtful_ = memory_.reserve<std::int64_t>(doubtful_capacity);
        winners_ = memory_.reserve<std::int32_t>(std::max(winner_cells(p_.rank - 2), winner_cells(p_.first_axis)));
        // One after the other, as they are cleared together: counts, marks of windows, marks of groups.
        cleared_words_ =
            count_of_counts + lines.tiles * (left_windows() + 1) + (is_volume() ? groups(p_.first_axis) : 0);
        cleared_ = memory_.reserve<std::uint32_t>(cleared_words_);
        if (is_volume()) state_ = memory_.reserve<std::uint32_t>(p_.cells);
    }

    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }

    void solve() {
        memory_.allocate();
        cuda::check(cudaMemsetAsync(memory_.get<std::uint32_t>(cleared_), 0,
                                    static_cast<std::size_t>(cleared_words_) * 4, cuda::stream_of(on_)),
                    "clearing counts");
        const word_lines from{lines()};
        pack(on_, image(), from.lines, {}, {counted(left_count), nullptr});
        if (has_limit()) sample(from);
        auto* const roots = static_cast<float*>(call_.out.distance.data);
        const auto high = static_cast<float>(weights_.unit);
        const counted_roots last{roots, weights_.unit, high, static_cast<float>(weights_.unit - high), doubtful()};
        if (is_volume()) {
            auto* const state = memory_.get<std::uint32_t>(state_);
            search_words(from, counted_state{state});
            search_values(state, last);
        } else {
            search_words(from, last);
        }
        mending mend{};
        mend.lines = from, mend.cells = p_.cells;
        mend.depth = is_volume() ? size_of_axis(p_, p_.first_axis) : 1;
        mend.across = p_.weight[static_cast<std::size_t>(p_.rank - 1)];
        mend.along = p_.weight[static_cast<std::size_t>(p_.rank - 2)];
        mend.through = p_.weight[static_cast<std::size_t>(p_.first_axis)];
        mend.to = roots, mend.doubtful = doubtful();
        cuda::launch_overlapped(on_, mend_roots, most_blocks, dim3(mending_threads), 0, mend);
    }

private:
    enum count : std::uint8_t { left_count, word_hard_count, value_hard_count, doubtful_count, sampled_most };
    static constexpr std::int64_t count_of_counts = 2 * max_rank;  // packing clears as many

    [[nodiscard]] bool has_limit() const { return is_volume() && p_.cells >= least_sampled; }
    [[nodiscard]] counted_limit limit() const {
        counted_limit limit;
        if (!has_limit()) return limit;
        limit.sampled = memory_.get<std::uint32_t>(cleared_) + sampled_most;
        // For volumes in which nearly all cells are sites, of which the sampled ones may have others beside them.
        limit.more = 2 * static_cast<float>(*std::max_element(weights_.of + p_.first_axis, weights_.of + p_.rank));
        limit.end = end_of_limits();
        return limit;
    }
    /// Steps go as far as windows have rows beside them; sums in double come from exact states only.
    [[nodiscard]] float end_of_limits() const {
        constexpr float beside = counted_halo + 1, beyond = counted_value_reach + 1;
        return std::min({counted_end, static_cast<float>(weights_.of[p_.rank - 2]) * (beside * beside),
                         static_cast<float>(weights_.of[p_.first_axis]) * (beyond * beyond)});
    }
    void sample(const word_lines& from) const {
        sampling what;
        what.lines = from, what.cells = p_.cells, what.depth = size_of_axis(p_, p_.first_axis);
        what.across = static_cast<float>(weights_.of[p_.rank - 1]);
        what.along = static_cast<float>(weights_.of[p_.rank - 2]);
        what.through = static_cast<float>(weights_.of[p_.first_axis]);
        what.end = end_of_limits() / 2;
        what.most = memory_.get<std::uint32_t>(cleared_) + sampled_most;
        cuda::launch_overlapped(on_, sample_numbers, sampling_blocks, dim3(sampling_threads), 0, what);
    }
    [[nodiscard]] bool is_volume() const { return p_.rank - p_.first_axis == 3; }
    [[nodiscard]] std::int64_t left_windows() const { return blocks_for(size_of_axis(p_, p_.rank - 2), real_window); }
    [[nodiscard]] std::int64_t groups(int axis) const {
        return axis == p_.rank - 2 ? lines().tiles : blocks_for(p_.cells / size_of_axis(p_, axis), cuda::warp);
    }
    [[nodiscard]] std::int64_t halving_blocks_of(int axis) const {
        return std::min(groups(axis), halving_blocks * multiprocessors);
    }
    [[nodiscard]] std::int64_t winner_cells(int axis) const {
        return halving_blocks_of(axis) * size_of_axis(p_, axis) * cuda::warp;
    }

    [[nodiscard]] packed_lines lines() const {
        packed_lines lines;
        lines.words = memory_.get<line_word>(words_);
        lines.sited = memory_.get<std::uint32_t>(sited_);
        lines.ends = memory_.get<std::uint32_t>(ends_);
        lines.length = size_of_axis(p_, p_.rank - 1);
        lines.rows = size_of_axis(p_, p_.rank - 2);
        lines.columns = blocks_for(lines.length, cuda::warp);
        lines.stretches = blocks_for(lines.length, scan_cells);
        lines.images = p_.cells / lines.length / lines.rows;
        lines.tiles = lines.images * lines.columns;
        return lines;
    }

    [[nodiscard]] site_bytes image() const {
        site_bytes image;
        image.read(call_.image.data, call_.image.type);
        image.zero_is_site = call_.rule == sites::zero;
        image.length = size_of_axis(p_, p_.rank - 1);
        image.lines = p_.cells / image.length;
        image.stretches = blocks_for(image.length, scan_cells);
        return image;
    }

    [[nodiscard]] std::int32_t* counted(count which) const { return memory_.get<std::int32_t>(cleared_) + which; }
    [[nodiscard]] std::uint32_t* marks() const { return memory_.get<std::uint32_t>(cleared_) + count_of_counts; }
    [[nodiscard]] doubtful_roots doubtful() const {
        return {counted(doubtful_count), memory_.get<std::int64_t>(doubtful_), doubtful_capacity};
    }

    /// Bands in double count too: their sums are whole numbers below 2^53.
    [[nodiscard]] metric<double> whole_metric() const {
        metric<double> m = p_.as_metric<double>();
        for (int axis = p_.first_axis; axis < p_.rank; ++axis) m.weight[axis] = weights_.of[axis];
        return m;
    }
    [[nodiscard]] pass pass_of(int axis) const {
        pass g;
        g.axis = axis, g.rows = size_of_axis(p_, axis);
        g.inner = cells_between(p_.size.data(), axis + 1, p_.rank);
        g.columns = p_.cells / g.rows;
        return g;
    }

    template <class Sink>
    void search_words(const word_lines& from, const Sink& to) const {
        const pass g = pass_of(p_.rank - 2);
        const metric<double> m = whole_metric();
        const windows cut{static_cast<int>(blocks_for(g.rows, counted_window)), counted_window};
        const std::int64_t tiles = from.lines.tiles, windows = left_windows();
        const counted_left left{counted(left_count), memory_.get<std::int32_t>(left_), marks(),
                                static_cast<int>(windows)};
        const real_hard hard{counted(word_hard_count), memory_.get<std::int32_t>(hard_), marks() + tiles * windows};
        const auto count = [&]<int LaneRows>() {
            cuda::launch_overlapped(on_, count_from_words<LaneRows, Sink>, tiles * cut.count, dim3(counted_threads),
                                    counted_bytes<LaneRows>(), from, cut, static_cast<float>(weights_.of[g.axis]),
                                    static_cast<float>(weights_.of[p_.rank - 1]), left, limit(), to);
        };
        if constexpr (std::is_same_v<Sink, counted_state>) {
            if (has_limit()) with_counted_lane_rows(g.rows, count);
            else count.template operator()<0>();
        } else {
            count.template operator()<0>();
        }
        const int reach = terms_reach(g.rows, real_reach_of_words);
        const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(real_terms::size(reach));
        cuda::launch_overlapped(on_, offer_left_words<Sink>, std::min(tiles * windows, most_blocks), dim3(real_threads),
                                bytes, from, g, reach, m, left, hard, to);
        halve(real_word_lines{from, m.weight[p_.rank - 1]}, g, hard, to);
    }

    void search_values(const std::uint32_t* cells, const counted_roots& to) const {
        const pass g = pass_of(p_.first_axis);
        const std::int64_t tiles = lines().tiles;
        const real_hard hard{counted(value_hard_count), memory_.get<std::int32_t>(hard_),
                             marks() + tiles * (left_windows() + 1)};
        cuda::launch_overlapped(on_, count_from_values<counted_roots>,
                                blocks_for(g.columns, cuda::warp) * blocks_for(g.rows, counted_value_window),
                                dim3(counted_value_threads), 0, g, static_cast<float>(weights_.of[g.axis]), cells,
                                limit(), hard, to);
        halve(real_value_lines<std::uint32_t>{g, cells, counted_none}, g, hard, to);
    }

    template <class Lines, class Sink>
    void halve(const Lines& lines, const pass& g, const real_hard& hard, const Sink& to) const {
        cuda::launch_overlapped(on_, halve_columns<Lines, Sink>, halving_blocks_of(g.axis), dim3(halving_threads), 0,
                                lines, g, whole_metric(), hard, memory_.get<std::int32_t>(winners_), to);
    }

    const device& on_;
    const plan& p_;
    const device_call& call_;
    const counted_weights& weights_;
    cuda::workspace memory_;
    std::int64_t words_ = 0, sited_ = 0, ends_ = 0, left_ = 0, hard_ = 0, doubtful_ = 0, winners_ = 0, cleared_ = 0,
                 cleared_words_ = 0, state_ = 0;
};

}  // namespace

counted_weights counted_weights_for(const plan& p, const fields<device>& out) {
    const int searched = p.rank - p.first_axis;
    counted_weights weights;
    if (!real_words_fit(p) || !p.plain() || searched > 3 || out.squared.wanted() || out.distance.type != dtype::float32)
        return weights;
    if (!is_contiguous(p.size.data(), p.image_stride.data(), p.rank)) return weights;
    std::int64_t step[max_rank];
    for (int axis = 0; axis < p.rank; ++axis)
        step[axis] = out.distance.stride[static_cast<std::size_t>(p.source_axis[static_cast<std::size_t>(axis)])];
    if (!is_contiguous(p.size.data(), step, p.rank)) return weights;
    count_weights(p, weights);
    // Steps from row to row are 32 bits wide.
    if (cells_between(p.size.data(), p.first_axis + 1, p.rank) > std::numeric_limits<std::int32_t>::max())
        weights.serve = false;
    // A state holds every sum.
    if (searched == 3 && largest_number(p, weights) >= counted_none) weights.serve = false;
    // Entries of lists are numbers of 32 bits.
    const auto last = static_cast<std::size_t>(p.rank - 1), along = last - 1;
    const std::int64_t entries = p.cells / p.size[last] / p.size[along] * blocks_for(p.size[last], cuda::warp) *
                                 blocks_for(p.size[along], real_window);
    if (entries > std::numeric_limits<std::int32_t>::max()) weights.serve = false;
    return weights;
}

std::int64_t search_counted(const device_call& call, const counted_weights& weights) {
    counted_search search(call, weights);
    if (!call.measure_only) search.solve();
    return search.workspace_bytes();
}

}  // namespace nearfield::exact
