// Threads. Work is handed out in blocks of consecutive items; the caller's progress callback is told how far it is and
// can stop it. The threads belong to the process and wait for the next call; see parallel.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "nearfield/grid.hpp"

namespace nearfield {

/// Threads that `on` asks for: its number, or one for every core this process may use (base/cores.hpp).
int thread_count(const host& on);

/// Runs a call's loops. Made once per call; `total` is the work of the whole call in the units that for_each counts.
///
/// The caller's thread works too, and needs no other one: where the system starts no more threads, or others use them,
/// the loops take longer. Threads are borrowed by the first loop that can use them and returned by the destructor.
class workers {
public:
    workers(const host& on, std::int64_t total);
    ~workers();
    workers(const workers&) = delete;
    workers& operator=(const workers&) = delete;

    /// Threads that were asked for. Fewer may come.
    [[nodiscard]] int threads() const { return threads_; }

    /// body(first, last, thread) over [0, count) in blocks of at most `block` items, `thread` in [0, threads()). Each
    /// item counts `weight` units of progress. Throws what a body throws; throws error(cancelled) when the callback
    /// stops it.
    void for_each(std::int64_t count, std::int64_t block, std::int64_t weight,
                  const std::function<void(std::int64_t, std::int64_t, int)>& body);

    /// For work that takes longer than a block, from any thread of the call: counts units of progress, and throws
    /// error(cancelled) when the callback stops the call.
    void go_on(std::int64_t units);

private:
    friend class thread_pool;
    struct loop;
    struct helper;
    /// A thread's share of a loop: blocks [next, end). Members form a ring, and who has done its share goes on with the
    /// next one's.
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
    helper* first_ = nullptr;  ///< of those borrowed, in the order of their numbers
    int borrowed_ = 0;
    bool refused_ = false;  ///< the system started no more threads
    const host& on_;
    int threads_;
    std::int64_t total_;
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> stop_{false};
    std::mutex reporting_;
};

}  // namespace nearfield
