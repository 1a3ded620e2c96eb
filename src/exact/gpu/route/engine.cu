// Rows, lines, epilogue: the engine that serves calls with any options, for every number type. Launches its kernels in
// order and owns the memory of a call.

#include <algorithm>

#include "base/lines.hpp"
#include "exact/gpu/epilogue/finish.cuh"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/rows/narrow.cuh"
#include "exact/gpu/rows/rows.cuh"

namespace nearfield::exact::gpu {
namespace {

/// The keys between passes, and the memory of a call. `V`: number type of the problem.
template <class V>
class line_engine {
public:
    explicit line_engine(const option_call& call) : on_(call.on), call_(call), p_(call.p), memory_(call.on) {
        by_.m = p_.template as_metric<V>(), by_.limit = p_.template bound<V>(p_.limit);
        grid_.rank = p_.rank, grid_.first_axis = p_.first_axis, grid_.keys = p_.keys;
        std::copy_n(p_.size.begin(), p_.rank, grid_.size);
        windows_ = std::is_same_v<V, double> && p_.sites_wanted && tries_narrow(call_);
        narrows_ = std::is_same_v<V, double> && !p_.sites_wanted && tries_narrow(call_);
        values_ = narrows_ || (std::is_same_v<V, std::int32_t> && values_suffice(p_));
        const int length = static_cast<int>(size(p_.rank - 1));
        const bool rows_fit = !p_.weighted || power_row<V>::bytes(length) <= cuda::limits().shared_bytes;
        if ((std::is_same_v<V, double> && keys_are_rows(call_)) || keys_are_all_rows(p_)) stored_ = keys::row;
        else if (values_ || (keys_are_narrow(call_) && rows_fit && !std::is_same_v<V, std::int64_t>))
            stored_ = keys::narrow;
        if (searched() == 3 && stored_ == keys::narrow && writes_fields() && !p_.weighted && !narrows_)
            lent_ = lent_field(call_.out);
        few_ = writes_fields() && call_.list[0].trusted.data == nullptr && tries_few(p_);
        image_.bytes = static_cast<int>(size_of(call_.image.type));
        image_.floating = call_.image.type >= dtype::float16;
        reserve();
    }

    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }

    void solve() {
        memory_.allocate();
        const items all = point_items();
        if (few_) compare_few(image_);
        if (p_.weighted) start_power();
        else write_first(image_);
        if (narrows_) {
            search_all<std::int32_t>();
            if (p_.limit <= narrow_limit(p_)) return;
            now_ = 0;  // the keys of rows are still there
        }
        search_all<V>();
        if (!writes_fields()) finish_all(all);
    }

    void describe(call_plan& to) const {
        const std::int64_t lines = p_.cells / size(p_.rank - 1);
        if (copies_image()) to.passes.push_back({-1, "copy of the image", blocks_for(p_.cells, 256), 256, 1});
        if (few_)
            to.passes.push_back({-1, std::string(row_of(rung::few).method) + ", else",
                                 blocks_for(p_.cells, few_box_cells), few_box_cells, 1});
        to.passes.push_back({source(p_.rank - 1),
                             p_.weighted ? "start from the weights" : "nearest sites of rows by bits",
                             blocks_for(lines, row_warps), size(p_.rank - 1), 1});
        for (int axis = first_searched(); axis >= p_.first_axis; --axis)
            to.passes.push_back(
                {source(axis), narrows_ || windows_ ? method_of<std::int32_t>(axis) + " in double" : method_of<V>(axis),
                 blocks_for(p_.cells / size(axis), cuda::warp), size(axis), cuda::warp});
        if (!writes_fields()) {
            const std::int64_t threads = line_shares(size(p_.rank - 1), p_.cells).threads();
            to.passes.push_back({-1, "fields", blocks_for(threads, cuda::each_threads),
                                 std::int64_t{cuda::each_threads} * line_shares::cells_each, 1});
        }
    }

private:
    // ---- properties of the problem ----------------------------------------------------------------------------------

    [[nodiscard]] std::int64_t size(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] int source(int axis) const { return p_.source_axis[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] int first_searched() const { return p_.weighted ? p_.rank - 1 : p_.rank - 2; }
    [[nodiscard]] int searched() const { return p_.rank - p_.first_axis; }
    [[nodiscard]] bool has_labels() const { return p_.by != classes::none; }

    template <class N>
    [[nodiscard]] keys keys_before(int axis) const {
        if (stored_ == keys::wide) return keys::wide;
        return axis == p_.rank - 2 ? stored_ : values_ && std::is_same_v<N, std::int32_t> ? keys::value : keys::word;
    }
    /// Returns the bytes of a key that a pass along `axis` writes.
    [[nodiscard]] std::int64_t bytes_after(int axis) const {
        if (stored_ == keys::wide) return 8;
        return axis == p_.rank - 1 && stored_ == keys::narrow ? 2 : 4;
    }

    [[nodiscard]] bool writes_fields() const { return last_pass_writes(call_); }

    // ---- memory ----------------------------------------------------------------------------------------------------

    [[nodiscard]] bool only_zeros() const { return p_.by != classes::values; }
    [[nodiscard]] bool copies_image() const {
        return !p_.weighted &&
               (call_.list.size() > 1 || !is_contiguous(p_.size.data(), p_.image_stride.data(), p_.rank));
    }

    void reserve() {
        if (call_.list.size() > 1)
            table_ = memory_.template reserve<item>(static_cast<std::int64_t>(call_.list.size()));
        if (copies_image()) copy_ = memory_.template reserve<std::byte>(p_.cells * (only_zeros() ? 1 : image_.bytes));
        if (few_) few_at_ = memory_.template reserve<std::int32_t>(few_counters(p_));
        if (p_.weighted) {
            for (std::int64_t& values : values_of_) values = memory_.template reserve<V>(p_.cells);
            // The finishing kernel recomputes values from the first ones.
            initial_ = writes_fields() ? values_of_[1] : memory_.template reserve<V>(p_.cells);
            extremes_ = memory_.template reserve<V>(2 * (extremes_blocks + 1));
        } else {
            // Axes are marked one after another, so they share this memory.
            std::int64_t words = 0;
            for (int axis = has_labels() ? p_.first_axis : p_.rank - 1;
                 axis < p_.rank - (stored_ == keys::narrow ? 1 : 0); ++axis)
                words = std::max(words, marks_along(p_, axis).words * marks_along(p_, axis).columns);
            marks_ = memory_.template reserve<std::uint32_t>(4 * words + most_summaries(words));
            if (notes_begins()) begins_ = memory_.template reserve<std::uint32_t>(begin_notes::words(p_));
        }
        std::int64_t most[2] = {0, 0};
        int nth = 0;
        for (int axis = first_searched() + (p_.weighted ? 0 : 1); axis >= p_.first_axis; --axis, nth = 1 - nth)
            if (axis > p_.first_axis || !writes_fields()) most[nth] = std::max(most[nth], bytes_after(axis));
        if (p_.weighted) most[0] = most[1] = 8;
        else if (lent_) most[0] = 0;
        if (few_) most[lent_ ? 1 : 0] = std::max(most[lent_ ? 1 : 0], blocks_for(few_bytes(p_), p_.cells));
        for (int i = 0; i < 2; ++i) keys_[i] = memory_.template reserve<std::byte>(most[i] * p_.cells);
        few_lists_ = keys_[lent_ ? 1 : 0];  // passes write keys later
        line_needs needs;
        for (int axis = p_.first_axis; axis <= first_searched(); ++axis) {
            const keys before = axis == p_.rank - 1 ? keys::wide : keys_before<V>(axis);
            const line_needs of = needs_of(before, size(axis), p_.cells / size(axis));
            needs.pivots = std::max(needs.pivots, of.pivots), needs.least = std::max(needs.least, of.least);
            needs.far = std::max(needs.far, of.far), needs.left = std::max(needs.left, of.left);
        }
        pivots_ = memory_.template reserve<std::int32_t>(needs.pivots);
        least_ = memory_.template reserve<float>(needs.least), far_ = memory_.template reserve<std::int32_t>(needs.far);
        unsolved_ = memory_.template reserve<std::int32_t>(searched() > 1 ? max_rank : 0);  // of each axis
        left_ = memory_.template reserve<std::uint8_t>(std::is_same_v<V, std::int64_t> ? 0 : needs.left);
    }

    /// Sends the items of a list to the device, and copies an image that is not contiguous.
    [[nodiscard]] items point_items() {
        items all;
        if (call_.list.size() > 1) {
            std::byte* const to = memory_.template get<std::byte>(table_);
            send_bytes(on_, call_.list.data(), static_cast<std::int64_t>(call_.list.size_bytes()), to);
            all.table = reinterpret_cast<const item*>(to), all.count = static_cast<std::int64_t>(call_.list.size());
        } else {
            all.only = call_.list[0];
        }
        image_.data = static_cast<const std::byte*>(call_.image.data);
        if (!copies_image()) return all;
        std::byte* const to = memory_.template get<std::byte>(copy_);
        gather_images(on_, all, grid_, p_.cells, image_, only_zeros(), to);
        image_.data = to;
        if (only_zeros()) image_.bytes = 1, image_.floating = false;
        return all;
    }

    /// Returns the flag on the device that tells the passes to run; null if they always do.
    [[nodiscard]] const std::int32_t* many() const {
        return few_ ? memory_.template get<std::int32_t>(few_at_) + 1 : nullptr;
    }

    void* current() const { return now_ == 0 && lent_ ? lent_ : memory_.template get<std::byte>(keys_[now_]); }

    /// True if rows note where runs begin along other axes.
    [[nodiscard]] bool notes_begins() const {
        return has_labels() && stored_ == keys::narrow && (values_ || form_along<V>(p_.first_axis).values);
    }
    [[nodiscard]] begin_notes begins() const {
        return {p_, notes_begins() ? memory_.template get<std::uint32_t>(begins_) : nullptr};
    }

    /// Returns the memory of an axis's marks.
    [[nodiscard]] marked point_marks(int axis, bool zeros) const {
        marked to = marks_along(p_, axis);
        const std::int64_t words = to.words * to.columns;
        to.bits = memory_.template get<std::uint32_t>(marks_);
        to.to_before = to.bits + words, to.to_after = to.to_before + words;
        if (zeros) to.zeros = to.to_after + words;
        to.lasts = reinterpret_cast<std::int32_t*>(to.to_after + 2 * words);
        return to;
    }

    void compare_few(const elements& image) {
        line_pass<V> g = shape_along<V>(p_, p_.first_axis);
        point_fields(call_, image, g);
        auto* const counters = memory_.template get<std::int32_t>(few_at_);
        auto* const lists = memory_.template get<std::byte>(few_lists_);
        list_few<V>(call_, image, counters, lists);
        gpu::compare_few(call_, g.out, counters, lists);
        trace::note(on_, rung::few, blocks_for(p_.cells, few_box_cells), many());
    }

    // ---- the last axis ---------------------------------------------------------------------------------------------

    void write_first(const elements& image) {
        if (stored_ == keys::narrow) {
            switch (image.bytes) {
                case 1: return write_narrow_first<std::uint8_t>(image);
                case 2: return write_narrow_first<std::uint16_t>(image);
                case 4: return write_narrow_first<std::uint32_t>(image);
                default: return write_narrow_first<std::uint64_t>(image);
            }
        }
        const row_sites sites{point_marks(p_.rank - 1, p_.background), has_labels()};
        mark_lines(on_, image, mark_for(p_), sites.from);
        const std::int64_t stretches = blocks_for(sites.from.rows, cuda::warp * cells_of_lane);
        const auto write = [&]<class Key>(Key* to) {
            cuda::launch(on_, write_rows<V, Key>, blocks_for(sites.from.columns * stretches, row_warps),
                         dim3(row_threads), 0, sites, stretches, by_.m, to);
        };
        if (stored_ == keys::row) return write(static_cast<std::int32_t*>(current()));
        write(static_cast<std::int64_t*>(current()));
    }

    template <class Bits>
    void write_narrow_first(const elements& image) {
        row_image<Bits> of{reinterpret_cast<const Bits*>(image.data), static_cast<Bits>(~Bits{0}), false, false, false};
        if (image.floating) of.keep = static_cast<Bits>(of.keep >> 1);
        of.nonzero_is_site = p_.rule == sites::nonzero, of.by_zero = p_.by == classes::zero,
        of.background = p_.background, of.many = many(), of.unsolved = memory_.template get<std::int32_t>(unsolved_);
        const std::int64_t length = size(p_.rank - 1);
        write_narrow(on_, of, begins(), has_labels(), p_.cells / length, static_cast<int>(length),
                     by_.m.periodic[p_.rank - 1], static_cast<std::int16_t*>(current()));
    }

    void start_power() {
        if constexpr (sizeof(V) == 8) {
            V* const initial = memory_.template get<V>(initial_);
            V* const least = memory_.template get<V>(extremes_) + 2;
            V* const magnitude = least + extremes_blocks;
            const weighted_sites from = weighted_arrays(call_);
            cuda::launch(on_, find_extremes<V>, extremes_blocks, dim3(scan_rows_threads), 0, from, by_.m, p_.cells,
                         many(), nullptr, nullptr, least, magnitude);
            cuda::launch(on_, find_extremes<V>, 1, dim3(scan_rows_threads), 0, from, by_.m, extremes_blocks, many(),
                         least, magnitude, least - 2, least - 1);
            const bool wide = stored_ == keys::wide;
            if (wide || !writes_fields())
                cuda::for_each(on_, p_.cells,
                               start_from_weights<V>{from, by_.m, initial,
                                                     wide ? memory_.template get<std::int64_t>(keys_[1]) : nullptr});
            if (wide) return search_last(initial);
            if constexpr (std::is_same_v<V, double>) write_power_first(from);
        }
    }

    void write_power_first(const weighted_sites& from) {
        const int last = p_.rank - 1, length = static_cast<int>(size(last));
        write_power(on_, p_.cells / length, from, by_.m, length, memory_.template get<V>(extremes_), p_.largest,
                    p_.numbers == tier::float64, many(), static_cast<std::int16_t*>(current()),
                    memory_.template get<V>(values_of_[0]));
    }

    /// Searches the last axis of a power diagram of long rows or of many axes, whose lanes read rows, not neighbours.
    void search_last(const V* initial) {
        line_pass<V> g = pass_along<V>(p_.rank - 1);
        g.before = initial, g.after = memory_.template get<V>(values_of_[0]);
        g.from = memory_.template get<std::byte>(keys_[1]), g.to = memory_.template get<std::byte>(keys_[0]);
        gpu::solve(on_, {rule::powers, keys::wide, true, false}, g);
    }

    // ---- further passes --------------------------------------------------------------------------------------------

    /// Returns the flag on the device that tells the passes of double to run.
    [[nodiscard]] std::int32_t* beyond() const {
        return memory_.template get<std::int32_t>(unsolved_) + p_.rank - 1;  // rows clear it, and need none themselves
    }

    template <class N>
    [[nodiscard]] line_pass<N> pass_along(int axis) const {
        line_pass<N> g = shape_along<N>(p_, axis);
        const bool again = narrows_ && std::is_same_v<N, V>;
        if (narrows_ && !again) g.limit = static_cast<N>(std::min(p_.limit, narrow_limit(p_)));
        if (p_.weighted) {
            // Passes alternate between two buffers of values.
            g.before = memory_.template get<N>(values_of_[now_]);
            g.after = memory_.template get<N>(values_of_[1 - now_]);
            g.extremes = memory_.template get<N>(extremes_);
            g.largest = p_.largest, g.ordered = true, g.rounds = p_.numbers == tier::float64;
        }
        g.pivots = memory_.template get<std::int32_t>(pivots_), g.least = memory_.template get<float>(least_);
        g.again = again, g.many = again ? beyond() : many(), g.solved = trace::numbers();
        g.far = memory_.template get<std::int32_t>(far_), g.left = memory_.template get<std::uint8_t>(left_);
        if (stored_ == keys::narrow && !p_.weighted) g.unsolved = memory_.template get<std::int32_t>(unsolved_) + axis;
        return g;
    }

    template <class N>
    [[nodiscard]] line_form form_along(int axis, bool after_windows = false) const {
        line_form how;
        how.after_windows = after_windows;
        how.by = p_.weighted ? rule::powers : has_labels() ? rule::labels : rule::plain;
        constexpr bool integers = std::is_same_v<N, std::int32_t>;
        how.stored = keys_before<N>(axis);
        how.bent = p_.half_cell || p_.any(border::periodic), how.clamps = narrows_ && integers;
        how.last = axis == p_.first_axis && writes_fields();
        how.only_windows = windows_ && integers;
        // In double, only the last pass of an image has near windows.
        how.whole = integers || (p_.numbers != tier::float64 && !p_.weighted && how.last && is_position(how.stored));
        how.values = integers ? values_ : std::is_same_v<N, double> && how.whole && !p_.sites_wanted;
        return how;
    }

    template <class N>
    [[nodiscard]] std::string method_of(int axis) const {
        const std::string last =
            row_of(shape_along<N>(p_, axis).ordered || p_.weighted ? rung::strips : rung::plain).method;
        const line_form how = form_along<N>(axis);
        if constexpr (!std::is_same_v<N, std::int64_t>)
            if (searches_near(how, shape_along<N>(p_, axis)))
                return std::string(row_of(how.values ? rung::values : rung::near).method) + ", else " + last;
        return last;
    }

    template <class N>
    void search_all() {
        for (int axis = p_.rank - 2; axis >= p_.first_axis; --axis, now_ = 1 - now_)
            search<N>(axis, image_, windows_ && search<std::int32_t>(axis, image_));
    }
    /// Returns whether near windows were searched; `after_windows`: those in 32 bits were.
    template <class N>
    bool search(int axis, const elements& image, bool after_windows = false) {
        line_pass<N> g = pass_along<N>(axis);
        const line_form how = form_along<N>(axis, after_windows);
        if (has_labels()) {
            g.ends = point_marks(axis, false), g.begins = begins().along(axis);
            g.image = image.data, g.image_bytes = image.bytes, g.floating = image.floating;
            g.by_zero = p_.by == classes::zero;
        }
        g.from = current();
        point_fields(call_, image, g);
        if (how.clamps && p_.limit > narrow_limit(p_)) g.out.beyond = beyond();
        if (!how.last) g.to = memory_.template get<std::byte>(keys_[1 - now_]), g.values = how.values;
        // If fields are made from values, the finishing kernel handles closed ends.
        if (!writes_fields()) g.out.closed = 0, g.out.closed_beside = no_site<N>();
        return gpu::solve(on_, how, g);
    }

    /// Writes any fields, from the keys.
    void finish_all(const items& all) const {
        rules<V> by = by_;
        if (p_.weighted) by.initial = memory_.template get<V>(initial_);
        const auto how = finishing_of<V>(p_, grid_, call_.image.type, call_.out);
        const line_shares shares(size(p_.rank - 1), p_.cells);
        const auto go = [&]<bool Sites, class K>(const K* states) {
            cuda::for_each(on_, shares.threads(), finish_cells<V, K, Sites>{by, how, all, shares, states});
        };
        if constexpr (std::is_same_v<V, std::int32_t>)
            if (values_) return go.template operator()<false>(static_cast<const V*>(current()));
        if (stored_ == keys::wide) return go.template operator()<true>(static_cast<const std::int64_t*>(current()));
        go.template operator()<true>(static_cast<const std::int32_t*>(current()));
    }

    const device& on_;
    const option_call& call_;
    const plan& p_;
    rules<V> by_;
    grid_shape grid_;
    keys stored_ = keys::wide;
    bool values_ = false;        ///< passes carry values without sites
    bool few_ = false;           ///< sites are counted first, and compared with all cells if they are few
    bool narrows_ = false;       ///< passes run in 32 bits first, and in V if a value exceeds these
    bool windows_ = false;       ///< near windows in 32 bits precede the strips in V
    std::byte* lent_ = nullptr;  ///< the keys of a volume's rows, if a field holds them
    elements image_;             ///< contiguous: the call's, or a copy
    cuda::workspace memory_;
    std::int64_t table_ = 0, copy_ = 0, few_at_ = 0, few_lists_ = 0, marks_ = 0, begins_ = 0, initial_ = 0,
                 extremes_ = 0, pivots_ = 0, least_ = 0, far_ = 0, left_ = 0, unsolved_ = 0;
    std::int64_t keys_[2]{}, values_of_[2]{};
    int now_ = 0;
};

template <class V>
std::int64_t serve_generally(const option_call& call) {
    line_engine<V> engine(call);
    call.described != nullptr ? engine.describe(*call.described) : engine.solve();
    return engine.workspace_bytes();
}

}  // namespace
}  // namespace nearfield::exact::gpu

namespace nearfield::exact {

std::int64_t options_int32(const option_call& call) { return gpu::serve_generally<std::int32_t>(call); }
std::int64_t options_int64(const option_call& call) { return gpu::serve_generally<std::int64_t>(call); }
std::int64_t options_float64(const option_call& call) { return gpu::serve_generally<double>(call); }

}  // namespace nearfield::exact
