// The share of a test's cases that run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace nearfield::test {

/// NEARFIELD_TEST_SCALE, 1 by default: a value below 1 runs that share of the cases, one above 1 adds random cases.
inline double test_scale() {
    const char* text = std::getenv("NEARFIELD_TEST_SCALE");
    return text != nullptr ? std::atof(text) : 1.0;
}

/// End of that share of the seeds [first, end); `end` for a scale of 1 or more.
inline std::uint64_t share(std::uint64_t first, std::uint64_t end) {
    return first +
           static_cast<std::uint64_t>(std::ceil(static_cast<double>(end - first) * std::min(test_scale(), 1.0)));
}

}  // namespace nearfield::test
