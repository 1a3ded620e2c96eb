// A checked call, and its two ends on either place: from the image to packed sites, from packed sites to fields.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "methods/room.hpp"

namespace nearfield::methods {

struct problem {
    grid g;
    bool zero_is_site = true;
    double limit = std::numeric_limits<double>::infinity();  ///< a farther cell gets no site
    double first_weight = 0;  ///< for chamfer: divides prices; 0 if distances are those to the sites
};

/// The distance of a squared distance, before it is rounded to the field's type.
template <class V>
NF_HD inline double distance_of(V squared) {
    return std::sqrt(static_cast<double>(squared));
}
NF_HD inline double distance_of(std::int32_t price, double first_weight) {
    return static_cast<double>(price) / first_weight;
}

void run(const host& on, const method& by, const problem& p, const any_input<host>& image, const fields<host>& out,
         method_report& report);
void run(const device& on, const method& by, const problem& p, const any_input<device>& image,
         const fields<device>& out, method_report& report);

/// Runs the exact engine as a method with one stage.
void run_exact(const host& on, const any_input<host>& image, const fields<host>& out, const distance_options& options,
               method_report& report);
void run_exact(const device& on, const any_input<device>& image, const fields<device>& out,
               const distance_options& options, method_report& report);

/// Lower bound of the bytes that a call reads and writes.
template <class Place>
std::int64_t bytes_of_arrays(const any_input<Place>& image, const fields<Place>& out) {
    std::int64_t bytes = image.cells() * size_of(image.type);
    for (const any_output<Place>* field : {&out.distance, &out.squared, &out.index, &out.coordinates, &out.label})
        if (field->wanted()) bytes += field->cells() * size_of(field->type);
    return bytes;
}

/// Runs a method's room by overload resolution; the exact method has none.
template <class Place>
void solve_by(const Place& on, const problem& p, const method& by, buffers& site, std::int32_t* price, stages& report) {
    std::visit(
        [&]<class Method>(const Method& how) {
            if constexpr (std::is_same_v<Method, chamfer_method>) solve(on, p.g, how, site, price, report);
            else if constexpr (!std::is_same_v<Method, exact_method>) solve(on, p.g, how, site, report);
        },
        by);
}

}  // namespace nearfield::methods
