#include "centroidal/cases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "scale.hpp"

namespace nearfield::test {
namespace {

__extension__ using big = __int128;
using place3 = std::array<std::int64_t, 3>;

/// A case with three axes, and the results of its definition.
struct by_definition {
    place3 size{1, 1, 1}, factor{1, 1, 1}, weight{1, 1, 1};
    std::array<bool, 3> wraps{};
    std::vector<std::int64_t> density;  // by part
    std::vector<place3> sites;
    std::vector<std::size_t> owner;  // by part
    std::vector<std::int64_t> mass;
    std::vector<std::array<big, 3>> first;
    big energy = 0;

    explicit by_definition(const centroidal_case& c);
    [[nodiscard]] std::int64_t step(std::size_t k, std::int64_t from, std::int64_t to) const {
        std::int64_t best = to - from;
        for (const std::int64_t turn : {-size[k], size[k]})
            if (const std::int64_t other = to - from + turn;
                wraps[k] && (std::abs(other) < std::abs(best) || (std::abs(other) == std::abs(best) && other > best)))
                best = other;
        return best;
    }
    void assign();
    void move(std::int64_t relax);
    [[nodiscard]] std::int64_t target(std::size_t site, std::size_t k, std::int64_t relax) const;
};

by_definition::by_definition(const centroidal_case& c) {
    const std::size_t axes = c.shape.size();
    for (std::size_t k = 0; k < axes; ++k) {
        const std::size_t to = 3 - axes + k;
        factor[to] = c.supersample, size[to] = c.shape[k] * c.supersample;
        wraps[to] = !c.ends.empty() && c.ends[k] == border::periodic;
        if (!c.spacing.empty()) weight[to] = static_cast<std::int64_t>(c.spacing[k] * c.spacing[k]);
    }
    for (std::int64_t z = 0; z < size[0]; ++z)
        for (std::int64_t y = 0; y < size[1]; ++y)
            for (std::int64_t x = 0; x < size[2]; ++x)
                density.push_back(c.density[static_cast<std::size_t>(
                    ((z / factor[0]) * (size[1] / factor[1]) + y / factor[1]) * (size[2] / factor[2]) +
                    x / factor[2])]);
    for (std::int64_t i = 0; i < c.count(); ++i) {
        place3 at{};
        for (std::size_t k = 0; k < axes; ++k) at[3 - axes + k] = c.sites[static_cast<std::size_t>(i) * axes + k];
        sites.push_back(at);
    }
}

void by_definition::assign() {
    owner.assign(density.size(), 0), mass.assign(sites.size(), 0), first.assign(sites.size(), {}), energy = 0;
    for (std::size_t part = 0; part < density.size(); ++part) {
        const auto i = static_cast<std::int64_t>(part);
        const place3 at{i / size[2] / size[1], i / size[2] % size[1], i % size[2]};
        std::int64_t least2 = -1;
        for (std::size_t s = 0; s < sites.size(); ++s) {
            std::int64_t away2 = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                const std::int64_t d = step(k, sites[s][k], at[k]);
                away2 += weight[k] * d * d;
            }
            const place3 &a = sites[s], &b = sites[owner[part]];
            const bool before = std::tuple(a[2], a[1], a[0]) < std::tuple(b[2], b[1], b[0]);
            if (least2 < 0 || away2 < least2 || (away2 == least2 && before)) least2 = away2, owner[part] = s;
        }
        mass[owner[part]] += density[part], energy += static_cast<big>(density[part]) * least2;
        for (std::size_t k = 0; k < 3; ++k)
            first[owner[part]][k] += static_cast<big>(density[part]) * step(k, sites[owner[part]][k], at[k]);
    }
}

/// The coordinate t with the least |t - goal|, the smaller of two, where goal = site + relax / 256 * first / mass.
std::int64_t by_definition::target(std::size_t site, std::size_t k, std::int64_t relax) const {
    const big den = static_cast<big>(256) * mass[site], goal = first[site][k] * relax;
    const auto error = [&](std::int64_t by) { return by * den > goal ? by * den - goal : goal - by * den; };
    std::int64_t best = -3 * size[k];
    for (std::int64_t by = best + 1; by <= 3 * size[k]; ++by)
        if (error(by) < error(best)) best = by;
    std::int64_t to = sites[site][k] + best;
    if (wraps[k]) return ((to % size[k]) + size[k]) % size[k];
    return std::max<std::int64_t>(0, std::min(size[k] - 1, to));
}

void by_definition::move(std::int64_t relax) {
    std::vector<place3> wanted = sites;
    for (std::size_t s = 0; s < sites.size(); ++s)
        for (std::size_t k = 0; k < 3 && mass[s] > 0; ++k) wanted[s][k] = target(s, k, relax);
    const std::set<place3> occupied(sites.begin(), sites.end());
    std::set<place3> claimed;
    for (std::size_t s = 0; s < sites.size(); ++s)
        if (!occupied.contains(wanted[s]) && claimed.insert(wanted[s]).second) sites[s] = wanted[s];
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<std::uint16_t>& value) {
    std::vector<std::byte> bytes(value.size() * sizeof(T));
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto one = static_cast<T>(value[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
    }
    return bytes;
}

}  // namespace

std::vector<std::byte> centroidal_case::packed() const {
    return type == dtype::uint16 ? bytes_of<std::uint16_t>(density) : bytes_of<std::uint8_t>(density);
}

centroidal_fields<host> centroidal_answer::fields(const centroidal_case& c) {
    const std::int64_t n[] = {c.count(), std::ssize(c.shape)}, two[] = {c.rounds + 1, 2};
    return {any_output<host>::contiguous(sites.data(), dtype::int32, n),
            any_output<host>::contiguous(weights.data(), dtype::int64, std::span(n, 1)),
            any_output<host>::contiguous(energy.data(), dtype::uint64, two),
            any_output<host>::contiguous(labels.data(), dtype::int32, c.shape)};
}

centroidal_answer expected(const centroidal_case& c) {
    by_definition d(c);
    centroidal_answer made(c);
    for (int round = 0; round <= c.rounds; ++round) {
        d.assign();
        made.energy[static_cast<std::size_t>(2 * round)] = static_cast<std::uint64_t>(d.energy >> 64);
        made.energy[static_cast<std::size_t>(2 * round + 1)] = static_cast<std::uint64_t>(d.energy);
        if (round < c.rounds)
            d.move(c.relax > 1 && round < 3 * c.rounds / 4 ? std::llround(c.relax * 256) : std::int64_t{256});
    }
    const std::size_t axes = c.shape.size();
    for (std::size_t s = 0; s < d.sites.size(); ++s) {
        made.weights[s] = d.mass[s];
        for (std::size_t k = 0; k < axes; ++k)
            made.sites[s * axes + k] = static_cast<std::int32_t>(d.sites[s][3 - axes + k]);
    }
    for (std::size_t i = 0; i < made.labels.size(); ++i) {
        std::int64_t cell = static_cast<std::int64_t>(i), part = 0, step = 1;
        for (std::size_t k = 3; k-- > 0;) {
            const std::int64_t cells = d.size[k] / d.factor[k];
            part += (cell % cells * d.factor[k] + d.factor[k] / 2) * step, step *= d.size[k], cell /= cells;
        }
        made.labels[i] = static_cast<std::int32_t>(d.owner[static_cast<std::size_t>(part)]);
    }
    return made;
}

centroidal_case drawn_centroidal_case(std::uint64_t seed) {
    std::uint64_t state = (seed + 7) << 20;
    const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>(mix(state++) % n); };
    centroidal_case c;
    const auto axes = static_cast<std::size_t>(1 + draw(3));
    constexpr std::uint64_t longest[] = {60, 14, 6};
    c.supersample = draw(3) == 0 ? static_cast<int>(1 + draw(3)) : 1;
    for (std::size_t k = 0; k < axes; ++k) {
        c.shape.push_back(1 + draw(longest[axes - 1] / static_cast<std::uint64_t>(c.supersample > 1 ? 2 : 1)));
        c.ends.push_back(draw(2) == 0 ? border::periodic : border::open);
        c.spacing.push_back(static_cast<double>(1 + draw(4)));
    }
    if (draw(2) == 0) c.spacing.clear();
    constexpr dtype types[] = {dtype::boolean, dtype::uint8, dtype::uint16};
    const auto kind = static_cast<std::size_t>(draw(3));
    constexpr std::uint64_t values[] = {2, 256, 65536};
    c.type = types[kind];
    const bool full = draw(4) == 0, sparse = draw(3) == 0;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
        c.density.push_back(full                     ? static_cast<std::uint16_t>(values[kind] - 1)
                            : sparse && draw(4) != 0 ? std::uint16_t{0}
                                                     : static_cast<std::uint16_t>(draw(values[kind])));
    c.rounds = static_cast<int>(draw(7));
    constexpr double relax[] = {1, 1, 1.5, 1.9, 2};
    c.relax = relax[draw(5)];
    std::int64_t parts = cells_of(c.shape);
    for (std::size_t k = 0; k < axes; ++k) parts *= c.supersample;
    std::int64_t n = 1 + draw(static_cast<std::uint64_t>(draw(3) == 0 ? parts : std::min<std::int64_t>(parts, 12)));
    for (std::int64_t part = 0; part < parts; ++part) {  // selects any n parts, which are shuffled later
        if (draw(static_cast<std::uint64_t>(parts - part)) >= n) continue;
        --n;
        std::int64_t rest = part;
        std::vector<std::int32_t> at(axes);
        for (std::size_t k = axes; k-- > 0;) {
            at[k] = static_cast<std::int32_t>(rest % (c.shape[k] * c.supersample));
            rest /= c.shape[k] * c.supersample;
        }
        c.sites.insert(draw(2) == 0 ? c.sites.begin() : c.sites.end(), at.begin(), at.end());
    }
    return c;
}

centroidal_case large_centroidal_case(const shape_t& shape, std::int64_t sites, std::uint64_t seed) {
    centroidal_case c;
    c.shape = shape;
    const std::int64_t cells = cells_of(shape);
    for (std::int64_t i = 0; i < cells; ++i) {
        double wave = 1;
        std::int64_t rest = i;
        for (std::size_t k = shape.size(); k-- > 0;) {
            wave *= 1 + std::sin(static_cast<double>(rest % shape[k]) * 0.11 + static_cast<double>(seed));
            rest /= shape[k];
        }
        c.density.push_back(static_cast<std::uint16_t>(std::lround(255 * wave / std::exp2(shape.size()))));
    }
    std::set<std::int64_t> taken;
    for (std::uint64_t k = 0; std::cmp_less(taken.size(), sites); ++k)
        taken.insert(static_cast<std::int64_t>(mix(mix(seed) + k) % static_cast<std::uint64_t>(cells)));
    for (std::int64_t cell : taken) {
        std::vector<std::int32_t> at(shape.size());
        for (std::size_t k = shape.size(); k-- > 0;)
            at[k] = static_cast<std::int32_t>(cell % shape[k]), cell /= shape[k];
        c.sites.insert(c.sites.end(), at.begin(), at.end());
    }
    return c;
}

void check_centroidal(const centroidal_runner& run, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        const centroidal_case c = drawn_centroidal_case(seed);
        const centroidal_answer came = run(c), wanted = expected(c);
        ASSERT_EQ(came.energy, wanted.energy) << "seed " << seed;
        ASSERT_EQ(came.sites, wanted.sites) << "seed " << seed;
        ASSERT_EQ(came.weights, wanted.weights) << "seed " << seed;
        ASSERT_EQ(came.labels, wanted.labels) << "seed " << seed;
    }
}

}  // namespace nearfield::test
