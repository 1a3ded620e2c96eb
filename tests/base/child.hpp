// Runs a part of a test in a process of its own, because it would spoil this one: limits, exits, forks.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>

namespace nearfield::test {

/// Runs `body` in a child of fork() and returns its status: 0 if it returns true, 1 for false, 2 for an exception, 128
/// plus the signal if one ended it. A child that hangs is killed after two minutes.
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

// GCC defines macros for sanitizers, clang has __has_feature.
#if defined(__has_feature)
#define NEARFIELD_UNDER(sanitizer) __has_feature(sanitizer)
#else
#define NEARFIELD_UNDER(sanitizer) 0
#endif
#if defined(__SANITIZE_THREAD__) || NEARFIELD_UNDER(thread_sanitizer)
inline constexpr bool thread_sanitized = true;  // ThreadSanitizer supports no threads in children of fork()
#else
inline constexpr bool thread_sanitized = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || NEARFIELD_UNDER(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = thread_sanitized;
#endif
#undef NEARFIELD_UNDER

}  // namespace nearfield::test
