// What a handler of XLA's foreign function interface needs of its C API, declared here so that the build needs no JAX:
// version 0 of xla/ffi/api/c_api.h, which jaxlib ships. Later minor versions append members, which a handler that does
// not read them can ignore. tests/package/test_jax_calls.py compares every member with the header of the installed
// jaxlib.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfield::python::xla {

struct extension {
    std::size_t struct_size;
    int type;
    extension* next;
};

struct version {
    std::size_t struct_size;
    extension* extensions;
    int major, minor;
};

/// Not terminated by zero.
struct text {
    const char* data;
    std::size_t size;
};

struct scalar {
    int type;
    void* value;
};

struct array {
    int type;
    std::size_t size;
    void* data;
};

/// An array in C order.
struct buffer {
    std::size_t struct_size;
    extension* extensions;
    int type;
    void* data;
    std::int64_t rank;
    std::int64_t* sizes;
};

/// Arguments or results. Each item is a `buffer`.
struct buffers {
    std::size_t struct_size;
    extension* extensions;
    std::int64_t size;
    int* types;
    void** items;
};

/// Each item is an `array`, a `scalar` or a `text`, by its type.
struct attributes {
    std::size_t struct_size;
    extension* extensions;
    std::int64_t size;
    int* types;
    text** names;
    void** items;
};

constexpr int attribute_array = 1, attribute_scalar = 3, attribute_text = 4;

struct error;  // XLA's own
struct context;

struct new_error {
    std::size_t struct_size;
    extension* extensions;
    const char* message;
    int code;
};

constexpr int cancelled = 1, invalid_argument = 3, resource_exhausted = 8, internal = 13;

struct get_stream {
    std::size_t struct_size;
    extension* extensions;
    xla::context* context;
    void* stream;  ///< filled
};

struct functions {
    std::size_t struct_size;
    extension* extensions;
    xla::version version;
    const void* internal;
    error* (*create_error)(new_error*);
    void (*error_message)(void*);
    void (*destroy_error)(void*);
    error* (*register_handler)(void*);
    error* (*stream)(get_stream*);
};

struct call {
    std::size_t struct_size;
    extension* extensions;
    const xla::functions* functions;
    xla::context* context;
    int stage;
    buffers arguments, results;
    xla::attributes attributes;
};

/// XLA asks for it once, when a handler is registered: a call with this extension does no work.
struct metadata {
    std::size_t struct_size;
    xla::version version;
    std::uint32_t traits;
};

struct metadata_extension {
    extension base;
    xla::metadata* metadata;
};

constexpr int extension_metadata = 1;

/// XLA's number of each element type, in the order of nearfield::dtype.
constexpr int types[] = {1, 2, 6, 3, 7, 4, 8, 5, 9, 10, 11, 12};

}  // namespace nearfield::python::xla
