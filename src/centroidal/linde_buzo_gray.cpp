#include "centroidal/linde_buzo_gray.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace nearfield::centroidal {
namespace {

constexpr int first_hysteresis = 600, hysteresis_a_round = 10;  // thousandths of a share

double number(int128 x) {
    return static_cast<double>(static_cast<std::int64_t>(x >> 64)) * 18446744073709551616.0 +
           static_cast<double>(static_cast<std::uint64_t>(x));
}

}  // namespace

way main_axis(const problem& p, const moments& of) {
    // Central second moments per unit of mass, in squared units of the spacing.
    const double mass = static_cast<double>(of.of.mass);
    double mean[3], length[3], m[3][3];
    for (int i = 0; i < 3; ++i) {
        length[i] = std::sqrt(static_cast<double>(p.weight[i]));
        mean[i] = static_cast<double>(of.of.first[i]) / mass;
    }
    for (int i = 0, k = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j, ++k)
            m[i][j] = m[j][i] = (number(of.second[k]) / mass - mean[i] * mean[j]) * (length[i] * length[j]);
    // Power iteration turns any vector to the matrix's main axis; it begins with the longest column.
    int longest = 2;
    for (int i = 1; i >= 0; --i) longest = m[i][i] > m[longest][longest] ? i : longest;
    double v[3] = {m[0][longest], m[1][longest], m[2][longest]}, value = 0;
    for (int round = 0; round < 24; ++round) {
        double next[3], most = 0;
        for (int i = 0; i < 3; ++i) {
            next[i] = (m[i][0] * v[0] + m[i][1] * v[1]) + m[i][2] * v[2];
            most = std::max(most, std::abs(next[i]));
        }
        if (!(most > 0)) break;
        for (int i = 0; i < 3; ++i) v[i] = next[i] / most;
        value = most;
    }
    const double norm = std::sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
    way found{};
    constexpr double half_of_a_bar = 0.8660254037844386;  // in standard deviations
    for (int i = 0; i < 3 && norm > 0; ++i)
        found.along[i] = half_of_a_bar * std::sqrt(std::max(value, 0.0)) * v[i] / norm / length[i];
    return found;
}

linde_buzo_gray::linde_buzo_gray(const problem& p, const std::uint16_t* density, engine& engine, std::uint64_t shares)
    : p_(p), density_(density), engine_(engine), shares_(shares), taken_(static_cast<std::size_t>(p.parts())) {
    for (std::int64_t i = 0; i < p.cells(); ++i) all_ += density[i];
    all_ *= static_cast<uint128>(p.factor[0] * p.factor[1] * p.factor[2]);
    place middle{};
    for (int axis = 0; axis < 3; ++axis) middle.at[axis] = static_cast<std::int32_t>(p.size[axis] / 2);
    sites_ = {part_of(p, middle)};
}

bool linde_buzo_gray::add(std::int32_t part) {
    const auto at = static_cast<std::size_t>(part);
    if (taken_[at]) return false;
    taken_[at] = true;
    made_.push_back(part);
    return true;
}

void linde_buzo_gray::follow(const std::vector<moments>& found, const std::vector<fate>& fates) {
    for (std::size_t i = 0; i < sites_.size(); ++i) {
        const place from = place_of(p_, sites_[i]);
        if (fates[i] == fate::goes) continue;
        if (fates[i] == fate::stays) {
            if (!add(target_of(p_, from, found[i].of, problem::one))) add(sites_[i]);
            continue;
        }
        const way by = main_axis(p_, found[i]);
        for (const int side : {-1, 1}) {
            place to = from;
            for (int axis = 0; axis < 3; ++axis) {
                const double centroid =
                    static_cast<double>(found[i].of.first[axis]) / static_cast<double>(found[i].of.mass);
                const std::int64_t n = p_.size[axis],
                                   at = from.at[axis] + std::llround(centroid + side * by.along[axis]);
                to.at[axis] = static_cast<std::int32_t>(p_.wraps[axis] ? (at % n + n) % n
                                                                       : std::clamp<std::int64_t>(at, 0, n - 1));
            }
            add(part_of(p_, to));
        }
    }
    finish();
}

bool linde_buzo_gray::round(int number) {
    const std::vector<moments> found = engine_.measure(p_, sites_);
    const int h = std::min(first_hysteresis + hysteresis_a_round * number, 2000);
    std::vector<fate> fates(sites_.size(), fate::stays);
    bool changed = false, other = false;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
        const uint128 own = static_cast<uint128>(found[i].of.mass) * 2000 * shares_;
        if (own < all_ * static_cast<uint128>(2000 - h)) {
            // Drops every other one: halves of one region lie next to each other, and one of them is enough.
            other = !other || own == 0;
            if (other) fates[i] = fate::goes;
        } else if (own > all_ * static_cast<uint128>(2000 + h) && found[i].parts > 1) fates[i] = fate::splits;
        changed = changed || fates[i] != fate::stays;
    }
    follow(found, fates);
    return changed;
}

void linde_buzo_gray::settle_on(std::int64_t points) {
    for (int tries = 0; tries < 16 && std::ssize(sites_) != points; ++tries) {
        const std::vector<moments> found = engine_.measure(p_, sites_);
        std::vector<std::size_t> order(sites_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const bool fewer = std::ssize(sites_) > points;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return fewer ? found[a].of.mass < found[b].of.mass : found[a].of.mass > found[b].of.mass;
        });
        std::vector<fate> fates(sites_.size(), fate::stays);
        const std::int64_t missing = std::abs(std::ssize(sites_) - points);
        for (std::size_t k = 0; k < order.size() && std::cmp_less(k, missing); ++k)
            if (fewer || found[order[k]].parts > 1) fates[order[k]] = fewer ? fate::goes : fate::splits;
        follow(found, fates);
    }
    fill_up(points);
}

void linde_buzo_gray::fill_up(std::int64_t points) {
    made_.swap(sites_);
    for (const std::int32_t each : made_) taken_[static_cast<std::size_t>(each)] = true;
    for (std::int64_t part = 0; part < p_.parts() && std::ssize(made_) < points; ++part)
        if (density_[cell_of(p_, part)] > 0) add(static_cast<std::int32_t>(part));
    finish();
}

void linde_buzo_gray::finish() {
    for (const std::int32_t each : made_) taken_[static_cast<std::size_t>(each)] = false;
    sites_.swap(made_);
    made_.clear();
}

}  // namespace nearfield::centroidal
