// The process has one pool of threads. They start when a loop can use them, wait between loops, and are never joined: a
// process may end, and a library be unloaded, while they wait. If a thread cannot be started, the loop has one thread
// less; this is never an error.
#include "base/parallel.hpp"

#include <algorithm>
#include <cfenv>
#include <exception>
#include <thread>

#include "base/call.hpp"
#include "base/cores.hpp"
#include "base/memory.hpp"
#include "base/rehearsal.hpp"
#include "nearfield/error.hpp"
#include "os/process.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace nearfield {

namespace {

/// At least this many threads wait for the next call, or as many as there are cores. Any others end with the call for
/// which they were started, because a system limits the number of threads.
constexpr int kept_threads = 16;
/// How often a thread polls for work, or for the end of others' work, before it sleeps: 15 to 45 microseconds, a little
/// longer than waking a thread takes. The loops of a call follow each other faster than that.
constexpr int looks = 1000;

void rest() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

int thread_count(const host& on) {
    constexpr int most = 4096;
    return on.threads > 0 ? std::min(on.threads, most) : usable_cores();
}

// ---- one loop -------------------------------------------------------------------------------------------------------

struct workers::loop {
    workers& team;
    const std::function<void(std::int64_t, std::int64_t, int)>& body;
    std::int64_t count, block, weight;
    std::atomic<bool> failed{false};
    std::exception_ptr thrown{};  ///< the exception of the body that failed first

    void run(member& mine) noexcept {
        try {
            member* of = &mine;
            do take(*of, mine.number);
            while ((of = of->after) != &mine);
        } catch (...) {
            if (!failed.exchange(true)) thrown = std::current_exception();
        }
    }

    void take(member& share, int thread) {
        while (!failed.load(std::memory_order_relaxed) && !team.stop_.load(std::memory_order_relaxed)) {
            // First reads a share that may be used up: repeated additions could overflow.
            if (share.next.load(std::memory_order_relaxed) >= share.end) return;
            const std::int64_t at = share.next.fetch_add(1, std::memory_order_relaxed);
            if (at >= share.end) return;
            const std::int64_t first = at * block, last = std::min(first + block, count);
            body(first, last, thread);
            team.report((last - first) * weight);
        }
    }
};

// ---- a thread of the pool -------------------------------------------------------------------------------------------

/// A pool thread. The borrower posts a loop; the helper starts it when it sees it. If the work is done before that, the
/// borrower withdraws the post, so that a busy machine does not make it wait.
struct workers::helper : member {
    enum order : int { idle, asleep, posted, running, awaited, leave };

    alignas(64) std::atomic<int> state{idle};
    std::atomic<int> spins{looks};
    loop* work = nullptr;
    helper* chained = nullptr;  ///< the next helper of the same team, or of the pool
    os::processor_set runs_on{};
    std::thread::native_handle_type thread{};

    /// Moves the thread to the processors where the borrower may run, which can differ from those of the last borrower.
    void run_where(const os::processor_set& borrowers) {
        if (runs_on == borrowers) return;
        runs_on = borrowers;
        os::move_thread(thread, runs_on);
    }
    void post(loop& what) {
        work = &what;
        give(posted);
    }
    void give(order what) {
        if (state.exchange(what) == asleep) state.notify_one();
    }
    /// Called by the borrower: waits until the helper no longer uses the posted loop.
    void finish() {
        int now = posted;
        if (state.compare_exchange_strong(now, idle)) return;
        for (int i = spins.load(std::memory_order_relaxed); i > 0 && now == running; --i) rest(), now = state.load();
        if (now == running && state.compare_exchange_strong(now, awaited)) state.wait(awaited);
    }

    void serve() noexcept {
        for (int looked = 0;;) {
            int now = state.load();
            if (now == leave) return;
            if (now == posted) {
                if (!state.compare_exchange_strong(now, running)) continue;
                work->run(*this);
                if (state.exchange(idle) == awaited) state.notify_one();
                looked = 0;
            } else if (now == idle && looked++ < spins.load(std::memory_order_relaxed)) {
                rest();
            } else if (now == asleep || state.compare_exchange_strong(now, asleep)) {
                state.wait(asleep);
                looked = 0;
            }
        }
    }
};

class thread_pool {
    using helper = workers::helper;

public:
    /// Returns the process's pool. A child of fork(), which has none of its parent's threads, makes a new one.
    static thread_pool& get() {
        thread_pool* found = current_.load();
        if (found != nullptr) return *found;
        os::stay_loaded();  // if a plug-in with this library is unloaded, the threads' code must stay
        auto* const made = new thread_pool;
        if (current_.compare_exchange_strong(found, made)) return *made;
        delete made;
        return *found;
    }

    /// Lends up to `count` threads. It starts new ones if too few wait, but never more than `most` in all: concurrent
    /// callers share the cores. Sets `refused` if the system did not start one; then it starts none later.
    helper* lend(int count, int most, bool& refused) {
        helper* lent = nullptr;
        int fresh = 0;
        {
            const std::lock_guard<std::mutex> held(mutex_);
            for (; count > 0 && waiting_ != nullptr; --count) chain(lent, unchain(waiting_));
            fresh = refused ? 0 : std::clamp(most - alive_, 0, count);
            if (const int room = fresh > 0 ? threads_with_room() : 0; room < fresh) fresh = room, refused = true;
            alive_ += fresh;
        }
        for (; fresh > 0; --fresh) {
            helper* const one = start();
            if (one == nullptr) break;
            chain(lent, one);
        }
        if (fresh > 0) {
            refused = true;
            const std::lock_guard<std::mutex> held(mutex_);
            alive_ -= fresh;
        }
        return lent;
    }

    /// Takes threads back. With `all_leave` they end: the system is short of threads, and others may need them.
    void take_back(helper* lent, bool all_leave) {
        const std::lock_guard<std::mutex> held(mutex_);
        while (lent != nullptr) {
            helper* const one = unchain(lent);
            if (!all_leave && alive_ <= kept_) {
                chain(waiting_, one);
            } else {
                --alive_;
                one->give(helper::leave);
            }
        }
    }

private:
    static helper* unchain(helper*& from) {
        helper* const one = from;
        from = one->chained;
        return one;
    }
    static void chain(helper*& to, helper* one) {
        one->chained = to;
        to = one;
    }

    helper* start() {
        helper* one = nullptr;
        try {
            {
                const std::lock_guard<std::mutex> held(mutex_);
                if (unused_ != nullptr) one = unchain(unused_);
            }
            if (one == nullptr) one = new helper;
            one->state = helper::idle;
            one->runs_on = os::processors();
            std::thread made = os::start_thread([this, one] {
                std::fesetenv(FE_DFL_ENV);
                be_ready_to_throw();
                one->serve();
                const std::lock_guard<std::mutex> held(mutex_);
                chain(unused_, one);
            });
            one->thread = made.native_handle();
            made.detach();
            return one;
        } catch (...) {
            const std::lock_guard<std::mutex> held(mutex_);
            if (one != nullptr) chain(unused_, one);
            return nullptr;
        }
    }

    static std::atomic<thread_pool*> current_;
    static const bool at_fork_;

    const int kept_ = std::max(kept_threads, static_cast<int>(std::thread::hardware_concurrency()));
    std::mutex mutex_;
    helper* waiting_ = nullptr;
    helper* unused_ = nullptr;  ///< helpers whose threads have ended
    int alive_ = 0;
};

std::atomic<thread_pool*> thread_pool::current_{nullptr};
const bool thread_pool::at_fork_ = os::on_fork(nullptr, nullptr, [] { thread_pool::current_ = nullptr; });

// ---- a call's team --------------------------------------------------------------------------------------------------

workers::workers(const host& on, std::int64_t total)
    : on_(on), threads_(thread_count(on)), total_(std::max<std::int64_t>(total, 1)) {}

workers::~workers() {
    if (first_ != nullptr) thread_pool::get().take_back(first_, refused_);
}

void workers::recruit(std::int64_t wanted) noexcept {
    wanted -= borrowed_;
    if (wanted <= 0) return;
    helper* lent = nullptr;
    try {
        lent = thread_pool::get().lend(static_cast<int>(wanted), threads_ - 1, refused_);
    } catch (...) {
        return;  // no memory for a pool
    }
    const os::processor_set here = lent != nullptr ? os::processors() : os::processor_set{};
    for (helper* one; (one = lent) != nullptr;) {
        lent = one->chained;
        one->run_where(here);
        one->spins = threads_ <= usable_cores() ? looks : 0;
        one->number = ++borrowed_;
        one->after = caller_.after, caller_.after = one;
        one->chained = first_, first_ = one;
    }
}

void workers::for_each(std::int64_t count, std::int64_t block, std::int64_t weight,
                       const std::function<void(std::int64_t, std::int64_t, int)>& body) {
    if (rehearsing() != nullptr) return;
    const std::int64_t blocks = (count + block - 1) / block;
    recruit(std::min<std::int64_t>(threads_, blocks) - 1);
    const std::int64_t shares = std::min<std::int64_t>(borrowed_ + 1, blocks);
    member* one = &caller_;
    do {
        const bool has_some = one->number < shares;
        one->next = has_some ? blocks * one->number / shares : 0;
        one->end = has_some ? blocks * (one->number + 1) / shares : 0;
    } while ((one = one->after) != &caller_);
    loop here{*this, body, count, block, weight};
    for (helper* each = first_; each != nullptr; each = each->chained)
        if (each->number < shares) each->post(here);
    here.run(caller_);
    for (helper* each = first_; each != nullptr; each = each->chained)
        if (each->number < shares) each->finish();
    if (here.thrown) std::rethrow_exception(here.thrown);
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
    if (!on_.progress) return;
    const std::int64_t done = done_.fetch_add(units, std::memory_order_relaxed) + units;
    if (!reporting_.try_lock()) return;
    const std::lock_guard<std::mutex> held(reporting_, std::adopt_lock);
    if (!on_.progress(std::min(1.0, static_cast<double>(done) / static_cast<double>(total_)))) stop_ = true;
}

}  // namespace nearfield
