// Files by descriptors, as the operating system gives them. What fails returns -1, false or nothing; errno says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace nearfield::os {

inline constexpr int standard_input = 0, standard_output = 1, standard_error = 2;

enum class file_kind { regular, folder, pipe, socket, device };

struct file_facts {
    file_kind kind;
    std::int64_t bytes;
    std::uint64_t volume, number;  ///< equal for all names of one file
};

/// Of what a name stands for, links followed.
[[nodiscard]] std::optional<file_facts> facts_of(const std::filesystem::path& path);
[[nodiscard]] std::optional<file_facts> facts_of(int fd);
[[nodiscard]] bool is_terminal(int fd);
/// Whether a file, or the entries of a folder, may be changed.
[[nodiscard]] bool may_write(const std::filesystem::path& path);

/// `plain`: neither waits for a pipe's writer nor follows a link.
[[nodiscard]] int open_to_read(const std::filesystem::path& path, bool plain = false);
/// `also_read` where the system allows it.
[[nodiscard]] int open_to_write(const std::filesystem::path& path, bool also_read);
/// A file that was not there, to write and read; `own`: for nobody else.
[[nodiscard]] int open_new(const std::filesystem::path& path, bool own);
[[nodiscard]] int duplicate(int fd);
bool close(int fd);

[[nodiscard]] std::int64_t position(int fd);
/// Reads until the end of the file or `count` bytes; returns how many came.
[[nodiscard]] std::int64_t read(int fd, void* to, std::size_t count);
[[nodiscard]] std::int64_t read_at(int fd, void* to, std::size_t count, std::int64_t offset);
/// Writes all bytes. write() may be called in a signal handler.
[[nodiscard]] bool write(int fd, const void* from, std::size_t count);
[[nodiscard]] bool write_at(int fd, const void* from, std::size_t count, std::int64_t offset);

/// Gives a new file the mode and, as far as the system allows, owner and group of another one. Where the group cannot
/// be kept, the new one may do what everybody may.
void keep_permissions(int fd, const std::filesystem::path& of);
/// Sends bytes [from, to) on their way to the disk, and waits for those before. Advice: store() does what is left.
void start_storing(int fd, std::int64_t from, std::int64_t to);
/// False when the system tried to store the file and could not; file systems that cannot be asked count as good.
[[nodiscard]] bool store(int fd);
[[nodiscard]] bool store_folder(const std::filesystem::path& path);
/// May be called in a signal handler.
void remove(const char* path) noexcept;

}  // namespace nearfield::os
