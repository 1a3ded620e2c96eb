// Distances from squared distances, and the copy of tiles to memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/scratch.hpp"
#include "exact/host/terms.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Converts values of a problem to float32 distances: the root of unit2 * value in double, rounded once; infinite
/// beyond `limit`.
template <class T>
class root_rule {
public:
    explicit root_rule(const plan& p);
    /// `count` is a multiple of a tile's columns.
    void roots(const T* value, std::int64_t count, float* out) const;

private:
    double unit2_, unit_;  ///< unit_: root of unit2_ if that is a power of two, else 0
    T limit_;
    host_scratch<float> table_;  ///< for 16 bits in a unit that is not a power of two: the root of every value
};

/// Converts any number of finished values to distances, in a problem's units: the root in double, rounded once to the
/// output's type.
template <class V>
class field_roots {
public:
    explicit field_roots(const plan& p) : unit2_(p.unit2), unit_(p.unit()), rule_(p) {}
    void roots(const V* value, std::int64_t count, float* out) const;
    void roots(const V* value, std::int64_t count, double* out) const;

private:
    double unit2_, unit_;
    root_rule<std::conditional_t<sizeof(V) == 4, V, double>> rule_;
};

/// Multiplies a tile's distances by `set` where their bit is set, else by -set.
void put_signs(float* root, const std::uint8_t* bits, std::int64_t count, std::int8_t set);

/// Converts integers to doubles in place, as roots require.
const double* as_reals(std::int64_t* value, std::int64_t count);

/// Returns the largest number of a tile.
std::uint16_t largest(const std::uint16_t* number, std::int64_t count);
std::int32_t largest(const std::int32_t* number, std::int64_t count);
double largest(const double* number, std::int64_t count);

/// Fields of grids of at least this many cells bypass the caches.
inline constexpr std::int64_t least_streamed_cells = std::int64_t{1} << 20;

/// Copies rows of `row_bytes` bytes to places `to_pitch` bytes apart; bypasses the caches if rows are aligned to whole
/// vectors. end_copies() makes them visible to other threads.
void copy_rows_out(const void* from, std::int64_t row_bytes, std::int64_t from_pitch, std::int64_t rows, void* to,
                   std::int64_t to_pitch, bool past_caches);
/// Copies bytes, whose number and addresses are multiples of an element's size, past the caches.
void copy_past_caches(const void* from, std::int64_t bytes, void* to);
void end_copies();

}  // namespace nearfield::exact
