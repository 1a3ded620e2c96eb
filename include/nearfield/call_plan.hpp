// What a plan says; plan.hpp has the functions that make one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] nearfield {

/// One sweep over the grid.
struct pass_plan {
    int axis = 0;        ///< of the caller's image; -1 for a sweep along none (copies, final conversion)
    std::string method;  ///< in a few words
    std::int64_t tiles =
        1;  ///< pieces that are solved independently (host: tasks; device: blocks); 0 where none are told
    std::int64_t tile_rows = 1;     ///< cells of a tile along the axis
    std::int64_t tile_columns = 1;  ///< neighbouring lines of a tile
};

struct call_plan {
    std::string place;    ///< "host" or "device"
    std::string numbers;  ///< of distances: "int32", "int64" or "float64"; empty where a call has none
    int threads = 0;      ///< host threads; 0 on a device
    std::int64_t cells = 0;
    std::int64_t input_bytes = 0, output_bytes = 0;  ///< of the caller's arrays
    std::int64_t workspace_bytes = 0;                ///< besides them, at the peak
    std::vector<pass_plan> passes;

    /// A table to read, a line a pass.
    [[nodiscard]] std::string text() const;
};

}  // namespace nearfield
