// Thinning on a device: builds bits and lists, thins in one launch, writes the output.
#include <algorithm>
#include <limits>

#include "base/cuda_together.cuh"
#include "skeleton/cuda_lists.cuh"
#include "skeleton/cuda_thin.cuh"

namespace nearfield::skeleton {
namespace {

using wide = unsigned long long;  // operand type of 64-bit atomics

template <class Element>
byte_array bytes_of(const any_view<Element, device>& of) {
    byte_array made;
    if (!of.wanted()) return made;
    made.data = const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(of.data)), made.rank = of.rank;
    std::copy_n(of.shape.begin(), of.rank, made.size);
    std::copy_n(of.stride.begin(), of.rank, made.stride);
    made.contiguous = is_contiguous(made.size, made.stride, made.rank);
    return made;
}

template <class Index, class Squared>
class engine {
public:
    engine(const device& on, const shape_of_call& shape, const rule& by, void* squared)
        : on_(on), shape_(shape), by_(by), where_(shape), squared_(static_cast<Squared*>(squared)), memory_(on) {
        const std::int64_t cells = shape.images * shape.cells(), layers = shape.layers, turns = shape.turns();
        words_ = static_cast<std::int64_t>(where_.all_words());
        const auto states = memory_.reserve<state>(words_), counts = memory_.reserve<Index>(layers * turns),
                   counters = memory_.reserve<std::uint8_t>(counter_bytes),
                   first = memory_.reserve<Index>((layers + 1) * turns),
                   occupied = memory_.reserve<std::int32_t>(layers), found = memory_.reserve<std::int32_t>(1),
                   reached = memory_.reserve<int4>(1), list = memory_.reserve<Index>(cells);
        cleared_ = counters + counter_bytes;
        memory_.allocate();
        states_ = memory_.get<state>(states);
        counts_ = memory_.get<Index>(counts), first_ = memory_.get<Index>(first), list_ = memory_.get<Index>(list);
        counters_ = memory_.get<std::uint8_t>(counters), occupied_ = memory_.get<std::int32_t>(occupied);
        found_ = memory_.get<std::int32_t>(found), reached_ = memory_.get<int4>(reached);
    }

    void run(const any_input<device>& anchors, const any_output<device>& out) {
        cuda::clear(on_, states_, cleared_);
        const listing<Index, Squared> l{where_,         shape_.thickness, shape_.layers,
                                        shape_.turns(), squared_,         bytes_of(anchors),
                                        states_,        counts_,          list_};
        const std::int64_t blocks = blocks_of_words(where_);
        cuda::launch(on_, list_cells<false, Index, Squared>, blocks, dim3(list_threads), 0, l);
        cuda::launch(on_, place_lists<Index>, 1, dim3(cuda::sum_threads), 0, counts_, shape_.layers, shape_.turns(),
                     occupied_, first_, found_);
        cuda::launch(on_, list_cells<true, Index, Squared>, blocks, dim3(list_threads), 0, l);
        if (where_.wraps_somewhere()) thin_with<true>();
        else thin_with<false>();
        cuda::launch(on_, write_cells<Index>, blocks, dim3(list_threads), 0, where_, static_cast<const state*>(states_),
                     bytes_of(out));
    }

private:
    static constexpr std::int64_t counter_bytes = std::int64_t{kept_rounds} * most_turns * counter_step;
    static constexpr std::int64_t cells_a_block = 4096;  ///< cells per block of small calls, which launch fewer blocks

    template <bool Wraps>
    void thin_with() const {
        auto* const kernel = thin_cells<Wraps, Index>;
        const std::int64_t wanted = shape_.images * shape_.cells() / cells_a_block + 1;
        const int threads = wanted == 1 ? thin_threads / 2 : thin_threads;
        constexpr std::size_t shared_bytes = sizeof(block_memory<Index>);
        const std::int64_t most =
            std::min(cuda::blocks_at_once(kernel, threads, shared_bytes), cuda::limits().multiprocessors);
        cuda::launch_together(
            on_, kernel, cuda::grid{std::min(wanted, most), dim3(static_cast<unsigned>(threads)), shared_bytes},
            thinning_call<Index>{where_, by_, shape_.turns(),
                                 std::max(1, std::min(most_held, held_by_block<Index>) / shape_.turns()), found_,
                                 occupied_, first_, list_, counters_, states_, reached_});
    }

    const device& on_;
    const shape_of_call& shape_;
    const rule by_;
    const cell_grid<Index> where_;
    Squared* squared_;
    cuda::workspace memory_;
    std::int64_t words_ = 0, cleared_ = 0;
    state* states_ = nullptr;
    Index *counts_ = nullptr, *first_ = nullptr, *list_ = nullptr;
    std::uint8_t* counters_ = nullptr;
    std::int32_t *occupied_ = nullptr, *found_ = nullptr;
    int4* reached_ = nullptr;
};

template <class Squared>
void thin_with(const device& on, const shape_of_call& shape, const rule& by, const any_output<device>& squared,
               const any_input<device>& anchors, const any_output<device>& out) {
    const double narrow = static_cast<double>(most_narrow) - 1048576;  // minus the largest overshoot of a loop
    if (cell_grid<wide>::bits_of(shape) < narrow)
        engine<std::uint32_t, Squared>(on, shape, by, squared.data).run(anchors, out);
    else engine<wide, Squared>(on, shape, by, squared.data).run(anchors, out);
}

}  // namespace

void thin(const device& on, const shape_of_call& shape, const rule& by, const any_output<device>& squared,
          const any_input<device>& anchors, const any_output<device>& out) {
    const cuda::device_guard current(on);
    switch (squared.type) {
        case dtype::uint32: return thin_with<std::uint32_t>(on, shape, by, squared, anchors, out);
        case dtype::uint64: return thin_with<wide>(on, shape, by, squared, anchors, out);
        default: return thin_with<double>(on, shape, by, squared, anchors, out);
    }
}

}  // namespace nearfield::skeleton
