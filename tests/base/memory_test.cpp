#include "base/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "base/child.hpp"
#include "base/control_groups.hpp"
#include "nearfield/error.hpp"

namespace nearfield::test {
namespace {

namespace fs = std::filesystem;

/// A tree of files that replaces the system's. Its machine has 1000 MiB and no swap.
class tree {
public:
    tree() { write("/proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable: 1024000 kB\nSwapFree: 0 kB\n"); }
    ~tree() { fs::remove_all(root_); }
    tree(const tree&) = delete;
    tree& operator=(const tree&) = delete;

    void write(const std::string& path, const std::string& text) const {
        fs::create_directories(fs::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }
    /// Writes a group of version 2: its limit and use in MiB; a limit of 0 means none.
    void group2(const std::string& folder, std::int64_t limit, std::int64_t used, std::int64_t dropped = 0) const {
        write(folder + "/memory.max", limit == 0 ? "max\n" : std::to_string(limit << 20) + "\n");
        write(folder + "/memory.current", std::to_string(used << 20) + "\n");
        write(folder + "/memory.stat", "anon 1\ninactive_file " + std::to_string(dropped << 20) + "\nfile 3\n");
    }
    void group1(const std::string& folder, std::int64_t limit, std::int64_t used, std::int64_t dropped = 0) const {
        write(folder + "/memory.limit_in_bytes",
              (limit == 0 ? "9223372036854771712" : std::to_string(limit << 20)) + "\n");
        write(folder + "/memory.usage_in_bytes", std::to_string(used << 20) + "\n");
        write(folder + "/memory.stat", "inactive_file 5\ntotal_inactive_file " + std::to_string(dropped << 20) + "\n");
    }
    [[nodiscard]] std::int64_t free() const { return free_memory_in(root_).value_or(-1) >> 20; }

private:
    std::string root_ = (fs::temp_directory_path() / ("nearfield_tree_" + std::to_string(getpid()))).string();
};

constexpr const char* mount2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
constexpr const char* mount1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:10 master:2 - cgroup cgroup rw,memory\n";

TEST(FreeMemory, Machine) {
    const tree t;
    EXPECT_EQ(t.free(), 1000);
    t.write("/proc/meminfo", "MemAvailable: 1024000 kB\nSwapTotal: 7 kB\nSwapFree: 512000 kB\n");
    EXPECT_EQ(t.free(), 1500);
    t.write("/proc/meminfo", "nothing known\n");
    EXPECT_EQ(free_memory_in("/no/such/tree"), std::nullopt);
}

TEST(FreeMemory, OwnGroupAndThoseAbove) {
    const tree t;
    t.write("/proc/self/mountinfo", mount2);
    t.write("/proc/self/cgroup", "0::/user.slice/job one\n");
    t.group2("/sys/fs/cgroup/user.slice/job one", 400, 100);
    EXPECT_EQ(t.free(), 300);
    t.group2("/sys/fs/cgroup/user.slice/job one", 400, 390, 50);
    EXPECT_EQ(t.free(), 60);
    t.group2("/sys/fs/cgroup/user.slice/job one", 0, 100);
    EXPECT_EQ(t.free(), 1000);
    t.group2("/sys/fs/cgroup/user.slice", 700, 200);
    EXPECT_EQ(t.free(), 500);
    t.group2("/sys/fs/cgroup", 100, 200);
    EXPECT_EQ(t.free(), 0);
}

TEST(FreeMemory, Version1) {
    const tree t;
    t.write("/proc/self/mountinfo", mount1);
    t.write("/proc/self/cgroup", "5:cpuset:/elsewhere\n4:memory,hugetlb:/batch/12\n1:name=systemd:/\n0::/\n");
    t.group1("/sys/fs/cgroup/memory/batch/12", 0, 100);
    EXPECT_EQ(t.free(), 1000);
    t.group1("/sys/fs/cgroup/memory/batch/12", 400, 100, 30);
    EXPECT_EQ(t.free(), 330);
    t.group1("/sys/fs/cgroup/memory/batch", 200, 150);
    EXPECT_EQ(t.free(), 50);
}

TEST(FreeMemory, ContainersSeeTheirGroupAsTheTop) {
    const tree t;
    // Without a namespace of its own, a container sees the host's path, and the mount shows only the groups below its
    // own.
    t.write("/proc/self/mountinfo", "35 31 0:32 /docker/ab12 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    t.write("/proc/self/cgroup", "4:memory:/docker/ab12\n");
    t.group1("/sys/fs/cgroup/memory", 300, 100);
    EXPECT_EQ(t.free(), 200);
    t.write("/proc/self/cgroup", "4:memory:/docker/ab12/inner\n");
    t.group1("/sys/fs/cgroup/memory/inner", 150, 100);
    EXPECT_EQ(t.free(), 50);
    // A different group, whose name begins with the name of the mounted one.
    t.write("/proc/self/cgroup", "4:memory:/docker/ab123\n");
    EXPECT_EQ(t.free(), 200);
    // The process lies outside the namespace's root, so only the mounted group is visible.
    t.write("/proc/self/cgroup", "4:memory:/../other\n");
    EXPECT_EQ(t.free(), 200);
    t.write("/proc/self/mountinfo", "35 31 0:32 /.. /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    EXPECT_EQ(t.free(), 200);
}

TEST(FreeMemory, PathsWithBlanksAndDamagedFiles) {
    const tree t;
    t.write("/proc/self/mountinfo", "short\n\n30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n30 23\n");
    t.write("/proc/self/cgroup", "0::/a\n");
    t.group2("/my groups/a", 90, 40);
    EXPECT_EQ(t.free(), 50);
    t.write("/my groups/a/memory.current", "");
    EXPECT_EQ(t.free(), 1000);
    t.write("/proc/self/cgroup", "no colons");
    EXPECT_EQ(t.free(), 1000);
}

TEST(FreeMemory, ProcessLimits) {
    if (sanitized) GTEST_SKIP() << "sanitizers take the address space themselves";
    for (const auto which : {RLIMIT_AS, RLIMIT_DATA}) {
        EXPECT_EQ(in_child([&] {
                      constexpr rlimit limit{rlim_t{3} << 30, rlim_t{3} << 30};
                      setrlimit(which, &limit);
                      const std::int64_t free = free_memory().value_or(-1);
                      return free > std::int64_t{1} << 20 && free < std::int64_t{3} << 30;
                  }),
                  0);
    }
}

TEST(RequireMemory, SaysWhatIsNeededAndFree) {
    EXPECT_NO_THROW(require_memory(most_unchecked_bytes, "this"));
    try {
        require_memory(std::int64_t{1} << 60, "this call");
        ADD_FAILURE() << "accepted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::out_of_memory);
        const std::string text = e.what();
        EXPECT_NE(text.find("this call needs 1073741824.0 GiB, free are "), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace nearfield::test
