// Random calls of the watershed and its kin against the oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/watershed.hpp"
#include "oracle/watershed.hpp"

namespace nearfield::test {

/// An image of any type, by values that every type of its kind holds.
struct watershed_case {
    shape_t shape;
    dtype type = dtype::uint8;
    std::vector<double> value;         ///< C order
    std::vector<std::int64_t> marker;  ///< empty: the minima
    dtype marker_type = dtype::int32;
    std::vector<std::uint8_t> mask;  ///< empty: all
    std::vector<double> seed;        ///< of a reconstruction
    std::vector<border> ends;
    watershed_options options;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] dtype label_type() const { return marker.empty() ? dtype::int32 : marker_type; }
};

struct watershed_result {
    std::vector<std::int64_t> label;
    std::vector<double> passes;
    std::vector<std::uint8_t> extrema{};  ///< where there are no markers
    friend bool operator==(const watershed_result&, const watershed_result&) = default;
};

using watershed_runner = std::function<watershed_result(const watershed_case&)>;
using peaks_runner = std::function<std::vector<peak>(const watershed_case&)>;
using reconstruct_runner = std::function<std::vector<double>(const watershed_case&)>;

/// Bytes of a C-order array of a type, and back; exact for the values of cases.
std::vector<std::byte> bytes_of(const std::vector<double>& value, dtype type);
std::vector<double> values_of(const std::vector<std::byte>& bytes, dtype type);

/// The same call for the same seed on every machine: 1 to `axes` axes of up to 14 cells, types of up to `bytes`.
watershed_case drawn_case(std::uint64_t seed, int axes, int bytes);

oracle::watershed_problem problem_of(const watershed_case& c);
/// The minima that the case asks for, in raster order; of equal ones only the first where not `strict`.
std::vector<oracle::minimum> high_minima(const watershed_case& c, bool strict);
watershed_result expected(const watershed_case& c);
std::vector<double> expected_reconstruction(const watershed_case& c);

/// Seeds [first, end); stops at the first one that is wrong.
void check_watersheds(const watershed_runner& run, std::uint64_t first, std::uint64_t end, int axes, int bytes);
/// Markers are taken for labels.
void check_peaks(const peaks_runner& run, std::uint64_t first, std::uint64_t end, int axes, int bytes);
void check_reconstructions(const reconstruct_runner& run, std::uint64_t first, std::uint64_t end, int axes, int bytes);

/// A landscape with plateaus, of any size: waves and steps.
watershed_case landscape(const shape_t& shape, std::uint64_t seed, dtype type);

/// The basins of a case's image.
basins basins_of(const watershed_case& c);

watershed_result on_host(const watershed_case& c, int threads);
std::vector<peak> peaks_on_host(const watershed_case& c, int threads);
std::vector<double> reconstructed_on_host(const watershed_case& c, int threads);

}  // namespace nearfield::test
