// Memory, threads and signals, from the operating system. posix.cpp serves Linux and macOS, windows.cpp
// Windows; no other source includes a system's headers (tests/house/layers.py). Only Linux has been run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

namespace nearfield::os {

[[nodiscard]] std::int64_t page_bytes();
/// Returns the bytes that programs can still get; nothing on Linux, where base/memory.cpp reads files instead.
[[nodiscard]] std::optional<std::int64_t> machine_memory();
/// These return the limits set for this process: of its address space, and of its data.
[[nodiscard]] std::optional<std::int64_t> address_space_limit();
[[nodiscard]] std::optional<std::int64_t> data_limit();

/// Reserves zeroed pages that take memory only where they are written; returns null without address space.
[[nodiscard]] void* reserve(std::int64_t bytes) noexcept;
void give_back(void* reserved, std::int64_t bytes) noexcept;
/// Asks for pages of 2 MiB. If the system refuses, only speed differs.
void prefer_large_pages(void* start, std::int64_t bytes) noexcept;
/// Lets the system take the block's pages when memory runs short, until they are written again; their content may be
/// lost. Returns false if the system has no such thing.
[[nodiscard]] bool release_on_demand(void* start, std::int64_t bytes) noexcept;
/// Returns the bytes of this block on pages that are not in memory; 0 if the system does not say.
[[nodiscard]] std::int64_t absent_bytes(std::uintptr_t start, std::uintptr_t end);

/// Processors, one bit each. An empty set means that they are not known.
struct processor_set {
    std::array<std::uint64_t, 16> bits{};
    friend bool operator==(const processor_set&, const processor_set&) = default;
    [[nodiscard]] int count() const;
};
/// Returns the processors on which the calling thread may run.
[[nodiscard]] processor_set processors();
/// Moves a thread to processors. If the system refuses, the thread stays where it is.
void move_thread(std::thread::native_handle_type thread, const processor_set& to);
/// Starts a thread that receives only signals that it causes itself, and the profiler's: none that is meant for the
/// program. Throws std::system_error.
[[nodiscard]] std::thread start_thread(std::function<void()> body);
/// Keeps the library or program that holds this code loaded until the process ends.
void stay_loaded();
/// Calls these functions around every fork(), like pthread_atfork(); each may be null. Returns false if it failed.
bool on_fork(void (*before)(), void (*after)(), void (*in_child)());

/// Returns the signals that end a program: Ctrl-C, a closed terminal, `kill`, a limit of processor time.
[[nodiscard]] std::vector<int> ending_signals();
/// Calls `handler` for a signal, with all other signals blocked, unless the signal is ignored already.
void catch_signal(int number, void (*handler)(int));
/// Unblocks further signals; for use in a handler.
void accept_signals() noexcept;
/// Makes the write fail, instead of a signal, when a file grows beyond its limit.
void ignore_file_limit() noexcept;

}  // namespace nearfield::os
