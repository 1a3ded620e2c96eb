#include "base/unwritten.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include "base/memory.hpp"
#include "base/rehearsal.hpp"
#include "os/process.hpp"

namespace nearfield {
namespace {

struct block {
    std::uintptr_t start, end;
    [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(end - start); }
};

/// The counted blocks of all calls of the process. It is never destroyed, because calls may outlast static objects.
struct registry {
    std::mutex lock;
    std::vector<block> blocks;
};

registry& all_blocks() {
    static registry* const made = [] {
        static registry* const kept = new registry;
        // A child of fork() gets an open lock, whatever other threads were doing.
        os::on_fork([] { kept->lock.lock(); }, [] { kept->lock.unlock(); }, [] { kept->lock.unlock(); });
        return kept;
    }();
    return *made;
}

std::vector<block> blocks_now() {
    registry& all = all_blocks();
    const std::lock_guard held(all.lock);
    return all.blocks;
}

/// Lists the private memory that belongs to no file, in ascending order; none if the system is not Linux.
std::vector<block> anonymous_memory() {
    std::vector<block> found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        block each{};
        char dash = 0;
        std::string rights, offset, device;
        std::uint64_t inode = 1;
        words >> std::hex >> each.start >> dash >> each.end >> rights >> offset >> device >> std::dec >> inode;
        if (words && inode == 0 && rights.ends_with('p')) found.push_back(each);
    }
    return found;
}

std::int64_t unwritten_bytes_of(const std::vector<block>& blocks) {
    std::int64_t sum = 0;
    for (const block& memory : anonymous_memory())
        for (const block& each : blocks) {
            const std::uintptr_t start = std::max(each.start, memory.start), end = std::min(each.end, memory.end);
            if (start < end) sum += os::absent_bytes(start, end);
        }
    return sum;
}

block block_of(const any_output<host>& view) {
    std::int64_t first = 0, last = 0;
    for (int axis = 0; axis < view.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        const std::int64_t end = (view.shape[k] - 1) * view.stride[k];
        (end < 0 ? first : last) += end;
    }
    const auto at = [&](std::int64_t element) {
        return reinterpret_cast<std::uintptr_t>(view.data) + static_cast<std::uintptr_t>(element * size_of(view.type));
    };
    return {at(first), at(last + 1)};
}

}  // namespace

bool expect_writes(const void* start, std::int64_t bytes) noexcept {
    try {
        registry& all = all_blocks();
        const std::lock_guard held(all.lock);
        const auto at = reinterpret_cast<std::uintptr_t>(start);
        all.blocks.push_back({at, at + static_cast<std::uintptr_t>(bytes)});
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void expect_no_writes(const void* start) noexcept {
    registry& all = all_blocks();
    const std::lock_guard held(all.lock);
    const auto found = std::ranges::find(all.blocks, reinterpret_cast<std::uintptr_t>(start), &block::start);
    if (found != all.blocks.end()) all.blocks.erase(found);
}

std::int64_t unwritten_bytes() { return unwritten_bytes_of(blocks_now()); }

void require_memory_for_all(std::int64_t bytes, const std::string& what) {
    const std::vector<block> blocks = blocks_now();
    std::int64_t most = bytes;
    for (const block& each : blocks) most += each.bytes();
    const auto available = most > most_unchecked_bytes ? free_memory() : std::nullopt;
    if (!available || most <= *available) return;
    // Other threads may write pages or free blocks meanwhile; the sum never exceeds what was unwritten before.
    const std::int64_t needed = bytes + unwritten_bytes_of(blocks);
    if (needed > *available) fail_memory(needed, needed > bytes ? "the call with its outputs" : what);
}

void expected_outputs::count(std::initializer_list<any_output<host>> all) {
    if (rehearsing() != nullptr) return;
    try {
        for (const any_output<host>& view : all) {
            if (!view.wanted() || view.cells() * size_of(view.type) < least_counted_bytes) continue;
            const block lies = block_of(view);
            const void* const start = reinterpret_cast<const void*>(lies.start);
            if (count_ < most && expect_writes(start, lies.bytes()))
                counted_[static_cast<std::size_t>(count_++)] = start;
        }
        if (count_ > 0) require_memory_for_all(0, "the call with its outputs");
    } catch (...) {
        forget();
        throw;
    }
}

void expected_outputs::forget() noexcept {
    while (count_ > 0) expect_no_writes(counted_[static_cast<std::size_t>(--count_)]);
}

}  // namespace nearfield
