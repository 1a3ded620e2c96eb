// The interpreter's lock, for threads that may outlive the interpreter. Daemon threads do: where one of them asks for
// the lock after Python began to end, CPython before 3.14 ends it by pthread_exit, which unwinds the stack into
// destructors that must not throw and so aborts the process. Here such a thread sleeps until the process is gone, as it
// does from 3.14 on.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace nearfield::python {

namespace nb = nanobind;

[[noreturn]] void sleep_until_the_process_ends() noexcept;

/// Returns run(), which may wait for the interpreter's lock or run Python's code: the places where CPython ends
/// threads. Nothing in run() may have a destructor that needs the lock.
template <class Run>
auto entering_python(const Run& run) {
#ifdef __GLIBCXX__
    try {
        return run();
    } catch (abi::__forced_unwind&) {
        sleep_until_the_process_ends();
    }
#else
    return run();
#endif
}

/// function(argument), for threads that CPython may end meanwhile. Null where that raised. Needs the lock.
[[nodiscard]] nb::object called(const nb::object& function, const nb::object& argument);

/// Work without the interpreter's lock. Python's last step waits a moment for all of it, since what the work uses goes
/// next.
class native_work {
public:
    native_work() noexcept;
    ~native_work();
    native_work(const native_work&) = delete;
    native_work& operator=(const native_work&) = delete;

    /// True once there is no interpreter to come back to: work is to stop.
    [[nodiscard]] static bool must_stop() noexcept;
    /// Registers Python's last step. Called once, by the module.
    static void wait_at_exit();
};

/// Gives up the interpreter's lock for as long as it lives.
class unlocked {
public:
    unlocked() noexcept { unlock(); }
    ~unlocked() { lock(); }
    unlocked(const unlocked&) = delete;
    unlocked& operator=(const unlocked&) = delete;

    /// Takes the lock in between; unlock() is to follow.
    void lock() noexcept;
    void unlock() noexcept;

private:
    PyThreadState* state_ = nullptr;
    std::optional<native_work> counted_;
};

/// Holds the interpreter's lock for as long as it lives, in any thread.
class locked {
public:
    locked() noexcept;
    ~locked() { PyGILState_Release(state_); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace nearfield::python
