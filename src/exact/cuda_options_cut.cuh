// How lines are cut into the tiles of the engine with options.
#pragma once

#include "exact/cuda_common.cuh"

namespace nearfield::exact {

// Rows of a tile; the longest lines take windows of so many, with what they need beside them.
inline constexpr int largest_tile = 1024;

/// The least number of rows a lane, of those compiled, whose tile holds so many rows.
inline int lane_rows_for(int rows) {
    for (int lane_rows : {1, 2, 4, 8, 10})
        if (rows <= 2 * cuda::warp * lane_rows) return lane_rows;
    return 16;
}

/// Rows so that lanes have all of theirs or none.
inline int whole_lanes(int rows) { return static_cast<int>(blocks_for(rows, 16)) * 16; }

template <class Body>
void with_lane_rows(int lane_rows, const Body& body) {
    switch (lane_rows) {
        case 1: return body.template operator()<1>();
        case 2: return body.template operator()<2>();
        case 4: return body.template operator()<4>();
        case 8: return body.template operator()<8>();
        case 10: return body.template operator()<10>();
        default: return body.template operator()<16>();
    }
}

}  // namespace nearfield::exact
