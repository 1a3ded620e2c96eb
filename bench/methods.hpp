// The published methods on one image, on the host or on a GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::bench {

struct method_case {
    std::string name;
    method how;
};

/// An image with its answer, wherever they lie.
class method_subject {
public:
    virtual ~method_subject() = default;
    virtual method_report run(const method& by) = 0;
    /// The sites that the last run found.
    virtual std::vector<std::int32_t> sites() = 0;
    /// Milliseconds of a copy of an array of sites, timed as the stages of a method are; 0 where these are not on a
    /// GPU.
    virtual double copy_ms() { return 0; }
};

/// Cells that are 0 are sites. Throws nearfield::error(unsupported) where there is no GPU.
std::unique_ptr<method_subject> subject_on_device(const std::vector<std::uint8_t>& image, const shape_t& shape);
/// What the GPU is, and how fast it copies.
session method_session_on_device();

int bands_main(int argc, char** argv);
int methods_main(int argc, char** argv);

}  // namespace nearfield::bench
