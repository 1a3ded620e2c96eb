#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "python/bind_call.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {
namespace {

using clock = std::chrono::steady_clock;

// Calls of at least this many cells usually take some milliseconds; for fewer, starting a thread costs more.
constexpr std::int64_t watched_cells = 1 << 18;
constexpr auto watch_period = std::chrono::milliseconds(40);  // handles Ctrl-C within a tenth of a second

/// Asks Python's signals and `progress` whether to go on; `progress` receives the share done and returns False if it
/// wants the work to stop. If an exception stops it, that exception is set. Needs the interpreter's lock.
bool listen(const nb::object& progress, double share) {
    if (entering_python(PyErr_CheckSignals) != 0) return false;
    if (progress.is_none()) return true;
    const nb::object answer = called(progress, nb::float_(share));
    return answer.is_valid() && !answer.is(nb::bool_(false));
}

[[noreturn]] void throw_what_stopped() {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    throw error(error_code::cancelled, "stopped by the progress callback; the outputs are not complete");
}

/// Runs the library's work in a thread of its own, so that the interpreter's thread can handle signals meanwhile.
class watched_run {
public:
    explicit watched_run(const watched_work& work)
        : worker_([this, &work] {
              const native_work counted;
              static_cast<void>(std::uncaught_exceptions());  // allocates thread-local data while memory remains
              try {
                  work([this](double done) {
                      share_.store(done, std::memory_order_relaxed);
                      return !stop_.load(std::memory_order_relaxed) && !native_work::must_stop();
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
        const unlocked released;
        worker_.join();
    }
    watched_run(const watched_run&) = delete;
    watched_run& operator=(const watched_run&) = delete;

    /// Waits for the end of the work, for one period at most.
    bool ended() {
        const unlocked released;
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
    std::thread worker_;  // last member, since it uses the others
};

/// Returns null if no thread can be started, because of limits of memory or of processes.
std::unique_ptr<watched_run> started(const watched_work& work) {
    try {
        return std::make_unique<watched_run>(work);
    } catch (const std::system_error&) {
        return nullptr;
    }
}

/// Runs the work in this thread, which handles signals whenever the library reports the share done.
void run_here(const nb::object& progress, const watched_work& work) {
    const auto caller = std::this_thread::get_id();
    auto due = clock::now() + watch_period;
    bool stopped = false;
    std::exception_ptr thrown;
    {
        unlocked released;
        try {
            work([&](double share) {
                if (native_work::must_stop()) return false;
                if (std::this_thread::get_id() != caller || clock::now() < due) return true;
                released.lock();
                stopped = !listen(progress, share);
                released.unlock();
                due = clock::now() + watch_period;
                return !stopped;
            });
        } catch (...) {
            thrown = std::current_exception();
        }
    }
    if (stopped) throw_what_stopped();
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

void run_watched(std::int64_t cells, const nb::object& progress, const watched_work& work) {
    if (planning()) work({}), end_plan();
    const std::unique_ptr<watched_run> run = cells < watched_cells ? nullptr : started(work);
    if (run) {
        while (!run->ended())
            if (!listen(progress, run->share())) throw_what_stopped();
        run->rethrow();
    } else {
        run_here(progress, work);
    }
    if (!listen(progress, 1.0)) throw_what_stopped();
}

void run_on_host(const call& what, int threads, const nb::object& progress) {
    if (planning()) return edge::run(host{threads, {}}, what.work<host>());
    run_watched(what.cells(), progress, [&](std::function<bool(double)> told) {
        edge::run(host{threads, std::move(told)}, what.work<host>());
    });
}

}  // namespace nearfield::python
