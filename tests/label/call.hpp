// One call of label() in guarded memory, and the oracle's result, for every backend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exact/guarded.hpp"
#include "label/cases.hpp"
#include "nearfield/label.hpp"

namespace nearfield::test {

/// The arguments of one call.
struct label_case {
    shape_t shape;  ///< shape of the image: batch axes, axes, channels
    dtype element = dtype::uint8;
    layout image_layout = layout::contiguous;
    dtype label = dtype::int32;
    layout label_layout = layout::contiguous;
    std::uint64_t seed = 1;
    int threads = 1;
};

struct label_call {
    label_call(const label_case& how, const label_options& options_);

    /// Writes zeros where a flag is 0, else nonzero values of the type.
    void draw(const flags_t& foreground);
    /// Writes small integers as values of the type; 0 is zero. For floats some zeros are -0, and with `strange` some
    /// cells are NaN or infinite.
    void write(const std::vector<std::int64_t>& values, bool strange = false);

    [[nodiscard]] label_fields<host> fields();

    label_case how;
    label_options options;
    std::vector<std::uint8_t> steps;  ///< memory for options.steps
    guarded image, label, count;
};

/// Runs a call: fills its label and count.
using label_engine = std::function<void(label_call&)>;
void label_on_host(label_call& c);

/// Returns "" or the error in the result.
std::string verdict(const label_call& c, const std::vector<std::byte>& image_before);
std::string check(const label_engine& engine, label_call c);

/// An element as a double.
double value_in(const guarded& from, std::int64_t i);

/// Call number k: varies memory layouts, element and label types, threads.
label_case dressed(const shape_t& shape, std::uint64_t k);

/// Image number k: values from a few choices, in blocks; also sets tolerance and background.
std::vector<std::int64_t> values_of(const shape_t& shape, std::uint64_t k);
label_options options_of(std::uint64_t k, criterion kind, int connectivity);

/// Graph number k for criterion::links: bits of neighbours, in a type that has enough of them.
std::vector<std::int64_t> graph_of(const shape_t& shape, std::uint64_t k);
label_case dressed_graph(const shape_t& shape, int connectivity, std::uint64_t k);

inline constexpr dtype label_elements[] = {dtype::boolean, dtype::int8,    dtype::uint8,  dtype::int16,
                                           dtype::uint16,  dtype::int32,   dtype::uint32, dtype::int64,
                                           dtype::uint64,  dtype::float32, dtype::float64};
inline constexpr dtype label_types[] = {dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64};

}  // namespace nearfield::test
