// Random inputs of geodesic distances, mazes, and how the host solves them.
#pragma once

#include "geodesic/dijkstra.hpp"

namespace nearfield::test {

/// Of 1 to 4 axes, the longest of two `longest_2d`.
geodesic_case drawn(std::uint64_t seed, std::int64_t longest_2d);

/// A perfect maze of n * n cells whose corridors are `wide`; a seed in its first corridor, steps along the axes.
geodesic_case maze(std::uint64_t seed, std::int64_t n, std::int64_t wide);

/// A corridor one cell wide that winds through n * n cells to the middle; `way` has its cells, the seed first.
geodesic_case spiral(std::int64_t n, std::vector<std::int64_t>& way);

/// As the oracle has it; `sites`: the seeds too, which takes another path through the library.
geodesic_result on_host(const geodesic_case& c, int threads, bool sites = true);

}  // namespace nearfield::test
