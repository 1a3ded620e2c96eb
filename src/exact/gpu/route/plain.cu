// Plain sites in unit spacing: launches the kernels in order and owns the memory of a call.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/lines.hpp"
#include "exact/gpu/ground/image.cuh"
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/sites/launch.cuh"
#include "exact/gpu/small/small.hpp"
#include "exact/gpu/tiles/launch.cuh"

namespace nearfield::exact {

template <class V, class K, bool Sites>
class device_engine {
    using state = state_of<V, K, Sites>;
    // Tiles hold values of whole numbers, for a state in 32 bits.
    static constexpr bool packed_numbers = std::is_integral_v<V> && !Sites;
    static constexpr bool tiled_numbers = std::is_same_v<V, std::int32_t> && !Sites;
    // Words of nearest sites need 32-bit keys.
    static constexpr bool site_numbers = std::is_same_v<V, std::int32_t> && Sites;

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
          site_words_(site_numbers && site_words_fit(call.p)) {
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
        for (int axis = p_.rank - 2; axis > p_.first_axis; --axis) search<false>(axis);
        search<true>(p_.first_axis);
        copy_staged();
    }

private:
    // ---- memory ----------------------------------------------------------------------------------------------------

    void reserve() {
        const bool any_cells = !whole_ && (words_ || site_words_);
        plain_image_ =
            (size_of(image_.type) == 1 || any_cells) && is_contiguous(p_.size.data(), p_.image_stride.data(), p_.rank);
        if (!plain_image_) bytes_ = memory_.reserve<std::uint8_t>(p_.cells);
        const std::int64_t length = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        stretches_ = blocks_for(length, scan_cells);
        reserve_output(out_.distance);
        reserve_output(out_.squared);
        reserve_output(out_.index);
        reserve_coordinates();
        if (whole_) return;
        if (site_words_) return sites_.reserve(memory_);
        if (tiled_numbers || words_) tiles_.reserve(memory_);
        // States are written by the passes before the last one; with words, not by the scan.
        const int states = searched() - 2;
        if (states > 0) state_[0] = memory_.reserve<state>(p_.cells);
        if (states > 1 && borrowed() == nullptr) state_[1] = memory_.reserve<state>(p_.cells);
    }

    /// Returns the number of axes that are searched; those before them number images.
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

    /// Returns where kernels write a field: its own memory, or the workspace that replaces it.
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

    /// Returns a contiguous field of the right width that serves as the second state: it is written last, when that
    /// state is no longer needed.
    state* borrowed() const {
        for (const any_output<device>* out : {&out_.distance, &out_.squared, &out_.index})
            if (out->wanted() && size_of(out->type) == static_cast<std::int64_t>(sizeof(state)) &&
                is_contiguous(p_.size.data(), strides_of(*out, 0).of, p_.rank))
                return static_cast<state*>(out->data);
        return nullptr;
    }

    /// Returns the state that the pass along `axis` writes. The last pass reads state 0, so that fields can hold state
    /// 1.
    state* state_after(int axis) const {
        if ((axis - p_.first_axis) % 2 == 1) return memory_.get<state>(state_[0]);
        state* const lent = borrowed();
        return lent != nullptr ? lent : memory_.get<state>(state_[1]);
    }

    // ---- pass 1: the last axis -------------------------------------------------------------------------------------

    template <bool Last>
    sink<V, K, Sites, Last> sink_for(int axis) const {
        sink<V, K, Sites, Last> to;
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

    template <bool Last>
    void search(int axis) {
        if constexpr (packed_numbers) {
            const tile_search<V, Last> search{on_, m_, tiles_, memory_, axis, sink_for<Last>(axis)};
            if (axis == p_.rank - 2) search.from_words(sites_of_image());
            else search.from_values(pass_of(axis), state_after(axis + 1));
        }
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
    const bool site_words_;  ///< sites_ runs all passes
    outputs outputs_;
    std::vector<staged_copy> staged_;
    bool plain_image_ = true;
    std::int64_t stretches_ = 1;
    std::int64_t bytes_ = 0;
    std::array<std::int64_t, 2> state_{};
};

template <class V, class K, bool Sites>
std::int64_t call_engine(const device_call& call) {
    device_engine<V, K, Sites> engine(call);
    if (!call.measure_only) engine.solve();
    return engine.workspace_bytes();
}

template <class V, class K>
std::int64_t call_on_device(const device_call& call) {
    return call.p.sites_wanted ? call_engine<V, K, true>(call) : call_engine<V, K, false>(call);
}

// The device engine for int32 numbers.

std::int64_t call_int32(const device_call& call) { return call_on_device<std::int32_t, std::int32_t>(call); }

}  // namespace nearfield::exact
