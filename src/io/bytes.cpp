// Input of bytes: files, memory, standard input, gzip.
#include "io/bytes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/memory.hpp"
#include "os/files.hpp"

namespace nearfield::io {

namespace {

/// Bytes of the UTF-8 letter that `text` starts with; 0 if it starts with none, or with one that acts on a terminal.
std::size_t letter_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
    const std::size_t length = lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > text.size()) return 0;
    std::uint32_t code = lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if (byte(i) >> 6 != 2) return 0;
        code = code << 6 | (byte(i) & 0x3fu);
    }
    constexpr std::uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
    const bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    const bool letter = code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && !turns;
    return letter ? length : 0;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const std::size_t length = letter_bytes(text);
        if (length > 0) safe += text.substr(0, length);
        else safe += text[0] == '\n' || text[0] == '\t' ? ' ' : '?';
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return safe;
}

error bad_file(std::string_view name, std::string_view what, std::source_location where) {
    return {error_code::io, printable(fmt::format("{}: {}", name, what)), where};
}

namespace {

/// Checks the result of a read, which is negative if the read failed.
std::size_t checked(std::int64_t came, const std::string& name) {
    if (came < 0) throw bad_file(name, fmt::format("cannot be read: {}", std::strerror(errno)));
    return static_cast<std::size_t>(came);
}

}  // namespace

source::source(const std::filesystem::path& path, std::int64_t most) : name_(path.string()), most_(most) {
    fd_ = os::open_to_read(path);
    open_as(path);
}

source::source(int fd, std::string name, std::int64_t most) : name_(std::move(name)), most_(most), fd_(fd) {
    open_as({});
}

source::source(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), size_(static_cast<std::int64_t>(bytes.size())), bytes_(bytes) {}

source::~source() {
    if (fd_ >= 0) os::close(fd_);
}

void source::open_as(const std::filesystem::path& path) {
    if (fd_ < 0) throw bad_file(name_, fmt::format("cannot be opened: {}", std::strerror(errno)));
    const auto facts = os::facts_of(fd_);
    const std::string problem = !facts ? fmt::format("cannot be read: {}", std::strerror(errno))
                                : facts->kind == os::file_kind::folder ? "is a folder, expected a file"
                                                                       : "";
    if (!problem.empty()) {
        os::close(fd_);
        throw bad_file(name_, problem);
    }
    pipe_ = facts->kind != os::file_kind::regular || (path.empty() && os::position(fd_) > 0);
    if (pipe_) return;
    size_ = facts->bytes;
    // A descriptor's name does not tell which folder a header came from.
    const bool descriptor = name_ == "/dev/stdin" || name_.starts_with("/dev/fd/") || name_.starts_with("/proc/");
    if (!descriptor) path_ = path;
}

/// Keeps all bytes of a pipe up to `end`, because a pipe cannot be read at an offset.
void source::fill(std::int64_t end) const {
    constexpr std::int64_t step = std::int64_t{1} << 20;
    while (!ended_ && std::ssize(arrived_) < end) {
        const std::int64_t have = std::ssize(arrived_);
        if (have >= most_)
            throw bad_file(name_, fmt::format("more than {} would have to be kept of a pipe or device; save it to a "
                                              "file and read that, or give a larger --max-bytes",
                                              bytes_text(most_)));
        const auto more = static_cast<std::size_t>(std::min({end - have, std::max(step, have), most_ - have}));
        arrived_.resize(static_cast<std::size_t>(have) + more);
        const std::size_t n = checked(os::read(fd_, arrived_.data() + have, more), name_);
        ended_ = n < more;
        arrived_.resize(static_cast<std::size_t>(have) + n);
    }
}

std::int64_t source::size() const {
    if (!pipe_) return size_;
    fill(std::numeric_limits<std::int64_t>::max());
    return std::ssize(arrived_);
}

std::optional<std::int64_t> source::known_size() const {
    if (pipe_ && !ended_) return std::nullopt;
    return pipe_ ? std::ssize(arrived_) : size_;
}

std::size_t source::read(std::int64_t offset, void* to, std::size_t count) const {
    if (offset < 0) return 0;
    constexpr std::int64_t end = std::int64_t{1} << 62;
    if (pipe_) fill(std::min(offset, end) + static_cast<std::int64_t>(std::min<std::uint64_t>(count, end)));
    const std::int64_t size = pipe_ ? std::ssize(arrived_) : size_;
    if (offset >= size) return 0;
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, static_cast<std::uint64_t>(size - offset)));
    if (pipe_ || fd_ < 0) {
        std::memcpy(to, (pipe_ ? arrived_.data() : bytes_.data()) + offset, count);
        return count;
    }
    return checked(os::read_at(fd_, to, count, offset), name_);
}

std::string source::head(std::size_t count) const {
    std::string text(count, '\0');
    text.resize(read(0, text.data(), text.size()));
    return text;
}

source open_beside(const source& header, const std::string& name, bool allow_outside) {
    namespace fs = std::filesystem;
    if (name.find('\0') != std::string::npos) throw bad_file(header.name(), "names a data file with a NUL in its name");
    std::error_code missing;
    const fs::path own = header.path().parent_path();
    const fs::path folder = fs::canonical(own.empty() ? "." : own, missing);
    const fs::path data = missing ? fs::path{} : fs::canonical(folder / name, missing);
    if (missing) throw bad_file(header.name(), fmt::format("names the data file {}: {}", name, missing.message()));
    const bool inside = std::mismatch(folder.begin(), folder.end(), data.begin(), data.end()).first == folder.end();
    if (!inside && !allow_outside)
        throw bad_file(header.name(),
                       fmt::format("names the data file {}, which lies outside the header's folder; give "
                                   "--allow-outside if you know where the header comes from",
                                   name));
    // Opens without blocking, so that a FIFO is opened and refused. It follows no link created in the meantime.
    const int fd = os::open_to_read(data, true);
    if (const auto facts = os::facts_of(fd); fd >= 0 && (!facts || facts->kind != os::file_kind::regular)) {
        os::close(fd);
        throw bad_file(header.name(), fmt::format("names the data file {}, which is no regular file", name));
    }
    return {fd, data.string(), 0};
}

void stream::exact(void* to, std::size_t count, std::string_view what) {
    const std::size_t n = read(to, count);
    if (n < count)
        throw bad_file(name(),
                       fmt::format("ends inside {}: {} of {} bytes are there; the file is truncated", what, n, count));
}

void stream::skip(std::int64_t count, std::string_view what) {
    std::byte waste[4096];
    while (count > 0) {
        const auto n = static_cast<std::size_t>(std::min<std::int64_t>(count, sizeof waste));
        exact(waste, n, what);
        count -= static_cast<std::int64_t>(n);
    }
}

std::size_t plain_stream::read(void* to, std::size_t count) {
    const std::size_t n = from_.read(at_, to, count);
    at_ += static_cast<std::int64_t>(n);
    return n;
}

std::optional<std::int64_t> plain_stream::at_most() const {
    const auto size = from_.known_size();
    return size ? std::optional(std::max<std::int64_t>(*size - at_, 0)) : std::nullopt;
}

std::size_t pipe_stream::read(void* to, std::size_t count) {
    const std::size_t early = std::min(count, head_.size());
    std::memcpy(to, head_.data(), early);
    head_.erase(0, early);
    return early + checked(os::read(fd_, static_cast<std::byte*>(to) + early, count - early), name_);
}

struct gzip_stream::state {
    z_stream z{};
    std::int64_t at = 0;
    std::vector<std::byte> in = std::vector<std::byte>(std::size_t{1} << 16);
    bool ended = false;
};

gzip_stream::gzip_stream(const source& from, std::int64_t offset) : from_(from), state_(std::make_unique<state>()) {
    state_->at = offset;
    constexpr int gzip_or_zlib = 15 + 32;
    if (inflateInit2(&state_->z, gzip_or_zlib) != Z_OK)
        throw error(error_code::out_of_memory, fmt::format("{}: zlib could not start", from.name()));
}

gzip_stream::~gzip_stream() { inflateEnd(&state_->z); }

/// Reads until at least `least` bytes are buffered; returns false at the end of the file.
bool gzip_stream::refill(std::size_t least) {
    auto& [z, at, in, ended] = *state_;
    if (z.avail_in >= least) return true;
    if (z.avail_in > 0) std::memmove(in.data(), z.next_in, z.avail_in);
    const std::size_t n = from_.read(at, in.data() + z.avail_in, in.size() - z.avail_in);
    at += static_cast<std::int64_t>(n);
    z.next_in = reinterpret_cast<Bytef*>(in.data());
    z.avail_in += static_cast<uInt>(n);
    return z.avail_in >= least;
}

std::size_t gzip_stream::read(void* to, std::size_t count) {
    auto& [z, at, in, ended] = *state_;
    std::size_t done = 0;
    while (done < count && !ended) {
        if (!refill(1)) break;
        const auto chunk = static_cast<uInt>(std::min<std::size_t>(count - done, std::size_t{1} << 30));
        z.next_out = static_cast<Bytef*>(to) + done;
        z.avail_out = chunk;
        const int code = inflate(&z, Z_NO_FLUSH);
        done += chunk - z.avail_out;
        if (code == Z_STREAM_END) {
            // Another gzip member may follow; any other bytes after the end are padding.
            const bool more = refill(2) && z.next_in[0] == 0x1f && z.next_in[1] == 0x8b;
            if (!more || inflateReset(&z) != Z_OK) ended = true;
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            throw bad_file(from_.name(), fmt::format("the compressed data is damaged ({})", z.msg ? z.msg : "zlib"));
        }
    }
    return done;
}

void gzip_stream::finish() {
    std::vector<std::byte> padding(std::size_t{1} << 16);
    const std::size_t n = read(padding.data(), padding.size());
    if (state_->ended) return;
    throw bad_file(from_.name(), n == padding.size()
                                     ? "holds more compressed data than its header asks for; the header is wrong"
                                     : "ends before the checksum of the compressed data; the file is truncated");
}

std::optional<std::int64_t> gzip_stream::at_most() const {
    const auto size = from_.known_size();
    if (!size) return std::nullopt;
    const std::int64_t left = *size - state_->at + state_->z.avail_in;
    return std::min(left, std::int64_t{1} << 50) * deflate_ratio + (std::int64_t{1} << 16);
}

}  // namespace nearfield::io
