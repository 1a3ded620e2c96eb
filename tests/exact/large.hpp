// Grids too large for the oracle: some of their cells are checked against every site by brute force.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "exact/cases.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {

/// A fill at an eighth of the resolution, enlarged, for sizes at which filling cell by cell would take
/// minutes.
inline flags_t enlarged(fill kind, const shape_t& shape, std::uint64_t seed) {
    constexpr std::int64_t block = 8;
    shape_t coarse = shape;
    for (std::int64_t& n : coarse) n = (n + block - 1) / block;
    const flags_t small = make_fill(kind, coarse, seed);
    flags_t sites(static_cast<std::size_t>(cells_of(shape)));
    const std::int64_t width = shape.back();
    for (std::int64_t row = 0; row < cells_of(shape) / width; ++row) {
        std::int64_t rest = row, from = 0, step = coarse.back();
        for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
            from += rest % shape[axis] / block * step;
            rest /= shape[axis];
            step *= coarse[axis];
        }
        for (std::int64_t x = 0; x < width; ++x) {
            sites[static_cast<std::size_t>(row * width + x)] = small[static_cast<std::size_t>(from + x / block)];
        }
    }
    return sites;
}

/// Chooses `count` cells: the first, the last, those around the 2^31st and the 2^32nd, and random ones.
inline std::vector<std::int64_t> sample_cells(std::int64_t cells, std::int64_t count, std::uint64_t seed) {
    std::vector<std::int64_t> list{0, cells - 1};
    for (int bits : {31, 32}) {
        for (std::int64_t d : {-1, 0, 1}) list.push_back((std::int64_t{1} << bits) + d);
    }
    for (std::int64_t k = 0; k < count; ++k) {
        list.push_back(
            static_cast<std::int64_t>(mix(seed + static_cast<std::uint64_t>(k)) % static_cast<std::uint64_t>(cells)));
    }
    std::erase_if(list, [&](std::int64_t cell) { return cell >= cells; });
    return list;
}

/// The engine's results for some cells.
struct sampled {
    std::vector<float> distance;
    std::vector<std::int64_t> index;  ///< empty if it is not wanted
};

/// Returns "" or a description of the first of `cells` with a wrong result.
inline std::string wrong_sample(const shape_t& shape, const std::vector<double>& spacing,
                                const std::vector<std::int64_t>& sites, const std::vector<std::int64_t>& cells,
                                const sampled& got) {
    const oracle::answer a = oracle::at_cells(shape, spacing, sites, cells);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        const auto expected = static_cast<float>(std::sqrt(a.squared[k]));
        const bool index_fits = got.index.empty() || got.index[k] == a.index[k];
        if (got.distance[k] == expected && index_fits) continue;
        std::ostringstream text;
        text.precision(12);
        text << text_of(shape) << ", cell " << cells[k] << ": distance " << got.distance[k] << ", expected "
             << expected;
        if (!index_fits) text << "; index " << got.index[k] << ", expected " << a.index[k];
        return text.str();
    }
    return {};
}

inline bool big_tests_wanted() {
    const char* text = std::getenv("NEARFIELD_TEST_BIG");
    return text != nullptr && std::string(text) == "1";
}

/// Bytes that can be allocated without swapping; 0 if /proc does not say.
inline std::int64_t available_memory() {
    std::ifstream info("/proc/meminfo");
    std::string key, unit;
    std::int64_t kib = 0;
    while (info >> key >> kib) {
        std::getline(info, unit);
        if (key == "MemAvailable:") return kib * 1024;
    }
    return 0;
}

}  // namespace nearfield::test
