// Iterates over the values of an array of any type.
#pragma once

#include "cli/values.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

/// Calls use(number of the element, its value as a double) for all elements in C order.
template <class Use>
void for_each_value(const io::array& from, const Use& use) {
    with_elements(from.data.get(), from.type, [&](const auto* element) {
        for (std::int64_t i = 0; i < from.cells(); ++i) use(i, static_cast<double>(element[i]));
    });
}

}  // namespace nearfield::cli
