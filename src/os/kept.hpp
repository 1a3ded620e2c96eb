// Large blocks of host memory, which calls free for later calls. The system clears fresh memory, which takes up to half
// of a call's time. It may take the pages of a kept block whenever it runs short of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfield::os {

/// From this size on, memory usually comes fresh from the system at each call, and each page of 4 KiB costs a fault. So
/// it is put on pages of 2 MiB if the system lets callers choose. Smaller blocks are mostly reused.
inline constexpr std::int64_t least_large_bytes = std::int64_t{1} << 22;

inline constexpr std::size_t block_alignment = 128;

/// Stands at the beginning of a block, which operator new makes with block_alignment.
struct large_block {
    void* start;         ///< of the usable bytes: a page of 2 MiB
    std::int64_t bytes;  ///< usable
};
/// Returns a kept block of at most an eighth more than `bytes`, or a new one; null if there is no memory.
large_block* allocate_large(std::int64_t bytes) noexcept;
/// Keeps the block, or frees it: if a gibibyte is kept, the oldest ones go. A process with a limit of its own on memory
/// keeps nothing.
void free_large(large_block* block) noexcept;
[[nodiscard]] std::int64_t kept_bytes() noexcept;
void free_kept() noexcept;

}  // namespace nearfield::os
