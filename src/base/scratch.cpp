#include "base/scratch.hpp"

#include <cstdint>
#include <cstring>

#include "base/lend.hpp"
#include "base/memory.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "os/kept.hpp"

namespace nearfield {

// Blocks that are counted are large ones.
static_assert(least_counted_bytes == os::least_large_bytes && scratch_alignment == os::block_alignment);

scratch_block allocate_scratch(std::int64_t bytes) {
    if (rehearsal* const now = rehearsing()) {
        void* const counted = now->take(bytes);
        if (counted == nullptr) fail_memory(bytes, "the address space of the plan");
        return {counted, counted, false};
    }
    if (bytes < os::least_large_bytes) {
        void* const memory =
            ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{scratch_alignment}, std::nothrow);
        if (memory == nullptr) fail_memory(bytes, "the call's workspace");
        return {memory, memory, false};
    }
    require_memory_for_all(bytes, "the call's workspace");
    os::large_block* const block = os::allocate_large(bytes);
    if (block == nullptr) fail_memory(bytes, "the call's workspace");
    return {block, block->start, expect_writes(block, bytes)};
}

void free_scratch(void* memory, bool counted) noexcept {
    if (rehearsal* const now = rehearsing()) return now->give(memory);
    if (!counted) return ::operator delete(memory, std::align_val_t{scratch_alignment});
    expect_no_writes(memory);
    os::free_large(static_cast<os::large_block*>(memory));
}

void clear_scratch(void* start, std::int64_t bytes) noexcept {
    if (rehearsing() == nullptr) std::memset(start, 0, static_cast<std::size_t>(bytes));
}

void with_bytes(const host&, std::int64_t bytes, const std::function<void(void*)>& use) {
    const host_scratch<std::byte> memory(bytes);
    use(memory.get());
}

}  // namespace nearfield
