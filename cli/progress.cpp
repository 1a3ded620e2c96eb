#include "cli/progress.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string_view>
#include <utility>

#include "io/io.hpp"

namespace nearfield::cli {
namespace {

constexpr auto patience = std::chrono::milliseconds(400), between_frames = std::chrono::milliseconds(50);
constexpr std::string_view clear_line = "\r\033[K";

std::atomic<bool> leaving{false}, bar_is_drawn{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");
/// Does not change once signals are caught, and is never destroyed: they come at the very end as well.
std::vector<last_words>& words_for_signals = *new std::vector<last_words>;

void say(int fd, std::string_view text) {
    if (::write(fd, text.data(), text.size()) < 0) return;  // there is nobody left to tell
}

/// Runs in the midst of anything, so it calls nothing but what POSIX lists as safe in a handler.
void on_signal(int number) {
    // Nobody may be reading stderr; the second signal does not wait for that.
    if (leaving.exchange(true)) _exit(128 + number);
    io::abandon_outputs();
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    if (bar_is_drawn.load()) say(STDERR_FILENO, clear_line);
    for (const last_words& each : words_for_signals)
        if (each.signal == number) say(STDOUT_FILENO, each.to_stdout), say(STDERR_FILENO, each.to_stderr);
    _exit(128 + number);
}

}  // namespace

std::vector<int> ending_signals() { return {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU}; }

void leave_on_signals(std::vector<last_words> words) {
    words_for_signals = std::move(words);
    for (const last_words& each : words_for_signals) {
        struct sigaction action {
        }, before{};
        action.sa_handler = on_signal;
        sigfillset(&action.sa_mask);  // until the files are removed
        if (sigaction(each.signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(each.signal, &action, nullptr);
    }
    signal(SIGXFSZ, SIG_IGN);
}

progress_bar::progress_bar(std::string what, bool wanted)
    : what_(std::move(what)), shown_(wanted && isatty(STDERR_FILENO) == 1) {}

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
