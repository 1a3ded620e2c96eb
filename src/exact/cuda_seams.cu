#include "exact/cuda_seams.hpp"

#include <algorithm>
#include <cmath>

#include "exact/cuda_call.hpp"
#include "exact/cuda_options_fields.cuh"
#include "exact/cuda_seams.cuh"

namespace nearfield::exact {
namespace {

// Cells from an end that are looked at. Volumes are not mended: 512^3 with 1 % of sites took 2.7 ms for that (H200, 2026-11-22).
constexpr int seam_reach = 64;

template <class Index>
void mend(const device& on, const seams& s, const Index* index) {
    const dim3 threads(cuda::warp, seam_warps);
    cuda::launch_overlapped(on, mend_ends<Index>,
                            blocks_for(blocks_for(s.lines, cuda::warp) * s.x.near_ends(s.reach), seam_warps), threads,
                            0, s, index);
    cuda::launch_overlapped(on, mend_lines<Index>,
                            blocks_for(s.lines / s.y.size * s.y.near_ends(s.reach) * s.words, seam_warps), threads, 0,
                            s, index);
}

}  // namespace

mended_sites::mended_sites(const option_call& call) : on_(call.on), call_(call), p_(call.p), open_(call.p) {
    open_.largest = 0;
    for (auto axis = static_cast<std::size_t>(p_.first_axis); axis < static_cast<std::size_t>(p_.rank); ++axis) {
        open_.borders[axis] = border::open;
        open_.largest += p_.weight[axis] * std::pow(static_cast<double>(p_.size[axis] - 1), 2);
    }
    serve_ = could_serve();
    if (!serve_) return;
    bits_ = 0, counts_ = blocks_for(4 * words(), 256) * 256;
    bytes_ = counts_ + 256;
}

bool mended_sites::could_serve() const {
    if (p_.rank - p_.first_axis != 2 || p_.by != classes::none || p_.half_cell || p_.weighted || !p_.plain_outputs ||
        !p_.any(border::periodic) || p_.any(border::closed) ||
        p_.closed_beside < std::numeric_limits<double>::infinity() || call_.list.size() > 1 ||
        !call_.out.index.wanted() || !site_words_fit(open_))
        return false;
    for (auto axis = static_cast<std::size_t>(p_.first_axis); axis < static_cast<std::size_t>(p_.rank); ++axis)
        if (p_.weight[axis] != 1 || (p_.borders[axis] == border::periodic && p_.size[axis] < seam_reach)) return false;
    return has_contiguous_fields(p_, call_.list[0]);
}

std::int64_t mended_sites::words() const { return p_.cells / size(p_.rank - 1) * blocks_for(size(p_.rank - 1), 32); }

std::int64_t mended_sites::more_bytes() const {
    return call_int32({on_, open_, call_.image, call_.out, p_.rule, true});
}

void mended_sites::put_bits(const elements& image, std::uint32_t* bits, std::int32_t* refused) const {
    const std::int64_t length = size(p_.rank - 1), lines = p_.cells / length, of_line = blocks_for(length, mark_bits);
    const bool zeros = p_.rule == sites::zero;
    const tile_flags flags{reinterpret_cast<std::int32_t*>(bits + counts_ / 4), refused};
    if (image.bytes == 1 && length % mark_bits == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0)
        return cuda::launch(on_, pack_bytes, blocks_for(words(), word_threads), dim3(word_threads), 0,
                            reinterpret_cast<const uint4*>(image.data), zeros, words(), flags, bits);
    const auto go = [&]<class Bits>(Bits) {
        const Bits keep = static_cast<Bits>(image.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
        cuda::launch(on_, pack_cells<Bits>, blocks_for(lines * blocks_for(of_line, cuda::warp), word_warps),
                     dim3(cuda::warp, word_warps), 0, reinterpret_cast<const Bits*>(image.data), keep, zeros, lines,
                     length, of_line, flags, bits);
    };
    switch (image.bytes) {
        case 1: return go(std::uint8_t{});
        case 2: return go(std::uint16_t{});
        case 4: return go(std::uint32_t{});
        default: return go(std::uint64_t{});
    }
}

void mended_sites::solve(const elements& image, std::byte* memory, std::int32_t* refused) const {
    auto* const bits = reinterpret_cast<std::uint32_t*>(memory + bits_);
    put_bits(image, bits, refused);
    static_cast<void>(call_int32({on_, open_, call_.image, call_.out, p_.rule, false}));
    const auto axis_of = [&](int axis) {
        return seam_axis{static_cast<std::int32_t>(size(axis)),
                         p_.borders[static_cast<std::size_t>(axis)] == border::periodic};
    };
    seams s{};
    s.x = axis_of(p_.rank - 1), s.y = axis_of(p_.rank - 2);
    s.bits = bits, s.words = blocks_for(size(p_.rank - 1), mark_bits), s.lines = p_.cells / size(p_.rank - 1);
    s.reach = seam_reach;
    s.last_axis = p_.rank - 1;
    s.refused = refused;
    s.to.out = contiguous_fields(p_, call_.list[0], call_.out);
    s.to.limit = std::min(last_value<std::int64_t>(), plan::bound<std::int64_t>(p_.limit));
    s.to.limited = std::isfinite(p_.limit);
    if (s.to.out.index32 != nullptr) mend(on_, s, s.to.out.index32);
    else mend(on_, s, s.to.out.index);
}

void mended_sites::describe(call_plan& to) const {
    to.passes.push_back({-1, "sites without periodic axes", words(), mark_bits, 1});
    to.passes.push_back({-1, "cells near ends meeting, mended", words(), mark_bits, 1});
}

}  // namespace nearfield::exact
