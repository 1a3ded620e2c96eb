// Signals, and a progress bar on a terminal.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace nearfield::cli {

/// Texts that are written when a signal ends the program.
struct last_words {
    int signal;
    std::string to_stdout, to_stderr;
};

/// From here on, signals that end programs remove unfinished files, write their last words and end the process at once
/// with 128 plus their number. Signals that the parent process set to be ignored stay ignored. A file that grows
/// beyond its limit makes the write fail instead of raising a signal.
void leave_on_signals(std::vector<last_words> words);

/// Draws a bar on stderr, only if stderr is a terminal and the work takes longer than 0.4 seconds.
class progress_bar {
public:
    progress_bar(std::string what, bool wanted);
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    /// Serves as host::progress. It always returns true: a signal ends the process without asking the work.
    bool operator()(double share);

private:
    using clock = std::chrono::steady_clock;
    std::string what_;
    bool shown_, drawn_ = false;
    clock::time_point started_ = clock::now(), last_ = started_;
};

}  // namespace nearfield::cli
