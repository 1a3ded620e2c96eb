// Label images to measure, and intensity values to measure on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exact/guarded.hpp"
#include "oracle/tables.hpp"

namespace nearfield::test {

enum class pattern {
    none,          ///< background only
    one,           ///< one label on every cell
    blocks,        ///< boxes of a few cells, each with its own number, some of them background
    noise,         ///< numbers from a small set: each label in many pieces, with runs of one or two cells
    each,          ///< a label of its own for every cell
    lines,         ///< one label for each line
    giant,         ///< one label on most cells, and small ones in some places
    beyond,        ///< negative numbers, and numbers without a row
    far_apart,     ///< a few numbers from the type's whole range
    checkerboard,  ///< two labels that alternate
};
inline constexpr pattern all_patterns[] = {pattern::none,      pattern::one,         pattern::blocks, pattern::noise,
                                           pattern::each,      pattern::lines,       pattern::giant,  pattern::beyond,
                                           pattern::far_apart, pattern::checkerboard};
std::string name_of(pattern kind);

/// Makes labels that fit `type`.
oracle::label_image make_labels(pattern kind, const shape_t& shape, dtype type, std::uint64_t seed);

/// Values that `type` holds exactly and whose sums fit 113 bits: integers from the type's whole range, floats of
/// similar size.
std::vector<double> make_values(const shape_t& shape, dtype type, std::uint64_t seed);

inline constexpr dtype integer_types[] = {dtype::int32, dtype::uint8,  dtype::int64,  dtype::uint16, dtype::int8,
                                          dtype::int16, dtype::uint32, dtype::uint64, dtype::boolean};

/// Shapes that reach one cell; lines shorter and longer than a warp; a piece of the host (65536 cells) and runs that
/// cross its end; every number of axes; no cells.
std::vector<shape_t> label_image_shapes();

void write_integers(guarded& to, const std::vector<std::int64_t>& values);
void write_reals(guarded& to, const std::vector<double>& values);
std::int64_t read_integer(const guarded& from, std::int64_t i);
double read_real(const guarded& from, std::int64_t i);

}  // namespace nearfield::test
