// Plain sites in unit spacing: launches the kernels in order and owns the memory of a call. Lines search the first axis
// of volumes for distances if it is too long for shared memory.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/lines.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/sites/launch.cuh"
#include "exact/gpu/tiles/launch.cuh"

namespace nearfield::exact {
namespace {

outputs outputs_of(const plain_call& call) {
    outputs out = contiguous_fields(call.p, item_for(call.p, call.image, call.out), call.out);
    const bool alone = !call.out.squared.wanted() && !call.p.sites_wanted;
    out.only_distance32 = alone && out.distance32 != nullptr, out.only_within = alone && out.within != nullptr;
    return out;
}

/// Packed lines, then tiles of distances or words of sites along one axis after another.
class word_engine {
public:
    explicit word_engine(const plain_call& call)
        : on_(call.on), p_(call.p), outputs_(outputs_of(call)), call_(call), memory_(call.on), words_(call.p) {
        image_.read(call.image.data, call.image.type);
        image_.zero_is_site = call.p.rule == sites::zero;
        image_.length = size(p_.rank - 1), image_.lines = p_.cells / image_.length;
        image_.stretches = blocks_for(image_.length, scan_cells);
        few_ = call.few_out != nullptr || gpu::tries_few_alone(p_);
        reserve();
    }

    [[nodiscard]] std::int64_t workspace_bytes() const { return memory_.bytes(); }

    void solve() {
        memory_.allocate();
        pack(on_, image_, words_.lines(memory_), site_list(), words_.counts(memory_));
        if (!few_ || !compare_few()) gpu::trace::note(on_, gpu::rung::words, blocks_for(p_.cells, 1024));
        if (p_.sites_wanted) return search_sites();
        for (int axis = p_.rank - 2; axis > p_.first_axis; --axis) search<false>(axis);
        if (lines_finish(p_)) search_lines();
        else search<true>(p_.first_axis);
    }

private:
    [[nodiscard]] std::int64_t size(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] int searched() const { return p_.rank - p_.first_axis; }

    void reserve() {
        words_.reserve(memory_, p_.sites_wanted ? sites().most_windows() : most_tiles(p_), needs_pivots(p_),
                       p_.sites_wanted ? sites().most_groups() : 0);
        if (few_ && call_.few_out == nullptr) few_at_ = memory_.reserve<std::int32_t>(gpu::few_counters(p_));
        // The lists of few sites have the memory of the state of volumes, which passes write later.
        const std::int64_t lists = few_ ? gpu::few_bytes(p_) : 0,
                           state = searched() > 2 ? p_.cells / size(p_.rank - 1) * state_pitch(p_) * 4 : 0;
        state_[0] = memory_.reserve<std::byte>(std::max(lists, state));
        // A field of 4 bytes can be the second state: it is written last, when that state is not needed.
        if (searched() > 3 && lent() == nullptr) state_[1] = memory_.reserve<std::int32_t>(p_.cells);
        if (!lines_finish(p_)) return;
        const std::int64_t rows = size(p_.first_axis);
        const gpu::line_needs needs = gpu::needs_of(gpu::keys::value, rows, p_.cells / rows);
        pivots_ = memory_.reserve<std::int32_t>(needs.pivots);
        least_ = memory_.reserve<float>(needs.least);
        far_ = memory_.reserve<std::int32_t>(needs.far);
        left_ = memory_.reserve<std::uint8_t>(needs.left);
    }
    [[nodiscard]] std::int32_t* lent() const {
        if (outputs_.distance32 != nullptr) return reinterpret_cast<std::int32_t*>(outputs_.distance32);
        return reinterpret_cast<std::int32_t*>(outputs_.squared32);
    }
    /// Returns the state that the pass along `axis` writes. The last pass reads state 0, so that a field can hold state
    /// 1.
    [[nodiscard]] std::int32_t* state_after(int axis) const {
        if ((axis - p_.first_axis) % 2 == 1) return memory_.get<std::int32_t>(state_[0]);
        return lent() != nullptr ? lent() : memory_.get<std::int32_t>(state_[1]);
    }

    [[nodiscard]] site_search sites() const { return {on_, p_, words_, memory_, many()}; }

    // ---- few sites: see lines/few.cu -------------------------------------------------------------------------------

    [[nodiscard]] std::int32_t* counters() const {
        return call_.few_out != nullptr ? call_.counters : memory_.get<std::int32_t>(few_at_);
    }
    [[nodiscard]] const std::int32_t* many() const { return few_ ? counters() + 1 : nullptr; }
    /// Returns the list that packing makes, with cleared counters.
    [[nodiscard]] packed_sites site_list() const {
        if (!few_) return {};
        cuda::clear(on_, counters(), gpu::few_counters(p_) * 4);
        return {gpu::few_list<std::int32_t>(p_, counters(), memory_.get<std::byte>(state_[0])),
                searched() == 3 ? static_cast<int>(size(p_.first_axis)) : 0};
    }
    /// Returns whether a trace counts the call as solved.
    bool compare_few() const {
        const fields<device>& out = call_.few_out != nullptr ? *call_.few_out : call_.out;
        const std::array<item, 1> list{item_for(p_, call_.image, out)};
        gpu::written_fields<std::int32_t> to;
        to.out = contiguous_fields(p_, list[0], out);
        to.limit = std::min(to.limit, plan::bound<std::int32_t>(p_.limit));
        to.label = list[0].label.data;
        to.image = static_cast<const std::byte*>(call_.image.data);
        to.image_bytes = static_cast<int>(size_of(call_.image.type));
        gpu::compare_few({on_, p_, call_.image, out, nullptr, list}, to, counters(), memory_.get<std::byte>(state_[0]));
        return gpu::trace::note(on_, gpu::rung::few, blocks_for(p_.cells, gpu::few_box_cells), many());
    }

    template <bool Last>
    void search(int axis) const {
        value_sink<Last> to;
        to.out = outputs_;
        to.limit = std::min(to.limit, plan::bound<std::int32_t>(p_.limit));
        to.wide_limit = std::min(to.wide_limit, plan::bound<std::int64_t>(p_.limit));
        to.limited = std::isfinite(p_.limit);
        if constexpr (!Last) to.next = state_after(axis);
        const tile_search<Last> search{on_, words_, memory_, axis, size(axis), many(), to};
        if (axis == p_.rank - 2) return search.from_words(Last ? size(p_.rank - 1) : state_pitch(p_));
        search.from_values(lines_of_state(p_, axis), state_after(axis + 1));
    }

    void search_sites() const {
        constexpr std::int64_t last = last_value<std::int64_t>();
        const site_sink to{outputs_, std::min(last, plan::bound<std::int64_t>(p_.limit)), std::isfinite(p_.limit)};
        auto* const state = memory_.get<std::uint32_t>(state_[0]);
        if (outputs_.index32 != nullptr) sites().solve<ending::index32>(to, state);
        else sites().solve<ending::index64>(to, state);
    }

    /// Searches the first axis of a volume by lines.
    void search_lines() const {
        gpu::line_pass<std::int32_t> g = gpu::shape_along<std::int32_t>(p_, p_.first_axis);
        g.from = memory_.get<std::int32_t>(state_[0]);
        g.pivots = memory_.get<std::int32_t>(pivots_), g.least = memory_.get<float>(least_);
        g.far = memory_.get<std::int32_t>(far_), g.left = memory_.get<std::uint8_t>(left_);
        g.solved = gpu::trace::numbers(), g.many = many();
        g.out.out = outputs_, g.out.limit = std::min(g.out.limit, g.limit);
        gpu::line_form how;
        how.stored = gpu::keys::value, how.last = how.values = true;
        gpu::solve(on_, how, g);
    }

    const device& on_;
    const plan& p_;
    const outputs outputs_;
    const plain_call& call_;
    cuda::workspace memory_;
    word_workspace words_;
    site_bytes image_;
    bool few_ = false;         ///< sites are counted first, and compared with all cells if they are few
    std::int64_t few_at_ = 0;  ///< of the counters
    std::array<std::int64_t, 2> state_{};
    std::int64_t pivots_ = 0, least_ = 0, far_ = 0, left_ = 0;  ///< of the lines
};

}  // namespace

std::int64_t call_plainly(const plain_call& call) {
    if (is_small(call.p, call.image.type)) {
        if (!call.measure_only)
            search_whole(call.on, call.p, static_cast<const std::uint8_t*>(call.image.data), call.p.rule == sites::zero,
                         outputs_of(call));
        return 0;
    }
    word_engine engine(call);
    if (!call.measure_only) engine.solve();
    return engine.workspace_bytes();
}

}  // namespace nearfield::exact
