// Nearest sites of images with periodic axes: those of the search without them, mended where ends meet. The engine
// with options stands behind for what is refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exact/cuda_options.hpp"
#include "exact/cuda_options_marks.hpp"

namespace nearfield::exact {

class mended_sites {
public:
    explicit mended_sites(const option_call& call);

    [[nodiscard]] bool serve() const { return serve_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    /// Of the search without periodic axes, which allocates by itself.
    [[nodiscard]] std::int64_t more_bytes() const;

    /// Works in `memory` and writes the fields; `refused` is not 0 afterwards where all must be done again.
    void solve(const elements& image, std::byte* memory, std::int32_t* refused) const;
    void describe(call_plan& to) const;

private:
    [[nodiscard]] std::int64_t size(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] bool could_serve() const;
    [[nodiscard]] std::int64_t words() const;
    void put_bits(const elements& image, std::uint32_t* bits, std::int32_t* refused) const;

    const device& on_;
    const option_call& call_;
    const plan& p_;
    plan open_;  ///< the same with open borders
    bool serve_ = false;
    std::int64_t bytes_ = 0, bits_ = 0, counts_ = 0;
};

}  // namespace nearfield::exact
