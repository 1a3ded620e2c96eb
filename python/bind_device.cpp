#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "edge/device_arrays.hpp"
#include "edge/device_run.hpp"
#include "python/bind_call.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {
namespace {

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

/// Memory on a device, for frameworks whose arrays cannot be written.
struct device_memory {
    int ordinal;
    void* data;
    device_memory(int ordinal_, std::int64_t bytes) : ordinal(ordinal_), data(edge::reserve(ordinal_, bytes)) {}
    ~device_memory() {
        const unlocked released;
        edge::release(ordinal, data);
    }
    device_memory(const device_memory&) = delete;
    device_memory& operator=(const device_memory&) = delete;
};

/// DLPack's name of an element type.
nb::dlpack::dtype dlpack_type(dtype type) {
    using code = nb::dlpack::dtype_code;
    const std::string name = name_of(type);
    const code kind = type == dtype::boolean ? code::Bool
                      : name[0] == 'u'       ? code::UInt
                      : name[0] == 'i'       ? code::Int
                                             : code::Float;
    return {static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

/// Memory of ours as an array that exports DLPack capsules, which keep it alive.
nb::object device_array(nb::object memory, const std::vector<std::size_t>& shape, const std::string& type,
                        int ordinal) {
    const auto& bytes = nb::cast<const device_memory&>(memory);
    return nb::cast(nb::ndarray<nb::array_api>(bytes.data, shape.size(), shape.data(), memory, nullptr,
                                               dlpack_type(dtype_named(type)), nb::device::cuda::value, ordinal));
}

/// A point on a stream.
struct stream_mark {
    void* event;
    stream_mark(int ordinal, std::uintptr_t stream) : event(edge::mark(ordinal, pointer(stream))) {}
    ~stream_mark() { edge::forget(event); }
    stream_mark(const stream_mark&) = delete;
    stream_mark& operator=(const stream_mark&) = delete;
};

}  // namespace

void run_on_stream(const call& what, int ordinal, std::uintptr_t stream) {
    const unlocked released;
    const edge::current_device current(ordinal);
    edge::run(device{pointer(stream)}, what.work<device>());
}

void run_staged(const call& what, int ordinal) {
    const unlocked released;
    if (planning()) return edge::run(device{nullptr}, what.work<device>());
    edge::run_on_device(ordinal, what.work<host>(), 0, 1);
}

void bind_device(nb::module_& module) {
    nb::class_<device_memory>(module, "DeviceMemory", "Bytes on a device, given back when this goes.")
        .def(nb::init<int, std::int64_t>(), nb::arg("ordinal"), nb::arg("bytes"))
        .def_prop_ro("data", [](const device_memory& m) { return reinterpret_cast<std::uintptr_t>(m.data); });
    nb::class_<stream_mark>(module, "StreamMark", "A point on a stream.")
        .def(nb::init<int, std::uintptr_t>(), nb::arg("ordinal"), nb::arg("stream"))
        .def(
            "passed", [](const stream_mark& m) { return edge::has_passed(m.event); },
            "True when all work before the point is done. Does not wait.");
    module.def("device_array", &device_array, nb::arg("memory"), nb::arg("shape"), nb::arg("dtype"), nb::arg("ordinal"),
               "Memory of ours as an array that offers __dlpack__.");
    module.def(
        "device_of", [](std::uintptr_t data) { return edge::device_of(pointer(data)); }, nb::arg("data"),
        "The ordinal of the device whose memory it is.");
    module.def(
        "own_stream", [](int ordinal) { return reinterpret_cast<std::uintptr_t>(edge::own_stream(ordinal)); },
        nb::arg("ordinal"), "A stream of the library's own on that device; always the same.");
    module.def(
        "order_after",
        [](int ordinal, std::uintptr_t later, std::uintptr_t earlier) {
            edge::order_after(ordinal, pointer(later), pointer(earlier));
        },
        nb::arg("ordinal"), nb::arg("later"), nb::arg("earlier"),
        "What is put on `later` from now on waits for what is on `earlier` by now.");
}

}  // namespace nearfield::python
