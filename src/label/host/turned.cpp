#include "label/host/turned.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>
#include <utility>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "base/share.hpp"
#include "label/checks.hpp"
#include "label/host/bits.hpp"
#include "label/host/runs.hpp"
#include "nearfield/components.hpp"

namespace nearfield::labelling {
namespace {

constexpr std::int64_t long_row = 64;
// Shares of the call's work that come before a part of it.
constexpr double before_labels = 0.2, before_numbers = 0.6, before_tables = 0.8;

/// Returns the length below which a row costs more than its cells take in a copy with longer rows. With a criterion a
/// row costs 110 ns, and 190 if corners count in a volume; a cell of a copy takes 3, and with tables 10 (AMD EPYC,
/// 2026-11-30). Masks cost less, and noise in a copy more.
std::int64_t short_row(const problem& p, bool tables) {
    if (p.options.criterion == criterion::nonzero) return 16;
    return p.rank == 3 && p.changes > 1 && !tables ? 48 : 32;
}

/// Returns the axis that the rows of the turned image follow, or -1 if the image stays as it is: the last long axis, so
/// that cells beside each other stay close.
int row_axis(const problem& p, bool tables) {
    const label_options& o = p.options;
    if (p.rank > 3 || p.cells == 0 || p.changes == 0 || p.batch_axes > 0 || p.colour || o.criterion == criterion::links)
        return -1;
    const bool periodic = std::find(p.periodic.begin(), p.periodic.end(), true) != p.periodic.end();
    if (o.keep_largest < p.cells || (tables && periodic)) return -1;
    if (p.size[static_cast<std::size_t>(p.rank - 1)] >= short_row(p, tables)) return -1;
    int axis = p.rank - 2;
    while (axis >= 0 && p.size[static_cast<std::size_t>(axis)] < long_row) --axis;
    return axis;
}

/// The cells (a, x, b) of an image, where x is the place along the long axis, a that along the axes before it and b
/// that along the axes behind it. The turned image has them in the order (a, b, x).
class turned {
public:
    turned(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out, int axis)
        : on_(on),
          p_(p),
          image_(image),
          out_(out),
          axis_(axis),
          along_(p.size[static_cast<std::size_t>(axis)]),
          behind_(cells_between(p.size.data(), axis + 1, p.rank)),
          tables_(out.tables.any() || out.make_tables != nullptr) {}

    bool solve() {
        if (!label_copy()) return false;
        if (out_.count.wanted() && rehearsing() == nullptr) *static_cast<std::int64_t*>(out_.count.data) = found_;
        if (out_.label.wanted()) check_number(out_.label.type, found_);
        component_tables<host> tables = out_.tables;
        if (out_.make_tables) {
            tables = out_.make_tables(found_);
            check_tables(p_, image_, out_, tables);
        }
        if (!out_.label.wanted() && !tables.any()) return true;
        number();
        if (tables.any() && found_ > 0) measure(tables);
        return true;
    }

private:
    /// Calls body(a, b, first, last) for pieces of the turned rows, tile by tile, so that cells beside each other in
    /// the image meet in the caches.
    template <class Body>
    void for_pieces(workers& crew, const Body& body) const {
        constexpr std::int64_t tile_cells = 1 << 16, fewest = 16;
        const std::int64_t tile = std::max(fewest, tile_cells / behind_), tiles = (along_ + tile - 1) / tile;
        crew.for_each(p_.cells / (along_ * behind_) * tiles, 1, tile * behind_, [&](std::int64_t k, std::int64_t, int) {
            const std::int64_t a = k / tiles, first = k % tiles * tile;
            for (std::int64_t b = 0; b < behind_; ++b) body(a, b, first, std::min(first + tile, along_));
        });
    }

    /// Returns the offset of cell (a, 0, b) in an array of the image's shape.
    template <class View>
    [[nodiscard]] std::int64_t offset(const View& v, std::int64_t a, std::int64_t b) const {
        const std::int64_t *const size = v.shape.data(), *const stride = v.stride.data();
        return (axis_ > 0 ? offset_of(a, size, stride, axis_) : 0) +
               offset_of(b, size + axis_ + 1, stride + axis_ + 1, p_.rank - axis_ - 1);
    }
    [[nodiscard]] std::int64_t step(const any_input<host>& v) const {
        return v.stride[static_cast<std::size_t>(axis_)];
    }
    [[nodiscard]] std::uint32_t* row(std::int64_t a, std::int64_t b) const {
        return label_.get() + (a * behind_ + b) * along_;
    }

    // ---- the turned image -------------------------------------------------------------------------------------------

    template <class T>
    void copy(workers& crew, T* to) const {
        for_pieces(crew, [&](std::int64_t a, std::int64_t b, std::int64_t first, std::int64_t last) {
            const T* const from = static_cast<const T*>(image_.data) + offset(image_, a, b);
            T* const line = to + (a * behind_ + b) * along_;
            const std::int64_t by = step(image_);
            for (std::int64_t x = first; x < last; ++x) line[x] = from[x * by];
        });
    }
    void copy(void* to) const {
        const host on = part_of(on_, 0, before_labels);
        workers crew(on, p_.cells);
        switch (size_of(image_.type)) {
            case 1: return copy(crew, static_cast<std::uint8_t*>(to));
            case 2: return copy(crew, static_cast<std::uint16_t*>(to));
            case 4: return copy(crew, static_cast<std::uint32_t*>(to));
            default: return copy(crew, static_cast<std::uint64_t*>(to));
        }
    }

    /// Labels the turned image in its own raster order.
    bool label_copy() {
        const host_scratch<std::uint8_t> cells(p_.cells * size_of(image_.type));
        label_ = host_scratch<std::uint32_t>(p_.cells);
        copy(cells.get());
        problem p = p_;
        std::rotate(p.size.begin() + axis_, p.size.begin() + axis_ + 1, p.size.begin() + p.rank);
        std::rotate(p.periodic.begin() + axis_, p.periodic.begin() + axis_ + 1, p.periodic.begin() + p.rank);
        const std::span<const std::int64_t> shape(p.size.data(), static_cast<std::size_t>(p.rank));
        label_fields<host> fields;
        if (out_.label.wanted() || tables_)
            fields.label = any_output<host>::contiguous(label_.get(), dtype::uint32, shape);
        fields.count = any_output<host>::contiguous(&found_, dtype::int64, std::initializer_list<std::int64_t>{1});
        return run_by_runs(part_of(on_, before_labels, before_numbers - before_labels), p,
                           any_input<host>::contiguous(cells.get(), image_.type, shape), fields);
    }

    // ---- labels in raster order of the image ------------------------------------------------------------------------

    /// Numbers the components by their first cells, which are marked in words of bits: a number is the count of marks
    /// up to its own.
    void number() const {
        constexpr std::int64_t at_once = 1 << 14;
        const host on = part_of(on_, before_numbers, tables_ ? before_tables - before_numbers : 1 - before_numbers);
        workers crew(on, 2 * p_.cells);
        const std::int64_t words = (p_.cells + word_bits - 1) / word_bits;
        const host_scratch<std::int64_t> number(found_ + 1), before(words);
        const host_scratch<std::uint64_t> marks(words);
        const auto for_each = [&](std::int64_t count, const auto& body) {
            crew.for_each(count, at_once, 0, [&](std::int64_t k, std::int64_t last, int) {
                for (; k < last; ++k) body(k);
            });
        };
        for_each(found_ + 1, [&](std::int64_t k) { number.get()[k] = p_.cells; });
        number.get()[0] = 0;
        for_each(words, [&](std::int64_t w) { marks.get()[w] = 0; });
        find_first(crew, number.get());
        for_each(found_, [&](std::int64_t k) {
            const std::int64_t cell = number.get()[k + 1];
            std::atomic_ref(marks.get()[cell / word_bits])
                .fetch_or(std::uint64_t{1} << cell % word_bits, std::memory_order_relaxed);
        });
        crew.for_each(1, 1, 0, [&](std::int64_t, std::int64_t, int) {
            std::int64_t count = 0;
            for (std::int64_t w = 0; w < words; ++w) before.get()[w] = count, count += std::popcount(marks.get()[w]);
        });
        for_each(found_, [&](std::int64_t k) {
            const std::int64_t cell = number.get()[k + 1], w = cell / word_bits;
            const std::uint64_t up_to = ~std::uint64_t{0} >> (word_bits - 1 - cell % word_bits);
            number.get()[k + 1] = before.get()[w] + std::popcount(marks.get()[w] & up_to);
        });
        write(crew, number.get());
    }

    /// Finds the first cell of each label in raster order of the image. `cell_of[0]` is below all cells: a test for
    /// background, or for the label of the cell before, would be mispredicted in noise.
    void find_first(workers& crew, std::int64_t* cell_of) const {
        for_pieces(crew, [&](std::int64_t a, std::int64_t b, std::int64_t first, std::int64_t last) {
            const std::uint32_t* const label = row(a, b);
            for (std::int64_t x = first; x < last; ++x) {
                const std::int64_t cell = (a * along_ + x) * behind_ + b;
                const std::atomic_ref least(cell_of[label[x]]);
                std::int64_t so_far = least.load(std::memory_order_relaxed);
                while (cell < so_far && !least.compare_exchange_weak(so_far, cell, std::memory_order_relaxed)) {
                }
            }
        });
    }

    void write(workers& crew, const std::int64_t* number) const {
        switch (size_of(out_.label.type)) {
            case 2: return write<std::uint16_t>(crew, number);
            case 4: return write<std::uint32_t>(crew, number);
            default: return write<std::uint64_t>(crew, number);
        }
    }
    /// Renumbers the turned labels, from which tables are made, and copies them to the caller's.
    template <class Label>
    void write(workers& crew, const std::int64_t* number) const {
        for_pieces(crew, [&](std::int64_t a, std::int64_t b, std::int64_t first, std::int64_t last) {
            std::uint32_t* const label = row(a, b);
            for (std::int64_t x = first; tables_ && x < last; ++x)
                label[x] = static_cast<std::uint32_t>(number[label[x]]);
            if (!out_.label.wanted()) return;
            Label* const to = static_cast<Label*>(out_.label.data) + offset(out_.label, a, b);
            const std::int64_t by = step(out_.label);
            for (std::int64_t x = first; x < last; ++x)
                to[x * by] = static_cast<Label>(tables_ ? label[x] : number[label[x]]);
        });
    }

    // ---- the tables -------------------------------------------------------------------------------------------------

    void measure(component_tables<host> tables) const {
        for (any_output<host>* each : {&tables.size, &tables.box, &tables.centroid, &tables.border, &tables.faces,
                                       &tables.lowest, &tables.highest, &tables.sum, &tables.mean, &tables.variance})
            each->shape[0] = std::min(each->shape[0], found_);
        any_input<host> labels = any_input<host>::contiguous(
            label_.get(), dtype::uint32,
            std::span<const std::int64_t>(p_.size.data(), static_cast<std::size_t>(p_.rank)));
        for (int axis = axis_ + 1; axis < p_.rank; ++axis) labels.stride[static_cast<std::size_t>(axis)] *= along_;
        labels.stride[static_cast<std::size_t>(axis_)] = 1;
        component_statistics(part_of(on_, before_tables, 1 - before_tables), labels, tables);
    }

    const host& on_;
    const problem& p_;
    const any_input<host>& image_;
    const label_fields<host>& out_;
    int axis_;
    std::int64_t along_, behind_;
    bool tables_;
    std::int64_t found_ = 0;
    host_scratch<std::uint32_t> label_;  ///< labels of the turned image
};

}  // namespace

bool run_turned(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out) {
    const int axis = row_axis(p, out.tables.any() || out.make_tables != nullptr);
    if (axis < 0) return false;
    rehearse_step("rows of a copy along a longer axis");
    return turned(on, p, image, out, axis).solve();
}

}  // namespace nearfield::labelling
