// Signals, and a bar on a terminal.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace nearfield::cli {

/// What is written when a signal ends the program.
struct last_words {
    int signal;
    std::string to_stdout, to_stderr;
};

/// From here on these signals remove unfinished files, write their last words and end the process with 128 and their
/// number, whatever it is doing. Signals that whoever started the program ignores stay ignored. A file that grows
/// beyond its limit is an error of the write instead of a signal.
void leave_on_signals(std::vector<last_words> words);

/// A bar on stderr, only where stderr is a terminal and only for work that takes longer than a moment.
class progress_bar {
public:
    progress_bar(std::string what, bool wanted);
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    /// What host::progress calls. Always true: a signal ends the process without asking the work.
    bool operator()(double share);

private:
    using clock = std::chrono::steady_clock;
    std::string what_;
    bool shown_, drawn_ = false;
    clock::time_point started_ = clock::now(), last_ = started_;
};

}  // namespace nearfield::cli
