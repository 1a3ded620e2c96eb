// Fields whose sites differ from cell to cell: labels, with or without a sign. A cell's sites are the cells of another
// class. (Where there are two classes, zero and not zero, two plain fields do: host_sides.hpp.)
//
// Along the last axis that is the nearest cell of another class in the line. Every later pass is the ordinary search
// over all rows, whatever their class, and then for every cell the nearest row of another class above and below: a row
// of another class is never offered below its true value, because the search adds what that row itself still lacks.
#pragma once

#include <cstdint>
#include <functional>

#include "base/scratch.hpp"
#include "exact/core.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// The class of every cell, contiguous: the image's own elements, or a copy of them.
class class_field {
public:
    class_field(const plan& p, const any_input<host>& image);

    /// Bytes besides the image that it takes.
    [[nodiscard]] static std::int64_t workspace_bytes(const plan& p, const any_input<host>& image);
    /// Fills lines [first, last) of the last axis where the image cannot be used as it is.
    void read_lines(std::int64_t first, std::int64_t last);
    [[nodiscard]] bool wanted() const { return bytes_ > 0; }
    /// Elements of cells from `cell` on.
    [[nodiscard]] const std::byte* elements(std::int64_t cell) const { return data_ + cell * bytes_; }
    [[nodiscard]] bool same(std::int64_t a, std::int64_t b) const;

    /// nearest[x] = position of the cell of another class nearest to cell x of a line, the smaller one of two; -1 when
    /// the line has none. Background cells are their own. `ask` is called between pieces of a long line, and may throw.
    void nearest_in_line(std::int64_t line, std::int64_t count, const std::function<void()>& ask,
                         std::int32_t* nearest) const;

    /// exact::count_steps for the rows of `count` cells that start at cells `here` and `there`.
    void count_steps(std::int64_t here, std::int64_t there, std::int64_t count, const std::uint32_t* next,
                     std::uint32_t* steps) const;

    /// Signs of the distances of cells [first, first + count), which is_signed() says are wanted.
    void signs(std::int64_t first, std::int64_t count, std::int8_t* sign) const;

private:
    template <class Use>
    auto with_elements(const Use& use) const;

    const plan& p_;
    const any_input<host>& image_;
    int bytes_ = 0;  ///< of an element
    host_scratch<std::byte> own_;
    const std::byte* data_ = nullptr;
};

}  // namespace nearfield::exact
