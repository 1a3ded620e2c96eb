// The launches of a call that tiles serve.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "label/gpu/after.hpp"
#include "label/gpu/tiles/border.cuh"
#include "label/gpu/tiles/filter.cuh"

namespace nearfield::labelling {

/// True if the numbers of the tiles' nodes and bundles fit, and most of the tiles' area is used: lines and narrow
/// images fill only a row or two of a tile.
template <class Tiling>
bool fits_tiles(const narrow_lattice& g) {
    constexpr std::int64_t few = 1 << 16;
    std::int64_t tiles = g.images;
    for (int axis = 0; axis < 3; ++axis) tiles *= tile_place<Tiling>::across(g, axis);
    if (tiles * Tiling::nodes > std::int64_t{1} << 32 || tiles * Tiling::threads > std::int64_t{1}
                                                                                       << (32 - link_list::rank_bits))
        return false;
    return tiles * Tiling::row_words <= std::max(few, std::int64_t{8} * g.all_words());
}

/// Calls step(tiling) with the tiling for values, in which each cell may be a node.
template <class Step>
auto with_valued_tiling(const device_call<narrow_id>& call, const Step& step) {
    const int rank = call.p.rank, changes = call.p.changes;
    constexpr int slots = word_cells;
    if (rank < 3 && changes == 1) return step(tiling<bundle<1, 1>, 4, 4, 32, 1, slots>{});
    if (rank < 3) return step(tiling<bundle<1, 1>, 8, 4, 32, 1, slots>{});
    if (changes == 1) return step(tiling<bundle<1, 1>, 1, 2, 8, 8, slots>{});
    if (changes == 2) return step(tiling<bundle<1, 1>, 2, 2, 8, 8, slots>{});
    return step(tiling<bundle<1, 1>, 3, 2, 8, 8, slots>{});
}

template <class Tiling>
class tile_run {
public:
    explicit tile_run(const device_call<narrow_id>& call)
        : call_(call), g_(call.grid), tiles_(tile_place<Tiling>::all(g_)), words_(g_.all_words()), memory_(call.on) {}

    /// Solves the call. find(this) launches the kernels that make the tiles' parts and unite those that touch.
    template <class Find>
    void solve(const Find& find) {
        reserve();
        find(*this);
        start(settle_parts<Tiling>, Tiling::threads, store_, firsts_, split_);
        cuda::launch_overlapped(call_.on, count_firsts, cuda::blocks_for(words_, number_block), number_threads, 0,
                                words_, static_cast<const word*>(firsts_), before_, states_, words_ / g_.images,
                                std::int64_t{g_.images}, base_,
                                call_.p.filtered() ? rows_to_clear{} : rows_to_clear{split_, sums_, rows_, row_words_});
        std::optional<component_choice> choice;
        if (call_.p.filtered()) filter(choice.emplace(call_.on, call_.p, base_));
        call_.check_label(base_);
        const any_output<device>& label = call_.out.label;
        // The device writes labels while the host waits for the number of rows.
        const bool together = call_.out.tables.any() && tiles_measure(!Tiling::valued, call_.out.tables);
        if (label.wanted() && !together) write(label);
        put_counts(call_.on, g_.images, base_, call_.out.count);
        const component_tables<device> tables = tables_of(call_.on, call_.p, call_.image, call_.out, base_);
        if (together) measure_as_wished(tables, label);
        else if (tables.any() && tiles_measure(!Tiling::valued, tables)) measure_as_wished(tables, {});
        else if (tables.any()) measure_written(tables);
    }

    template <class... Parameters, class... Arguments>
    void start(void (*kernel)(narrow_lattice, Parameters...), int threads, const Arguments&... arguments) {
        cuda::launch_overlapped(call_.on, kernel, tiles_, threads, 0, g_, arguments...);
    }
    [[nodiscard]] const tile_store& store() const { return store_; }
    /// Words for a bit a cell; free between the tiles' first kernel and settle_parts.
    [[nodiscard]] word* spare_words() const { return firsts_; }
    [[nodiscard]] fresh_words fresh() const { return {states_, state_count_, split_, split_words()}; }

private:
    void write(const any_output<device>& label) {
        call_.with_label(label, [&]<class Label, class Quads>(const label_target<Label>& to, Quads) {
            start(write_tiles<Tiling, Quads::value, Label>, Tiling::threads, store_, numbers(),
                  static_cast<const std::int64_t*>(base_), to);
        });
    }
    /// Rounded up to groups of number_words, as kernels read them.
    [[nodiscard]] std::int64_t split_words() const { return cuda::blocks_for(words_, number_words) * number_words; }
    [[nodiscard]] component_numbers numbers() const { return {firsts_, before_, kept_}; }

    /// Filters components by the tiles' nodes; from here on components have the numbers of those that stay.
    void filter(component_choice& choice) {
        open_axes open{};
        for (int axis = 3 - call_.p.rank; axis < 3; ++axis) open.of[axis] = !g_.wraps[axis];
        start(tally_parts<Tiling>, Tiling::threads, store_, numbers(), open, choice.tallies());
        choice.choose();
        choice.replace_base();
        kept_ = choice.tallies().cells;
    }

    void measure_as_wished(const component_tables<device>& tables, const any_output<device>& label) {
        const auto columns = statistics::columns::of(tables);
        const bool values = columns.want_range() || columns.want_sums();
        if constexpr (!Tiling::valued) {
            if (values && size_of(tables.intensity.type) == 1)
                return measure<tile_wish<true, std::uint8_t>>(tables, label);
            if (values) return measure<tile_wish<true, std::uint16_t>>(tables, label);
            if (columns.faces.wanted()) return measure<tile_wish<true>>(tables, label);
        }
        measure<tile_wish<false>>(tables, label);
    }
    /// Makes the tables from the tiles' nodes, and writes `label` too, if it is wanted.
    template <class Wish>
    void measure(const component_tables<device>& tables, const any_output<device>& label) {
        const auto columns = statistics::columns::of(tables);
        if (columns.rows() == 0) {
            if (label.wanted()) write(label);
            return;
        }
        cuda::workspace memory(call_.on);
        const bool late = sums_ == nullptr;  // the number of rows was unknown before
        const int row_words = row_words_of(columns);
        const std::int64_t sums = memory.reserve<state>(late ? columns.rows() * row_words : 0);
        memory.allocate();
        table_target to{columns,
                        columns.rows(),
                        call_.p.rank,
                        row_words,
                        uses_vectors(columns),
                        late ? memory.get<state>(sums) : sums_,
                        split_,
                        {}};
        if (Wish::values) to.values = values_of(tables.intensity);
        const std::int64_t blocks = cuda::blocks_for(cuda::blocks_for(words_, number_words), row_threads);
        if (late || call_.p.filtered())
            cuda::launch_overlapped(call_.on, open_split_rows, blocks, row_threads, 0, words_, numbers(), to);
        write_and_measure<Wish>(label, to);
        cuda::launch_overlapped(call_.on, close_split_rows<Wish>, blocks, row_threads, 0, words_, g_, numbers(), to);
    }
    /// Writes labels and tables, in one launch if labels are of the usual kind.
    template <class Wish>
    void write_and_measure(const any_output<device>& label, const table_target& to) {
        bool written = false;
        if constexpr (!Tiling::valued && !Wish::values)
            if (label.wanted())
                call_.with_label(label, [&]<class Label, class Quads>(const label_target<Label>& at, Quads) {
                    if constexpr (Quads::value && std::is_same_v<Label, std::uint32_t>) {
                        cuda::launch_overlapped(call_.on, write_and_measure_tiles<Tiling, Wish>,
                                                (one_block_does_both<Tiling> ? 1 : 2) * tiles_, Tiling::threads, 0, g_,
                                                store_, numbers(), static_cast<const std::int64_t*>(base_), at, to);
                        written = true;
                    }
                });
        if (written) return;
        if (label.wanted()) write(label);
        start(measure_tiles<Tiling, Wish>, Tiling::threads, store_, numbers(), to);
    }
    /// Returns the words of a row's sums; an even number, so that they are cleared two at a time.
    [[nodiscard]] int row_words_of(const statistics::columns& of) const {
        const bool values = of.want_range() || of.want_sums();
        const int more = values ? tile_wish<true, std::uint8_t>::words : of.faces.wanted() ? tile_wish<true>::words : 0;
        return (table_target::shape_words(call_.p.rank) + more + 1) / 2 * 2;
    }
    [[nodiscard]] bool uses_vectors(const statistics::columns& to) const {
        const auto even = [](const statistics::column& c) {
            return reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
        };
        const statistics::column &box = to.box, &centroid = to.centroid;
        return call_.p.rank == 2 && !g_.is_periodic() && even(box) && even(centroid) &&
               (box.rows == 0 || (box.step == 4 && box.inner[0] == 2 && box.inner[1] == 1)) &&
               (centroid.rows == 0 || (centroid.step == 2 && centroid.inner[0] == 1));
    }
    [[nodiscard]] value_source values_of(const any_input<device>& image) const {
        value_source from{image.data, call_.strides_of(image)};
        if (image.type == dtype::int8) from.flip = 0x80;
        if (image.type == dtype::int16) from.flip = 0x8000;
        const strides& at = from.at;
        from.quads = at.along[2] == 1 && g_.size[2] % 4 == 0 && at.along[0] % 4 == 0 && at.along[1] % 4 == 0 &&
                     reinterpret_cast<std::uintptr_t>(image.data) % 4 == 0;
        for (int axis = 0; axis < at.batch_axes; ++axis) from.quads = from.quads && at.image_stride[axis] % 4 == 0;
        return from;
    }
    /// Makes the tables from labels, which are written once more if the call's own array is not suitable.
    void measure_written(const component_tables<device>& tables) {
        const problem& p = call_.p;
        any_output<device> label = call_.out.label;
        const bool serves = serves_tables(label);
        cuda::workspace memory(call_.on);
        const std::int64_t at = memory.reserve<std::uint32_t>(serves ? 0 : p.cells * p.images);
        memory.allocate();
        if (!serves) {
            const std::span shape(call_.image.shape.data(), static_cast<std::size_t>(p.batch_axes + p.rank));
            label = any_output<device>::contiguous(memory.get<std::uint32_t>(at), dtype::uint32, shape);
            write(label);
        }
        measure_labels(call_.on, p, tables, {label.data, dtype::uint32, base_});
    }
    void reserve() {
        const std::int64_t groups = cuda::blocks_for(words_, number_words);
        state_count_ = 1 + cuda::blocks_for(words_, number_block);
        const std::int64_t cells = memory_.reserve<word>(tiles_ * Tiling::row_words);
        const std::int64_t starts = memory_.reserve<word>(Tiling::valued ? tiles_ * Tiling::threads : 0);
        const std::int64_t before = memory_.reserve<std::uint16_t>(tiles_ * Tiling::threads);
        const std::int64_t node_part = memory_.reserve<std::uint16_t>(tiles_ * Tiling::nodes);
        const std::int64_t parts = memory_.reserve<part>(tiles_ * Tiling::nodes);
        const std::int64_t counts = memory_.reserve<std::uint32_t>(tiles_);
        const component_tables<device>& tables = call_.out.tables;
        const bool known = tables.any() && tiles_measure(!Tiling::valued, tables);
        const bool marks = call_.out.make_tables || known;
        if (known) {
            const auto columns = statistics::columns::of(tables);
            rows_ = columns.rows(), row_words_ = row_words_of(columns);
        }
        const std::int64_t firsts = memory_.reserve<word>(groups * number_words);
        const std::int64_t split = memory_.reserve<word>(marks ? split_words() : 0);
        const std::int64_t before_groups = memory_.reserve<std::uint32_t>(groups);
        const std::int64_t sums = memory_.reserve<state>(rows_ * row_words_);
        const std::int64_t states = memory_.reserve<state>(state_count_);
        const std::int64_t base = memory_.reserve<std::int64_t>(g_.images + 1);
        memory_.allocate();
        store_ = {memory_.get<word>(cells),           Tiling::valued ? memory_.get<word>(starts) : nullptr,
                  memory_.get<std::uint16_t>(before), memory_.get<std::uint16_t>(node_part),
                  memory_.get<part>(parts),           memory_.get<std::uint32_t>(counts)};
        split_ = marks ? memory_.get<word>(split) : nullptr;
        firsts_ = memory_.get<word>(firsts), before_ = memory_.get<std::uint32_t>(before_groups);
        sums_ = known ? memory_.get<state>(sums) : nullptr;
        states_ = memory_.get<state>(states),
        base_ = call_.base != nullptr ? call_.base : memory_.get<std::int64_t>(base);
    }

    const device_call<narrow_id>& call_;
    const narrow_lattice& g_;
    std::int64_t tiles_, words_;
    cuda::workspace memory_;
    tile_store store_{};
    word* firsts_ = nullptr;  ///< a bit for the first cell of each component
    word* split_ = nullptr;   ///< the same for components with parts in several tiles; null: not needed
    std::uint32_t* before_ = nullptr;
    const state* kept_ = nullptr;
    state* states_ = nullptr;
    std::int64_t state_count_ = 0;
    state* sums_ = nullptr;  ///< sums of the rows of split components; null: rows are not known yet
    std::int64_t rows_ = 0;
    int row_words_ = 0;
    std::int64_t* base_ = nullptr;
};

}  // namespace nearfield::labelling
