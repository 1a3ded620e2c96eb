#include "base/scratch.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>
#include <optional>

#include "base/memory.hpp"
#include "nearfield/error.hpp"

namespace nearfield {

namespace {

/// Asks for pages of 2 MiB, where the system leaves that to its callers: memory of such a size comes fresh from it with each
/// call, and each page of 4 KiB costs a fault. Blocks that are smaller are mostly used again.
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t last = (begin + static_cast<std::uintptr_t>(bytes)) / page * page;
    // A refusal changes nothing but speed.
    if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

constexpr std::int64_t worth_large_pages = std::int64_t{1} << 23;

}  // namespace

void* allocate_scratch(std::int64_t bytes) {
    const std::optional<std::int64_t> available = bytes > worth_asking_bytes ? free_memory() : std::nullopt;
    void* memory = nullptr;
    if (!available || bytes <= *available)
        memory = ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{scratch_alignment}, std::nothrow);
    if (memory == nullptr)
        throw error(error_code::out_of_memory,
                    fmt::format("out of memory: the call needs a workspace of {}{}; use a smaller array or a machine "
                                "with more memory",
                                bytes_text(bytes), available ? ", free are " + bytes_text(*available) : ""));
    if (bytes >= worth_large_pages) ask_for_large_pages(memory, bytes);
    return memory;
}

}  // namespace nearfield
