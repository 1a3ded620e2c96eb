// Calls in which some cells are masked out: each class of sites is searched by itself, as a mask, and the remaining
// cells receive the results. Host and device run the same functions around the engine's calls.
//
// Without a sign and labels there is one class, the sites. With a sign there are two, each the other's sites. Labels
// have two for every bit: the nearest cell of any other label is the nearest of those that differ in some bit.
#pragma once

#include <cmath>

#include "base/lines.hpp"
#include "exact/bounds.hpp"
#include "nearfield/distance_where.hpp"

namespace nearfield::exact {

/// Results of a search, contiguous; null if not wanted.
struct where_found {
    void* squared = nullptr;
    std::int64_t* index = nullptr;
    std::uint8_t* trusted = nullptr;
};

enum class where_step : std::uint8_t { mark, take, finish, clear };

/// A call. Passed to kernels by value.
struct where_cells {
    int rank = 1, batch_axes = 0, planes = 0;
    std::int64_t size[max_rank]{}, lines = 1, of_image = 1, plane_step = 0;
    sites rule = sites::zero;
    sign sides = sign::none;
    dtype squared_type = dtype::uint32;
    cleared_fields cleared;
    bounded_array image, where, distance, squared, index, coordinates, label, trusted;  ///< the caller's arrays
    std::uint8_t* mask = nullptr;
    where_found best, now;
    where_step step = where_step::mark;
    int bit = 0, value = 1;  ///< the class: cells whose code has this value in this bit

    [[nodiscard]] NF_HD std::int64_t length() const { return size[rank - 1]; }
    [[nodiscard]] NF_HD bool labelled() const { return rule == sites::other_labels; }
    [[nodiscard]] NF_HD bool has_classes() const { return labelled() || sides != sign::none; }

    /// Returns the element of the first cell of a line along the last axis.
    [[nodiscard]] NF_HD std::int64_t start(const bounded_array& of, std::int64_t line) const {
        return rank == 1 ? 0 : offset_of(line, size, of.step, rank - 1);
    }
    /// Returns a label's bits; without labels, whether the cell is a site.
    [[nodiscard]] NF_HD std::uint64_t code(std::int64_t element) const {
        std::uint64_t bits = 0;
        switch (image.bytes) {
            case 1: bits = image.at<std::uint8_t>(element); break;
            case 2: bits = image.at<std::uint16_t>(element); break;
            case 4: bits = image.at<std::uint32_t>(element); break;
            default: bits = image.at<std::uint64_t>(element);
        }
        if (labelled()) return bits;
        if (image.type >= dtype::float16) bits <<= 65 - 8 * image.bytes;  // zero may have either sign
        return (bits == 0) == (rule == sites::zero) ? 1 : 0;
    }
    /// Returns squared distances as ordered integers, for any type: none is negative.
    [[nodiscard]] NF_HD std::uint64_t key(const where_found& of, std::int64_t cell) const {
        return squared_type == dtype::uint32 ? static_cast<const std::uint32_t*>(of.squared)[cell]
                                             : static_cast<const std::uint64_t*>(of.squared)[cell];
    }
    NF_HD void set_key(std::int64_t cell, std::uint64_t to) const {
        if (squared_type == dtype::uint32)
            static_cast<std::uint32_t*>(best.squared)[cell] = static_cast<std::uint32_t>(to);
        else static_cast<std::uint64_t*>(best.squared)[cell] = to;
    }
    [[nodiscard]] NF_HD std::uint64_t no_key() const {
        return squared_type == dtype::float64  ? 0x7ff0000000000000
               : squared_type == dtype::uint32 ? 0xffffffff
                                               : ~std::uint64_t{0};
    }
    /// The tie rule, for cells of one image.
    [[nodiscard]] NF_HD bool precedes(std::int64_t a, std::int64_t b) const {
        for (int axis = rank - 1; axis > batch_axes; --axis) {
            const std::int64_t above_a = a / size[axis], above_b = b / size[axis];
            const std::int64_t at_a = a - above_a * size[axis], at_b = b - above_b * size[axis];
            if (at_a != at_b) return at_a < at_b;
            a = above_a, b = above_b;
        }
        return a < b;
    }
    NF_HD void mark(std::int64_t cell, std::uint64_t code_of) const {
        mask[cell] = static_cast<std::uint8_t>((code_of >> bit & 1) == static_cast<std::uint64_t>(value) ? 1 : 0);
        if (bit > 0 || value == 0 || !has_classes()) return;
        set_key(cell, no_key());  // before the first search
        if (best.index != nullptr) best.index[cell] = -1;
        if (best.trusted != nullptr) best.trusted[cell] = 0;
    }
    /// Keeps the nearer result of all searches so far and the last one. A site wins over an equally near border.
    NF_HD void take(std::int64_t cell) const {
        const std::uint64_t before = key(best, cell), found = key(now, cell);
        if (found > before) return;
        if (best.trusted != nullptr)
            best.trusted[cell] = found < before ? now.trusted[cell] : best.trusted[cell] | now.trusted[cell];
        set_key(cell, found);
        if (best.index == nullptr) return;
        const std::int64_t site = now.index[cell], other = best.index[cell];
        if (found < before || (site >= 0 && (other < 0 || precedes(site, other)))) best.index[cell] = site;
    }
    /// Writes a squared distance as the caller's type.
    NF_HD void store_squared(std::int64_t element, std::uint64_t found, bool negative) const {
        if (found == no_key()) return squared.clear(element, negative);
        const double real =
            squared_type == dtype::float64 ? __builtin_bit_cast(double, found) : static_cast<double>(found);
        switch (squared.type) {
            case dtype::uint16: squared.at<std::uint16_t>(element) = static_cast<std::uint16_t>(found); break;
            case dtype::uint32: squared.at<std::uint32_t>(element) = static_cast<std::uint32_t>(found); break;
            case dtype::uint64: squared.at<std::uint64_t>(element) = found; break;
            default: squared.store(element, negative ? -real : real);
        }
    }
    NF_HD void store_site(std::int64_t line, std::int64_t x, std::int64_t cell, std::int64_t site) const {
        const int last = rank - 1;
        if (index.data != nullptr) {
            const std::int64_t to = start(index, line) + x * index.step[last];
            if (index.bytes == 4) index.at<std::int32_t>(to) = static_cast<std::int32_t>(site);
            else index.at<std::int64_t>(to) = site;
        }
        std::int64_t rest = site;
        for (int plane = planes - 1; plane >= 0; --plane) {
            const std::int64_t above = rest / size[batch_axes + plane];
            const std::int64_t to = start(coordinates, line) + x * coordinates.step[last] + plane * plane_step;
            coordinates.at<std::int32_t>(to) =
                site < 0 ? -1 : static_cast<std::int32_t>(rest - above * size[batch_axes + plane]);
            rest = above;
        }
        if (label.data == nullptr) return;
        const std::int64_t to = start(label, line) + x * label.step[last];
        if (site < 0) return label.clear(to, false);
        const std::int64_t from = offset_of(cell - cell % of_image + site, size, image.step, rank) * image.bytes;
        for (int byte = 0; byte < image.bytes; ++byte) label.data[to * image.bytes + byte] = image.data[from + byte];
    }
    NF_HD void finish(std::int64_t line, std::int64_t x, std::int64_t cell, std::uint64_t code_of) const {
        const int last = rank - 1;
        const bool background = labelled() && sides == sign::none && code_of == 0;  // a site for all cells, also itself
        const bool inside = labelled() ? code_of != 0 : code_of == 0;
        const bool negative = sides != sign::none && inside == (sides == sign::inside_negative);
        const std::uint64_t found = background ? 0 : key(best, cell);
        if (squared.data != nullptr) store_squared(start(squared, line) + x * squared.step[last], found, negative);
        if (distance.data != nullptr) {
            const std::int64_t to = start(distance, line) + x * distance.step[last];
            const double real =
                squared_type == dtype::float64 ? __builtin_bit_cast(double, found) : static_cast<double>(found);
            if (found == no_key()) distance.clear(to, negative);
            else distance.store(to, negative ? -std::sqrt(real) : std::sqrt(real));
        }
        if (best.index != nullptr) store_site(line, x, cell, background ? cell % of_image : best.index[cell]);
        if (trusted.data != nullptr)
            trusted.at<std::uint8_t>(start(trusted, line) + x * trusted.step[last]) =
                background ? 1 : best.trusted[cell];
    }
    NF_HD void clear(std::int64_t line, std::int64_t x) const {
        const auto at = [&](const bounded_array& of) { return start(of, line) + x * of.step[rank - 1]; };
        if (cleared.distance && distance.data != nullptr) distance.clear(at(distance), false);
        if (cleared.squared && squared.data != nullptr) squared.clear(at(squared), false);
        if (cleared.index && index.data != nullptr) index.clear(at(index), false);
        for (int plane = 0; plane < (cleared.coordinates ? planes : 0); ++plane)
            coordinates.clear(at(coordinates) + plane * plane_step, false);
        if (cleared.label && label.data != nullptr) label.clear(at(label), false);
        if (cleared.trusted && trusted.data != nullptr) trusted.clear(at(trusted), false);
    }
    /// Calls use(code) for the cells [from, to) of a line that are not masked out.
    template <class Use>
    NF_HD void for_codes(std::int64_t line, std::int64_t from, std::int64_t to, const Use& use) const {
        const std::int64_t where_at = start(where, line), image_at = start(image, line);
        for (std::int64_t x = from; x < to; ++x)
            if (where.at<std::uint8_t>(where_at + x * where.step[rank - 1]) != 0)
                use(code(image_at + x * image.step[rank - 1]));
    }
    /// Runs the step for cells [from, to) of a line.
    NF_HD void run(std::int64_t line, std::int64_t from, std::int64_t to) const {
        const std::int64_t where_at = start(where, line), image_at = start(image, line);
        for (std::int64_t x = from; x < to; ++x) {
            const std::int64_t cell = line * length() + x;
            const bool part = where.at<std::uint8_t>(where_at + x * where.step[rank - 1]) != 0;
            const std::uint64_t code_of = part ? code(image_at + x * image.step[rank - 1]) : 0;
            if (step == where_step::mark) {
                if (part) mark(cell, code_of);
                else mask[cell] = 0;
            } else if (step == where_step::take) {
                if (part && (code_of >> bit & 1) != static_cast<std::uint64_t>(value)) take(cell);
            } else if (!part) clear(line, x);
            else if (step == where_step::finish) finish(line, x, cell, code_of);
        }
    }
};

/// Runs the step of `cells` over all of them.
void run_step(const host& on, const where_cells& cells);
void run_step(const device& on, const where_cells& cells);

/// Returns the bits in which the codes of cells that are not masked out differ; waits for a device.
std::uint64_t differing_bits(const host& on, const where_cells& cells);
std::uint64_t differing_bits(const device& on, const where_cells& cells);

}  // namespace nearfield::exact
