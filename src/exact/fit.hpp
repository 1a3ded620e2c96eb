// Advice in out-of-memory errors: the largest part of the call that would fit.
#pragma once

#include <cstdint>
#include <string>

#include "exact/plan.hpp"

namespace nearfield::exact {

/// Returns the same problem with fewer cells along its first axis (the batch, or the first axis that is searched). Its
/// numbers and bounds stay those of the whole, so that its needs are never understated.
inline plan with_first_axis(const plan& p, std::int64_t size) {
    plan smaller = p;
    smaller.cells = p.cells / p.size[0] * size;
    smaller.size[0] = size;
    return smaller;
}

/// Returns one sentence: how much of the first axis fits into a workspace of `free_bytes`. `bytes_of(plan)` returns the
/// need; `otherwise` is another remedy.
template <class BytesOf>
std::string what_fits(const plan& p, std::int64_t free_bytes, const BytesOf& bytes_of,
                      const std::string& otherwise = "use host{}") {
    std::int64_t low = 0, high = p.size[0] - 1;
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (bytes_of(with_first_axis(p, middle)) <= free_bytes) low = middle;
        else high = middle - 1;
    }
    const std::string whole = std::to_string(p.size[0]) +
                              (p.first_axis > 0 ? " images along batch axis " : " cells along axis ") +
                              std::to_string(p.source_axis[0]);
    if (low == 0) return "; not even one of the " + whole + " would fit: free memory, or " + otherwise;
    return "; up to " + std::to_string(low) + " of the " + whole + " would fit: " +
           (p.first_axis > 0 ? "solve the batch in parts" : "free memory, ask for fewer fields, or " + otherwise);
}

}  // namespace nearfield::exact
