// Checks of arguments for all public calls. Each throws invalid_argument, and says what came, what was expected and
// how to fix it.
#pragma once

#include <array>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>

#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"

namespace nearfield {

[[noreturn]] void fail(const std::string& message, std::source_location where = std::source_location::current());
[[noreturn]] void fail_rank(const char* name, int rank);

/// Writes a shape as "64x512x512".
std::string shape_text(const std::int64_t* shape, int rank);

/// Returns the spacing along every axis. Accepts none, one or `rank` values, each finite and positive.
std::array<double, max_rank> checked_spacing(const spacing& cell, const std::int64_t* shape, int rank);

/// Returns the borders along every axis. Accepts none, one or `rank` values.
std::array<border, max_rank> checked_borders(const borders& beyond, const std::int64_t* shape, int rank);

void check_type(const char* name, dtype came, std::initializer_list<dtype> accepted);

template <class Place>
struct named_view {
    const char* name;
    any_input<Place> view;
};

/// Checks for rank 1 to max_rank, sides 0 to max_side, and fewer than 2^62 cells.
template <class Place>
void check_image(const char* name, const any_input<Place>& image, std::int64_t max_side);
template <class Place>
void check_same_shape(const char* name, const any_input<Place>& other, const any_input<Place>& image);
/// Checks that a coordinate field has shape (number of axes that are no batch axes, ...image shape).
template <class Place>
void check_coordinate_shape(const char* name, const any_output<Place>& out, const any_input<Place>& image,
                            int batch_axes);
/// Checks that every view with cells has data.
template <class Place>
void check_data(std::span<const named_view<Place>> views);
/// Checks that outputs overlap nothing. The first `inputs` views are read, the others written: a written view may not
/// touch another view's bytes, nor write one element twice through its strides. Views whose address ranges interleave
/// are refused, even if they share no element.
template <class Place>
void check_apart(std::span<const named_view<Place>> views, std::size_t inputs = 1);

}  // namespace nearfield
