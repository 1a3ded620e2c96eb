// Random calls of centroidal_voronoi() and its definition: each part against each site, in integers throughout.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/centroidal.hpp"

namespace nearfield::test {

struct centroidal_case {
    shape_t shape;
    dtype type = dtype::uint8;
    std::vector<std::uint16_t> density;
    std::vector<std::int32_t> sites;  ///< rows of coordinates
    std::vector<double> spacing;
    std::vector<border> ends;
    int rounds = 0, supersample = 1;
    double relax = 1;

    [[nodiscard]] std::int64_t count() const { return std::ssize(sites) / std::ssize(shape); }
    [[nodiscard]] centroidal_options options() const {
        return {rounds,
                relax,
                0,
                supersample,
                spacing.empty() ? nearfield::spacing{} : nearfield::spacing(spacing.data(), spacing.size()),
                ends.empty() ? borders{} : borders(ends.data(), ends.size())};
    }
    /// The density's elements in their type, in C order.
    [[nodiscard]] std::vector<std::byte> packed() const;
};

struct centroidal_answer {
    std::vector<std::int32_t> sites;
    std::vector<std::int64_t> weights;
    std::vector<std::uint64_t> energy;
    std::vector<std::int32_t> labels;
    friend bool operator==(const centroidal_answer&, const centroidal_answer&) = default;

    explicit centroidal_answer(const centroidal_case& c)
        : sites(c.sites),
          weights(static_cast<std::size_t>(c.count())),
          energy(static_cast<std::size_t>(2 * (c.rounds + 1))),
          labels(c.density.size()) {}
    [[nodiscard]] centroidal_fields<host> fields(const centroidal_case& c);
};

using centroidal_runner = std::function<centroidal_answer(const centroidal_case&)>;

centroidal_answer expected(const centroidal_case& c);
/// Draws a call; the same seed gives the same call on every machine.
centroidal_case drawn_centroidal_case(std::uint64_t seed);
/// A density of blobs and sites drawn anywhere, for many rounds.
centroidal_case large_centroidal_case(const shape_t& shape, std::int64_t sites, std::uint64_t seed);
/// Checks the seeds [first, end); stops at the first wrong one.
void check_centroidal(const centroidal_runner& run, std::uint64_t first, std::uint64_t end);

}  // namespace nearfield::test
