#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "io/io.hpp"
#include "os/files.hpp"
#include "os/process.hpp"

namespace nearfield::cli {
namespace {

constexpr auto patience = std::chrono::milliseconds(400), between_frames = std::chrono::milliseconds(50);
constexpr std::string_view clear_line = "\r\033[K";

std::atomic<bool> leaving{false}, bar_is_drawn{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");
/// It does not change once signals are caught, and is never destroyed, because signals can come until the very end.
std::vector<last_words>& words_for_signals = *new std::vector<last_words>;

void say(int fd, std::string_view text) {
    static_cast<void>(os::write(fd, text.data(), text.size()));  // on failure nothing can be reported
}

/// Runs at any point of the program, so it only calls functions that POSIX allows in a handler.
void on_signal(int number) {
    // Writing to stderr may block if nobody reads it; a second signal does not wait for that.
    if (leaving.exchange(true)) std::_Exit(128 + number);
    io::abandon_outputs();
    os::accept_signals();
    if (bar_is_drawn.load()) say(os::standard_error, clear_line);
    for (const last_words& each : words_for_signals)
        if (each.signal == number) say(os::standard_output, each.to_stdout), say(os::standard_error, each.to_stderr);
    std::_Exit(128 + number);
}

}  // namespace

void leave_on_signals(std::vector<last_words> words) {
    words_for_signals = std::move(words);
    for (const last_words& each : words_for_signals) os::catch_signal(each.signal, on_signal);
    os::ignore_file_limit();
}

progress_bar::progress_bar(std::string what, bool wanted)
    : what_(std::move(what)), shown_(wanted && os::is_terminal(os::standard_error)) {}

progress_bar::~progress_bar() {
    if (!drawn_) return;
    std::fputs(clear_line.data(), stderr);
    std::fflush(stderr);
    bar_is_drawn = false;
}

bool progress_bar::operator()(double share) {
    const auto now = clock::now();
    if (shown_ && now - started_ > patience && now - last_ > between_frames) {
        constexpr int width = 40;
        const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
        const std::string line =
            fmt::format("\r{} [{}{}] {:3.0f}%", what_, std::string(static_cast<std::size_t>(full), '#'),
                        std::string(static_cast<std::size_t>(width - full), '.'), 100 * share);
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
        last_ = now, drawn_ = true;
        bar_is_drawn = true;
    }
    return true;
}

}  // namespace nearfield::cli
