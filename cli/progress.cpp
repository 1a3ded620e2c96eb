#include "cli/progress.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "nearfield/error.hpp"

namespace nearfield::cli {
namespace {

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

constexpr auto patience = std::chrono::milliseconds(400), between_frames = std::chrono::milliseconds(50);

void on_interrupt(int) {
    if (asked_to_stop.exchange(true)) _exit(130);
}

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return asked_to_stop.load(); }

void stop_if_interrupted() {
    if (interrupted()) throw error(error_code::cancelled, "cancelled");
}

progress_bar::progress_bar(std::string what, bool wanted)
    : what_(std::move(what)), shown_(wanted && isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() {
    if (!drawn_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
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
    }
    return !interrupted();
}

}  // namespace nearfield::cli
