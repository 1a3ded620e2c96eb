// Geodesic distances on a device: tiles in shared memory, from a queue without rounds. Keys only fall, and end where
// the local equation holds everywhere, so that the order of work does not show.
//
// Two blocks may have one tile at the same time. Still no improvement is lost. A block first says that the tile no
// longer waits, and then reads it; another one first writes what it improved, and then asks whether a neighbour waits.
// A block leaves its tile with no step inside that would improve a cell over what it read, and writes all it found. So
// whichever block was the last to lower a cell has offered all steps from there, in this tile and to others.
#include <cstring>

#include "base/cuda_together.cuh"
#include "geodesic/cuda_answer.cuh"
#include "geodesic/cuda_steps.cuh"
#include "geodesic/cuda_tiles.cuh"

namespace nearfield::geodesics {
namespace {

constexpr int threads_of_tile = (1 << device_tile_bits) / chunk;

/// A price for the cell; 0: it cannot be entered.
__device__ std::uint32_t cost_at(const cell_array& a, std::int64_t i) {
    std::int64_t c = 0;
    switch (a.type) {
        case dtype::int8: c = static_cast<const std::int8_t*>(a.data)[i]; break;
        case dtype::int16: c = static_cast<const std::int16_t*>(a.data)[i]; break;
        case dtype::uint16: c = static_cast<const std::uint16_t*>(a.data)[i]; break;
        case dtype::int32: c = static_cast<const std::int32_t*>(a.data)[i]; break;
        case dtype::uint32: c = static_cast<const std::uint32_t*>(a.data)[i]; break;
        default: c = static_cast<const std::uint8_t*>(a.data)[i];
    }
    return c > 0 ? static_cast<std::uint32_t>(c) : 0;
}

/// The number of a cell in the order of ties.
template <int Axes>
__device__ std::uint64_t number_of(const device_tiling<Axes>& t, const std::int64_t* at) {
    std::uint64_t number = 0;
    for (int axis = Axes - 1; axis >= 0; --axis)
        if (axis >= t.batch)
            number = number * static_cast<std::uint64_t>(t.size[axis]) + static_cast<std::uint64_t>(at[axis]);
    return number;
}

/// Keys at the start. A thread a cell.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) plant(const __grid_constant__ work<Word, Axes> w) {
    const std::int64_t i = own_item(), tile = i >> w.where.tile_bits;
    if (tile >= w.where.tiles) return;
    std::int64_t at[Axes];
    std::uint32_t cost = 0;
    if (w.where.locate(tile, static_cast<int>(i & (w.where.cells_of_tile() - 1)), at) &&
        !w.mask.is_zero(w.mask.template at<Axes>(at)))
        cost = w.given_cost.data == nullptr ? 1 : cost_at(w.given_cost, w.given_cost.template at<Axes>(at));
    if (w.cost != nullptr) w.cost[i] = cost;
    const bool seed = cost != 0 && !w.seeds.is_zero(w.seeds.template at<Axes>(at));
    Word key = cost == 0 ? 0 : work<Word, Axes>::far;
    if (seed) key = static_cast<Word>(w.seed_bits == 0 ? 1 : number_of(w.where, at) + 1);
    w.key[i] = key;
    if (seed) wake(w.queue, tile);
}

/// The same for numbers of seeds, where costs are known.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block)
    plant_numbers(const __grid_constant__ work<Word, Axes> w, std::uint64_t limit) {
    const std::int64_t i = own_item(), tile = i >> w.where.tile_bits;
    if (tile >= w.where.tiles) return;
    std::int64_t at[Axes];
    w.where.locate(tile, static_cast<int>(i & (w.where.cells_of_tile() - 1)), at);
    const std::uint64_t total = w.total[i];
    Word key = total == 0 || total > limit ? 0 : work<Word, Axes>::far;
    if (total == 1) key = static_cast<Word>(number_of(w.where, at) + 1);
    w.key[i] = key;
    if (total == 1) wake(w.queue, tile);
}

/// Lists by which steps cells leave their tile. A thread a cell and step.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) list_crossings(const __grid_constant__ work<Word, Axes> w) {
    const std::int64_t i = own_item(), step = i >> w.where.tile_bits;
    const int local = static_cast<int>(i & (w.where.cells_of_tile() - 1)),
              lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const bool leaves = step < w.step_count && w.where.leaves(local, w.steps[step].by);
    const unsigned all = __ballot_sync(cuda::every_lane, leaves ? 1 : 0);
    if (all == 0) return;
    std::uint32_t first = 0;
    if (lane == 0) first = atomicAdd(w.queue.crossings, static_cast<std::uint32_t>(__popc(all)));
    first = __shfl_sync(cuda::every_lane, first, 0);
    if (leaves)
        w.crossing[first + static_cast<std::uint32_t>(__popc(all & ((1U << lane) - 1)))] =
            static_cast<std::uint32_t>(step << device_tile_bits) | static_cast<std::uint32_t>(local);
}

/// Closes a tile under all steps that stay inside. Threads meet.
template <pricing Pricing, class Word, int Axes>
__device__ void settle(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m) {
    const int turns = w.family_count + (w.sweep_count > 0 ? 1 : 0);
    int turn = 0;
    for (int quiet = 0; quiet < turns; turn = turn + 1 == turns ? 0 : turn + 1) {
        const bool lines = turn < w.family_count;
        const bool better = lines ? close_lines(w, w.families[turn], m) : sweep(w, m);
        if (__syncthreads_or(better ? 1 : 0) == 0) ++quiet;
        else quiet = lines ? 1 : 0;  // lines are closed at once
    }
}

template <pricing Pricing, class Word, int Axes>
__device__ bool is_seed(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, int local) {
    if constexpr (Pricing == pricing::tight) return m.total[padded(local)] == 1;
    const Word key = m.key[padded(local)];
    return key != 0 && (key - 1) >> w.seed_bits == 0;
}

/// Reads a tile, settles it, writes what improved and wakes tiles that it improves.
template <pricing Pricing, class Word, int Axes>
__device__ void visit(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, std::int64_t tile,
                      std::uint32_t* changed) {
    const int cells = w.where.cells_of_tile();
    const std::int64_t first = tile << w.where.tile_bits;
    for (int i = static_cast<int>(threadIdx.x); i < cells; i += static_cast<int>(blockDim.x)) {
        m.key[padded(i)] = fresh(w.key + first + i);
        const cell_value v = value_at<Pricing>(w, first + i);
        if constexpr (Pricing != pricing::plain) m.cost[padded(i)] = v.cost;
        if constexpr (Pricing == pricing::tight) m.total[padded(i)] = v.total;
    }
    __syncthreads();
    take_offers(w, m, tile);
    __syncthreads();
    settle(w, m);
    for (int i = static_cast<int>(threadIdx.x); i < (cells + cuda::warp - 1) / cuda::warp * cuda::warp;
         i += static_cast<int>(blockDim.x)) {
        bool better = false;
        if (i < cells) {
            const Word own = m.key[padded(i)];
            better = own < fresh(w.key + first + i);
            if (better) lower(w.key + first + i, own);
            better = better || is_seed(w, m, i);  // which nobody improves
        }
        const unsigned all = __ballot_sync(cuda::every_lane, better ? 1 : 0);
        if (i % cuda::warp == 0) changed[i / cuda::warp] = all;
    }
    __threadfence();
    __syncthreads();
    make_offers(w, m, tile, changed);
    __syncthreads();
}

template <pricing Pricing, class Word, int Axes>
__global__ void __launch_bounds__(threads_of_tile) relax(const __grid_constant__ work<Word, Axes> w) {
    extern __shared__ std::uint64_t memory[];
    __shared__ std::uint32_t changed[(1 << device_tile_bits) / cuda::warp];
    __shared__ std::int64_t taken;
    const tile_memory<Pricing, Word> m(memory);
    for (;;) {
        if (threadIdx.x == 0) {
            taken = take(w.queue);
            if (taken >= 0) atomicExch(w.queue.queued + taken, 0U);
            __threadfence();
        }
        __syncthreads();
        const std::int64_t tile = taken;
        if (tile < 0) return;
        visit(w, m, tile, changed);
        if (threadIdx.x == 0) atomicAdd(w.queue.pending, ~0U);
    }
}

// ---- a call ---------------------------------------------------------------------------------------------------------

/// Bytes that travel as a kernel's parameter, so that a graph that is replayed later has them too.
struct letter {
    static constexpr int most = 3072;
    unsigned char bytes[most];
    int count;
};
__global__ void __launch_bounds__(threads_of_block) deliver(const __grid_constant__ letter from, unsigned char* to) {
    for (int i = static_cast<int>(threadIdx.x); i < from.count; i += threads_of_block) to[i] = from.bytes[i];
}
template <class T>
void deliver_all(const device& on, const std::vector<T>& rows, T* to) {
    const auto bytes = static_cast<std::int64_t>(rows.size() * sizeof(T));
    for (std::int64_t first = 0; first < bytes; first += letter::most) {
        letter part{};
        part.count = static_cast<int>(std::min<std::int64_t>(letter::most, bytes - first));
        std::memcpy(part.bytes, reinterpret_cast<const unsigned char*>(rows.data()) + first,
                    static_cast<std::size_t>(part.count));
        cuda::launch(on, deliver, 1, dim3(threads_of_block), 0, part, reinterpret_cast<unsigned char*>(to) + first);
    }
}

template <int Axes>
class call {
public:
    call(const device& on, const problem_of<device>& p)
        : on_(on), current_(on), p_(p), memory_(on), steps_(p), skipped_(Axes - p.where.axes) {
        constexpr std::uint64_t wide = std::uint64_t{1} << 63;
        bits_ = p.wants_seeds() ? std::bit_width(p.image_cells()) : 0;
        most_ = dearest_path() + 1;
        apart_ = most_ >= (wide >> bits_) - 1;
        if (apart_) bits_ = 0;
        reserve();
    }

    void run() {
        if constexpr (Axes == few_axes) {
            const bool narrow = bits_ == 0 && !apart_ && most_ < (std::uint64_t{1} << 31) - 1;
            if (narrow && !p_.cost.wanted()) return solve<std::uint32_t, pricing::plain>();
            if (!apart_ && !p_.cost.wanted()) return solve<std::uint64_t, pricing::plain>();
        }
        solve<std::uint64_t, pricing::image>();
    }

private:
    /// No key of a tile whose neighbours offer nothing beyond max_cost is larger.
    [[nodiscard]] uint128 dearest_path() const {
        std::uint64_t step = 1;
        for (const geodesics::step& s : p_.steps) step = std::max<std::uint64_t>(step, s.price);
        if (p_.cost.wanted()) {
            const dtype type = p_.cost.type;
            const int bits = size_of(type) == 4 ? 31 : 8 * static_cast<int>(size_of(type));
            const uint128 dearest = static_cast<uint128>(step << (p_.both ? 1 : 0)) << bits;
            step = std::min<std::uint64_t>(0x7fffffff,
                                           dearest >> 31 != 0 ? 0x7fffffff : static_cast<std::uint64_t>(dearest));
        }
        const uint128 of_tile = static_cast<uint128>(step) << (device_tile_bits + 1);
        return std::min<uint128>(static_cast<uint128>(step) * p_.image_cells(), p_.most) + of_tile;
    }

    void reserve() {
        const device_tiling<Axes> t(p_.where);
        cells_ = t.tiles << t.tile_bits;
        ring_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(t.tiles + 1)));
        if (ring_ >= std::int64_t{1} << 32)
            throw error(error_code::unsupported,
                        "device: mask has too many cells for geodesic on a device; use host{}");
        key_ = memory_.reserve<std::uint64_t>(cells_);
        if (p_.cost.wanted()) cost_ = memory_.reserve<std::uint32_t>(cells_);
        control_ = memory_.reserve<std::uint32_t>(controls + ring_ + t.tiles);
        step_ = memory_.reserve<device_step>(std::ssize(steps_.rows));
        between_at_ = memory_.reserve<device_between>(std::ssize(steps_.between));
        crossing_ = memory_.reserve<std::uint32_t>(steps_.crossings(t));
        if (apart_) numbers_ = memory_.reserve<std::uint64_t>(cells_);
        memory_.allocate();
        clear(controls + ring_ + t.tiles);
        deliver_all(on_, steps_.rows, memory_.get<device_step>(step_));
        deliver_all(on_, steps_.between, memory_.get<device_between>(between_at_));
    }
    void clear(std::int64_t words) const {
        cuda::check(cudaMemsetAsync(memory_.get<std::uint32_t>(control_), 0, static_cast<std::size_t>(4 * words),
                                    cuda::stream_of(on_)),
                    "clearing");
    }

    template <class Word>
    work<Word, Axes> start() const {
        work<Word, Axes> w(p_.where);
        w.key = memory_.get<Word>(key_), w.cost = p_.cost.wanted() ? memory_.get<std::uint32_t>(cost_) : nullptr;
        auto* const control = memory_.get<std::uint32_t>(control_);
        w.queue = {control + controls, control + controls + ring_,           control, control + 1, control + 2,
                   control + 3,        static_cast<std::uint32_t>(ring_ - 1)};
        w.steps = memory_.get<device_step>(step_), w.between = memory_.get<device_between>(between_at_);
        w.crossing = memory_.get<std::uint32_t>(crossing_);
        std::copy(steps_.families.begin(), steps_.families.end(), w.families);
        w.family_count = static_cast<int>(steps_.families.size()), w.sweep_count = steps_.sweeps;
        w.step_count = static_cast<int>(steps_.rows.size()), w.seed_bits = bits_, w.both = p_.both && p_.cost.wanted();
        const Word most = work<Word, Axes>::far - 1;
        w.limit = p_.most >= std::uint64_t{most >> bits_} - 1 ? most : static_cast<Word>((p_.most + 1) << bits_);
        w.mask = array_of(p_.mask, 0), w.seeds = array_of(p_.seeds, 0), w.given_cost = array_of(p_.cost, 0);
        return w;
    }

    template <class Word, pricing Pricing>
    void solve() {
        const work<Word, Axes> w = start<Word>();
        cuda::launch(on_, list_crossings<Word, Axes>,
                     cuda::blocks_for(static_cast<std::int64_t>(w.step_count) << w.where.tile_bits, threads_of_block),
                     dim3(threads_of_block), 0, w);
        each(plant<Word, Axes>, w);
        spread<Pricing>(w);
        answer a = answers();
        if constexpr (Pricing == pricing::image) {
            if (apart_) a.numbers = spread_numbers(w);
        }
        cuda::launch(on_, write_answer<Word, Axes>, cuda::blocks_for(a.cells, threads_of_block), dim3(threads_of_block),
                     0, w, a);
    }
    /// Which seeds costs come from, where both do not fit a key.
    const std::uint64_t* spread_numbers(work<std::uint64_t, Axes> w) {
        const std::uint64_t limit = w.limit;
        w.total = w.key, w.key = memory_.get<std::uint64_t>(numbers_), w.limit = work<std::uint64_t, Axes>::far - 1;
        clear(controls - 1);  // not the number of crossings
        cuda::launch(on_, plant_numbers<std::uint64_t, Axes>, cuda::blocks_for(cells_, threads_of_block),
                     dim3(threads_of_block), 0, w, limit);
        spread<pricing::tight>(w);
        return w.key;
    }
    template <pricing Pricing, class Word>
    void spread(const work<Word, Axes>& w) const {
        constexpr std::size_t bytes = tile_memory<Pricing, Word>::bytes;
        const auto kernel = relax<Pricing, Word, Axes>;
        const int threads = std::max(cuda::warp, w.where.cells_of_tile() / chunk);
        if (!cuda::blocks_may_wait()) return cuda::launch(on_, kernel, 1, dim3(threads), bytes, w);
        cuda::launch_together(
            on_, kernel,
            cuda::grid{std::min(cuda::blocks_at_once(kernel, threads, bytes), w.where.tiles), dim3(threads), bytes}, w);
    }
    template <class Word>
    void each(void (*kernel)(work<Word, Axes>), const work<Word, Axes>& w) const {
        cuda::launch(on_, kernel, cuda::blocks_for(cells_, threads_of_block), dim3(threads_of_block), 0, w);
    }

    /// `more` axes stand in front of those of the grid.
    template <class View>
    cell_array array_of(const View& v, int more) const {
        cell_array made{const_cast<void*>(static_cast<const void*>(v.data)), v.type, more == 0 ? 0 : v.stride[0], {}};
        if (!v.wanted()) return {};
        for (int axis = 0; axis < p_.where.axes; ++axis)
            made.step[skipped_ + axis] =
                v.stride[static_cast<std::size_t>(p_.axis_of[static_cast<std::size_t>(axis)] + more)];
        return made;
    }
    [[nodiscard]] answer answers() const {
        answer a;
        a.cost = array_of(p_.out.cost, 0), a.index = array_of(p_.out.index, 0);
        a.coordinates = array_of(p_.out.coordinates, 1), a.label = array_of(p_.out.label, 0);
        a.components = p_.out.coordinates.wanted() ? static_cast<int>(p_.out.coordinates.shape[0]) : 0;
        std::fill_n(a.axis_of, max_rank, static_cast<std::int8_t>(-1));
        for (int axis = p_.where.batch; axis < p_.where.axes; ++axis) {
            const int component = p_.axis_of[static_cast<std::size_t>(axis)] - (p_.rank - a.components);
            if (component >= 0) a.axis_of[component] = static_cast<std::int8_t>(axis + skipped_);
        }
        a.unit = p_.unit, a.most = p_.most, a.cells = p_.mask.cells();
        return a;
    }

    static constexpr std::int64_t controls = 4;
    const device& on_;
    cuda::device_guard current_;
    const problem_of<device>& p_;
    cuda::workspace memory_;
    sorted_steps<Axes> steps_;
    int skipped_, bits_ = 0;  ///< bits_: of a seed's number in a key
    uint128 most_ = 0;
    bool apart_ = false;  ///< costs and seeds do not fit a key: seeds are spread afterwards
    std::int64_t cells_ = 0, ring_ = 0;
    std::int64_t key_ = 0, cost_ = 0, control_ = 0, step_ = 0, between_at_ = 0, crossing_ = 0, numbers_ = 0;
};

}  // namespace

void run(const device& on, const problem_of<device>& p) {
    if (p.where.axes <= few_axes) call<few_axes>(on, p).run();
    else call<max_rank>(on, p).run();
}

}  // namespace nearfield::geodesics
