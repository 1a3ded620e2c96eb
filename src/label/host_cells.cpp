// Union-find over cells: every rank, every step, every criterion.
#include "label/host_cells.hpp"

#include <algorithm>
#include <numeric>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "label/checks.hpp"
#include "label/host_tables.hpp"

namespace nearfield::labelling {
namespace {

constexpr std::int64_t task_cells = 1 << 14;
constexpr std::int64_t nothing = -1;  // the parent of a background cell

using coordinates = std::array<std::int64_t, max_rank>;

/// Trees of cells: each points to one that comes before it, a root to itself.
class forest {
public:
    explicit forest(std::int64_t* parent) : parent_(parent) {}
    [[nodiscard]] std::int64_t root(std::int64_t cell) {
        while (parent_[cell] != cell) cell = parent_[cell] = parent_[parent_[cell]];
        return cell;
    }
    void unite(std::int64_t a, std::int64_t b) {
        a = root(a), b = root(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::int64_t* parent_;
};

template <class T>
class engine {
public:
    engine(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out)
        : p_(p),
          image_(image),
          out_(out),
          crew_(on, 3 * p.cells * p.images),
          rule_(make_rule<T>(p.options)),
          back_(backward_steps(p)),
          links_(links_of(p, back_)),
          number_(p.cells),
          found_(static_cast<std::size_t>(p.images)) {}

    void solve() {
        const bool tables = out_.tables.any() || out_.make_tables;
        const bool late = out_.label.wanted() && most_components(p_) > largest_label(out_.label.type);
        // A type that could be too narrow, or tables whose rows are asked for: all images are counted before.
        for (std::int64_t i = 0; (late || tables) && i < p_.images; ++i) find(i);
        for (std::int64_t i = 0; late && i < p_.images; ++i) check_number(out_.label.type, found_[i]);
        if (tables) measure();
        for (std::int64_t i = 0; !tables && i < p_.images; ++i) {
            find(i);
            if (out_.label.wanted()) write(i);
        }
        for (std::int64_t i = 0; out_.count.wanted() && i < p_.images; ++i)
            static_cast<std::int64_t*>(out_.count.data)[i * out_.count.stride[0]] = found_[i];
    }

private:
    [[nodiscard]] coordinates place_of(std::int64_t cell) const {
        coordinates at{};
        for (int axis = p_.rank - 1; axis >= 0; --axis) at[axis] = cell % p_.size[axis], cell /= p_.size[axis];
        return at;
    }
    [[nodiscard]] const T* cell(const coordinates& at) const {
        const T* where = image_start_;
        for (int axis = 0; axis < p_.rank; ++axis) where += at[axis] * image_.stride[p_.batch_axes + axis];
        return where;
    }
    [[nodiscard]] std::int64_t channel_stride() const { return p_.colour ? image_.stride[image_.rank - 1] : 0; }
    [[nodiscard]] bool foreground(const coordinates& at) const {
        return rule_.foreground(cell(at), p_.channels, channel_stride());
    }

    void find(std::int64_t image) {
        image_start_ = static_cast<const T*>(image_.data);
        if (p_.batch_axes > 0)
            image_start_ += offset_of(image, image_.shape.data(), image_.stride.data(), p_.batch_axes);
        std::int64_t* number = number_.get();
        in_tasks([&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c) number[c] = foreground(place_of(c)) ? c : nothing;
        });
        for (std::int64_t first = 0; first < p_.cells; first += task_cells)
            crew_.for_each(1, 1, task_cells, [&](std::int64_t, std::int64_t, int) {
                for (std::int64_t c = first; c < std::min(first + task_cells, p_.cells); ++c)
                    if (number[c] != nothing) unite(c);
            });
        found_[static_cast<std::size_t>(image)] = enumerate();
    }

    template <class Body>
    void in_tasks(const Body& body) {
        crew_.for_each(p_.cells, task_cells, 1, [&](std::int64_t first, std::int64_t last, int) { body(first, last); });
    }

    void unite(std::int64_t c) {
        const coordinates at = place_of(c);
        for (std::size_t k = 0; k < back_.size(); ++k) {
            const std::int64_t step = back_[k];
            coordinates there = at;
            std::int64_t other = 0;
            bool inside = true;
            for (int axis = 0; axis < p_.rank; ++axis) {
                const std::int64_t n = p_.size[axis];
                there[axis] += along(step, axis, p_.rank);
                if (p_.periodic[axis]) there[axis] = (there[axis] + n) % n;
                inside = inside && there[axis] >= 0 && there[axis] < n;
                other = other * n + there[axis];
            }
            if (!inside || number_.get()[other] == nothing) continue;
            const rule<T>& by = links_.empty() ? rule_ : links_[k];
            if (by.linked(cell(at), cell(there), p_.channels, channel_stride())) forest(number_.get()).unite(c, other);
        }
    }

    /// Of criterion::links: the rule for each step.
    static std::vector<rule<T>> links_of(const problem& p, const std::vector<std::int64_t>& back) {
        std::vector<rule<T>> all;
        for (const std::int64_t step : back)
            if (p.options.criterion == criterion::links)
                all.push_back(make_rule<T>(p.options, links_along(step, p.rank)));
        return all;
    }

    [[nodiscard]] bool at_border(const coordinates& at) const {
        for (int axis = 0; axis < p_.rank; ++axis)
            if (!p_.periodic[axis] && (at[axis] == 0 || at[axis] == p_.size[axis] - 1)) return true;
        return false;
    }

    struct component {
        std::int64_t cells = 0;
        bool at_border = false;
        bool kept = true;
    };

    /// Turns parents into labels; returns how many there are.
    std::int64_t enumerate() {
        std::int64_t* number = number_.get();
        std::vector<component> all;
        for (std::int64_t c = 0; c < p_.cells; ++c) {
            if (number[c] == nothing) continue;
            // Roots come before the cells that point to them, and hold a component's number already.
            if (number[c] == c) all.emplace_back(), number[c] = static_cast<std::int64_t>(all.size()) - 1;
            else number[c] = number[number[c]];
            component& mine = all[static_cast<std::size_t>(number[c])];
            ++mine.cells;
            mine.at_border = mine.at_border || (p_.options.clear_border && at_border(place_of(c)));
        }
        const std::vector<std::int64_t> label = labels_of(all);
        in_tasks([&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c)
                number[c] = number[c] == nothing ? 0 : label[static_cast<std::size_t>(number[c])];
        });
        return label.empty() ? 0 : *std::max_element(label.begin(), label.end());
    }

    std::vector<std::int64_t> labels_of(std::vector<component>& all) const {
        const label_options& o = p_.options;
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].kept = passes(all[i].cells, all[i].at_border, o.smallest, o.largest, o.clear_border);
            if (all[i].kept) left.push_back(i);
        }
        if (o.keep_largest < static_cast<std::int64_t>(left.size())) {
            std::stable_sort(left.begin(), left.end(), [&](auto a, auto b) { return all[a].cells > all[b].cells; });
            for (std::size_t k = static_cast<std::size_t>(o.keep_largest); k < left.size(); ++k)
                all[left[k]].kept = false;
        }
        std::vector<std::int64_t> label(all.size(), 0);
        std::int64_t next = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].kept) label[i] = ++next;
        return label;
    }

    // ---- tables ------------------------------------------------------------------------------------------------------

    void measure() {
        component_tables<host> tables = out_.tables;
        const std::int64_t all = std::accumulate(found_.begin(), found_.end(), std::int64_t{0});
        if (out_.make_tables) {
            tables = out_.make_tables(all);
            check_tables(p_, image_, out_, tables);
        }
        component_sums<max_rank> sums(p_, tables, all);
        sums.shapes().clear();
        typename component_sums<max_rank>::part part(0);
        std::int64_t base = 0;
        for (std::int64_t image = 0; image < p_.images; ++image) {
            if (p_.images > 1) find(image);
            for (const look& what : sums.looks()) look_through(image, base, sums, part, what);
            base += found_[image];
            if (out_.label.wanted()) write(image);
        }
        sums.finish(crew_);
    }

    void look_through(std::int64_t image, std::int64_t base, const component_sums<max_rank>& sums,
                      component_sums<max_rank>::part& part, const look& what) const {
        const std::int64_t line = p_.size[p_.rank - 1], rows = line == 0 ? 0 : p_.cells / line;
        std::vector<row_run> runs;
        for (std::int64_t row = 0; row < rows; ++row) {
            runs.clear();
            const std::int64_t* const label = number_.get() + row * line;
            for (std::int64_t x = 0, next = 0; x < line; x = next) {
                for (next = x + 1; next < line && label[next] == label[x];) ++next;
                if (label[x] == 0) continue;
                runs.push_back({x, next, base + label[x] - 1, 0});
                for (std::int64_t c = x; what.shapes && sums.with_faces() && c < next; ++c)
                    runs.back().faces += faces_of(row * line + c);
            }
            sums.add_row(part, image * rows + row, runs, what);
        }
    }

    /// Faces of a cell towards cells of other labels, or an end of the grid.
    [[nodiscard]] std::uint64_t faces_of(std::int64_t c) const {
        const coordinates at = place_of(c);
        std::uint64_t faces = 0;
        std::int64_t step = 1;
        for (int axis = p_.rank - 1; axis >= 0; step *= p_.size[axis], --axis) {
            const std::int64_t n = p_.size[axis];
            for (const std::int64_t by : {-1, 1}) {
                const bool inside = p_.periodic[axis] || (at[axis] + by >= 0 && at[axis] + by < n);
                const std::int64_t there = c + ((at[axis] + by + n) % n - at[axis]) * step;
                faces += !inside || number_.get()[there] != number_.get()[c];
            }
        }
        return faces;
    }

    // ---- labels ------------------------------------------------------------------------------------------------------

    void write(std::int64_t image) {
        switch (out_.label.type) {
            case dtype::uint16: return write_as<std::uint16_t>(image);
            case dtype::int32:
            case dtype::uint32: return write_as<std::uint32_t>(image);
            default: return write_as<std::uint64_t>(image);
        }
    }
    template <class Label>
    void write_as(std::int64_t image) {
        const any_output<host>& to = out_.label;
        in_tasks([&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c)
                static_cast<Label*>(
                    to.data)[offset_of(image * p_.cells + c, to.shape.data(), to.stride.data(), to.rank)] =
                    static_cast<Label>(number_.get()[c]);
        });
    }

    const problem& p_;
    const any_input<host>& image_;
    const label_fields<host>& out_;
    workers crew_;
    rule<T> rule_;
    std::vector<std::int64_t> back_;
    std::vector<rule<T>> links_;
    host_scratch<std::int64_t> number_;  ///< of each cell: its parent, then its component, then its label
    std::vector<std::int64_t> found_;
    const T* image_start_ = nullptr;
};

}  // namespace

void run_by_cells(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out) {
    const auto solve = [&]<class T>(T) { engine<T>(on, p, image, out).solve(); };
    switch (image.type) {
        case dtype::boolean:
        case dtype::uint8: return solve(std::uint8_t{});
        case dtype::int8: return solve(std::int8_t{});
        case dtype::int16: return solve(std::int16_t{});
        case dtype::uint16: return solve(std::uint16_t{});
        case dtype::int32: return solve(std::int32_t{});
        case dtype::uint32: return solve(std::uint32_t{});
        case dtype::int64: return solve(std::int64_t{});
        case dtype::uint64: return solve(std::uint64_t{});
        case dtype::float32: return solve(float{});
        default: return solve(double{});
    }
}

}  // namespace nearfield::labelling
