// A call on a device: its memory, and its kernels in order. Nothing waits for the host: kernels read from device memory
// any count that only the device knows, such as the number of basins.
#pragma once

#include "base/cuda_scan.cuh"
#include "base/cuda_together.cuh"
#include "watershed/cuda_basins.cuh"
#include "watershed/cuda_cells.cuh"
#include "watershed/cuda_edges.cuh"
#include "watershed/cuda_ranks.cuh"
#include "watershed/listed.hpp"

namespace nearfield::watersheds {

class call {
public:
    call(const device& on, const problem& p)
        : on_(on), current_(on), memory_(on), w_(), ranks_(memory_, items_to_rank(p)) {
        w_.where = grid_of(p);
        const int axes = p.where.axes;
        w_.image = {p.image, axes}, w_.mask = {p.mask, axes};
        w_.seed = {p.seed, axes}, w_.parts = {p.parts, axes};
        take(p);
        reserve();
    }
    /// Takes the options, markers and outputs of a problem.
    void take(const problem& p) {
        const int axes = p.where.axes;
        w_.markers = {p.markers, axes}, w_.extrema = {p.extrema, axes};
        w_.label = {p.label, axes}, w_.passes = {p.passes, axes};
        w_.least = p.least, w_.maxima = p.maxima, w_.lines = p.lines;
        w_.heights = p.markers.data == nullptr && p.seed.data == nullptr;
    }

    void run() {
        merge_basins();
        if (w_.extrema.data != nullptr) each_quad(write_extrema);
        finish();
    }
    /// Finds basins and the passes between those that touch.
    void find_passes() {
        const std::int64_t rows = (w_.where.places - 2 * w_.where.base) / w_.where.row_pitch,
                           of_frame = std::max<std::int64_t>(w_.where.base, cuda::warp / rows_of_warp * rows);
        with_number(w_.image.type, [&]<class Value>(Value) {
            cuda::launch_overlapped(on_, read_keys<Value>,
                                    w_.where.quad_blocks + cuda::blocks_for(of_frame, threads_of_block),
                                    dim3(threads_of_block), 0, w_);
            if constexpr (sizeof(Value) == 8) ranks_.run(on_, w_);
            with_neighbours([&]<nearby Which>() { each_tile(descend<Which>); });
            each_tile(find_basins<Value>);
            if (w_.last != nullptr) each_basin(find_last<Value>);
        });
        list_edges(w_);
    }
    /// Merges all basins that connect; it overwrites their lowest cells.
    void merge_without_root() {
        each_basin(clear_tops);
        with_number(w_.image.type, [&]<class Value>(Value) { together(merge<Value>, w_); });
    }
    /// Merges basins along the edges of a list, those with markers or high enough minima with the root.
    void merge_with_root(const work& w) const {
        with_number(w_.image.type, [&]<class Value>(Value) { together(merge<Value>, w); });
        each_basin(find_levels);
        if (w_.heights) number();
    }
    /// Finds the lowest marker of each basin, whose cells have been found before.
    void find_markers() {
        with_number(w_.image.type, [&]<class Value>(Value) { each_tile(find_basins<Value>); });
    }
    /// Writes passes and labels, given the levels and numbers of basins.
    void finish() {
        if (w_.passes.data != nullptr)
            with_number(w_.image.type, [&]<class Value>(Value) { each_quad(write_passes<Value>); });
        if (w_.label.data == nullptr) return;
        with_neighbours([&]<nearby Which>() { each_tile(raise<Which>); });
        const auto search = [&]<nearby Which>() {
            in_turn(find_open<Which>, w_.where.places), together(count_steps<Which>, w_, walkers);
            in_turn(choose_parents<Which>, w_.where.places);
        };
        if (w_.where.any_wraps) search.template operator()<nearby::listed>();
        else with_neighbours(search);
        note_listed();
        in_turn(shorten_all, w_.where.places);
        if (!w_.lines) return each_tile(write_labels<false>);
        each_place(follow_parents);  // as cells look at their neighbours' ends
        each_tile(write_labels<true>);
    }

    std::vector<peak> peaks() {
        merge_basins();
        std::uint32_t counts[counters + 1] = {};
        cuda::fetch(on_, counts, w_.count, sizeof counts);
        if (counts[wide_labels] != 0) fail_wide_label();
        const std::uint32_t count = counts[counters];
        std::vector<peak> found(count);
        if (count == 0) return found;
        cuda::workspace list(on_);
        const std::int64_t at = list.reserve<peak>(count);
        list.allocate();
        w_.peaks = list.get<peak>(at);
        with_number(w_.image.type, [&]<class Value>(Value) { each_place(write_peaks<Value>); });
        cuda::fetch(on_, found.data(), w_.peaks, found.size() * sizeof(peak));
        return found;
    }

    [[nodiscard]] work& arrays() { return w_; }
    [[nodiscard]] const work& arrays() const { return w_; }
    /// Clears all counts and flags.
    void clear() { cuda::clear(on_, w_.count, 4 * (counters + 1 + flag_blocks() + 2 * flag_blocks() * flag_words)); }

    template <class... Parameters, class... Arguments>
    void each_place(void (*kernel)(const work, Parameters...), const work& w, const Arguments&... arguments) const {
        cuda::launch(on_, kernel, cuda::blocks_for(w.where.places, threads_of_block), dim3(threads_of_block), 0, w,
                     arguments...);
    }
    void each_place(void (*kernel)(const work)) const { each_place<>(kernel, w_); }

private:
    void note_listed() const {
        listed_cells* const sum = listed_cells::innermost;
        if (sum == nullptr) return;
        std::uint32_t found[counters] = {};
        cuda::fetch(on_, found, w_.count, sizeof found);
        sum->count += found[open_found], sum->turns += found[turns_alone];
    }
    static std::int64_t items_to_rank(const problem& p) {
        return size_of(p.image.type) < 8 ? 0 : (p.seed.data != nullptr ? 2 : 1) * p.where.places;
    }
    void merge_basins() {
        if (w_.heights) w_.last = w_.level;  // which is written later
        find_passes();
        with_number(w_.image.type, [&]<class Value>(Value) { together(merge<Value>, w_); });
        if (!w_.heights) merge_again();
        each_basin(find_levels);
        if (w_.heights) number();
    }
    /// Lists the edges of merged basins and goes on merging, if there were too many edges.
    void merge_again() const {
        work again = w_;
        again.basin = w_.steps, again.again = true;
        list_edges(again);
        with_number(w_.image.type, [&]<class Value>(Value) { together(merge<Value>, again); });
    }
    void list_edges(const work& w) const {
        with_neighbours([&]<nearby Which>() { in_order(find_edges<Which>, w.where.tiles, w); });
        if (w.where.any_wraps && w.where.steps_are != nearby::listed)
            in_order(find_edges<nearby::listed>, w.where.tiles, w);
    }
    /// Launches a kernel whose blocks take items in turn.
    void in_turn(void (*kernel)(const work), std::int64_t most) const {
        const std::int64_t blocks = cuda::blocks_for(most, threads_of_block);
        in_order(kernel, std::min(blocks, 8 * cuda::limits().multiprocessors), w_);
    }
    void each_basin(void (*kernel)(const work)) const { in_turn(kernel, w_.most_basins); }

    /// Reserves memory. Two neighbours cannot both be the lowest, so at most every second cell along the last axis is a
    /// basin. With labels in w_.parts, cells of different labels are no neighbours, and every cell may be a basin.
    void reserve() {
        const bool parted = w_.parts.data != nullptr;
        const std::int64_t places = w_.where.places, edges = places / 4 + 1024;
        const std::int64_t basins = parted ? places : places / 2 + w_.where.base + 1;
        w_.most_basins = static_cast<std::uint32_t>(basins), w_.most_edges = static_cast<std::uint32_t>(edges);
        const std::int64_t flag_count = flag_blocks() * flag_words;
        std::int64_t cells[4], of_basins[4], of_edges[3];
        for (auto& each : cells) each = memory_.reserve<std::int32_t>(places);
        // Cells are listed later in the memory that holds the basins' data until they merge.
        const std::int64_t best = memory_.reserve<std::uint64_t>(basins), top = memory_.reserve<std::uint64_t>(basins);
        for (auto& each : of_basins) each = memory_.reserve<std::int32_t>(basins);
        for (auto& each : of_edges) each = memory_.reserve<std::int32_t>(edges);
        const bool ranked = size_of(w_.image.type) == 8;
        const std::int64_t seed_keys = memory_.reserve<std::int32_t>(ranked && w_.seed.data != nullptr ? places : 0);
        const std::int64_t part = parted ? memory_.reserve<std::int32_t>(places) : 0;
        const std::int64_t words = counters + 1 + flag_blocks() + 2 * flag_count + 1;  // two words are read at once
        const std::int64_t count = memory_.reserve<std::uint32_t>(words);
        const std::int64_t way = memory_.reserve<std::uint8_t>(places);
        memory_.allocate();
        w_.way = memory_.get<std::uint8_t>(way);
        w_.key = memory_.get<std::int32_t>(cells[0]), w_.basin = memory_.get<std::int32_t>(cells[1]);
        w_.steps = memory_.get<std::int32_t>(cells[2]), w_.parent = memory_.get<std::int32_t>(cells[3]);
        w_.best = memory_.get<std::uint64_t>(best), w_.top = memory_.get<std::uint64_t>(top);
        w_.open = memory_.get<std::int32_t>(best), w_.queue = memory_.get<std::int32_t>(top);
        w_.up = memory_.get<std::int32_t>(of_basins[0]), w_.pass = memory_.get<std::int32_t>(of_basins[1]);
        w_.level = memory_.get<std::int32_t>(of_basins[2]), w_.number = memory_.get<std::int32_t>(of_basins[3]);
        w_.edge_a = memory_.get<std::int32_t>(of_edges[0]), w_.edge_b = memory_.get<std::int32_t>(of_edges[1]);
        w_.edge_pass = memory_.get<std::int32_t>(of_edges[2]);
        w_.count = memory_.get<std::uint32_t>(count);
        if (ranked) w_.value = ranks_.values(), w_.exact = ranks_.table();
        w_.seed_key = ranked && w_.seed.data != nullptr ? memory_.get<std::int32_t>(seed_keys) : nullptr;
        w_.part = parted ? memory_.get<std::int32_t>(part) : nullptr;
        w_.before = w_.count + counters + 1, w_.flags = w_.before + flag_blocks();
        w_.unmet = w_.flags + flag_count;
        clear();
    }
    [[nodiscard]] std::int64_t flag_blocks() const { return cuda::blocks_for(w_.where.places, flag_block); }

    /// Launches a kernel that waits for the one before it.
    void in_order(void (*kernel)(const work), std::int64_t blocks, const work& w) const {
        cuda::launch_overlapped(on_, kernel, blocks, dim3(threads_of_block), 0, w);
    }
    void each_tile(void (*kernel)(const work)) const { in_order(kernel, w_.where.tiles, w_); }
    void each_quad(void (*kernel)(const work)) const { in_order(kernel, w_.where.quad_blocks, w_); }
    /// Calls run<Which>() with the neighbours of the call.
    template <class Run>
    void with_neighbours(const Run& run) const {
        switch (w_.where.steps_are) {
            case nearby::sides2: return run.template operator()<nearby::sides2>();
            case nearby::corners2: return run.template operator()<nearby::corners2>();
            case nearby::sides3: return run.template operator()<nearby::sides3>();
            case nearby::corners3: return run.template operator()<nearby::corners3>();
            default: return run.template operator()<nearby::listed>();
        }
    }
    void together(void (*kernel)(const work), const work& w, unsigned threads = threads_of_block) const {
        if (!cuda::blocks_may_wait()) return cuda::launch(on_, kernel, 1, dim3(threads), 0, w);
        constexpr std::int64_t places_of_thread = 64;  // fewer blocks meet sooner
        const std::int64_t most = cuda::blocks_for(w_.where.places, places_of_thread * threads);
        const std::int64_t blocks =
            std::min({cuda::blocks_at_once(kernel, static_cast<int>(threads)), most, most_walkers});
        cuda::launch_together(on_, kernel, blocks, dim3(threads), w);
    }
    void number() const {
        cuda::launch_sums(on_, w_.before, flag_blocks(), w_.count + counters);
        cuda::launch_overlapped(on_, number_flags, flag_blocks(), dim3(cuda::warp), 0, w_);
    }

    const device& on_;
    cuda::device_guard current_;
    cuda::workspace memory_;
    work w_;
    ranking ranks_;
};

}  // namespace nearfield::watersheds
