#include "base/parallel.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/call.hpp"
#include "base/child.hpp"
#include "base/every_call.hpp"

namespace nearfield::test {
namespace {

using namespace std::chrono_literals;

int threads_of_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

TEST(Parallel, EveryItemComesOnceToAThreadInRange) {
    for (const int threads : {1, 2, 3, 7, 64})
        for (const std::int64_t count : {0, 1, 2, 63, 1000})
            for (const std::int64_t block : {1, 3, 64, 2000}) {
                const host on{threads};
                workers team(on, count);
                for (int round = 0; round < 5; ++round) {
                    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
                    std::atomic<bool> wrong{false};
                    team.for_each(count, block, 1, [&](std::int64_t first, std::int64_t last, int thread) {
                        if (thread < 0 || thread >= team.threads() || last - first > block || last <= first)
                            wrong = true;
                        for (; first < last; ++first) ++seen[static_cast<std::size_t>(first)];
                    });
                    EXPECT_FALSE(wrong);
                    for (const auto& times : seen) ASSERT_EQ(times, 1);
                }
            }
}

/// Waits until this many bodies run at the same time.
struct meeting {
    explicit meeting(int all) : missing(all) {}
    bool wait() {
        --missing;
        for (int i = 0; i < 10000 && missing > 0; ++i) std::this_thread::sleep_for(1ms);
        return missing <= 0;
    }
    std::atomic<int> missing;
};

TEST(Parallel, ThreadsWorkAtTheSameTime) {
    const host on{5};
    workers team(on, 5);
    for (int round = 0; round < 20; ++round) {
        meeting all(5);
        std::atomic<int> met{0}, numbers{0};
        team.for_each(5, 1, 1, [&](std::int64_t, std::int64_t, int thread) {
            met += all.wait();
            numbers |= 1 << thread;
        });
        EXPECT_EQ(met, 5);
        EXPECT_EQ(numbers, 31);
    }
}

TEST(Parallel, ExceptionsReachTheCaller) {
    const host on{4};
    workers team(on, 1000);
    for (int round = 0; round < 100; ++round) {
        EXPECT_THROW(team.for_each(1000, 1, 1,
                                   [&](std::int64_t item, std::int64_t, int) {
                                       if (item % 100 == round) throw std::runtime_error("no");
                                   }),
                     std::runtime_error);
        std::atomic<int> done{0};
        team.for_each(100, 1, 1, [&](std::int64_t, std::int64_t, int) { ++done; });
        EXPECT_EQ(done, 100);
    }
}

TEST(Parallel, NoMemoryIsAnErrorOfTheLibrary) {
    const host on{4};
    try {
        in_call([&] {
            workers team(on, 100);
            team.for_each(100, 1, 1, [](std::int64_t, std::int64_t, int) { throw std::bad_alloc(); });
        });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::out_of_memory);
        EXPECT_NE(std::string(e.what()).find("free"), std::string::npos) << e.what();
    }
}

TEST(Parallel, ProgressStopsTheWork) {
    std::atomic<int> calls{0}, at_once{0}, most{0};
    const host on{4, [&](double) {
                      most = std::max(most.load(), ++at_once);
                      --at_once;
                      return ++calls < 10;
                  }};
    workers team(on, 100000);
    try {
        team.for_each(100000, 1, 1, [](std::int64_t, std::int64_t, int) { std::this_thread::sleep_for(10us); });
        ADD_FAILURE() << "nothing stopped it";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::cancelled);
    }
    EXPECT_EQ(most, 1);
}

TEST(Parallel, ManyThreadsAreFewAgainAfterwards) {
    std::thread([] {}).join();  // ThreadSanitizer starts a thread of its own with the first one
    const int before = threads_of_process();
    {
        const host on{300};
        workers team(on, 300);
        meeting all(300);
        std::atomic<int> met{0};
        team.for_each(300, 1, 1, [&](std::int64_t, std::int64_t, int) { met += all.wait(); });
        EXPECT_EQ(met, 300);
    }
    const int kept = std::max<int>(16, static_cast<int>(std::thread::hardware_concurrency()));
    for (int i = 0; i < 2000 && threads_of_process() > before + kept; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_LE(threads_of_process(), before + kept);
}

TEST(Parallel, CallersAtOnceShareTheThreads) {
    if (thread_sanitized) GTEST_SKIP() << "children start no threads under ThreadSanitizer";
    // Runs in a new process, which has started no thread yet.
    const int status = in_child([] {
        std::atomic<int> most{0};
        std::vector<std::thread> callers;
        for (int caller = 0; caller < 20; ++caller)
            callers.emplace_back([&] {
                for (int round = 0; round < 20; ++round) {
                    const host on{4};
                    workers team(on, 50);
                    team.for_each(50, 1, 1, [&](std::int64_t, std::int64_t, int) {
                        std::this_thread::sleep_for(10us);
                        most = std::max(most.load(), threads_of_process());
                    });
                }
            });
        for (std::thread& each : callers) each.join();
        return most <= 1 + 20 + 3 + (sanitized ? 1 : 0);
    });
    EXPECT_EQ(status, 0);
}

TEST(Parallel, ThreadsRunWhereTheirCallerMay) {
    cpu_set_t mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof(mine), &mine), 0);
    if (CPU_COUNT(&mine) < 2) GTEST_SKIP() << "one core";
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &mine)) CPU_SET(cpu, &one);
    const auto all_are = [](const cpu_set_t& wanted) {
        const host on{4};
        workers team(on, 4);
        meeting all(4);
        std::atomic<int> same{0};
        team.for_each(4, 1, 1, [&](std::int64_t, std::int64_t, int) {
            cpu_set_t here;
            sched_getaffinity(0, sizeof(here), &here);
            same += CPU_EQUAL(&here, &wanted) ? 1 : 0;
            all.wait();
        });
        return same == 4;
    };
    EXPECT_TRUE(all_are(mine));
    std::thread([&] {
        pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
        EXPECT_EQ(thread_count(host{}), 1);
        EXPECT_TRUE(all_are(one));
    }).join();
    EXPECT_TRUE(all_are(mine));
}

TEST(Parallel, SignalsForTheProgramGoToTheProgram) {
    const host on{4};
    workers team(on, 4);
    meeting all(4);
    std::atomic<int> right{0};
    team.for_each(4, 1, 1, [&](std::int64_t, std::int64_t, int thread) {
        sigset_t blocked;
        pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        right += sigismember(&blocked, SIGINT) == (thread > 0) && sigismember(&blocked, SIGSEGV) == 0;
        all.wait();
    });
    EXPECT_EQ(right, 4);
}

// Arrays are large enough that loops are divided among threads, which ThreadSanitizer checks.
TEST(Parallel, TwoCallersOfEveryCall) {
    const auto calls = every_call(120, 500);
    std::vector<std::uint64_t> expected;
    for (const named_call& each : calls) expected.push_back(each.run(host{1}));
    const auto run = [&](const std::vector<named_call>& mine, int threads) {
        for (std::size_t k = 0; k < mine.size(); ++k)
            EXPECT_EQ(mine[k].run(host{threads}), expected[k]) << mine[k].name;
    };
    std::thread other([&] { run(every_call(120, 500), 3); });
    run(calls, 4);
    other.join();
}

TEST(Parallel, ManyCallersManyNumbersOfThreadsNoWord) {
    const auto calls = every_call(60, 70);
    std::vector<std::uint64_t> expected;
    for (const named_call& each : calls) expected.push_back(each.run(host{1}));
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 12; ++caller)
        callers.emplace_back([&, caller] {
            // Each caller has its own arrays.
            const auto mine = every_call(60, 70);
            for (std::size_t k = 0; k < mine.size(); ++k)
                if (mine[k].run(host{1 + (caller + static_cast<int>(k)) % 9}) != expected[k]) ++wrong;
        });
    for (std::thread& each : callers) each.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace nearfield::test
