// Terms of distances along each axis, in the numbers of the dense engine's searches.
#include <algorithm>
#include <bit>
#include <cmath>

#include "exact/host_plane.hpp"

namespace nearfield::exact {
namespace {

int bits_of(std::int64_t size) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size - 1))); }

/// Converts values to numbers with low bits; large ones saturate where numbers become unknown.
template <class N>
N number_of(std::int64_t value, int bits) {
    return static_cast<N>(std::min<std::int64_t>(value << bits, unknown<N>));
}

}  // namespace

template <bool Sites>
plane_terms<Sites>::plane_terms(const plan& p) {
    const auto m = p.as_metric<std::int64_t>();
    const plane_layout at(p);
    const int first_axis = p.first_axis, last_axis = p.rank - 1;
    first.weight = static_cast<std::uint16_t>(m.weight[first_axis]);
    first.half_cell = p.half_cell;
    first.most = 0;
    while (m.term(first_axis, std::int64_t{first.most} + 1) < no_site16) ++first.most;
    if (Sites) line_bits = at.lines > 1 ? bits_of(at.lines) : 0, cell_bits = bits_of(at.length);
    packed = {1 << p.keys.shift[first_axis], at.lines > 1 ? 1 << p.keys.shift[first_axis + 1] : 0,
              1 << p.keys.shift[last_axis]};
    linear = {static_cast<std::int32_t>(at.cells()), static_cast<std::int32_t>(at.length), 1};

    const auto limit = plan::bound<std::int32_t>(p.limit);
    // The largest number of a value within the limit.
    const std::int64_t most = ((std::int64_t{limit} + 1) << cell_bits) - 1;
    narrow_limit = static_cast<narrow>(std::min<std::int64_t>(most, unknown<narrow>));
    wide_limit = static_cast<wide>(std::min<std::int64_t>(most, unknown<wide>));
    const std::int64_t held = std::int64_t{unknown<narrow> >> line_bits} << cell_bits;
    trusted = static_cast<narrow>(std::min<std::int64_t>(held, unknown<narrow>));

    if (at.lines > 1) {
        const auto within = std::sqrt(limit / static_cast<double>(m.weight[first_axis + 1]));
        window = std::min(at.lines - 1, static_cast<std::int64_t>(within) + 1);
        make_middle(m, first_axis + 1);
    }
    make_last(m, last_axis);
}

template <bool Sites>
void plane_terms<Sites>::make_middle(const metric<std::int64_t>& m, int axis) {
    const std::int64_t lines = m.size[axis];
    wide_lines_.emplace(std::ldexp(static_cast<double>(m.weight[axis]), line_bits), m.half_cell, lines, window);
    narrow_middle_ = host_scratch<narrow>(lines + 1);
    wide_middle_ = host_scratch<wide>(lines + 1);
    for (std::int64_t d = 0; d <= lines; ++d) {
        const std::int64_t term = m.term(axis, d);
        narrow_middle_.get()[d] = number_of<narrow>(term, line_bits);
        wide_middle_.get()[d] = d < lines ? number_of<wide>(term, line_bits) : none<wide>;
    }
}

template <bool Sites>
void plane_terms<Sites>::make_last(const metric<std::int64_t>& m, int axis) {
    const std::int64_t length = m.size[axis];
    reach_ = length + row_padding;
    narrow_last_ = host_scratch<narrow>(2 * reach_ + 1), narrow_gap_ = host_scratch<narrow>(2 * reach_ + 1);
    wide_last_ = host_scratch<wide>(2 * reach_ + 1), wide_gap_ = host_scratch<wide>(2 * reach_ + 1);
    for (std::int64_t d = 0; d <= reach_; ++d) {
        const std::int64_t term = m.term(axis, std::min(d, length - 1));
        narrow_last_.get()[reach_ - d] = narrow_last_.get()[reach_ + d] = number_of<narrow>(term, cell_bits);
        wide_last_.get()[reach_ - d] = wide_last_.get()[reach_ + d] = number_of<wide>(term, cell_bits);
    }
    block_gaps(last<narrow>(), length, narrow_gap_.get() + reach_);
    block_gaps(last<wide>(), length, wide_gap_.get() + reach_);
}

template <bool Sites>
std::int64_t plane_terms<Sites>::bytes(const plan& p) {
    const plane_layout at(p);
    const std::int64_t numbers = (at.lines > 1 ? at.lines + 1 : 0) + 2 * (2 * (at.length + row_padding) + 1);
    return numbers * static_cast<std::int64_t>(sizeof(narrow) + sizeof(wide));
}

template <bool Sites>
std::int64_t plane_terms<Sites>::lines_within(narrow number, std::int64_t guess) const {
    const std::int64_t value = number >> cell_bits;
    const auto farther = [&](std::int64_t lines) { return wide_middle_.get()[lines] >> line_bits > value; };
    while (guess < window && !farther(guess + 1)) ++guess;
    while (guess > 1 && farther(guess)) --guess;
    return guess;
}

template <bool Sites>
typename plane_terms<Sites>::narrow plane_terms<Sites>::known_within(std::int64_t lines) const {
    const std::int64_t beyond = std::int64_t{wide_middle_.get()[lines + 1]} >> line_bits;
    return static_cast<narrow>(std::min<std::int64_t>(beyond << cell_bits, trusted) - 1);
}

template class plane_terms<false>;
template class plane_terms<true>;

}  // namespace nearfield::exact
