#include "exact/cuda_wrapped.hpp"

#include <algorithm>

#include "exact/cuda_image.cuh"
#include "exact/cuda_options_fields.cuh"
#include "exact/cuda_pack.cuh"
#include "exact/cuda_wrapped_search.cuh"

namespace nearfield::exact {
namespace {

/// Windows of as equal a size as there can be.
wrapped_cut cut_for(std::int64_t rows) {
    constexpr std::int64_t most = wrapped_warps * wrapped_rows - 2 * wrapped_margin;
    const std::int64_t count = blocks_for(rows, most), own = blocks_for(rows, count);
    return {static_cast<int>(count), static_cast<int>(own),
            static_cast<int>(blocks_for(own + 2 * wrapped_margin, wrapped_rows))};
}

}  // namespace

wrapped_sites::wrapped_sites(const option_call& call) : on_(call.on), call_(call), p_(call.p) {
    serve_ = could_serve();
    if (serve_) reserve();
}

bool wrapped_sites::could_serve() const {
    const int searched = p_.rank - p_.first_axis;
    if (!p_.sites_wanted || p_.numbers == tier::float64 || searched < 2 || searched > 3 || call_.list.size() > 1)
        return false;
    if (p_.by != classes::none || p_.half_cell || p_.weighted || !p_.plain_outputs || !p_.any(border::periodic) ||
        p_.any(border::closed) || p_.closed_beside < std::numeric_limits<double>::infinity())
        return false;
    for (auto axis = static_cast<std::size_t>(p_.first_axis); axis < static_cast<std::size_t>(p_.rank); ++axis)
        if (p_.weight[axis] != 1 || p_.size[axis] > most_packed ||
            (p_.borders[axis] == border::periodic && p_.size[axis] < least_wrapped_line))
            return false;
    return has_contiguous_fields(p_, call_.list[0]);
}

void wrapped_sites::reserve() {
    const auto take = [&](std::int64_t count) {
        const std::int64_t at = bytes_;
        bytes_ += blocks_for(count, 256) * 256;
        return at;
    };
    const std::int64_t length = size(p_.rank - 1), rows = size(p_.rank - 2), lines = p_.cells / length,
                       stretches = blocks_for(length, scan_cells);
    words_ = take(lines * blocks_for(length, cuda::warp) * static_cast<std::int64_t>(sizeof(line_word)));
    sited_ = take(4 * (lines / rows) * blocks_for(rows, pack_lines_a_block));
    if (stretches > 1) ends_ = take(4 * lines * stretches);
    counts_ = take(4 * 2 * max_rank);
    if (volumes()) state_ = take(4 * p_.cells);
    if (size_of(call_.image.type) > 1) image_ = take(p_.cells);
}

/// The passes of a call, in order.
class wrapped_passes {
public:
    wrapped_passes(const wrapped_sites& of, const elements& image, std::byte* memory, std::int32_t* refused)
        : of_(of), p_(of.p_), image_(image), memory_(memory), refused_(refused) {
        lines_.words = at<line_word>(of.words_), lines_.sited = at<std::uint32_t>(of.sited_);
        lines_.ends = at<std::uint32_t>(of.ends_);
        lines_.length = of.size(p_.rank - 1), lines_.rows = of.size(p_.rank - 2);
        lines_.columns = blocks_for(lines_.length, cuda::warp);
        lines_.stretches = blocks_for(lines_.length, scan_cells);
        lines_.images = p_.cells / lines_.length / lines_.rows;
        lines_.tiles = lines_.images * lines_.columns;
        axes_.x = ring_of(p_.rank - 1), axes_.y = ring_of(p_.rank - 2);
        axes_.z = of.volumes() ? ring_of(p_.rank - 3) : ring{1, false};
        axes_.last_axis = p_.rank - 1;
        to_.out = contiguous_fields(p_, of.call_.list[0], of.call_.out);
        to_.limit = std::min(last_value<std::int64_t>(), plan::bound<std::int64_t>(p_.limit));
    }

    void run() const {
        pack(of_.on_, sites(), lines_, {}, {at<std::int32_t>(of_.counts_), nullptr});
        const bool alone = to_.out.distance32 == nullptr && to_.out.distance64 == nullptr &&
                           to_.out.squared32 == nullptr && to_.out.squared64 == nullptr &&
                           to_.out.squared_float == nullptr && to_.out.coordinates == nullptr;
        if (!alone) return passes<ending::fields>();
        if (to_.out.index32 != nullptr) return passes<ending::index32>();
        passes<ending::index64>();
    }

private:
    template <class T>
    [[nodiscard]] T* at(std::int64_t offset) const {
        return reinterpret_cast<T*>(memory_ + offset);
    }
    [[nodiscard]] ring ring_of(int axis) const {
        return {static_cast<std::int32_t>(of_.size(axis)),
                p_.borders[static_cast<std::size_t>(axis)] == border::periodic};
    }

    [[nodiscard]] site_bytes sites() const {
        site_bytes image;
        image.data = reinterpret_cast<const std::uint8_t*>(image_.data);
        if (image_.bytes > 1) {
            metric<std::int32_t> shape;
            shape.rank = p_.rank;
            std::copy_n(p_.size.begin(), p_.rank, shape.size);
            copy_image_to_bytes(of_.on_, p_, shape, of_.call_.image, at<std::uint8_t>(of_.image_));
            image.data = at<std::uint8_t>(of_.image_);
        }
        image.zero_is_site = p_.rule == nearfield::sites::zero;
        image.length = lines_.length, image.lines = p_.cells / image.length, image.stretches = lines_.stretches;
        return image;
    }

    template <ending End>
    void passes() const {
        const wrapped_cut cut = cut_for(lines_.rows);
        const auto second = of_.volumes() ? search_wrapped_words<ending::state> : search_wrapped_words<End>;
        cuda::launch_overlapped(of_.on_, second, lines_.tiles * cut.windows,
                                dim3(static_cast<unsigned>(cut.warps * cuda::warp)), cut.warps * sizeof(wrapped_memory),
                                word_lines{lines_}, cut, axes_, refused_, at<std::uint32_t>(of_.state_), to_);
        if (!of_.volumes()) return;
        const wrapped_cut deep = cut_for(axes_.z.size);
        const std::int64_t columns = p_.cells / axes_.z.size;
        cuda::launch_overlapped(of_.on_, search_wrapped_states<End>, blocks_for(columns, cuda::warp) * deep.windows,
                                dim3(static_cast<unsigned>(deep.warps * cuda::warp)),
                                deep.warps * sizeof(wrapped_edges), at<const std::uint32_t>(of_.state_), columns, deep,
                                axes_, refused_, to_);
    }

    const wrapped_sites& of_;
    const plan& p_;
    const elements& image_;
    std::byte* memory_;
    std::int32_t* refused_;
    packed_lines lines_;
    rings axes_{};
    site_sink to_;
};

void wrapped_sites::solve(const elements& image, std::byte* memory, std::int32_t* refused) const {
    cuda::check(cudaMemsetAsync(refused, 0, sizeof(*refused), cuda::stream_of(on_)), "clearing a flag");
    wrapped_passes(*this, image, memory, refused).run();
}

void wrapped_sites::describe(call_plan& to) const {
    const auto source = [&](int axis) { return p_.source_axis[static_cast<std::size_t>(axis)]; };
    const int last = p_.rank - 1;
    const std::int64_t stretch = std::min<std::int64_t>(scan_cells, size(last));
    to.passes.push_back(
        {source(last), "words of sites", p_.cells / size(last) * blocks_for(size(last), scan_cells), stretch, 1});
    for (int axis = last - 1; axis >= p_.first_axis; --axis) {
        const wrapped_cut cut = cut_for(size(axis));
        to.passes.push_back({source(axis), "strips of sites in registers, ends meeting",
                             blocks_for(p_.cells / size(axis), cuda::warp) * cut.windows, cut.own, cuda::warp});
    }
}

}  // namespace nearfield::exact
