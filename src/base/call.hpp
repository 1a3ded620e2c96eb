// Sets up and ends every public call.
#pragma once

#include <cfenv>
#include <exception>
#include <new>
#include <stdexcept>

#include "base/memory.hpp"

namespace nearfield {

/// Sets the default floating-point environment (round to nearest, denormals kept, no traps) and restores the caller's,
/// flags included, at its end. The pool's threads always have the default one.
class default_floats {
public:
    default_floats() {
        std::fegetenv(&callers_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~default_floats() { std::fesetenv(&callers_); }
    default_floats(const default_floats&) = delete;
    default_floats& operator=(const default_floats&) = delete;

private:
    std::fenv_t callers_;
};

/// Allocates the thread's storage for C++ exceptions. If this library was loaded by dlopen, glibc would allocate it
/// when a thread first throws, and end the process if there is no memory for it, which is likely when the exception is
/// bad_alloc.
inline void be_ready_to_throw() { static_cast<void>(std::uncaught_exceptions()); }

/// Runs the work of a public call. Results have the same bits in any floating-point environment of the caller, and only
/// `error` and exceptions from the caller's own functions leave it.
template <class Work>
auto in_call(const Work& work) {
    const default_floats floats;
    be_ready_to_throw();
    try {
        return work();
    } catch (const std::bad_alloc&) {
        fail_memory(0, "a table of the call");
    } catch (const std::length_error&) {  // a table larger than any address space
        fail_memory(0, "a table of the call");
    }
}

}  // namespace nearfield
