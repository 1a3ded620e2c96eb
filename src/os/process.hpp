// Memory, threads and signals, as the operating system gives them. posix.cpp is for Linux and macOS, windows.cpp for
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
/// Bytes that programs can still get. Nothing on Linux, where files say it (base/memory.cpp).
[[nodiscard]] std::optional<std::int64_t> machine_memory();
/// Limits that were set for this process: of its address space, and of its data.
[[nodiscard]] std::optional<std::int64_t> address_space_limit();
[[nodiscard]] std::optional<std::int64_t> data_limit();

/// Zeroed pages that take memory only where they are written; null where there is no address space.
[[nodiscard]] void* reserve(std::int64_t bytes) noexcept;
void give_back(void* reserved, std::int64_t bytes) noexcept;
/// Asks for pages of 2 MiB. A refusal changes nothing but speed.
void prefer_large_pages(void* start, std::int64_t bytes) noexcept;
/// Bytes of this block on pages that are not in memory; 0 where the system does not say.
[[nodiscard]] std::int64_t absent_bytes(std::uintptr_t start, std::uintptr_t end);

/// Processors, one bit each. An empty set stands for one that is not known.
struct processor_set {
    std::array<std::uint64_t, 16> bits{};
    friend bool operator==(const processor_set&, const processor_set&) = default;
    [[nodiscard]] int count() const;
};
/// Where the calling thread may run.
[[nodiscard]] processor_set processors();
/// Sends a thread to processors. A refusal leaves it where it is.
void move_thread(std::thread::native_handle_type thread, const processor_set& to);
/// Starts a thread that gets none of the signals meant for the program. Those that it causes itself it gets, and the
/// profiler's. Throws std::system_error.
[[nodiscard]] std::thread start_thread(std::function<void()> body);
/// Keeps the library or program that holds this code loaded until the process ends.
void stay_loaded();
/// Calls these around every fork(), as pthread_atfork(); each may be null. False where it was not registered.
bool on_fork(void (*before)(), void (*after)(), void (*in_child)());

/// The signals that end a program: Ctrl-C, a closed terminal, `kill`, a limit of processor time.
[[nodiscard]] std::vector<int> ending_signals();
/// Calls `handler` for a signal, with all other ones held back, unless it is ignored already.
void catch_signal(int number, void (*handler)(int));
/// In a handler: lets further signals come.
void accept_signals() noexcept;
/// A file that grows beyond its limit is an error of the write from here on.
void ignore_file_limit() noexcept;

}  // namespace nearfield::os
