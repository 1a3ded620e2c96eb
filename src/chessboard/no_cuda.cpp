// What a build without CUDA says when the device is asked for.
#include "base/no_cuda.hpp"
#include "chessboard/core.hpp"

namespace nearfield::chessboard {

void run(const device&, const problem&) { refuse_device(); }

}  // namespace nearfield::chessboard
