// On a device: a lane owns a cell and writes the rows of its ball. The lanes of a warp write the same row at a time, so
// that their writes are close to each other; if their balls differ too much, they share the rows of one ball.
#include "base/cuda.cuh"
#include "base/lines.hpp"
#include "natural_neighbor/core.hpp"

namespace nearfield::natural {
namespace {

constexpr int threads_of_block = 256;
/// Balls of a warp are written row by row if they lie in a box of this many rows, and of 1/8 of all their rows.
constexpr std::int64_t box_rows = 64, box_share = 8;
constexpr std::int64_t most_counted = 1 << 24;  ///< rows of a ball that are added up

/// The caller's arrays, and those of the call.
struct arrays {
    const void* value;
    dtype type;
    const std::uint8_t* known;  ///< null: all cells are known
    int rank;
    std::int64_t size[max_rank], value_step[max_rank], known_step[max_rank], out_step[max_rank];
    std::uint8_t* seed;
    void* site;  ///< int32, or int64 if `wide`
    bool wide;
    unsigned long long *sum, *count, *largest;
    void* out;
    bool doubles;

    __device__ double value_at(std::int64_t cell) const {
        const std::int64_t i = offset_of(cell, size, value_step, rank);
        switch (type) {
            case dtype::int8: return static_cast<const std::int8_t*>(value)[i];
            case dtype::int16: return static_cast<const std::int16_t*>(value)[i];
            case dtype::uint16: return static_cast<const std::uint16_t*>(value)[i];
            case dtype::int32: return static_cast<const std::int32_t*>(value)[i];
            case dtype::uint32: return static_cast<const std::uint32_t*>(value)[i];
            case dtype::int64: return static_cast<double>(static_cast<const std::int64_t*>(value)[i]);
            case dtype::uint64: return static_cast<double>(static_cast<const std::uint64_t*>(value)[i]);
            case dtype::float32: return static_cast<const float*>(value)[i];
            case dtype::float64: return static_cast<const double*>(value)[i];
            default: return static_cast<const std::uint8_t*>(value)[i];
        }
    }
    __device__ std::int64_t site_of(std::int64_t cell) const {
        return wide ? static_cast<const std::int64_t*>(site)[cell] : static_cast<const std::int32_t*>(site)[cell];
    }
};

/// Marks known cells and finds the largest absolute value. A thread owns a cell.
__global__ void __launch_bounds__(threads_of_block)
    mark(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.cells()) return;
    const double value = a.value_at(i);
    const bool known =
        is_finite(value) && (a.known == nullptr || a.known[offset_of(i, a.size, a.known_step, a.rank)] != 0);
    a.seed[i] = known ? 1 : 0;
    if (known)
        atomicMax(a.largest + cuda::quotient(i, p.image_cells()), __builtin_bit_cast(unsigned long long, fabs(value)));
}

/// Adds a ball's value.
struct adding {
    const arrays& a;
    std::int64_t base, v;

    __device__ void operator()(std::int64_t cell, std::int64_t times) const {
        atomicAdd(a.sum + base + cell, static_cast<unsigned long long>(times * v));
        atomicAdd(a.count + base + cell, static_cast<unsigned long long>(times));
    }
};

__device__ std::int64_t counted_value(const problem& p, const arrays& a, std::int64_t base, std::int64_t site) {
    return counted(a.value_at(base + site), exponent_of(p, a.largest[cuda::quotient(base, p.image_cells())]));
}

/// The planes and lines around their cells in which the balls of a warp lie.
struct box {
    int first[2], last[2];

    __device__ explicit box(const ball& b) {
        for (int axis = 0; axis < 2; ++axis) {
            const std::int64_t low = b.first[axis], high = low + b.count[axis] - 1;
            const bool some = b.rows() > 0;
            first[axis] =
                __reduce_min_sync(cuda::every_lane, some ? static_cast<int>(low > -most ? low : -most) : most);
            last[axis] =
                __reduce_max_sync(cuda::every_lane, some ? static_cast<int>(high < most ? high : most) : -most);
        }
    }
    [[nodiscard]] __device__ std::int64_t rows() const {
        return std::int64_t{last[0] - first[0] + 1} * (last[1] - first[1] + 1);
    }

private:
    static constexpr int most = 1 << 30;  // with balls beyond it the box has too many rows
};

__global__ void __launch_bounds__(threads_of_block)
    scatter(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int64_t base = i < p.cells() ? cuda::quotient(i, p.image_cells()) * p.image_cells() : 0,
                       site = i < p.cells() ? a.site_of(i) : -1;
    ball own{};
    if (site >= 0) own = ball_of(p, i - base, site);
    const std::int64_t v = site >= 0 ? counted_value(p, a, base, site) : 0, rows = own.rows();
    const unsigned some = __ballot_sync(cuda::every_lane, rows > 0 ? 1 : 0);
    if (some == 0) return;
    const box common(own);
    const auto most = static_cast<std::int64_t>(
        __reduce_add_sync(cuda::every_lane, static_cast<unsigned>(rows < most_counted ? rows : most_counted)));
    if (common.rows() <= box_rows + most / box_share) {
        for (int z = common.first[0]; z <= common.last[0]; ++z)
            for (int y = common.first[1]; y <= common.last[1]; ++y)
                if (z >= own.first[0] && z < own.first[0] + own.count[0] && y >= own.first[1] &&
                    y < own.first[1] + own.count[1])
                    write_line(p, own, z, y, adding{a, base, v});
        return;
    }
    for (unsigned left = some; left != 0; left &= left - 1) {
        const int source = __ffs(static_cast<int>(left)) - 1;
        const std::int64_t its = __shfl_sync(cuda::every_lane, site, source),
                           from = __shfl_sync(cuda::every_lane, base, source),
                           value = __shfl_sync(cuda::every_lane, v, source);
        const ball b = ball_of(p, i - lane + source - from, its);
        for (std::int64_t k = lane; k < b.rows(); k += cuda::warp) write_row(p, b, k, adding{a, from, value});
    }
}

/// Adds up along lines and divides. A warp owns a line and takes 32 cells at a time.
__global__ void __launch_bounds__(threads_of_block)
    add_up(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    const std::int64_t n = p.size[2],
                       line = (static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x) / cuda::warp;
    if (line * n >= p.cells()) return;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const double unit = std::ldexp(1.0, exponent_of(p, a.largest[cuda::quotient(line * n, p.image_cells())]));
    std::int64_t sum = 0, count = 0;
    for (std::int64_t x = lane; x - lane < n; x += cuda::warp) {
        const std::int64_t i = line * n + x;
        sum += x < n ? static_cast<std::int64_t>(a.sum[i]) : 0,
            count += x < n ? static_cast<std::int64_t>(a.count[i]) : 0;
        for (int by = 1; by < cuda::warp; by *= 2) {
            const std::int64_t more = __shfl_up_sync(cuda::every_lane, sum, by),
                               cells = __shfl_up_sync(cuda::every_lane, count, by);
            if (lane >= by) sum += more, count += cells;
        }
        if (x < n) {
            const std::int64_t to = offset_of(i, a.size, a.out_step, a.rank);
            const double mean = mean_of(sum, count, unit);
            if (a.doubles) static_cast<double*>(a.out)[to] = mean;
            else static_cast<float*>(a.out)[to] = static_cast<float>(mean);
        }
        const std::int64_t all = __shfl_sync(cuda::every_lane, sum, cuda::warp - 1),
                           cells = __shfl_sync(cuda::every_lane, count, cuda::warp - 1);
        sum = lane == 0 ? all : 0, count = lane == 0 ? cells : 0;
    }
}

arrays arrays_of(const any_input<device>& values, const any_input<device>& known, const any_output<device>& out) {
    arrays a{};
    a.value = values.data, a.type = values.type, a.rank = values.rank;
    a.known = static_cast<const std::uint8_t*>(known.data);
    a.out = out.data, a.doubles = out.type == dtype::float64;
    for (int axis = 0; axis < values.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        a.size[axis] = values.shape[k], a.value_step[axis] = values.stride[k];
        a.known_step[axis] = known.stride[k], a.out_step[axis] = out.stride[k];
    }
    return a;
}

}  // namespace

void run(const device& on, const problem& p, const any_input<device>& values, const any_input<device>& known,
         const any_output<device>& out) {
    const cuda::device_guard current(on);
    const std::int64_t cells = p.cells();
    arrays a = arrays_of(values, known, out);
    a.wide = p.image_cells() >= std::int64_t{1} << 31;
    cuda::workspace memory(on);
    const auto seed = memory.reserve<std::uint8_t>(cells), sums = memory.reserve<std::int64_t>(2 * cells),
               site = memory.reserve<std::byte>(cells * (a.wide ? 8 : 4)),
               largest = memory.reserve<std::uint64_t>(p.images);
    memory.allocate();
    a.seed = memory.get<std::uint8_t>(seed), a.site = memory.get<void>(site);
    a.sum = memory.get<unsigned long long>(sums), a.count = a.sum + cells;
    a.largest = memory.get<unsigned long long>(largest);
    cuda::clear(on, a.sum, 16 * cells), cuda::clear(on, a.largest, 8 * p.images);
    const std::int64_t blocks = cuda::blocks_for(cells, threads_of_block);
    cuda::launch(on, mark, blocks, dim3(threads_of_block), 0, p, a);
    const std::span<const std::int64_t> sizes(values.shape.data(), static_cast<std::size_t>(values.rank));
    fields<device> wanted;
    wanted.index = any_output<device>::contiguous(a.site, a.wide ? dtype::int64 : dtype::int32, sizes);
    distance_transform(on, any_input<device>::contiguous(a.seed, dtype::uint8, sizes), wanted, p.sites);
    cuda::launch(on, scatter, blocks, dim3(threads_of_block), 0, p, a);
    cuda::launch(on, add_up, cuda::blocks_for(cells / p.size[2], threads_of_block / cuda::warp), dim3(threads_of_block),
                 0, p, a);
}

}  // namespace nearfield::natural
