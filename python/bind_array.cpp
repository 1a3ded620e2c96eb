#include "python/bind_array.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "nearfield/error.hpp"

namespace nearfield::python {
namespace {

void fill(array* made, std::uintptr_t data, const std::string& type, const std::vector<std::int64_t>& shape,
          const std::optional<std::vector<std::int64_t>>& strides, nb::object owner) {
    if (shape.empty() || shape.size() > made->shape.size())
        throw error(error_code::invalid_argument, "the array has " + std::to_string(shape.size()) +
                                                      " axes; give an array of 1 to " + std::to_string(max_rank) +
                                                      " axes");
    if (strides && strides->size() != shape.size())
        throw error(error_code::invalid_argument, "an array needs as many strides as axes");
    new (made) array;
    made->data = data, made->type = dtype_named(type), made->rank = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), made->shape.begin());
    std::int64_t step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        made->stride[axis] = strides ? (*strides)[axis] : step;
        step *= std::max<std::int64_t>(shape[axis], 1);
    }
    made->owner = std::move(owner);
}

std::string name_of_type(nb::dlpack::dtype type) {
    using code = nb::dlpack::dtype_code;
    if (type.lanes != 1) return "vector";
    switch (static_cast<code>(type.code)) {
        case code::Bool: return "bool";
        case code::Int: return "int" + std::to_string(type.bits);
        case code::UInt: return "uint" + std::to_string(type.bits);
        case code::Float: return "float" + std::to_string(type.bits);
        default: return "of DLPack code " + std::to_string(type.code);
    }
}

/// Content of a DLPack capsule; the capsule's memory lives as long as the array.
array array_of(const nb::ndarray<nb::ro>& capsule) {
    array made;
    made.data = reinterpret_cast<std::uintptr_t>(capsule.data());
    made.type = dtype_named(name_of_type(capsule.dtype()));
    if (capsule.ndim() < 1 || capsule.ndim() > made.shape.size())
        throw error(error_code::invalid_argument, "the array has " + std::to_string(capsule.ndim()) + " axes");
    made.rank = static_cast<int>(capsule.ndim());
    for (std::size_t axis = 0; axis < capsule.ndim(); ++axis)
        made.shape[axis] = static_cast<std::int64_t>(capsule.shape(axis)), made.stride[axis] = capsule.stride(axis);
    made.owner = nb::capsule(new nb::ndarray<nb::ro>(capsule),
                             [](void* held) noexcept { delete static_cast<nb::ndarray<nb::ro>*>(held); });
    return made;
}

}  // namespace

dtype dtype_named(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(dtype::float64); ++i)
        if (name == name_of(static_cast<dtype>(i))) return static_cast<dtype>(i);
    throw error(error_code::invalid_argument,
                "element type " + name +
                    " is not one of bool, int8 to int64, uint8 to uint64, float16 to float64; convert the array first");
}

void bind_array(nb::module_& module) {
    module.def("array_of", &array_of, nb::arg("capsule"), "What a DLPack capsule holds.");
    nb::class_<array>(module, "Array", "Memory that someone else owns, as the library sees it. Strides count elements.")
        .def("__init__", &fill, nb::arg("data"), nb::arg("dtype"), nb::arg("shape"),
             nb::arg("strides").none() = nb::none(), nb::arg("owner").none() = nb::none())
        .def_prop_ro("dtype", [](const array& a) { return std::string(name_of(a.type)); })
        .def_prop_ro("data", [](const array& a) { return a.data; })
        .def_prop_ro("shape", [](const array& a) {
            nb::list sizes;
            for (int axis = 0; axis < a.rank; ++axis) sizes.append(a.shape[static_cast<std::size_t>(axis)]);
            return nb::tuple(sizes);
        });
}

}  // namespace nearfield::python
