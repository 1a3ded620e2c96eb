// Bytes in: files, memory, standard input, gzip.
#include "io/bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

namespace nearfield::io {

error bad_file(std::string_view name, std::string_view what, std::source_location where) {
    return {error_code::io, fmt::format("{}: {}", name, what), where};
}

namespace {

std::size_t read_all(int fd, const std::string& name, void* to, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
        // Linux moves at most 0x7ffff000 bytes a call.
        const std::size_t chunk = std::min<std::size_t>(count - done, std::size_t{1} << 30);
        const ssize_t n = ::read(fd, static_cast<std::byte*>(to) + done, chunk);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw bad_file(name, fmt::format("cannot be read: {}", std::strerror(errno)));
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

}  // namespace

source::source(const std::filesystem::path& path) : name_(path.string()), path_(path) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw bad_file(name_, fmt::format("cannot be opened: {}", std::strerror(errno)));
    try {
        struct stat info {};
        if (::fstat(fd_, &info) != 0) throw bad_file(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
        if (S_ISDIR(info.st_mode)) throw bad_file(name_, "is a folder, expected a file");
        if (S_ISREG(info.st_mode)) {
            size_ = info.st_size;
        } else {
            slurp();
        }
    } catch (...) {
        ::close(fd_);
        throw;
    }
}

source::source(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), size_(static_cast<std::int64_t>(bytes.size())), bytes_(bytes) {}

source::~source() {
    if (fd_ >= 0) ::close(fd_);
}

// A pipe cannot be read anywhere, so it is taken whole. 4 GiB, because /dev/zero never ends.
void source::slurp() {
    constexpr std::size_t most = std::size_t{1} << 32;
    constexpr std::size_t step = std::size_t{1} << 20;
    for (;;) {
        const std::size_t before = owned_.size();
        if (before >= most)
            throw bad_file(name_, "more than 4 GiB came from a pipe or device; save it to a file and read that");
        owned_.resize(before + std::max(step, before));
        const std::size_t n = read_all(fd_, name_, owned_.data() + before, owned_.size() - before);
        const bool ended = before + n < owned_.size();
        if (!ended) continue;
        owned_.resize(before + n);
        break;
    }
    bytes_ = owned_;
    size_ = static_cast<std::int64_t>(owned_.size());
    ::close(fd_);
    fd_ = -1;
}

std::size_t source::read(std::int64_t offset, void* to, std::size_t count) const {
    if (offset < 0 || offset >= size_) return 0;
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, static_cast<std::uint64_t>(size_ - offset)));
    if (fd_ < 0) {
        std::memcpy(to, bytes_.data() + offset, count);
        return count;
    }
    std::size_t done = 0;
    while (done < count) {
        const std::size_t chunk = std::min<std::size_t>(count - done, std::size_t{1} << 30);
        const ssize_t n = ::pread(fd_, static_cast<std::byte*>(to) + done, chunk, offset + static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw bad_file(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

std::string source::head(std::size_t count) const {
    std::string text(std::min(count, static_cast<std::size_t>(size_)), '\0');
    text.resize(read(0, text.data(), text.size()));
    return text;
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

std::size_t pipe_stream::read(void* to, std::size_t count) { return read_all(fd_, name_, to, count); }

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

std::size_t gzip_stream::read(void* to, std::size_t count) {
    auto& [z, at, in, ended] = *state_;
    std::size_t done = 0;
    while (done < count && !ended) {
        if (z.avail_in == 0) {
            const std::size_t n = from_.read(at, in.data(), in.size());
            if (n == 0) break;
            at += static_cast<std::int64_t>(n);
            z.next_in = reinterpret_cast<Bytef*>(in.data());
            z.avail_in = static_cast<uInt>(n);
        }
        const auto chunk = static_cast<uInt>(std::min<std::size_t>(count - done, std::size_t{1} << 30));
        z.next_out = static_cast<Bytef*>(to) + done;
        z.avail_out = chunk;
        const int code = inflate(&z, Z_NO_FLUSH);
        done += chunk - z.avail_out;
        if (code == Z_STREAM_END) {
            // Another gzip member may follow; anything else behind the end is padding.
            const bool more = z.avail_in >= 2 && z.next_in[0] == 0x1f && z.next_in[1] == 0x8b;
            if (!more || inflateReset(&z) != Z_OK) ended = true;
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            throw bad_file(from_.name(), fmt::format("the compressed data is damaged ({})", z.msg ? z.msg : "zlib"));
        }
    }
    return done;
}

std::optional<std::int64_t> gzip_stream::at_most() const {
    const std::int64_t left = from_.size() - state_->at + state_->z.avail_in;
    return std::min(left, std::int64_t{1} << 50) * deflate_ratio + (std::int64_t{1} << 16);
}

}  // namespace nearfield::io
