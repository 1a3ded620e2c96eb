// Workspace of host code: aligned, uninitialised, owned. If memory runs out, the error says how much was needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace nearfield {

inline constexpr std::size_t scratch_alignment = 128;

/// Memory from operator new with scratch_alignment, and the start of the usable bytes: large blocks use large pages.
struct scratch_block {
    void* memory = nullptr;
    void* start = nullptr;
    bool counted = false;  ///< counted by expect_writes()
};
/// Allocates; throws error(out_of_memory), which says how many bytes were asked for, and how many are free.
scratch_block allocate_scratch(std::int64_t bytes);
void free_scratch(void* memory, bool counted) noexcept;

template <class T>
class host_scratch {
public:
    host_scratch() = default;
    explicit host_scratch(std::int64_t count) {
        if (count <= 0) return;
        const scratch_block made = allocate_scratch(count * static_cast<std::int64_t>(sizeof(T)));
        memory_ = {made.memory, release{made.counted}}, start_ = static_cast<T*>(made.start);
    }
    [[nodiscard]] T* get() const { return memory_ == nullptr ? nullptr : start_; }

private:
    struct release {
        bool counted = false;
        void operator()(void* memory) const { free_scratch(memory, counted); }
    };
    std::unique_ptr<void, release> memory_;
    T* start_ = nullptr;
};

}  // namespace nearfield
