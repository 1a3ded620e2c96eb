// Runs the library on the device that the command line chooses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "edge/device_run.hpp"
#include "nearfield/plan.hpp"
#include "nearfield/system.hpp"

namespace nearfield::cli {

using edge::work;

struct computed {
    std::string device;  ///< "cpu" or "cuda"
    std::string name;    ///< of the processor: "2 threads, AVX3", or the GPU's name
    int threads = 0;
    std::vector<double> compute_ms;
    double copy_ms = 0;
    double upload_ms = 0;  ///< the part of copy_ms to the device
    std::string note;      ///< the reason why auto fell back to the CPU

    [[nodiscard]] double median_ms() const;
    [[nodiscard]] double best_ms() const;
    /// Adds the times of another call of the same run.
    void add(const computed& other);
};

/// A call of the library, in one form for each place where it can run.
struct placed_call {
    std::function<void(const host&)> here;
    std::function<edge::device_timing(int ordinal, int warmups, int repeat)> there;
};

/// Thrown by compute() for --plan, so that a verb writes nothing.
struct planned {
    call_plan plan;
};

/// Runs the call as --device and --threads say, `repeat` times after `warmups`. With auto, the CPU replaces a GPU that
/// has too little memory or cannot serve the request.
[[nodiscard]] computed compute(const arguments& args, const placed_call& what, int warmups = 0, int repeat = 1);
[[nodiscard]] computed compute(const arguments& args, const work<host>& what, int warmups = 0, int repeat = 1);

/// Plans compute() for the only job, as --device and --threads say; views may be without data.
[[nodiscard]] call_plan plan_for(const arguments& args, const work<host>& what);

}  // namespace nearfield::cli
