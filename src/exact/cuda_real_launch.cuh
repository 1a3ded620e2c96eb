// Launches of the searches in double (cuda_real.cuh), and the memory they need.
#pragma once

#include <algorithm>

#include "base/lines.hpp"
#include "exact/cuda_choice.hpp"
#include "exact/cuda_pack.cuh"
#include "exact/cuda_real_hard.cuh"

namespace nearfield::exact {

/// A pass in double.
template <bool Last>
struct real_pass {
    const metric<double>& m;
    const pass& g;
    const cuda::workspace& memory;
    sink<double, std::int64_t, false, Last> to;
};

class real_search {
public:
    real_search(const device& on, const plan& p) : on_(on), p_(p) {}

    void reserve(cuda::workspace& memory) {
        const packed_lines lines = this->lines(memory);
        words_ = memory.reserve<line_word>(lines.tiles * lines.rows);
        sited_ = memory.reserve<std::uint32_t>(lines.images * lines.groups());
        if (lines.stretches > 1) ends_ = memory.reserve<std::uint32_t>(lines.images * lines.stretches * lines.rows);
        counts_ = memory.reserve<std::int32_t>(2 * max_rank);
        std::int64_t most = 0, winners = 0;
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis) {
            most = std::max(most, groups(axis));
            winners = std::max(winners, column_blocks(axis) * size(axis) * cuda::warp);
        }
        list_ = memory.reserve<std::int32_t>(most);
        marks_ = memory.reserve<std::uint32_t>(most * (p_.rank - 1 - p_.first_axis));
        most_groups_ = most;
        winners_ = memory.reserve<std::int32_t>(winners);
    }

    /// The first two passes.
    template <bool Last>
    void from_words(const site_bytes& image, const real_pass<Last>& along) const {
        const cuda::workspace& memory = along.memory;
        const std::int64_t marks = most_groups_ * (p_.rank - 1 - p_.first_axis);
        cuda::check(cudaMemsetAsync(memory.get<std::uint32_t>(marks_), 0, static_cast<std::size_t>(marks) * 4,
                                    cuda::stream_of(on_)),
                    "clearing marks");
        const word_lines from{lines(memory)};
        pack(on_, image, from.lines, {}, {memory.get<std::int32_t>(counts_), nullptr});
        const std::int64_t rows = along.g.rows;
        const windows cut{static_cast<int>(blocks_for(rows, real_window)), real_window};
        const int reach = terms_reach(rows, real_reach_of_words);
        cuda::launch_overlapped(on_, offer_words<Last>, from.lines.tiles * cut.count, dim3(real_threads), bytes(reach),
                                from, along.g, cut, reach, along.m, hard(along), along.to);
        finish(real_word_lines{from, along.m.weight[p_.rank - 1]}, along);
    }

    template <bool Last>
    void from_values(const double* cells, const real_pass<Last>& along) const {
        const pass& g = along.g;
        const int reach = terms_reach(g.rows, real_reach_of_values);
        cuda::launch_overlapped(on_, offer_values<Last>,
                                blocks_for(g.columns, cuda::warp) * blocks_for(g.rows, real_window), dim3(real_threads),
                                bytes(reach), g, reach, along.m, cells, hard(along), along.to);
        finish(real_value_lines<double>{g, cells}, along);
    }

private:
    [[nodiscard]] std::int64_t size(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] static std::size_t bytes(int reach) {
        return sizeof(double) * static_cast<std::size_t>(real_terms::size(reach));
    }
    /// 32 columns each; of words, those of one line.
    [[nodiscard]] std::int64_t groups(int axis) const {
        if (axis != p_.rank - 2) return blocks_for(p_.cells / size(axis), cuda::warp);
        return p_.cells / size(p_.rank - 1) / size(axis) * blocks_for(size(p_.rank - 1), cuda::warp);
    }
    [[nodiscard]] std::int64_t column_blocks(int axis) const {
        return std::min(groups(axis), halving_blocks * multiprocessors);
    }

    [[nodiscard]] packed_lines lines(const cuda::workspace& memory) const {
        packed_lines lines;
        lines.words = memory.get<line_word>(words_);
        lines.sited = memory.get<std::uint32_t>(sited_);
        lines.ends = memory.get<std::uint32_t>(ends_);
        lines.length = size(p_.rank - 1);
        lines.rows = size(p_.rank - 2);
        lines.columns = blocks_for(lines.length, cuda::warp);
        lines.stretches = blocks_for(lines.length, scan_cells);
        lines.images = p_.cells / lines.length / lines.rows;
        lines.tiles = lines.images * lines.columns;
        return lines;
    }

    template <bool Last>
    [[nodiscard]] real_hard hard(const real_pass<Last>& along) const {
        return {along.memory.template get<std::int32_t>(counts_) + along.g.axis,
                along.memory.template get<std::int32_t>(list_),
                along.memory.template get<std::uint32_t>(marks_) + (along.g.axis - p_.first_axis) * most_groups_};
    }

    template <bool Last, class Lines>
    void finish(const Lines& lines, const real_pass<Last>& along) const {
        cuda::launch_overlapped(on_, halve_columns<Lines, sink<double, std::int64_t, false, Last>>,
                                column_blocks(along.g.axis), dim3(halving_threads), 0, lines, along.g, along.m,
                                hard(along), along.memory.template get<std::int32_t>(winners_), along.to);
    }

    const device& on_;
    const plan& p_;
    std::int64_t words_ = 0, sited_ = 0, ends_ = 0, counts_ = 0, list_ = 0, marks_ = 0, winners_ = 0, most_groups_ = 0;
};

}  // namespace nearfield::exact
