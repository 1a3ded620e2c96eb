#include "base/scratch.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "base/call.hpp"
#include "base/memory.hpp"
#include "nearfield/error.hpp"

namespace nearfield {

namespace {

/// Memory of such a size comes fresh from the system with most calls, and each page of 4 KiB costs a fault: it lies on pages of
/// 2 MiB, where the system leaves that to its callers. Smaller blocks are mostly used again.
constexpr std::int64_t large_page = std::int64_t{1} << 21, worth_large_pages = 2 * large_page;

void* on_large_pages(void* memory, [[maybe_unused]] std::int64_t bytes) {
    const auto up = [](std::uintptr_t at) { return (at + large_page - 1) / large_page * large_page; };
    const std::uintptr_t first = up(reinterpret_cast<std::uintptr_t>(memory));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // A refusal changes nothing but speed.
    const std::uintptr_t last = up(first + static_cast<std::uintptr_t>(bytes));
    (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
    return reinterpret_cast<void*>(first);
}

}  // namespace

scratch_block allocate_scratch(std::int64_t bytes) {
    const std::optional<std::int64_t> available = bytes > worth_asking_bytes ? free_memory() : std::nullopt;
    const bool large = bytes >= worth_large_pages;
    void* memory = nullptr;
    if (!available || bytes <= *available)
        memory = ::operator new(static_cast<std::size_t>(large ? bytes + 2 * large_page : bytes),
                                std::align_val_t{scratch_alignment}, std::nothrow);
    if (memory == nullptr)
        throw error(error_code::out_of_memory,
                    fmt::format("out of memory: the call needs a workspace of {}{}; use a smaller array or a machine "
                                "with more memory",
                                bytes_text(bytes), available ? ", free are " + bytes_text(*available) : ""));
    return {memory, large ? on_large_pages(memory, bytes) : memory};
}

void fail_allocation() {
    const std::optional<std::int64_t> available = free_memory();
    throw error(
        error_code::out_of_memory,
        fmt::format("out of memory: the tables of the call need more{}; use a smaller array, fewer threads or a "
                    "machine with more memory",
                    available ? " than the " + bytes_text(*available) + " that are free" : ""));
}

}  // namespace nearfield
