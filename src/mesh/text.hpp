// Words and numbers of a text in memory, and errors for files that are not what they claim.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <source_location>
#include <string>
#include <string_view>

#include "nearfield/mesh.hpp"

namespace nearfield::meshes {

[[noreturn]] inline void bad_mesh(const std::string& name, const std::string& what,
                                  std::source_location where = std::source_location::current()) {
    throw error(error_code::io, name + ": " + what, where);
}

/// Reads a text from front to back as words between blanks. Keeps no copy.
class text {
public:
    text(std::string_view all, const std::string& name) : all_(all), name_(name) {}

    [[nodiscard]] bool ended() const { return at_ == all_.size(); }
    [[nodiscard]] std::size_t position() const { return at_; }

    /// Returns the next word of this line, empty at its end. A backslash at a line's end joins it with the next line.
    std::string_view word() {
        for (; at_ < all_.size(); ++at_) {
            const char c = all_[at_];
            if (c == '\\' && line_end(at_ + 1) > 0) at_ += line_end(at_ + 1);
            else if (c != ' ' && c != '\t' && c != '\v' && c != '\f') break;
        }
        const std::size_t first = at_;
        while (at_ < all_.size() && static_cast<unsigned char>(all_[at_]) > ' ') ++at_;
        if (at_ == first && !ended() && line_end(at_) == 0) ++at_;  // a control character is a word
        return all_.substr(first, at_ - first);
    }
    /// Goes to the next line.
    void next_line() {
        at_ = std::min(all_.find_first_of("\r\n", at_), all_.size());
        at_ += line_end(at_);
        ++line_;
    }
    /// Returns the next word of any line, empty at the end of the text.
    std::string_view word_anywhere() {
        for (;;) {
            const std::string_view found = word();
            if (!found.empty() || ended()) return found;
            next_line();
        }
    }
    double coordinate(std::string_view of) const {
        double value = 0;
        const std::size_t plus = of.starts_with('+') ? 1 : 0;
        const auto [end, failed] = std::from_chars(of.data() + plus, of.data() + of.size(), value);
        // A number too small for a double is 0; one that is too large is refused.
        const bool tiny = of.find("e-") != of.npos || of.find("E-") != of.npos;
        if ((failed != std::errc{} && !(failed == std::errc::result_out_of_range && tiny)) ||
            end != of.data() + of.size() || !std::isfinite(value))
            fail("a coordinate should stand here, a finite number");
        return value;
    }
    std::int64_t integer(std::string_view of, const char* what) const {
        std::int64_t value = 0;
        const auto [end, failed] = std::from_chars(of.data(), of.data() + of.size(), value);
        if (failed != std::errc{} || end != of.data() + of.size()) fail(fmt::format("{} should stand here", what));
        return value;
    }
    [[noreturn]] void fail(const std::string& what) const {
        if (ended()) bad_mesh(name_, "ends too early; the file is truncated: " + what);
        bad_mesh(name_, fmt::format("line {}: {}", line_, what));
    }

private:
    /// Returns the number of characters that end a line there: 0, or 2 for a carriage return and a line feed.
    [[nodiscard]] std::size_t line_end(std::size_t at) const {
        if (at >= all_.size() || (all_[at] != '\n' && all_[at] != '\r')) return 0;
        return all_.substr(at, 2) == "\r\n" ? 2 : 1;
    }

    std::string_view all_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::int64_t line_ = 1;
};

inline void check_corner(std::int64_t vertex, std::size_t vertices, const std::string& name, std::size_t face) {
    if (vertex < 0 || vertex >= static_cast<std::int64_t>(vertices))
        bad_mesh(name, fmt::format("face {} names vertex {}; there are {}, from 0", face, vertex, vertices));
}

mesh read_stl(std::string_view bytes, const std::string& name);
mesh read_obj(std::string_view bytes, const std::string& name);
mesh read_off(std::string_view bytes, const std::string& name);
mesh read_ply(std::string_view bytes, const std::string& name);

}  // namespace nearfield::meshes
