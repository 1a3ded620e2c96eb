// Code that all formats share: input and output of bytes, and the checks that keep a malicious file harmless.
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

/// Returns the text without characters that could control a terminal: control characters, overrides of the writing
/// direction and invalid UTF-8 become '?', line ends and tabs become blanks.
[[nodiscard]] std::string printable(std::string_view text);

/// Makes an error(io) whose text starts with the file's name; the text is printable().
[[nodiscard]] error bad_file(std::string_view name, std::string_view what,
                             std::source_location where = std::source_location::current());

/// A file or a block of memory with random access. Of a pipe or device it reads what is asked for and keeps it.
class source {
public:
    /// Throws io if the file cannot be opened, and later if more than `most` bytes of a pipe or device are asked for.
    explicit source(const std::filesystem::path& path, std::int64_t most = std::int64_t{1} << 32);
    source(int fd, std::string name, std::int64_t most);         ///< a descriptor, which it closes
    source(std::span<const std::byte> bytes, std::string name);  ///< does not own the bytes
    ~source();
    source(const source&) = delete;
    source& operator=(const source&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    /// Returns the path of a regular file, else an empty path.
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Returns the size; reads a pipe or device to its end.
    [[nodiscard]] std::int64_t size() const;
    /// Returns the size, or nothing for a pipe or device whose end was not reached yet.
    [[nodiscard]] std::optional<std::int64_t> known_size() const;
    /// Reads up to `count` bytes from `offset`; fewer only at the end. Throws io if the system reports a failure.
    std::size_t read(std::int64_t offset, void* to, std::size_t count) const;
    /// Returns the first bytes, at most `count`.
    [[nodiscard]] std::string head(std::size_t count) const;

private:
    void open_as(const std::filesystem::path& path);
    void fill(std::int64_t end) const;

    std::string name_;
    std::filesystem::path path_;
    std::int64_t size_ = 0, most_ = 0;
    int fd_ = -1;
    bool pipe_ = false;
    mutable bool ended_ = false;              ///< a pipe has ended
    mutable std::vector<std::byte> arrived_;  ///< bytes read from a pipe
    std::span<const std::byte> bytes_;
};

/// Opens the data file that a header on disk names. Throws io unless it is a regular file that, links resolved, lies in
/// the header's folder or below it; with `allow_outside` it may lie anywhere.
[[nodiscard]] source open_beside(const source& header, const std::string& name, bool allow_outside);

/// Bytes that are read in sequence.
class stream {
public:
    virtual ~stream() = default;
    /// Reads up to `count` bytes; fewer only at the end.
    virtual std::size_t read(void* to, std::size_t count) = 0;
    /// Returns an upper bound of the number of bytes that follow, or nothing if none is known.
    [[nodiscard]] virtual std::optional<std::int64_t> at_most() const = 0;
    [[nodiscard]] virtual const std::string& name() const = 0;
    /// Must be called after the last byte that is wanted. Throws io if the bytes that follow show damage.
    virtual void finish() {}

    void exact(void* to, std::size_t count, std::string_view what);  ///< throws io ("ends inside `what`")
    void skip(std::int64_t count, std::string_view what);
};

/// Reads a source from an offset on.
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

/// Reads a descriptor of which some bytes, `head`, were read already.
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

/// Unpacks a gzip or zlib file (one member or several) from an offset on.
class gzip_stream final : public stream {
public:
    explicit gzip_stream(const source& from, std::int64_t offset = 0);
    ~gzip_stream() override;
    std::size_t read(void* to, std::size_t count) override;
    std::optional<std::int64_t> at_most() const override;
    const std::string& name() const override { return from_.name(); }
    /// Checks length and checksum, which follow the data. It skips up to 64 KiB of padding before them.
    void finish() override;

private:
    bool refill(std::size_t least);
    struct state;
    const source& from_;
    std::unique_ptr<state> state_;
};

/// Returns whether a path is a FIFO or socket, which cannot seek.
[[nodiscard]] bool is_pipe(const std::filesystem::path& path);

/// Deflate cannot make one byte out of fewer than 1/1032 bytes (zlib's documentation, "Maximum Compression Factor").
inline constexpr std::int64_t deflate_ratio = 1032;

/// Allocates an array whose sizes a file claims. Throws io if sizes are negative, exceed the limits, or need more than
/// `available` bytes: nothing is allocated for a file that cannot hold the data.
array claimed_array(std::string_view name, dtype type, std::vector<std::int64_t> shape, const read_limits& limits,
                    std::optional<std::int64_t> available);
/// Fills claimed_array() from the stream. If the stream's length is unknown, memory grows as data arrives.
array read_array(stream& from, dtype type, std::vector<std::int64_t> shape, const read_limits& limits);

/// Returns the bytes of an array of this type and shape, or nothing if a size is negative or the product exceeds 2^62.
std::optional<std::int64_t> byte_count(dtype type, std::span<const std::int64_t> shape);

/// Moves axes that are not spatial to the front and keeps their order; `axes` has one entry per grid axis. Clears
/// `axes` if all are spatial.
[[nodiscard]] array with_axes(array values, std::vector<axis_kind> axes);

/// Returns a copy whose grid axis i is axis order[i] of `from`.
[[nodiscard]] array permuted(const array& from, std::span<const std::size_t> order);

void swap_bytes(void* data, std::int64_t elements, std::int64_t element_size);
/// Makes every byte 0 or 1, because compilers assume that a bool has no other value.
void normalise_booleans(array& values);
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);  ///< "(3, 4)"

/// Returns the double of the shortest decimal that rounds to this float: 0.7 for 0.7f, not 0.699999988.
[[nodiscard]] double shortest_decimal(float value);
/// Makes a file's spacing positive: signs are dropped, and axes without a usable value get 1. Returns no values if no
/// axis has a usable one.
[[nodiscard]] std::vector<double> usable_spacing(std::vector<double> claimed);
/// Returns a unit's length in metres, or nothing for names that are no unit of length.
std::optional<double> metres_of(std::string_view unit);
/// Returns the short name of a known unit ("micron" -> "um"); keeps other printable() names, and drops all others.
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

/// A file that appears complete at commit() or not at all: it is written under a temporary name beside its own, flushed
/// to disk, then renamed. It keeps mode, owner and group of the file that it replaces. Devices and pipes are written to
/// directly. abandon_outputs() removes files that are not committed.
class output {
public:
    explicit output(const std::filesystem::path& path);
    output(int fd, std::string name);  ///< a descriptor, which stays open
    ~output();
    output(const output&) = delete;
    output& operator=(const output&) = delete;

    void write(const void* data, std::size_t count);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();

    // For libtiff only, which seeks back to patch its output and reports how much it wrote. Do not mix with write().
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
    std::int64_t written_ = 0, started_ = 0;  ///< bytes written; bytes whose transfer to disk has started
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
