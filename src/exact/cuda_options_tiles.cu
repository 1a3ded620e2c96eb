#include "exact/cuda_options_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exact/cuda_options_cut.cuh"
#include "exact/cuda_options_far.hpp"
#include "exact/cuda_options_fields.cuh"
#include "exact/cuda_options_near.cuh"

namespace nearfield::exact {
namespace {

// Values stay below this, so that a word's half has a bit left for a flag, and adding what a step adds overflows
// nothing.
constexpr std::int64_t largest_saturated = 28672;
// Steps along an axis. The engine behind costs as much as a few hundred.
constexpr int most_steps_along = 64;
// A grid whose lines waste more of their last words than this is not worth a large problem's while.
constexpr double least_filled = 0.6;
constexpr std::int64_t longest_line = std::int64_t{1} << 30;
constexpr std::int64_t large_problem = std::int64_t{1} << 20;
// Blocks for what half precision leaves: as many as run at a time on the largest GPUs.
constexpr std::int64_t multiprocessors = 132;

bool tiles_could_serve(const plan& p) {
    if (p.numbers == tier::float64 || p.sites_wanted || p.weighted || p.rank - p.first_axis < 2) return false;
    if (p.by == classes::values && p.rank - p.first_axis - 1 > most_other_axes) return false;
    const std::int64_t length = p.size[static_cast<std::size_t>(p.rank - 1)],
                       between = p.cells / p.size[static_cast<std::size_t>(p.first_axis)];
    const std::int64_t filled = blocks_for(length, mark_bits) * mark_bits;
    if (*std::max_element(p.size.begin() + p.first_axis, p.size.begin() + p.rank) > longest_line) return false;
    if (between > std::numeric_limits<std::int32_t>::max() ||
        p.cells / length * blocks_for(length, mark_bits) > INT32_MAX)
        return false;
    return p.cells < large_problem || static_cast<double>(length) >= least_filled * static_cast<double>(filled);
}

}  // namespace

bool prefers_tiles(const plan& p) {
    const auto first = static_cast<std::size_t>(p.first_axis), end = static_cast<std::size_t>(p.rank);
    return tiles_could_serve(p) &&
           std::any_of(p.weight.begin() + first, p.weight.begin() + end, [](double w) { return w != 1; });
}

option_tiles::option_tiles(const option_call& call) : on_(call.on), call_(call), p_(call.p) {
    if (call.list.size() > 1 || !tiles_could_serve(p_) || !choose_numbers()) return;
    choose_saturated();
    words_of_line_ = blocks_for(size(p_.rank - 1), mark_bits);
    const fields<device>& out = call.out;
    const item& to = call.list[0];
    put_fields_ = (!out.distance.wanted() || out.distance.type == dtype::float32) && !out.squared.wanted() &&
                  has_contiguous_fields(p_, to) &&
                  (!out.trusted.wanted() || is_contiguous(p_.size.data(), to.trusted.step, p_.rank));
    serve_ = true;
    posts_behind_ = may_refuse_ && posts_could_follow();
    reserve();
}

/// What all weights have in common is left out, so that only their proportions count.
bool option_tiles::choose_numbers() {
    std::int64_t common = 0;
    const auto count = [&](double value) {
        if (std::isfinite(value)) common = std::gcd(common, static_cast<std::int64_t>(value));
    };
    for (int axis = p_.first_axis; axis < p_.rank; ++axis) count(p_.weight[static_cast<std::size_t>(axis)]);
    count(p_.closed_beside), count(p_.open_beside);
    factor_ = common;
    if (factor_ > std::numeric_limits<std::int32_t>::max()) return false;
    for (int axis = p_.first_axis; axis < p_.rank; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        axis_rule& rule = axes_[axis];
        rule.weight = static_cast<std::int64_t>(p_.weight[i]) / factor_;
        rule.rows = p_.size[i];
        rule.periodic = p_.borders[i] == border::periodic;
        rule.closed = p_.borders[i] == border::closed;
        rule.farthest = rule.periodic ? rule.rows / 2 : rule.rows - 1;
    }
    limit_ = below_factor(p_.limit);
    closed_beside_ = below_factor(p_.closed_beside);
    open_beside_ = below_factor(p_.open_beside);
    return true;
}

std::int64_t option_tiles::below_factor(double value) const {
    constexpr double most = 4611686018427387904.0;  // 2^62: none
    return value < most ? static_cast<std::int64_t>(value) / factor_ : std::int64_t{1} << 62;
}

std::int64_t option_tiles::cost(int axis, std::int64_t cells) const {
    const std::int64_t r = reach(cells, p_.half_cell);
    return axes_[axis].weight * r * r;
}

/// Values from which on tiles tell nothing apart: what the limit forbids, or what takes too many steps.
void option_tiles::choose_saturated() {
    std::int64_t least = largest_saturated;
    for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis)
        if (axes_[axis].farthest > most_steps_along) least = std::min(least, cost(axis, most_steps_along + 1));
    const bool within_limit = limit_ < least;
    saturated_ = static_cast<int>(within_limit ? limit_ + 1 : least);
    may_refuse_ = !within_limit && p_.largest / static_cast<double>(factor_) >= static_cast<double>(saturated_);
}

int option_tiles::steps_along(int axis) const {
    int steps = 0;
    while (steps < axes_[axis].farthest && cost(axis, steps + 1) < saturated_) ++steps;
    return steps;
}

std::int64_t option_tiles::lines_between(int axis) const {
    return cells_between(p_.size.data(), axis + 1, p_.rank - 1);
}

option_tiles::windows option_tiles::windows_along(int axis) const {
    const auto rows = static_cast<int>(axes_[axis].rows);
    const int steps = steps_along(axis);
    const int lane_rows = lane_rows_for(rows);
    // A tile that is the line has its ends beside each other.
    if (rows <= largest_tile && (!axes_[axis].periodic || rows == 2 * cuda::warp * lane_rows))
        return {rows, 0, 1, lane_rows};
    // Half precision reads no more rows beside a window than it steps.
    int quick = 0;
    while (quick < steps && cost(axis, quick + 1) < most_quick) ++quick;
    const int most = largest_tile - 2 * whole_lanes(quick), count = (rows + most - 1) / most;
    // Lanes hold whole rows to be finished or none.
    const int own = whole_lanes(static_cast<int>(blocks_for(rows, count)));
    return {own, whole_lanes(steps), count, lane_rows_for(own + 2 * whole_lanes(quick))};
}

std::int64_t option_tiles::tiles_along(int axis) const {
    return words() / axes_[axis].rows * windows_along(axis).count;
}

// ---- memory -----------------------------------------------------------------------------------------------------

void option_tiles::reserve() {
    const auto take = [&](std::int64_t count) {
        const std::int64_t at = bytes_;
        bytes_ += (count + 255) / 256 * 256;
        return at;
    };
    const std::int64_t bits = 4 * words();
    bits_ = take(bits);
    if (p_.by == classes::values) {
        if (p_.background || p_.is_signed()) zeros_ = take(bits);
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis) changes_[axis] = take(bits);
    } else {
        zeros_ = bits_;
    }
    std::int64_t tiles = 0;
    for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis) tiles = std::max(tiles, tiles_along(axis));
    left_ = take(4 * tiles), counts_ = take(4 * max_rank);
    if (may_be_near()) states_[0] = take(tiles_by_bits().count());
    const int states = p_.rank - p_.first_axis - 2 + (put_fields_ ? 0 : 1);  // none there
    for (int i = 0; i < std::min(states, 2); ++i) states_[i] = take(2 * mark_bits * words());
    if (posts_behind_) far_ = take(256 + far_images(nullptr).bytes());
}

narrow_states option_tiles::states(const std::byte* memory) const {
    const int last = p_.rank - 2 - p_.first_axis;
    narrow_states states;
    states.data = reinterpret_cast<const std::uint16_t*>(memory + states_[last % 2]);
    states.pitch = words_of_line_ * mark_bits;
    states.saturated = saturated_;
    states.factor = static_cast<int>(factor_);
    return states;
}

// ---- launches ---------------------------------------------------------------------------------------------------

/// The passes of a call, in order.
class tile_passes {
public:
    tile_passes(const option_tiles& of, const elements& image, std::byte* memory, std::int32_t* refused)
        : of_(of), p_(of.p_), image_(image), memory_(memory), refused_(refused) {}

    void run() const {
        if (p_.by == classes::values) pack_labels();
        else pack_sites();
        for (int axis = p_.rank - 2; axis >= p_.first_axis; --axis) search(axis);
        if (!of_.posts_behind_) return;
        close_in_on_gate(of_.on_);
        search_far(of_.on_, of_.far_images(memory_));
    }

private:
    using axis_of = option_tiles::axis_rule;

    template <class T>
    [[nodiscard]] T* at(std::int64_t offset) const {
        return reinterpret_cast<T*>(memory_ + offset);
    }

    template <class Body>
    void with_bits(const Body& body) const {
        switch (image_.bytes) {
            case 1: return body(std::uint8_t{});
            case 2: return body(std::uint16_t{});
            case 4: return body(std::uint32_t{});
            default: return body(std::uint64_t{});
        }
    }
    [[nodiscard]] std::int64_t lines() const { return p_.cells / of_.size(p_.rank - 1); }
    [[nodiscard]] std::int64_t pack_blocks() const {
        return blocks_for(lines() * blocks_for(of_.words_of_line_, cuda::warp), word_warps);
    }

    [[nodiscard]] bit_lines lines_along_last() const {
        bit_lines lines;
        const axis_of& along = of_.axes_[p_.rank - 1];
        lines.bits = at<std::uint32_t>(of_.bits_);
        lines.words = of_.words_of_line_;
        lines.length = along.rows;
        lines.changes = p_.by != classes::none;
        lines.differences = p_.by == classes::zero;
        lines.periodic = along.periodic, lines.closed = along.closed;
        lines.reach = pass_along(p_.rank - 1).far;
        return lines;
    }
    [[nodiscard]] tile_flags flags() const { return {at<std::int32_t>(of_.counts_), refused_}; }

    void pack_sites() const {
        const std::int64_t length = of_.size(p_.rank - 1);
        const bool zero_is_one = p_.by == classes::zero || p_.rule == sites::zero;
        auto* const to = at<std::uint32_t>(of_.bits_);
        if (image_.bytes == 1 && length % mark_bits == 0 && reinterpret_cast<std::uintptr_t>(image_.data) % 16 == 0)
            return cuda::launch(of_.on_, pack_bytes, blocks_for(of_.words(), word_threads), dim3(word_threads), 0,
                                reinterpret_cast<const uint4*>(image_.data), zero_is_one, of_.words(), flags(), to);
        with_bits([&]<class Bits>(Bits) {
            const Bits keep = static_cast<Bits>(image_.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
            cuda::launch(of_.on_, pack_cells<Bits>, pack_blocks(), dim3(cuda::warp, word_warps), 0,
                         reinterpret_cast<const Bits*>(image_.data), keep, zero_is_one, lines(), length,
                         of_.words_of_line_, flags(), to);
        });
    }

    void pack_labels() const {
        label_changes to;
        to.along_last = at<std::uint32_t>(of_.bits_);
        to.zeros = of_.zeros_ != 0 ? at<std::uint32_t>(of_.zeros_) : nullptr;
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis)
            to.along[axis - p_.first_axis] = at<std::uint32_t>(of_.changes_[axis]);
        to.flags = flags();
        pack_changes(of_.on_, p_, image_, to);
    }

    [[nodiscard]] step_pass pass_along(int axis) const {
        const axis_of& along = of_.axes_[axis];
        step_pass g;
        g.lines_between = of_.lines_between(axis);
        g.words = of_.words_of_line_, g.length = of_.size(p_.rank - 1);
        g.rows = static_cast<int>(along.rows);
        g.saturated = of_.saturated_;
        g.weight = static_cast<int>(std::min<std::int64_t>(along.weight, of_.saturated_));
        g.half_cell = p_.half_cell, g.periodic = along.periodic, g.closed = along.closed;
        while (of_.cost(axis, g.far) < of_.saturated_) ++g.far;
        g.quick = std::min(of_.saturated_, most_quick);
        g.quickly = quick_costs(g.weight, g.half_cell, g.quick);
        if (axis == p_.rank - 1) return g;
        const auto w = of_.windows_along(axis);
        g.own = w.own, g.halo = w.halo, g.windows = w.count;
        g.cyclic = along.periodic && w.halo == 0;
        g.most_steps = of_.steps_along(axis);
        while (g.quick_steps < g.most_steps && of_.cost(axis, g.quick_steps + 1) < g.quick) ++g.quick_steps;
        if (p_.by == classes::zero) g.classes = at<std::uint32_t>(of_.bits_), g.differences = true;
        if (p_.by == classes::values) g.classes = at<std::uint32_t>(of_.changes_[axis]);
        return g;
    }

    /// Tiles that a search by bits leaves, of all.
    [[nodiscard]] near_tiles search_by_bits(int axis) const {
        near_call c;
        c.classes = at<std::uint32_t>(of_.bits_), c.fields = fields_of(axis);
        if (p_.by == classes::values) c.along = at<std::uint32_t>(of_.changes_[axis]);
        if (p_.background) c.sites = at<std::uint32_t>(of_.zeros_);
        c.length = of_.size(axis + 1), c.words = of_.words_of_line_, c.rows = of_.size(axis);
        c.grid = of_.tiles_by_bits(), c.grid.left = at<std::uint8_t>(of_.states_[0]);
        if (of_.posts_behind_) c.refused = refused_;
        launch_near(of_.on_, c, multiprocessors);
        return c.grid;
    }

    void search(int axis) const {
        step_pass g = pass_along(axis);
        const int nth = p_.rank - 2 - axis;
        step_io io;
        if (nth == 0) {
            io.lines = lines_along_last();
            if (p_.background) io.zeros = at<std::uint32_t>(of_.zeros_);
        } else {
            io.from = at<std::uint16_t>(of_.states_[(nth - 1) % 2]);
        }
        const bool is_last = axis == p_.first_axis;
        io.fields = fields_of(axis);
        if (is_last) io.refused = refused_;
        io.may_be_thin = is_last && nth == 0 && p_.by == classes::zero && of_.is_simple();
        if (of_.may_be_near()) io.near = search_by_bits(axis);
        if (!is_last || !of_.put_fields_) io.to = at<std::uint16_t>(of_.states_[nth % 2]);
        io.left = {at<std::int32_t>(of_.counts_) + axis, at<std::int32_t>(of_.left_)};
        const std::int64_t blocks = of_.tiles_along(axis);
        step_pass quick = g;
        quick.halo = std::min(g.halo, whole_lanes(g.quick_steps));
        with_lane_rows(lane_rows_for(g.own + 2 * quick.halo),
                       [&]<int LaneRows>() { launch<LaneRows>(step_tiles_quickly<LaneRows>, blocks, quick, io); });
        if (g.quick == g.saturated) return;
        if (g.own + 2 * g.halo > largest_tile) g.parts = 2;
        with_lane_rows(lane_rows_for(static_cast<int>(blocks_for(g.own, g.parts)) + 2 * g.halo), [&]<int LaneRows>() {
            launch<LaneRows>(step_tiles<LaneRows>,
                             std::min<std::int64_t>(blocks * g.parts, multiprocessors * step_blocks<LaneRows>), g, io);
        });
    }

    template <int LaneRows, class Kernel>
    void launch(Kernel kernel, std::int64_t blocks, const step_pass& g, const step_io& io) const {
        cuda::launch<cuda::order::overlapped>(of_.on_, kernel, blocks, dim3(step_threads<LaneRows>),
                                              sizeof(std::uint32_t) * step_tile<LaneRows>::words, g,
                                              pass_along(p_.rank - 1), io);
    }

    [[nodiscard]] tile_fields fields_of(int axis) const {
        const item& to = of_.call_.list[0];
        tile_fields f;
        f.distance = reinterpret_cast<float*>(to.distance.data);
        f.saturated = of_.saturated_;
        f.beside = static_cast<int>(std::min<std::int64_t>(of_.closed_beside_, of_.saturated_));
        f.factor = static_cast<float>(of_.factor_);
        f.unit = static_cast<float>(p_.unit());
        f.small = f.unit != 0 && static_cast<double>(of_.factor_) * of_.saturated_ < 8388608;
        f.unit2 = p_.unit2;
        if (p_.is_signed()) {
            f.zeros = at<std::uint32_t>(of_.zeros_);
            f.zeros_are_minus = (p_.inside_is_nonzero ? p_.outside_sign : p_.inside_sign) < 0;
        }
        if (to.trusted.data != nullptr) f.trusted = trust_along(axis);
        return f;
    }

    [[nodiscard]] open_end open_end_of(int axis) const {
        const step_pass g = pass_along(axis);
        return {axis == p_.rank - 1 ? 0 : g.lines_between, g.rows, g.weight, g.far};
    }

    [[nodiscard]] trust trust_along(int axis) const {
        trust by;
        by.to = reinterpret_cast<std::uint8_t*>(of_.call_.list[0].trusted.data);
        by.beside = static_cast<int>(std::min<std::int64_t>(of_.open_beside_, of_.saturated_));
        by.saturated = of_.saturated_;
        by.half_cell = p_.half_cell;
        by.limited = std::isfinite(p_.limit);
        by.any = std::isfinite(p_.open_beside);
        for (int other = p_.first_axis; other < p_.rank; ++other) {
            if (of_.axes_[other].periodic || of_.axes_[other].closed) continue;
            by.any = true;
            if (other == axis) by.along = open_end_of(other);
            else by.ends[by.count++] = open_end_of(other);
        }
        return by;
    }

    const option_tiles& of_;
    const plan& p_;
    const elements& image_;
    std::byte* memory_;
    std::int32_t* refused_;
};

void option_tiles::solve(const elements& image, std::byte* memory, std::int32_t* refused) const {
    if (posts_behind_) refused = reinterpret_cast<std::int32_t*>(memory + far_);
    tile_passes(*this, image, memory, refused).run();
}

void option_tiles::describe(call_plan& to) const {
    const auto source = [&](int axis) { return p_.source_axis[static_cast<std::size_t>(axis)]; };
    const int last = p_.rank - 1;
    to.passes.push_back({source(last), p_.by == classes::none ? "words of sites" : "words of changes of class",
                         blocks_for(words(), word_threads), std::min<std::int64_t>(size(last), word_threads), 1});
    if (may_be_near())
        to.passes.push_back({source(last - 1), "tiles by bits where classes change close by", tiles_by_bits().count(),
                             near_tiles::rows, near_tiles::words * mark_bits});
    for (int axis = last - 1; axis >= p_.first_axis; --axis) {
        const windows w = windows_along(axis);
        to.passes.push_back({source(axis), "tiles in 16 bits by steps", tiles_along(axis), w.own, cuda::warp});
    }
    if (posts_behind_)
        to.passes.push_back({source(last - 1), "all again between posts, if values are too large",
                             words() / near_tiles::rows * 2, far_call::post_rows, cuda::warp});
}

}  // namespace nearfield::exact
