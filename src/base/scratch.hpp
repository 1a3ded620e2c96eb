// Workspace of the host code: aligned, uninitialised, owned; running out of memory is an error that says how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace nearfield {

inline constexpr std::size_t scratch_alignment = 128;

/// Memory from operator new with scratch_alignment, and where in it `bytes` lie: large blocks on large pages.
struct scratch_block {
    void* memory = nullptr;
    void* start = nullptr;
};
/// error(out_of_memory) says how many bytes were asked for, and how many are free.
scratch_block allocate_scratch(std::int64_t bytes);

template <class T>
class host_scratch {
public:
    host_scratch() = default;
    explicit host_scratch(std::int64_t count) {
        if (count <= 0) return;
        const scratch_block made = allocate_scratch(count * static_cast<std::int64_t>(sizeof(T)));
        memory_.reset(made.memory), start_ = static_cast<T*>(made.start);
    }
    [[nodiscard]] T* get() const { return memory_ == nullptr ? nullptr : start_; }

private:
    struct release {
        void operator()(void* p) const { ::operator delete(p, std::align_val_t{scratch_alignment}); }
    };
    std::unique_ptr<void, release> memory_;
    T* start_ = nullptr;
};

}  // namespace nearfield
