// Linux and macOS. The code for macOS alone has never been run.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach/mach.h>
#endif

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <numeric>

#include "os/files.hpp"
#include "os/process.hpp"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace nearfield::os {
namespace {

template <class Which>
std::optional<std::int64_t> limit_of(Which which) {
    rlimit limit{};
    if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

/// Blocks signals meant for the program in all threads started during its lifetime.
class signals_blocked {
public:
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&all, own);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t before_;
};

file_facts facts_in(const struct stat& info) {
    const auto is = [&](mode_t type) { return (info.st_mode & S_IFMT) == type; };
    const file_kind kind = is(S_IFREG)    ? file_kind::regular
                           : is(S_IFDIR)  ? file_kind::folder
                           : is(S_IFIFO)  ? file_kind::pipe
                           : is(S_IFSOCK) ? file_kind::socket
                                          : file_kind::device;
    return {kind, info.st_size, static_cast<std::uint64_t>(info.st_dev), info.st_ino};
}

/// Repeats move(done, count) until all bytes are moved or it returns 0, the end. Linux moves up to 0x7ffff000 per call.
template <class Move>
std::int64_t moved(std::size_t count, const Move& move) {
    std::size_t done = 0;
    while (done < count) {
        const ssize_t n = move(done, std::min<std::size_t>(count - done, std::size_t{1} << 30));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return static_cast<std::int64_t>(done);
}

}  // namespace

// ---- memory ---------------------------------------------------------------------------------------------------------

std::int64_t page_bytes() {
    static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
    return bytes;
}

std::optional<std::int64_t> machine_memory() {
#ifdef __APPLE__
    vm_statistics64_data_t pages{};
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    const auto to = reinterpret_cast<host_info64_t>(&pages);
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, to, &count) == KERN_SUCCESS)
        return (std::int64_t{pages.free_count} + pages.inactive_count) * page_bytes();
#endif
    return std::nullopt;
}

std::optional<std::int64_t> address_space_limit() { return limit_of(RLIMIT_AS); }
std::optional<std::int64_t> data_limit() { return limit_of(RLIMIT_DATA); }

void* reserve(std::int64_t bytes) noexcept {
    void* const start = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
}

void give_back(void* reserved, std::int64_t bytes) noexcept { munmap(reserved, static_cast<std::size_t>(bytes)); }

void prefer_large_pages([[maybe_unused]] void* start, [[maybe_unused]] std::int64_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
    (void)madvise(start, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
#endif
}

// AddressSanitizer has to see a block's end.
#if defined(__linux__) && defined(MADV_FREE) && !defined(__SANITIZE_ADDRESS__)
#define NEARFIELD_RELEASES_ON_DEMAND
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef NEARFIELD_RELEASES_ON_DEMAND
#endif
#endif
#endif
bool release_on_demand([[maybe_unused]] void* start, [[maybe_unused]] std::int64_t bytes) noexcept {
#ifdef NEARFIELD_RELEASES_ON_DEMAND
    const auto page = static_cast<std::uintptr_t>(page_bytes()), from = reinterpret_cast<std::uintptr_t>(start);
    const std::uintptr_t first = (from + page - 1) / page * page;
    const std::uintptr_t last = (from + static_cast<std::uintptr_t>(bytes)) / page * page;
    return madvise(reinterpret_cast<void*>(first), last - first, MADV_FREE) == 0;
#else
    return false;
#endif
}

std::int64_t absent_bytes([[maybe_unused]] std::uintptr_t start, [[maybe_unused]] std::uintptr_t end) {
    std::int64_t absent = 0;
#ifdef __linux__
    const auto page = static_cast<std::uintptr_t>(page_bytes());
    unsigned char present[4096];
    for (std::uintptr_t at = start / page * page; at < end; at += page * sizeof(present)) {
        const std::uintptr_t pages = std::min<std::uintptr_t>(sizeof(present), (end - at + page - 1) / page);
        if (mincore(reinterpret_cast<void*>(at), pages * page, present) != 0) break;
        absent += std::count_if(present, present + pages, [](unsigned char p) { return (p & 1) == 0; });
    }
#endif
    return absent * page_bytes();
}

// ---- threads --------------------------------------------------------------------------------------------------------

int processor_set::count() const {
    return std::accumulate(bits.begin(), bits.end(), 0,
                           [](int n, std::uint64_t word) { return n + std::popcount(word); });
}

processor_set processors() {
#ifdef __linux__
    // The call fails on machines with more processors than the mask has bits.
    if (cpu_set_t mask; sched_getaffinity(0, sizeof(mask), &mask) == 0) return std::bit_cast<processor_set>(mask);
#endif
    return {};
}

void move_thread([[maybe_unused]] std::thread::native_handle_type thread, [[maybe_unused]] const processor_set& to) {
#ifdef __linux__
    const auto mask = std::bit_cast<cpu_set_t>(to);
    if (to.count() > 0) pthread_setaffinity_np(thread, sizeof(mask), &mask);
#endif
}

std::thread start_thread(std::function<void()> body) {
    const signals_blocked during;
    return std::thread(std::move(body));
}

void stay_loaded() {
    Dl_info here;
    if (dladdr(reinterpret_cast<void*>(&stay_loaded), &here) != 0 && here.dli_fname != nullptr)
        dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool on_fork(void (*before)(), void (*after)(), void (*in_child)()) {
    return pthread_atfork(before, after, in_child) == 0;
}

// ---- signals --------------------------------------------------------------------------------------------------------

std::vector<int> ending_signals() { return {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU}; }

void catch_signal(int number, void (*handler)(int)) {
    struct sigaction action {
    }, before{};
    action.sa_handler = handler;
    sigfillset(&action.sa_mask);
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
}

void accept_signals() noexcept {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void ignore_file_limit() noexcept { signal(SIGXFSZ, SIG_IGN); }

// ---- files ----------------------------------------------------------------------------------------------------------

std::optional<file_facts> facts_of(const std::filesystem::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? std::optional(facts_in(info)) : std::nullopt;
}

std::optional<file_facts> facts_of(int fd) {
    struct stat info {};
    return ::fstat(fd, &info) == 0 ? std::optional(facts_in(info)) : std::nullopt;
}

bool is_terminal(int fd) { return isatty(fd) == 1; }

bool may_write(const std::filesystem::path& path) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    return ::access(path.c_str(), folder ? W_OK | X_OK : W_OK) == 0;
}

int open_to_read(const std::filesystem::path& path, bool plain) {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (plain ? O_NONBLOCK | O_NOFOLLOW : 0));
}

int open_to_write(const std::filesystem::path& path, bool also_read) {
    const int fd = also_read ? ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
    return fd >= 0 ? fd : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

int open_new(const std::filesystem::path& path, bool own) {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, own ? 0600 : 0666);
}

int duplicate(int fd) { return ::dup(fd); }
bool close(int fd) { return ::close(fd) == 0; }
std::int64_t position(int fd) { return ::lseek(fd, 0, SEEK_CUR); }

std::int64_t read(int fd, void* to, std::size_t count) {
    return moved(count, [&](std::size_t done, std::size_t n) { return ::read(fd, static_cast<char*>(to) + done, n); });
}

std::int64_t read_at(int fd, void* to, std::size_t count, std::int64_t offset) {
    return moved(count, [&](std::size_t done, std::size_t n) {
        return ::pread(fd, static_cast<char*>(to) + done, n, offset + static_cast<off_t>(done));
    });
}

bool write(int fd, const void* from, std::size_t count) {
    return moved(count, [&](std::size_t done, std::size_t n) {
               return ::write(fd, static_cast<const char*>(from) + done, n);
           }) == static_cast<std::int64_t>(count);
}

bool write_at(int fd, const void* from, std::size_t count, std::int64_t offset) {
    return moved(count, [&](std::size_t done, std::size_t n) {
               return ::pwrite(fd, static_cast<const char*>(from) + done, n, offset + static_cast<off_t>(done));
           }) == static_cast<std::int64_t>(count);
}

void keep_permissions(int fd, const std::filesystem::path& of) {
    struct stat old {};
    if (::stat(of.c_str(), &old) != 0) return;
    mode_t mode = old.st_mode & 0777;
    if (::fchown(fd, old.st_uid, old.st_gid) != 0 && ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0)
        mode = (mode & ~mode_t{070}) | (mode & ((mode & 07) << 3));
    static_cast<void>(::fchmod(fd, mode));  // some file systems have no modes
}

void start_storing([[maybe_unused]] int fd, [[maybe_unused]] std::int64_t from, [[maybe_unused]] std::int64_t to) {
#ifdef __linux__
    ::sync_file_range(fd, from, to - from, SYNC_FILE_RANGE_WRITE);
    if (from > 0)
        ::sync_file_range(fd, 0, from,
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#endif
}

bool store(int fd) { return ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS; }

bool store_folder(const std::filesystem::path& path) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return true;  // a folder that may not be read cannot be synced
    const bool stored = store(folder);
    ::close(folder);
    return stored;
}

void remove(const char* path) noexcept { ::unlink(path); }

}  // namespace nearfield::os
