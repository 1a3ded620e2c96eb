// The device engine with options, pass by pass. Compiled once for each kind of numbers (cuda_options_int32.cu, ...).
#pragma once

#include <algorithm>
#include <array>

#include "base/lines.hpp"
#include "exact/cuda_options_alone.cuh"
#include "exact/cuda_options_fold.cuh"
#include "exact/cuda_options_plain.cuh"
#include "exact/cuda_options_scan.cuh"
#include "exact/cuda_options_search.cuh"
#include "exact/cuda_options_shortcuts.hpp"

namespace nearfield::exact {

template <class V, class K, bool Keyed>
class option_engine {
    using state = state_of<V, K, Keyed>;
    /// How an axis is searched: outward only, or outward and then by halving, or with the hulls of the plain engine.
    enum class method : std::uint8_t { window, halves, plain };

public:
    explicit option_engine(const option_call& call)
        : on_(call.on), call_(call), p_(call.p), memory_(call.on), plain_(call.on, call.p), shortcuts_(call) {
        by_.m = p_.as_metric<V>();
        by_.limit = p_.template bound<V>(p_.limit);
        grid_.rank = p_.rank, grid_.first_axis = p_.first_axis, grid_.keys = p_.keys;
        std::copy_n(p_.size.begin(), p_.rank, grid_.size);
        reserve();
    }

    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes() + shortcuts_.more_bytes(); }

    void solve() {
        memory_.allocate();
        point_items();
        if (shortcuts_.serve() && !take_shortcut()) return;
        if (p_.weighted) start_power();
        else if (from_marks()) mark_lines(on_, elements_, mark_for(p_), marks_for(p_.rank - 1, false), open_);
        else scan();
        for (int axis = p_.rank - 2; axis >= p_.first_axis; --axis) {
            search(axis);
            if (p_.by != classes::none) fold(axis);
        }
        if (!puts_fields() && !put_alone<V, K, Keyed>(call_, grid_, current(), open_))
            finish_all(open_, searched_states<V, K, Keyed>{current(), size(p_.rank - 1)});
    }

    void describe(call_plan& to) const {
        const bool copied = copies_image();
        if (copied) to.passes.push_back({-1, "copy of the image", blocks_for(p_.cells, 256), 256, 1});
        const int last = p_.rank - 1;
        if (shortcuts_.serve()) {
            shortcuts_.describe(to);
            if (!shortcuts_.put_fields()) describe_fields(to);
            if (shortcuts_.may_refuse())
                to.passes.push_back({-1, "all again by searches, if values are too large", 1, p_.cells, 1});
            return;
        }
        to.passes.push_back(
            {source(last),
             p_.weighted    ? "start from the weights"
             : from_marks() ? "marks of sites"
                            : "scan of marks",
             p_.weighted ? blocks_for(p_.cells, scan_rows_threads) : blocks_for(lines() * stretches(), scan_rows_warps),
             p_.weighted ? scan_rows_threads : cuda::warp * mark_bits, 1});
        for (int axis = first_searched(); axis >= p_.first_axis; --axis) {
            describe_search(axis, to);
            if (p_.by != classes::none)
                to.passes.push_back({source(axis), "fold in other classes", blocks_for(words(axis), fold_threads),
                                     mark_bits, fold_threads});
        }
        if (!puts_fields()) describe_fields(to);
    }

private:
    // ---- what is to be done ----------------------------------------------------------------------------------------

    [[nodiscard]] int first_searched() const { return p_.weighted ? p_.rank - 1 : p_.rank - 2; }
    [[nodiscard]] std::int64_t size(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] int source(int axis) const { return p_.source_axis[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] std::int64_t lines() const { return p_.cells / size(p_.rank - 1); }
    [[nodiscard]] std::int64_t stretches() const { return blocks_for(size(p_.rank - 1), cuda::warp * mark_bits); }
    [[nodiscard]] std::int64_t words(int axis) const {
        return blocks_for(size(axis), mark_bits) * (p_.cells / size(axis));
    }

    [[nodiscard]] pass pass_of(int axis) const {
        pass g;
        g.axis = axis, g.rows = size(axis), g.columns = p_.cells / g.rows;
        g.inner = cells_between(p_.size.data(), axis + 1, p_.rank);
        g.rows_ordered = p_.rows_ordered[static_cast<std::size_t>(axis)];
        return g;
    }

    [[nodiscard]] std::int64_t radius(int axis) const { return radius_of(by_, axis); }
    [[nodiscard]] method method_for(int axis) const {
        if (radius(axis) <= window_reach) return method::window;
        const bool as_plain = !p_.half_cell && !p_.weighted && !p_.any(border::periodic);
        return as_plain && std::is_same_v<V, std::int32_t> ? method::plain : method::halves;
    }

    [[nodiscard]] window window_for(int axis) const {
        const std::int64_t most = radius(axis), last = radius(p_.rank - 1);
        return {static_cast<int>(std::min<std::int64_t>(most, window_reach)), most <= window_reach,
                static_cast<int>(std::min<std::int64_t>(last, window_reach))};
    }

    /// Nothing beyond a window matters along the last axis and the one before it: one pass searches both.
    [[nodiscard]] bool from_marks() const {
        const int last = p_.rank - 1;
        return p_.by == classes::none && !p_.weighted && last > p_.first_axis && !by_.m.periodic[last] &&
               radius(last) <= window_reach && radius(last - 1) <= window_reach;
    }

    /// The search along the first axis puts the fields itself: all are plain, and contiguous.
    [[nodiscard]] bool puts_fields() const {
        if (!p_.plain_outputs || p_.by != classes::none || p_.half_cell || p_.weighted || p_.any(border::closed) ||
            p_.closed_beside < std::numeric_limits<double>::infinity() || call_.list.size() > 1 ||
            p_.rank - 1 == p_.first_axis || method_for(p_.first_axis) != method::window)
            return false;
        return has_contiguous_fields(p_, call_.list[0]);
    }

    void describe_fields(call_plan& to) const {
        const line_shares shares(size(p_.rank - 1), p_.cells);
        to.passes.push_back({-1, "fields", blocks_for(shares.threads(), finish_threads),
                             std::int64_t{finish_threads} * line_shares::cells_each, 1});
    }

    void describe_search(int axis, call_plan& to) const {
        const std::int64_t groups = blocks_for(p_.cells / size(axis), cuda::warp);
        constexpr int rows = window_bands<V> * mark_bits;
        if (method_for(axis) == method::plain) return plain_.describe(pass_of(axis), source(axis), to);
        to.passes.push_back(
            {source(axis), "search outward in masks", groups * blocks_for(size(axis), rows), rows, cuda::warp});
        if (method_for(axis) == method::halves)
            to.passes.push_back(
                {source(axis), "halving where a group has not settled", groups, size(axis), cuda::warp});
    }

    // ---- memory ----------------------------------------------------------------------------------------------------

    [[nodiscard]] bool copies_image() const {
        if (p_.weighted) return false;
        return call_.list.size() > 1 || !is_contiguous(p_.size.data(), p_.image_stride.data(), p_.rank);
    }

    void reserve() {
        reserve_image();
        if (shortcuts_.serve() && shortcuts_.may_refuse()) refused_ = memory_.template reserve<std::int32_t>(1);
        // Tiles are done before the searches begin, which start from the image: both use the same memory.
        overlaid_ = memory_.bytes();
        if (!shortcuts_.serve() || shortcuts_.may_refuse()) reserve_searches();
        if (shortcuts_.serve() && shortcuts_.bytes() > memory_.bytes() - overlaid_)
            static_cast<void>(memory_.template reserve<std::byte>(shortcuts_.bytes() - (memory_.bytes() - overlaid_)));
    }

    void reserve_image() {
        elements_.bytes = static_cast<int>(size_of(call_.image.type));
        elements_.floating = call_.image.type >= dtype::float16;
        if (call_.list.size() > 1)
            table_ = memory_.template reserve<item>(static_cast<std::int64_t>(call_.list.size()));
        only_zeros_ = p_.by != classes::values;
        if (copies_image())
            image_ = memory_.template reserve<std::byte>(p_.cells * (only_zeros_ ? 1 : elements_.bytes));
    }

    void reserve_searches() {
        if (p_.weighted) {
            initial_ = memory_.template reserve<V>(p_.cells);
            if (Keyed || lines() > 1) turned_ = memory_.template reserve<V>(p_.cells);
            extremes_ = memory_.template reserve<V>(2 * (extremes_blocks + 1));
        } else {
            const bool alone = from_marks();
            std::int64_t most = words(p_.rank - 1);
            for (int axis = p_.first_axis; p_.by != classes::none && axis < p_.rank; ++axis)
                most = std::max(most, words(axis));
            marks_ = memory_.template reserve<std::uint32_t>(alone ? most : 3 * most);
            mark_words_ = most;
            if (p_.background) zeros_ = memory_.template reserve<std::uint32_t>(words(p_.rank - 1));
        }
        const int passes = first_searched() - p_.first_axis + (from_marks() ? 0 : 1) + (puts_fields() ? 0 : 1);
        for (int i = 0; i < std::min(passes, 2); ++i)
            state_[static_cast<std::size_t>(i)] = memory_.template reserve<state>(p_.cells);
        std::int64_t groups = 0;
        for (int axis = p_.first_axis; axis <= first_searched(); ++axis) {
            if (method_for(axis) == method::halves)
                groups = std::max(groups, blocks_for(p_.cells / size(axis), cuda::warp));
            if (method_for(axis) == method::plain) plain_.reserve(pass_of(axis), memory_);
        }
        if (groups == 0) return;
        winners_ = memory_.template reserve<std::int32_t>(p_.cells);
        hard_ = memory_.template reserve<std::uint8_t>(groups);
    }

    void point_items() {
        if (call_.list.size() > 1) {
            std::byte* const to = memory_.template get<std::byte>(table_);
            send_bytes(on_, call_.list.data(), static_cast<std::int64_t>(call_.list.size_bytes()), to);
            items_.table = reinterpret_cast<const item*>(to);
            items_.count = static_cast<std::int64_t>(call_.list.size());
        } else {
            items_.only = call_.list[0];
        }
        if (!copies_image()) {
            elements_.data = static_cast<const std::byte*>(call_.image.data);
            return;
        }
        std::byte* const to = memory_.template get<std::byte>(image_);
        gather_images(on_, items_, grid_, p_.cells, elements_, only_zeros_, to);
        elements_.data = to;
        if (only_zeros_) elements_.bytes = 1, elements_.floating = false;
    }

    /// False where that is all that there is to do.
    bool take_shortcut() {
        open_ = shortcuts_.may_refuse() ? memory_.template get<std::int32_t>(refused_) : nullptr;
        std::byte* const own = memory_.template get<std::byte>(overlaid_);
        shortcuts_.solve(elements_, own, const_cast<std::int32_t*>(open_));
        if constexpr (!Keyed && std::is_integral_v<V>)
            if (!shortcuts_.put_fields()) finish_all(nullptr, tiled_states<V>{shortcuts_.states(own), open_});
        if (shortcuts_.may_refuse()) close_in_on_gate(on_);
        return shortcuts_.may_refuse();
    }

    // ---- the first pass --------------------------------------------------------------------------------------------

    [[nodiscard]] marked marks_for(int axis, bool carried = true) const {
        marked marks;
        marks.rows = size(axis), marks.columns = p_.cells / marks.rows;
        marks.inner = cells_between(p_.size.data(), axis + 1, p_.rank);
        marks.words = blocks_for(marks.rows, mark_bits);
        marks.periodic = by_.m.periodic[axis];
        marks.bits = memory_.template get<std::uint32_t>(marks_);
        if (carried) marks.to_before = marks.bits + mark_words_, marks.to_after = marks.to_before + mark_words_;
        return marks;
    }

    void scan() {
        marked marks = marks_for(p_.rank - 1);
        if (p_.background) marks.zeros = memory_.template get<std::uint32_t>(zeros_);
        mark_lines(on_, elements_, mark_for(p_), marks, open_);
        launch_gated(on_, open_, scan_marks<V, K, Keyed>, blocks_for(lines() * stretches(), scan_rows_warps),
                     dim3(cuda::warp, scan_rows_warps), 0, marks, p_.by != classes::none, stretches(), by_,
                     memory_.template get<state>(state_[0]));
    }

    void start_power() {
        // Weights count only where numbers have 64 bits.
        if constexpr (sizeof(V) == 8) {
            V* const initial = memory_.template get<V>(initial_);
            V* const least = memory_.template get<V>(extremes_) + 2;
            V* const magnitude = least + extremes_blocks;
            cuda::launch(on_, start_from_weights<V>, blocks_for(p_.cells, scan_rows_threads), dim3(scan_rows_threads),
                         0, weighted_arrays(call_), by_.m, p_.cells, initial);
            cuda::launch(on_, find_extremes<V>, extremes_blocks, dim3(scan_rows_threads), 0, initial, nullptr, p_.cells,
                         least, magnitude);
            cuda::launch(on_, find_extremes<V>, 1, dim3(scan_rows_threads), 0, least, magnitude, extremes_blocks,
                         least - 2, least - 1);
            by_.extremes = least - 2;
            by_.largest = p_.largest;
            by_.ratio = ordered_ratio;
            search_last(initial);
        }
    }

    /// The last axis of a power diagram, with the lines turned into columns so that neighbouring threads read
    /// neighbours.
    void search_last(V* initial) {
        pass g = pass_of(p_.rank - 1);
        state* const first = memory_.template get<state>(state_[0]);
        const bool turned = lines() > 1;
        V* const spare = memory_.template get<V>(turned_);
        V* const from = turned ? spare : initial;
        if (turned) turn(on_, initial, lines(), g.rows, spare);
        cuda::launch(on_, start_states<V, K, Keyed>, blocks_for(p_.cells, scan_rows_threads), dim3(scan_rows_threads),
                     0, from, p_.cells, first);
        if (Keyed) by_.values = from, by_.next_values = turned ? initial : spare;
        g.inner = lines();
        search_any(g, method_for(g.axis));
        if (!turned) return;
        turn(on_, memory_.template get<state>(state_[1]), g.rows, lines(), first);
        now_ = 0;
        if (!Keyed) return;
        turn(on_, initial, g.rows, lines(), spare);
        by_.values = spare, by_.next_values = initial;
    }

    // ---- further passes --------------------------------------------------------------------------------------------

    void search(int axis) {
        const pass g = pass_of(axis);
        const method how = method_for(axis);
        if (axis == p_.rank - 2 && from_marks()) {
            const site_marks marks{memory_.template get<std::uint32_t>(marks_),
                                   blocks_for(size(p_.rank - 1), mark_bits), size(p_.rank - 1)};
            now_ = 0;
            return look_outward<marked_rows<V, K, Keyed>>(g, marks, nullptr);
        }
        if (how != method::plain) return search_any(g, how);
        if constexpr (std::is_same_v<V, std::int32_t>) {
            const state* const from = current();
            now_ = 1 - now_;
            plain_.template search<Keyed>(g, by_.m, from, current(), memory_, open_);
        }
    }

    [[nodiscard]] state* current() const { return memory_.template get<state>(state_[static_cast<std::size_t>(now_)]); }

    void search_any(const pass& g, method how) {
        const state* const from = current();
        now_ = 1 - now_;
        std::uint8_t* hard = nullptr;
        if (how == method::halves) {
            hard = memory_.template get<std::uint8_t>(hard_);
            cuda::check(cudaMemsetAsync(hard, 0, static_cast<std::size_t>(blocks_for(g.columns, cuda::warp)),
                                        cuda::stream_of(on_)),
                        "clearing flags");
        }
        look_outward<state_rows<V, K, Keyed>>(g, from, hard);
        if (how == method::halves)
            halve_all<V, K, Keyed>(on_, g, by_, from, current(), hard, memory_.template get<std::int32_t>(winners_),
                                   open_);
        if (by_.next_values == nullptr) return;
        V* const done = const_cast<V*>(by_.values);
        by_.values = by_.next_values, by_.next_values = done;
    }

    /// Into the current state, or, at the end of what has only plain fields, into them.
    template <class Rows>
    void look_outward(const pass& g, const typename Rows::source& from, std::uint8_t* hard) {
        const window how = window_for(g.axis);
        const std::int64_t blocks = Rows::groups(g, from) * blocks_for(g.rows, window_rows<V>);
        const dim3 threads(cuda::warp, window_bands<V>);
        if (g.axis == p_.first_axis && puts_fields()) {
            sink<V, K, Keyed, true> to;
            to.out = contiguous_fields(p_, call_.list[0], call_.out);
            launch_gated(on_, open_, search_window<V, K, Keyed, Rows, true>, blocks, threads,
                         how.template shared_bytes<V, Keyed>(), g, by_, how, from, to, hard);
        } else {
            sink<V, K, Keyed, false> to;
            to.next = current();
            launch_gated(on_, open_, search_window<V, K, Keyed, Rows, false>, blocks, threads,
                         how.template shared_bytes<V, Keyed>(), g, by_, how, from, to, hard);
        }
    }

    void fold(int axis) {
        const marked marks = marks_for(axis);
        mark_lines(on_, elements_, mark_for(p_), marks, open_);
        launch_gated(on_, open_, fold_classes<V, K, Keyed>, blocks_for(words(axis), fold_threads), dim3(fold_threads),
                     0, pass_of(axis), by_, marks, class_test{elements_, p_.by == classes::zero}, current());
    }

    // ---- the fields ------------------------------------------------------------------------------------------------

    /// From the states of the search, or of tiles.
    template <class States>
    void finish_all(const std::int32_t* open, const States& states) {
        const auto how = finishing_of<V>(p_, grid_, call_.image.type, call_.out);
        const line_shares shares(size(p_.rank - 1), p_.cells);
        launch_gated(on_, open, finish<V, K, Keyed, States>, blocks_for(shares.threads(), finish_threads),
                     dim3(finish_threads), 0, by_, how, items_, shares, states);
    }

    const device& on_;
    const option_call& call_;
    const plan& p_;
    rules<V> by_;
    grid_shape grid_;
    cuda::workspace memory_;
    plain_search plain_;
    option_shortcuts shortcuts_;
    const std::int32_t* open_ = nullptr;  ///< of a gate: the searches wait for what tiles refuse
    items items_;
    elements elements_;
    bool only_zeros_ = true;
    std::int64_t mark_words_ = 0;
    std::int64_t table_ = 0, image_ = 0, initial_ = 0, turned_ = 0, extremes_ = 0, marks_ = 0, zeros_ = 0, winners_ = 0,
                 hard_ = 0, refused_ = 0, overlaid_ = 0;
    std::array<std::int64_t, 2> state_{};
    int now_ = 0;
};

template <class V, class K, bool Keyed>
std::int64_t options_engine(const option_call& call) {
    option_engine<V, K, Keyed> engine(call);
    if (call.described != nullptr) engine.describe(*call.described);
    else engine.solve();
    return engine.workspace_bytes();
}

template <class V, class K>
std::int64_t options_on_device(const option_call& call) {
    return call.p.sites_wanted ? options_engine<V, K, true>(call) : options_engine<V, K, false>(call);
}

}  // namespace nearfield::exact
