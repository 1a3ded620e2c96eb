// Threads: the only place that knows oneTBB. Work is handed out in blocks of consecutive items; the caller's progress
// callback is told how far it is and can stop it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "nearfield/grid.hpp"

namespace nearfield {

/// Threads that `on` asks for: its number, or every core this process may use.
int thread_count(const host& on);

/// Runs a call's loops. Made once per call; `total` is the work of the whole call in the units that for_each counts.
class workers {
public:
    workers(const host& on, std::int64_t total);
    ~workers();
    workers(const workers&) = delete;
    workers& operator=(const workers&) = delete;

    [[nodiscard]] int threads() const { return threads_; }

    /// body(first, last, thread) over [0, count) in blocks of at most `block` items, `thread` in [0, threads()). Each item
    /// counts `weight` units of progress. Throws what a body throws; throws error(cancelled) when the callback stops it.
    void for_each(std::int64_t count, std::int64_t block, std::int64_t weight,
                  const std::function<void(std::int64_t, std::int64_t, int)>& body);

    /// For work that takes longer than a block, from any thread of the call: counts units of progress, and throws
    /// error(cancelled) when the callback stops the call.
    void go_on(std::int64_t units);

private:
    void report(std::int64_t units);
    void check() const;

    struct pool;
    std::unique_ptr<pool> pool_;
    const host& on_;
    int threads_;
    std::int64_t total_;
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> stop_{false};
    std::mutex reporting_;
};

}  // namespace nearfield
