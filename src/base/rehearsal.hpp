// Calls that only tell what they would do: plan(calls) in nearfield/plan.hpp. They check their arguments and take their
// steps, but loops and launches do nothing, and workspace is counted instead of allocated.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace nearfield {

struct call_plan;

/// Makes this thread's calls rehearsals while it lives.
class rehearsal {
public:
    rehearsal();
    ~rehearsal();
    rehearsal(const rehearsal&) = delete;
    rehearsal& operator=(const rehearsal&) = delete;

    /// Address space for so many bytes, all zero, which takes memory only where it is written; null where there is
    /// none. Counts until give() has its address.
    void* take(std::int64_t bytes) noexcept;
    void give(void* start) noexcept;

    /// The first call has what the caller's arrays hold.
    void note_arrays(bool on_device, std::int64_t cells, std::int64_t input_bytes, std::int64_t output_bytes);
    void note_step(const char* method);
    /// A part that can tell its plan by itself: its workspace comes and goes.
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

/// This thread's; null where calls are meant.
[[nodiscard]] rehearsal* rehearsing() noexcept;

/// Sets bytes of a host_scratch to 0; in a rehearsal they are.
void clear_scratch(void* start, std::int64_t bytes) noexcept;

/// Names a step, where a call is rehearsed.
inline void rehearse_step(const char* method) {
    if (rehearsal* const now = rehearsing()) now->note_step(method);
}

}  // namespace nearfield
