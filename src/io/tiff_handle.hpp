// libtiff on our own bytes: it prints nothing, changes nothing global, and its allocations are bounded.
#pragma once

#include <tiffio.h>

#include <exception>
#include <string>

#include "io/bytes.hpp"

namespace nearfield::io {

class tiff_handle {
public:
    /// Opens for reading; libtiff may not allocate more than `most_bytes` at once.
    tiff_handle(const source& from, std::int64_t most_bytes);
    /// Opens for writing; `big` makes a BigTIFF, whose offsets have 64 bits.
    tiff_handle(output& to, bool big);
    ~tiff_handle();
    tiff_handle(const tiff_handle&) = delete;
    tiff_handle& operator=(const tiff_handle&) = delete;

    [[nodiscard]] TIFF* get() const { return tiff_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Throws if libtiff reported an error since it was opened, or if `good` is false.
    void check(bool good, std::string_view doing) const;
    /// Writes buffered data.
    void close();

private:
    struct callbacks;
    void open(const char* mode, std::int64_t most_bytes);

    std::string name_;
    const source* from_ = nullptr;
    output* to_ = nullptr;
    int fd_ = -1;
    std::int64_t at_ = 0;
    std::string message_;
    std::exception_ptr failure_;
    TIFF* tiff_ = nullptr;
};

}  // namespace nearfield::io
