// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "chessboard/core.hpp"

namespace nearfield::chessboard {

void run(const device&, const problem&) { refuse_device(); }

}  // namespace nearfield::chessboard
