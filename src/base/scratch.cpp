#include "base/scratch.hpp"

#include <cstdint>
#include <cstring>

#include "base/lend.hpp"
#include "base/memory.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "os/process.hpp"

namespace nearfield {

namespace {

/// From this size on, memory usually comes fresh from the system at each call, and each page of 4 KiB costs a fault. So
/// it is put on pages of 2 MiB if the system lets callers choose. Smaller blocks are mostly reused.
constexpr std::int64_t large_page = std::int64_t{1} << 21, least_on_large_pages = 2 * large_page;

void* on_large_pages(void* memory, std::int64_t bytes) {
    const auto up = [](std::uintptr_t at) { return (at + large_page - 1) / large_page * large_page; };
    const std::uintptr_t first = up(reinterpret_cast<std::uintptr_t>(memory));
    const std::uintptr_t last = up(first + static_cast<std::uintptr_t>(bytes));
    os::prefer_large_pages(reinterpret_cast<void*>(first), static_cast<std::int64_t>(last - first));
    return reinterpret_cast<void*>(first);
}

}  // namespace

scratch_block allocate_scratch(std::int64_t bytes) {
    if (rehearsal* const now = rehearsing()) {
        void* const counted = now->take(bytes);
        if (counted == nullptr) fail_memory(bytes, "the address space of the plan");
        return {counted, counted, false};
    }
    if (bytes >= least_counted_bytes) require_memory_for_all(bytes, "the call's workspace");
    const bool large = bytes >= least_on_large_pages;
    void* const memory = ::operator new(static_cast<std::size_t>(large ? bytes + 2 * large_page : bytes),
                                        std::align_val_t{scratch_alignment}, std::nothrow);
    if (memory == nullptr) fail_memory(bytes, "the call's workspace");
    const bool counted = bytes >= least_counted_bytes && expect_writes(memory, bytes);
    return {memory, large ? on_large_pages(memory, bytes) : memory, counted};
}

void free_scratch(void* memory, bool counted) noexcept {
    if (rehearsal* const now = rehearsing()) return now->give(memory);
    if (counted) expect_no_writes(memory);
    ::operator delete(memory, std::align_val_t{scratch_alignment});
}

void clear_scratch(void* start, std::int64_t bytes) noexcept {
    if (rehearsing() == nullptr) std::memset(start, 0, static_cast<std::size_t>(bytes));
}

void with_bytes(const host&, std::int64_t bytes, const std::function<void(void*)>& use) {
    const host_scratch<std::byte> memory(bytes);
    use(memory.get());
}

}  // namespace nearfield
