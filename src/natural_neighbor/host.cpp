// On the host: finds nearest sites, then adds balls and sums along rows, one part of the grid after another.
//
// A part is some planes of an image, or some rows of them. A thread adds to the sums of its part what all balls leave
// there, so that no other thread writes them, and then writes its answers. Part after part uses the same memory.
#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/divide.hpp"
#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "base/with_integer.hpp"
#include "natural_neighbor/core.hpp"

namespace nearfield::natural {
namespace {

constexpr std::int64_t cells_at_once = 1 << 12;
constexpr double share_of_sites = 0.1;  // share of a call's time

/// Sum and count of a cell, as differences from the cell before it. Both are added at once: a load of both would wait
/// for the store of one.
typedef std::int64_t tally __attribute__((vector_size(2 * sizeof(std::int64_t))));

/// Planes and rows [first[axis], last[axis]) of an image.
struct part {
    std::int64_t image, first[2], last[2];

    [[nodiscard]] bool holds(int axis, std::int64_t low, std::int64_t high) const {
        return low >= first[axis] && high < last[axis];
    }
};

/// Steps in a part's sums. Rows that start at equal places of 4 KiB would share a few lines of the first cache.
struct layout {
    std::int64_t planes = 1, rows = 1;  ///< of the largest part
    std::int64_t row_step = 1, plane_step = 1;
    std::int64_t parts[2] = {1, 1};

    layout(const problem& p, std::int64_t reach, int threads) {
        constexpr std::int64_t least_planes = 16, least_rows = 8, in_line = 64 / sizeof(tally);
        const std::int64_t wanted = 2 * std::int64_t{threads}, all = p.images * p.size[0];
        // Balls that reach into several parts are looked at in each.
        planes = std::min({p.size[0], std::max(least_planes, 4 * reach), std::max<std::int64_t>(all / wanted, 1)});
        parts[0] = (p.size[0] + planes - 1) / planes;
        const std::int64_t more = (wanted + p.images * parts[0] - 1) / (p.images * parts[0]);
        rows = std::clamp((p.size[1] + more - 1) / more, std::min(least_rows, p.size[1]), p.size[1]);
        parts[1] = (p.size[1] + rows - 1) / rows;
        row_step = p.size[2] + 1;
        if (p.size[2] >= 64) row_step = ((row_step + in_line - 1) / in_line | 1) * in_line;
        std::int64_t steps = rows;
        while (p.size[2] >= 64 && planes > 1 && steps % 16 != 8) ++steps;
        plane_step = steps * row_step;
    }
};

/// The rows of small balls, as steps from the centre. Radii are equal again and again, and a row costs a root.
class shapes {
public:
    struct row {
        std::int32_t first, after;  ///< steps to the row's first cell, and to that after its last
        std::int32_t y;
    };
    struct shape {
        std::int32_t reach[3] = {-1, 0, 0};
        std::vector<row> rows;
        std::vector<std::int32_t> plane;  ///< number of the first row of each plane, and of all rows
    };

    /// Without integral weights, or where steps exceed 32 bits, there are none.
    shapes(const problem& p, const layout& l)
        : p_(p), l_(l), of_(l.planes * l.plane_step < std::int64_t{1} << 30 && integral(p) ? std::size_t{most} : 0) {}

    /// Returns the shape of balls of this squared radius, or null if it is not kept.
    const shape* of(double r2) {
        if (!(r2 < static_cast<double>(of_.size()))) return nullptr;
        shape& one = of_[static_cast<std::size_t>(r2)];
        if (one.reach[0] < 0) make(r2, one);
        return &one;
    }

private:
    static constexpr int most = 400;  ///< of squared radii; some 1.8 MB in cubic cells

    static bool integral(const problem& p) {
        bool is = true;
        for (const double each : p.weight) is = is && each == std::floor(each);
        return is;
    }
    void make(double r2, shape& to) const {
        for (int axis = 0; axis < 3; ++axis) {
            const bool flat = p_.size[axis] == 1 && !p_.wraps[axis];
            while (!flat && squared_along(axis, to.reach[axis] + 1) < r2) ++to.reach[axis];
            to.reach[axis] = std::max(to.reach[axis], 0);
        }
        for (std::int32_t z = -to.reach[0]; z <= to.reach[0]; ++z) {
            to.plane.push_back(static_cast<std::int32_t>(to.rows.size()));
            for (std::int32_t y = -to.reach[1]; y <= to.reach[1]; ++y) {
                const std::int64_t half = r2 > 0 ? half_of(p_, r2, z, y) : 0, at = z * l_.plane_step + y * l_.row_step;
                if (half < 0) continue;
                to.rows.push_back({static_cast<std::int32_t>(at - half), static_cast<std::int32_t>(at + half + 1), y});
                to.reach[2] = std::max(to.reach[2], static_cast<std::int32_t>(half));
            }
        }
        to.plane.push_back(static_cast<std::int32_t>(to.rows.size()));
    }
    [[nodiscard]] double squared_along(int axis, std::int64_t step) const {
        return squared(p_, axis == 0 ? step : 0, axis == 1 ? step : 0, axis == 2 ? step : 0);
    }

    const problem& p_;
    const layout& l_;
    std::vector<shape> of_;
};

template <class Index>
class solver {
public:
    solver(const host& on, const problem& p, const any_input<host>& values, const any_input<host>& known,
           const any_output<host>& out)
        : on_(on),
          p_(p),
          values_(values),
          known_(known),
          out_(out),
          value_at_(shape(), values.stride.data(), values.rank),
          seed_(p.cells()),
          site_(p.cells()),
          longest2_(p.cells() / p.size[2]),
          largest_(p.images) {
        for (int axis = 0; axis < 3; ++axis)
            if (sizeof(Index) == 4) by_size_[axis] = divisor(p.size[axis]);
    }

    void solve() {
        find_sites();
        host rest = on_;
        if (on_.progress)
            rest.progress = [this](double share) {
                return on_.progress(share_of_sites + (1 - share_of_sites) * share);
            };
        workers team(rest, 2 * p_.cells());
        with_number(values_.type, [&]<class T>(T) { add_balls<T>(team, measure<T>(team)); });
    }

private:
    [[nodiscard]] const std::int64_t* shape() const { return values_.shape.data(); }

    /// Finds known cells, the largest absolute value of each image as bits, and then the nearest site of each cell.
    void find_sites() {
        std::fill_n(largest_.get(), p_.images, std::uint64_t{0});
        host quiet{on_.threads, {}};
        {
            workers team(quiet, p_.cells());
            team.for_each(p_.cells(), cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
                with_number(values_.type, [&]<class T>(T) { mark<T>(first, last); });
            });
        }
        host first = on_;
        if (on_.progress) first.progress = [this](double share) { return on_.progress(share_of_sites * share); };
        const std::span<const std::int64_t> sizes(shape(), static_cast<std::size_t>(values_.rank));
        fields<host> wanted;
        wanted.index = any_output<host>::contiguous(site_.get(), dtype_of<Index>(), sizes);
        distance_transform(first, any_input<host>::contiguous(seed_.get(), dtype::uint8, sizes), wanted, p_.sites);
    }
    template <class T>
    void mark(std::int64_t first, std::int64_t last) {
        const cell_offsets known_at(shape(), known_.stride.data(), values_.rank);
        const auto* const known = static_cast<const std::uint8_t*>(known_.data);
        for (std::int64_t i = first; i < last; ++i) {
            const auto value = static_cast<double>(static_cast<const T*>(values_.data)[value_at_.of(i)]);
            seed_.get()[i] = is_finite(value) && (known == nullptr || known[known_at.of(i)] != 0) ? 1 : 0;
            if (seed_.get()[i] == 0) continue;
            const std::atomic_ref largest(largest_.get()[i / p_.image_cells()]);
            const auto bits = std::bit_cast<std::uint64_t>(std::abs(value));
            for (std::uint64_t so_far = largest.load(std::memory_order_relaxed);
                 so_far < bits && !largest.compare_exchange_weak(so_far, bits, std::memory_order_relaxed);) {
            }
        }
    }

    /// Calls body(x, squared distance, site, value as an integer) for the cells of a line that have a site. Cells
    /// beside each other often have the same one, which is unpacked once.
    template <class T, class Body>
    void for_cells(std::int64_t image, std::int64_t z, std::int64_t y, const Body& body) const {
        const std::int64_t line = (image * p_.size[0] + z) * p_.size[1] + y;
        const Index* const sites = site_.get() + line * p_.size[2];
        // counted() by products, of which one alone could overflow. A number that they round is near 0 afterwards.
        const int bits = -exponent_of(p_, largest_.get()[image]);
        const double some = std::ldexp(1.0, bits / 2), rest = std::ldexp(1.0, bits - bits / 2);
        Index site = -1;
        double side2 = 0;  // of the site, along the first two axes
        std::int64_t column = 0, value = 0;
        for (std::int64_t x = 0; x < p_.size[2]; ++x) {
            if (sites[x] < 0) continue;
            if (sites[x] != site) {
                site = sites[x];
                const auto row = static_cast<Index>(quotient(site, 2)), plane = static_cast<Index>(quotient(row, 1));
                column = site - row * p_.size[2];
                side2 = squared(p_, way(0, plane - z), way(1, row - plane * p_.size[1] - y), 0);
                const std::int64_t at = value_at_.of(image * p_.image_cells() + site);
                const auto known = static_cast<double>(static_cast<const T*>(values_.data)[at]);
                value = static_cast<std::int64_t>(std::rint(known * some * rest));
            }
            const auto along = static_cast<double>(way(2, column - x));
            body(x, side2 + p_.weight[2] * (along * along), site, value);
        }
    }
    [[nodiscard]] std::int64_t quotient(Index of, int axis) const {
        if constexpr (sizeof(Index) > 4) return of / p_.size[axis];
        else return by_size_[axis].quotient(static_cast<std::uint32_t>(of));
    }
    /// Returns how far a step leads, or the way around the end of a periodic axis.
    [[nodiscard]] std::int64_t way(int axis, std::int64_t step) const {
        step = step < 0 ? -step : step;
        return p_.wraps[axis] ? std::min(step, p_.size[axis] - step) : step;
    }

    /// Finds the largest squared radius of each line, and how many planes the largest ball reaches.
    template <class T>
    std::int64_t measure(workers& team) {
        const std::int64_t n = p_.size[2], lines = p_.cells() / n;
        team.for_each(
            lines, std::max<std::int64_t>(cells_at_once / n, 1), n, [&](std::int64_t first, std::int64_t last, int) {
                for (std::int64_t line = first; line < last; ++line) {
                    double most2 = -1;
                    const std::int64_t plane = line / p_.size[1];
                    for_cells<T>(plane / p_.size[0], plane % p_.size[0], line % p_.size[1],
                                 [&](std::int64_t, double r2, Index, std::int64_t) { most2 = std::max(most2, r2); });
                    longest2_.get()[line] = most2;
                }
            });
        const double most2 = rehearsing() != nullptr ? 0 : *std::max_element(longest2_.get(), longest2_.get() + lines);
        const double reach = std::sqrt(std::max(most2, 0.0) / p_.weight[0]);
        return static_cast<std::int64_t>(std::min(reach, static_cast<double>(p_.size[0])));
    }

    template <class T>
    void add_balls(workers& team, std::int64_t reach) {
        const layout l(p_, reach, team.threads());
        const std::int64_t in_image = l.parts[0] * l.parts[1];
        const auto threads = static_cast<std::size_t>(team.threads());
        std::vector<host_scratch<tally>> memory(threads);
        for (host_scratch<tally>& each : memory) each = host_scratch<tally>(l.planes * l.plane_step);
        std::vector<shapes> kept(threads, shapes(p_, l));
        team.for_each(p_.images * in_image, 1, 0, [&](std::int64_t begin, std::int64_t end, int thread) {
            tally* const mine = memory[static_cast<std::size_t>(thread)].get();
            for (; begin < end; ++begin) {
                const std::int64_t z = begin % in_image / l.parts[1] * l.planes, y = begin % l.parts[1] * l.rows;
                const part own{
                    begin / in_image, {z, y}, {std::min(z + l.planes, p_.size[0]), std::min(y + l.rows, p_.size[1])}};
                adder<T> add{*this, team, l, own, kept[static_cast<std::size_t>(thread)], mine};
                add.add_lines();
                write(own, l, mine);
            }
        });
    }

    /// Adds all balls to the sums of a part.
    template <class T>
    struct adder {
        const solver& s;
        workers& team;
        const layout& l;
        const part& own;
        shapes& kept;
        tally* sums;

        void add_lines() {
            const problem& p = s.p_;
            std::fill_n(sums, l.planes * l.plane_step, tally{0, 0});
            // Sums around a few rows of a plane stay in the second-level cache until those of the next plane are added.
            const std::int64_t rows = std::max<std::int64_t>(4096 / p.size[2], 1);
            for (std::int64_t low = 0; low < p.size[1]; low += rows)
                for (std::int64_t z = 0; z < p.size[0]; ++z)
                    for (std::int64_t y = low; y < std::min(low + rows, p.size[1]); ++y) add_line(z, y);
        }
        void add_line(std::int64_t z, std::int64_t y) {
            const problem& p = s.p_;
            const std::int64_t line = (own.image * p.size[0] + z) * p.size[1] + y;
            const bool here = own.holds(0, z, z) && own.holds(1, y, y);
            if (!here && !(squared(p, apart(0, z), apart(1, y), 0) < s.longest2_.get()[line])) return;
            s.template for_cells<T>(own.image, z, y, [&](std::int64_t x, double r2, Index site, std::int64_t v) {
                add(z, y, x, r2, site, v);
            });
            team.go_on(here ? p.size[2] : 0);
        }
        /// Returns how many planes or rows there are from one to the nearest of the part.
        [[nodiscard]] std::int64_t apart(int axis, std::int64_t at) const {
            if (own.holds(axis, at, at)) return 0;
            return std::min(s.way(axis, own.first[axis] - at), s.way(axis, own.last[axis] - 1 - at));
        }

        void add(std::int64_t z, std::int64_t y, std::int64_t x, double r2, Index site, std::int64_t v) {
            const problem& p = s.p_;
            const shapes::shape* const shape = kept.of(r2);
            if (shape == nullptr) return add_by_rows(z, y, x, site, v);
            const auto& reach = shape->reach;
            const bool inside = x >= reach[2] && x + reach[2] < p.size[2],
                       in_rows = own.holds(1, y - reach[1], y + reach[1]);
            const bool wraps = (p.wraps[0] && (z < reach[0] || z + reach[0] >= p.size[0])) ||
                               (p.wraps[1] && (y < reach[1] || y + reach[1] >= p.size[1])) || (p.wraps[2] && !inside);
            if (wraps) return add_by_rows(z, y, x, site, v);
            const std::int64_t low = std::max(z - reach[0], own.first[0]),
                               high = std::min(z + reach[0] + 1, own.last[0]);
            if (low >= high) return;
            tally* const to = sums + (z - own.first[0]) * l.plane_step + (y - own.first[1]) * l.row_step + x;
            const shapes::row *row = shape->rows.data() + shape->plane[static_cast<std::size_t>(low - z + reach[0])],
                              *end = shape->rows.data() + shape->plane[static_cast<std::size_t>(high - z + reach[0])];
            const tally own_value = {v, 1};
            if (inside && in_rows) {
                for (; row != end; ++row) to[row->first] += own_value, to[row->after] -= own_value;
                return;
            }
            for (; row != end; ++row) {
                if (!own.holds(1, y + row->y, y + row->y)) continue;
                const std::int64_t half = (row->after - row->first) / 2, at = row->first + half;
                to[at - std::min(half, x)] += own_value, to[at + std::min(half + 1, p.size[2] - x)] -= own_value;
            }
        }
        /// Adds what the part has of a ball of any radius, also across periodic ends.
        void add_by_rows(std::int64_t z, std::int64_t y, std::int64_t x, Index site, std::int64_t v) {
            const problem& p = s.p_;
            const ball b = ball_of(p, (z * p.size[1] + y) * p.size[2] + x, site);
            for (std::int64_t k = b.first[0]; k < b.first[0] + b.count[0]; ++k) {
                const std::int64_t at_z = wrapped(z + k, p.size[0]);
                if (!own.holds(0, at_z, at_z)) continue;
                for (std::int64_t j = b.first[1]; j < b.first[1] + b.count[1]; ++j) {
                    const std::int64_t at_y = wrapped(y + j, p.size[1]);
                    if (!own.holds(1, at_y, at_y)) continue;
                    tally* const to = sums + (at_z - own.first[0]) * l.plane_step + (at_y - own.first[1]) * l.row_step -
                                      (at_z * p.size[1] + at_y) * p.size[2];
                    write_line(p, b, k, j,
                               [&](std::int64_t cell, std::int64_t times) { to[cell] += tally{times * v, times}; });
                }
            }
        }
    };

    void write(const part& own, const layout& l, const tally* sums) const {
        const cell_offsets at(shape(), out_.stride.data(), out_.rank);
        const double unit = std::ldexp(1.0, exponent_of(p_, largest_.get()[own.image]));
        for (std::int64_t z = own.first[0]; z < own.last[0]; ++z)
            for (std::int64_t y = own.first[1]; y < own.last[1]; ++y) {
                const tally* const of = sums + (z - own.first[0]) * l.plane_step + (y - own.first[1]) * l.row_step;
                const std::int64_t start = ((own.image * p_.size[0] + z) * p_.size[1] + y) * p_.size[2];
                tally sum{0, 0};
                for (std::int64_t x = 0; x < p_.size[2]; ++x) {
                    sum += of[x];
                    const double mean = mean_of(sum[0], sum[1], unit);
                    if (out_.type == dtype::float64) static_cast<double*>(out_.data)[at.of(start + x)] = mean;
                    else static_cast<float*>(out_.data)[at.of(start + x)] = static_cast<float>(mean);
                }
            }
    }

    const host& on_;
    const problem& p_;
    const any_input<host>& values_;
    const any_input<host>& known_;
    const any_output<host>& out_;
    cell_offsets value_at_;
    host_scratch<std::uint8_t> seed_;
    host_scratch<Index> site_;
    host_scratch<double> longest2_;  ///< largest squared radius of each line; -1 if no cell has a site
    divisor by_size_[3];             ///< unless cells are numbered in 64 bits
    host_scratch<std::uint64_t> largest_;
};

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& values, const any_input<host>& known,
         const any_output<host>& out) {
    problem q = p;
    if (q.size[0] == 1) {  // an image's rows are planes of one row
        std::swap(q.size[0], q.size[1]), std::swap(q.wraps[0], q.wraps[1]), std::swap(q.weight[0], q.weight[1]);
    }
    if (p.image_cells() < std::int64_t{1} << 31) solver<std::int32_t>(on, q, values, known, out).solve();
    else solver<std::int64_t>(on, q, values, known, out).solve();
}

}  // namespace nearfield::natural
