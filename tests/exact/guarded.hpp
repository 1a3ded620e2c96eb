// Arrays in any memory layout, with guard bytes before, after and between their elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::test {

/// Layout of an array in memory.
enum class layout {
    tight,       ///< contiguous without guard bytes: an overrun leaves the allocation, which ASan and memcheck detect
    contiguous,  ///< between guard bytes, aligned only to its element
    reversed,    ///< every stride negative
    transposed,  ///< the first axis varies fastest
    stepping,    ///< every second or third element of longer rows
    scrambled    ///< any order of axes, signs, steps and padding
};
inline constexpr layout all_layouts[] = {layout::tight,      layout::contiguous, layout::reversed,
                                         layout::transposed, layout::stepping,   layout::scrambled};

class guarded {
public:
    guarded(dtype type, const shape_t& shape, layout how, std::uint64_t seed = 0);
    /// An array in which all indices of `axis` share one line of memory, as broadcasting gives. For inputs only.
    static guarded broadcast(dtype type, const shape_t& shape, std::size_t axis);

    [[nodiscard]] std::int64_t cells() const { return cells_of(shape_); }
    [[nodiscard]] dtype type() const { return type_; }
    [[nodiscard]] const shape_t& shape() const { return shape_; }
    [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

    /// A view of the array at `memory`, on any place, which holds the same bytes as bytes().
    template <class Place, class Element>
    [[nodiscard]] any_view<Element, Place> view_of(Element* memory) const {
        any_view<Element, Place> v;
        using byte_t = std::conditional_t<std::is_const_v<Element>, const std::byte, std::byte>;
        v.data = static_cast<byte_t*>(memory) + first_ * size_of(type_);
        v.type = type_;
        v.rank = static_cast<int>(shape_.size());
        for (std::size_t axis = 0; axis < shape_.size(); ++axis)
            v.shape[axis] = shape_[axis], v.stride[axis] = stride_[axis];
        return v;
    }

    /// Bytes of the element with C-order index i.
    [[nodiscard]] std::byte* element(std::int64_t i);
    [[nodiscard]] const std::byte* element(std::int64_t i) const;
    template <class T>
    [[nodiscard]] T get(std::int64_t i) const {
        T value;
        std::memcpy(&value, element(i), sizeof(T));
        return value;
    }

    /// Fills all bytes, including those of elements, with the guard pattern.
    void paint();
    /// Returns "" or the place of a byte outside all elements that has changed since paint().
    [[nodiscard]] std::string guards_broken() const;

private:
    guarded(dtype type, const shape_t& shape) : type_(type), shape_(shape), stride_(shape.size(), 0) {}
    void place(const std::vector<std::size_t>& order, layout how, std::uint64_t seed);
    [[nodiscard]] std::int64_t offset_of(std::int64_t i) const;

    dtype type_;
    shape_t shape_;
    shape_t stride_;          ///< in elements
    std::int64_t first_ = 0;  ///< element offset of cell 0 in bytes_
    std::vector<std::byte> bytes_;
};

/// Writes sites as the zeros of an image of `type`, or with `nonzero` as its other values. Zeros take both signs. Other
/// values include NaN, infinities, denormals, and integers whose low bytes are zero.
void write_image(guarded& image, const flags_t& sites, bool nonzero);

}  // namespace nearfield::test
