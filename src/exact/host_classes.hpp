// Labels: fields whose sites differ from cell to cell, since a cell's sites are the cells of another label.
#pragma once

#include <cstdint>

#include "base/scratch.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// The label of every cell, contiguous: the image's own elements, or a copy of them. Empty without labels.
class class_field {
public:
    class_field(const plan& p, const any_input<host>& image);

    /// Returns the bytes that it allocates.
    [[nodiscard]] static std::int64_t workspace_bytes(const plan& p, const any_input<host>& image);
    /// Fills lines [first, last) of the last axis if the image cannot be used in place.
    void read_lines(std::int64_t first, std::int64_t last);
    /// Returns the elements of the cells from `cell` on.
    [[nodiscard]] const std::byte* elements(std::int64_t cell) const { return data_ + cell * bytes_; }
    [[nodiscard]] bool same(std::int64_t a, std::int64_t b) const;

private:
    const plan& p_;
    const any_input<host>& image_;
    int bytes_ = 0;  ///< bytes of an element
    host_scratch<std::byte> own_;
    const std::byte* data_ = nullptr;
};

}  // namespace nearfield::exact
