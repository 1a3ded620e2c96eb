// A part of a test in a process of its own, for what would spoil this one: limits, exits, forks.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>

namespace nearfield::test {

/// Runs `body` in a child of fork() and gives its status: 0 where it returns true, 1 for false, 2 for an exception, 128
/// and the signal where one ended it. A child that hangs is ended after two minutes.
template <class Body>
int in_child(const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        int status = 2;
        try {
            status = body() ? 0 : 1;
        } catch (...) {
        }
        _exit(status);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

#ifdef __SANITIZE_THREAD__
inline constexpr bool thread_sanitized = true;  // which knows no threads in children of fork()
#else
inline constexpr bool thread_sanitized = false;
#endif

}  // namespace nearfield::test
