// Nodes in one stream of bits, a bit for each cell in raster order: for every rank, step and criterion, and lines of
// any length. A step leads a fixed number of cells back; masks of the cells at the ends of axes say where it would
// leave the image.
#include "label/host/cells.hpp"

#include <algorithm>
#include <numeric>

#include "base/unwritten.hpp"
#include "label/checks.hpp"
#include "label/host/stream.hpp"
#include "label/host/tables.hpp"

namespace nearfield::labelling {
namespace {

class engine {
public:
    engine(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out)
        : p_(p),
          image_(image),
          out_(out),
          crew_(on, 3 * p.cells * p.images),
          bits_(crew_, p, image),
          base_(static_cast<std::size_t>(p.images) + 1) {}

    void solve() {
        bits_.link();
        bits_.number(base_);
        if (p_.filtered()) filter();
        for (std::int64_t i = 0; out_.label.wanted() && i < p_.images; ++i) check_number(out_.label.type, found(i));
        if (out_.tables.any() || out_.make_tables) measure();
        if (out_.label.wanted()) write();
        for (std::int64_t i = 0; out_.count.wanted() && i < p_.images; ++i)
            static_cast<std::int64_t*>(out_.count.data)[i * out_.count.stride[0]] = found(i);
    }

private:
    /// Returns the number of components of an image, after the filters if there are any.
    [[nodiscard]] std::int64_t found(std::int64_t image) const {
        const auto i = static_cast<std::size_t>(image);
        return p_.filtered() ? kept_[i] : base_[i + 1] - base_[i];
    }

    // ---- filters ----------------------------------------------------------------------------------------------------

    void filter() {
        const std::int64_t components = base_.back();
        size_ = host_scratch<std::int64_t>(components);
        const host_scratch<std::uint8_t> border(components);
        crew_.for_each(components, stream::task_cells, 0, [&](std::int64_t first, std::int64_t last, int) {
            std::fill(size_.get() + first, size_.get() + last, 0),
                std::fill(border.get() + first, border.get() + last, 0);
        });
        bits_.for_pieces([&](std::int64_t component, std::int64_t cells, bool at_border) {
            std::atomic_ref(size_.get()[component]).fetch_add(cells, std::memory_order_relaxed);
            if (at_border) std::atomic_ref(border.get()[component]).store(1, std::memory_order_relaxed);
        });
        kept_.resize(static_cast<std::size_t>(p_.images));
        crew_.for_each(p_.images, 1, 0, [&](std::int64_t image, std::int64_t, int) { choose(image, border.get()); });
    }

    /// Replaces the size of each component by its label, 0 for none.
    void choose(std::int64_t image, const std::uint8_t* border) {
        const label_options& o = p_.options;
        const auto i = static_cast<std::size_t>(image);
        std::int64_t* const size = size_.get();
        std::vector<std::int64_t> left;
        for (std::int64_t c = base_[i]; c < base_[i + 1]; ++c)
            if (passes(size[c], border[c] != 0, o.smallest, o.largest, o.clear_border)) left.push_back(c);
        if (o.keep_largest < static_cast<std::int64_t>(left.size())) {
            std::stable_sort(left.begin(), left.end(), [&](auto a, auto b) { return size[a] > size[b]; });
            left.resize(static_cast<std::size_t>(o.keep_largest));
            std::sort(left.begin(), left.end());
        }
        std::fill(size + base_[i], size + base_[i + 1], 0);
        for (const std::int64_t c : left) size[c] = ++kept_[i];
    }

    // ---- labels -----------------------------------------------------------------------------------------------------

    /// Writes the labels of cells [first, last), which lie in one image.
    template <class Label>
    void label_cells(std::int64_t image, std::int64_t first, std::int64_t last, Label* to) const {
        const std::int64_t before = base_[static_cast<std::size_t>(image)] - 1;
        bits_.expand(first, last, to, [&](std::int64_t component) {
            return static_cast<Label>(p_.filtered() ? size_.get()[component] : component - before);
        });
    }
    template <class Label>
    void label_cells(std::int64_t first, std::int64_t last, Label* to) const {
        for (std::int64_t next = first; first < last; first = next) {
            const std::int64_t image = first / p_.cells;
            next = std::min(last, (image + 1) * p_.cells);
            label_cells(image, first, next, to);
            to += next - first;
        }
    }

    void write() {
        switch (size_of(out_.label.type)) {
            case 2: return write_as<std::uint16_t>();
            case 4: return write_as<std::uint32_t>();
            default: return write_as<std::uint64_t>();
        }
    }
    template <class Label>
    void write_as() {
        const any_output<host>& to = out_.label;
        constexpr std::int64_t at_once = 4096;
        const bool contiguous = is_contiguous(to.shape.data(), to.stride.data(), to.rank);
        crew_.for_each(p_.images * p_.cells, at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
            Label* const data = static_cast<Label*>(to.data);
            if (contiguous) return label_cells(first, last, data + first);
            Label line[at_once];
            label_cells(first, last, line);
            for_each_stretch(first, last - first, to.shape.data(), to.stride.data(), to.rank, false,
                             [&](std::int64_t offset, std::int64_t step, std::int64_t count, std::int64_t done) {
                                 for (std::int64_t i = 0; i < count; ++i) data[offset + i * step] = line[done + i];
                             });
        });
    }

    // ---- tables -----------------------------------------------------------------------------------------------------

    void measure() {
        component_tables<host> tables = out_.tables;
        std::int64_t all = 0;
        for (std::int64_t image = 0; image < p_.images; ++image) all += found(image);
        if (out_.make_tables) {
            tables = out_.make_tables(all);
            check_tables(p_, image_, out_, tables);
        }
        const expected_outputs columns = columns_of(tables);
        component_sums<max_rank> sums(p_, tables, all);
        sums.shapes().clear();
        typename component_sums<max_rank>::part part(0);
        const host_scratch<std::int64_t> number(p_.cells);
        std::int64_t base = 0;
        for (std::int64_t image = 0; image < p_.images; base += found(image++)) {
            const std::int64_t start = image * p_.cells;
            crew_.for_each(p_.cells, stream::task_cells, 0, [&](std::int64_t first, std::int64_t last, int) {
                label_cells(image, start + first, start + last, number.get() + first);
            });
            for (const look& what : sums.looks()) look_through(image, base, number.get(), sums, part, what);
        }
        sums.finish(crew_);
    }

    void look_through(std::int64_t image, std::int64_t base, const std::int64_t* number,
                      const component_sums<max_rank>& sums, component_sums<max_rank>::part& part, const look& what) {
        const std::int64_t line = p_.size[static_cast<std::size_t>(p_.rank - 1)],
                           rows = line == 0 ? 0 : p_.cells / line;
        const std::int64_t together = std::max<std::int64_t>(1, stream::task_cells / std::max<std::int64_t>(1, line));
        std::vector<row_run> runs;
        for (std::int64_t row = 0; row < rows; ++row) {
            runs.clear();
            const std::int64_t* const label = number + row * line;
            for (std::int64_t x = 0, next = 0; x < line; x = next) {
                for (next = x + 1; next < line && label[next] == label[x];) ++next;
                if (label[x] == 0) continue;
                runs.push_back({x, next, base + label[x] - 1, 0});
                if (what.shapes && sums.with_faces()) runs.back().faces = faces_of(row, x, next, number);
            }
            sums.add_row(part, image * rows + row, runs, what);
            if (row % together == 0) crew_.go_on(0);
        }
    }

    /// Returns the faces of a whole run towards cells of other labels, or an end of the grid.
    [[nodiscard]] std::uint64_t faces_of(std::int64_t row, std::int64_t first, std::int64_t end,
                                         const std::int64_t* number) const {
        auto axis = static_cast<std::size_t>(p_.rank - 1);
        const std::int64_t line = p_.size[axis], *const here = number + row * line;
        const bool around = p_.periodic[axis] && here[0] == here[line - 1];
        std::uint64_t faces = (first == 0 && around ? 0u : 1u) + (end == line && around ? 0u : 1u);
        std::int64_t step = line, rest = row;
        for (; axis-- > 0; step *= p_.size[axis], rest /= p_.size[axis]) {
            const std::int64_t n = p_.size[axis], at = rest % n;
            for (const std::int64_t by : {-1, 1}) {
                const bool inside = p_.periodic[axis] || (at + by >= 0 && at + by < n);
                const std::int64_t* const there = here + ((at + by + n) % n - at) * step;
                if (!inside) faces += static_cast<std::uint64_t>(end - first);
                for (std::int64_t x = first; inside && x < end; ++x) faces += there[x] != here[x];
            }
        }
        return faces;
    }

    const problem& p_;
    const any_input<host>& image_;
    const label_fields<host>& out_;
    workers crew_;
    stream bits_;
    std::vector<std::int64_t> base_;   ///< components of the images before each, and of all
    std::vector<std::int64_t> kept_;   ///< components kept in each image, with filters
    host_scratch<std::int64_t> size_;  ///< size of each component, later its label
};

}  // namespace

void run_by_cells(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out) {
    engine(on, p, image, out).solve();
}

}  // namespace nearfield::labelling
