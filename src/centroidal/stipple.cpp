// Stippling: measures ink, draws samples, runs Lloyd's rounds from coarse to fine.
#include "nearfield/stipple.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "centroidal/linde_buzo_gray.hpp"

namespace nearfield {
namespace centroidal {
namespace {

constexpr int settling_rounds = 10;  ///< rounds of Lloyd's method after Linde-Buzo-Gray's
constexpr int lloyd_rounds = 60, lbg_rounds = 50;

/// Returns the number of cells that a dot of some diameter covers.
double cells_of_dot(double diameter, int axes) {
    if (axes == 1) return diameter;
    return axes == 2 ? std::numbers::pi / 4 * diameter * diameter
                     : std::numbers::pi / 6 * diameter * diameter * diameter;
}

double cells_of(std::span<const std::int64_t> shape) {
    double cells = 1;
    for (const std::int64_t each : shape) cells *= static_cast<double>(each);
    return cells;
}

/// Returns the density whose centroidal diagrams have sites in proportion to the ink: its power 1 + 2 / axes, in the
/// limit of many sites. Ink and density are shares of 65535; integers round to nearest.
///
/// Gersho, "Asymptotically optimal block quantization", IEEE Transactions on Information Theory 25(4), 1979.
std::uint16_t density_for(std::uint64_t ink, int axes) {
    constexpr std::uint64_t one = 65535;
    if (axes == 2) return static_cast<std::uint16_t>((ink * ink + one / 2) / one);
    if (axes == 1) return static_cast<std::uint16_t>((ink * ink * ink + one * one / 2) / (one * one));
    // Finds the largest v with (v - 1/2)^3 one^2 <= ink^5.
    const auto fifth = static_cast<uint128>(ink * ink * ink) * (ink * ink);
    std::uint64_t low = 0, high = one;
    while (low < high) {
        const std::uint64_t v = (low + high + 1) / 2, twice = 2 * v - 1;
        const bool fits = static_cast<uint128>(twice * twice * twice) * (one * one) <= 8 * fifth;
        (fits ? low : high) = fits ? v : v - 1;
    }
    return static_cast<std::uint16_t>(low);
}

/// Returns the density for each value of ink, up to that of a black cell.
std::vector<std::uint16_t> densities_of(dtype type, int axes) {
    const std::int64_t full = type == dtype::boolean ? 1 : type == dtype::uint8 ? 255 : 65535;
    std::vector<std::uint16_t> table;
    for (std::int64_t own = 0; own <= full; ++own)
        table.push_back(density_for(static_cast<std::uint64_t>(own * (65535 / full)), axes));
    return table;
}

class stippler {
public:
    /// `full` is the ink of a black cell.
    stippler(const host* watched, std::span<const std::int64_t> shape, const inks& of, std::int64_t full,
             const stipple_options& options)
        : watched_(watched),
          shape_(shape),
          axes_(static_cast<int>(shape.size())),
          ink_(of),
          full_(static_cast<double>(full)),
          options_(options),
          points_(options.points) {
        if (points_ == 0)
            points_ = std::max<std::int64_t>(
                1, std::llround(static_cast<double>(of.all) / (full_ * cells_of_dot(options.size, axes_))));
        made_.axes = axes_, made_.full_ink = full;
        finest_ = options.supersample > 0 ? options.supersample : fine_enough();
        if (const std::int64_t most = of.inked * parts_of_cell(finest_); points_ > most)
            fail(fmt::format(
                "points is {}, but the image has ink in only {} parts of cells; give fewer, or a larger supersample",
                points_, most));
    }

    stipples made() {
        const bool by_rounds = options_.method == stipple_method::lloyd || rehearsing() != nullptr;
        if (!by_rounds) lbg();
        if (!by_rounds || !lloyd()) {
            const problem p = at(finest_, 0);
            ink_.by_ink->lloyd(p, sites_, &made_.weights, nullptr, {});
            take(p, sites_);
        }
        // A host ends its rounds when no site moves, a device goes on.
        std::vector<std::uint64_t>& all = made_.energy;
        while (all.size() >= 4 && std::equal(all.end() - 2, all.end(), all.end() - 4)) all.resize(all.size() - 2);
        return std::move(made_);
    }

private:
    [[nodiscard]] std::int64_t parts_of_cell(int supersample) const {
        return static_cast<std::int64_t>(std::pow(supersample, axes_));
    }
    /// Returns the number of parts in a point's region where all cells are black, and points are densest.
    [[nodiscard]] double parts_of_black_point(int supersample) const {
        return static_cast<double>(ink_.all) / full_ / static_cast<double>(points_) * std::pow(supersample, axes_);
    }
    /// Returns the parts per axis of a cell that hide the grid: at least ten parts between points where possible.
    [[nodiscard]] int fine_enough() const {
        int parts = 1;
        while (parts < 4 && parts_of_black_point(parts) < std::pow(10, axes_) &&
               cells_of(shape_) * std::pow(parts + 1, axes_) < std::ldexp(1, 28))
            ++parts;
        return parts;
    }
    [[nodiscard]] problem at(int supersample, int rounds) const {
        centroidal_options options;
        options.rounds = rounds, options.supersample = supersample;
        // In regions of few parts, sites with long steps collide and leave dense areas.
        options.relax = parts_of_black_point(supersample) >= 64 ? 1.9 : 1.5;
        options.spacing = options_.spacing, options.border = options_.border;
        return problem_of(shape_.data(), axes_, std::max<std::int64_t>(1, std::ssize(sites_)), options);
    }

    [[nodiscard]] bool watches() const { return options_.watch || (watched_ != nullptr && watched_->progress); }
    /// Starts with whole cells, unless points are so many that they would hardly fit.
    [[nodiscard]] int coarsest() const { return 8 * points_ < ink_.inked ? 1 : finest_; }

    /// Returns true if all is made.
    bool lloyd() {
        rounds_ = options_.rounds < 0 ? lloyd_rounds : options_.rounds;
        const int coarse = finest_ > coarsest() ? rounds_ / 2 : 0, first = coarse > 0 ? coarsest() : finest_;
        problem p = at(first, coarse);
        p.sites = points_, p.relaxed = coarse;
        if (rehearsing() == nullptr && !watches()) {
            problem fine = at(finest_, rounds_ - coarse);
            fine.sites = points_, made_.supersample = finest_;
            if (ink_.by_ink->make({p, fine, options_.seed}, *ink_.by_density, made_)) return true;
        }
        if (rehearsing() == nullptr) sites_ = ink_.by_ink->samples(p, points_, options_.seed);
        else sites_.resize(static_cast<std::size_t>(points_)), std::iota(sites_.begin(), sites_.end(), 0);
        if (coarse > 0) go(p), refine(p);
        go(at(finest_, rounds_ - coarse));
        return false;
    }

    void lbg() {
        rounds_ = (options_.rounds < 0 ? lbg_rounds : options_.rounds) + settling_rounds;
        const problem p = at(coarsest(), 0);
        linde_buzo_gray by(p, ink_.by_ink->density(), *ink_.by_ink, static_cast<std::uint64_t>(points_));
        for (bool changed = true; changed && done_ + settling_rounds < rounds_;) {
            changed = by.round(done_);
            count_round(p, by.sites());
        }
        if (options_.points > 0) by.settle_on(points_);
        sites_ = by.sites(), done_ = rounds_ - settling_rounds;
        if (finest_ > coarsest()) refine(p);
        go(at(finest_, settling_rounds));
    }

    /// Moves sites from cells to the middle of finer parts.
    void refine(const problem& p) {
        const problem finer = at(finest_, 0);
        for (std::int32_t& each : sites_) each = refined(p, finer, each);
    }

    void go(const problem& p) {
        std::vector<uint128> energies;
        sites_told told;
        if (watches()) told = [&](const std::vector<std::int32_t>& sites) { count_round(p, sites); };
        const int before = done_;
        ink_.by_density->lloyd(p, sites_, nullptr, &energies, told);
        done_ = before + p.rounds;
        made_.energy.clear();
        for (const uint128 each : energies)
            made_.energy.push_back(static_cast<std::uint64_t>(each >> 64)),
                made_.energy.push_back(static_cast<std::uint64_t>(each));
    }

    void take(const problem& p, const std::vector<std::int32_t>& sites) {
        made_.supersample = static_cast<int>(p.factor[2]), made_.parts.clear();
        made_.parts.reserve(sites.size() * static_cast<std::size_t>(p.axes));
        for (const std::int32_t each : sites) {
            const place to = place_of(p, each);
            for (int axis = 3 - p.axes; axis < 3; ++axis) made_.parts.push_back(to.at[axis]);
        }
    }

    void count_round(const problem& p, const std::vector<std::int32_t>& sites) {
        ++done_;
        if (options_.watch) take(p, sites), options_.watch(made_);
        if (watched_ != nullptr && watched_->progress && !watched_->progress(static_cast<double>(done_) / rounds_))
            throw error(error_code::cancelled, "cancelled by the progress callback");
    }

    const host* watched_;  ///< reports progress to its caller, or null
    std::span<const std::int64_t> shape_;
    int axes_;
    const inks& ink_;
    double full_;  ///< ink of a black cell
    const stipple_options& options_;
    std::int64_t points_;
    int finest_ = 1, rounds_ = 0, done_ = 0;
    std::vector<std::int32_t> sites_;
    stipples made_;
};

template <class Place>
void check(const any_input<Place>& image, const stipple_options& options) {
    check_image<Place>("image", image, 65535);
    check_type("image", image.type, {dtype::boolean, dtype::uint8, dtype::uint16});
    const named_view<Place> one[] = {{"image", image}};
    check_data<Place>(one);
    if (options.points < 0) fail(fmt::format("points is {}; give how many, 1 or more", options.points));
    if (!(options.size >= 0 && options.size < 1e6))
        fail(fmt::format("size is {}; give the diameter of a dot in cells, such as 3", options.size));
    if ((options.points > 0) == (options.size > 0))
        fail(fmt::format("points is {} and size is {}; give one of them", options.points, options.size));
    if (options.rounds < -1)
        fail(fmt::format("rounds is {}; give 0 or more, or -1 for the usual number", options.rounds));
    if (options.supersample < 0 || options.supersample > 8)
        fail(fmt::format("supersample is {}; give 1 to 8, or 0 to have it chosen", options.supersample));
    centroidal_options others;
    others.spacing = options.spacing, others.border = options.border;
    others.rounds = std::max(0, options.rounds), others.supersample = std::max(1, options.supersample);
    static_cast<void>(problem_of(image.shape.data(), image.rank, 1, others));
}

template <class Place>
stipples solve(const Place& on, const any_input<Place>& image, const stipple_options& options) {
    return in_call([&] {
        check(image, options);
        const std::vector<std::uint16_t> table = densities_of(image.type, image.rank);
        const inks of = inks_of(on, image, table, options.invert);
        if (of.all == 0) fail("image has no ink; give one that is not all white, or invert");
        const host* watched = nullptr;
        if constexpr (std::is_same_v<Place, host>) watched = &on;
        const std::span<const std::int64_t> shape(image.shape.data(), static_cast<std::size_t>(image.rank));
        return stippler(watched, shape, of, std::ssize(table) - 1, options).made();
    });
}

}  // namespace
}  // namespace centroidal

stipples stipple(const host& on, const any_input<host>& image, const stipple_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    return centroidal::solve(on, image, options);
}
stipples stipple(const device& on, const any_input<device>& image, const stipple_options& options) {
    return centroidal::solve(on, image, options);
}

}  // namespace nearfield
