#include "io/tiff_handle.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "os/files.hpp"

namespace nearfield::io {

/// Callbacks for libtiff. No exception may pass through its frames, so they are stored and thrown by check().
struct tiff_handle::callbacks {
    static tiff_handle& self(thandle_t handle) { return *static_cast<tiff_handle*>(handle); }

    static tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
        tiff_handle& h = self(handle);
        std::int64_t done = 0;
        if (h.from_) {
            try {
                done = static_cast<std::int64_t>(h.from_->read(h.at_, to, static_cast<std::size_t>(count)));
            } catch (...) {
                h.failure_ = std::current_exception();
            }
        } else {
            done = os::read_at(h.fd_, to, static_cast<std::size_t>(count), h.at_);
        }
        if (done > 0) h.at_ += done;
        return done;
    }
    static tmsize_t write(thandle_t handle, void* from, tmsize_t count) {
        tiff_handle& h = self(handle);
        if (!os::write_at(h.fd_, from, static_cast<std::size_t>(count), h.at_)) {
            if (h.message_.empty()) h.message_ = std::strerror(errno);
            return -1;
        }
        h.at_ += count;
        h.to_->wrote(count);
        return count;
    }
    static toff_t seek(thandle_t handle, toff_t offset, int from) {
        tiff_handle& h = self(handle);
        const auto base = from == SEEK_SET ? 0 : from == SEEK_CUR ? h.at_ : static_cast<std::int64_t>(size(handle));
        const auto sum = static_cast<std::uint64_t>(base) + offset;
        if (sum > std::uint64_t{1} << 62) return static_cast<toff_t>(-1);
        h.at_ = static_cast<std::int64_t>(sum);
        return sum;
    }
    static toff_t size(thandle_t handle) {
        const tiff_handle& h = self(handle);
        if (h.from_) return static_cast<toff_t>(h.from_->size());
        const auto facts = os::facts_of(h.fd_);
        return facts ? static_cast<toff_t>(facts->bytes) : 0;
    }
    static int close(thandle_t) { return 0; }
    static int no_map(thandle_t, void**, toff_t*) { return 0; }
    static void no_unmap(thandle_t, void*, toff_t) {}

    static int on_error(TIFF*, void* handle, const char*, const char* format, va_list values) {
        tiff_handle& h = self(handle);
        if (!h.message_.empty()) return 1;  // keeps the first error, which is the cause
        char text[400];
        std::vsnprintf(text, sizeof text, format, values);
        h.message_ = text;
        return 1;
    }
    static int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }
};

tiff_handle::tiff_handle(const source& from, std::int64_t most_bytes) : name_(from.name()), from_(&from) {
    open("r", most_bytes);
}

tiff_handle::tiff_handle(output& to, bool big) : name_(to.name()), to_(&to), fd_(to.descriptor()) {
    open(big ? "w8" : "w", 0);
}

void tiff_handle::open(const char* mode, std::int64_t most_bytes) {
    TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
    if (!options) throw error(error_code::out_of_memory, fmt::format("{}: libtiff could not start", name_));
    TIFFOpenOptionsSetErrorHandlerExtR(options, callbacks::on_error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options, callbacks::on_warning, this);
    if (most_bytes > 0) TIFFOpenOptionsSetMaxSingleMemAlloc(options, most_bytes);
    tiff_ = TIFFClientOpenExt(name_.c_str(), mode, this, callbacks::read, callbacks::write, callbacks::seek,
                              callbacks::close, callbacks::size, callbacks::no_map, callbacks::no_unmap, options);
    TIFFOpenOptionsFree(options);
    if (!tiff_) check(false, "opening");
}

tiff_handle::~tiff_handle() {
    if (tiff_) TIFFClose(tiff_);
}

void tiff_handle::check(bool good, std::string_view doing) const {
    if (failure_) std::rethrow_exception(failure_);
    if (good && message_.empty()) return;
    const char* kind = from_ ? "bad TIFF, " : "";
    throw bad_file(name_, fmt::format("{}{}: {}", kind, doing, message_.empty() ? "libtiff failed" : message_));
}

void tiff_handle::close() {
    const bool flushed = TIFFFlush(tiff_) == 1;
    check(flushed, "writing");
    TIFFClose(tiff_);
    tiff_ = nullptr;
    check(true, "writing");
}

}  // namespace nearfield::io
