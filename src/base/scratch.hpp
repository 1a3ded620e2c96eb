// Workspace of the host code: aligned, uninitialised, owned; running out of memory is an error that says how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/memory.hpp"
#include "nearfield/error.hpp"

namespace nearfield {

inline constexpr std::size_t scratch_alignment = 128;

template <class T>
class host_scratch {
public:
    host_scratch() = default;
    explicit host_scratch(std::int64_t count) {
        if (count == 0) return;
        const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
        const auto available = static_cast<std::int64_t>(bytes) > worth_asking_bytes ? free_memory() : std::nullopt;
        if (!available || static_cast<std::int64_t>(bytes) <= *available)
            data_.reset(static_cast<T*>(::operator new(bytes, std::align_val_t{scratch_alignment}, std::nothrow)));
        if (!data_)
            throw error(
                error_code::out_of_memory,
                fmt::format("out of memory: the call needs a workspace of {}{}; use a smaller array or a machine "
                            "with more memory",
                            bytes_text(static_cast<std::int64_t>(bytes)),
                            available ? ", free are " + bytes_text(*available) : ""));
    }
    [[nodiscard]] T* get() const { return data_.get(); }

private:
    struct release {
        void operator()(T* p) const { ::operator delete(p, std::align_val_t{scratch_alignment}); }
    };
    std::unique_ptr<T, release> data_;
};

}  // namespace nearfield
