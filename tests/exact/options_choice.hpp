// What a random case of the options is made of: one value for each of some twenty dimensions, which of them exclude
// each other, and a count of all pairs that have occurred.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::test {

enum class dim : std::uint8_t {
    form,
    axes,   ///< that are no batch axes, less one
    batch,  ///< batch axes
    rule,
    sign,
    half_cell,
    border,
    limit,
    spacing,
    image,
    image_layout,
    output_layout,
    content,
    squared,
    distance,
    index,
    coordinates,
    label,
    trusted,
    weights,
    threads,
};
inline constexpr std::size_t dims = 21;

// The values of those dimensions that other code asks for; the rest are numbers or entries of the tables below.
enum class form_value : std::uint8_t { call, list, power };
enum class limit_value : std::uint8_t { none, zero, reached, just_missed, small, wide };
enum class content_value : std::uint8_t { zeros, constant, one_cell, two_values, many_labels, blocks, holes, seeds };
enum class spacing_value : std::uint8_t { none, one, integral, half, third, close, stack, wide, huge, same };

struct dimension {
    const char* name;
    std::vector<const char*> values;
};
const std::array<dimension, dims>& dimensions();

/// Which kinds of border value `v` of dim::border mixes.
std::vector<border> border_kinds(int v);
/// The type that value `v` of an output's or of the weights' dimension means; none for "none".
std::optional<dtype> type_of(dim d, int v);

struct choice {
    std::array<std::uint8_t, dims> value{};

    [[nodiscard]] int operator[](dim d) const { return value[static_cast<std::size_t>(d)]; }
    template <class E>
    [[nodiscard]] bool is(dim d, E e) const {
        return (*this)[d] == static_cast<int>(e);
    }
    [[nodiscard]] std::optional<dtype> type(dim d) const { return type_of(d, (*this)[d]); }
};
std::string text_of(const choice& c);

/// Whether the contract forbids value `va` of `a` together with value `vb` of `b`.
bool excluded(dim a, int va, dim b, int vb);

/// Numbers from splitmix64; the same on every machine.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }
    /// 0 .. n - 1
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
    bool one_in(std::int64_t n) { return below(n) == 0; }
    double share() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_;
};

/// Two values that a case must have.
struct value_pair {
    dim a = dim::form, b = dim::form;
    int va = 0, vb = 0;
};

/// No pair of values excludes another; at least one output is wanted.
choice draw(dice& random, const std::optional<value_pair>& wanted = std::nullopt);

/// How often each value and each pair of values occurred.
class pair_table {
public:
    pair_table();
    void count(const choice& c);
    /// Allowed pairs that never occurred.
    [[nodiscard]] std::vector<value_pair> missing() const;
    [[nodiscard]] std::string text() const;

private:
    [[nodiscard]] std::size_t at(dim a, int va, dim b, int vb) const;
    template <class Visit>
    void each_pair(dim a, dim b, Visit&& visit) const;

    std::array<std::size_t, dims> first_{};  ///< number of a dimension's first value
    std::size_t values_ = 0;
    std::vector<int> pairs_;
};

}  // namespace nearfield::test
