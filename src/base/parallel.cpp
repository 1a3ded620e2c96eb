#include "base/parallel.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "nearfield/error.hpp"

namespace nearfield {

namespace tbb = oneapi::tbb;

namespace {

#ifdef __SANITIZE_THREAD__
// oneTBB's library is not built with ThreadSanitizer, which therefore does not see how it hands work over and reports races
// that are none. Under it plain threads take the blocks: our own share of the work is checked all the same.
template <class Run>
void spread(tbb::task_arena& arena, std::int64_t count, std::int64_t block, const Run& run) {
    std::atomic<std::int64_t> next{0};
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(arena.max_concurrency()));
    std::vector<std::thread> team;
    for (std::size_t thread = 0; thread < thrown.size(); ++thread)
        team.emplace_back([&, thread] {
            try {
                for (std::int64_t at; (at = next.fetch_add(block, std::memory_order_relaxed)) < count;)
                    run(at, std::min(at + block, count), static_cast<int>(thread));
            } catch (...) {
                thrown[thread] = std::current_exception();
            }
        });
    for (std::thread& member : team) member.join();
    for (const std::exception_ptr& problem : thrown)
        if (problem) std::rethrow_exception(problem);
}
#else
template <class Run>
void spread(tbb::task_arena& arena, std::int64_t count, std::int64_t block, const Run& run) {
    arena.execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(block)),
            [&](const auto& range) { run(range.begin(), range.end(), tbb::this_task_arena::current_thread_index()); });
    });
}
#endif

}  // namespace

int thread_count(const host& on) {
    // TBB makes room for each of them at once, and ends the process where it finds none.
    constexpr int most = 4096;
    return on.threads > 0 ? std::min(on.threads, most) : std::max(1, tbb::info::default_concurrency());
}

struct workers::pool {
    // More threads than cores are asked for in tests; TBB needs to be told that they are meant.
    explicit pool(int threads) {
        if (threads > tbb::info::default_concurrency())
            limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
        arena.initialize(threads);
    }
    std::optional<tbb::global_control> limit;
    tbb::task_arena arena;
};

workers::workers(const host& on, std::int64_t total)
    : on_(on), threads_(thread_count(on)), total_(std::max<std::int64_t>(total, 1)) {
    if (threads_ > 1) pool_ = std::make_unique<pool>(threads_);
}

workers::~workers() = default;

void workers::for_each(std::int64_t count, std::int64_t block, std::int64_t weight,
                       const std::function<void(std::int64_t, std::int64_t, int)>& body) {
    const auto run = [&](std::int64_t first, std::int64_t last, int thread) {
        for (std::int64_t at = first; at < last && !stop_.load(std::memory_order_relaxed); at += block) {
            const std::int64_t end = std::min(at + block, last);
            body(at, end, thread);
            report((end - at) * weight);
        }
    };
    if (!pool_) {
        run(0, count, 0);
    } else {
        spread(pool_->arena, count, block, run);
    }
    check();
}

void workers::go_on(std::int64_t units) {
    report(units);
    check();
}

void workers::check() const {
    if (stop_) throw error(error_code::cancelled, "stopped by the progress callback; the outputs are not complete");
}

void workers::report(std::int64_t units) {
    const std::int64_t done = done_.fetch_add(units, std::memory_order_relaxed) + units;
    if (!on_.progress || !reporting_.try_lock()) return;
    const std::lock_guard<std::mutex> held(reporting_, std::adopt_lock);
    if (!on_.progress(std::min(1.0, static_cast<double>(done) / static_cast<double>(total_)))) stop_ = true;
}

}  // namespace nearfield
