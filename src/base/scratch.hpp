// Workspace of the host code: aligned, uninitialised, owned; running out of memory is an error that says how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace nearfield {

inline constexpr std::size_t scratch_alignment = 128;

/// `bytes` of memory from operator new with scratch_alignment; error(out_of_memory) says how many, and how many are free.
void* allocate_scratch(std::int64_t bytes);

template <class T>
class host_scratch {
public:
    host_scratch() = default;
    explicit host_scratch(std::int64_t count) {
        if (count > 0) data_.reset(static_cast<T*>(allocate_scratch(count * static_cast<std::int64_t>(sizeof(T)))));
    }
    [[nodiscard]] T* get() const { return data_.get(); }

private:
    struct release {
        void operator()(T* p) const { ::operator delete(p, std::align_val_t{scratch_alignment}); }
    };
    std::unique_ptr<T, release> data_;
};

}  // namespace nearfield
