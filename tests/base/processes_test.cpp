// Threads that cannot be started, fork(), the end of a process, and unloading.
#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/child.hpp"
#include "base/every_call.hpp"
#include "base/parallel.hpp"

namespace nearfield::test {
namespace {

using namespace std::chrono_literals;

/// Runs every call with many threads and compares the results with those of one thread.
struct same_again {
    std::vector<named_call> calls = every_call(70, 1000);
    std::vector<std::uint64_t> expected;
    same_again() {
        for (const named_call& each : calls) expected.push_back(each.run(host{1}));
    }
    [[nodiscard]] bool holds(int threads) const {
        for (std::size_t k = 0; k < calls.size(); ++k)
            if (calls[k].run(host{threads}) != expected[k]) return false;
        return true;
    }
};

bool thread_starts() {
    try {
        std::thread([] {}).join();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

TEST(Processes, NoThreadCanBeStarted) {
    if (thread_sanitized) GTEST_SKIP() << "children start no threads under ThreadSanitizer";
    const same_again answers;
    constexpr int not_possible = 3;
    const int status = in_child([&] {
        // The limit does not apply to root, so the process becomes another user.
        if (geteuid() == 0 && setuid(65534) != 0) _exit(not_possible);
        constexpr rlimit none{1, 1};
        setrlimit(RLIMIT_NPROC, &none);
        if (thread_starts()) _exit(not_possible);
        return answers.holds(8) && answers.holds(0);
    });
    if (status == not_possible) GTEST_SKIP() << "this system starts threads all the same";
    EXPECT_EQ(status, 0);
}

TEST(Processes, SomeThreadsCannotBeStarted) {
    if (sanitized) GTEST_SKIP() << "sanitizers take the address space themselves";
    const same_again answers;
    for (const auto which : {RLIMIT_AS, RLIMIT_DATA})
        for (const std::int64_t spare : {40, 200, 1000}) {
            const int status = in_child([&] {
                std::FILE* const statm = std::fopen("/proc/self/statm", "r");
                long all = 0, data = 0;
                if (std::fscanf(statm, "%ld %*d %*d %*d %*d %ld", &all, &data) != 2) return false;
                std::fclose(statm);
                const auto most = static_cast<rlim_t>((which == RLIMIT_AS ? all : data) * sysconf(_SC_PAGESIZE)) +
                                  (static_cast<rlim_t>(spare) << 20);
                const rlimit limit{most, most};
                setrlimit(which, &limit);
                // If memory suffices for one thread, calls with more threads succeed too.
                return answers.holds(1) && answers.holds(16) && answers.holds(300);
            });
            EXPECT_EQ(status, 0) << spare << " MiB to spare of limit " << which;
        }
}

TEST(Processes, ForkAfterUse) {
    if (thread_sanitized) GTEST_SKIP() << "children start no threads under ThreadSanitizer";
    const same_again answers;
    EXPECT_TRUE(answers.holds(4));
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(in_child([&] {
                      // The child starts threads of its own, as many as it asks for.
                      const host on{3};
                      workers team(on, 3);
                      std::atomic<int> missing{3};
                      team.for_each(3, 1, 1, [&](std::int64_t, std::int64_t, int) {
                          --missing;
                          for (int wait = 0; wait < 10000 && missing > 0; ++wait) std::this_thread::sleep_for(1ms);
                      });
                      return missing == 0 && answers.holds(4);
                  }),
                  0);
}

TEST(Processes, ForkWhileOthersCompute) {
    if (sanitized) GTEST_SKIP() << "the sanitizers' own locks may be held by threads that the child does not have";
    const same_again answers;
    std::atomic<bool> stop{false};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller)
        callers.emplace_back([&] {
            const auto mine = every_call(200, 300);
            while (!stop)
                for (const named_call& each : mine) each.run(host{3});
        });
    for (int i = 0; i < 8; ++i) EXPECT_EQ(in_child([&] { return answers.holds(1 + i % 4); }), 0) << i;
    stop = true;
    for (std::thread& each : callers) each.join();
}

TEST(Processes, ExitWhileOthersCompute) {
    if (thread_sanitized) GTEST_SKIP() << "children start no threads under ThreadSanitizer";
    for (int i = 0; i < 20; ++i) {
        const int status = in_child([&]() -> bool {
            for (int caller = 0; caller < 3; ++caller)
                std::thread([] {
                    const auto mine = every_call(200, 300);
                    for (;;)
                        for (const named_call& each : mine) each.run(host{3});
                }).detach();
            std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * i));
            std::exit(0);
        });
        EXPECT_EQ(status, 0) << i;
    }
}

/// Sends `number` to every thread of this process.
void signal_all_threads(int number) {
    DIR* const tasks = opendir("/proc/self/task");
    while (const dirent* each = readdir(tasks))
        if (const long task = std::atol(each->d_name); task > 0) syscall(SYS_tgkill, getpid(), task, number);
    closedir(tasks);
}

TEST(Processes, UnloadedWhileThreadsWait) {
    if (sanitized) GTEST_SKIP() << "a sanitizer's library cannot be loaded twice";
    const int status = in_child([] {
        // A signal interrupts a waiting thread, which then continues in the plug-in's code.
        struct sigaction noticed {};
        noticed.sa_handler = [](int) {};
        sigaction(SIGPROF, &noticed, nullptr);
        for (int i = 0; i < 3; ++i) {
            void* const plugin = dlopen(NEARFIELD_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
            if (plugin == nullptr) return false;
            const auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_run"));
            if (run == nullptr || run() != 0) return false;
            std::this_thread::sleep_for(5ms);
            dlclose(plugin);
            signal_all_threads(SIGPROF);
            std::this_thread::sleep_for(5ms);
        }
        return true;
    });
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nearfield::test
