// --method, --timings and --random-sites: fields by a published method, and the times of its stages.
#pragma once

#include <chrono>

#include "cli/field_run.hpp"
#include "cli/report.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::cli {

class stopwatch {
public:
    [[nodiscard]] double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// True if a method runs; --timings alone runs the exact engine as one.
[[nodiscard]] bool uses_method(const arguments& args);

/// Adds a name for the random sites to the inputs. Throws invalid_argument without any input, or with both kinds.
void name_random_sites(arguments& args);
/// Throws invalid_argument for an unknown --method, and for options that exclude it.
void check_method_words(const arguments& args);

/// Computes the only run by --method.
[[nodiscard]] computed compute_by_method(const arguments& args, field_run& run, method_report& took);

/// Selects the GPU forms of brushfire and chamfer, which are the parallel and the iterated one.
[[nodiscard]] method on_gpu(method by);

/// The report's fields "method", which names the one that ran, and "stages".
[[nodiscard]] json_report describe_method(const arguments& args, const method_report& took, const computed& done);
[[nodiscard]] json_report describe_stages(const method_report& took);
/// Prints a table: the source of the input, copies, every stage, the sum of the stages, and the export.
void print_stages(bool to_stderr, const field_run& run, const method_report& took, const computed& done,
                  double save_ms);

/// A gray of 1 to 255 for each site, 0 without one, as uint8.
[[nodiscard]] io::array shades_of(const io::array& index);

}  // namespace nearfield::cli
