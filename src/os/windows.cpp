// Windows. Compiled by MinGW's GCC 12, never run.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <sys/stat.h>
#include <windows.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <numeric>
#include <utility>

#include "os/files.hpp"
#include "os/process.hpp"

namespace nearfield::os {
namespace {

HANDLE handle_of(int fd) { return reinterpret_cast<HANDLE>(_get_osfhandle(fd)); }

std::optional<file_facts> facts_in(HANDLE file) {
    const DWORD type = GetFileType(file);
    if (type == FILE_TYPE_PIPE) return file_facts{file_kind::pipe, 0, 0, reinterpret_cast<std::uintptr_t>(file)};
    BY_HANDLE_FILE_INFORMATION info;
    if (type != FILE_TYPE_DISK || !GetFileInformationByHandle(file, &info))
        return file_facts{file_kind::device, 0, 0, reinterpret_cast<std::uintptr_t>(file)};
    const auto joined = [](DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; };
    const bool folder = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return file_facts{folder ? file_kind::folder : file_kind::regular,
                      static_cast<std::int64_t>(joined(info.nFileSizeHigh, info.nFileSizeLow)),
                      info.dwVolumeSerialNumber, joined(info.nFileIndexHigh, info.nFileIndexLow)};
}

int opened(const std::filesystem::path& path, int how) {
    return ::_wopen(path.c_str(), how | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

/// Repeats move(done, count) until all bytes are moved or it returns 0, the end.
template <class Move>
std::int64_t moved(std::size_t count, const Move& move) {
    std::size_t done = 0;
    while (done < count) {
        const std::int64_t n = move(done, static_cast<unsigned>(std::min<std::size_t>(count - done, 1u << 30)));
        if (n < 0) return -1;
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return static_cast<std::int64_t>(done);
}

/// Calls ReadFile or WriteFile at an offset of the file.
template <class Call, class Bytes>
std::int64_t moved_at(const Call& call, int fd, Bytes bytes, std::size_t count, std::int64_t offset) {
    return moved(count, [&](std::size_t done, unsigned n) -> std::int64_t {
        const auto at = static_cast<std::uint64_t>(offset) + done;
        OVERLAPPED place{};
        place.Offset = static_cast<DWORD>(at), place.OffsetHigh = static_cast<DWORD>(at >> 32);
        DWORD now = 0;
        if (call(handle_of(fd), bytes + done, n, &now, &place) || GetLastError() == ERROR_HANDLE_EOF) return now;
        errno = EIO;
        return -1;
    });
}

}  // namespace

// ---- memory ---------------------------------------------------------------------------------------------------------

std::int64_t page_bytes() {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

std::optional<std::int64_t> machine_memory() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof(status);
    if (!GlobalMemoryStatusEx(&status)) return std::nullopt;
    return static_cast<std::int64_t>(status.ullAvailPageFile);  // bytes that can still be committed, with page files
}

std::optional<std::int64_t> address_space_limit() { return std::nullopt; }
std::optional<std::int64_t> data_limit() { return std::nullopt; }

// Windows counts committed pages whether written or not, so a plan of a call takes as much memory as the call.
void* reserve(std::int64_t bytes) noexcept {
    return VirtualAlloc(nullptr, static_cast<SIZE_T>(bytes), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
void give_back(void* reserved, std::int64_t) noexcept { VirtualFree(reserved, 0, MEM_RELEASE); }
void prefer_large_pages(void*, std::int64_t) noexcept {}
bool release_on_demand(void*, std::int64_t) noexcept { return false; }
std::int64_t absent_bytes(std::uintptr_t, std::uintptr_t) { return 0; }

// ---- threads --------------------------------------------------------------------------------------------------------

int processor_set::count() const {
    const auto add = [](int n, std::uint64_t word) { return n + std::popcount(word); };
    return std::accumulate(bits.begin(), bits.end(), 0, add);
}

processor_set processors() {
    DWORD_PTR allowed = 0, all = 0;
    GetProcessAffinityMask(GetCurrentProcess(), &allowed, &all);  // of the first 64 processors
    return {{allowed}};
}

void move_thread(std::thread::native_handle_type, const processor_set&) {}  // the thread runs where the process may
std::thread start_thread(std::function<void()> body) { return std::thread(std::move(body)); }

void stay_loaded() {
    HMODULE here = nullptr;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       reinterpret_cast<LPCWSTR>(&stay_loaded), &here);
}

bool on_fork(void (*)(), void (*)(), void (*)()) { return false; }  // Windows has no fork

// ---- signals --------------------------------------------------------------------------------------------------------

std::vector<int> ending_signals() { return {SIGINT, SIGTERM, SIGBREAK}; }

void catch_signal(int number, void (*handler)(int)) {
    if (signal(number, handler) == SIG_IGN) signal(number, SIG_IGN);
}

void accept_signals() noexcept {}
void ignore_file_limit() noexcept {}

// ---- files ----------------------------------------------------------------------------------------------------------

std::optional<file_facts> facts_of(const std::filesystem::path& path) {
    const DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const HANDLE file =
        CreateFileW(path.c_str(), 0, shared, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    if (file == INVALID_HANDLE_VALUE) return errno = ENOENT, std::nullopt;
    const auto facts = facts_in(file);
    CloseHandle(file);
    return facts;
}

std::optional<file_facts> facts_of(int fd) {
    if (fd < 0 || handle_of(fd) == INVALID_HANDLE_VALUE) return errno = EBADF, std::nullopt;
    return facts_in(handle_of(fd));
}

bool is_terminal(int fd) { return ::_isatty(fd) != 0; }
bool may_write(const std::filesystem::path& path) { return ::_waccess(path.c_str(), 2) == 0; }

int open_to_read(const std::filesystem::path& path, bool) { return opened(path, _O_RDONLY); }

int open_to_write(const std::filesystem::path& path, bool also_read) {
    const int fd = also_read ? opened(path, _O_RDWR) : -1;
    return fd >= 0 ? fd : opened(path, _O_WRONLY);
}

// A new file inherits the rights of its folder.
int open_new(const std::filesystem::path& path, bool) { return opened(path, _O_RDWR | _O_CREAT | _O_EXCL); }
void keep_permissions(int, const std::filesystem::path&) {}

int duplicate(int fd) {
    ::_setmode(fd, _O_BINARY);
    return ::_dup(fd);
}
bool close(int fd) { return ::_close(fd) == 0; }
std::int64_t position(int fd) { return ::_lseeki64(fd, 0, SEEK_CUR); }

std::int64_t read(int fd, void* to, std::size_t count) {
    return moved(count, [&](std::size_t done, unsigned n) { return ::_read(fd, static_cast<char*>(to) + done, n); });
}

std::int64_t read_at(int fd, void* to, std::size_t count, std::int64_t offset) {
    return moved_at(ReadFile, fd, static_cast<char*>(to), count, offset);
}

bool write(int fd, const void* from, std::size_t count) {
    ::_setmode(fd, _O_BINARY);
    const auto* const bytes = static_cast<const char*>(from);
    return moved(count, [&](std::size_t done, unsigned n) { return ::_write(fd, bytes + done, n); }) ==
           static_cast<std::int64_t>(count);
}

bool write_at(int fd, const void* from, std::size_t count, std::int64_t offset) {
    return moved_at(WriteFile, fd, static_cast<const char*>(from), count, offset) == static_cast<std::int64_t>(count);
}

void start_storing(int, std::int64_t, std::int64_t) {}
bool store(int fd) { return ::_commit(fd) == 0 || errno == EBADF; }
bool store_folder(const std::filesystem::path&) { return true; }  // the file system logs names itself
void remove(const char* path) noexcept { ::_unlink(path); }

}  // namespace nearfield::os
