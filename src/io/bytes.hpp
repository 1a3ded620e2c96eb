// What every format shares: where bytes come from, where they go, and the checks that keep a lying file harmless.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/io.hpp"

namespace nearfield::io {

/// The text without what could command a terminal: control characters, overrides of the writing direction and bytes
/// that are no UTF-8 become '?', line ends and tabs a blank.
[[nodiscard]] std::string printable(std::string_view text);

/// An error(io) that starts with the file's name; printable().
[[nodiscard]] error bad_file(std::string_view name, std::string_view what,
                             std::source_location where = std::source_location::current());

/// A file or a block of memory that can be read anywhere. Of a pipe or device it takes what is asked for and keeps it.
class source {
public:
    /// Throws io when it cannot be opened, and later when more than `most` bytes of a pipe or device are asked for.
    explicit source(const std::filesystem::path& path, std::int64_t most = std::int64_t{1} << 32);
    source(int fd, std::string name, std::int64_t most);         ///< a descriptor, which it closes
    source(std::span<const std::byte> bytes, std::string name);  ///< does not own the bytes
    ~source();
    source(const source&) = delete;
    source& operator=(const source&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    /// Empty unless this is a regular file.
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Reads a pipe or device to its end.
    [[nodiscard]] std::int64_t size() const;
    /// Nothing for a pipe or device whose end has not come.
    [[nodiscard]] std::optional<std::int64_t> known_size() const;
    /// As many of `count` bytes from `offset` as there are. Throws io when the system reports a failure.
    std::size_t read(std::int64_t offset, void* to, std::size_t count) const;
    /// The first bytes, at most `count`.
    [[nodiscard]] std::string head(std::size_t count) const;

private:
    void open_as(const std::filesystem::path& path);
    void fill(std::int64_t end) const;

    std::string name_;
    std::filesystem::path path_;
    std::int64_t size_ = 0, most_ = 0;
    int fd_ = -1;
    bool pipe_ = false;
    mutable bool ended_ = false;              ///< of a pipe
    mutable std::vector<std::byte> arrived_;  ///< out of a pipe
    std::span<const std::byte> bytes_;
};

/// The data file that a header on disk names. Throws io unless it is a regular file that lies, links followed, in the
/// header's folder or below it; with `allow_outside` anywhere.
[[nodiscard]] source open_beside(const source& header, const std::string& name, bool allow_outside);

/// Bytes that come one after the other.
class stream {
public:
    virtual ~stream() = default;
    /// As many of `count` bytes as there still are.
    virtual std::size_t read(void* to, std::size_t count) = 0;
    /// No more than this many bytes can follow; nothing when unknown.
    [[nodiscard]] virtual std::optional<std::int64_t> at_most() const = 0;
    [[nodiscard]] virtual const std::string& name() const = 0;
    /// Called behind the last byte that is wanted. Throws io when what follows shows that the bytes are damaged.
    virtual void finish() {}

    void exact(void* to, std::size_t count, std::string_view what);  ///< throws io ("ends inside `what`")
    void skip(std::int64_t count, std::string_view what);
};

/// A source from an offset on.
class plain_stream final : public stream {
public:
    explicit plain_stream(const source& from, std::int64_t offset = 0) : from_(from), at_(offset) {}
    std::size_t read(void* to, std::size_t count) override;
    std::optional<std::int64_t> at_most() const override;
    const std::string& name() const override { return from_.name(); }

private:
    const source& from_;
    std::int64_t at_;
};

/// A descriptor behind the bytes that were taken from it already.
class pipe_stream final : public stream {
public:
    pipe_stream(int fd, std::string name, std::string head) : fd_(fd), name_(std::move(name)), head_(std::move(head)) {}
    std::size_t read(void* to, std::size_t count) override;
    std::optional<std::int64_t> at_most() const override { return std::nullopt; }
    const std::string& name() const override { return name_; }

private:
    int fd_;
    std::string name_, head_;
};

/// What a gzip or zlib file (one member or several) from an offset on unpacks to.
class gzip_stream final : public stream {
public:
    explicit gzip_stream(const source& from, std::int64_t offset = 0);
    ~gzip_stream() override;
    std::size_t read(void* to, std::size_t count) override;
    std::optional<std::int64_t> at_most() const override;
    const std::string& name() const override { return from_.name(); }
    /// Checks length and checksum, which stand behind the data. Up to 64 KiB of padding are taken before them.
    void finish() override;

private:
    bool refill(std::size_t least);
    struct state;
    const source& from_;
    std::unique_ptr<state> state_;
};

/// A FIFO or socket, which cannot seek.
[[nodiscard]] bool is_pipe(const std::filesystem::path& path);

/// Deflate cannot make one byte out of fewer than 1/1032 bytes (zlib's documentation, "Maximum Compression Factor").
inline constexpr std::int64_t deflate_ratio = 1032;

/// An array whose sizes a file claims; throws io when they are negative, beyond the limits, or take more than
/// `available` bytes, so that nothing is allocated for a file that cannot hold them.
array claimed_array(std::string_view name, dtype type, std::vector<std::int64_t> shape, const read_limits& limits,
                    std::optional<std::int64_t> available);
/// claimed_array, filled from the stream. When the stream's length is unknown memory grows with what really arrives.
array read_array(stream& from, dtype type, std::vector<std::int64_t> shape, const read_limits& limits);

/// Bytes of an array of this type and shape, or nothing when negative or beyond 2^62.
std::optional<std::int64_t> byte_count(dtype type, std::span<const std::int64_t> shape);

/// Moves axes that are not of space to the front, the others keeping their order; `axes` has one entry per grid axis.
/// Leaves `axes` empty where all are of space.
[[nodiscard]] array with_axes(array values, std::vector<axis_kind> axes);

/// A copy whose grid axis i is axis order[i] of `from`.
[[nodiscard]] array permuted(const array& from, std::span<const std::size_t> order);

void swap_bytes(void* data, std::int64_t elements, std::int64_t element_size);
/// Makes every byte 0 or 1: any other value is no bool to a compiler.
void normalise_booleans(array& values);
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);  ///< "(3, 4)"

/// The double of the shortest decimal that rounds to this float: 0.7 for 0.7f, not 0.699999988.
[[nodiscard]] double shortest_decimal(float value);
/// A file's spacing made positive: signs go, axes without a usable value get 1, and nothing is left when no axis has
/// one.
[[nodiscard]] std::vector<double> usable_spacing(std::vector<double> claimed);
/// Metres of a unit's name; nothing for names that are no length.
std::optional<double> metres_of(std::string_view unit);
/// The short name of a known unit ("micron" -> "um"); other names as they are, but none that is not printable().
std::string canonical_unit(std::string_view unit);

template <class T>
T load(const void* at, bool swapped = false) {
    std::byte raw[sizeof(T)];
    std::memcpy(raw, at, sizeof(T));
    if (swapped)
        for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    T value;
    std::memcpy(&value, raw, sizeof(T));
    return value;
}

/// A file that appears whole at commit() or not at all: written beside its final name, stored, then renamed. It keeps
/// the mode, owner and group of the file it replaces. Devices and pipes are written to directly. abandon_outputs()
/// removes what is not committed.
class output {
public:
    explicit output(const std::filesystem::path& path);
    output(int fd, std::string name);  ///< a descriptor that stays open
    ~output();
    output(const output&) = delete;
    output& operator=(const output&) = delete;

    void write(const void* data, std::size_t count);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();

    // For libtiff, which goes back to patch what it wrote, and says how much that was. Not mixed with write().
    [[nodiscard]] int descriptor() const { return fd_; }
    void wrote(std::int64_t count);
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    void put(const std::byte* bytes, std::size_t count);
    void flush();
    [[noreturn]] void failed(const char* doing);

    std::filesystem::path path_, temporary_;
    std::atomic<char*>* remembered_ = nullptr;
    std::string name_;
    int fd_ = -1;
    bool owned_ = true;
    std::int64_t written_ = 0, started_ = 0;  ///< bytes handed to the system; of them, those on their way to the disk
    std::vector<std::byte> buffer_;
};

/// Deflates into an output as a gzip member.
class gzip_writer {
public:
    explicit gzip_writer(output& to);
    ~gzip_writer();
    gzip_writer(const gzip_writer&) = delete;
    gzip_writer& operator=(const gzip_writer&) = delete;
    void write(const void* data, std::size_t count);
    void finish();

private:
    void pump(int flush);
    struct state;
    output& to_;
    std::unique_ptr<state> state_;
};

}  // namespace nearfield::io
