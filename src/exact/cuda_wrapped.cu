#include "exact/cuda_wrapped.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exact/cuda_image.cuh"
#include "exact/cuda_options_fields.cuh"
#include "exact/cuda_pack.cuh"
#include "exact/cuda_wrapped_search.cuh"

namespace nearfield::exact {
namespace {

// Of the first search of a volume: what is farther than 9 cells from all sites needs the second one.
constexpr int first_steps = 9;

/// Lines for so many steps: whole ones where their ends meet between strips or not at all, else windows. A multiprocessor has
/// room for 16 warps.
wrapped_cut cut_for(std::int64_t rows, bool periodic, int steps) {
    constexpr std::int64_t room = wrapped_warps;
    const std::int64_t beside = std::min<std::int64_t>(steps, wrapped_margin + strip_halo) - strip_halo,
                       whole = blocks_for(rows, wrapped_rows);
    wrapped_cut best{};
    double least = std::numeric_limits<double>::infinity();
    const auto offer = [&](std::int64_t count, std::int64_t warps, std::int64_t margin, bool closed) {
        // Of all warps, for as long as one has room for itself alone.
        const double cost = static_cast<double>(count) / static_cast<double>(room / warps);
        if (warps > room || cost >= least) return;
        least = cost;
        const auto exact =
            margin == 0 ? steps : std::min<std::int64_t>((margin + strip_halo) / strip_halo * strip_halo, steps);
        best = {static_cast<int>(count), static_cast<int>(blocks_for(rows, count)),
                static_cast<int>(warps), static_cast<int>(margin),
                static_cast<int>(exact), closed};
    };
    if (whole <= room && (!periodic || rows % wrapped_rows == 0)) offer(1, whole, 0, periodic);
    for (std::int64_t count = 1; count <= 8 + rows / 256; ++count) {
        const std::int64_t own = blocks_for(rows, count), warps = blocks_for(own + 2 * beside, wrapped_rows);
        if (warps <= room) offer(count, warps, std::min<std::int64_t>((warps * wrapped_rows - own) / 2, steps), false);
    }
    return best;
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
        to_.limited = std::isfinite(p_.limit);
    }

    void run() const {
        pack(of_.on_, sites(), lines_, {}, {at<std::int32_t>(of_.counts_), nullptr});
        const bool alone = to_.out.distance32 == nullptr && to_.out.distance64 == nullptr &&
                           to_.out.squared32 == nullptr && to_.out.squared64 == nullptr &&
                           to_.out.squared_float == nullptr && to_.out.coordinates == nullptr;
        const bool small = p_.cells / (lines_.images / axes_.z.size) < std::int64_t{1} << 31 && axes_.x.size < 1 << 16;
        if (!alone || !small) return passes<ending::fields>();
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

    /// Volumes with few steps first: sites far in their own plane hardly count where others are near in planes beside it.
    template <ending End>
    void passes() const {
        if (!of_.volumes()) return second<End>(nullptr, refused_, cut_of(axes_.y, wrapped_steps));
        auto* const first_refused = at<std::int32_t>(of_.counts_);
        volume<End>(nullptr, first_refused, first_steps);
        close_in_on_gate(of_.on_);
        volume<End>(first_refused, refused_, wrapped_steps);
    }
    /// What goes behind the flag `open` takes as many blocks as a large GPU holds.
    template <ending End>
    void volume(const std::int32_t* open, std::int32_t* refused, int steps) const {
        const wrapped_cut cut = cut_of(axes_.y, steps);
        second<ending::state>(open, refused, cut);
        wrapped_cut deep = cut_of(axes_.z, steps);
        deep.steps = std::min(deep.steps, cut.steps);
        const std::int64_t columns = p_.cells / axes_.z.size, blocks = blocks_for(columns, cuda::warp) * deep.windows;
        cuda::launch_overlapped(
            of_.on_, search_wrapped_states<End>, open == nullptr ? blocks : std::min(blocks, gated_blocks),
            dim3(static_cast<unsigned>(deep.warps * cuda::warp)), deep.warps * sizeof(strip_edges), gate{open, blocks},
            at<const std::uint32_t>(of_.state_), columns, deep, axes_, wrapped_flag{refused, open == nullptr}, to_);
    }
    template <ending End>
    void second(const std::int32_t* open, std::int32_t* refused, const wrapped_cut& cut) const {
        const std::int64_t blocks = lines_.tiles * cut.windows;
        cuda::launch_overlapped(
            of_.on_, search_wrapped_words<End>, open == nullptr ? blocks : std::min(blocks, gated_blocks),
            dim3(static_cast<unsigned>(cut.warps * cuda::warp)), cut.warps * sizeof(wrapped_memory), gate{open, blocks},
            word_lines{lines_}, cut, axes_, wrapped_flag{refused, open == nullptr}, at<std::uint32_t>(of_.state_), to_);
    }
    static wrapped_cut cut_of(const ring& along, int steps) { return cut_for(along.size, along.periodic, steps); }

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
        const wrapped_cut cut = cut_for(size(axis), p_.borders[static_cast<std::size_t>(axis)] == border::periodic,
                                        volumes() ? first_steps : wrapped_steps);
        to.passes.push_back({source(axis), "strips of sites in registers, ends meeting",
                             blocks_for(p_.cells / size(axis), cuda::warp) * cut.windows, cut.own, cuda::warp});
    }
}

}  // namespace nearfield::exact
