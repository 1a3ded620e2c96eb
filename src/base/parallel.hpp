// Loops over several threads, which share blocks of consecutive items. The caller's progress callback hears the share
// done and can stop the call. Threads belong to the process and wait for the next call; see parallel.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "nearfield/grid.hpp"

namespace nearfield {

/// Returns the number of threads that `on` asks for, or one per core that this process may use (base/cores.hpp).
int thread_count(const host& on);

/// Runs a call's loops. Make one per call; `total` is the work of the whole call in the units that for_each() counts.
///
/// The caller's thread works, too, and needs no other one: if the system starts no threads, or others use them, loops
/// take longer. The first loop that can use threads borrows them, and the destructor returns them.
class workers {
public:
    workers(const host& on, std::int64_t total);
    ~workers();
    workers(const workers&) = delete;
    workers& operator=(const workers&) = delete;

    /// Returns the number of threads asked for. Fewer may come.
    [[nodiscard]] int threads() const { return threads_; }

    /// Calls body(first, last, thread) over [0, count) in blocks of at most `block` items, `thread` in [0, threads()).
    /// Each item counts `weight` units of progress. Throws what a body throws, or error(cancelled) if the callback
    /// stops the call.
    void for_each(std::int64_t count, std::int64_t block, std::int64_t weight,
                  const std::function<void(std::int64_t, std::int64_t, int)>& body);

    /// Counts units of progress inside long blocks, from any thread of the call. Throws error(cancelled) if the
    /// callback stops the call.
    void go_on(std::int64_t units);

private:
    friend class thread_pool;
    struct loop;
    struct helper;
    /// A thread's share of a loop: blocks [next, end). Members form a ring; one that has finished its share takes
    /// blocks of the next ones.
    struct member {
        std::atomic<std::int64_t> next{0};
        std::int64_t end = 0;
        member* after = this;
        int number = 0;
    };

    void recruit(std::int64_t wanted) noexcept;
    void report(std::int64_t units);
    void check() const;

    member caller_;
    helper* first_ = nullptr;  ///< the borrowed helpers, in the order of their numbers
    int borrowed_ = 0;
    bool refused_ = false;  ///< the system did not start a thread
    const host& on_;
    int threads_;
    std::int64_t total_;
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> stop_{false};
    std::mutex reporting_;
};

}  // namespace nearfield
