// The first pass of the host's general engine: every line of the last axis by itself, from the image to what cells
// hold between passes, or to results where there is no other axis.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <type_traits>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "exact/host_classes.hpp"
#include "exact/host_output.hpp"
#include "exact/host_scan.hpp"
#include "exact/host_sweeps.hpp"
#include "exact/sites.hpp"

namespace nearfield::exact {

/// What a cell holds between passes.
template <class V, class K, carry Carry>
using carried = std::conditional_t<Carry == carry::sites, K, V>;

/// What each number of cells along an axis adds; more than `most` cells never matter.
template <class V>
host_scratch<V> terms_along(const metric<V>& m, int axis, std::int64_t most) {
    host_scratch<V> terms(most + 2);
    terms.get()[most + 1] = no_site<V>();
    for (std::int64_t d = 0; d <= most; ++d) terms.get()[d] = m.term(axis, d);
    return terms;
}

template <class V, class K, carry Carry>
class first_pass {
    static constexpr bool Keyed = Carry == carry::sites;
    using state = carried<V, K, Carry>;
    using buffers = tile_buffers<V, K>;

public:
    first_pass(const plan& p, const metric<V>& m, const any_input<host>& image, const class_field& classes,
               const output_writer<V, K>& writer, workers& crew)
        : p_(p),
          m_(m),
          image_(image),
          classes_(classes),
          writer_(writer),
          ask_([&crew] { crew.go_on(0); }),
          axis_(p.rank - 1),
          n_(p.size[static_cast<std::size_t>(axis_)]),
          alone_(axis_ == p.first_axis),
          periodic_(m.periodic[axis_]),
          short_(n_ < most_short && !alone_ && !periodic_ && !classes.wanted() &&
                 is_contiguous(p.size.data(), p.image_stride.data(), p.rank)),
          limit_(plan::bound<V>(p.limit)) {
        if (!p.plain() || short_) terms_ = terms_along(m, axis_, periodic_ ? n_ / 2 : n_ - 1);
    }

    [[nodiscard]] std::int64_t length() const { return n_; }

    void lines(std::int64_t first, std::int64_t last, buffers& mine, state* field) const {
        prepare(mine);
        const std::int64_t together = short_ ? short_cells / n_ : 1;
        for (std::int64_t line = first; line < last; line += together) {
            if (short_) short_lines(line, std::min(together, last - line), mine, field + line * n_);
            else one_line(line, mine, field);
        }
    }

private:
    void prepare(buffers& mine) const {
        if (mine.site.get() != nullptr) return;
        const std::int64_t cells = std::max(n_, short_ ? short_cells : 0);
        mine.site = host_scratch<std::uint8_t>(cells + line_padding);
        mine.nearest = host_scratch<std::int32_t>(n_ + line_padding);
        // Cells past the end are no sites.
        std::fill_n(mine.site.get() + n_, line_padding, std::uint8_t{0});
        if (alone_) mine.value = host_scratch<V>(n_), mine.key = host_scratch<K>(n_);
    }

    [[nodiscard]] const std::byte* cells_from(std::int64_t offset) const {
        return static_cast<const std::byte*>(image_.data) + offset * size_of(image_.type);
    }

    void one_line(std::int64_t line, buffers& mine, state* field) const {
        const auto last = static_cast<std::size_t>(axis_);
        std::int32_t* const nearest = mine.nearest.get();
        if (classes_.wanted()) {
            classes_.nearest_in_line(line, n_, ask_, nearest);
        } else {
            const std::int64_t stride = p_.image_stride[last];
            const std::int64_t offset =
                p_.rank == 1 ? 0 : offset_of(line, p_.size.data(), p_.image_stride.data(), p_.rank - 1);
            for_each_piece(n_, ask_, [&](std::int64_t from, std::int64_t to) {
                read_sites(cells_from(offset + from * stride), image_.type, stride, to - from, p_.rule,
                           mine.site.get() + from);
            });
            nearest_in_line(mine.site.get(), n_, ask_, nearest);
            if (periodic_) nearest_round_ends(mine.site.get(), n_, nearest);
        }
        for_each_piece(n_, ask_, [&](std::int64_t from, std::int64_t to) {
            if (alone_) write_piece(line, from, to, mine);
            else keep_piece(from, to, nearest, field + line * n_);
        });
    }

    void write_piece(std::int64_t line, std::int64_t from, std::int64_t to, buffers& mine) const {
        const std::int32_t* const nearest = mine.nearest.get();
        line_values(nearest, from, to, mine.value.get());
        K* const key = mine.key.get() + from;
        keys_of_line(nearest + from, to - from, m_.keys.shift[axis_], key);
        writer_.write(line * n_ + from, to - from, mine.value.get() + from, p_.sites_wanted ? key : nullptr);
    }

    void keep_piece(std::int64_t from, std::int64_t to, const std::int32_t* nearest, state* line) const {
        if constexpr (Keyed) keys_of_line(nearest + from, to - from, m_.keys.shift[axis_], line + from);
        else line_values(nearest, from, to, line);
    }

    void line_values(const std::int32_t* nearest, std::int64_t first, std::int64_t last, V* to) const {
        if (m_.half_cell || periodic_) {
            for (std::int64_t x = first; x < last; ++x)
                to[x] = nearest[x] < 0 ? no_site<V>() : terms_.get()[apart(x, std::int64_t{nearest[x]}, n_, periodic_)];
        } else {
            values_of_line(nearest, first, last, m_.weight[axis_], to);
        }
        if (limit_ < no_site<V>())
            for (std::int64_t x = first; x < last; ++x) to[x] = to[x] > limit_ ? no_site<V>() : to[x];
    }

    /// Lines of a few cells that lie one behind the other: a call for each would take longer than its cells.
    void short_lines(std::int64_t first, std::int64_t count, buffers& mine, state* to) const {
        const std::uint8_t* site = mine.site.get();
        read_sites(cells_from(first * n_), image_.type, 1, count * n_, p_.rule, mine.site.get());
        const auto n = static_cast<std::int32_t>(n_);
        std::int32_t before[most_short];
        for (std::int64_t line = 0; line < count; ++line, site += n, to += n) {
            std::int32_t at = -most_short;
            for (std::int32_t x = 0; x < n; ++x) before[x] = at = site[x] != 0 ? x : at;
            at = 2 * most_short;
            for (std::int32_t x = n - 1; x >= 0; --x) {
                at = site[x] != 0 ? x : at;
                const std::int32_t nearest = at - x < x - before[x] ? at : before[x];
                to[x] = of_nearest(x, nearest, static_cast<std::uint32_t>(nearest) < static_cast<std::uint32_t>(n));
            }
        }
    }
    [[nodiscard]] state of_nearest(std::int32_t x, std::int32_t nearest, bool any) const {
        if constexpr (Keyed) {
            return any ? m_.keys.template field<K>(axis_, nearest) : no_key<K>;
        } else {
            if (!any) return no_site<V>();
            const V value = terms_.get()[std::abs(x - nearest)];
            return value > limit_ ? no_site<V>() : value;
        }
    }

    const plan& p_;
    const metric<V>& m_;
    const any_input<host>& image_;
    const class_field& classes_;
    const output_writer<V, K>& writer_;
    const std::function<void()> ask_;  ///< whether to go on, between pieces of a long line
    const int axis_;
    const std::int64_t n_;
    const bool alone_, periodic_, short_;
    const V limit_;
    host_scratch<V> terms_;
};

}  // namespace nearfield::exact
