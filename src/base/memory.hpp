// How much memory this process can still get. The file readers use it without linking the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nearfield {

/// Bytes that this process can get without harm to itself or others: the least of what the machine has, what its control
/// groups leave, and its own limits RLIMIT_AS and RLIMIT_DATA. Nothing where the system does not say. With overcommit,
/// malloc alone promises memory that is not there. `root` stands before every path; tests have trees of their own.
std::optional<std::int64_t> free_memory(const std::string& root = {});

/// False where a thread's stack and heap would take too much of what is left under RLIMIT_AS: the call itself needs memory.
bool room_for_thread();

/// Blocks up to this size are not worth the question.
inline constexpr std::int64_t worth_asking_bytes = std::int64_t{1} << 26;

/// Throws error(out_of_memory), which names the bytes needed and free, where `bytes` are more than free_memory(). For
/// callers that know all that a call will take, outputs included; `what` needs them: "the call", "labels and counts".
void require_memory(std::int64_t bytes, const std::string& what);

/// A number of bytes for people: "512 bytes", "1.5 MiB", "2.0 GiB".
std::string bytes_text(std::int64_t bytes);

}  // namespace nearfield
