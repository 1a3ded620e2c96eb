#include "os/kept.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "os/process.hpp"

namespace nearfield::os {
namespace {

constexpr std::int64_t large_page = std::int64_t{1} << 21;
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
constexpr std::size_t most_blocks = 16;

large_block* make(std::int64_t bytes) noexcept {
    void* const memory = ::operator new(static_cast<std::size_t>(bytes + 2 * large_page),
                                        std::align_val_t{block_alignment}, std::nothrow);
    if (memory == nullptr) return nullptr;
    const auto up = [](std::uintptr_t at) { return (at + large_page - 1) / large_page * large_page; };
    const std::uintptr_t first = up(reinterpret_cast<std::uintptr_t>(memory) + sizeof(large_block));
    const std::uintptr_t last = up(first + static_cast<std::uintptr_t>(bytes));
    const std::uintptr_t end =
        reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(bytes + 2 * large_page);
    prefer_large_pages(reinterpret_cast<void*>(first), static_cast<std::int64_t>(std::min(last, end) - first));
    return new (memory) large_block{reinterpret_cast<void*>(first), bytes};
}

void release(large_block* block) noexcept { ::operator delete(block, std::align_val_t{block_alignment}); }

/// It is never destroyed, because calls may outlast static objects.
class kept_blocks {
public:
    static kept_blocks& all() {
        static kept_blocks* const made = [] {
            static kept_blocks* const kept = new kept_blocks;
            // A child of fork() gets an open lock, whatever other threads were doing.
            on_fork([] { kept->lock_.lock(); }, [] { kept->lock_.unlock(); }, [] { kept->lock_.unlock(); });
            return kept;
        }();
        return *made;
    }
    large_block* take(std::int64_t bytes) noexcept {
        const std::lock_guard held(lock_);
        const auto fits = [&](const large_block* b) { return b->bytes >= bytes && b->bytes - bytes <= bytes / 8; };
        const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(), fits);
        if (found == blocks_.rend()) return nullptr;
        large_block* const taken = *found;
        blocks_.erase(std::next(found).base());
        bytes_ -= taken->bytes;
        return taken;
    }
    void keep(large_block* block) noexcept {
        const std::lock_guard held(lock_);
        while (blocks_.size() == most_blocks || bytes_ + block->bytes > most_bytes) free_oldest();
        blocks_.push_back(block);
        bytes_ += block->bytes;
    }
    void free_all() noexcept {
        const std::lock_guard held(lock_);
        while (!blocks_.empty()) free_oldest();
    }
    std::int64_t bytes() noexcept {
        const std::lock_guard held(lock_);
        return bytes_;
    }

private:
    kept_blocks() { blocks_.reserve(most_blocks); }
    void free_oldest() noexcept {
        bytes_ -= blocks_.front()->bytes;
        release(blocks_.front());
        blocks_.erase(blocks_.begin());
    }
    std::mutex lock_;
    std::int64_t bytes_ = 0;
    std::vector<large_block*> blocks_;  ///< the oldest first
};

}  // namespace

large_block* allocate_large(std::int64_t bytes) noexcept {
    if (large_block* const kept = kept_blocks::all().take(bytes)) return kept;
    if (large_block* const made = make(bytes)) return made;
    free_kept();
    return make(bytes);
}

void free_large(large_block* block) noexcept {
    const bool keeps = block->bytes <= most_bytes && !address_space_limit() && !data_limit() &&
                       release_on_demand(block->start, block->bytes);
    if (keeps) kept_blocks::all().keep(block);
    else release(block);
}

void free_kept() noexcept { kept_blocks::all().free_all(); }
std::int64_t kept_bytes() noexcept { return kept_blocks::all().bytes(); }

}  // namespace nearfield::os
