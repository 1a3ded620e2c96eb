// Ctrl-C, and a bar on a terminal.
#pragma once

#include <chrono>
#include <string>

namespace nearfield::cli {

/// From here on the first Ctrl-C asks the work to stop; the second ends the process at once with status 130.
void catch_interrupts();
[[nodiscard]] bool interrupted();
/// Throws error_code::cancelled after Ctrl-C.
void stop_if_interrupted();

/// A bar on stderr, only where stderr is a terminal and only for work that takes longer than a moment.
class progress_bar {
public:
    progress_bar(std::string what, bool wanted);
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    /// What host::progress calls: false once the work should stop.
    bool operator()(double share);

private:
    using clock = std::chrono::steady_clock;
    std::string what_;
    bool shown_, drawn_ = false;
    clock::time_point started_ = clock::now(), last_ = started_;
};

}  // namespace nearfield::cli
