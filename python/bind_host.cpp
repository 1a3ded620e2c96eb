#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "python/bind_call.hpp"

namespace nearfield::python {
namespace {

// A call of so many cells takes some milliseconds at worst; below, starting a thread to watch it would cost more.
constexpr std::int64_t watched_cells = 1 << 18;
constexpr auto watch_period = std::chrono::milliseconds(40);  // Ctrl-C is to be heard within a tenth of a second

/// The library's work in a thread of its own, so that this one, the interpreter's, can listen meanwhile.
class watched_run {
public:
    explicit watched_run(const watched_work& work)
        : worker_([this, &work] {
              try {
                  work([this](double done) {
                      share_.store(done, std::memory_order_relaxed);
                      return !stop_.load(std::memory_order_relaxed);
                  });
              } catch (...) {
                  thrown_ = std::current_exception();
              }
              const std::lock_guard<std::mutex> held(mutex_);
              done_ = true;
              changed_.notify_one();
          }) {}
    ~watched_run() {
        stop_ = true;
        const nb::gil_scoped_release released;
        worker_.join();
    }
    watched_run(const watched_run&) = delete;
    watched_run& operator=(const watched_run&) = delete;

    /// Waits for the end, at most a period.
    bool ended() {
        const nb::gil_scoped_release released;
        std::unique_lock<std::mutex> held(mutex_);
        return changed_.wait_for(held, watch_period, [this] { return done_; });
    }
    [[nodiscard]] double share() const { return share_.load(std::memory_order_relaxed); }
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    std::atomic<bool> stop_{false};
    std::atomic<double> share_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    std::exception_ptr thrown_;
    std::thread worker_;  // last: it uses the others
};

/// Tells Python's callable the share done; what it returns is False when it wants the work to stop.
void tell(const nb::object& progress, double share) {
    if (progress.is_none()) return;
    const nb::object answer = progress(share);
    if (answer.is(nb::bool_(false)))
        throw error(error_code::cancelled, "stopped by the progress callback; the outputs are not complete");
}

}  // namespace

void run_watched(std::int64_t cells, const nb::object& progress, const watched_work& work) {
    if (progress.is_none() && cells < watched_cells) {
        const nb::gil_scoped_release released;
        work({});
        return;
    }
    watched_run run(work);
    while (!run.ended()) {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        tell(progress, run.share());
    }
    run.rethrow();
    tell(progress, 1.0);
}

void run_on_host(const call& what, int threads, const nb::object& progress) {
    run_watched(what.cells(), progress, [&](std::function<bool(double)> told) {
        edge::run(host{threads, std::move(told)}, what.work<host>());
    });
}

}  // namespace nearfield::python
