// Rounds of jump flooding on a device, for the grids that most calls are about.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/cuda.cuh"
#include "methods/core.hpp"

namespace nearfield::methods {

namespace tiles {

/// Tiles that a round by one number a cell left open, in no order; `count` is 0 before.
struct open_tiles {
    std::uint32_t* count = nullptr;
    std::int64_t* tile = nullptr;  ///< block << 7 | thread
};

}  // namespace tiles

/// All rounds of a call, on a grid that is solved in 32 bits with keys of 32 bits. While it lives it takes 8 bytes for each tile,
/// which are 2 bytes a cell at most and a thirtieth mostly, where sites may be far from cells, else nothing.
class tiled_rounds {
public:
    tiled_rounds(const device& on, const grid& g, const std::vector<std::int64_t>& steps);
    /// The next one, from one array of sites to the other.
    void run(std::int64_t step, const std::int32_t* from, std::int32_t* to);

private:
    const device& on_;
    const grid& g_;
    cuda::workspace memory_;
    tiles::open_tiles left_;
    std::int64_t unit_ = std::numeric_limits<std::int64_t>::max();  ///< the shortest step so far
};

}  // namespace nearfield::methods
