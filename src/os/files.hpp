// Files by descriptor, from the operating system. Functions return -1, false or nothing on failure and set errno.
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

/// Returns facts about the file that a name stands for, after links are followed.
[[nodiscard]] std::optional<file_facts> facts_of(const std::filesystem::path& path);
[[nodiscard]] std::optional<file_facts> facts_of(int fd);
[[nodiscard]] bool is_terminal(int fd);
/// Returns whether a file, or the entries of a folder, may be changed.
[[nodiscard]] bool may_write(const std::filesystem::path& path);

/// With `plain` it neither waits for a pipe's writer nor follows a link.
[[nodiscard]] int open_to_read(const std::filesystem::path& path, bool plain = false);
/// With `also_read` it opens for reading, too, if the system allows it.
[[nodiscard]] int open_to_write(const std::filesystem::path& path, bool also_read);
/// Creates a file, which must not exist, to write and read; with `own` nobody else may access it.
[[nodiscard]] int open_new(const std::filesystem::path& path, bool own);
[[nodiscard]] int duplicate(int fd);
bool close(int fd);

[[nodiscard]] std::int64_t position(int fd);
/// Reads until the end of the file or `count` bytes; returns the number of bytes read.
[[nodiscard]] std::int64_t read(int fd, void* to, std::size_t count);
[[nodiscard]] std::int64_t read_at(int fd, void* to, std::size_t count, std::int64_t offset);
/// Writes all bytes. write() may be called in a signal handler.
[[nodiscard]] bool write(int fd, const void* from, std::size_t count);
[[nodiscard]] bool write_at(int fd, const void* from, std::size_t count, std::int64_t offset);

/// Gives a new file the mode and, as far as the system allows, owner and group of another one. If the group cannot
/// be kept, the new group only gets permissions that everybody has.
void keep_permissions(int fd, const std::filesystem::path& of);
/// Starts writing bytes [from, to) to the disk, and waits for those before. It is only advice: store() does the rest.
void start_storing(int fd, std::int64_t from, std::int64_t to);
/// Returns false if the system tried to store the file and failed; file systems without this function count as good.
[[nodiscard]] bool store(int fd);
[[nodiscard]] bool store_folder(const std::filesystem::path& path);
/// May be called in a signal handler.
void remove(const char* path) noexcept;

}  // namespace nearfield::os
