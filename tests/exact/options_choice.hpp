// The choices that make a random case of the options: a value for each of some twenty dimensions, the pairs that
// exclude each other, and a count of all pairs that have occurred.
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
    axes,   ///< number of axes that are no batch axes, minus one
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

// Values of dimensions that other code uses; all others are numbers, or indices into the tables below.
enum class form_value : std::uint8_t { call, list, power };
enum class limit_value : std::uint8_t { none, zero, reached, just_missed, small, wide };
enum class content_value : std::uint8_t { zeros, constant, one_cell, two_values, many_labels, blocks, holes, seeds };
enum class spacing_value : std::uint8_t { none, one, integral, half, third, close, stack, wide, huge, same };

struct dimension {
    const char* name;
    std::vector<const char*> values;
};
const std::array<dimension, dims>& dimensions();

/// The kinds of borders that value `v` of dim::border mixes.
std::vector<border> border_kinds(int v);
/// The type that value `v` stands for in a dimension of outputs or weights; none for "none".
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

/// True if the contract forbids value `va` of `a` together with value `vb` of `b`.
bool excluded(dim a, int va, dim b, int vb);

/// Random numbers from splitmix64; the same on every machine.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }
    /// A random number in [0, n).
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
    bool one_in(std::int64_t n) { return below(n) == 0; }
    double share() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_;
};

/// Two values that a case must combine.
struct value_pair {
    dim a = dim::form, b = dim::form;
    int va = 0, vb = 0;
};

/// Draws a choice in which no pair of values is excluded; it wants at least one output.
choice draw(dice& random, const std::optional<value_pair>& wanted = std::nullopt);

/// Counts how often each value and each pair of values has occurred.
class pair_table {
public:
    pair_table();
    void count(const choice& c);
    /// Allowed pairs that have not occurred.
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
