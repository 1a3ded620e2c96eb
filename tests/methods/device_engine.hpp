// Methods on a GPU, for the tests.
#pragma once

#include "exact/device_engine.hpp"
#include "methods/engines.hpp"

namespace nearfield::test {

/// A method on the device, on a stream of its own.
engine method_on_device(method by);

/// What a method finds on a device, contiguous: the image's sites are its values that are not zero.
struct device_answer {
    std::vector<double> distance;
    std::vector<std::int64_t> index;
    std::vector<std::uint8_t> label;
    method_report report;
};
device_answer on_device(const method& by, const shape_t& shape, const flags_t& sites, double max_distance);
/// The same on the host.
device_answer on_host(const method& by, const shape_t& shape, const flags_t& sites, double max_distance);

}  // namespace nearfield::test
