// Data of a call: the image's rows as classes of cells, a thread's buffers, and tiles that are left unresolved.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/lines.hpp"
#include "base/with_bytes.hpp"
#include "exact/host/layout.hpp"
#include "exact/host/lines.hpp"
#include "exact/host/rows.hpp"
#include "exact/sites.hpp"

namespace nearfield::exact {

/// Buffers of one thread.
template <class T>
struct thread_buffers {
    /// `best` holds a row of the image as well.
    thread_buffers(const pass_layout& s, bool first_wanted) : row(s.length, number<T>::sited) {
        std::int64_t rows = s.aside ? s.tiles * number<T>::columns : 1;
        for (const line_pass& pass : s.passes) rows = std::max(rows, pass.rows);
        const std::int64_t cells = rows * number<T>::columns;
        best = host_scratch<T>(std::max(rows, s.tiles) * number<T>::columns);
        other = host_scratch<T>(cells), root = host_scratch<float>(cells);
        if (number<T>::sited) value = host_scratch<std::int64_t>(cells), site = host_scratch<std::int64_t>(cells);
        if (first_wanted) first = host_scratch<T>(cells);
        classes = host_scratch<std::uint8_t>(4 * (s.length + row_slack));
        if (!s.aside) return;
        tile_classes = host_scratch<std::uint8_t>(8 * cells), flags = host_scratch<std::uint8_t>(cells + row_slack);
        cuts = host_scratch<std::uint8_t>(cells / 8 + row_slack);
    }
    [[nodiscard]] std::uint8_t* class_row(int which, std::int64_t length) const {
        return classes.get() + which * (length + row_slack);
    }
    row_scratch row;
    line_lists lists;
    host_scratch<T> best, other, first;
    host_scratch<float> root;
    host_scratch<std::int64_t> value, site;  ///< values and sites of a finished tile
    std::int64_t column_site[number<T>::columns]{};
    std::int64_t finished = 0;                             ///< tiles that a trial has not added to its sum
    host_scratch<std::uint8_t> classes;                    ///< two rows of classes, flags and bits
    host_scratch<std::uint8_t> tile_classes, flags, cuts;  ///< of rows side by side
};

/// The rows of the image as classes of cells: labels, else a byte, for sites (1) and other cells, or in a signed field
/// for zero and other cells. Labels whose memory is not contiguous are copied first, and so are rows whose cells lie
/// far apart.
class class_rows {
public:
    class_rows(const plan& p, const any_input<host>& image, const pass_layout& shape)
        : p_(p),
          image_(image),
          row_axis_(shape.row_axis),
          length_(shape.length),
          step_(p.image_stride[static_cast<std::size_t>(p.rank - 1)]),
          bytes_(bytes_of(p, image)),
          rows_(p.by == classes::values ? static_cast<const std::uint8_t*>(image.data) : nullptr) {
        for (auto axis = static_cast<std::size_t>(row_axis_) + 1; axis < static_cast<std::size_t>(p.rank); ++axis)
            even_ = even_ && p.image_stride[axis - 1] == p.image_stride[axis] * p.size[axis];
        if (copies(p, image)) copy_ = host_scratch<std::uint8_t>(workspace_bytes(p, image)), rows_ = copy_.get();
    }
    static std::int64_t workspace_bytes(const plan& p, const any_input<host>& image) {
        return copies(p, image) ? p.cells * bytes_of(p, image) : 0;
    }

    /// Returns the bytes of a class.
    [[nodiscard]] int bytes() const { return bytes_; }
    /// Returns row `line`: the labels' own memory, its copy, or `buffer`.
    const void* row(std::int64_t line, std::uint8_t* buffer) const {
        if (rows_ != nullptr) return rows_ + line * length_ * bytes_;
        read(line, 0, length_, buffer);
        return buffer;
    }
    /// True if cells a and b have one label.
    [[nodiscard]] bool same(std::int64_t a, std::int64_t b) const {
        return std::memcmp(rows_ + a * bytes_, rows_ + b * bytes_, static_cast<std::size_t>(bytes_)) == 0;
    }

    /// Returns `cell` with the coordinates that a site has after a pass along `axis`.
    [[nodiscard]] std::int64_t cell_of(std::int64_t cell, int axis, std::int64_t site) const {
        for (int k = axis; k < p_.rank; ++k) {
            const std::int64_t step = cells_between(p_.size.data(), k + 1, p_.rank);
            const std::int64_t own = cell / step % p_.size[static_cast<std::size_t>(k)];
            cell += (p_.keys.coordinate(site, k) - own) * step;
        }
        return cell;
    }

    /// Number of copy jobs. Rows are copied in parts, many rows at a time, so that each cache line is read once.
    [[nodiscard]] std::int64_t copy_jobs() const {
        return copy_.get() == nullptr ? 0 : parts() * ((lines() + most_lines - 1) / most_lines);
    }
    void copy(std::int64_t job) const {
        const std::int64_t from = job % parts() * part, first = job / parts() * most_lines;
        for (std::int64_t line = first; line < std::min(first + most_lines, lines()); ++line)
            read(line, from, std::min(part, length_ - from), copy_.get() + (line * length_ + from) * bytes_);
    }

private:
    static constexpr std::int64_t least_copied_step = 16, part = 512, most_lines = 128;

    static bool copies(const plan& p, const any_input<host>& image) {
        if (p.by == classes::values) return !is_contiguous(p.size.data(), p.image_stride.data(), p.rank);
        const std::int64_t step = p.image_stride[static_cast<std::size_t>(p.rank - 1)];
        return !p.weighted && std::abs(step) * size_of(image.type) >= least_copied_step;
    }
    static int bytes_of(const plan& p, const any_input<host>& image) {
        return p.by == classes::values ? static_cast<int>(size_of(image.type)) : 1;
    }
    [[nodiscard]] std::int64_t parts() const { return (length_ + part - 1) / part; }
    [[nodiscard]] std::int64_t lines() const { return p_.cells / length_; }
    void read(std::int64_t line, std::int64_t from, std::int64_t count, std::uint8_t* to) const {
        if (even_)
            return take(offset_of(line, p_.size.data(), p_.image_stride.data(), row_axis_) + from * step_, count, to);
        const std::int64_t last = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        for (std::int64_t cell = from; cell < from + count;) {
            const std::int64_t n = std::min(from + count - cell, last - cell % last);
            take(offset_of(line * length_ + cell, p_.size.data(), p_.image_stride.data(), p_.rank), n,
                 to + (cell - from) * bytes_);
            cell += n;
        }
    }
    /// Reads `count` cells from element `offset` of the image on.
    void take(std::int64_t offset, std::int64_t count, std::uint8_t* to) const {
        const auto* const from = static_cast<const std::byte*>(image_.data) + offset * size_of(image_.type);
        if (p_.by != classes::values)
            return read_sites(from, image_.type, step_, count, p_.by == classes::zero ? sites::nonzero : p_.rule, to);
        with_bytes(bytes_, [&]<class T>(T) {
            for (std::int64_t i = 0; i < count; ++i)
                reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[i * step_];
        });
    }

    const plan& p_;
    const any_input<host>& image_;
    const int row_axis_;
    const std::int64_t length_, step_;
    const int bytes_;
    bool even_ = true;                    ///< the cells of a row have one stride
    const std::uint8_t* rows_ = nullptr;  ///< all rows, if they are in memory
    host_scratch<std::uint8_t> copy_;
};

/// Tiles that a trial leaves unresolved, by their number in the last pass; `count` is valid while more are added.
struct unresolved_tiles {
    std::vector<std::uint8_t> tile;
    std::atomic<std::int64_t> count{0}, done{0};
    /// Numbers are abandoned if at least this many tiles, and this share of the finished ones, do not fit.
    static constexpr std::int64_t least = 16, share = 3;
    /// Counts a tile that a thread has finished; it adds many at a time, since a sum waits for stores past the caches.
    void finish(std::int64_t& finished) {
        constexpr std::int64_t many = 256;
        if (++finished == many) done.fetch_add(std::exchange(finished, 0), std::memory_order_relaxed);
    }
    /// `more`: tiles that the calling thread has finished and not added.
    [[nodiscard]] bool too_many(std::int64_t more) const {
        const std::int64_t some = count.load(std::memory_order_relaxed);
        return some >= least && some * share >= done.load(std::memory_order_relaxed) + more;
    }
};

/// The tiles of a last pass that another engine left unresolved; a tile of that engine has the columns of `ratio` here.
class chosen_tiles {
public:
    chosen_tiles(const std::vector<std::uint8_t>& chosen, std::int64_t tiles, std::int64_t ratio)
        : chosen_(chosen), tiles_(tiles), ratio_(ratio), columns_((tiles + ratio - 1) / ratio) {
        column_.assign(static_cast<std::size_t>(columns_), 0);
        for (std::size_t i = 0; i < chosen.size(); ++i) column_[i % static_cast<std::size_t>(columns_)] |= chosen[i];
    }
    [[nodiscard]] bool has(std::int64_t tile) const {
        return chosen_[static_cast<std::size_t>(tile / tiles_ * columns_ + tile % tiles_ / ratio_)] != 0;
    }
    /// True if any tile has the column; for passes before the last one.
    [[nodiscard]] bool has_column(std::int64_t column) const {
        return column_[static_cast<std::size_t>(column / ratio_)] != 0;
    }

private:
    const std::vector<std::uint8_t>& chosen_;
    std::int64_t tiles_, ratio_, columns_;
    std::vector<std::uint8_t> column_;
};

}  // namespace nearfield::exact
