// The exact engine on the device, pass by pass: what is launched, in order, and the memory it needs. Compiled once for each
// kind of numbers (cuda_int32.cu, ...).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/lines.hpp"
#include "exact/cuda_call.hpp"
#include "exact/cuda_image.cuh"
#include "exact/cuda_keyed_launch.cuh"
#include "exact/cuda_long.cuh"
#include "exact/cuda_real_launch.cuh"
#include "exact/cuda_slabs.cuh"
#include "exact/cuda_tile_launch.cuh"
#include "exact/cuda_whole.hpp"

namespace nearfield::exact {

template <class V, class K, bool Keyed>
class device_engine {
    using state = state_of<V, K, Keyed>;
    // Tiles hold values of whole numbers; of a state in 32 bits.
    static constexpr bool packed_numbers = std::is_integral_v<V> && !Keyed;
    static constexpr bool tiled_numbers = std::is_same_v<V, std::int32_t> && !Keyed;
    // Words of nearest sites.
    static constexpr bool site_numbers = std::is_same_v<V, std::int32_t> && Keyed;
    static constexpr bool real_numbers = std::is_same_v<V, double> && !Keyed;

public:
    explicit device_engine(const device_call& call)
        : on_(call.on),
          p_(call.p),
          m_(call.p.as_metric<V>()),
          image_(call.image),
          out_(call.out),
          rule_(call.rule),
          memory_(call.on),
          whole_(std::is_same_v<V, std::int32_t> && whole_fits(call.p) && cuda::has_clusters(call.measure_only)),
          tiles_(call.p),
          words_(packed_numbers && tiles_.words()),
          sites_(call.p),
          site_words_(site_numbers && site_words_fit(call.p)),
          reals_(call.on, call.p),
          real_words_(real_numbers && real_words_fit(call.p)) {
        reserve();
    }

    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }

    void solve() {
        memory_.allocate();
        point_outputs();
        if (whole_) {
            const site_bytes image = sites_of_image();
            search_whole(on_, p_, image.data, image.zero_is_site, outputs_);
            return copy_staged();
        }
        if constexpr (site_numbers) {
            if (site_words_) {
                sites_.solve(on_, memory_, sites_of_image(), m_, sink_of_sites());
                return copy_staged();
            }
        }
        if (searched() == 1) {
            scan<true>();
        } else {
            if (!words_ && !real_words_) {
                scan<false>();
                if constexpr (tiled_numbers) tiles_.clear_counts(on_, memory_);
            }
            for (int axis = p_.rank - 2; axis > p_.first_axis; --axis) search<false>(axis);
            search<true>(p_.first_axis);
        }
        copy_staged();
    }

private:
    // ---- memory ----------------------------------------------------------------------------------------------------

    void reserve() {
        const bool any_cells = !whole_ && (words_ || site_words_ || real_words_);
        plain_image_ =
            (size_of(image_.type) == 1 || any_cells) && is_contiguous(p_.size.data(), p_.image_stride.data(), p_.rank);
        if (!plain_image_) bytes_ = memory_.reserve<std::uint8_t>(p_.cells);
        const std::int64_t length = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        stretches_ = blocks_for(length, scan_cells);
        if (stretches_ > 1 && !words_ && !site_words_ && !real_words_) {
            before_ = memory_.reserve<std::int32_t>(p_.cells / length * stretches_);
            after_ = memory_.reserve<std::uint32_t>(p_.cells / length * stretches_);
        }
        reserve_output(out_.distance);
        reserve_output(out_.squared);
        reserve_output(out_.index);
        reserve_coordinates();
        if (whole_) return;
        if (site_words_) return sites_.reserve(memory_);
        if (tiled_numbers || words_) tiles_.reserve(memory_);
        // The passes before the last one that leave a state: with words, the scan does not.
        const int states = searched() - (words_ || real_words_ ? 2 : 1);
        if (states > 0) state_[0] = memory_.reserve<state>(words_ ? tiles_.state_cells() : p_.cells);
        if (states > 1 && borrowed() == nullptr) state_[1] = memory_.reserve<state>(p_.cells);
        if (real_words_) return reals_.reserve(memory_);
        std::int64_t groups = 0, ranges = 0;
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis) {
            if (fits_shared(axis) || (tiled_numbers && tiles_.fits(axis)) || (words_ && axis == p_.rank - 2)) continue;
            const pass g = pass_of(axis);
            groups = std::max(groups, blocks_for(g.columns, cuda::warp));
            ranges = std::max(ranges, 2 * blocks_for(g.rows, slab_rows) * g.columns);
        }
        if (groups > 0) {
            winners_ = memory_.reserve<std::int32_t>(p_.cells);
            hard_ = memory_.reserve<std::uint8_t>(groups);
            if (std::is_same_v<V, std::int32_t>) ranges_ = memory_.reserve<std::int32_t>(ranges);
        }
    }

    /// Axes that are searched; those before them number images.
    [[nodiscard]] int searched() const { return p_.rank - p_.first_axis; }
    strides strides_of(const any_output<device>& out, int leading_axes) const {
        strides s;
        for (int axis = 0; axis < p_.rank; ++axis)
            s.of[axis] =
                out.stride[static_cast<std::size_t>(p_.source_axis[static_cast<std::size_t>(axis)] + leading_axes)];
        return s;
    }

    void reserve_output(const any_output<device>& out) {
        if (!out.wanted()) return;
        const strides s = strides_of(out, 0);
        if (is_contiguous(p_.size.data(), s.of, p_.rank)) return;
        const std::int64_t at = memory_.reserve<std::byte>(p_.cells * size_of(out.type));
        staged_.push_back({at, size_of(out.type), static_cast<std::byte*>(out.data), s});
    }

    void reserve_coordinates() {
        const auto& out = out_.coordinates;
        if (!out.wanted()) return;
        const strides s = strides_of(out, 1);
        const int axes = p_.image_rank - p_.batch_axes;
        if (is_contiguous(p_.size.data(), s.of, p_.rank) && (out.stride[0] == p_.cells || axes == 1)) return;
        const std::int64_t plane = p_.cells * static_cast<std::int64_t>(sizeof(std::int32_t));
        const std::int64_t at = memory_.reserve<std::byte>(plane * axes);
        for (int axis = 0; axis < axes; ++axis)
            staged_.push_back({at + axis * plane, 4, static_cast<std::byte*>(out.data) + axis * out.stride[0] * 4, s});
    }

    /// Where the kernels write a field: its own memory, or the workspace that stands in for it.
    template <class T>
    T* pointer_to(const any_output<device>& out) const {
        for (const staged_copy& s : staged_)
            if (s.to == out.data) return reinterpret_cast<T*>(memory_.get<std::byte>(s.reserved));
        return static_cast<T*>(out.data);
    }

    void point_outputs() {
        if (out_.distance.wanted()) {
            if (out_.distance.type == dtype::float32) outputs_.distance32 = pointer_to<float>(out_.distance);
            else outputs_.distance64 = pointer_to<double>(out_.distance);
        }
        if (out_.squared.wanted()) {
            if (out_.squared.type == dtype::uint32) outputs_.squared32 = pointer_to<std::uint32_t>(out_.squared);
            else if (out_.squared.type == dtype::uint64) outputs_.squared64 = pointer_to<std::uint64_t>(out_.squared);
            else outputs_.squared_float = pointer_to<double>(out_.squared);
        }
        if (out_.index.wanted()) {
            if (out_.index.type == dtype::int32) outputs_.index32 = pointer_to<std::int32_t>(out_.index);
            else outputs_.index = pointer_to<std::int64_t>(out_.index);
        }
        if (out_.coordinates.wanted()) outputs_.coordinates = pointer_to<std::int32_t>(out_.coordinates);
        outputs_.only_distance32 = outputs_.distance32 != nullptr && !out_.squared.wanted() && !out_.index.wanted() &&
                                   !out_.coordinates.wanted();
        set_axes(outputs_, p_);
    }

    /// A contiguous field of the right width serves as the second state: it is written last, when that state is done with.
    state* borrowed() const {
        for (const any_output<device>* out : {&out_.distance, &out_.squared, &out_.index})
            if (out->wanted() && size_of(out->type) == static_cast<std::int64_t>(sizeof(state)) &&
                is_contiguous(p_.size.data(), strides_of(*out, 0).of, p_.rank))
                return static_cast<state*>(out->data);
        return nullptr;
    }

    /// The state that the pass along `axis` leaves. The last pass reads state 0, so that fields can stand in for state 1.
    state* state_after(int axis) const {
        if ((axis - p_.first_axis) % 2 == 1) return memory_.get<state>(state_[0]);
        state* const lent = borrowed();
        return lent != nullptr ? lent : memory_.get<state>(state_[1]);
    }

    // ---- pass 1: the last axis -------------------------------------------------------------------------------------

    template <bool Last>
    sink<V, K, Keyed, Last> sink_for(int axis) const {
        sink<V, K, Keyed, Last> to;
        to.out = outputs_;
        to.limit = std::min(last_value<V>(), plan::bound<V>(p_.limit));
        to.limited = std::isfinite(p_.limit);
        if constexpr (!Last) to.next = state_after(axis);
        return to;
    }

    site_sink sink_of_sites() const {
        constexpr std::int64_t last = last_value<std::int64_t>();
        return {outputs_, std::min(last, plan::bound<std::int64_t>(p_.limit)), std::isfinite(p_.limit)};
    }

    site_bytes sites_of_image() {
        site_bytes image;
        image.read(plain_image_ ? image_.data : image_as_bytes(), plain_image_ ? image_.type : dtype::uint8);
        image.zero_is_site = rule_ == sites::zero;
        image.length = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        image.lines = p_.cells / image.length;
        image.stretches = stretches_;
        return image;
    }

    template <bool Last>
    void scan() {
        const site_bytes image = sites_of_image();
        const dim3 threads(cuda::warp, scan_warps);
        const std::int64_t blocks = blocks_for(image.lines * image.stretches, scan_warps);
        std::int32_t* before = nullptr;
        std::uint32_t* after = nullptr;
        if (stretches_ > 1) {
            before = memory_.get<std::int32_t>(before_);
            after = memory_.get<std::uint32_t>(after_);
            cuda::launch(on_, find_ends, blocks, threads, 0, image, before, after);
            cuda::launch(on_, carry_ends, blocks_for(image.lines, scan_warps), threads, 0, image.lines, image.stretches,
                         before, after);
        }
        cuda::launch(on_, scan_lines<V, K, Keyed, Last>, blocks, threads, 0, image, m_, before, after,
                     sink_for<Last>(p_.rank - 1));
    }

    metric<std::int32_t> shape() const {
        metric<std::int32_t> m;
        m.rank = p_.rank;
        std::copy_n(p_.size.begin(), p_.rank, m.size);
        return m;
    }

    const std::uint8_t* image_as_bytes() {
        std::uint8_t* const bytes = memory_.get<std::uint8_t>(bytes_);
        copy_image_to_bytes(on_, p_, shape(), image_, bytes);
        return bytes;
    }

    // ---- further passes ---------------------------------------------------------------------------------------------

    pass pass_of(int axis) const {
        pass g;
        g.axis = axis;
        g.rows = p_.size[static_cast<std::size_t>(axis)];
        g.inner = cells_between(p_.size.data(), axis + 1, p_.rank);
        g.columns = p_.cells / g.rows;
        g.rows_ordered = p_.rows_ordered[static_cast<std::size_t>(axis)];
        return g;
    }

    bool fits_shared(int axis) const { return std::is_same_v<V, std::int32_t> && rows_fit_shared(p_, axis); }
    template <bool Last>
    void search(int axis) {
        switch (Keyed ? p_.rank - 1 - axis : 1) {
            case 1: return search_done<1, Last>(axis);
            case 2: return search_done<2, Last>(axis);
            default: return search_done<0, Last>(axis);
        }
    }

    template <int Done, bool Last>
    void search_done(int axis) {
        const pass g = pass_of(axis);
        if constexpr (packed_numbers && Done == 1) {
            const tile_search<V, Last> search{on_, m_, tiles_, memory_, axis, sink_for<Last>(axis)};
            if (words_ && axis == p_.rank - 2) return search.from_words(sites_of_image());
            if constexpr (tiled_numbers)
                if (tiles_.fits(axis)) return search.from_values(g, state_after(axis + 1));
        }
        if constexpr (real_numbers && Done == 1) {
            const real_pass<Last> along{m_, g, memory_, sink_for<Last>(axis)};
            if (real_words_ && axis == p_.rank - 2) return reals_.from_words(sites_of_image(), along);
            if (real_words_) return reals_.from_values(state_after(axis + 1), along);
        }
        const state* const from = state_after(axis + 1);
        if constexpr (std::is_same_v<V, std::int32_t>) {
            if (fits_shared(axis)) {
                const block_shape block = hull_block(g.rows);
                cuda::launch(on_, search_in_shared<Keyed, Done, Last>, blocks_for(g.columns, cuda::warp), block.threads,
                             block.shared, g, m_, from, sink_for<Last>(axis));
                return;
            }
        }
        search_long<Done, Last>(g, from);
    }

    template <int Done, bool Last>
    void search_long(const pass& g, const state* from) {
        const auto to = sink_for<Last>(g.axis);
        const dim3 threads(cuda::warp, long_warps);
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        std::uint8_t* const hard = memory_.get<std::uint8_t>(hard_);
        cuda::check(cudaMemsetAsync(hard, 0, static_cast<std::size_t>(groups), cuda::stream_of(on_)), "clearing flags");
        cuda::launch(on_, search_near<V, K, Keyed, Done, Last>, groups * blocks_for(g.rows, long_warps), threads, 0, g,
                     m_, from, to, hard);
        if constexpr (std::is_same_v<V, std::int32_t>) search_slabs<Done>(g, from, hard, to);
        else search_halves<Done>(g, from, hard, to);
    }

    template <int Done, bool Last>
    void search_slabs(const pass& g, const state* from, const std::uint8_t* hard, const sink<V, K, Keyed, Last>& to) {
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        slab_lists lists{};
        lists.slabs = static_cast<int>(blocks_for(g.rows, slab_rows));
        lists.rows = memory_.get<std::int32_t>(winners_);
        lists.start = memory_.get<std::int32_t>(ranges_);
        lists.end = lists.start + lists.slabs * g.columns;
        cuda::launch(on_, build_slabs<Keyed, Done>, groups * lists.slabs, dim3(cuda::warp, slab_bands),
                     sizeof(slab_memory), g, m_, from, hard, lists);
        const dim3 threads(cuda::warp, long_warps);
        for (int step = 1; step < lists.slabs; step *= 2)
            cuda::launch(on_, merge_slabs<Keyed, Done>, groups * blocks_for(lists.slabs, 2 * step * long_warps),
                         threads, 0, g, m_, from, hard, lists, step);
        cuda::launch(on_, walk_slabs<Keyed, Done, Last>, groups * blocks_for(g.rows, long_warps * band_rows), threads,
                     0, g, m_, from, hard, lists, to);
    }

    template <int Done, bool Last>
    void search_halves(const pass& g, const state* from, const std::uint8_t* hard, const sink<V, K, Keyed, Last>& to) {
        const dim3 threads(cuda::warp, long_warps);
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        std::int32_t* const winners = memory_.get<std::int32_t>(winners_);
        // The ends of every line first: they bound the first and last query of every level.
        const auto halve = [&](std::int64_t count, const queries& wanted) {
            if (count <= shared_queries)
                cuda::launch(on_, search_by_halving<V, K, Keyed, Done, Last, long_warps>, groups * count, threads, 0, g,
                             m_, from, to, hard, wanted, winners);
            else
                cuda::launch(on_, search_by_halving<V, K, Keyed, Done, Last, 1>, groups * blocks_for(count, long_warps),
                             threads, 0, g, m_, from, to, hard, wanted, winners);
        };
        halve(2, {0, g.rows - 1, 0});
        std::int64_t step = 1;
        while (2 * step < g.rows - 1) step *= 2;
        for (; step > 0; step /= 2) halve(blocks_for(g.rows - 1 - step, 2 * step), {step, 2 * step, step});
    }

    void copy_staged() {
        for (const staged_copy& s : staged_) {
            const auto copy = [&]<class T>(T*) {
                cuda::launch(on_, copy_to_strides<T>, blocks_for(p_.cells, flat_threads), dim3(flat_threads), 0,
                             memory_.get<T>(s.reserved), shape(), s.stride, p_.cells, reinterpret_cast<T*>(s.to));
            };
            if (s.element_bytes == 4) copy(static_cast<std::uint32_t*>(nullptr));
            else copy(static_cast<std::uint64_t*>(nullptr));
        }
    }

    // While a level of the halving has no more rows than this, eight warps share each.
    static constexpr std::int64_t shared_queries = 16;

    const device& on_;
    const plan& p_;
    const metric<V> m_;
    const any_input<device>& image_;
    const fields<device>& out_;
    const sites rule_;
    cuda::workspace memory_;
    const bool whole_;  ///< all passes are one kernel
    tile_workspace tiles_;
    const bool words_;  ///< the first two passes are one
    site_search sites_;
    const bool site_words_;  ///< all passes are its
    real_search reals_;
    const bool real_words_;  ///< all are its, in double
    outputs outputs_;
    std::vector<staged_copy> staged_;
    bool plain_image_ = true;
    std::int64_t stretches_ = 1;
    std::int64_t bytes_ = 0, before_ = 0, after_ = 0, winners_ = 0, hard_ = 0, ranges_ = 0;
    std::array<std::int64_t, 2> state_{};
};

template <class V, class K, bool Keyed>
std::int64_t call_engine(const device_call& call) {
    device_engine<V, K, Keyed> engine(call);
    if (!call.measure_only) engine.solve();
    return engine.workspace_bytes();
}

template <class V, class K>
std::int64_t call_on_device(const device_call& call) {
    return call.p.sites_wanted ? call_engine<V, K, true>(call) : call_engine<V, K, false>(call);
}

}  // namespace nearfield::exact
