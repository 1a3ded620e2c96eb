// Label lists on a device: finds runs in raster order, sorts them by label, and writes runs or their cells. Sorts runs,
// not cells; a list's place follows from the lengths of the runs before it.
#include <bit>
#include <utility>

#include "base/cuda_sort.cuh"
#include "components/cuda_scan.cuh"
#include "components/cuda_shapes.cuh"
#include "components/engine.hpp"

namespace nearfield::components {
namespace {

/// Sums the counts of a chunk of rows; a warp owns a chunk. The sums become the offsets of the lists.
__global__ void __launch_bounds__(threads_of_block) sum_chunks(const word* counts, std::int64_t rows, word* sums) {
    const chunk mine(rows);
    word sum = 0, all = 0;
    for (std::int64_t i = mine.first + lane_of_thread(); i < mine.last; i += cuda::warp) sum += counts[i];
    static_cast<void>(warp_scan(sum, all));
    if (lane_of_thread() == 0) sums[chunk::number()] = all;
}
__global__ void __launch_bounds__(threads_of_block)
    put_offsets(const word* counts, std::int64_t rows, const word* sums, std::int64_t* offsets, std::int64_t step) {
    const chunk mine(rows);
    word before = sums[chunk::number()], all = 0;
    for (std::int64_t i = mine.first; i < mine.last; i += cuda::warp, before += all) {
        const std::int64_t at = i + lane_of_thread();
        const word place = before + warp_scan(at < mine.last ? counts[at] : 0, all);
        if (at < mine.last) offsets[at * step] = static_cast<std::int64_t>(place);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) offsets[rows * step] = static_cast<std::int64_t>(sums[chunks]);
}

/// A dense image, whose cells are looked at as parts of runs.
struct run_cells {
    labels32 labels;
    std::int64_t side, cells;
};

/// Finds where runs begin and end, 32 cells at a time, as a warp goes through its chunk. Keeps count of the place in
/// the line, since a division for each step would cost more than the rest.
class run_walk {
public:
    __device__ run_walk(const run_cells& in, const chunk& mine)
        : in_(in), end_(mine.last), x_(mine.first - quotient(mine.first, in.side) * in.side) {}

    struct found {
        std::uint32_t row;
        bool begins, ends;
    };
    /// Looks at the cell `first` + lane; each call passes a `first` that is 32 larger.
    __device__ found next(std::int64_t first) {
        const int lane = lane_of_thread();
        const std::int64_t cell = first + lane;
        const std::uint32_t* const labels = in_.labels.data();
        const std::uint32_t label = cell < end_ ? labels[cell] : 0;
        std::uint32_t before = __shfl_up_sync(cuda::every_lane, label, 1);
        if (lane == 0) before = first > 0 ? labels[first - 1] : 0;
        std::uint32_t after = __shfl_down_sync(cuda::every_lane, label, 1);
        if (cell == end_ - 1 || lane == cuda::warp - 1)
            after = cell + 1 < in_.cells && cell < end_ ? labels[cell + 1] : 0;
        const std::uint32_t row = row_of_label(label, in_.labels.rows);
        const bool has = row != no_row;
        const found f{row, has && (before != label || begins_line(lane)),
                      has && (after != label || begins_line(lane + 1))};
        x_ += cuda::warp;
        if (x_ >= in_.side) x_ = in_.side >= cuda::warp ? x_ - in_.side : x_ % in_.side;
        return f;
    }
    /// True if the chunk's first cell continues the run of the cell before it.
    __device__ bool goes_on(std::int64_t first) const {
        if (first >= end_ || x_ == 0) return false;
        const std::uint32_t* const labels = in_.labels.data();
        return row_of_label(labels[first], in_.labels.rows) != no_row && labels[first - 1] == labels[first];
    }

private:
    __device__ bool begins_line(int lane) const {
        const std::int64_t x = x_ + lane;
        if (in_.side > cuda::warp) return x == 0 || x == in_.side;
        return static_cast<std::uint32_t>(x) % static_cast<std::uint32_t>(in_.side) == 0;
    }
    const run_cells& in_;
    std::int64_t end_, x_;
};

__global__ void __launch_bounds__(threads_of_block) count_runs(const run_cells in, word* sums) {
    const chunk mine(in.cells);
    run_walk walk(in, mine);
    word runs = 0;
    for (std::int64_t i = mine.first; i < mine.last; i += cuda::warp)
        runs += __popc(__ballot_sync(cuda::every_lane, walk.next(i).begins ? 1 : 0));
    if (lane_of_thread() == 0) sums[chunk::number()] = runs;
}

/// Rows, first cells and ends of runs in raster order: the n-th beginning and the n-th end belong to the n-th run.
template <class Number>
struct run_lists {
    std::uint32_t* row;
    Number *first, *end;
    std::int64_t most;
};
template <class Number>
__global__ void __launch_bounds__(threads_of_block)
    find_runs(const run_cells in, const word* sums, const run_lists<Number> to) {
    const chunk mine(in.cells);
    run_walk walk(in, mine);
    auto begun = static_cast<std::int64_t>(sums[chunk::number()]);
    std::int64_t ended = begun - (walk.goes_on(mine.first) ? 1 : 0);
    for (std::int64_t i = mine.first; i < mine.last; i += cuda::warp) {
        const std::int64_t cell = i + lane_of_thread();
        const auto [row, begins, ends] = walk.next(i);
        const unsigned begin = __ballot_sync(cuda::every_lane, begins ? 1 : 0),
                       end = __ballot_sync(cuda::every_lane, ends ? 1 : 0);
        const std::int64_t nth_begin = begun + __popc(begin & lanes_before()),
                           nth_end = ended + __popc(end & lanes_before());
        if (begins && nth_begin < to.most) to.row[nth_begin] = row, to.first[nth_begin] = static_cast<Number>(cell);
        // nth_end is negative only if the labels changed after they were counted.
        if (ends && nth_end >= 0 && nth_end < to.most) to.end[nth_end] = static_cast<Number>(cell + 1);
        begun += __popc(begin), ended += __popc(end);
    }
}

template <class Number>
struct sorted_runs {
    const Number *number, *first, *end;
    const word* count;
};

struct entries_to {
    void* data;
    std::int64_t step, inner, most;
    bool narrow;
    __device__ void put(std::int64_t at, std::int64_t value, std::int64_t second = 0) const {
        const std::int64_t place = at * step + second * inner;
        if (narrow) static_cast<std::int32_t*>(data)[place] = static_cast<std::int32_t>(value);
        else static_cast<std::int64_t*>(data)[place] = value;
    }
};

template <class Number>
__global__ void __launch_bounds__(threads_of_block) put_runs(const sorted_runs<Number> runs, const entries_to to) {
    const auto count = static_cast<std::int64_t>(*runs.count);
    const chunk mine(count);
    for (std::int64_t i = mine.first + lane_of_thread(); i < mine.last; i += cuda::warp) {
        const Number run = runs.number[i];
        to.put(i, static_cast<std::int64_t>(runs.first[run]));
        to.put(i, static_cast<std::int64_t>(runs.end[run] - runs.first[run]), 1);
    }
}

template <class Number>
__global__ void __launch_bounds__(threads_of_block) sum_lengths(const sorted_runs<Number> runs, word* sums) {
    const chunk mine(static_cast<std::int64_t>(*runs.count));
    word sum = 0, all = 0;
    for (std::int64_t i = mine.first + lane_of_thread(); i < mine.last; i += cuda::warp) {
        const Number run = runs.number[i];
        sum += runs.end[run] - runs.first[run];
    }
    static_cast<void>(warp_scan(sum, all));
    if (lane_of_thread() == 0) sums[chunk::number()] = all;
}

/// Writes, for each run in sorted order, the place of its first cell in the list.
template <class Number>
__global__ void __launch_bounds__(threads_of_block)
    place_runs(const sorted_runs<Number> runs, const word* sums, Number* places) {
    const chunk mine(static_cast<std::int64_t>(*runs.count));
    word before = sums[chunk::number()], all = 0;
    for (std::int64_t i = mine.first; i < mine.last; i += cuda::warp, before += all) {
        const std::int64_t at = i + lane_of_thread();
        const Number run = at < mine.last ? runs.number[at] : 0;
        const word place = before + warp_scan(at < mine.last ? runs.end[run] - runs.first[run] : 0, all);
        if (at < mine.last) places[at] = static_cast<Number>(place);
    }
}

/// Writes the cells of runs. A warp owns a chunk of entries and writes 32 side by side, which belong to at most 32
/// runs. So its work does not depend on the lengths of runs.
template <class Number>
__global__ void __launch_bounds__(threads_of_block)
    put_cells(const sorted_runs<Number> runs, const Number* places, const word* entries, const entries_to to) {
    const chunk mine(static_cast<std::int64_t>(*entries));
    if (mine.first >= mine.last) return;
    const auto count = static_cast<std::int64_t>(*runs.count);
    std::int64_t run = 0;  // the last one that begins at or before the chunk's first entry
    for (std::int64_t end = count; end - run > 1;) {
        const std::int64_t middle = (run + end) / 2;
        if (static_cast<std::int64_t>(places[middle]) <= mine.first) run = middle;
        else end = middle;
    }
    for (std::int64_t i = mine.first; i < mine.last; i += cuda::warp) {
        const std::int64_t at = run + lane_of_thread(), entry = i + lane_of_thread();
        const bool has = at < count;
        const std::int64_t place = has ? static_cast<std::int64_t>(places[at]) : INT64_MAX;
        const std::int64_t first = has ? static_cast<std::int64_t>(runs.first[runs.number[at]]) : 0;
        int of = 0;
        for (int by = cuda::warp / 2; by > 0; by /= 2)
            if (__shfl_sync(cuda::every_lane, place, of + by) <= entry) of += by;
        const std::int64_t cell =
            __shfl_sync(cuda::every_lane, first, of) + entry - __shfl_sync(cuda::every_lane, place, of);
        if (entry < mine.last) to.put(entry, cell);
        run += __shfl_sync(cuda::every_lane, of, cuda::warp - 1);
        if (run + 1 < count && static_cast<std::int64_t>(places[run + 1]) <= i + cuda::warp) ++run;
    }
}

template <class Number>
void fill(const device& on, const any_input<device>& labels, std::int64_t rows, const any_output<device>& entries,
          list_of what) {
    labels32 dense(labels, rows, true);
    const std::int64_t cells = dense.at.cells(), most = std::min(cells, entries.shape[0]);
    if (cells == 0 || most == 0) return;
    cuda::workspace memory(on);
    const auto copy = memory.reserve<std::uint32_t>(dense.copied ? cells : 0);
    const auto row = memory.reserve<std::uint32_t>(most), other_row = memory.reserve<std::uint32_t>(most);
    const auto number = memory.reserve<Number>(most), other_number = memory.reserve<Number>(most),
               first = memory.reserve<Number>(most), end = memory.reserve<Number>(most);
    const auto sums = memory.reserve<word>(chunks + 1), lengths = memory.reserve<word>(chunks + 1),
               counts = memory.reserve<word>(cuda::digits * cuda::most_sort_blocks),
               of_digit = memory.reserve<word>(cuda::digits);
    memory.allocate();
    dense.copy(on, labels, memory.get<std::uint32_t>(copy));

    const run_cells in{dense, dense.at.side[2], cells};
    word* const runs = memory.get<word>(sums);
    launch_chunks(on, cells, count_runs, in, runs);
    launch_scan(on, cells, runs, static_cast<word>(most));
    const run_lists<Number> lists{memory.get<std::uint32_t>(row), memory.get<Number>(first), memory.get<Number>(end),
                                  most};
    launch_chunks(on, cells, find_runs<Number>, in, static_cast<const word*>(runs), lists);
    cuda::sorting<Number> sort{lists.row,
                               memory.get<std::uint32_t>(other_row),
                               memory.get<Number>(number),
                               memory.get<Number>(other_number),
                               memory.get<word>(counts),
                               memory.get<word>(of_digit),
                               {runs + chunks, most}};
    const Number* const order = sort.run(on, std::bit_width(static_cast<std::uint64_t>(rows)));
    const sorted_runs<Number> sorted{order, lists.first, lists.end, runs + chunks};
    const entries_to to{entries.data, entries.stride[0], entries.stride[1], entries.shape[0],
                        entries.type == dtype::int32};
    if (what == list_of::runs) return launch_chunks(on, most, put_runs<Number>, sorted, to);
    word* const places = memory.get<word>(lengths);
    launch_chunks(on, most, sum_lengths<Number>, sorted, places);
    launch_scan(on, most, places, static_cast<word>(most));
    launch_chunks(on, most, place_runs<Number>, sorted, static_cast<const word*>(places), sort.other_numbers);
    launch_chunks(on, most, put_cells<Number>, sorted, static_cast<const Number*>(sort.other_numbers),
                  static_cast<const word*>(places + chunks), to);
}

}  // namespace

void count_lists(const device& on, const any_input<device>& labels, const any_output<device>& offsets, list_of what) {
    const cuda::device_guard guard(on);
    const std::int64_t rows = offsets.shape[0] - 1;
    labels32 in(labels, rows);
    cuda::workspace memory(on);
    const auto copy = memory.reserve<std::uint32_t>(in.copied ? in.at.cells() : 0);
    const auto counts = memory.reserve<word>(rows), sums = memory.reserve<word>(chunks + 1);
    memory.allocate();
    in.copy(on, labels, memory.get<std::uint32_t>(copy));
    word *const of_row = memory.get<word>(counts), *const of_chunk = memory.get<word>(sums);
    if (what == list_of::cells) launch_shapes<tally::cells>(on, in, labels.rank, rows, of_row);
    else launch_shapes<tally::runs>(on, in, labels.rank, rows, of_row);
    launch_chunks(on, rows, sum_chunks, static_cast<const word*>(of_row), rows, of_chunk);
    launch_scan(on, rows, of_chunk);
    launch_chunks(on, rows, put_offsets, static_cast<const word*>(of_row), rows, static_cast<const word*>(of_chunk),
                  static_cast<std::int64_t*>(offsets.data), offsets.stride[0]);
}

void fill_lists(const device& on, const any_input<device>& labels, const any_input<device>& offsets,
                const any_output<device>& entries, list_of what) {
    const cuda::device_guard guard(on);
    const std::int64_t rows = offsets.shape[0] - 1;
    if (labels.cells() < no_row) fill<std::uint32_t>(on, labels, rows, entries, what);
    else fill<word>(on, labels, rows, entries, what);
}

}  // namespace nearfield::components
