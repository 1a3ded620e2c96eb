// Windows of packed lines that steps (cuda_tile.cuh) and offers (cuda_gather.cuh) leave, of any number of rows and sites.
//
// Every 32nd row of an image is a post. The winning row never moves back along a line (core.hpp), so that between two
// posts only the rows from the winner at the one to the winner at the other can win: 33 on average, whatever the image.
// The winners at the posts are found the other way round, the image being 32 times smaller then: how far the nearest site
// of each column is from each post, then hulls along the posts (cuda_far.cuh). At last a warp takes 32 rows of 32 lines
// and each lane is offered the rows that its line has left; where these are very many, all warps of a block do.
#pragma once

#include "exact/cuda_far.cuh"
#include "exact/cuda_square.cuh"

namespace nearfield::exact {
namespace {

constexpr int post_rows = 32;
constexpr int column_warps = 8;
constexpr int column_threads = column_warps * cuda::warp;
constexpr int chunk_rows = post_rows * cuda::warp;  // that a warp looks at in one go
constexpr int most_chunks = static_cast<int>(most_packed / chunk_rows) + 1;
constexpr int between_warps = 8;
constexpr int most_own_rows = 96;  // left to a lane: with more, 32 rows at a time are looked at first
// Left to a warp's lane: with more, all warps of a block share them. Microseconds without, from 256 and from 640 on: a circle
// in 4096^2 411, 178, 232, in 8192^2 973, 505, 542; balls in 8192^2, whose gaps are wide but offer little, 367, 449, 385.
constexpr int most_alone_rows = 640;
constexpr int most_shared = 512;  // squares of a block that its warps share
constexpr int between_threads = between_warps * cuda::warp;

/// 32 neighbouring posts of one image.
struct post_group {
    std::int64_t number;
    std::int64_t image;
    int first;
};

/// Lines along the posts of all images, with values in the numbers V. A post after the last row closes each image.
template <class V>
struct post_lines {
    static constexpr bool keeps_ties = false;
    using group = post_group;
    using number = V;
    std::int32_t* nearest = nullptr;   ///< row of the nearest site in a column, or -1: for each column, for each post
    std::uint16_t* winners = nullptr;  ///< row that wins: for each post, for each column
    std::int64_t images = 1;
    std::int64_t length = 1;
    int posts = 1;

    __device__ static V value(std::int32_t loaded) { return square(loaded); }
    __device__ static V square(std::int32_t rows) { return static_cast<V>(rows) * rows; }
    NF_HD std::int64_t groups_an_image() const { return (posts + cuda::warp - 1) / cuda::warp; }
    NF_HD std::int64_t groups() const { return images * groups_an_image(); }
    __device__ post_group group_of(std::int64_t number) const {
        const std::int64_t image = quotient(number, groups_an_image());
        return {number, image, static_cast<int>(number - image * groups_an_image()) * cuda::warp};
    }
    __device__ int rows() const { return static_cast<int>(length); }
    __device__ std::int64_t inner() const { return posts; }
    __device__ int width(const post_group& g) const { return min(posts - g.first, cuda::warp); }
    __device__ std::int64_t first_cell(const post_group& g, int lane) const {
        return g.image * length * posts + g.first + lane;
    }
    __device__ std::uint16_t* winners_of(std::int64_t image, int post) const {
        return winners + (image * posts + post) * length;
    }

    /// Loads how far a column's nearest site is from the lane's post.
    class reader {
    public:
        __device__ reader(const post_lines& of, const post_group& g, int lane)
            : nearest_(of.nearest + of.first_cell(g, lane)), posts_(of.posts), row_((g.first + lane) * post_rows) {}
        __device__ std::int32_t load(std::int64_t x) const {
            const std::int32_t site = nearest_[x * posts_];
            return site < 0 ? none : abs(site - row_);
        }
        __device__ static bool is_site(std::int32_t loaded) { return loaded != none; }
        /// The row itself.
        __device__ std::int32_t site(std::int32_t x) const { return nearest_[static_cast<std::int64_t>(x) * posts_]; }

    private:
        static constexpr std::int32_t none = -1;
        const std::int32_t* nearest_;
        int posts_, row_;
    };
};

/// All groups of posts of the images that have hard tiles.
struct hard_posts {
    const std::int32_t* images;
    const std::int32_t* list;
    std::int64_t groups_an_image;

    template <class V>
    __device__ hard_posts(const hard_tiles& hard, const post_lines<V>& lines)
        : images(hard.owner_count), list(hard.owners), groups_an_image(lines.groups_an_image()) {}
    __device__ std::int64_t count() const { return *images * groups_an_image; }
    __device__ std::int64_t operator[](std::int64_t nth) const {
        const std::int64_t image = quotient(nth, groups_an_image);
        return list[image] * groups_an_image + nth - image * groups_an_image;
    }
};

/// A matrix of 32 x 32 bits, a row a lane, turned round: bit i of lane l becomes bit l of lane i.
__device__ inline std::uint32_t turn_bits(std::uint32_t row) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    std::uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int o = 16; o > 0; o /= 2, mask ^= mask << o) {
        const std::uint32_t other = __shfl_xor_sync(cuda::every_lane, row, o);
        row = (lane & o) == 0 ? (row & mask) | (other & mask) << o : (row & ~mask) | (other & ~mask) >> o;
    }
    return row;
}

/// Sites of a chunk of 1024 rows of 32 columns, a lane a column: bits of the 32 rows from each post on.
struct column_bits {
    std::uint32_t at[cuda::warp][cuda::warp + 1];

    __device__ void load(const line_word* words, int first_row, int rows) {
        const int lane = static_cast<int>(threadIdx.x);
#pragma unroll 4
        for (int post = 0; post < cuda::warp; ++post) {
            const int row = first_row + post * post_rows + lane;
            at[post][lane] = turn_bits(row < rows ? words[row].sites : 0);
        }
    }
};

/// Memory of a block of nearest_to_posts: for each warp bits, and rows in their place.
struct column_memory {
    column_bits bits[column_warps];
    std::int32_t rows[column_warps][cuda::warp][cuda::warp + 1];
    std::int32_t first[most_chunks][cuda::warp];  ///< site of each chunk, of each column; `beyond` is none
    std::int32_t last[most_chunks][cuda::warp];   ///< -1 is none
};
constexpr std::int32_t beyond = 1 << 24;

/// Of a chunk whose `bits` are loaded: the rows nearest to its posts, given the sites before and after the chunk. The
/// chunk's last post may lie after the image's: rows of such are not used.
__device__ inline void nearest_in_chunk(const column_bits& bits, std::int32_t (&rows)[cuda::warp][cuda::warp + 1],
                                        int first_row, std::int32_t before, std::int32_t after) {
    const int lane = static_cast<int>(threadIdx.x);
    for (int post = 0; post < cuda::warp; ++post) {
        rows[post][lane] = before;
        const std::uint32_t mine = bits.at[post][lane];
        if (mine != 0) before = first_row + post * post_rows + 31 - __clz(static_cast<int>(mine));
    }
    for (int post = cuda::warp - 1; post >= 0; --post) {
        const std::uint32_t mine = bits.at[post][lane];
        const int row = first_row + post * post_rows, above = rows[post][lane];
        if (mine != 0) after = row + __ffs(static_cast<int>(mine)) - 1;
        if (above < 0 || after - row < row - above) rows[post][lane] = after < beyond ? after : -1;
    }
}

/// A block 32 columns of an image, a warp one chunk of rows after another, read twice: for its first and last sites, then
/// for the rows nearest to its posts.
template <class V>
__global__ void __launch_bounds__(column_threads)
    nearest_to_posts(const word_lines lines, const hard_tiles hard, const post_lines<V> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::byte shared[];
    auto& memory = *reinterpret_cast<column_memory*>(shared);
    const std::int64_t columns = lines.lines.columns, count = *hard.owner_count * columns;
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y), rows = lines.rows();
    const int chunks = (to.posts + cuda::warp - 1) / cuda::warp;
    column_bits& bits = memory.bits[warp];
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t image = quotient(nth, columns);
        const word_group g = lines.group_of(hard.owners[image] * columns + nth - image * columns);
        const line_word* const words = lines.words(g);
        for (int chunk = warp; chunk < chunks; chunk += column_warps) {
            bits.load(words, chunk * chunk_rows, rows);
            std::int32_t first = beyond, last = -1;
            for (int post = 0; post < cuda::warp; ++post) {
                const std::uint32_t mine = bits.at[post][lane];
                const int row = chunk * chunk_rows + post * post_rows;
                if (mine == 0) continue;
                last = row + 31 - __clz(static_cast<int>(mine));
                first = min(first, row + __ffs(static_cast<int>(mine)) - 1);
            }
            memory.first[chunk][lane] = first, memory.last[chunk][lane] = last;
        }
        __syncthreads();
        for (int chunk = warp; chunk < chunks; chunk += column_warps) {
            bits.load(words, chunk * chunk_rows, rows);
            std::int32_t before = -1, after = beyond;
            for (int c = 0; c < chunk; ++c) before = max(before, memory.last[c][lane]);
            for (int c = chunks - 1; c > chunk; --c) after = min(after, memory.first[c][lane]);
            nearest_in_chunk(bits, memory.rows[warp], chunk * chunk_rows, before, after);
            __syncwarp();
            const int post = chunk * cuda::warp + lane;
            std::int32_t* const nearest = to.nearest + (g.outer * to.length + g.x) * to.posts + post;
            for (int x = 0; x < lines.width(g) && post < to.posts; ++x)
                nearest[static_cast<std::int64_t>(x) * to.posts] = memory.rows[warp][lane][x];
            __syncwarp();
        }
        __syncthreads();
    }
}

/// A warp 32 columns of 32 posts: the nearest sites' rows, along finished hulls.
template <class V>
__global__ void __launch_bounds__(walk_threads)
    walk_posts(const post_lines<V> lines, const hard_tiles hard, const far_lists lists) {
    cuda::wait_for_kernel_before();
    const hard_posts groups(hard, lines);
    constexpr int block_cells = walk_warps * band_rows;
    const int parts = (lines.rows() + block_cells - 1) / block_cells;
    for (std::int64_t nth = blockIdx.x; nth < groups.count() * parts; nth += gridDim.x) {
        const std::int64_t above = quotient(nth, parts);
        const post_group g = lines.group_of(groups[above]);
        const int from =
            static_cast<int>(nth - above * parts) * block_cells + static_cast<int>(threadIdx.y) * band_rows;
        if (from >= lines.rows()) continue;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(g) - 1);
        const far_hull<post_lines<V>> hull(lines, lists, g, lane);
        const typename post_lines<V>::reader line(lines, g, lane);
        std::uint16_t* const winners = lines.winners_of(g.image, g.first + lane);
        walk<false>(
            hull, lists.slabs, from / slab_rows, from, min(from + band_rows, lines.rows()), 1,
            [](const auto& p) { return p.row(); },
            [&](int x, V, std::int32_t site_x) { winners[x] = static_cast<std::uint16_t>(line.site(site_x)); });
    }
}

/// Rows of a lane's line that its square can have as winners, and a bound of the values of the square's 32 rows.
struct left_rows {
    int from, end;  ///< both included
    std::int32_t bound;
};

/// Offers each lane the rows that its own line has left, one after another.
template <class Values>
__device__ void offer_own(const square& s, const left_rows& mine, offers<Values>& to) {
#pragma unroll 2
    for (int row = mine.from + 1; __any_sync(cuda::every_lane, row < mine.end); ++row) {
        const std::int32_t apart = min(s.words[min(row, mine.end)].distance(s.lane), far_apart), rows = s.rows_to(row),
                           least = apart * apart + rows * rows;
        // Rows too far away to win could exceed what the square holds.
        const bool wins = row < mine.end && least < to.mine;
        if (__any_sync(cuda::every_lane, wins))
            to.take(wins ? offered{apart * apart, s.top - row} : offered{no_site<std::int32_t>(), 0});
    }
}

/// Offers all lanes the rows that any of them has left; a warp that is one of `parts` every so many groups of 32.
template <class Values>
__device__ void offer_all(const square& s, const left_rows& mine, offers<Values>& to, int part = 0, int parts = 1) {
    const int first = __reduce_min_sync(cuda::every_lane, mine.from),
              last = __reduce_max_sync(cuda::every_lane, mine.end);
    const auto load = [&](int row) { return row <= last ? s.words[row] : word_without_sites(); };
    const int step = parts * cuda::warp;
    line_word next = load(first + part * cuda::warp + s.lane);
    for (int at = first + part * cuda::warp; at <= last; at += step) {
        const line_word word = next;
        next = load(at + step + s.lane);
        const int row = at + s.lane;
        const std::int32_t rows = s.rows_to(row), near = near_word(word);
        to.rows(s, word, row, word.any() ? near * near + rows * rows : no_site<std::int32_t>(), false);
    }
}

/// The same in 64 bits, row by row, for squares whose values may exceed 32.
template <bool Last>
__device__ void finish_between_wide(const square& s, const left_rows& mine,
                                    const tile_target<std::int64_t, Last>& target) {
    if (s.lane >= target.lines) return;
    int first = mine.from;  // the winning row never moves back
    for (int q = s.top; q <= s.bottom; ++q) {
        std::int64_t best = no_site<std::int64_t>();
        for (int row = first; row <= mine.end; ++row) {
            const line_word word = s.words[row];
            if (!word.any()) continue;
            const std::int64_t apart = word.distance(s.lane), rows = q - row, value = apart * apart + rows * rows;
            if (value < best) best = value, first = row;
        }
        target.put_wide(q, best);
    }
}

/// Offers each lane the first and the last row that its line has left.
template <class Values>
__device__ void offer_ends(const square& s, const left_rows& mine, offers<Values>& to) {
    const auto end_of = [&](int row) {
        const std::int32_t apart = min(s.words[row].distance(s.lane), far_apart), rows = s.rows_to(row);
        return rows * rows <= mine.bound ? offered{apart * apart, s.top - row} : offered{no_site<std::int32_t>(), 0};
    };
    to.best.offer(end_of(mine.from), end_of(mine.end));
    to.mine = min(to.mine, to.best.largest());
    to.bound = min(to.bound, __reduce_max_sync(cuda::every_lane, to.mine));
}

template <class Values, class V, bool Last>
__device__ void finish_between_in(const square& s, const left_rows& mine, const tile_target<V, Last>& target) {
    offers<Values> to(mine.bound);
    offer_ends(s, mine, to);
    if (__reduce_max_sync(cuda::every_lane, mine.end - mine.from) <= most_own_rows) offer_own(s, mine, to);
    else offer_all(s, mine, to);
    to.finish();
    write_square(s, to.bound, target, to.best, std::make_integer_sequence<int, square_rows>{});
}

/// A square of a hard tile, what its lanes have left, and where it goes.
template <class V, bool Last>
struct square_between {
    square s;
    left_rows left;
    tile_target<V, Last> target;
    bool within;  ///< of the image

    __device__ square_between(const word_lines& lines, const windows& cut, const metric<V>& m, const hard_tiles& hard,
                              const post_lines<V>& posts, const value_sink<V, Last>& to, std::int64_t nth)
        : target{m, to, 0, static_cast<std::int32_t>(lines.inner()), 0} {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, squares = squares_of(cut);
        const std::int64_t above = quotient(nth, squares);
        const auto at = lines.place(cut, hard.list[above]);
        const int top = at.window * cut.rows + static_cast<int>(nth - above * squares) * square_rows;
        const int end = min((at.window + 1) * cut.rows, lines.rows());
        within = top < end;
        if (!within) return;
        target.first = lines.first_cell(at.group, lane), target.lines = lines.width(at.group);
        s = {lines.words(at.group), nullptr, 0, 0, top, min(top + square_rows, end) - 1, lane};
        const std::uint16_t* const winners =
            posts.winners_of(at.group.outer, top / post_rows) + at.group.x + min(lane, target.lines - 1);
        left = {winners[0], winners[posts.length], 0};
        const auto bound_by = [&](int row) {
            const std::int32_t apart = min(s.words[row].distance(lane), far_apart),
                               rows = min(max(abs(row - top), abs(s.bottom - row)), far_apart);
            return apart * apart + rows * rows;
        };
        left.bound = __reduce_max_sync(cuda::every_lane, min(bound_by(left.from), bound_by(left.end)));
    }
    static __device__ int squares_of(const windows& cut) { return (cut.rows + square_rows - 1) / square_rows; }
    __device__ int most_left() const { return __reduce_max_sync(cuda::every_lane, left.end - left.from); }

    __device__ void finish() const {
        if constexpr (sizeof(V) == sizeof(std::int64_t))
            if (left.bound > largest_bound) return finish_between_wide(s, left, target);
        if (left.bound <= narrow_square::bound) finish_between_in<narrow_square>(s, left, target);
        else finish_between_in<wide_square>(s, left, target);
    }
    /// By all warps of a block alike. `best` has room for a square.
    __device__ void finish_together(std::int32_t* best) const {
        const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
        for (int i = static_cast<int>(threadIdx.x); i < square_rows * cuda::warp; i += between_threads)
            best[i] = no_site<std::int32_t>();
        offers<wide_square> to(left.bound);
        offer_ends(s, left, to);
        offer_all(s, left, to, warp, between_warps);
        to.finish();
        __syncthreads();
        to.best.lower(best + s.lane);
        __syncthreads();
        if (s.lane < target.lines)
            for (int i = warp; i <= s.bottom - s.top; i += between_warps)
                target.put(s.top + i, best[i * cuda::warp + s.lane] + i * i);
        __syncthreads();
    }
};

/// A warp one square after another of the hard tiles; then all warps together those that one would be long at.
template <class V, bool Last>
__global__ void __launch_bounds__(between_threads, 3)
    finish_between(const word_lines lines, const windows cut, const metric<V> m, const hard_tiles hard,
                   const post_lines<V> posts, const value_sink<V, Last> to) {
    cuda::wait_for_kernel_before();
    __shared__ std::int32_t best[square_rows * cuda::warp];
    __shared__ int shared[most_shared], shared_count;
    if (threadIdx.x == 0) shared_count = 0;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto square_at = [&](std::int64_t nth) {
        return square_between<V, Last>(lines, cut, m, hard, posts, to, nth);
    };
    const std::int64_t count = static_cast<std::int64_t>(*hard.count) * square_between<V, Last>::squares_of(cut);
    // Neighbours go to different blocks, because those that take long are neighbours.
    for (std::int64_t nth = static_cast<std::int64_t>(warp) * gridDim.x + blockIdx.x; nth < count;
         nth += static_cast<std::int64_t>(gridDim.x) * between_warps) {
        const auto here = square_at(nth);
        if (!here.within) continue;
        int place = most_shared;
        if (here.left.bound <= largest_bound && here.most_left() > most_alone_rows) {
            if (lane == 0) place = atomicAdd(&shared_count, 1);
            place = __shfl_sync(cuda::every_lane, place, 0);
        }
        if (place >= most_shared) here.finish();
        else if (lane == 0) shared[place] = static_cast<int>(nth);
    }
    __syncthreads();
    for (int i = 0; i < min(shared_count, most_shared); ++i) square_at(shared[i]).finish_together(best);
}

}  // namespace
}  // namespace nearfield::exact
