// Rehearsals: calls that only report what they would do, for plan(calls) in nearfield/plan.hpp. They check arguments
// and pass through all steps, but loops and launches do nothing, and workspace is counted instead of allocated.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace nearfield {

struct call_plan;

/// Makes this thread's calls rehearsals during its lifetime.
class rehearsal {
public:
    rehearsal();
    ~rehearsal();
    rehearsal(const rehearsal&) = delete;
    rehearsal& operator=(const rehearsal&) = delete;

    /// Reserves zeroed address space, which takes memory only where it is written; returns null if there is none. The
    /// bytes count until give() is called with the address.
    void* take(std::int64_t bytes) noexcept;
    void give(void* start) noexcept;

    /// Notes the caller's arrays; only the first call in a rehearsal has an effect.
    void note_arrays(bool on_device, std::int64_t cells, std::int64_t input_bytes, std::int64_t output_bytes);
    void note_step(const char* method);
    /// Notes a part that has a plan of its own: its workspace exists only during the part.
    void note_part(const call_plan& part);

    [[nodiscard]] const call_plan& told() const { return *told_; }

private:
    struct block {
        void* start;
        std::int64_t bytes;
    };
    void count(std::int64_t more) noexcept;

    rehearsal* before_;
    std::vector<block> blocks_;
    std::int64_t bytes_ = 0;
    std::unique_ptr<call_plan> told_;
};

/// Returns this thread's rehearsal, or null if calls are to run.
[[nodiscard]] rehearsal* rehearsing() noexcept;

/// Sets bytes of a host_scratch to 0; in a rehearsal they already are.
void clear_scratch(void* start, std::int64_t bytes) noexcept;

/// Notes a step's name if the call is rehearsed.
inline void rehearse_step(const char* method) {
    if (rehearsal* const now = rehearsing()) now->note_step(method);
}

}  // namespace nearfield
