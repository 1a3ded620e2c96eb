// Memory of the vectors that calls return.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfield {

/// Makes the pages of memory that was allocated but not yet used, if it is large: on large pages, by several threads.
void make_pages(void* memory, std::int64_t bytes);

/// Gives an empty vector, which a call returns, its length.
template <class Vector>
void resize_result(Vector& result, std::int64_t length) {
    result.reserve(static_cast<std::size_t>(length));
    make_pages(result.data(), length * static_cast<std::int64_t>(sizeof(typename Vector::value_type)));
    result.resize(static_cast<std::size_t>(length));
}

}  // namespace nearfield
