// The graph of basins on the host, whatever its keys.
#pragma once

#include <memory>

#include "watershed/problem.hpp"

namespace nearfield::watersheds {

class graph {
public:
    virtual ~graph() = default;
    [[nodiscard]] virtual std::vector<extremum> extrema(const height& least) const = 0;
    virtual void mark(const host& on, const height& least, const target& out) const = 0;
    /// The watershed, from markers or from the minima of p.least.
    virtual void flood(const host& on, const problem& p) = 0;
    [[nodiscard]] virtual std::vector<extinction> extinctions(attribute by, bool roots) const = 0;
    /// `least`: what a height must reach.
    virtual void cut(const host& on, const cut_options& cut, const height& least, const target& out) = 0;
    virtual void reconstruct(const host& on, const problem& p) const = 0;
    [[nodiscard]] virtual std::vector<double> passes(const std::vector<std::int64_t>& a,
                                                     const std::vector<std::int64_t>& b) const = 0;
};

/// What a graph is made for: extrema() of every minimum alone, one question that may overwrite it, or many.
enum class asked : std::uint8_t { minima, once, often };

std::unique_ptr<graph> graph_of(const host& on, const problem& p, asked how);

}  // namespace nearfield::watersheds
