// How many of a test's cases are run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace nearfield::test {

/// NEARFIELD_TEST_SCALE, by default 1: below 1 only that share of the cases is run, above 1 there are more random ones.
inline double test_scale() {
    const char* text = std::getenv("NEARFIELD_TEST_SCALE");
    return text != nullptr ? std::atof(text) : 1.0;
}

/// Where that share of the seeds [first, end) ends; all of them from 1 on.
inline std::uint64_t share(std::uint64_t first, std::uint64_t end) {
    return first +
           static_cast<std::uint64_t>(std::ceil(static_cast<double>(end - first) * std::min(test_scale(), 1.0)));
}

}  // namespace nearfield::test
