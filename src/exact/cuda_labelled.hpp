// Nearest cells of another label in images and volumes in words of 32 bits, where they serve; the engine with options stands
// behind them for what they refuse.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exact/cuda_options.hpp"
#include "exact/cuda_options_marks.hpp"

namespace nearfield::exact {

class labelled_sites {
public:
    explicit labelled_sites(const option_call& call);

    [[nodiscard]] bool serve() const { return serve_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

    /// Works in `memory` and writes the fields; `refused` is not 0 afterwards where all must be done again.
    void solve(const elements& image, std::byte* memory, std::int32_t* refused) const;
    void describe(call_plan& to) const;

private:
    [[nodiscard]] std::int64_t size(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] bool could_serve() const;
    [[nodiscard]] bool volumes() const { return p_.rank - p_.first_axis == 3; }
    void reserve();

    const device& on_;
    const option_call& call_;
    const plan& p_;
    bool serve_ = false;
    std::int64_t bytes_ = 0, last_ = 0, zeros_ = 0, middle_ = 0, first_ = 0, counts_ = 0, state_ = 0;

    friend class labelled_passes;
};

}  // namespace nearfield::exact
