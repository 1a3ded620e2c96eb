#include "base/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <fstream>

#include "base/control_groups.hpp"
#include "nearfield/error.hpp"
#include "os/process.hpp"

namespace nearfield {
namespace {

std::optional<std::int64_t> of_machine(const std::string& root) {
    const std::string info = root + "/proc/meminfo";
    const auto available = number_in(info, "MemAvailable:");
    if (!available) return os::machine_memory();
    return (*available + number_in(info, "SwapFree:").value_or(0)) * 1024;
}

/// Returns what a group's limit leaves. Cached files count as used, but can be dropped, so they are added again.
std::optional<std::int64_t> of_group(const control_group& group) {
    const auto in = [&](const char* name) { return number_in(group.folder + "/" + name); };
    const auto limit = in(group.unified ? "memory.max" : "memory.limit_in_bytes");
    const auto used = in(group.unified ? "memory.current" : "memory.usage_in_bytes");
    if (!limit || !used) return std::nullopt;
    const char* const dropped = group.unified ? "inactive_file" : "total_inactive_file";
    return *limit - *used + number_in(group.folder + "/memory.stat", dropped).value_or(0);
}

/// Returns what the process's own limit of address space (field 0 of statm) or of data (field 5) leaves.
std::optional<std::int64_t> of_process(std::optional<std::int64_t> limit, int field, const std::string& root) {
    if (!limit) return std::nullopt;
    std::ifstream pages(root + "/proc/self/statm");
    std::int64_t used = 0;
    for (int i = 0; i <= field; ++i) pages >> used;
    if (!pages) return std::nullopt;
    return *limit - used * os::page_bytes();
}

constexpr int statm_all = 0, statm_data = 5;

}  // namespace

std::optional<std::int64_t> free_memory() { return free_memory_in({}); }

std::optional<std::int64_t> free_memory_in(const std::string& root) {
    std::optional<std::int64_t> least = of_machine(root);
    const auto consider = [&](std::optional<std::int64_t> bytes) {
        if (bytes) least = std::max<std::int64_t>(0, std::min(*bytes, least.value_or(INT64_MAX)));
    };
    for (const control_group& group : control_groups("memory", root)) consider(of_group(group));
    consider(of_process(os::address_space_limit(), statm_all, root));
    consider(of_process(os::data_limit(), statm_data, root));
    return least;
}

int threads_with_room() {
    // A thread takes a stack of 8 MiB, and the 64 MiB that glibc's malloc sets aside when the thread first allocates
    // memory.
    constexpr std::int64_t a_thread = std::int64_t{72} << 20;
    std::int64_t left = INT64_MAX;
    for (const auto& each :
         {of_process(os::address_space_limit(), statm_all, {}), of_process(os::data_limit(), statm_data, {})})
        left = std::min(left, each.value_or(INT64_MAX));
    return static_cast<int>(std::clamp<std::int64_t>(left / (4 * a_thread), 0, INT_MAX));
}

void require_memory(std::int64_t bytes, const std::string& what) {
    const auto available = bytes > most_unchecked_bytes ? free_memory() : std::nullopt;
    if (available && bytes > *available) fail_memory(bytes, what);
}

void fail_memory(std::int64_t bytes, const std::string& what) {
    const auto available = free_memory();
    throw error(error_code::out_of_memory,
                fmt::format("out of memory: {} needs {}{}; use a smaller array or a machine with more memory", what,
                            bytes == 0 ? "more" : bytes_text(bytes),
                            available ? fmt::format(", free are {}", bytes_text(*available)) : ""));
}

std::string bytes_text(std::int64_t bytes) {
    if (bytes < 100 * 1024) return fmt::format("{} bytes", bytes);
    if (bytes < (std::int64_t{1} << 30)) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace nearfield
