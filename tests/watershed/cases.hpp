// Random calls of the watershed and its relatives, and the oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/watershed.hpp"
#include "oracle/watershed.hpp"

namespace nearfield::test {

/// An image of any type, whose values every type of its kind can hold.
struct watershed_case {
    shape_t shape;
    dtype type = dtype::uint8;
    std::vector<double> value;         ///< C order
    std::vector<std::int64_t> marker;  ///< empty: the minima are the markers
    dtype marker_type = dtype::int32;
    std::vector<std::uint8_t> mask;  ///< empty: all cells
    std::vector<double> seed;        ///< for a reconstruction
    std::vector<border> ends;
    watershed_options options;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] dtype label_type() const { return marker.empty() ? dtype::int32 : marker_type; }
};

struct watershed_result {
    std::vector<std::int64_t> label;
    std::vector<double> passes;
    std::vector<std::uint8_t> extrema{};  ///< for calls without markers
    friend bool operator==(const watershed_result&, const watershed_result&) = default;
};

using watershed_runner = std::function<watershed_result(const watershed_case&)>;
using peaks_runner = std::function<std::vector<peak>(const watershed_case&)>;
using reconstruct_runner = std::function<std::vector<double>(const watershed_case&)>;

/// Converts values to the bytes of a C-order array, and back; exact for the values of cases.
std::vector<std::byte> bytes_of(const std::vector<double>& value, dtype type);
std::vector<double> values_of(const std::vector<std::byte>& bytes, dtype type);

/// Draws a call, the same for a seed on every machine: 1 to `axes` axes of up to 14 cells, any type.
watershed_case drawn_case(std::uint64_t seed, int axes);

oracle::watershed_problem problem_of(const watershed_case& c);
/// The minima that the case asks for, in raster order; unless `strict`, only the first of equal ones.
std::vector<oracle::minimum> high_minima(const watershed_case& c, bool strict);
watershed_result expected(const watershed_case& c);
std::vector<double> expected_reconstruction(const watershed_case& c);

/// Checks the seeds [first, end); stops at the first wrong one.
void check_watersheds(const watershed_runner& run, std::uint64_t first, std::uint64_t end, int axes);
/// Checks peaks, with the markers as labels.
void check_peaks(const peaks_runner& run, std::uint64_t first, std::uint64_t end, int axes);
void check_reconstructions(const reconstruct_runner& run, std::uint64_t first, std::uint64_t end, int axes);

/// A landscape of waves and steps, with plateaus, of any size.
watershed_case landscape(const shape_t& shape, std::uint64_t seed, dtype type);

/// The basins of a case's image.
basins basins_of(const watershed_case& c);

watershed_result on_host(const watershed_case& c, int threads);
std::vector<peak> peaks_on_host(const watershed_case& c, int threads);
std::vector<double> reconstructed_on_host(const watershed_case& c, int threads);

}  // namespace nearfield::test
