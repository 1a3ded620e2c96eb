// Random inputs of geodesic distances, mazes, and their solution on the host.
#pragma once

#include "geodesic/dijkstra.hpp"

namespace nearfield::test {

/// Draws a case of 1 to 4 axes; with two axes the longest side is `longest_2d`.
geodesic_case drawn(std::uint64_t seed, std::int64_t longest_2d);

/// A perfect maze of n * n cells with corridors of width `wide`; a seed lies in its first corridor, steps follow axes.
geodesic_case maze(std::uint64_t seed, std::int64_t n, std::int64_t wide);

/// A corridor one cell wide that winds through n * n cells to the middle; `way` gets its cells from the seed on.
geodesic_case spiral(std::int64_t n, std::vector<std::int64_t>& way);

/// A grid without seeds, whose cells are all open or all closed; steps follow axes.
geodesic_case emptied(const shape_t& shape, bool open);

/// A spiral whose corridor and walls have width `wide`.
geodesic_case wide_spiral(std::int64_t n, std::int64_t wide);

/// Number of the first cell of the mask, or of all cells if there is none.
std::size_t first_free(const geodesic_case& c);

/// Solves a case, in the oracle's form; `sites` also asks for seeds, which takes another path through the library.
geodesic_result on_host(const geodesic_case& c, int threads, bool sites = true);

}  // namespace nearfield::test
