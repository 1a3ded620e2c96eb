// Which neighbouring cells hang together, as words, whatever the cells are: values of any type, colours, periodic axes. The
// kernels of tiles read these words and no values.
#pragma once

#include "label/core.hpp"
#include "label/cuda_bundle.cuh"
#include "label/cuda_link_store.cuh"
#include "label/statistics.hpp"

namespace nearfield::labelling {

/// Links of a word with the cells of another word there: of the same column, the one before, the one after.
struct three_links {
    word same, west, east;
};

/// Links that others do not say already, with the cells here and there that go on from those before them. Slanted ones go by way
/// of a cell beside either end.
__device__ inline touches without_implied(const three_links& l, word here, word there, bool slanted) {
    touches c{l.same, 0, 0, here & there};
    if (!slanted) return c;
    c.west = l.west & ~((here & l.same << 1) | (l.same & there) | (l.west << 1 & here & there << 1));
    c.east = l.east & ~((l.same & there >> 1) | (here >> 1 & l.same >> 1) | (l.east << 1 & here & there >> 1));
    return c;
}

/// What device memory has of each word: its cells, those that hang together with the one before them, and of each touch of
/// `Touching` the links (of slanted ones three words). Bits of cells at the ends of periodic axes lead round.
template <class Touching>
struct link_record {
    NF_HD static constexpr int at(int touch_number) {
        int place = 2;
        for (int i = 0; i < touch_number; ++i) place += Touching::get(i).slanted ? 3 : 1;
        return place;
    }
    static constexpr int size = at(Touching::count);
    static_assert(size <= word_cells, "a lane writes a word");

    [[nodiscard]] __device__ static three_links links(const word* record, int touch_number) {
        const int place = at(touch_number);
        if (!Touching::get(touch_number).slanted) return {record[place], 0, 0};
        return {record[place], record[place + 1], record[place + 2]};
    }
};

/// The touches of a tiling, to be gone through at run time: four bits each, since an array of them would lie in local memory.
struct touch_list {
    std::uint32_t bits = 0;
    int count = 0;

    template <class Touching>
    static touch_list make() {
        touch_list list;
        for (; list.count < Touching::count; ++list.count) {
            const touch t = Touching::get(list.count);
            const int four = (t.slanted ? 8 : 0) | (t.dz != 0 ? 4 : 0) | (t.dy + 1);
            list.bits |= static_cast<std::uint32_t>(four) << 4 * list.count;
        }
        return list;
    }
    [[nodiscard]] __device__ touch get(int i) const {
        const int four = static_cast<int>(bits >> 4 * i & 15);
        return {(four & 4) != 0 ? -1 : 0, (four & 3) - 1, 1, 1, (four & 8) != 0};
    }
};

/// A value, or up to four channels of a colour, in registers. Channels that a colour does not have are 0.
template <class T, int Channels>
struct pixel {
    T of[Channels];
    [[nodiscard]] __device__ pixel from_lane(int lane) const {
        pixel p;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            if constexpr (sizeof(T) < 4)
                p.of[c] = static_cast<T>(__shfl_sync(cuda::every_lane, static_cast<int>(of[c]), lane));
            else p.of[c] = __shfl_sync(cuda::every_lane, of[c], lane);
        }
        return p;
    }
};

/// Where cells are read, and what decides about them: whether they are equal, or `Within` a tolerance. Nothing branches on
/// values. Signed integers come as natural numbers in the same order, by `flip`; where only zero or not matters, as 0 and 1.
template <class T, int Channels, bool Within>
struct pixel_source {
    using value = pixel<T, Channels>;
    using sum = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>>;
    const T* data;
    strides at;
    int channels;
    std::int64_t channel_stride;
    bool binary, has_background, nan_background;
    colour_norm norm;
    T background, flip;
    sum tolerance;
    double tolerance2;

    pixel_source(const T* cells, const strides& where, const rule<T>& r, T zero)
        : data(cells),
          at(where),
          channels(1),
          channel_stride(0),
          binary(r.kind == criterion::nonzero),
          has_background(r.has_background),
          nan_background(r.nan_background),
          norm(r.norm),
          background(binary ? T{} : r.background),
          flip(zero),
          tolerance(limited(r.tolerance)),
          tolerance2(r.tolerance2) {}

    [[nodiscard]] __device__ const T* image(std::int64_t number) const { return data + at.image(number); }
    [[nodiscard]] __device__ value load(const T* cell) const {
        value v{};
        bool any = false;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            if (c >= channels) continue;
            v.of[c] = cell[c * channel_stride];
            any = any | (v.of[c] != T{});
            if constexpr (std::is_integral_v<T>) v.of[c] = static_cast<T>(v.of[c] ^ flip);
        }
        if (!binary) return v;
        v = {};
        v.of[0] = static_cast<T>(any ? 1 : 0);
        return v;
    }
    [[nodiscard]] __device__ bool foreground(const value& v) const {
        bool differs = false, number = false;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            const bool there = c < channels;
            differs = differs | (there & (v.of[c] != background)), number = number | (there & (v.of[c] == v.of[c]));
        }
        return !has_background | (nan_background ? number : differs);
    }
    [[nodiscard]] __device__ bool linked(const value& a, const value& b) const {
        bool equal = true, near = true;
        sum total{};
        double squares = 0;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            const bool same = a.of[c] == b.of[c];
            equal = equal & same;
            if constexpr (Within) {
                const sum d = difference(a.of[c], b.of[c], same);
                near = near & (d <= tolerance);
                if constexpr (Channels > 1) {
                    total += d;
                    if (norm == colour_norm::euclidean) squares += static_cast<double>(d) * static_cast<double>(d);
                }
            }
        }
        if constexpr (!Within) return equal;
        if constexpr (Channels == 1) return near;
        return norm == colour_norm::maximum ? near
               : norm == colour_norm::sum   ? total <= tolerance
                                            : squares <= tolerance2;
    }

private:
    [[nodiscard]] __device__ static sum difference(T a, T b, bool same) {
        if constexpr (std::is_floating_point_v<T>) {
            const double d = static_cast<double>(a) - static_cast<double>(b);
            return same ? 0 : d < 0 ? -d : d;  // of equal infinities
        } else {
            return static_cast<sum>(a < b ? b - a : a - b);
        }
    }
    [[nodiscard]] static sum limited(measure<T> t) {
        if constexpr (!std::is_floating_point_v<T>)
            if (t > std::numeric_limits<sum>::max()) return std::numeric_limits<sum>::max();
        return static_cast<sum>(t);
    }
};

constexpr int link_threads = 256;

/// 32 cells of a row as they come: every lane's own, and in the first and the last lane with a cell the one beside the word.
template <class Value>
struct loaded_row {
    const void* line = nullptr;  ///< null: there is no such row
    Value here{}, beside{};
};
/// The same with the cells before and after each, and which of them all are foreground.
template <class Value>
struct pixel_row {
    Value here{}, west{}, east{};
    word set = 0, west_set = 0, east_set = 0;
};

/// How a warp reads the rows of one column of words.
template <class T, class Source>
class row_reader {
public:
    using source = Source;
    using value = typename source::value;
    __device__ row_reader(const lattice<std::uint32_t>& g, const source& from, int image, int w)
        : from_(from), image_(from.image(image)), lane_(static_cast<int>(threadIdx.x) % cuda::warp) {
        const int first = w * word_cells;
        last_ = min(word_cells, g.size[2] - first) - 1, x_ = first + lane_;
        west_ = neighbour(g, 2, first, -1), east_ = neighbour(g, 2, first + last_, 1);
    }
    /// Row (z, y); there is none where one is negative.
    [[nodiscard]] __device__ loaded_row<value> load(int z, int y) const {
        loaded_row<value> row;
        if (z < 0 || y < 0) return row;
        const T* const line = image_ + from_.at.cell(z, y, 0);
        row.line = line;
        if (lane_ <= last_) row.here = from_.load(line + x_ * from_.at.along[2]);
        const int beside = lane_ == 0 ? west_ : lane_ == last_ ? east_ : -1;
        if (beside >= 0) row.beside = from_.load(line + beside * from_.at.along[2]);
        return row;
    }
    [[nodiscard]] __device__ pixel_row<value> look(const loaded_row<value>& row) const {
        pixel_row<value> r;
        if (row.line == nullptr) return r;
        r.here = row.here;
        r.west = row.here.from_lane(max(lane_ - 1, 0)), r.east = row.here.from_lane(min(lane_ + 1, cuda::warp - 1));
        if (lane_ == last_) r.east = row.beside;
        if (lane_ == 0) r.west = row.beside;
        if (last_ == 0 && east_ >= 0) r.east = from_.load(static_cast<const T*>(row.line) + east_ * from_.at.along[2]);
        r.set = __ballot_sync(cuda::every_lane, lane_ <= last_ && from_.foreground(r.here));
        const word west = __ballot_sync(cuda::every_lane, from_.foreground(r.west)),
                   east = __ballot_sync(cuda::every_lane, from_.foreground(r.east));
        r.west_set = r.set << 1 | (west_ >= 0 ? west & 1U : 0);
        r.east_set = r.set >> 1 | (east_ >= 0 ? east & 1U << last_ : 0);
        return r;
    }
    [[nodiscard]] __device__ int lane() const { return lane_; }

private:
    const source& from_;
    const T* image_;
    int lane_, last_, x_, west_, east_;
};

/// A lane's word of a record, put in one by one.
struct record_writer {
    int lane;
    word mine = 0;
    int size = 0;
    __device__ void put(word bits) { mine = lane == size++ ? bits : mine; }
};

constexpr int link_rows = 16;  ///< that a warp goes down

/// Writes the records of words. A warp owns words below each other, a lane a cell; what it looks at of the rows above and in
/// front it has from the row before. `Deep`: of volumes.
template <bool Deep, class T, int Channels, bool Within>
__global__ void __launch_bounds__(link_threads)
    find_links(lattice<std::uint32_t> g, pixel_source<T, Channels, Within> from, touch_list touching, word* records) {
    using row = pixel_row<pixel<T, Channels>>;
    cuda::wait_for_kernel_before();
    const auto strip = static_cast<int>((std::int64_t{blockIdx.x} * link_threads + threadIdx.x) / cuda::warp);
    const int down = (g.size[1] + link_rows - 1) / link_rows, column = strip / g.words, plane = column / down;
    const int w = strip - column * g.words, first = (column - plane * down) * link_rows, image = plane / g.size[0];
    if (image >= g.images) return;
    const int z = plane - image * g.size[0], in_front = Deep ? neighbour(g, 0, z, -1) : -1;
    const int lead = Deep && touching.count > 2 ? 1 : 0;  // the row below in front is looked at as well
    const row_reader<T, pixel_source<T, Channels, Within>> read(g, from, image, w);
    row above = read.look(read.load(z, neighbour(g, 1, first, -1))), front_above, front, front_below;
    if (Deep && lead != 0) {
        front = read.look(read.load(in_front, neighbour(g, 1, first, -1)));
        front_below = read.look(read.load(in_front, first));
    }
    auto next = read.load(z, first), next_front = read.load(in_front, neighbour(g, 1, first, lead));
    for (int y = first; y < min(first + link_rows, g.size[1]); ++y) {
        const auto own = next, own_front = next_front;
        if (y + 1 < min(first + link_rows, g.size[1])) {
            next = read.load(z, y + 1);
            if constexpr (Deep) next_front = read.load(in_front, neighbour(g, 1, y + 1, lead));
        }
        const row mine = read.look(own);
        if constexpr (Deep) {
            const row newest = read.look(own_front);
            if (lead != 0) front_above = front, front = front_below, front_below = newest;
            else front = newest;
        }
        record_writer record{read.lane()};
        const auto put = [&](const pixel<T, Channels>& other, word set) {
            record.put(__ballot_sync(cuda::every_lane, from.linked(mine.here, other)) & mine.set & set);
        };
        const auto put_row = [&](const row& there, bool slanted) {
            put(there.here, there.set);
            if (slanted) put(there.west, there.west_set), put(there.east, there.east_set);
        };
        record.put(mine.set);
        put(mine.west, mine.west_set);
        put_row(above, touching.get(0).slanted);
        if constexpr (Deep) {
            put_row(front, touching.get(1).slanted);
            if (lead != 0) put_row(front_above, touching.get(2).slanted), put_row(front_below, touching.get(3).slanted);
        }
        const std::int64_t word_at = (std::int64_t{plane} * g.size[1] + y) * g.words + w;
        if (read.lane() < record.size) records[word_at * record.size + read.lane()] = record.mine;
        above = mine;
    }
}

}  // namespace nearfield::labelling
