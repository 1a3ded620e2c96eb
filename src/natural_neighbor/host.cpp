// On the host: finds nearest sites, adds all balls atomically, then sums along rows.
#include <atomic>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "natural_neighbor/core.hpp"

namespace nearfield::natural {
namespace {

constexpr std::int64_t cells_at_once = 1 << 12;

/// Calls body(T{}) with the element type.
template <class Body>
void with_type(dtype type, const Body& body) {
    switch (type) {
        case dtype::int8: return body(std::int8_t{});
        case dtype::int16: return body(std::int16_t{});
        case dtype::uint16: return body(std::uint16_t{});
        case dtype::int32: return body(std::int32_t{});
        case dtype::uint32: return body(std::uint32_t{});
        case dtype::int64: return body(std::int64_t{});
        case dtype::uint64: return body(std::uint64_t{});
        case dtype::float32: return body(float{});
        case dtype::float64: return body(double{});
        default: return body(std::uint8_t{});
    }
}

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
          sum_(p.cells()),
          count_(p.cells()),
          largest_(p.images) {}

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
                with_type(values_.type, [&]<class T>(T) { mark<T>(first, last); });
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
            sum_.get()[i] = count_.get()[i] = 0;
            if (seed_.get()[i] == 0) continue;
            const std::atomic_ref largest(largest_.get()[i / p_.image_cells()]);
            const auto bits = std::bit_cast<std::uint64_t>(std::abs(value));
            for (std::uint64_t so_far = largest.load(std::memory_order_relaxed);
                 so_far < bits && !largest.compare_exchange_weak(so_far, bits, std::memory_order_relaxed);) {
            }
        }
    }

    void scatter(workers& team) {
        const bool shared = team.threads() > 1;
        team.for_each(p_.cells(), cells_at_once, 2, [&](std::int64_t first, std::int64_t last, int) {
            with_type(values_.type, [&]<class T>(T) { scatter_some<T>(first, last, shared); });
        });
    }
    template <class T>
    void scatter_some(std::int64_t first, std::int64_t last, bool shared) {
        const cell_offsets at(shape(), values_.stride.data(), values_.rank);
        for (std::int64_t i = first; i < last; ++i) {
            if (site_.get()[i] < 0) continue;
            const std::int64_t image = i / p_.image_cells(), base = image * p_.image_cells();
            const ball b = ball_of(p_, i - base, site_.get()[i]);
            const auto value = static_cast<double>(static_cast<const T*>(values_.data)[at.of(base + b.site)]);
            const std::int64_t v = counted(value, exponent_of(p_, largest_.get()[image]));
            const auto add = [&](std::int64_t cell, std::int64_t times) {
                add_to(sum_.get()[base + cell], times * v, shared), add_to(count_.get()[base + cell], times, shared);
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
                                  sum += sum_.get()[i], count += count_.get()[i];
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
    host_scratch<std::uint8_t> seed_;
    host_scratch<Index> site_;
    host_scratch<std::int64_t> sum_, count_;
    host_scratch<std::uint64_t> largest_;
};

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& values, const any_input<host>& known,
         const any_output<host>& out) {
    if (p.image_cells() < std::int64_t{1} << 31) solver<std::int32_t>(on, p, values, known, out).solve();
    else solver<std::int64_t>(on, p, values, known, out).solve();
}

}  // namespace nearfield::natural
