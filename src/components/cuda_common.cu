#include "components/cuda_common.cuh"

namespace nearfield::components {
namespace {

/// Copies labels as 32 bits in C order, 0 if a label has no row. A thread owns a cell; lanes own neighbours.
__global__ void __launch_bounds__(threads_of_block)
    copy_labels(const array3 from, dtype type, std::uint32_t rows, std::uint32_t* to) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (cell >= from.cells()) return;
    // A negative value is large as an unsigned number, so the comparison rejects it.
    const auto value = static_cast<std::uint64_t>(read_integer(from.data, type, offset_in(from, cell)));
    to[cell] = value - 1 < rows ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

void labels32::copy(const device& on, const any_input<device>& labels, std::uint32_t* to) {
    if (!copied) return;
    const array3 from = at;
    at.data = to;
    at.step[0] = at.side[1] * at.side[2], at.step[1] = at.side[2], at.step[2] = 1;
    cuda::launch(on, copy_labels, blocks_for(at.cells(), threads_of_block), dim3(threads_of_block), 0, from,
                 labels.type, rows, to);
}

}  // namespace nearfield::components
