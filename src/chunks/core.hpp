// Mathematics that host and device share, and the steps that each of them has. Arguments have been checked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/annotate.hpp"
#include "base/lines.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::chunks {

/// An array of any number of axes, for loops and kernels.
struct strided {
    int rank = 0;
    std::int64_t size[max_rank + 1] = {}, stride[max_rank + 1] = {};
    [[nodiscard]] NF_HD std::int64_t at(std::int64_t cell) const { return offset_of(cell, size, stride, rank); }
};
template <class Element, class Place>
strided strided_of(const any_view<Element, Place>& v) {
    strided made;
    made.rank = v.rank;
    for (std::size_t k = 0; k < static_cast<std::size_t>(v.rank); ++k)
        made.size[k] = v.shape[k], made.stride[k] = v.stride[k];
    return made;
}

/// A cell has no site if the bits of its value that `mask` selects are `none`. Signs do not matter.
struct no_site {
    std::uint64_t mask, none;
    template <class Word>
    [[nodiscard]] NF_HD bool is(Word bits) const {
        return (bits & static_cast<Word>(mask)) == static_cast<Word>(none);
    }
};
/// Returns the bits that stand for no site: infinity, the maximum of unsigned squares, index -1, or false.
constexpr no_site no_site_of(dtype type) {
    switch (type) {
        case dtype::boolean: return {0xff, 0};
        case dtype::float16: return {0x7fff, 0x7c00};
        case dtype::float32: return {0x7fffffff, 0x7f800000};
        case dtype::float64: return {0x7fffffffffffffff, 0x7ff0000000000000};
        default: return {~std::uint64_t{0}, ~std::uint64_t{0}};
    }
}

/// Calls body(T{}) with an unsigned type of the size of a label type; labels are never negative.
template <class Body>
void with_label(dtype type, const Body& body) {
    switch (size_of(type)) {
        case 2: return body(std::uint16_t{});
        case 4: return body(std::uint32_t{});
        default: return body(std::uint64_t{});
    }
}
/// Calls body(T{}) with an unsigned type of the size of any element type.
template <class Body>
void with_word(dtype type, const Body& body) {
    if (size_of(type) == 1) body(std::uint8_t{});
    else with_label(type, body);
}

/// Returns the number that a table has for a label; 0 if it has none.
template <class Label>
NF_HD std::int64_t number_of(Label label, const std::int64_t* numbers, std::int64_t count) {
    const std::uint64_t row = static_cast<std::uint64_t>(label) - 1;
    return row < static_cast<std::uint64_t>(count) ? numbers[row] : 0;
}

bool every_cell_has_site(const host& on, const any_input<host>& field);
bool every_cell_has_site(const device& on, const any_input<device>& field);

/// Writes the cell where each of the labels 1 to first.size() occurs first, if it does. Labels are contiguous.
void find_first(const host& on, const any_input<host>& labels, std::span<std::int64_t> first);
void find_first(const device& on, const any_input<device>& labels, std::span<std::int64_t> first);

/// Writes the values of all `boxes`, views of labels, one after another; on a device the copy waits.
void gather(const host& on, std::span<const any_input<host>> boxes, std::span<std::int64_t> to);
void gather(const device& on, std::span<const any_input<device>> boxes, std::span<std::int64_t> to);

void renumber(const host& on, const any_input<host>& labels, std::span<const std::int64_t> numbers,
              const any_output<host>& out);
void renumber(const device& on, const any_input<device>& labels, std::span<const std::int64_t> numbers,
              const any_output<device>& out);

}  // namespace nearfield::chunks
