#include "base/scratch.hpp"

#include <optional>

#include "base/memory.hpp"
#include "nearfield/error.hpp"

namespace nearfield {

void* allocate_scratch(std::int64_t bytes) {
    const std::optional<std::int64_t> available = bytes > worth_asking_bytes ? free_memory() : std::nullopt;
    void* memory = nullptr;
    if (!available || bytes <= *available)
        memory = ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{scratch_alignment}, std::nothrow);
    if (memory == nullptr)
        throw error(error_code::out_of_memory,
                    fmt::format("out of memory: the call needs a workspace of {}{}; use a smaller array or a machine "
                                "with more memory",
                                bytes_text(bytes), available ? ", free are " + bytes_text(*available) : ""));
    return memory;
}

}  // namespace nearfield
