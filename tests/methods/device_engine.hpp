// Methods on a GPU, for the tests.
#pragma once

#include "exact/device_engine.hpp"
#include "methods/engines.hpp"

namespace nearfield::test {

/// Runs a method on the device, on a stream of its own.
engine method_on_device(method by);

/// Results of a method on a device, in contiguous arrays; the image's sites are its nonzero values.
struct device_answer {
    std::vector<double> distance;
    std::vector<std::int64_t> index;
    std::vector<std::uint8_t> label;
    method_report report;
};
device_answer on_device(const method& by, const shape_t& shape, const flags_t& sites, double max_distance);
/// Results of the same method on the host.
device_answer on_host(const method& by, const shape_t& shape, const flags_t& sites, double max_distance);

}  // namespace nearfield::test
