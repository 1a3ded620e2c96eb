// Counts memory that is allocated but not yet written. The system hands out pages at the first write, so free_memory()
// still counts them as free. A call that checked each of its blocks alone would pass all checks and be killed later.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>

#include "nearfield/grid.hpp"

namespace nearfield {

/// Blocks below this size are not counted.
inline constexpr std::int64_t least_counted_bytes = std::int64_t{1} << 22;

/// Counts a block of the process's own memory as needed until its pages are written. Any thread may call it. Returns
/// false if there is no memory to note the block.
bool expect_writes(const void* start, std::int64_t bytes) noexcept;
/// Ends the counting of the block with this start, if expect_writes() counts it.
void expect_no_writes(const void* start) noexcept;

/// Returns how many counted bytes are not written yet. Reads the state of every page.
std::int64_t unwritten_bytes();

/// Calls require_memory() for `bytes` more and for all counted pages that are not written yet. Asks the system only if
/// their sum may exceed most_unchecked_bytes.
void require_memory_for_all(std::int64_t bytes, const std::string& what);

/// Counts the host outputs of a call during its lifetime; throws if they do not fit. Mapped files do not count.
class expected_outputs {
public:
    expected_outputs() = default;
    template <class Place>
    expected_outputs(std::initializer_list<any_output<Place>> all) {
        if constexpr (std::is_same_v<Place, host>) count(all);
    }
    expected_outputs(const expected_outputs&) = delete;
    expected_outputs& operator=(const expected_outputs&) = delete;
    ~expected_outputs() { forget(); }

private:
    void count(std::initializer_list<any_output<host>> all);
    void forget() noexcept;

    static constexpr int most = 12;  ///< outputs of a call; more would not be counted
    std::array<const void*, most> counted_{};
    int count_ = 0;
};

/// Counts the columns of component_tables while a call fills them.
template <class Tables>
expected_outputs columns_of(const Tables& t) {
    return {t.size, t.box, t.centroid, t.border, t.faces, t.lowest, t.highest, t.sum, t.mean, t.variance};
}

/// An allocator for growing containers: it checks memory for large blocks together with everything unwritten.
template <class T>
struct asking_allocator {
    using value_type = T;
    asking_allocator() = default;
    template <class U>
    asking_allocator(const asking_allocator<U>&) {}

    T* allocate(std::size_t count) {
        const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
        if (bytes >= least_counted_bytes) require_memory_for_all(bytes, "the call's workspace");
        T* const made = std::allocator<T>{}.allocate(count);
        if (bytes >= least_counted_bytes) expect_writes(made, bytes);
        return made;
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (static_cast<std::int64_t>(count * sizeof(T)) >= least_counted_bytes) expect_no_writes(memory);
        std::allocator<T>{}.deallocate(memory, count);
    }
    template <class U>
    bool operator==(const asking_allocator<U>&) const {
        return true;
    }
};

}  // namespace nearfield
