// Processors: how many this process may use, and which ones a thread may run on.
#pragma once

#include <pthread.h>
#include <sched.h>

namespace nearfield {

/// Where a thread may run.
class processor_set {
public:
    processor_set() { CPU_ZERO(&mask_); }
    friend bool operator==(const processor_set& a, const processor_set& b) { return CPU_EQUAL(&a.mask_, &b.mask_); }

    [[nodiscard]] int count() const { return CPU_COUNT(&mask_); }
    /// Sends `thread` there. A refusal leaves it where it is. An empty set stands for one that is not known.
    void take(pthread_t thread) const {
        if (count() > 0) pthread_setaffinity_np(thread, sizeof(mask_), &mask_);
    }
    /// The calling thread's; empty on machines with more processors than a mask names.
    static processor_set here() {
        processor_set found;
        if (sched_getaffinity(0, sizeof(found.mask_), &found.mask_) != 0) CPU_ZERO(&found.mask_);
        return found;
    }

private:
    cpu_set_t mask_;
};

/// Processors that the calling thread may run on, at most as many as its control groups' quota pays for; at least 1.
int usable_cores();

}  // namespace nearfield
