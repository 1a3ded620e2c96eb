// On the host: finds nearest sites, adds all balls, then sums along rows.
//
// Each thread owns a slab of lines and adds the balls that stay within it. Those that do not are added atomically when
// all slabs are done.
#include <atomic>
#include <vector>

#include "base/divide.hpp"
#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "base/with_integer.hpp"
#include "natural_neighbor/core.hpp"

namespace nearfield::natural {
namespace {

constexpr std::int64_t cells_at_once = 1 << 12;

/// Sums of a cell, as differences from the cell before it.
struct tally {
    std::int64_t sum, count;
};

/// The rows of small balls, as steps from the centre. Radii are equal again and again, and a row costs a root.
class shapes {
public:
    struct row {
        std::int32_t first, after;  ///< steps to the row's first cell, and to that after its last
    };
    struct shape {
        std::int32_t reach[3] = {-1, 0, 0};
        std::vector<row> rows;
    };

    /// Without integral weights, or where steps exceed 32 bits, there are none.
    explicit shapes(const problem& p)
        : p_(p), of_(p.image_cells() < std::int64_t{1} << 31 && integral(p) ? std::size_t{most} : 0) {}

    /// Returns the shape of balls of this squared radius, or null if it is not kept.
    const shape* of(double r2) {
        if (!(r2 < static_cast<double>(of_.size()))) return nullptr;
        shape& one = of_[static_cast<std::size_t>(r2)];
        if (one.reach[0] < 0) make(r2, one);
        return &one;
    }

private:
    static constexpr int most = 400;  ///< of squared radii; some 1.2 MB in cubic cells

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
        for (std::int64_t z = -to.reach[0]; z <= to.reach[0]; ++z)
            for (std::int64_t y = -to.reach[1]; y <= to.reach[1]; ++y) {
                const std::int64_t half = r2 > 0 ? half_of(p_, r2, z, y) : 0, line = (z * p_.size[1] + y) * p_.size[2];
                if (half < 0) continue;
                to.rows.push_back({static_cast<std::int32_t>(line - half), static_cast<std::int32_t>(line + half + 1)});
                to.reach[2] = std::max(to.reach[2], static_cast<std::int32_t>(half));
            }
    }
    [[nodiscard]] double squared_along(int axis, std::int64_t step) const {
        return squared(p_, axis == 0 ? step : 0, axis == 1 ? step : 0, axis == 2 ? step : 0);
    }

    const problem& p_;
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
          seed_(p.cells()),
          site_(p.cells()),
          tally_(p.cells()),
          largest_(p.images) {
        for (int axis = 0; axis < 3; ++axis)
            if (p.image_cells() < std::int64_t{1} << 31) by_size_[axis] = divisor(p.size[axis]);
    }

    void solve() {
        find_sites();
        workers team(on_, 3 * p_.cells());
        scatter(team);
        write(team);
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
        if (on_.progress) first.progress = [this](double share) { return on_.progress(0.1 * share); };
        const std::span<const std::int64_t> sizes(shape(), static_cast<std::size_t>(values_.rank));
        fields<host> wanted;
        wanted.index = any_output<host>::contiguous(site_.get(), dtype_of<Index>(), sizes);
        distance_transform(first, any_input<host>::contiguous(seed_.get(), dtype::uint8, sizes), wanted, p_.sites);
    }
    template <class T>
    void mark(std::int64_t first, std::int64_t last) {
        const cell_offsets at(shape(), values_.stride.data(), values_.rank),
            known_at(shape(), known_.stride.data(), values_.rank);
        const auto* const known = static_cast<const std::uint8_t*>(known_.data);
        for (std::int64_t i = first; i < last; ++i) {
            const auto value = static_cast<double>(static_cast<const T*>(values_.data)[at.of(i)]);
            seed_.get()[i] = is_finite(value) && (known == nullptr || known[known_at.of(i)] != 0) ? 1 : 0;
            tally_.get()[i] = {0, 0};
            if (seed_.get()[i] == 0) continue;
            const std::atomic_ref largest(largest_.get()[i / p_.image_cells()]);
            const auto bits = std::bit_cast<std::uint64_t>(std::abs(value));
            for (std::uint64_t so_far = largest.load(std::memory_order_relaxed);
                 so_far < bits && !largest.compare_exchange_weak(so_far, bits, std::memory_order_relaxed);) {
            }
        }
    }

    /// Lines of cells, whose balls one thread adds.
    struct slab {
        std::int64_t first, last;
    };

    void scatter(workers& team) {
        const std::int64_t lines = p_.cells() / p_.size[2], slabs = std::min<std::int64_t>(team.threads(), lines);
        team.for_each(slabs, 1, 0, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t k = begin; k < end; ++k)
                with_number(values_.type,
                            [&]<class T>(T) { scatter_own<T>(team, {lines * k / slabs, lines * (k + 1) / slabs}); });
        });
        team.for_each(p_.cells(), cells_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
            with_number(values_.type, [&]<class T>(T) { scatter_left<T>(first, last, team.threads() > 1); });
        });
    }
    /// Adds the balls of a slab's cells that stay within it, and marks the other cells in `seed_`.
    template <class T>
    void scatter_own(workers& team, const slab& own) {
        shapes kept(p_);
        const std::int64_t n = p_.size[2], lines_an_image = p_.size[0] * p_.size[1];
        for (std::int64_t line = own.first; line < own.last; ++line) {
            const std::int64_t image = line / lines_an_image, in_image = line - image * lines_an_image;
            const std::int64_t at[] = {in_image / p_.size[1], in_image % p_.size[1]};
            for (std::int64_t i = line * n; i < (line + 1) * n; ++i)
                if (site_.get()[i] >= 0) seed_.get()[i] = add_own<T>(kept, own, at, image, i, i - line * n) ? 0 : 1;
                else seed_.get()[i] = 0;
            team.go_on(n);
        }
    }
    /// Adds the ball of a cell by its kept shape; returns false if it has none or may leave the slab.
    template <class T>
    bool add_own(shapes& kept, const slab& own, const std::int64_t (&at)[2], std::int64_t image, std::int64_t cell,
                 std::int64_t x) {
        const shapes::shape* const shape = kept.of(radius_of(at, x, site_.get()[cell]));
        if (shape == nullptr) return false;
        const auto& reach = shape->reach;
        const std::int64_t line = cell / p_.size[2], away = reach[0] * p_.size[1] + reach[1];
        if (at[0] < reach[0] || at[0] + reach[0] >= p_.size[0] || at[1] < reach[1] || at[1] + reach[1] >= p_.size[1] ||
            x < reach[2] || x + reach[2] + 1 >= p_.size[2] || line - away < own.first || line + away >= own.last)
            return false;
        const std::int64_t v = value_of<T>(image, site_.get()[cell]);
        tally* const to = tally_.get() + cell;
        for (const auto& [first, after] : shape->rows) {
            to[first].sum += v, ++to[first].count;
            to[after].sum -= v, --to[after].count;
        }
        return true;
    }
    /// Returns the squared distance to a site, or infinity if cells are numbered in 64 bits.
    [[nodiscard]] double radius_of(const std::int64_t (&at)[2], std::int64_t x, Index site) const {
        if constexpr (sizeof(Index) > 4) return std::numeric_limits<double>::infinity();
        const auto number = static_cast<std::uint32_t>(site), row = by_size_[2].quotient(number);
        const std::uint32_t z = by_size_[1].quotient(row);
        const auto size = [&](int axis) { return static_cast<std::uint32_t>(p_.size[axis]); };
        const std::int64_t there[] = {z, row - z * size(1), number - row * size(2)}, here[] = {at[0], at[1], x};
        std::int64_t away[3];
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t step = std::abs(there[axis] - here[axis]);
            away[axis] = p_.wraps[axis] && p_.size[axis] - step < step ? p_.size[axis] - step : step;
        }
        return squared(p_, away[0], away[1], away[2]);
    }
    /// Returns the value of a site as an integer.
    template <class T>
    [[nodiscard]] std::int64_t value_of(std::int64_t image, std::int64_t site) const {
        const cell_offsets at(shape(), values_.stride.data(), values_.rank);
        const auto value =
            static_cast<double>(static_cast<const T*>(values_.data)[at.of(image * p_.image_cells() + site)]);
        return counted(value, exponent_of(p_, largest_.get()[image]));
    }

    template <class T>
    void scatter_left(std::int64_t first, std::int64_t last, bool shared) {
        for (std::int64_t i = first; i < last; ++i) {
            if (seed_.get()[i] == 0) continue;
            const std::int64_t image = i / p_.image_cells(), base = image * p_.image_cells();
            const ball b = ball_of(p_, i - base, site_.get()[i]);
            const std::int64_t v = value_of<T>(image, b.site);
            const auto add = [&](std::int64_t cell, std::int64_t times) {
                tally& to = tally_.get()[base + cell];
                add_to(to.sum, times * v, shared), add_to(to.count, times, shared);
            };
            for (std::int64_t k = 0; k < b.rows(); ++k) write_row(p_, b, k, add);
        }
    }
    static void add_to(std::int64_t& to, std::int64_t by, bool shared) {
        if (shared) std::atomic_ref(to).fetch_add(by, std::memory_order_relaxed);
        else to += by;
    }

    void write(workers& team) {
        const std::int64_t n = p_.size[2], lines = p_.cells() / n, lines_an_image = p_.image_cells() / n;
        const cell_offsets at(shape(), out_.stride.data(), out_.rank);
        team.for_each(lines, std::max<std::int64_t>(cells_at_once / n, 1), n,
                      [&](std::int64_t first, std::int64_t last, int) {
                          for (std::int64_t line = first; line < last; ++line) {
                              const int exponent = exponent_of(p_, largest_.get()[line / lines_an_image]);
                              std::int64_t sum = 0, count = 0;
                              for (std::int64_t i = line * n; i < (line + 1) * n; ++i) {
                                  sum += tally_.get()[i].sum, count += tally_.get()[i].count;
                                  const double mean = mean_of(sum, count, exponent);
                                  if (out_.type == dtype::float64) static_cast<double*>(out_.data)[at.of(i)] = mean;
                                  else static_cast<float*>(out_.data)[at.of(i)] = static_cast<float>(mean);
                              }
                          }
                      });
    }

    const host& on_;
    const problem& p_;
    const any_input<host>& values_;
    const any_input<host>& known_;
    const any_output<host>& out_;
    host_scratch<std::uint8_t> seed_;  ///< known cells; later those whose balls are left
    host_scratch<Index> site_;
    host_scratch<tally> tally_;
    divisor by_size_[3];  ///< unless cells are numbered in 64 bits
    host_scratch<std::uint64_t> largest_;
};

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& values, const any_input<host>& known,
         const any_output<host>& out) {
    if (p.image_cells() < std::int64_t{1} << 31) solver<std::int32_t>(on, p, values, known, out).solve();
    else solver<std::int64_t>(on, p, values, known, out).solve();
}

}  // namespace nearfield::natural
