// How much memory this machine can still give. Header only: the file readers use it without linking the library.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace nearfield {

/// Bytes the system can still give without killing somebody; nothing when it does not say. With overcommit, malloc
/// alone promises memory that is not there.
inline std::optional<std::int64_t> free_memory() {
    std::ifstream info("/proc/meminfo");
    std::string key, rest;
    std::int64_t kib = 0, total = 0;
    bool known = false;
    while (info >> key >> kib && std::getline(info, rest)) {
        if (key != "MemAvailable:" && key != "SwapFree:") continue;
        total += kib * 1024;
        known = true;
    }
    if (!known) return std::nullopt;
    std::ifstream group("/sys/fs/cgroup/memory.max");
    std::int64_t most = 0;
    if (group >> most) total = std::min(total, most);
    return total;
}

/// Blocks up to this size are not worth the question.
inline constexpr std::int64_t worth_asking_bytes = std::int64_t{1} << 26;

inline std::string bytes_text(std::int64_t bytes) {
    if (bytes < 100 * 1024) return fmt::format("{} bytes", bytes);
    if (bytes < (std::int64_t{1} << 30)) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace nearfield
