// The graph of basins that is kept for many questions: its interface, on both places, for keys of any width.
#pragma once

#include <memory>

#include "watershed/problem.hpp"

namespace nearfield::watersheds {

template <class Place>
class graph {
public:
    virtual ~graph() = default;
    [[nodiscard]] virtual std::vector<extremum> extrema(const height& least) const = 0;
    [[nodiscard]] virtual std::vector<peak> peaks(const height& least) const = 0;
    virtual void mark(const Place& on, const height& least, const target& out) const = 0;
    /// Computes the watershed from p's markers, or from the minima that p.least accepts.
    virtual void flood(const Place& on, const problem& p) = 0;
    [[nodiscard]] virtual std::vector<extinction> extinctions(attribute by, bool roots) const = 0;
    /// `least` is the test that a height must pass.
    virtual void cut(const Place& on, const cut_options& cut, const height& least, const target& out) = 0;
    [[nodiscard]] virtual std::vector<double> passes(const std::vector<std::int64_t>& a,
                                                     const std::vector<std::int64_t>& b) const = 0;
};

/// Purpose of a graph: extrema() or mark() of all minima, one question that may overwrite the graph, or many questions.
enum class asked : std::uint8_t { minima, once, often };

/// A graph that also reconstructs images.
class whole_graph : public graph<host> {
public:
    virtual void reconstruct(const host& on, const problem& p) const = 0;
};
std::unique_ptr<whole_graph> graph_of(const host& on, const problem& p, asked how);

/// Builds the graph on a device, which keeps the keys and basins of cells; the tree is on the host. All calls wait.
std::unique_ptr<graph<device>> graph_of(const device& on, const problem& p);

}  // namespace nearfield::watersheds
