// Regions of given masses: damped Newton steps on the powers, then moves of sites, then moves of single parts. All of
// it runs on the host, from exact power diagrams, so that host and device results are equal.
#include "centroidal/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "centroidal/host_regions.hpp"

namespace nearfield {
namespace centroidal {

double power_regions::error() const {
    double largest = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) largest = std::max(largest, std::abs(excess(i)));
    return largest;
}

double power_regions::misplaced() const {
    double sum = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) sum += std::max(0., static_cast<double>(mass[i]) - capacity[i]);
    return sum;
}

namespace {

constexpr double good = 0.004;      ///< Newton steps end at this largest error
constexpr double rough = 0.3;       ///< the same for blended densities, which come first
constexpr double kept_share = 0.1;  ///< a step leaves each region at least this share of its mass
constexpr int most_steps = 60;
constexpr double shortest = 1. / 1024;
/// If some region has no mass, densities are first blended with these multiples of their mean.
constexpr double blends[] = {4, 1, 1. / 4, 1. / 16, 1. / 64, 1. / 256, 1. / 1024, 1. / 4096, 1. / 16384};
/// Newton steps end after `steps` steps in a row that did not reduce the missing mass to `share` of the least so far.
struct patience {
    double share;
    int steps;
};
/// While sites move, errors from rows of equally distant parts are smaller than those of the sites: stop early.
constexpr patience while_moving{0.5, 2}, at_last{0.98, 3};
/// Values of newton_step()'s floor, tried in turn; later ones give shorter steps.
constexpr double floors[] = {0.01, 1, 100};

class capacity_solver {
public:
    capacity_solver(const host& on, engine& by, const problem& p, const std::uint16_t* mass_of,
                    std::vector<std::int32_t> sites, std::vector<double> capacity,
                    const std::function<bool(double)>& told)
        : on_(on), engine_(by), sites_(std::move(sites)), told_(told), r_{p,  mass_of, {}, {}, std::move(capacity),
                                                                          {}, {},      {}} {
        mean_ = std::accumulate(r_.capacity.begin(), r_.capacity.end(), 0.) / static_cast<double>(p.parts());
        r_.power.assign(sites_.size(), 0);
        r_.label.resize(static_cast<std::size_t>(p.parts()));
        number_.resize(r_.label.size()), taken_.resize(r_.label.size());
        for (const std::int32_t each : sites_) taken_[static_cast<std::size_t>(each)] = true;
        place_sites();
    }

    capacity_regions solve() {
        for (round_ = 0; round_ < r_.p.rounds; ++round_) {
            adjust(while_moving);
            if (!move(r_.p.relax_of(round_)) && round_ >= r_.p.relaxed) break;
        }
        adjust(at_last);
        made_.bound = bound();
        balance(r_);
        add_energy();
        finish();
        return std::move(made_);
    }

private:
    void place_sites() {
        r_.places.clear();
        for (const std::int32_t each : sites_) r_.places.push_back(place_of(r_.p, each));
    }

    /// Computes the regions of the powers, and their masses.
    void find(const std::vector<std::int64_t>& power) {
        engine_.owners(r_.p, sites_, power, r_.label.data());
        for (std::size_t i = 0; i < sites_.size(); ++i)
            number_[static_cast<std::size_t>(sites_[i])] = static_cast<std::int32_t>(i);
        r_.mass.assign(sites_.size(), 0), r_.parts.assign(sites_.size(), 0);
        workers team(on_, r_.p.parts());
        team.for_each(r_.p.parts(), 1 << 13, 1, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t part = first; part < last;) part = count_run(part, last, team.threads() > 1);
        });
    }

    /// Labels and weighs the run of parts with the owner of `first`, up to `last`; returns the end of the run.
    std::int64_t count_run(std::int64_t first, std::int64_t last, bool shared) {
        std::int32_t* const label = r_.label.data();
        const std::int32_t owner = label[first], number = number_[static_cast<std::size_t>(owner)];
        const auto site = static_cast<std::size_t>(number);
        std::int64_t end = first, mass = 0;
        for (; end < last && label[end] == owner; ++end) label[end] = number, mass += r_.mass_of[end];
        add_to(r_.mass[site], mass, shared), add_to(r_.parts[site], end - first, shared);
        return end;
    }

    /// Finds powers that give each region its capacity, up to rows of equally distant parts, and the regions.
    void adjust(const patience& has) {
        find(r_.power);
        if (std::any_of(r_.parts.begin(), r_.parts.end(), [](std::int64_t n) { return n == 0; })) {
            r_.power.assign(sites_.size(), 0);
            find(r_.power);
        }
        if (std::any_of(r_.mass.begin(), r_.mass.end(), [](std::int64_t m) { return m == 0; }))
            for (const double blend : blends) approach(blend, rough, at_last);
        approach(0, good, has);
    }

    /// Returns the mass of a region if the density were blended with its mean.
    [[nodiscard]] double blended(std::size_t site, double blend) const {
        return (static_cast<double>(r_.mass[site]) + blend * mean_ * static_cast<double>(r_.parts[site])) / (1 + blend);
    }
    /// Returns the capacity minus the mass of each region.
    [[nodiscard]] std::vector<double> missing(double blend) const {
        std::vector<double> all;
        all.reserve(sites_.size());
        for (std::size_t i = 0; i < sites_.size(); ++i) all.push_back(r_.capacity[i] - blended(i, blend));
        return all;
    }

    /// Takes Newton steps until no error exceeds `enough` or steps no longer help; keeps the best powers.
    void approach(double blend, double enough, const patience& has) {
        std::vector<std::int64_t> best;
        double least = 0;
        int since = 0;
        for (int i = 0; i < most_steps; ++i) {
            const std::vector<double> lack = missing(blend);
            double sum = 0, worst = 0;
            for (std::size_t k = 0; k < lack.size(); ++k)
                sum += std::abs(lack[k]), worst = std::max(worst, std::abs(lack[k]) / r_.capacity[k]);
            since = best.empty() || sum < has.share * least ? 0 : since + 1;
            if (best.empty() || sum < least) best = r_.power, least = sum;
            tell(i);
            const auto advanced = [&](double floor) { return advance(blend, floor, lack); };
            if (worst <= enough || since == has.steps || !std::any_of(std::begin(floors), std::end(floors), advanced))
                break;
        }
        if (best != r_.power) r_.power = best, find(best);
    }

    /// Takes one damped step: it must leave every region a share of its mass, and may not go far beyond the best point
    /// on its way. Returns false if no length qualifies.
    bool advance(double blend, double floor, const std::vector<double>& lack) {
        const std::vector<double> way = newton_step(r_, blend, floor, lack);
        std::vector<double> least;
        double slope = 0;
        for (std::size_t i = 0; i < way.size(); ++i) {
            least.push_back(kept_share * std::min(blended(i, blend), r_.capacity[i]));
            slope += way[i] * lack[i];
        }
        for (double length = 1; length >= shortest; length /= 2) {
            const std::vector<std::int64_t> next = moved(way, length);
            if (next == r_.power) break;
            find(next);
            double left = 0;
            bool keeps = true;
            for (std::size_t i = 0; i < way.size() && keeps; ++i) {
                const double mass = blended(i, blend);
                keeps = mass >= least[i], left += way[i] * (r_.capacity[i] - mass);
            }
            if (keeps && left >= -slope / 2) {
                r_.power = next;
                return true;
            }
        }
        find(r_.power);
        return false;
    }

    /// Returns the powers after a step; the largest is 0, and the others are at least -2^36.
    [[nodiscard]] std::vector<std::int64_t> moved(const std::vector<double>& way, double length) const {
        constexpr double far = 1LL << 36;
        std::vector<std::int64_t> next;
        next.reserve(way.size());
        for (std::size_t i = 0; i < way.size(); ++i)
            next.push_back(r_.power[i] + std::llrint(std::clamp(length * way[i], -far, far)));
        const std::int64_t largest = *std::max_element(next.begin(), next.end());
        for (std::int64_t& each : next) each = std::max(each - largest, -static_cast<std::int64_t>(far));
        return next;
    }

    /// Moves sites towards the centroids of their regions by the rules of Lloyd's rounds; returns whether a site moved.
    bool move(std::int64_t relax) {
        std::vector<sums> of(sites_.size());
        for_each_part([&](std::size_t site, const place& at, std::int64_t mass) {
            of[site].mass += static_cast<std::uint64_t>(mass);
            for (int axis = 0; axis < 3; ++axis)
                of[site].first[axis] += mass * step(r_.p, axis, r_.places[site].at[axis], at.at[axis]);
        });
        std::vector<std::int32_t> left;
        for (std::size_t i = 0; i < sites_.size(); ++i) {
            const std::int32_t to = target_of(r_.p, r_.places[i], of[i], relax);
            if (taken_[static_cast<std::size_t>(to)]) continue;
            taken_[static_cast<std::size_t>(to)] = true;
            left.push_back(sites_[i]), sites_[i] = to;
        }
        for (const std::int32_t each : left) taken_[static_cast<std::size_t>(each)] = false;
        if (left.empty()) return false;
        add_energy();
        place_sites();
        return true;
    }

    template <class Use>
    void for_each_part(const Use& use) const {
        const problem& p = r_.p;
        std::size_t part = 0;
        place at{};
        for (at.at[0] = 0; at.at[0] < p.size[0]; ++at.at[0])
            for (at.at[1] = 0; at.at[1] < p.size[1]; ++at.at[1])
                for (at.at[2] = 0; at.at[2] < p.size[2]; ++at.at[2], ++part)
                    use(static_cast<std::size_t>(r_.label[part]), at, static_cast<std::int64_t>(r_.mass_of[part]));
    }

    [[nodiscard]] uint128 energy() const {
        uint128 sum = 0;
        for_each_part([&](std::size_t site, const place& at, std::int64_t mass) {
            sum += static_cast<std::uint64_t>(mass * r_.squared(at, static_cast<std::int32_t>(site)));
        });
        return sum;
    }
    void add_energy() {
        const uint128 now = energy();
        made_.energy.push_back(static_cast<std::uint64_t>(now >> 64));
        made_.energy.push_back(static_cast<std::uint64_t>(now));
    }

    /// Returns the value of the dual problem at these powers; its maximum is the least energy.
    [[nodiscard]] double bound() const {
        double sum = 0;
        for (std::size_t i = 0; i < sites_.size(); ++i)
            sum += (r_.capacity[i] - static_cast<double>(r_.mass[i])) * static_cast<double>(r_.power[i]);
        const uint128 now = energy();
        return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(now >> 64)), 64) +
               static_cast<double>(static_cast<std::uint64_t>(now)) + sum;
    }

    void finish() {
        const problem& p = r_.p;
        for (const place& each : r_.places)
            for (int axis = 3 - p.axes; axis < 3; ++axis) made_.sites.push_back(each.at[axis]);
        made_.weights = r_.mass, made_.powers = r_.power;
        for (std::int64_t cell = 0; cell < p.cells(); ++cell)
            made_.labels.push_back(r_.label[static_cast<std::size_t>(middle_of(p, cell))]);
        made_.error = r_.error(), made_.converged = made_.error <= 0.01;
    }

    void tell(int step) const {
        const double done = (round_ + step / (step + 8.)) / (r_.p.rounds + 1);
        if (told_ && !told_(done)) throw error(error_code::cancelled, "cancelled by the progress callback");
    }

    const host& on_;  ///< does not report progress
    engine& engine_;
    std::vector<std::int32_t> sites_;
    const std::function<bool(double)>& told_;
    power_regions r_;
    std::vector<std::int32_t> number_;  ///< per part: number of the site there, if any
    std::vector<bool> taken_;           ///< per part: whether a site is there
    double mean_ = 0;                   ///< mean mass of a part
    int round_ = 0;
    capacity_regions made_;
};

/// Scales the capacities of regions so that their sum is the mass of all parts.
std::vector<double> capacities_of(std::span<const double> given, std::int64_t sites, double mass) {
    std::vector<double> all(given.begin(), given.end());
    if (all.empty()) all.assign(static_cast<std::size_t>(sites), 1);
    const double largest = *std::max_element(all.begin(), all.end());
    for (double& each : all) each /= largest;
    const double sum = std::accumulate(all.begin(), all.end(), 0.);
    for (double& each : all) each *= mass / sum;
    return all;
}

void check_capacities(std::span<const double> capacities, std::int64_t sites) {
    if (capacities.empty()) return;
    if (std::ssize(capacities) != sites)
        fail(fmt::format("capacities has {} values; expected {}, one a site", capacities.size(), sites));
    const auto [least, largest] = std::minmax_element(capacities.begin(), capacities.end());
    for (std::size_t i = 0; i < capacities.size(); ++i)
        if (!(capacities[i] > 0 && std::isfinite(capacities[i])))
            fail(fmt::format("capacities has {} at row {}; give finite numbers above 0", capacities[i], i));
    if (*largest > 1e12 * *least)
        fail(fmt::format("capacities go from {} to {}; give a ratio up to 1e12", *least, *largest));
}

std::vector<std::uint16_t> masses_of(const problem& p, const std::uint16_t* density) {
    std::vector<std::uint16_t> all;
    all.reserve(static_cast<std::size_t>(p.parts()));
    for (std::int64_t part = 0; part < p.parts(); ++part) all.push_back(density[cell_of(p, part)]);
    return all;
}

/// Counts memory in a rehearsal: one diagram and the arrays of parts.
void rehearse(engine& by, const problem& p) {
    const host_scratch<std::uint16_t> mass(p.parts());
    const host_scratch<std::int32_t> label(p.parts()), number(p.parts());
    by.owners(p, {0}, {0}, label.get());
    rehearse_step("Newton's steps, each a diagram, then single parts; 40 bytes for each part at an end of a region");
}

template <class Place>
capacity_regions solve(const Place& on, const any_input<Place>& density, const any_input<host>& sites,
                       std::span<const double> capacities, const centroidal_options& options) {
    const problem p = checked_for_capacities(density, sites, options);
    check_capacities(capacities, p.sites);
    std::function<bool(double)> told;
    host here{};
    if constexpr (std::is_same_v<Place, host>) told = on.progress, here.threads = on.threads;
    capacity_regions made;
    with_image(on, density, [&](const any_input<host>& read) {
        const host_scratch<std::uint16_t> cells = density_of(here, read);
        if (rehearsing() != nullptr) return rehearse(*engine_of(on, cells.get(), p.cells()), p);
        const std::vector<std::uint16_t> mass = masses_of(p, cells.get());
        const auto massive = std::count_if(mass.begin(), mass.end(), [](std::uint16_t each) { return each > 0; });
        if (massive < p.sites)
            fail(
                fmt::format("sites has {} rows, but only {} parts of the density are above 0; give fewer sites, or a "
                            "larger supersample",
                            p.sites, massive));
        const double all = std::accumulate(mass.begin(), mass.end(), 0.);
        const auto by = engine_of(on, cells.get(), p.cells());
        made = capacity_solver(here, *by, p, mass.data(), parts_of(p, sites), capacities_of(capacities, p.sites, all),
                               told)
                   .solve();
    });
    return made;
}

}  // namespace
}  // namespace centroidal

capacity_regions capacity_voronoi(const host& on, const any_input<host>& density, const any_input<host>& sites,
                                  std::span<const double> capacities, const centroidal_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    return in_call([&] { return centroidal::solve(on, density, sites, capacities, options); });
}
capacity_regions capacity_voronoi(const device& on, const any_input<device>& density, const any_input<host>& sites,
                                  std::span<const double> capacities, const centroidal_options& options) {
    return in_call([&] { return centroidal::solve(on, density, sites, capacities, options); });
}

}  // namespace nearfield
