#include "os/kept.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

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

/// It needs no memory of its own, and is never destroyed, because calls may outlast static objects.
class kept_blocks {
public:
    static kept_blocks& all() {
        static kept_blocks* const made = [] {
            alignas(kept_blocks) static std::array<std::byte, sizeof(kept_blocks)> memory;
            static kept_blocks* const kept = new (memory.data()) kept_blocks;
            // A child of fork() gets an open lock, whatever other threads were doing.
            on_fork([] { kept->lock_.lock(); }, [] { kept->lock_.unlock(); }, [] { kept->lock_.unlock(); });
            return kept;
        }();
        return *made;
    }
    large_block* take(std::int64_t bytes) noexcept {
        const std::lock_guard held(lock_);
        const auto fits = [&](const large_block* b) { return b->bytes >= bytes && b->bytes - bytes <= bytes / 8; };
        for (std::size_t k = count_; k-- > 0;)
            if (fits(blocks_[k])) return remove(k);
        return nullptr;
    }
    void keep(large_block* block) noexcept {
        const std::lock_guard held(lock_);
        while (count_ == most_blocks || bytes_ + block->bytes > most_bytes) release(remove(0));
        blocks_[count_++] = block;
        bytes_ += block->bytes;
    }
    void free_all() noexcept {
        const std::lock_guard held(lock_);
        while (count_ > 0) release(remove(0));
    }
    std::int64_t bytes() noexcept {
        const std::lock_guard held(lock_);
        return bytes_;
    }

private:
    large_block* remove(std::size_t k) noexcept {
        large_block* const removed = blocks_[k];
        std::move(blocks_.begin() + k + 1, blocks_.begin() + count_, blocks_.begin() + k);
        --count_, bytes_ -= removed->bytes;
        return removed;
    }
    std::mutex lock_;
    std::int64_t bytes_ = 0;
    std::size_t count_ = 0;
    std::array<large_block*, most_blocks> blocks_{};  ///< the oldest first
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
