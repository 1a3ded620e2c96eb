// The fields, on whichever device the command line chose.
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
    std::string name;    ///< of the processor: "2 threads, AVX3", or the GPU's own
    int threads = 0;
    std::vector<double> compute_ms;
    double copy_ms = 0;
    double upload_ms = 0;  ///< of that, to the device
    std::string note;      ///< why auto did not take the GPU after all

    [[nodiscard]] double median_ms() const;
    [[nodiscard]] double best_ms() const;
    /// Another call of the same run: times add up.
    void add(const computed& other);
};

/// A call of the library, once for each place where it can run.
struct placed_call {
    std::function<void(const host&)> here;
    std::function<edge::device_timing(int ordinal, int warmups, int repeat)> there;
};

/// Thrown by compute() for --plan, past what a verb would do with the answer.
struct planned {
    call_plan plan;
};

/// Runs the call by --device and --threads, `repeat` times after `warmups`. With auto, a GPU that has too little memory
/// or cannot serve the request is replaced by the CPU.
[[nodiscard]] computed compute(const arguments& args, const placed_call& what, int warmups = 0, int repeat = 1);
[[nodiscard]] computed compute(const arguments& args, const work<host>& what, int warmups = 0, int repeat = 1);

/// What compute() would do with the only job, by --device and --threads; views may be without data.
[[nodiscard]] call_plan plan_for(const arguments& args, const work<host>& what);

}  // namespace nearfield::cli
