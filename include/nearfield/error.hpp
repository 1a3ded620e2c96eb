// The one exception that the library throws.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace [[gnu::visibility("default")]] nearfield {

#ifdef __cpp_lib_source_location
using source_location = std::source_location;
#else
/// Replacement for clang before 15, which lacks it: an object of the same size that holds no place.
class source_location {
public:
    static constexpr source_location current() noexcept { return {}; }
    [[nodiscard]] constexpr unsigned line() const noexcept { return 0; }
    [[nodiscard]] constexpr unsigned column() const noexcept { return 0; }
    [[nodiscard]] constexpr const char* file_name() const noexcept { return ""; }
    [[nodiscard]] constexpr const char* function_name() const noexcept { return ""; }

private:
    [[maybe_unused]] const void* place_ = nullptr;
};
#endif

/// Kind of failure, for callers that branch on it; the command line maps each to an exit code.
enum class error_code {
    invalid_argument,  ///< an argument breaks a rule of the call; nothing was started
    out_of_memory,     ///< host or device memory; the message says the bytes needed and, where known, free
    io,                ///< a file or stream could not be read or written, or its content is not what it claims
    unsupported,       ///< a valid request that this build or machine cannot serve, such as CUDA without a GPU
    device,            ///< the CUDA runtime reported a failure
    cancelled,         ///< the progress callback asked to stop
};

/// Thrown by every function of the library that fails. The message names the argument, what came, what was expected
/// and how to fix it. Arguments are checked before any work is started.
class error : public std::runtime_error {
public:
    error(error_code code, const std::string& message, source_location where = source_location::current())
        : std::runtime_error(message), code_(code), where_(where) {}

    [[nodiscard]] error_code code() const noexcept { return code_; }
    /// The place in the library that found the problem.
    [[nodiscard]] const source_location& where() const noexcept { return where_; }

private:
    error_code code_;
    source_location where_;
};

}  // namespace nearfield
