#include "base/result.hpp"

#include "base/parallel.hpp"
#include "os/process.hpp"

namespace nearfield {

void make_pages(void* memory, std::int64_t bytes) {
    constexpr std::int64_t small_page = 4096, large_page = std::int64_t{1} << 21;
    if (bytes < 2 * large_page) return;
    const auto before = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory) % small_page);
    os::prefer_large_pages(static_cast<std::byte*>(memory) - before, bytes + before);
    const host on;
    workers team(on, bytes);
    team.for_each(bytes / small_page, large_page / small_page, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t page = first; page < last; ++page) static_cast<volatile char*>(memory)[page * small_page] = 0;
    });
}

}  // namespace nearfield
