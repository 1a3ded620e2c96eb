// The result of plan(); plan.hpp declares the functions that make it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] nearfield {

/// One pass over the grid.
struct pass_plan {
    int axis = 0;        ///< axis of the caller's image; -1 if the pass follows none (copies, final conversion)
    std::string method;  ///< name of the method, in a few words
    std::int64_t tiles =
        1;  ///< pieces that are solved independently (host: tasks; device: blocks); 0 if the pass reports no pieces
    std::int64_t tile_rows = 1;     ///< cells of a tile along the axis
    std::int64_t tile_columns = 1;  ///< neighbouring lines of a tile
};

struct call_plan {
    std::string place;    ///< "host" or "device"
    std::string numbers;  ///< type of the distances: "int32", "int64" or "float64"; empty if a call has none
    int threads = 0;      ///< host threads; 0 on a device
    std::int64_t cells = 0;
    std::int64_t input_bytes = 0, output_bytes = 0;  ///< bytes of the caller's arrays
    std::int64_t workspace_bytes = 0;                ///< memory that the call allocates besides them, at its peak
    std::vector<pass_plan> passes;

    /// Formats the plan as a table for people, one line per pass.
    [[nodiscard]] std::string text() const;
};

}  // namespace nearfield
