// Labels as fields whose sites differ from cell to cell: a cell's sites are the cells of another label.
#pragma once

#include <cstdint>

#include "base/scratch.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// The label of every cell, contiguous: the image's own elements, or a copy of them. Empty without labels.
class class_field {
public:
    class_field(const plan& p, const any_input<host>& image);

    /// Bytes besides the image that it takes.
    [[nodiscard]] static std::int64_t workspace_bytes(const plan& p, const any_input<host>& image);
    /// Fills lines [first, last) of the last axis where the image cannot be used as it is.
    void read_lines(std::int64_t first, std::int64_t last);
    /// Elements of cells from `cell` on.
    [[nodiscard]] const std::byte* elements(std::int64_t cell) const { return data_ + cell * bytes_; }
    [[nodiscard]] bool same(std::int64_t a, std::int64_t b) const;

private:
    const plan& p_;
    const any_input<host>& image_;
    int bytes_ = 0;  ///< of an element
    host_scratch<std::byte> own_;
    const std::byte* data_ = nullptr;
};

}  // namespace nearfield::exact
