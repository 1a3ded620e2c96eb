// An array of Python's, as the library sees it: a pointer, an element type, a shape and strides. The Python side
// (nearfield/_arrays.py) knows the memory's owner and device; nothing is copied.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "nearfield/grid.hpp"

namespace nearfield::python {

namespace nb = nanobind;

/// Maps "float32" to its dtype; throws invalid_argument for names that are no element type.
[[nodiscard]] dtype dtype_named(const std::string& name);

struct array {
    std::uintptr_t data = 0;
    dtype type = dtype::uint8;
    int rank = 0;
    std::array<std::int64_t, max_rank + 1> shape{}, stride{};  // in elements
    nb::object owner;                                          // kept alive as long as this is

    template <class Element, class Place>
    [[nodiscard]] any_view<Element, Place> view() const {
        any_view<Element, Place> v;
        v.data = reinterpret_cast<Element*>(data);
        v.type = type, v.rank = rank, v.shape = shape, v.stride = stride;
        return v;
    }
    [[nodiscard]] std::int64_t cells() const { return view<const void, host>().cells(); }
};

/// View of an array, which is None if it is not wanted.
template <class Element, class Place>
any_view<Element, Place> view_of(const array* a) {
    return a == nullptr ? any_view<Element, Place>{} : a->view<Element, Place>();
}

void bind_array(nb::module_& module);

}  // namespace nearfield::python
