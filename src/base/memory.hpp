// Memory that this process can still get. The file readers use it without linking the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nearfield/system.hpp"

namespace nearfield {

/// free_memory() with `root` before every path; tests use trees of their own.
std::optional<std::int64_t> free_memory_in(const std::string& root);

/// Returns how many threads' stacks and heaps fit a quarter of what RLIMIT_AS leaves: the call itself needs memory,
/// too.
int threads_with_room();

/// Blocks up to this size are not checked against the system's free memory.
inline constexpr std::int64_t most_unchecked_bytes = std::int64_t{1} << 26;

/// Throws require_memory()'s error: `bytes` could not be allocated; 0 if their number is not known.
[[noreturn]] void fail_memory(std::int64_t bytes, const std::string& what);

/// Formats a number of bytes: "512 bytes", "1.5 MiB", "2.0 GiB".
std::string bytes_text(std::int64_t bytes);

}  // namespace nearfield
