// On a device: a warp finds the distances along a row, then a thread owns each line of every other axis; neighbouring
// threads own neighbouring lines. In the chessboard metric a line's lower envelope is a stack. The first scan pushes
// the cells that are nearest somewhere, and the second pops them from the far end.
#include "base/cuda.cuh"
#include "base/lines.hpp"
#include "chessboard/core.hpp"

namespace nearfield::chessboard {
namespace {

constexpr int threads_of_block = 256;

/// An entry of a stack: the cell's place in the line in the high half, its distance across in the low half.
template <class T>
struct entry_of;
template <>
struct entry_of<std::uint16_t> {
    using type = std::uint32_t;
};
template <>
struct entry_of<std::uint32_t> {
    using type = std::uint64_t;
};

/// A pass along an axis, in which two adjacent cells of a line lie `inner` cells apart.
template <class T>
struct pass {
    using entry = typename entry_of<T>::type;
    T* distance;
    entry* stack;  ///< `depth` entries for each line
    std::int64_t n, inner, depth, lines;
    bool wraps, closed, last;
    std::uint32_t limit;

    __device__ std::int64_t start_of(std::int64_t line, std::int64_t length) const {
        const std::int64_t outer = cuda::quotient(line, inner);
        return outer * length * inner + (line - outer * inner);
    }
};

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

/// Writes a cell's final distance, or keeps its distance for the next pass.
template <class T>
__device__ void keep(const problem& p, bool last, T* distance, std::int64_t cell, std::uint32_t d) {
    if (!last) {
        distance[cell] = static_cast<T>(d);
        return;
    }
    const auto limit = static_cast<std::uint32_t>(p.limit);
    with_output(p.out_type, [&]<class Out>(Out, std::uint32_t none) {
        static_cast<Out*>(p.out)[offset_of(cell, p.size, p.out_step, p.rank)] =
            static_cast<Out>(written(d, limit, none));
    });
}

__device__ bool is_site(const problem& p, std::int64_t cell) {
    bool zero = false;
    with_bits(p.image_type, [&]<class Bits>(Bits, Bits counts) {
        zero = (static_cast<const Bits*>(p.image)[offset_of(cell, p.size, p.image_step, p.rank)] & counts) == 0;
    });
    return zero != p.nonzero;
}

/// A warp owns a row and takes 32 cells at a time, first from the site before each, then from the site behind it. On a
/// periodic axis the nearest site may lie in the period before.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    go_along_rows(const __grid_constant__ problem p, T* distance, bool last) {
    const std::int64_t row = own_item() / cuda::warp, n = p.size[p.rank - 1];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (row * n >= p.cells) return;
    const border ends = p.ends[p.rank - 1];
    const std::int64_t far = unreached<T>, first = row * n;
    std::int64_t before = ends == border::closed ? -1 : -far;
    if (ends == border::periodic)
        for (std::int64_t start = 0; start < n; start += cuda::warp) {
            const std::int64_t x = start + lane;
            const unsigned found = __ballot_sync(cuda::every_lane, x < n && is_site(p, first + x) ? 1 : 0);
            if (found != 0) before = start + 31 - __clz(static_cast<int>(found)) - n;
        }
    std::int64_t behind = ends == border::closed ? n : n + far;
    for (std::int64_t start = 0; start < n; start += cuda::warp) {
        const std::int64_t x = start + lane;
        const unsigned found = __ballot_sync(cuda::every_lane, x < n && is_site(p, first + x) ? 1 : 0);
        const unsigned up_to = found & (cuda::every_lane >> (31 - lane));
        const std::int64_t site = up_to != 0 ? start + 31 - __clz(static_cast<int>(up_to)) : before;
        if (x < n) distance[first + x] = static_cast<T>(x - site < far ? x - site : far);
        if (found != 0) {
            before = start + 31 - __clz(static_cast<int>(found));
            if (ends == border::periodic && behind >= n + far) behind = start + __ffs(static_cast<int>(found)) - 1 + n;
        }
    }
    for (std::int64_t start = (n - 1) / cuda::warp * cuda::warp; start >= 0; start -= cuda::warp) {
        const std::int64_t x = start + lane;
        const std::int64_t held = x < n ? distance[first + x] : far;
        const unsigned found = __ballot_sync(cuda::every_lane, held == 0 ? 1 : 0);
        const unsigned from_here = found & (cuda::every_lane << lane);
        const std::int64_t site = from_here != 0 ? start + __ffs(static_cast<int>(from_here)) - 1 : behind;
        const std::int64_t d = site - x < held ? site - x : held;
        if (x < n) keep(p, last, distance, first + x, static_cast<std::uint32_t>(d));
        if (found != 0) behind = start + __ffs(static_cast<int>(found)) - 1;
    }
}

/// A thread owns a line. Each cell takes a step from the cell before it, then from the cell behind it.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    add_steps(const __grid_constant__ problem p, const __grid_constant__ pass<T> a) {
    const std::int64_t line = own_item();
    if (line >= a.lines) return;
    const std::int64_t start = a.start_of(line, a.n);
    const std::uint32_t far = unreached<T>, beyond = a.closed ? 0 : far;
    std::uint32_t carried = beyond;
    const auto go = [&](std::int64_t k, bool last) {
        const std::uint32_t held = a.distance[start + k * a.inner];
        carried = carried + 1 < held ? carried + 1 : held;
        keep(p, last, a.distance, start + k * a.inner, carried);
    };
    for (int turn = a.wraps ? 0 : 1; turn < 2; ++turn)
        for (std::int64_t k = 0; k < a.n; ++k) go(k, false);
    carried = beyond;
    for (int turn = a.wraps ? 0 : 1; turn < 2; ++turn)
        for (std::int64_t k = a.n - 1; k >= 0; --k) go(k, a.last && turn == 1);
}

/// The lower envelope of a line in the chessboard metric. A periodic line is unrolled to two periods.
template <class T>
struct stack_of_line {
    using entry = typename pass<T>::entry;
    const pass<T>& a;
    std::int64_t line, first, stack, count = 0;
    candidate top{}, below{};
    std::int64_t from = 0;  ///< the first place for which the top is nearest

    __device__ stack_of_line(const pass<T>& a_, std::int64_t line_)
        : a(a_), line(line_), first(a_.start_of(line_, a_.n)), stack(a_.start_of(line_, a_.depth)) {}

    __device__ std::int64_t length() const { return a.wraps ? 2 * a.n : a.n; }
    __device__ std::int64_t place_in_ring(std::int64_t at) const { return a.wraps ? (at + a.n - a.n / 2) % a.n : at; }
    __device__ candidate entry_at(std::int64_t k) const {
        constexpr int half = 8 * sizeof(T);
        const entry e = a.stack[stack + k * a.inner];
        return {static_cast<std::int64_t>(e >> half), static_cast<std::int64_t>(static_cast<T>(e))};
    }
    __device__ void push(const candidate& one, std::int64_t place) {
        constexpr int half = 8 * sizeof(T);
        a.stack[stack + count * a.inner] = static_cast<entry>(one.at) << half | static_cast<entry>(one.across);
        below = top, top = one, from = place, ++count;
    }
    __device__ void pop() {
        --count;
        top = below;
        if (count > 1) below = entry_at(count - 2);
        from = count > 1 ? last_place_of(below, top) + 1 : 0;
    }
    __device__ void offer(const candidate& one) {
        while (count > 0 && top.distance_to(from) > one.distance_to(from)) pop();
        if (count == 0) return push(one, 0);
        const std::int64_t place = last_place_of(top, one) + 1;
        if (place < length()) push(one, place);
    }
};

template <class T>
__global__ void __launch_bounds__(threads_of_block)
    take_envelope(const __grid_constant__ problem p, const __grid_constant__ pass<T> a) {
    const std::int64_t line = own_item();
    if (line >= a.lines) return;
    stack_of_line<T> held(a, line);
    for (std::int64_t at = 0; at < held.length(); ++at) {
        const std::int64_t across = a.distance[held.first + held.place_in_ring(at) * a.inner];
        if (across < unreached<T>) held.offer({at, across});
    }
    const std::int64_t first = a.wraps ? a.n / 2 : 0;
    for (std::int64_t at = held.length() - 1; at >= first; --at) {
        std::int64_t best = held.count > 0 ? held.top.distance_to(at) : unreached<T>;
        if (held.count > 0 && at == held.from) held.pop();
        if (at >= first + a.n) continue;
        const std::int64_t y = held.place_in_ring(at);
        if (a.closed) best = y + 1 < best ? y + 1 : best, best = a.n - y < best ? a.n - y : best;
        keep(p, a.last, a.distance, held.first + y * a.inner, static_cast<std::uint32_t>(best));
    }
}

template <class T>
void solve(const device& on, const problem& p) {
    bool rings = false;
    for (int axis = p.batch; axis < p.rank - 1; ++axis) rings = rings || p.ends[axis] == border::periodic;
    const bool stacks = p.diagonal && p.rank - p.batch > 1;
    cuda::workspace memory(on);
    const std::int64_t distances = memory.reserve<T>(p.cells),
                       stack = memory.reserve<typename pass<T>::entry>(stacks ? (rings ? 2 : 1) * p.cells : 0);
    memory.allocate();
    T* const distance = memory.get<T>(distances);
    const std::int64_t rows = p.cells / p.size[p.rank - 1];
    cuda::launch(on, go_along_rows<T>, cuda::blocks_for(rows * cuda::warp, threads_of_block), dim3(threads_of_block), 0,
                 p, distance, p.batch == p.rank - 1);
    for (int axis = p.rank - 2; axis >= p.batch; --axis) {
        const bool wraps = p.ends[axis] == border::periodic;
        const pass<T> a{distance,
                        memory.get<typename pass<T>::entry>(stack),
                        p.size[axis],
                        p.product(axis + 1, p.rank),
                        (wraps ? 2 : 1) * p.size[axis],
                        p.cells / p.size[axis],
                        wraps,
                        p.ends[axis] == border::closed,
                        axis == p.batch,
                        static_cast<std::uint32_t>(p.limit)};
        cuda::launch(on, p.diagonal ? take_envelope<T> : add_steps<T>, cuda::blocks_for(a.lines, threads_of_block),
                     dim3(threads_of_block), 0, p, a);
    }
}

}  // namespace

void run(const device& on, const problem& p) {
    const cuda::device_guard current(on);
    // The stack's entries also hold places in a periodic line, which has twice the length.
    if (2 * p.most < unreached<std::uint16_t>) solve<std::uint16_t>(on, p);
    else solve<std::uint32_t>(on, p);
}

}  // namespace nearfield::chessboard
