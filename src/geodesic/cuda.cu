// Geodesic distances on a device, by solvers that take turns: a queue of tiles, solved in shared memory, without
// global rounds; elimination of cells, for mazes and spirals; and leaps over tiles, for wide corridors. Keys only fall
// until the local equation holds everywhere, so the result depends neither on the order of work nor on the solver.
#include <cstddef>

#include "base/cuda_together.cuh"
#include "geodesic/cuda_answer.cuh"
#include "geodesic/cuda_flood.cuh"
#include "geodesic/cuda_front.cuh"
#include "geodesic/cuda_graph.cuh"
#include "geodesic/cuda_join.cuh"
#include "geodesic/cuda_layout.cuh"
#include "geodesic/cuda_plant.cuh"
#include "geodesic/cuda_squares.cuh"
#include "geodesic/cuda_steps.cuh"

namespace nearfield::geodesics {
namespace {

// ---- a call ---------------------------------------------------------------------------------------------------------

template <int Axes>
class call {
public:
    call(const device& on, const problem_of<device>& p)
        : on_(on), p_(p), memory_(on), steps_(p), skipped_(Axes - p.where.axes) {
        const key_layout keys(p);
        bits_ = keys.seed_bits, most_ = keys.most, apart_ = keys.apart;
        reserve();
    }

    void run() {
        if constexpr (Axes == few_axes) {
            if (is_narrow()) return solve(start<std::uint32_t>(0));
            if (may_try_narrow()) p_.cost.wanted() ? try_narrow<pricing::image>() : try_narrow<pricing::plain>();
            if (!apart_ && !p_.cost.wanted()) return solve(start<std::uint64_t>(bits_));
        }
        solve<pricing::image>(start<std::uint64_t>(bits_));
    }

private:
    /// True if keys have 32 bits.
    [[nodiscard]] bool is_narrow() const {
        return bits_ == 0 && !apart_ && !p_.cost.wanted() && most_ < (std::uint64_t{1} << 31) - 1;
    }
    /// Largest key of 32 bits that a tile may offer to others so that no key inside a tile is too large; 0 if there is
    /// none. Sums with costs saturate. Costs are tried if the dearest way along all axes fits, and all of 16 bits, as
    /// plan_path() has: they halve its time, while white noise of bytes with quasi-Euclidean prices costs too much on
    /// 4096^2, and would take two fifths more. Seeds are tried by their ranks.
    [[nodiscard]] std::uint32_t largest_tried() const {
        constexpr std::uint32_t most = work<std::uint32_t, Axes>::far - 1;
        const bool may_fit = p_.cost.type == dtype::uint16 || dearest_way(p_) < most;
        if (p_.cost.wanted()) return may_fit && bits_ == 0 ? most : 0;
        const std::uint64_t of_tile = dearest_step(p_) << (device_tile_bits + 1 + rank_bits());
        return of_tile < most / 2 ? static_cast<std::uint32_t>(most - of_tile) : 0;
    }
    [[nodiscard]] int rank_bits() const { return bits_ == 0 ? 0 : ranked_seeds::bits; }
    /// True if keys of 32 bits may suffice though the longest possible path has a larger one.
    [[nodiscard]] bool may_try_narrow() const { return Axes == few_axes && !apart_ && largest_tried() > 0; }
    /// True if a step that leaves a tile leads to the same cell of a tile beside it, whichever tile it leaves.
    [[nodiscard]] bool ends_beside() const {
        const tiling& t = p_.where;
        bool all = Axes == few_axes;
        for (int axis = 0; axis < t.axes; ++axis) {
            all = all && (!t.wraps[axis] || t.size[axis] % t.side(axis) == 0);
            for (const geodesics::step& s : p_.steps)
                all = all && std::abs(s.by[static_cast<std::size_t>(axis)]) <= t.side(axis);
        }
        return all;
    }
    [[nodiscard]] bool may_flood() const { return is_narrow() && (is_even(2) || is_even(3)); }
    /// True if tiles have equal sides along so many axes, along which all steps go for one price.
    [[nodiscard]] bool is_even(int axes) const {
        const bool* const ends = p_.where.wraps + p_.where.axes;
        return !p_.cost.wanted() && steps_.go_for_one_price(axes) && has_even_tiles(p_.where, axes) &&
               std::find(ends - axes, ends, true) == ends;
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
        if (may_flood()) boards_ = memory_.reserve<std::uint32_t>(cells_ >> 4);
        if (apart_) numbers_ = memory_.reserve<std::uint64_t>(cells_);
        if (bits_ > 0 && may_try_narrow()) numbers_ = memory_.reserve<std::uint64_t>(3 * ranked_seeds::most);
        eliminates_ = may_eliminate(), leaps_ = eliminates_ && may_leap();
        if (eliminates_) reserve_elimination();
        memory_.allocate();
        clear(controls + ring_ + t.tiles);
        deliver_all(on_, steps_.rows, memory_.get<device_step>(step_));
        deliver_all(on_, steps_.between, memory_.get<device_between>(between_at_));
    }
    void clear(std::int64_t words, std::int64_t first = 0) const {
        cuda::clear(on_, memory_.get<std::uint32_t>(control_) + first, 4 * words);
    }

    template <class Word>
    work<Word, Axes> start(int seed_bits) const {
        work<Word, Axes> w(p_.where);
        w.key = memory_.get<Word>(key_), w.cost = p_.cost.wanted() ? memory_.get<std::uint32_t>(cost_) : nullptr;
        auto* const control = memory_.get<std::uint32_t>(control_);
        w.queue = {control + controls, control + controls + ring_, reinterpret_cast<solver_counts*>(control),
                   static_cast<std::uint32_t>(ring_ - 1)};
        const bool by_sweeps = steps_.sweeps.reach > 0;
        // The search that follows another one knows that this one did not end soon.
        w.first_depth = tried_ && by_sweeps ? 1 : static_cast<std::uint32_t>(rules_.first_depth);
        w.second_depth = depth_of(rules_.second_depth * (by_sweeps ? 2 : 1));
        w.thin = by_sweeps ? rules_.thin_for_sweeps : rules_.thin, w.middling = rules_.middling;
        w.scattered = by_sweeps ? rules_.scattered_for_sweeps : rules_.scattered;
        w.rough = is_even(3) ? std::numeric_limits<std::int32_t>::min() : rules_.rough;
        w.waiting = by_sweeps ? static_cast<std::uint32_t>(rules_.waiting_for_elimination) : 0;
        w.leaps = leaps_, w.leaps_first = leaps_ && rules_.leaps_first;
        w.few = static_cast<std::uint32_t>(rules_.waiting), w.leap_depth = depth_of(rules_.leap_depth);
        if (tried_) w.waiting = w.few = ~0U, w.leap_depth = w.first_depth;
        w.steps = memory_.get<device_step>(step_), w.between = memory_.get<device_between>(between_at_);
        w.crossing = memory_.get<std::uint32_t>(crossing_);
        w.ends_beside = ends_beside();
        w.boards = may_flood() ? memory_.get<std::uint32_t>(boards_) : nullptr;
        w.step_count = static_cast<int>(steps_.rows.size()), w.seed_bits = seed_bits,
        w.both = p_.both && p_.cost.wanted();
        std::copy(steps_.families.begin(), steps_.families.end(), w.families);
        w.family_count = static_cast<int>(steps_.families.size());
        for (const family<Axes>& f : steps_.families) w.diagonal = w.diagonal || f.skewed;
        if (!steps_.sweeps.volume || (!p_.cost.wanted() && !apart_)) w.sweeps = steps_.sweeps;
        while (1 << w.step_bits < w.step_count) ++w.step_bits;
        const Word most = work<Word, Axes>::far - 1;
        w.limit =
            p_.most >= std::uint64_t{most >> seed_bits} - 1 ? most : static_cast<Word>((p_.most + 1) << seed_bits);
        w.mask = array_of(p_.mask, 0), w.seeds = array_of(p_.seeds, 0), w.given_cost = array_of(p_.cost, 0);
        return w;
    }

    template <pricing Pricing = pricing::plain, class Word>
    void solve(work<Word, Axes> w) {
        w.repeats = tried_;
        if (!tried_) list_all_crossings(w);
        each(plant<Word, Axes>, w);
        if (eliminates_) solve_by_both<Pricing>(w);
        else spread<Pricing>(w);
        answer a = answers();
        if constexpr (Pricing == pricing::image) {
            if (apart_) a.numbers = spread_numbers(w);
        }
        cuda::launch(on_, write_answer<Word, Axes>, own_cells<Axes>::blocks(w.where), dim3(threads_of_block), 0, w, a);
        if (solver_counts* const seen = watched_solver::seen(); seen != nullptr)
            read_counts(on_, memory_.get<std::uint32_t>(control_), *seen);
    }
    template <class Word>
    void list_all_crossings(const work<Word, Axes>& w) const {
        cuda::launch(on_, list_crossings<Word, Axes>,
                     cuda::blocks_for(static_cast<std::int64_t>(w.step_count) << w.where.tile_bits, threads_of_block),
                     dim3(threads_of_block), 0, w);
    }
    /// Solves by the queue with keys of 32 bits. If they do not suffice, or cells may be eliminated, the kernels of
    /// the solve() that follows solve the call again; else they do nothing.
    template <pricing Pricing>
    void try_narrow() {
        work<std::uint32_t, Axes> w = start<std::uint32_t>(rank_bits());
        w.tries = tried_ = true, w.ends = w.limit < largest_tried(), w.limit = std::min(w.limit, largest_tried());
        if (bits_ > 0) w.seeds_listed = ranked_seeds(memory_.get<std::uint64_t>(numbers_));
        list_all_crossings(w);
        each(plant<std::uint32_t, Axes>, w);
        constexpr std::int64_t blocks = (ranked_seeds::most + threads_of_block) / threads_of_block;
        if (bits_ > 0) cuda::launch(on_, rank_seeds<std::uint32_t, Axes>, blocks, dim3(threads_of_block), 0, w);
        if (eliminates_) spread_and_sample<Pricing>(w, start_elimination(w));
        else spread<Pricing>(w);
        answer a = answers();
        a.by_rank = w.seeds_listed.by_rank;
        cuda::launch(on_, write_answer<std::uint32_t, Axes>, own_cells<Axes>::blocks(w.where), dim3(threads_of_block),
                     0, w, a);
        clear_queue();
    }
    /// Makes the queue ready for another search. The list of crossings stays, and so do the counts behind it.
    void clear_queue() const {
        clear(offsetof(solver_counts, crossings) / sizeof(std::uint32_t));
        clear(ring_ + p_.where.tiles, controls);
    }
    /// Finds the seeds from which the known costs come, when cost and seed do not both fit a key.
    const std::uint64_t* spread_numbers(work<std::uint64_t, Axes> w) {
        w.total = w.key, w.key = memory_.get<std::uint64_t>(numbers_), w.limit = work<std::uint64_t, Axes>::far - 1;
        clear_queue();
        each(plant_numbers<std::uint64_t, Axes>, w);
        spread<pricing::tight>(w);
        return w.key;
    }
    template <pricing Pricing, class Word>
    void spread(const work<Word, Axes>& w) const {
        if constexpr (std::is_same_v<work<Word, Axes>, flood_work>) {
            constexpr std::int64_t of_multiprocessor = 4;
            if (w.boards != nullptr && w.from != stage::last)
                visit_tiles(is_even(3) ? flood<true> : flood<false>, flood_threads, 0, of_multiprocessor, w);
        }
        visit_tiles(relax<Pricing, Word, Axes>, threads_of_tile, tile_memory<Pricing, Word>::bytes(w.where.tile_bits),
                    w.where.tiles, w);
    }
    /// Launches a kernel that takes tiles from the queue; `most` blocks on a multiprocessor.
    template <class Kernel, class Word, class... More>
    void visit_tiles(Kernel kernel, int threads, std::size_t bytes, std::int64_t most, const work<Word, Axes>& w,
                     const More&... more) const {
        if (!cuda::blocks_may_wait()) return cuda::launch(on_, kernel, 1, dim3(threads), bytes, w, more...);
        const std::int64_t blocks = std::min(cuda::blocks_at_once(kernel, threads, bytes), w.where.tiles);
        cuda::launch_together(on_, kernel,
                              cuda::grid{std::min(blocks, most * cuda::limits().multiprocessors), dim3(threads), bytes},
                              w, more...);
    }

    // ---- elimination ----

    /// True if edges have one price both ways, steps are few enough for lists, and 1/8 of the device's memory suffices.
    [[nodiscard]] bool may_eliminate() const {
        constexpr std::int64_t most_cells = std::int64_t{1} << 27, bytes_of_cell = 74;
        constexpr int most_steps = 8;
        return Axes == few_axes && p_.where.tile_bits == device_tile_bits && (!p_.cost.wanted() || p_.both) &&
               std::ssize(steps_.rows) <= std::min(most_steps, capacity()) && cells_ >= rules_.least_cells &&
               cells_ <= most_cells && cells_ * bytes_of_cell <= memory_of_device() / 8;
    }
    [[nodiscard]] int capacity() const {
        return part_capacity<std::uint64_t>(cuda::limits().shared_bytes, rules_.most_degree);
    }
    /// True if tiles have a rim of one cell, and a step from there leads to another tile beside it.
    [[nodiscard]] bool may_leap() const {
        for (int axis = 0; axis < p_.where.axes; ++axis)
            if (p_.where.wraps[axis] && p_.where.tiles_along[axis] == 1) return false;
        return has_even_tiles(p_.where, 2) && ends_beside() && dearest_step(p_) <= dearest_leap &&
               std::all_of(p_.steps.begin(), p_.steps.end(), [&](const auto& s) {
                   return std::all_of(s.by.begin(), s.by.end(), [](int by) { return std::abs(by) <= 1; });
               });
    }
    /// Depth of `multiples` of the image's sides in tiles.
    [[nodiscard]] std::uint32_t depth_of(std::int64_t multiples) const {
        std::int64_t sides = 0;
        for (int axis = p_.where.batch; axis < p_.where.axes; ++axis) sides += p_.where.tiles_along[axis];
        return static_cast<std::uint32_t>(std::min<std::int64_t>(parked_bit / 2, sides * multiples));
    }
    void reserve_elimination() {
        const std::int64_t parts = cells_ >> part_bits;
        nodes_ = cells_ / rules_.node_share;
        // Lists of eliminated cells and of nodes, or the tables of pieces, which take turns with them.
        const std::int64_t table = leaps_ ? 16 * cells_ : 0;
        list_words_ = std::max(parts * part_words + 4 * node_degree * nodes_, table);
        lists_ = memory_.reserve<edge>(list_words_ / 2);
        record_ = memory_.reserve<std::uint32_t>(cells_);
        first_node_ = memory_.reserve<std::uint32_t>(parts);
        node_key_ = memory_.reserve<std::uint64_t>(nodes_);
        numbers_of_nodes_ = memory_.reserve<std::uint32_t>((leaps_ ? 9 : 5) * nodes_ + most_rounds + 1);
        marks_ = memory_.reserve<std::uint8_t>(std::max(3 * nodes_, leaps_ ? 3 * cells_ / 8 : 0));
    }
    /// Defines a part as a quarter of a tile: halves the two longest sides, or the longest one twice.
    template <class Word>
    void split_tiles(elimination<Word>& e) const {
        int left[max_rank], split[2];
        std::copy_n(p_.where.bits, max_rank, left);
        for (int& bit : split) {
            const auto longest = std::max_element(left, left + p_.where.axes) - left;
            bit = p_.where.shift[longest] + --left[longest];
        }
        e.low_bit = std::min(split[0], split[1]), e.high_bit = std::max(split[0], split[1]);
    }
    template <class Word>
    elimination<Word> start_elimination(const work<Word, Axes>& w) const {
        elimination<Word> e;
        split_tiles(e);
        e.parts = cells_ >> part_bits, e.rules = rules_, e.rules.thin = w.thin, e.rules.leaps_first = w.leaps_first,
        e.rules.scattered = w.scattered, e.rules.most_degree = capacity();
        e.counts = reinterpret_cast<solver_counts*>(memory_.get<std::uint32_t>(control_));
        e.record = memory_.get<std::uint32_t>(record_), e.words = memory_.get<std::uint32_t>(lists_);
        e.first_node = memory_.get<std::uint32_t>(first_node_), e.most_nodes = static_cast<std::uint32_t>(nodes_);
        e.edges = memory_.get<edge>(lists_) + e.parts * part_words / 2, e.key = memory_.get<Word>(node_key_);
        e.cell = memory_.get<std::uint32_t>(numbers_of_nodes_), e.fresh = e.cell + nodes_, e.order = e.fresh + nodes_;
        e.living[0] = e.order + nodes_, e.living[1] = e.living[0] + nodes_, e.start = e.living[1] + nodes_;
        e.state = memory_.get<std::uint8_t>(marks_), e.next = e.state + nodes_, e.mark = e.next + nodes_;
        return e;
    }
    /// Launches a kernel whose blocks own parts, `most` of them.
    template <class Kernel, class Word, class... More>
    void by_parts(Kernel kernel, std::size_t shared, std::int64_t most, const work<Word, Axes>& w,
                  const elimination<Word>& e, More... more) const {
        const std::int64_t blocks = std::min(most, cuda::blocks_at_once(kernel, part_threads, shared));
        cuda::launch(on_, kernel, blocks, dim3(part_threads), shared, w, e, more...);
    }
    /// Relaxes tiles, and takes the sample that says whether cells are to be eliminated; if not, solves the call.
    template <pricing Pricing, class Word>
    void spread_and_sample(work<Word, Axes> w, const elimination<Word>& e) const {
        if constexpr (Axes == few_axes) {
            const std::size_t bytes = part_bytes<Word>(e.rules.most_degree) + 64;
            w.from = stage::first, spread<Pricing>(w);
            by_parts(contract_parts<Word, Axes>, bytes, rules_.samples, w, e, contraction::survey);
            by_parts(contract_parts<Word, Axes>, bytes, rules_.samples, w, e, contraction::sample);
            w.from = stage::second, spread<Pricing>(w);
        }
    }
    template <pricing Pricing, class Word>
    void leap(work<Word, Axes> w) const {
        gate_graph<Word> graph(p_, memory_.get<std::uint32_t>(lists_), list_words_, memory_.get<Word>(node_key_),
                               memory_.get<std::uint32_t>(record_), memory_.get<std::uint32_t>(numbers_of_nodes_),
                               nodes_);
        work<std::uint32_t, Axes> flat = start<std::uint32_t>(0);
        w.from = stage::leap;
        flat.limit = static_cast<std::uint32_t>(dearest_leap / dearest_step(p_));
        graph.remaining = {w.where, reinterpret_cast<std::uint32_t*>(memory_.get<std::uint8_t>(marks_))};
        const int rounds = steps_.show_redundant_cells() ? rules_.peeled : 0;
        list_all_parts<Pricing>(on_, w, graph, rounds, flat.limit, memory_.get<std::uint32_t>(first_node_));
        const std::size_t bytes = tile_memory<Pricing, std::uint32_t>::bytes(device_tile_bits);
        const auto list = list_pieces<Pricing, Word>;
        cuda::launch(on_, list, std::min(cuda::blocks_at_once(list, threads_of_tile, bytes), w.where.tiles),
                     dim3(threads_of_tile), bytes, w, flat, graph);
        const int gates = joined_pieces<Word>::gates_in(cuda::limits().shared_bytes);
        const std::size_t joined = joined_pieces<Word>::bytes(gates);
        const std::int64_t blocks = cuda::blocks_at_once(join_pieces<Word>, join_threads, joined);
        cuda::launch_together(on_, join_pieces<Word>, cuda::grid{blocks, dim3(join_threads), joined}, w, graph, gates);
    }
    template <pricing Pricing, class Word>
    void solve_by_both(work<Word, Axes> w) const {
        if constexpr (Axes == few_axes) {
            const elimination<Word> e = start_elimination(w);
            const std::size_t bytes = part_bytes<Word>(e.rules.most_degree) + 64;
            spread_and_sample<Pricing>(w, e);
            const bool squares = is_even(2) && steps_.rows[0].price <= largest_square_price;
            const std::int64_t warps = cuda::blocks_at_once(contract_squares<Word>, squares_at_once * cuda::warp);
            cuda::launch(on_, contract_squares<Word>, warps, dim3(squares_at_once * cuda::warp), 0, w, e, squares);
            by_parts(contract_parts<Word, Axes>, bytes, e.parts, w, e, contraction::all);
            const std::int64_t blocks = cuda::blocks_at_once(contract_graph<Word, Axes>, graph_threads);
            cuda::launch(on_, link_parts<Word, Axes>, 4 * blocks, dim3(graph_threads), 0, w, e);
            cuda::launch_together(on_, contract_graph<Word, Axes>, blocks, dim3(graph_threads), w, e);
            by_parts(expand_parts<Word, Axes>, 0, e.parts, w, e);
            if (leaps_) leap<Pricing>(w);
            w.from = stage::last, spread<Pricing>(w);
        }
    }
    template <class Word>
    void each(void (*kernel)(work<Word, Axes>), const work<Word, Axes>& w) const {
        cuda::launch(on_, kernel, own_cells<Axes>::blocks(w.where), dim3(threads_of_block), 0, w);
    }

    /// Describes a caller's array, which has `more` axes in front of those of the grid.
    template <class View>
    caller_array array_of(const View& v, int more) const {
        caller_array made;
        if (!v.wanted()) return made;
        made.data = const_cast<void*>(static_cast<const void*>(v.data)), made.type = v.type;
        made.component = more == 0 ? 0 : v.stride[0];
        for (int axis = 0; axis < p_.where.axes; ++axis)
            made.step[skipped_ + axis] =
                v.stride[static_cast<std::size_t>(p_.axis_of[static_cast<std::size_t>(axis)] + more)];
        const device_tiling<Axes> t(p_.where);
        for (int k = 0; k < cells_of_thread; ++k)
            for (int axis = 0; axis < Axes; ++axis)
                made.ahead[k] += t.within(k * threads_of_block, axis) * made.step[axis];
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
        a.unit = p_.unit, a.most = p_.most;
        return a;
    }

    static constexpr std::int64_t controls = sizeof(solver_counts) / sizeof(std::uint32_t);
    const solver_rules rules_ = watched_solver::rules();
    const device& on_;
    const problem_of<device>& p_;
    cuda::workspace memory_;
    listed_steps<Axes> steps_;
    int skipped_, bits_ = 0;  ///< axes in front of those of the grid; bits of a seed's number in a key
    uint128 most_ = 0;
    bool apart_ = false;  ///< true if cost and seed do not fit a key: seeds are spread afterwards
    bool eliminates_ = false, leaps_ = false, tried_ = false;
    std::int64_t cells_ = 0, ring_ = 0, nodes_ = 0;
    std::int64_t list_words_ = 0, lists_ = 0, record_ = 0, first_node_ = 0, node_key_ = 0, numbers_of_nodes_ = 0,
                 marks_ = 0;
    std::int64_t key_ = 0, cost_ = 0, control_ = 0, step_ = 0, between_at_ = 0, crossing_ = 0, numbers_ = 0,
                 boards_ = 0;
};

}  // namespace

void run(const device& on, const problem_of<device>& given) {
    const cuda::device_guard current(on);
    const problem_of<device> p = in_tiles_that_fit(given);
    if (p.where.axes <= few_axes) call<few_axes>(on, p).run();
    else call<max_rank>(on, p).run();
}

}  // namespace nearfield::geodesics
