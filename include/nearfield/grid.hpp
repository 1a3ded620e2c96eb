// The basic types: extent, view, and the two places where work can run. Needs no CUDA toolkit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <type_traits>

namespace [[gnu::visibility("default")]] nearfield {

/// Largest number of axes of any grid.
inline constexpr int max_rank = 8;

/// One number per axis, in array order.
template <int D>
using axis_values = std::array<std::int64_t, static_cast<std::size_t>(D)>;

/// Cells along each axis, in array order: the last axis is the one that is contiguous in memory.
template <int D>
struct extent {
    static_assert(D >= 1 && D <= max_rank);
    axis_values<D> size{};

    constexpr std::int64_t operator[](int axis) const { return size[static_cast<std::size_t>(axis)]; }
    constexpr std::int64_t& operator[](int axis) { return size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] constexpr std::int64_t cells() const {
        std::int64_t product = 1;
        for (std::int64_t n : size) product *= n;
        return product;
    }
    friend constexpr bool operator==(const extent&, const extent&) = default;
};
template <class... N>
extent(N...) -> extent<static_cast<int>(sizeof...(N))>;

/// Element types that views can carry at run time.
enum class dtype : std::uint8_t {
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    float16,
    float32,
    float64
};

/// Bytes of one element.
constexpr std::int64_t size_of(dtype type) {
    switch (type) {
        case dtype::boolean:
        case dtype::int8:
        case dtype::uint8: return 1;
        case dtype::int16:
        case dtype::uint16:
        case dtype::float16: return 2;
        case dtype::int32:
        case dtype::uint32:
        case dtype::float32: return 4;
        default: return 8;
    }
}

/// NumPy's name of the type: "bool", "uint8", "float32", ...
constexpr const char* name_of(dtype type) {
    constexpr const char* names[] = {"bool",   "int8",  "uint8",  "int16",   "uint16",  "int32",
                                     "uint32", "int64", "uint64", "float16", "float32", "float64"};
    return names[static_cast<int>(type)];
}

/// The dtype of a C++ element type; other types do not compile.
template <class T>
constexpr dtype dtype_of() {
    using U = std::remove_const_t<T>;
    static_assert(std::is_arithmetic_v<U> && sizeof(U) <= 8 && !std::is_same_v<U, long double>,
                  "element type must be bool, an integer of 1 to 8 bytes, float or double");
    if constexpr (std::is_same_v<U, bool>) return dtype::boolean;
    else if constexpr (std::is_floating_point_v<U>) return sizeof(U) == 4 ? dtype::float32 : dtype::float64;
    else {
        constexpr int log2_size = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
        return static_cast<dtype>(1 + 2 * log2_size + (std::is_unsigned_v<U> ? 1 : 0));
    }
}

/// Runs on the CPU; calls return when the work is done.
struct host {
    /// Threads to use, at most 4096; 0 means every core the process may use. The answer does not depend on it.
    int threads = 0;
    /// Called now and then from one of the working threads, never from two at once, with the share done in [0, 1].
    /// Returning false stops the work with error_code::cancelled; the outputs then hold no meaningful values.
    std::function<bool(double)> progress{};
};

/// Runs on an NVIDIA GPU, ordered on the caller's stream; calls return before the work is done and can be captured in a
/// CUDA graph.
struct device {
    /// `stream` is a cudaStream_t. It has no default, so that nobody uses the default stream by accident.
    explicit constexpr device(void* stream_) : stream(stream_) {}
    void* stream;
};

/// A strided array that someone else owns; `Place` says in which memory it lies. Strides count elements, may be
/// negative, and may be zero only for read-only views.
template <class T, int D, class Place>
struct view {
    static_assert(std::is_same_v<Place, host> || std::is_same_v<Place, device>);
    T* data = nullptr;
    extent<D> shape{};
    axis_values<D> stride{};

    constexpr view() = default;
    /// Contiguous, last axis fastest.
    constexpr view(T* data_, const extent<D>& shape_) : data(data_), shape(shape_) {
        std::int64_t step = 1;
        for (int axis = D - 1; axis >= 0; --axis) {
            stride[static_cast<std::size_t>(axis)] = step;
            step *= shape[axis];
        }
    }
    constexpr view(T* data_, const extent<D>& shape_, const axis_values<D>& stride_)
        : data(data_), shape(shape_), stride(stride_) {}
    /// Converts a view of mutable elements to a view of const ones.
    constexpr operator view<const T, D, Place>() const
        requires(!std::is_const_v<T>)
    {
        return {data, shape, stride};
    }
};

/// A view whose element type and rank are known only at run time; `Element` is void, or const void for read-only. Made
/// from any view of the same place. A default-constructed one (rank 0, no data) stands for "not wanted".
template <class Element, class Place>
struct any_view {
    static_assert(std::is_void_v<Element>);
    Element* data = nullptr;
    dtype type = dtype::uint8;
    int rank = 0;
    std::array<std::int64_t, max_rank + 1> shape{};   // one more than max_rank: coordinate fields are (rank, ...)
    std::array<std::int64_t, max_rank + 1> stride{};  // in elements

    constexpr any_view() = default;
    template <class T, int D>
        requires(std::is_const_v<Element> || !std::is_const_v<T>)
    constexpr any_view(const view<T, D, Place>& v) : data(v.data), type(dtype_of<T>()), rank(D) {
        for (std::size_t axis = 0; axis < D; ++axis) shape[axis] = v.shape.size[axis], stride[axis] = v.stride[axis];
    }
    /// This is a template, because a plain constructor would replace the copy constructor if Element is void.
    template <class Other>
        requires(std::is_const_v<Element> && std::is_same_v<Other, void>)
    constexpr any_view(const any_view<Other, Place>& v)
        : data(v.data), type(v.type), rank(v.rank), shape(v.shape), stride(v.stride) {}
    /// Contiguous, last axis fastest; `Sizes` is any range of integers, at most max_rank + 1 of them.
    template <class Sizes>
    static constexpr any_view contiguous(Element* data, dtype type, const Sizes& sizes) {
        any_view v;
        v.data = data, v.type = type;
        for (auto n : sizes) v.shape[static_cast<std::size_t>(v.rank++)] = n;
        std::int64_t step = 1;
        for (int axis = v.rank - 1; axis >= 0; --axis) {
            v.stride[static_cast<std::size_t>(axis)] = step;
            step *= v.shape[static_cast<std::size_t>(axis)];
        }
        return v;
    }
    [[nodiscard]] constexpr bool wanted() const { return rank > 0; }
    [[nodiscard]] constexpr std::int64_t cells() const {
        std::int64_t product = 1;
        for (int axis = 0; axis < rank; ++axis) product *= shape[static_cast<std::size_t>(axis)];
        return product;
    }
};

/// The argument types of functions: any array to read, any array to write.
template <class Place>
using any_input = any_view<const void, Place>;
template <class Place>
using any_output = any_view<void, Place>;

/// Size of a cell along each axis, in array order. Empty means 1 everywhere; one value means the same along every axis.
class spacing {
public:
    constexpr spacing() = default;
    constexpr spacing(double every_axis) : value_{every_axis}, count_(1) {}
    constexpr spacing(std::initializer_list<double> per_axis) : spacing(per_axis.begin(), per_axis.size()) {}
    /// Keeps the first max_rank values and remembers how many came, so that the call can report a wrong number.
    constexpr spacing(const double* per_axis, std::size_t count) : count_(static_cast<int>(count)) {
        for (std::size_t i = 0; i < count && i < value_.size(); ++i) value_[i] = per_axis[i];
    }
    [[nodiscard]] constexpr int count() const { return count_; }
    constexpr double operator[](int axis) const {
        if (count_ == 0) return 1.0;
        return value_[static_cast<std::size_t>(count_ == 1 ? 0 : axis)];
    }

private:
    std::array<double, max_rank> value_{};
    int count_ = 0;
};

/// Content beyond both ends of an axis: nothing, only sites, or the grid repeated.
enum class border : std::uint8_t { open, closed, periodic };

/// Borders along each axis, in array order. Empty means open everywhere; one value means the same along every axis.
class borders {
public:
    constexpr borders() = default;
    constexpr borders(border every_axis) : value_{every_axis}, count_(1) {}
    constexpr borders(std::initializer_list<border> per_axis) : borders(per_axis.begin(), per_axis.size()) {}
    /// Keeps the first max_rank values and remembers how many came, so that the call can report a wrong number.
    constexpr borders(const border* per_axis, std::size_t count) : count_(static_cast<int>(count)) {
        for (std::size_t i = 0; i < count && i < value_.size(); ++i) value_[i] = per_axis[i];
    }
    [[nodiscard]] constexpr int count() const { return count_; }
    constexpr border operator[](int axis) const {
        if (count_ == 0) return border::open;
        return value_[static_cast<std::size_t>(count_ == 1 ? 0 : axis)];
    }

private:
    std::array<border, max_rank> value_{};
    int count_ = 0;
};

}  // namespace nearfield
