#include "base/cuda.cuh"
#include "base/lines.hpp"
#include "morphology/core.hpp"

namespace nearfield::morphology {
namespace {

constexpr int threads_of_block = 256;

struct choice {
    std::int64_t size[max_rank], mark_step[max_rank], from_step[max_rank], to_step[max_rank], cells;
    const std::uint8_t* mark;
    const void* from;  ///< null stands for ones
    void* to;
    int rank;
    bool keep_marked, dense;
};

constexpr int together = 8;  // elements that a thread owns
template <class Bits>
struct alignas(sizeof(Bits) == 1 ? 8 : 16) several {
    Bits of[together];
};

/// Serves contiguous arrays that begin at whole groups of elements. A thread owns a group.
template <class Bits>
__global__ void __launch_bounds__(threads_of_block) choose_together(const __grid_constant__ choice c) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= c.cells / together) return;
    const several<std::uint8_t> mark = reinterpret_cast<const several<std::uint8_t>*>(c.mark)[i];
    several<Bits> v;
    if (c.from != nullptr) v = static_cast<const several<Bits>*>(c.from)[i];
#pragma unroll
    for (int k = 0; k < together; ++k) {
        const bool keep = (mark.of[k] != 0) == c.keep_marked;
        v.of[k] = !keep ? Bits{0} : c.from != nullptr ? v.of[k] : Bits{1};
    }
    static_cast<several<Bits>*>(c.to)[i] = v;
}

/// Serves all other arrays. A thread owns an element.
template <class Bits>
__global__ void __launch_bounds__(threads_of_block) choose_elements(const __grid_constant__ choice c) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= c.cells) return;
    const auto at = [&](const std::int64_t* step) { return c.dense ? i : offset_of(i, c.size, step, c.rank); };
    const bool keep = (c.mark[at(c.mark_step)] != 0) == c.keep_marked;
    const auto* const from = static_cast<const Bits*>(c.from);
    static_cast<Bits*>(c.to)[at(c.to_step)] = !keep ? Bits{0} : from != nullptr ? from[at(c.from_step)] : Bits{1};
}

}  // namespace

void choose(const device& on, const any_input<device>& marks, kept which, const any_input<device>& from,
            const any_output<device>& out) {
    const cuda::device_guard current(on);
    choice c{};
    c.cells = out.cells(), c.rank = out.rank;
    c.mark = static_cast<const std::uint8_t*>(marks.data), c.from = from.data, c.to = out.data;
    c.keep_marked = which == kept::marked;
    for (int axis = 0; axis < out.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        c.size[axis] = out.shape[k], c.mark_step[axis] = marks.stride[k], c.to_step[axis] = out.stride[k];
        c.from_step[axis] = from.stride[k];
    }
    c.dense = is_contiguous(c.size, c.mark_step, c.rank) && is_contiguous(c.size, c.to_step, c.rank) &&
              (!from.wanted() || is_contiguous(c.size, c.from_step, c.rank));
    const auto aligned = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
    const bool by_groups = c.dense && c.cells % together == 0 && aligned(c.mark) && aligned(c.from) && aligned(c.to);
    const auto run = [&]<class Bits>(Bits) {
        if (by_groups)
            return cuda::launch(on, choose_together<Bits>, cuda::blocks_for(c.cells / together, threads_of_block),
                                dim3(threads_of_block), 0, c);
        cuda::launch(on, choose_elements<Bits>, cuda::blocks_for(c.cells, threads_of_block), dim3(threads_of_block), 0,
                     c);
    };
    switch (size_of(out.type)) {
        case 1: return run(std::uint8_t{});
        case 2: return run(std::uint16_t{});
        case 4: return run(std::uint32_t{});
        default: return run(std::uint64_t{});
    }
}

}  // namespace nearfield::morphology
