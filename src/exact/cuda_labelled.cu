#include "exact/cuda_labelled.hpp"

#include <algorithm>
#include <cmath>

#include "exact/cuda_keyed_launch.cuh"
#include "exact/cuda_labelled.cuh"
#include "exact/cuda_options_fields.cuh"

namespace nearfield::exact {
namespace {

// Rows beside a window: with the strip's own, at least 47 steps.
constexpr int label_margin = 44;

}  // namespace

labelled_sites::labelled_sites(const option_call& call) : on_(call.on), call_(call), p_(call.p) {
    serve_ = could_serve();
    if (serve_) reserve();
}

bool labelled_sites::could_serve() const {
    if (p_.by != classes::values || p_.weighted || p_.half_cell || p_.is_signed() || !p_.plain_outputs ||
        p_.any(border::closed) || p_.any(border::periodic) ||
        p_.closed_beside < std::numeric_limits<double>::infinity() || call_.list.size() > 1)
        return false;
    return site_words_fit(p_) && has_contiguous_fields(p_, call_.list[0]);
}

void labelled_sites::reserve() {
    const auto take = [&](std::int64_t count) {
        const std::int64_t at = bytes_;
        bytes_ += blocks_for(count, 256) * 256;
        return at;
    };
    const std::int64_t length = size(p_.rank - 1), bits = 4 * (p_.cells / length) * blocks_for(length, mark_bits);
    last_ = take(bits), middle_ = take(bits);
    if (p_.background) zeros_ = take(bits);
    if (volumes()) first_ = take(bits), state_ = take(4 * p_.cells);
    counts_ = take(4 * max_rank);
}

/// The passes of a call, in order.
class labelled_passes {
public:
    labelled_passes(const labelled_sites& of, const elements& image, std::byte* memory, std::int32_t* refused)
        : of_(of), p_(of.p_), image_(image), memory_(memory), refused_(refused), m_(p_.as_metric<std::int32_t>()) {
        to_.out = contiguous_fields(p_, of.call_.list[0], of.call_.out);
        to_.limit = std::min(last_value<std::int64_t>(), plan::bound<std::int64_t>(p_.limit));
        to_.limited = std::isfinite(p_.limit);
    }

    void run() const {
        label_changes to;
        to.along_last = at<std::uint32_t>(of_.last_);
        to.zeros = p_.background ? at<std::uint32_t>(of_.zeros_) : nullptr;
        if (of_.volumes()) to.along[0] = at<std::uint32_t>(of_.first_);
        to.along[of_.volumes() ? 1 : 0] = at<std::uint32_t>(of_.middle_);
        to.flags = {at<std::int32_t>(of_.counts_), refused_};
        pack_changes(of_.on_, p_, image_, to);
        const outputs& out = to_.out;
        if (out.distance32 || out.distance64 || out.squared32 || out.squared64 || out.squared_float || out.coordinates)
            return passes<ending::fields>();
        if (out.index32 != nullptr) return passes<ending::index32>();
        passes<ending::index64>();
    }

private:
    template <class T>
    [[nodiscard]] T* at(std::int64_t offset) const {
        return reinterpret_cast<T*>(memory_ + offset);
    }
    [[nodiscard]] label_bits bits() const {
        label_bits bits{};
        bits.along_last.bits = at<std::uint32_t>(of_.last_);
        bits.along_last.length = of_.size(p_.rank - 1);
        bits.along_last.words = blocks_for(bits.along_last.length, mark_bits);
        bits.along_last.changes = true;
        bits.along_last.reach = offset_reach;
        bits.zeros = p_.background ? at<std::uint32_t>(of_.zeros_) : nullptr;
        bits.middle = at<std::uint32_t>(of_.middle_);
        bits.first = of_.volumes() ? at<std::uint32_t>(of_.first_) : nullptr;
        return bits;
    }
    [[nodiscard]] site_words lines() const {
        packed_lines lines;
        lines.length = of_.size(p_.rank - 1), lines.rows = of_.size(p_.rank - 2);
        lines.columns = blocks_for(lines.length, cuda::warp);
        lines.images = p_.cells / lines.length / lines.rows;
        lines.tiles = lines.images * lines.columns;
        return {{lines}};
    }

    template <class Body>
    static void with_strips(const strip_cut& cut, const Body& body) {
        if (cut.rows == small_strip) body.template operator()<small_strip>();
        else if (cut.rows == short_strip) body.template operator()<short_strip>();
        else body.template operator()<long_strip>();
    }

    template <ending End>
    void passes() const {
        if (!of_.volumes()) return second<End>(nullptr);
        second<ending::state>(at<std::uint32_t>(of_.state_));
        pass g;
        g.axis = p_.first_axis;
        g.rows = of_.size(g.axis), g.inner = cells_between(p_.size.data(), g.axis + 1, p_.rank);
        g.columns = p_.cells / g.rows;
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        const strip_cut cut = cut_strips(g.rows, groups, label_margin);
        with_strips(cut, [&]<int Rows>() {
            cuda::launch_overlapped(of_.on_, search_label_states<Rows, End>, groups * cut.into.count,
                                    dim3(cut.warps * cuda::warp), cut.warps * sizeof(label_edges<Rows>),
                                    site_states{g, at<std::uint32_t>(of_.state_)}, bits(), cut.into, m_, refused_, to_);
        });
    }

    template <ending End>
    void second(std::uint32_t* state) const {
        const site_words from = lines();
        const strip_cut cut = cut_strips(from.lines.rows, from.lines.tiles, label_margin);
        with_strips(cut, [&]<int Rows>() {
            cuda::launch_overlapped(of_.on_, search_label_words<Rows, End>, from.lines.tiles * cut.into.count,
                                    dim3(cut.warps * cuda::warp), cut.warps * sizeof(label_memory<Rows>), from, bits(),
                                    cut.into, m_, refused_, state, to_);
        });
    }

    const labelled_sites& of_;
    const plan& p_;
    const elements& image_;
    std::byte* memory_;
    std::int32_t* refused_;
    metric<std::int32_t> m_;
    site_sink to_;
};

void labelled_sites::solve(const elements& image, std::byte* memory, std::int32_t* refused) const {
    labelled_passes(*this, image, memory, refused).run();
}

void labelled_sites::describe(call_plan& to) const {
    const auto source = [&](int axis) { return p_.source_axis[static_cast<std::size_t>(axis)]; };
    const int last = p_.rank - 1;
    to.passes.push_back({source(last), "words of changes of class", p_.cells / size(last) * blocks_for(size(last), 256),
                         std::min<std::int64_t>(size(last), 256), 1});
    for (int axis = last - 1; axis >= p_.first_axis; --axis) {
        const std::int64_t groups = axis == last - 1 ? p_.cells / size(axis) / size(last) * blocks_for(size(last), 32)
                                                     : blocks_for(p_.cells / size(axis), 32);
        const strip_cut cut = cut_strips(size(axis), groups, label_margin);
        to.passes.push_back(
            {source(axis), "strips of sites in registers", groups * cut.into.count, cut.into.rows, cuda::warp});
    }
}

}  // namespace nearfield::exact
