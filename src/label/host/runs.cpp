// Rows become bits, bits become runs, touching runs become trees, trees become labels. Threads take bands of rows;
// where two bands meet, one thread joins their trees.
#include "label/host/runs.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "label/checks.hpp"
#include "label/host/bits.hpp"
#include "label/host/expand.hpp"
#include "label/host/filter.hpp"
#include "label/host/front.hpp"
#include "label/host/measure.hpp"
#include "label/host/merge.hpp"
#include "label/host/number.hpp"

namespace nearfield::labelling {

bit_rows::bit_rows(const problem& p, bool is_plain)
    : plain(is_plain),
      cells(p.size[static_cast<std::size_t>(p.rank - 1)]),
      words((cells + word_bits - 1) / word_bits),
      side(p.rank > 1 ? p.size[static_cast<std::size_t>(p.rank - 2)] : 1),
      planes(p.rank > 2 ? p.size[0] : 1),
      rows(p.images * planes * side),
      memory_((plain ? 1 : 2) * plane_words() + (plain ? 0 : (side > 1) + (planes > 1)) * rows * words + rows + 1 +
              (rows * words + 1) / 2),
      to_n_(memory_.get() + (plain ? 1 : 2) * plane_words()),
      to_u_(to_n_ + (!plain && side > 1 ? rows * words : 0)),
      first_run_(reinterpret_cast<std::int64_t*>(to_u_ + (!plain && planes > 1 ? rows * words : 0))),
      before_(reinterpret_cast<std::uint32_t*>(first_run_ + rows + 1)) {
    *(foreground(0) - 1) = 0;
    if (!plain) *(starts(0) - 1) = 0;
}

namespace {

constexpr std::int64_t task_cells = 1 << 16;
constexpr std::int64_t most_runs = 0xffffff00;  // numbers of runs take 32 bits
constexpr std::int64_t fewest_rows = 32;        // fewest rows of a band

/// Scratch memory of a thread for a row.
struct workplace {
    workplace(const bit_rows& bits, std::int64_t copied_bytes, std::int64_t copied_labels)
        : bytes(bits.cells), words(2 * bits.words), cells(copied_bytes), labels(copied_labels) {}
    host_scratch<std::uint8_t> bytes;
    host_scratch<std::uint64_t> words;
    host_scratch<std::uint8_t> cells;    ///< a row and its neighbours, if their cells are not contiguous
    host_scratch<std::uint32_t> labels;  ///< a row's labels, if the caller's are not like these
};

class engine {
public:
    engine(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out)
        : p_(p),
          image_(image),
          out_(out),
          crew_(on, 3 * p.cells * p.images),
          bits_(p, p.options.criterion == criterion::nonzero),
          image_rows_(bits_.planes * bits_.side),
          cell_bytes_(p.channels * size_of(image.type)),
          image_rows_at_(image.shape.data(), image.stride.data(), p.batch_axes + p.rank - 1),
          label_rows_at_(out.label.shape.data(), out.label.stride.data(), p.batch_axes + p.rank - 1),
          found_(static_cast<std::size_t>(p.images)) {
        for (int thread = 0; thread < crew_.threads(); ++thread)
            place_.emplace_back(bits_, in_place() ? 0 : 5 * bits_.cells * cell_bytes_, direct() ? 0 : bits_.cells);
    }

    bool solve() {
        for_rows([this](std::int64_t row, int thread) { read(row, thread); });
        if (!number_runs()) return false;
        const std::int64_t runs = bits_.first_run()[bits_.rows];
        tree_ = host_scratch<std::uint32_t>(runs + 2 * spare_labels);
        cut();
        if (crew_.threads() == 1) {
            link_in_one();
        } else {
            link_bands();
            join_bands();
        }
        join_ends();
        number_trees(crew_, bits_, tree(), band_, found_);
        if (p_.filtered()) filter_labels(crew_, p_, bits_, tree(), band_, found_);
        for (std::int64_t i = 0; out_.label.wanted() && i < p_.images; ++i) check_number(out_.label.type, found_[i]);
        measure();
        if (out_.label.wanted()) for_rows([this](std::int64_t row, int thread) { write(row, thread); });
        for (std::int64_t i = 0; out_.count.wanted() && rehearsing() == nullptr && i < p_.images; ++i)
            static_cast<std::int64_t*>(out_.count.data)[i * out_.count.stride[0]] = found_[i];
        return true;
    }

private:
    /// Returns for each run its parent, later its label.
    [[nodiscard]] std::uint32_t* tree() const { return tree_.get() + spare_labels; }
    [[nodiscard]] std::int64_t task_rows() const { return std::max<std::int64_t>(1, task_cells / bits_.cells); }

    template <class Body>
    void for_rows(const Body& body) {
        crew_.for_each(bits_.rows, task_rows(), bits_.cells, [&](std::int64_t first, std::int64_t last, int thread) {
            for (std::int64_t row = first; row < last; ++row) body(row, thread);
        });
    }

    // ---- rows to bits ---------------------------------------------------------------------------------------------

    /// True if the cells of a row are contiguous.
    [[nodiscard]] bool in_place() const {
        const auto axis = static_cast<std::size_t>(p_.batch_axes + p_.rank - 1);
        return (image_.stride[axis] == p_.channels || bits_.cells == 1) &&
               (p_.channels == 1 || image_.stride[axis + 1] == 1);
    }

    /// Returns the row in place, or copied to the thread's `slot` if its cells are not contiguous.
    [[nodiscard]] cell_row cells_of(std::int64_t row, int thread, int slot) const {
        const auto axis = static_cast<std::size_t>(p_.batch_axes + p_.rank - 1);
        const std::int64_t size = size_of(image_.type), step = image_.stride[axis];
        const std::int64_t channel = p_.colour ? image_.stride[axis + 1] : 1;
        const auto* from = static_cast<const std::uint8_t*>(image_.data) + size * image_rows_at_.of(row);
        if (in_place()) return {image_.type, p_.channels, from};
        std::uint8_t* const copy =
            place_[static_cast<std::size_t>(thread)].cells.get() + slot * bits_.cells * cell_bytes_;
        std::uint8_t* to = copy;
        for (std::int64_t x = 0; x < bits_.cells; ++x)
            for (int c = 0; c < p_.channels; ++c, to += size)
                std::memcpy(to, from + (x * step + c * channel) * size, static_cast<std::size_t>(size));
        return {image_.type, p_.channels, copy};
    }

    void read(std::int64_t row, int thread) {
        const workplace& mine = place_[static_cast<std::size_t>(thread)];
        const cell_row cells = cells_of(row, thread, 0);
        foreground_words(p_.options, cells, bits_.cells, mine.bytes.get(), bits_.foreground(row));
        std::uint64_t* west = nullptr;
        const std::uint64_t* const words = bits_.foreground(row);
        if (!bits_.plain && std::any_of(words, words + bits_.words, [](std::uint64_t w) { return w != 0; })) {
            west = mine.words.get();
            west_words(p_, cells, bits_.cells, mine.bytes.get(), west);
        }
        if (!bits_.plain && row % bits_.side > 0)
            straight_words(p_, 0, -1, cells, cells_of(row - 1, thread, 1), bits_.cells, bits_.to_n(row));
        if (!bits_.plain && row / bits_.side % bits_.planes > 0)
            straight_words(p_, -1, 0, cells, cells_of(row - bits_.side, thread, 1), bits_.cells, bits_.to_u(row));
        bits_.first_run()[row + 1] =
            find_starts(bits_.foreground(row), west, bits_.words, bits_.starts(row), bits_.before(row));
    }

    /// Returns false if there are too many runs.
    bool number_runs() {
        std::int64_t* const first = bits_.first_run();
        first[0] = 0;
        for (std::int64_t row = 0; row < bits_.rows; ++row) first[row + 1] += first[row];
        return first[bits_.rows] <= most_runs;
    }

    // ---- runs to trees --------------------------------------------------------------------------------------------

    void plant(std::int64_t row) {
        const std::int64_t end = bits_.first_run()[row + 1];
        for (std::int64_t run = bits_.first_run()[row]; run < end; ++run) tree()[run] = static_cast<std::uint32_t>(run);
    }

    [[nodiscard]] bool has_runs(std::int64_t row) const { return bits_.first_run()[row + 1] > bits_.first_run()[row]; }

    /// Links a row with those before it in [from, to).
    void link(std::int64_t row, std::int64_t from, std::int64_t to, const run_trees& trees, int thread) {
        if (!has_runs(row)) return;
        if (bits_.plain) return merge_plain(bits_, p_.changes, row, from, to, trees);
        const std::int64_t y = row % bits_.side, z = row / bits_.side % bits_.planes, above = row - bits_.side;
        const bool wide = p_.changes >= 2;
        const auto rows = [&](std::int64_t other, bool there, int slot) -> neighbour_row {
            if (!there || other < from || other >= to || !has_runs(other)) return {};
            return {true, wide ? cells_of(other, thread, slot) : cell_row{}};
        };
        cell_rows cells;
        cells.n = rows(row - 1, y > 0, 1);
        cells.u = rows(above, z > 0, 2);
        if (wide) {
            cells.un = rows(above - 1, z > 0 && y > 0, 3);
            cells.us = rows(above + 1, z > 0 && y + 1 < bits_.side, 4);
            cells.here = cells_of(row, thread, 0);
        }
        cells.here.type = image_.type;
        merge_linked(bits_, p_, row, cells, place_[static_cast<std::size_t>(thread)].words.get(), trees);
    }

    /// Links all rows in one thread: every row meets all rows before it.
    void link_in_one() {
        for (std::int64_t first = 0; first < bits_.rows; first += task_rows()) {
            const std::int64_t last = std::min(first + task_rows(), bits_.rows);
            crew_.for_each(1, 1, (last - first) * bits_.cells, [&](std::int64_t, std::int64_t, int) {
                for (std::int64_t row = first; row < last; ++row) plant(row), link(row, 0, row, {tree()}, 0);
            });
        }
    }

    void cut() {
        const std::int64_t wanted = crew_.threads() == 1 ? 1 : 2 * crew_.threads();
        if (p_.images >= wanted) {
            for (std::int64_t k = 0; k < wanted; ++k)
                band_.push_back({p_.images * k / wanted * image_rows_, p_.images * (k + 1) / wanted * image_rows_});
            return;
        }
        const std::int64_t fitting = std::max<std::int64_t>(1, image_rows_ / fewest_rows);
        const std::int64_t parts = std::min((wanted + p_.images - 1) / p_.images, fitting);
        for (std::int64_t image = 0; image < p_.images; ++image)
            for (std::int64_t k = 0; k < parts; ++k)
                band_.push_back({image * image_rows_ + image_rows_ * k / parts,
                                 image * image_rows_ + image_rows_ * (k + 1) / parts});
    }

    void link_bands() {
        crew_.for_each(static_cast<std::int64_t>(band_.size()), 1, 0, [this](std::int64_t k, std::int64_t, int thread) {
            const band& b = band_[static_cast<std::size_t>(k)];
            for (std::int64_t row = b.first; row < b.last; ++row) {
                plant(row), link(row, b.first, row, {tree()}, thread);
                if ((row - b.first) % task_rows() == 0) crew_.go_on(task_rows() * bits_.cells);
            }
        });
    }

    void join_bands() {
        const run_trees trees{tree(), true};
        for (const band& b : band_) {
            const std::int64_t start = b.first / image_rows_ * image_rows_;
            const std::int64_t last = std::min(b.last, b.first + bits_.side + 1);
            for (std::int64_t row = b.first; b.first > start && row < last; ++row) {
                link(row, start, b.first, trees, 0);
                if ((row - b.first) % task_rows() == 0) crew_.go_on(0);
            }
        }
    }

    // ---- the ends of periodic axes ---------------------------------------------------------------------------------

    void join_ends() {
        const auto last = static_cast<std::size_t>(p_.rank - 1);
        const bool x = p_.periodic[last], y = p_.rank > 1 && p_.periodic[last - 1], z = p_.rank > 2 && p_.periodic[0];
        for (std::int64_t row = 0; (x || y || z) && row < bits_.rows; ++row) {
            if (row % task_rows() == 0) crew_.go_on(0);
            if (x) join_cells(row, 0, row, bits_.cells - 1, {}, -1);
            constexpr int before[][2] = {{0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
            for (const auto& [planes, rows] : before) {
                const int changed = (planes != 0) + (rows != 0);
                const auto at_z = place(row / bits_.side % bits_.planes + planes, bits_.planes, z);
                const auto at_y = place(row % bits_.side + rows, bits_.side, y);
                if (changed > p_.changes || at_z.outside || at_y.outside) continue;
                const std::int64_t other = (row / image_rows_ * bits_.planes + at_z.at) * bits_.side + at_y.at;
                const bool slanted = changed < p_.changes;
                if (at_z.moved || at_y.moved)
                    merge_ends(bits_, p_, row, cells_of(row, 0, 0), other, cells_of(other, 0, 1), {planes, rows},
                               slanted, place_[0].words.get(), tree());
                if (!x || !slanted) continue;
                join_cells(row, 0, other, bits_.cells - 1, {planes, rows}, -1);
                join_cells(row, bits_.cells - 1, other, 0, {planes, rows}, 1);
            }
        }
    }

    struct moved_place {
        std::int64_t at;
        bool moved, outside;
    };
    static moved_place place(std::int64_t at, std::int64_t side, bool periodic) {
        const bool beyond = at < 0 || at >= side;
        return {beyond ? side - std::abs(at) : at, beyond, beyond && !periodic};
    }

    /// Joins cells at ends of rows; a step of `dx` leads from one end to the other.
    void join_cells(std::int64_t row, std::int64_t x, std::int64_t other, std::int64_t other_x, row_step by, int dx) {
        const auto foreground = [&](std::int64_t r, std::int64_t c) {
            return (bits_.foreground(r)[c / word_bits] >> c % word_bits & 1) != 0;
        };
        if (!foreground(row, x) || !foreground(other, other_x)) return;
        if (!bits_.plain && !linked(row, x, other, other_x, by, dx)) return;
        const auto run = [&](std::int64_t r, std::int64_t c) {
            return static_cast<std::uint32_t>(c == 0 ? bits_.first_run()[r] : bits_.first_run()[r + 1] - 1);
        };
        merge_roots(tree(), run(row, x), run(other, other_x));
    }
    [[nodiscard]] bool linked(std::int64_t row, std::int64_t x, std::int64_t other, std::int64_t other_x, row_step by,
                              int dx) const {
        const auto axis = static_cast<std::size_t>(p_.batch_axes + p_.rank - 1);
        const auto offset = [&](std::int64_t r, std::int64_t c) {
            return image_rows_at_.of(r) + c * image_.stride[axis];
        };
        return with_elements({image_.type, p_.channels, image_.data}, [&]<class T>(const T* v) {
            return make_rule<T>(p_, by.dz, by.dy, dx)
                .linked(v + offset(row, x), v + offset(other, other_x), p_.channels,
                        p_.colour ? image_.stride[axis + 1] : 1);
        });
    }

    // ---- the tables -----------------------------------------------------------------------------------------------

    void measure() {
        component_tables<host> tables = out_.tables;
        if (out_.make_tables) {
            tables = out_.make_tables(std::accumulate(found_.begin(), found_.end(), std::int64_t{0}));
            check_tables(p_, image_, out_, tables);
        }
        if (!tables.any()) return;
        const expected_outputs columns = columns_of(tables);
        measure_runs(crew_, p_, bits_, tree(), band_, found_, tables);
    }

    // ---- output ----------------------------------------------------------------------------------------------------

    /// True if rows of labels have the form of the caller's.
    [[nodiscard]] bool direct() const {
        const any_output<host>& to = out_.label;
        if (!to.wanted()) return true;
        return size_of(to.type) == 4 && (to.stride[static_cast<std::size_t>(to.rank - 1)] == 1 || bits_.cells == 1);
    }

    void write(std::int64_t row, int thread) {
        const any_output<host>& to = out_.label;
        const std::int64_t step = to.stride[static_cast<std::size_t>(to.rank - 1)];
        const std::int64_t offset = label_rows_at_.of(row);
        std::uint32_t* const line = direct() ? static_cast<std::uint32_t*>(to.data) + offset
                                             : place_[static_cast<std::size_t>(thread)].labels.get();
        expand_labels(bits_.foreground(row), bits_.starts(row), bits_.cells, tree() + bits_.first_run()[row], line);
        if (direct()) return;
        switch (size_of(to.type)) {
            case 2: return copy(line, static_cast<std::uint16_t*>(to.data) + offset, step);
            case 4: return copy(line, static_cast<std::uint32_t*>(to.data) + offset, step);
            default: return copy(line, static_cast<std::uint64_t*>(to.data) + offset, step);
        }
    }
    template <class Label>
    void copy(const std::uint32_t* from, Label* to, std::int64_t step) const {
        if (step == 1)
            for (std::int64_t x = 0; x < bits_.cells; ++x) to[x] = static_cast<Label>(from[x]);
        else
            for (std::int64_t x = 0; x < bits_.cells; ++x) to[x * step] = static_cast<Label>(from[x]);
    }

    const problem& p_;
    const any_input<host>& image_;
    const label_fields<host>& out_;
    workers crew_;
    bit_rows bits_;
    std::int64_t image_rows_, cell_bytes_;
    cell_offsets image_rows_at_, label_rows_at_;
    std::vector<workplace> place_;
    std::vector<band> band_;
    host_scratch<std::uint32_t> tree_;
    std::vector<std::int64_t> found_;
};

}  // namespace

bool run_by_runs(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out) {
    if (p.rank > 3 || p.changes == 0) return false;
    if (p.cells == 0 || p.images == 0) return false;
    // In short rows the work per row dominates.
    constexpr std::int64_t short_row = 8;
    if (p.size[static_cast<std::size_t>(p.rank - 1)] < short_row && !out.tables.any() && !out.make_tables) return false;
    return engine(on, p, image, out).solve();
}

}  // namespace nearfield::labelling
