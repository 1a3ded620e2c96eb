// What surrounds every public call.
#pragma once

#include <cfenv>
#include <exception>
#include <new>
#include <stdexcept>

#include "base/memory.hpp"

namespace nearfield {

/// The default floating-point environment for as long as this lives, then the caller's again, flags included: to
/// nearest, denormals kept, no traps. The pool's threads have no other.
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

/// Has the thread's storage of C++ exceptions made now. Where this library is loaded by dlopen, glibc makes it when a
/// thread throws for the first time, and ends the process if there is no memory for it: as when what is thrown is
/// bad_alloc.
inline void be_ready_to_throw() { static_cast<void>(std::uncaught_exceptions()); }

/// The work of a public call: the same bits whatever the caller's floating-point environment, no exception but error
/// and those of the caller's own functions.
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
