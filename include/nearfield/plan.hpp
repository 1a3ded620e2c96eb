// What a call would do, before it runs: passes, tiles, bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// One sweep over the grid.
struct pass_plan {
    int axis = 0;                   ///< of the caller's image; -1 for a sweep along none (copies, final conversion)
    std::string method;             ///< in a few words
    std::int64_t tiles = 1;         ///< pieces that are solved independently (host: tasks; device: blocks)
    std::int64_t tile_rows = 1;     ///< cells of a tile along the axis
    std::int64_t tile_columns = 1;  ///< neighbouring lines of a tile
};

struct call_plan {
    std::string place;    ///< "host" or "device"
    std::string numbers;  ///< "int32", "int64" or "float64"
    int threads = 0;      ///< host threads; 0 on a device
    std::int64_t cells = 0;
    std::int64_t input_bytes = 0, output_bytes = 0;  ///< of the caller's arrays
    std::int64_t workspace_bytes = 0;                ///< besides them, at the peak
    std::vector<pass_plan> passes;

    /// A table to read, a line a pass.
    [[nodiscard]] std::string text() const;
};

/// What distance_transform would do with these arguments. Checks them as it does, but reads no data, so that views
/// without data (null pointers) may be given; needs no GPU. Throws unsupported for a device in a build without CUDA.
[[nodiscard]] call_plan plan(const host& on, const any_input<host>& image, const fields<host>& out,
                             const distance_options& options = {});
[[nodiscard]] call_plan plan(const device& on, const any_input<device>& image, const fields<device>& out,
                             const distance_options& options = {});

/// What distance_transform would do with a list of jobs: which are solved together, and the largest workspace of all.
[[nodiscard]] call_plan plan(const host& on, std::span<const job<host>> jobs, const distance_options& options = {});
[[nodiscard]] call_plan plan(const device& on, std::span<const job<device>> jobs, const distance_options& options = {});

/// What power_diagram would do with these arguments.
[[nodiscard]] call_plan plan_power_diagram(const host& on, const any_input<host>& seeds, const any_input<host>& weights,
                                           const fields<host>& out, const distance_options& options = {});
[[nodiscard]] call_plan plan_power_diagram(const device& on, const any_input<device>& seeds,
                                           const any_input<device>& weights, const fields<device>& out,
                                           const distance_options& options = {});

}  // namespace nearfield
