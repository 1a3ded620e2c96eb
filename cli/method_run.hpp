// --method, --timings and --random-sites: fields by a published method, and what it says of its stages.
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

/// --timings alone takes the exact engine for a method.
[[nodiscard]] bool uses_method(const arguments& args);

/// Gives random sites a name among the inputs. Throws invalid_argument without an input, or with one of both kinds.
void name_random_sites(arguments& args);
/// Throws invalid_argument for a --method that is none, and for options that do not go with it.
void check_method_words(const arguments& args);

/// The only run, by --method.
[[nodiscard]] computed compute_by_method(const arguments& args, field_run& run, method_report& took);

/// Brushfire and chamfer have a form for each place: on a GPU the parallel and the iterated one are meant.
[[nodiscard]] method on_gpu(method by);

/// "method", the one that ran, and "stages".
[[nodiscard]] json_report describe_method(const arguments& args, const method_report& took, const computed& done);
[[nodiscard]] json_report describe_stages(const method_report& took);
/// A table: how the input came to be, copies, every stage, all of them together, and the export.
void print_stages(bool to_stderr, const field_run& run, const method_report& took, const computed& done,
                  double save_ms);

/// uint8: a gray of 1 to 255 for each site, 0 without one.
[[nodiscard]] io::array shades_of(const io::array& index);

}  // namespace nearfield::cli
