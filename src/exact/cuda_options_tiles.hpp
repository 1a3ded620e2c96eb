// Distances with options by tiles in 16-bit integers, where they serve; the engine with options stands behind them for
// what they refuse.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exact/cuda_options.hpp"
#include "exact/cuda_options_far.hpp"
#include "exact/gpu/ground/marks.hpp"

namespace nearfield::exact {

/// Values that tiles leave for the fields: lines of the last axis, each filled up to whole words.
struct narrow_states {
    const std::uint16_t* data = nullptr;
    std::int64_t pitch = 0;  ///< of a line
    int saturated = 0;       ///< from here on there is no site
    int factor = 1;          ///< of the others
};

/// Tiles of 64 rows of 128 columns of images, which a search by bits finishes or leaves.
struct near_tiles {
    static constexpr int words = 4, rows = 64;
    std::uint8_t* left = nullptr;  ///< 1 where one is left; null: all are
    std::int64_t images = 1;
    std::int64_t across = 1, down = 1;  ///< of an image

    [[nodiscard]] NF_HD std::int64_t count() const { return images * across * down; }
};

/// Whether the plain engine had better leave a call to the tiles: it has none for spacings other than 1.
bool prefers_tiles(const plan& p);

class option_tiles {
public:
    explicit option_tiles(const option_call& call);

    [[nodiscard]] bool serve() const { return serve_; }
    /// Values may turn out too large for tiles, and for what stands behind them here.
    [[nodiscard]] bool may_refuse() const { return may_refuse_ && !posts_behind_; }
    /// The fields are written; else they are made from the states.
    [[nodiscard]] bool put_fields() const { return put_fields_; }
    [[nodiscard]] narrow_states states(const std::byte* memory) const;
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

    /// Works in `memory`; `refused`, when given, is not 0 afterwards where all must be done again.
    void solve(const elements& image, std::byte* memory, std::int32_t* refused) const;
    void describe(call_plan& to) const;

private:
    /// A searched axis in numbers that have lost what all weights have in common.
    struct axis_rule {
        std::int64_t weight = 1, rows = 1, farthest = 1;
        bool periodic = false, closed = false;
    };
    struct windows {
        int own, halo, count, lane_rows;
    };

    [[nodiscard]] std::int64_t size(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] std::int64_t cost(int axis, std::int64_t cells) const;
    [[nodiscard]] std::int64_t lines_between(int axis) const;
    [[nodiscard]] int steps_along(int axis) const;
    [[nodiscard]] windows windows_along(int axis) const;
    [[nodiscard]] std::int64_t tiles_along(int axis) const;
    [[nodiscard]] std::int64_t words() const { return p_.cells / size(p_.rank - 1) * words_of_line_; }
    [[nodiscard]] bool is_simple() const;
    [[nodiscard]] bool may_be_near() const;
    [[nodiscard]] near_tiles tiles_by_bits() const;
    [[nodiscard]] bool posts_could_follow() const;
    [[nodiscard]] far_call far_images(std::byte* memory) const;
    [[nodiscard]] std::int64_t below_factor(double value) const;
    bool choose_numbers();
    void choose_saturated();
    void reserve();

    const device& on_;
    const option_call& call_;
    const plan& p_;
    bool serve_ = false, may_refuse_ = true, put_fields_ = false;
    bool posts_behind_ = false;  ///< what tiles refuse is searched between posts, instead of by the engine
    axis_rule axes_[max_rank];
    std::int64_t factor_ = 1, limit_ = 0, closed_beside_ = 0, open_beside_ = 0;
    std::int64_t words_of_line_ = 1;
    int saturated_ = 0;
    std::int64_t bytes_ = 0, bits_ = 0, zeros_ = 0, left_ = 0, counts_ = 0, far_ = 0;
    std::int64_t changes_[max_rank]{}, states_[2]{};

    friend class tile_passes;
};

}  // namespace nearfield::exact
