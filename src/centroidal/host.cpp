// On the host: the exact engine finds regions, runs of parts sum their moments, sites move one by one.
#include <algorithm>
#include <array>

#include "base/lines.hpp"
#include "base/rehearsal.hpp"
#include "centroidal/host_regions.hpp"
#include "centroidal/room.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield::centroidal {

host_scratch<std::uint16_t> density_of(const host& on, const any_input<host>& density) {
    host_scratch<std::uint16_t> made(density.cells());
    const cell_offsets at(density.shape.data(), density.stride.data(), density.rank);
    const host quiet{on.threads, {}};
    workers team(quiet, density.cells());
    team.for_each(density.cells(), 1 << 16, 1, [&](std::int64_t first, std::int64_t last, int) {
        const auto* const bytes = static_cast<const std::uint8_t*>(density.data);
        const auto* const words = static_cast<const std::uint16_t*>(density.data);
        const bool wide = density.type == dtype::uint16;
        for (std::int64_t i = first; i < last; ++i) made.get()[i] = wide ? words[at.of(i)] : bytes[at.of(i)];
    });
    return made;
}

std::vector<std::int32_t> parts_of(const problem& p, const any_input<host>& sites) {
    std::vector<std::int32_t> parts(static_cast<std::size_t>(p.sites));
    const auto* const from = static_cast<const std::int32_t*>(sites.data);
    for (std::int64_t i = 0; i < p.sites; ++i) {
        place at{};
        for (int axis = 0; axis < p.axes; ++axis)
            at.at[3 - p.axes + axis] = from[i * sites.stride[0] + axis * sites.stride[1]];
        parts[static_cast<std::size_t>(i)] = part_of(p, at);
    }
    return parts;
}

regions::regions(const host& on, const problem& p)
    : on_{on.threads, {}}, p_(p), seed_(p.parts()), nearest_(p.parts()), number_(p.parts()) {
    clear_scratch(seed_.get(), p.parts());
    if (rehearsing() == nullptr) std::fill_n(number_.get(), p.parts(), -1);
}

void regions::put(std::span<const std::int32_t> sites) {
    for (const place& each : place_) {
        const std::int32_t part = part_of(p_, each);
        seed_.get()[part] = 0, number_.get()[part] = -1;
    }
    place_.clear();
    for (std::size_t i = 0; i < sites.size(); ++i) {
        seed_.get()[sites[i]] = 1, number_.get()[sites[i]] = static_cast<std::int32_t>(i);
        place_.push_back(place_of(p_, sites[i]));
    }
}

std::int64_t regions::move(std::span<std::int32_t> sites, std::span<const sums> of, std::int64_t relax) {
    // A target is taken at once; the part that a site leaves becomes free only after all sites have chosen.
    std::vector<std::array<std::int32_t, 2>> moved;  // the site and its old part
    for (std::size_t i = 0; i < sites.size(); ++i) {
        const std::int32_t to = target_of(p_, place_[i], of[i], relax);
        if (number_.get()[to] >= 0) continue;
        number_.get()[to] = static_cast<std::int32_t>(i);
        moved.push_back({static_cast<std::int32_t>(i), sites[i]});
        sites[i] = to, place_[i] = place_of(p_, to);
    }
    for (const auto& [site, from] : moved) {
        number_.get()[from] = -1, seed_.get()[from] = 0;
        seed_.get()[sites[static_cast<std::size_t>(site)]] = 1;
    }
    return std::ssize(moved);
}

void regions::find() {
    const std::span<const std::int64_t> shape(p_.size + 3 - p_.axes, static_cast<std::size_t>(p_.axes));
    fields<host> wanted;
    wanted.index = any_output<host>::contiguous(nearest_.get(), dtype::int32, shape);
    distance_transform(on_, any_input<host>::contiguous(seed_.get(), dtype::uint8, shape), wanted, p_.engine);
}

namespace {

uint128 energy_of(const problem& p, const run_sums& run) {
    std::uint64_t others = 0;
    for (int axis = 0; axis < 2; ++axis)
        others += static_cast<std::uint64_t>(p.weight[axis] * (run.step[axis] * run.step[axis]));
    return static_cast<uint128>(others) * run.mass + static_cast<uint128>(p.weight[2]) * run.second;
}

/// Sums over a region; those of 128 bits are kept as two of 64, of each term's low 32 bits and of the rest.
struct region_sums {
    sums of;
    std::uint64_t parts = 0, low[6] = {}, high[6] = {};

    void add(const run_sums& run, bool shared) {
        const auto mass = static_cast<std::int64_t>(run.mass);
        add_to(of.mass, run.mass, shared), add_to(parts, static_cast<std::uint64_t>(run.parts), shared);
        add_to(of.first[0], mass * run.step[0], shared), add_to(of.first[1], mass * run.step[1], shared);
        add_to(of.first[2], run.first, shared);
        const auto square = [&](int i, int j) { return static_cast<int128>(mass) * (run.step[i] * run.step[j]); };
        const int128 terms[] = {square(0, 0),
                                square(0, 1),
                                static_cast<int128>(run.first) * run.step[0],
                                square(1, 1),
                                static_cast<int128>(run.first) * run.step[1],
                                static_cast<int128>(run.second)};
        for (int k = 0; k < 6; ++k) {
            add_to(low[k], static_cast<std::uint64_t>(terms[k]) & 0xffffffffu, shared);
            add_to(high[k], static_cast<std::uint64_t>(terms[k] >> 32), shared);
        }
    }
    [[nodiscard]] moments found() const { return moments_of(of, parts, low, high); }
};

/// A thread's share of the energy, in a cache line of its own.
struct alignas(128) partial {
    uint128 energy = 0;
};

/// Runs the rounds, and writes the outputs.
class solver {
public:
    solver(const host& on, const problem& p, const std::uint16_t* density, std::vector<std::int32_t> sites)
        : on_(on), p_(p), density_(density), diagram_(on, p), sites_(std::move(sites)), sums_(sites_.size()) {
        diagram_.put(sites_);
    }

    void solve(const sites_told& told) {
        energy_.push_back(measured());
        rehearse_step("sums over regions; sites move, and so in every round");
        if (rehearsing() != nullptr) return;
        for (int round = 0; round < p_.rounds; ++round) {
            const bool plain = round >= p_.relaxed;
            if (diagram_.move(sites_, sums_, p_.relax_of(round)) == 0 && plain) break;
            energy_.push_back(measured());
            const auto last = energy_.rbegin();
            if (plain && has_settled(p_, last[1], last[0])) break;
            if (told) told(sites_);
        }
    }

    [[nodiscard]] const std::vector<std::int32_t>& sites() const { return sites_; }
    [[nodiscard]] const std::vector<uint128>& energy() const { return energy_; }
    [[nodiscard]] std::vector<std::int64_t> weights() const {
        std::vector<std::int64_t> all;
        all.reserve(sums_.size());
        for (const sums& each : sums_) all.push_back(static_cast<std::int64_t>(each.mass));
        return all;
    }
    [[nodiscard]] std::int32_t owner(std::int64_t part) const { return diagram_.owner(part); }

private:
    uint128 measured();

    const host& on_;
    const problem& p_;
    const std::uint16_t* density_;
    regions diagram_;
    std::vector<std::int32_t> sites_;
    std::vector<sums> sums_;
    std::vector<uint128> energy_;
};

uint128 solver::measured() {
    diagram_.find();
    std::fill(sums_.begin(), sums_.end(), sums{});
    std::vector<partial> parts(static_cast<std::size_t>(diagram_.threads()));
    const bool shared = parts.size() > 1;
    diagram_.for_each_run(density_, [&](std::int32_t site, const run_sums& run, int thread) {
        sums& to = sums_[static_cast<std::size_t>(site)];
        add_to(to.mass, run.mass, shared), add_to(to.first[2], run.first, shared);
        const auto mass = static_cast<std::int64_t>(run.mass);
        if (p_.size[0] > 1) add_to(to.first[0], mass * run.step[0], shared);
        add_to(to.first[1], mass * run.step[1], shared);
        parts[static_cast<std::size_t>(thread)].energy += energy_of(p_, run);
    });
    uint128 energy = 0;
    for (const partial& each : parts) energy += each.energy;
    return energy;
}

void write(const problem& p, const solver& from, const centroidal_fields<host>& out) {
    const std::vector<std::int64_t> weights = from.weights();
    for (std::int64_t i = 0; i < p.sites; ++i) {
        const place at = place_of(p, from.sites()[static_cast<std::size_t>(i)]);
        for (int axis = 0; axis < p.axes; ++axis)
            static_cast<std::int32_t*>(out.sites.data)[i * out.sites.stride[0] + axis * out.sites.stride[1]] =
                at.at[3 - p.axes + axis];
        if (out.weights.wanted())
            static_cast<std::int64_t*>(out.weights.data)[i * out.weights.stride[0]] =
                weights[static_cast<std::size_t>(i)];
    }
    for (std::int64_t k = 0; out.energy.wanted() && k <= p.rounds; ++k) {
        const uint128 energy = from.energy()[std::min(static_cast<std::size_t>(k), from.energy().size() - 1)];
        auto* const to = static_cast<std::uint64_t*>(out.energy.data) + k * out.energy.stride[0];
        to[0] = static_cast<std::uint64_t>(energy >> 64), to[out.energy.stride[1]] = static_cast<std::uint64_t>(energy);
    }
}

void write_labels(const host& on, const problem& p, const solver& from, const any_output<host>& out) {
    const cell_offsets at(out.shape.data(), out.stride.data(), out.rank);
    const host quiet{on.threads, {}};
    workers team(quiet, p.cells());
    team.for_each(p.cells(), 1 << 14, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t cell = first; cell < last; ++cell)
            static_cast<std::int32_t*>(out.data)[at.of(cell)] = from.owner(middle_of(p, cell));
    });
}

class host_engine : public engine {
public:
    host_engine(const host& on, const std::uint16_t* density) : on_{on.threads, {}}, density_(density) {}

    void lloyd(const problem& p, std::vector<std::int32_t>& sites, std::vector<std::int64_t>* weights,
               std::vector<uint128>* energy, const sites_told& told) override {
        solver one(on_, p, density_, sites);
        one.solve(told);
        sites = one.sites();
        if (weights != nullptr) *weights = one.weights();
        if (energy != nullptr) *energy = one.energy();
    }
    std::vector<moments> measure(const problem& p, const std::vector<std::int32_t>& sites) override {
        regions diagram(on_, p);
        diagram.put(sites);
        diagram.find();
        std::vector<region_sums> all(sites.size());
        const bool shared = diagram.threads() > 1;
        diagram.for_each_run(density_, [&](std::int32_t site, const run_sums& run, int) {
            all[static_cast<std::size_t>(site)].add(run, shared);
        });
        std::vector<moments> found;
        found.reserve(sites.size());
        for (const region_sums& each : all) found.push_back(each.found());
        return found;
    }
    void owners(const problem& p, const std::vector<std::int32_t>& sites, const std::vector<std::int64_t>& powers,
                std::int32_t* owner) override {
        const std::span<const std::int64_t> shape(p.size + 3 - p.axes, static_cast<std::size_t>(p.axes));
        if (seed_.get() == nullptr) {  // all power diagrams of an engine belong to one problem
            seed_ = host_scratch<std::uint8_t>(p.parts()), power_ = host_scratch<std::int64_t>(p.parts());
            clear_scratch(seed_.get(), p.parts());
        }
        for (std::size_t i = 0; i < sites.size(); ++i) seed_.get()[sites[i]] = 1, power_.get()[sites[i]] = powers[i];
        fields<host> wanted;
        wanted.index = any_output<host>::contiguous(owner, dtype::int32, shape);
        power_diagram(on_, any_input<host>::contiguous(seed_.get(), dtype::uint8, shape),
                      any_input<host>::contiguous(power_.get(), dtype::int64, shape), wanted, grid_of(p));
        for (const std::int32_t each : sites) seed_.get()[each] = 0;
    }

    std::vector<std::int32_t> samples(const problem& p, std::int64_t count, std::uint64_t seed) override {
        return centroidal::samples(p, density_, count, seed);
    }
    const std::uint16_t* density() override { return density_; }

private:
    const host on_;
    const std::uint16_t* density_;
    host_scratch<std::uint8_t> seed_;  ///< all 0 between calls
    host_scratch<std::int64_t> power_;
};

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& density, const any_input<host>& sites,
         const centroidal_fields<host>& out) {
    const host_scratch<std::uint16_t> cells = density_of(on, density);
    solver one(on, p, cells.get(), parts_of(p, sites));
    one.solve([&, round = 0](const std::vector<std::int32_t>&) mutable {
        if (on.progress && !on.progress(static_cast<double>(++round) / p.rounds))
            throw error(error_code::cancelled, "cancelled by the progress callback");
    });
    if (rehearsing() != nullptr) return;
    write(p, one, out);
    if (out.labels.wanted()) write_labels(on, p, one, out.labels);
}

std::unique_ptr<engine> engine_of(const host& on, const std::uint16_t* density, std::int64_t) {
    return std::make_unique<host_engine>(on, density);
}

inks inks_of(const host& on, const any_input<host>& image, std::span<const std::uint16_t> table, bool invert) {
    inks made{host_scratch<std::uint16_t>(image.cells()), host_scratch<std::uint16_t>(image.cells()), {}, {}};
    const auto full = std::ssize(table) - 1;
    const cell_offsets at(image.shape.data(), image.stride.data(), image.rank);
    const auto read = [&](const auto* from, const auto& offset) {
        std::uint64_t sum = 0;
        for (std::int64_t i = 0; i < image.cells(); ++i) {
            const std::int64_t value = from[offset(i)];
            const auto own = static_cast<std::uint16_t>(invert ? value : full - value);
            made.ink.get()[i] = own, made.density.get()[i] = table[own], sum += own, made.inked += own > 0 ? 1 : 0;
        }
        made.all = sum;
    };
    const auto read_all = [&](const auto* from) {
        if (is_contiguous(image.shape.data(), image.stride.data(), image.rank))
            read(from, [](std::int64_t i) { return i; });
        else read(from, [&](std::int64_t i) { return at.of(i); });
    };
    if (rehearsing() != nullptr) made.inked = image.cells(), made.all = static_cast<std::uint64_t>(full * made.inked);
    else if (image.type == dtype::uint16) read_all(static_cast<const std::uint16_t*>(image.data));
    else read_all(static_cast<const std::uint8_t*>(image.data));
    made.by_ink = engine_of(on, made.ink.get(), image.cells());
    made.by_density = engine_of(on, made.density.get(), image.cells());
    return made;
}
void with_image(const host&, const any_input<host>& image, const std::function<void(const any_input<host>&)>& use) {
    use(image);
}

}  // namespace nearfield::centroidal
