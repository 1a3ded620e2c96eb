// Images of up to 512x512 cells in one kernel (volume.cuh). A cluster has 32 neighbouring columns, a block four of
// them. A block makes the packed words (words.cuh) of these 32 columns for an eighth of the rows. Then it relaxes
// columns with squares, or with words that hold d^2 (20 bits) | x (9) | the site is in a later row (1): outward until
// none farther can win or, if few rows have sites, with these rows one after another.

#include <algorithm>

#include "exact/gpu/small/volume.cuh"

namespace nearfield::exact {
namespace {

constexpr int image_threads = whole_width, image_warps = image_threads / cuda::warp;
constexpr int row_words = whole_width / cuda::warp;
constexpr int lane_rows = 4;  // rows of a thread, along a column
constexpr int few_rows = 48;  // limit of rows with sites that are taken one by one
static_assert(whole_blocks * own_columns == cuda::warp &&
              image_warps * cuda::warp / own_columns * lane_rows == whole_width);

template <bool Sites>
struct image_words {
    static constexpr int shift = Sites ? 10 : 0;
    static constexpr std::uint32_t largest = 2 * (whole_width - 1) * (whole_width - 1);
    static constexpr std::uint32_t none = 600000u << shift;  // exceeds every square, also in sums
    static_assert(none >> shift > largest);
    static_assert((600000ull + whole_width * whole_width) << shift < 1ull << 32);

    /// Returns the term of a candidate for a cell that is e rows before the row.
    static __device__ std::uint32_t square(int e) {
        return static_cast<std::uint32_t>(e * e) << shift | (Sites && e > 0 ? 1 : 0);
    }
};

struct alignas(16) image_memory {
    static constexpr int pitch = whole_width + 8;  // four columns lie in different banks

    std::uint32_t squares[2 * whole_width + 8];  ///< squares from (-512 - 4)^2 on
    std::uint32_t values[own_columns * pitch];
    line_word words[whole_width / whole_blocks];  ///< words of the rows that the block reads
    std::uint32_t filled[image_warps];            ///< bits of the rows that have sites
    std::uint16_t listed[few_rows];               ///< the rows that have sites
    std::uint32_t bits[read_words];

    /// Returns four squares from that of `e` on, which is a multiple of four.
    __device__ uint4 four_squares(int e) const {
        return *reinterpret_cast<const uint4*>(squares + e + whole_width + 4);
    }
};

/// Relaxes four rows of a column with four others, `apart` rows behind them.
__device__ inline void relax_by_four(std::uint32_t (&best)[lane_rows], const image_memory& m, uint4 value, int apart) {
    const uint4 low = m.four_squares(apart - 4), high = m.four_squares(apart);
    const std::uint32_t square[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w},
                        values[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int i = 0; i < lane_rows; ++i) best[i] = __viaddmin_u32(values[k], square[4 + k - i], best[i]);
}

/// Relaxes with rows outward, until the lanes that write need no more.
template <bool Sites>
__device__ void relax_outward(std::uint32_t (&best)[lane_rows], const image_memory& m, const std::uint32_t* column,
                              int begin, const whole_call& c, bool writes) {
    constexpr std::uint32_t none = image_words<Sites>::none;
    const auto four = [&](int row) {
        uint4 value{none, none, none, none};
        if (row >= 0 && row < whole_width) value = *reinterpret_cast<const uint4*>(column + row);
        return value;
    };
    relax_by_four(best, m, four(begin), 0);
    for (int apart = 4; apart < c.height + 4; apart += 4) {
        relax_by_four(best, m, four(begin + apart), apart);
        relax_by_four(best, m, four(begin - apart), -apart);
        const std::uint32_t most = max(max(best[0], best[1]), max(best[2], best[3]));
        const std::uint32_t open = __reduce_max_sync(cuda::every_lane, writes ? most >> image_words<Sites>::shift : 0);
        const int beyond = apart + 1;  // least distance in rows of those not taken
        if (open < static_cast<std::uint32_t>(beyond * beyond) || beyond * beyond > c.limit) return;
    }
}

/// Output of a thread's finished cells: its own rows of a column.
template <bool Sites, bool Fields>
struct image_target {
    const whole_call& c;
    std::int64_t first;  ///< cell of the column's first row
    int x;

    __device__ std::int32_t value(std::uint32_t square) const {
        return square > image_words<Sites>::largest ? no_site<std::int32_t>() : static_cast<std::int32_t>(square);
    }
    __device__ void put(int y, std::uint32_t word) const {
        const std::int64_t at = first + static_cast<std::int64_t>(y) * c.width;
        const std::uint32_t square = word >> image_words<Sites>::shift;
        const std::int32_t value = this->value(square);
        if constexpr (Sites) {
            const auto site_x = static_cast<std::int32_t>(word >> 1 & (whole_width - 1));
            const int dx = x - site_x, dy2 = value - dx * dx;
            const auto dy = static_cast<int>(root_of_whole(static_cast<float>(dy2)));
            const int site_y = (word & 1) != 0 ? y + dy : y - dy,
                      index = value > c.limit ? -1 : site_y * c.width + site_x;
            if constexpr (Fields) put_site_fields(c, at, value, index, 0, site_y, site_x);
            else c.out.index32[at] = index;
        } else if constexpr (Fields) {
            c.out.put_value(at, value, c.limit);
        } else {
            c.out.distance32[at] =
                value > c.limit ? __int_as_float(0x7f800000) : root_of_whole(static_cast<float>(square));
        }
    }
};

/// Searches an image. A block owns an eighth of the image's rows, then four columns. It is over 40 lines because its
/// phases share the block's position.
template <bool Sites, bool Fields>
__global__ void __launch_bounds__(image_threads) search_image(const whole_call c) {
    using words = image_words<Sites>;
    extern __shared__ uint4 whole_memory[];
    image_memory& m = *reinterpret_cast<image_memory*>(whole_memory);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % cuda::warp, warp = thread / cuda::warp,
              rank = static_cast<int>(cuda::rank_in_cluster());
    for (int i = thread; i < 2 * whole_width + 8; i += image_threads) m.squares[i] = words::square(i - whole_width - 4);
    cuda::wait_for_kernel_before();
    const int cluster = static_cast<int>(blockIdx.x) / whole_blocks, image = cluster / c.clusters,
              column_word = cluster - image * c.clusters, share = (c.height + whole_blocks - 1) / whole_blocks,
              read_row = rank * share, rows = min(c.height - read_row, share);
    const std::int64_t first = image * c.image_cells();
    const int skipped = read_bits<image_threads>(c, c.data + first + static_cast<std::int64_t>(read_row) * c.width,
                                                 rows * c.width, m.bits);
    __syncthreads();

    // Sixteen lanes make a row's words; one of them has the word of the cluster's columns.
#pragma unroll 2
    for (int i = warp * 2; i < rows; i += image_warps * 2) {
        const int row = i + lane / row_words, nth = lane % row_words, at = nth * cuda::warp;
        const std::uint32_t word = row < rows ? bits_from(m.bits, skipped + row * c.width + at, c.width - at) : 0;
        const std::uint32_t filled = __ballot_sync(cuda::every_lane, word != 0) >> (lane & row_words) & 0xffff,
                            lower = filled & ((1u << column_word) - 1), upper = filled >> column_word >> 1;
        const int left = 31 - __clz(static_cast<int>(lower)), right = __ffs(static_cast<int>(upper));
        const int last = __shfl_sync(cuda::every_lane, __clz(static_cast<int>(word)), left, row_words),
                  next = __shfl_sync(cuda::every_lane, __ffs(static_cast<int>(word)), column_word + right, row_words);
        const auto before = lower == 0 ? nowhere_beside
                                       : static_cast<std::uint32_t>((column_word - left - 1) * cuda::warp + last + 1),
                   after = upper == 0 ? nowhere_beside : static_cast<std::uint32_t>((right - 1) * cuda::warp + next);
        if (nth == column_word && row < rows) m.words[row] = {word, before | after << 16};
    }
    cuda::arrive_in_cluster();
    cuda::wait_for_cluster();

    // A thread owns a row of the block's columns.
    line_word word = word_without_sites();
    if (thread < c.height) word = *cuda::shared_of(m.words + thread % share, thread / share);
    cuda::arrive_in_cluster();  // blocks of the cluster may end when all have read
    const int first_column = own_columns * rank, first_x = column_word * cuda::warp + first_column;
    {
        constexpr int far = 4 * whole_width;
        const std::uint32_t own = word.sites >> first_column,
                            lower = word.sites << (cuda::warp - 1 - first_column) << 1, upper = own >> own_columns;
        const int left = lower != 0 ? __clz(static_cast<int>(lower)) + 1 : word.before() + first_column,
                  right = upper != 0 ? __ffs(static_cast<int>(upper))
                                     : word.after() + cuda::warp - own_columns - first_column;
        const beside_columns beside(own, min(left, far), min(right, far));
#pragma unroll
        for (int i = 0; i < own_columns; ++i) {
            const int d = beside.distance(i);
            std::uint32_t value = static_cast<std::uint32_t>(d * d) << words::shift;
            if constexpr (Sites) value |= static_cast<std::uint32_t>(beside.site(first_x, i) << 1);
            m.values[i * image_memory::pitch + thread] = d >= far ? words::none : value;
        }
        const std::uint32_t filled = __ballot_sync(cuda::every_lane, word.any());
        if (lane == 0) m.filled[warp] = filled;
    }
    __syncthreads();
    int sited = 0, mine = 0;
#pragma unroll
    for (int w = 0; w < image_warps; ++w) {
        if (w == warp) mine = sited + __popc(m.filled[w] & ((1u << lane) - 1));
        sited += __popc(m.filled[w]);
    }

    // Along columns: a warp owns 32 rows of them, a thread four rows of one.
    const int column = lane % own_columns, begin = warp * cuda::warp + lane / own_columns * lane_rows,
              x = first_x + column;
    const std::uint32_t* const values = m.values + column * image_memory::pitch;
    const bool writes = begin < c.height && x < c.width;
    std::uint32_t best[lane_rows];
#pragma unroll
    for (std::uint32_t& one : best) one = words::none;
    if (sited <= few_rows) {
        if (word.any()) m.listed[mine] = static_cast<std::uint16_t>(thread);
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < sited; ++i) {
            const int row = m.listed[i];
            const std::uint32_t value = values[row];
            const std::uint32_t* const square = m.squares + row - begin + whole_width + 4;
#pragma unroll
            for (int k = 0; k < lane_rows; ++k) best[k] = __viaddmin_u32(value, square[-k], best[k]);
        }
    } else {
        relax_outward<Sites>(best, m, values, begin, c, writes);
    }
    if (writes) {
        const image_target<Sites, Fields> target{c, first + x, x};
#pragma unroll
        for (int k = 0; k < lane_rows; ++k)
            if (begin + k < c.height) target.put(begin + k, best[k]);
    }
    cuda::wait_for_cluster();
}

}  // namespace

namespace {

template <bool Sites, bool Fields>
void launch_whole(const device& on, const whole_call& c, bool volume) {
    const auto start = [&](const auto& kernel, int threads, std::size_t shared) {
        cuda::launch<cuda::order::overlapped>(on, kernel,
                                              cuda::grid{c.images * c.clusters * whole_blocks,
                                                         dim3(static_cast<unsigned>(threads)), shared, whole_blocks},
                                              c);
    };
    if (volume) start(search_volume<Sites, Fields>, volume_words<Sites>::threads, sizeof(volume_memory<Sites>));
    else start(search_image<Sites, Fields>, image_threads, sizeof(image_memory));
}

}  // namespace

void search_whole(const device& on, const plan& p, const std::uint8_t* image, bool zero_is_site, const outputs& out) {
    const auto size = [&](int axis) {
        return axis < p.first_axis ? 1 : static_cast<int>(p.size[static_cast<std::size_t>(axis)]);
    };
    whole_call c;
    c.data = image, c.zero_is_site = zero_is_site;
    c.depth = size(p.rank - 3), c.height = size(p.rank - 2), c.width = size(p.rank - 1);
    c.images = p.cells / c.image_cells();
    c.clusters = static_cast<int>(whole_clusters(p));
    c.rank = p.rank;
    c.limit = std::min(last_value<std::int32_t>(), plan::bound<std::int32_t>(p.limit));
    c.out = out;
    const bool volume = p.rank - p.first_axis == 3;
    if (p.sites_wanted) {
        const bool only_index32 = out.index32 && !out.index && !out.coordinates && !out.distance32 && !out.distance64 &&
                                  !out.squared32 && !out.squared64 && !out.squared_float;
        if (only_index32) launch_whole<true, false>(on, c, volume);
        else launch_whole<true, true>(on, c, volume);
    } else if (out.only_distance32 && out.unit2 == 1) {
        launch_whole<false, false>(on, c, volume);
    } else {
        launch_whole<false, true>(on, c, volume);
    }
}

}  // namespace nearfield::exact
