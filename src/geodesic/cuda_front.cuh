// Costs between the gates of parts of tiles, for corridors. A warp owns a part of 32^2 cells and adds them one by one,
// row by row. It keeps the costs between all gates and the cells of the front, which may have neighbours that are still
// to come. A new cell takes the costs of its earlier neighbours, plus a step. Other costs change only if two of these
// neighbours reach each other for less through the new cell, as where two corridors meet.
#pragma once

#include "geodesic/cuda_leap.cuh"

namespace nearfield::geodesics {

inline constexpr int most_part_gates = 4 * cuda::warp;

/// A warp's memory. A slot holds a cell of the front or a gate; slots of cells that are neither are free.
struct front_memory {
    static constexpr int few_chunks = 2, most_chunks = 5;  ///< numbers of slots of each lane

    std::uint32_t *cost, *piece;        ///< cost: rows of a triangle, by slots; piece: by a piece's first gate
    std::uint16_t *free, *gate, *cell;  ///< slots and local numbers of the gates, in the order in which they were added

    static constexpr std::size_t bytes(int slots) {
        return sizeof(std::uint32_t) * static_cast<std::size_t>(slots * (slots + 1) / 2 + most_part_gates) +
               sizeof(std::uint16_t) * static_cast<std::size_t>(slots + 2 * most_part_gates);
    }
    __device__ front_memory(std::uint64_t* memory, int slots) : cost(reinterpret_cast<std::uint32_t*>(memory)) {
        piece = cost + slots * (slots + 1) / 2;
        free = reinterpret_cast<std::uint16_t*>(piece + most_part_gates), gate = free + slots;
        cell = gate + most_part_gates;
    }
    [[nodiscard]] static __device__ int row(int slot) { return slot * (slot + 1) / 2; }
    [[nodiscard]] __device__ std::uint32_t& between(int a, int b) const { return cost[row(max(a, b)) + min(a, b)]; }
};

/// `Chunks`: a lane has so many slots. All loops over arrays have constant bounds, so that members stay in registers.
template <pricing Pricing, class Word, int Chunks>
class part_front {
public:
    __device__ part_front(const work<Word, few_axes>& w, const gate_graph<Word>& g, const front_memory& m,
                          std::int64_t part)
        : w_(w), g_(g), m_(m), first_(first_of_part(part)) {
        open_ = g.remaining.bits[g.remaining.word(part, lane_)];
        find_gates(part);
        find_steps();
    }

    /// True if there is no gate.
    [[nodiscard]] __device__ bool is_empty() const { return __any_sync(cuda::every_lane, gate_ != 0 ? 1 : 0) == 0; }
    /// Adds all cells; false if there are too few slots. Notes if paths, or a cell beyond `dearest`, cost too much.
    __device__ bool run(std::uint32_t dearest) {
        const auto of_row = static_cast<unsigned>(__popc(open_ & ~gate_)),
                   gates = __reduce_add_sync(cuda::every_lane, static_cast<unsigned>(__popc(gate_)));
        if (gates > most_part_gates || gates + __reduce_max_sync(cuda::every_lane, of_row) > slots) return false;
        for (int i = lane_; i < m_.row(slots); i += cuda::warp) m_.cost[i] = far;
#pragma unroll
        for (int c = 0; c < Chunks; ++c)
            m_.free[slot(c)] = static_cast<std::uint16_t>(slots - 1 - slot(c)), row_[c] = m_.row(slot(c));
        __syncwarp();
        unsigned above = 0, done = ~0U;  // done: cells of the row above that are gates, or have no neighbour to come
        for (int y = 0; y < part_side; ++y) {
            const unsigned row = from(open_, y), gates = from(gate_, y);
            if constexpr (Pricing != pricing::plain) {
                cost_above_ = cost_, cost_ = w_.cost[first_ + y * sweep_side + lane_];
                dear_ = dear_ || ((row >> lane_ & 1) != 0 && cost_ > dearest);
            }
            allow(row, above);
            for (unsigned left = row; left != 0; left &= left - 1) {
                const int x = __ffs(static_cast<int>(left)) - 1;
                if (free_ == 0) return false;
                add(x, m_.free[--free_]);
                release(above & ~done & ((1U << x) - 1));
                done |= (1U << x) - 1;
            }
            release(above & ~done);
            note_gates(gates, y * sweep_side + lane_);
            above = row, done = gates, slot_above_ = slot_;
        }
        __syncwarp();
        if (__any_sync(cuda::every_lane, dear_ ? 1 : 0) != 0) w_.queue.counts->too_dear = 1, count_ = 0;
        return true;
    }

    /// Lists the pieces and their tables. Gates i, i + 32, ... belong to lane i. Over 40 lines because what a lane
    /// knows of its gates stays in registers.
    __device__ void write() {
        if (count_ == 0) return;
        constexpr int own = most_part_gates / cuda::warp;
        int slot[own], leader[own];
        std::uint32_t size[own]{}, rank[own]{}, piece[own], place[own];
#pragma unroll
        for (int c = 0; c < own; ++c)
            slot[c] = m_.gate[min(c * cuda::warp + lane_, max(count_, 1) - 1)], leader[c] = count_;
        for (int j = 0; j < count_; ++j) {
            const int other = m_.gate[j];
#pragma unroll
            for (int c = 0; c < own; ++c) {
                const int i = c * cuda::warp + lane_;
                if (i >= count_ || m_.between(slot[c], other) >= far) continue;
                ++size[c], rank[c] += j < i ? 1 : 0, leader[c] = min(leader[c], j);
            }
        }
        std::uint32_t words = 0, pieces = 0;
#pragma unroll
        for (int c = 0; c < own; ++c) {
            const int i = c * cuda::warp + lane_;
            const bool leads = i < count_ && leader[c] == i;
            const unsigned below = (1U << lane_) - 1, leaders = __ballot_sync(cuda::every_lane, leads ? 1 : 0);
            const std::uint32_t of_piece = leads ? g_.words(size[c]) : 0;
            std::uint32_t up_to = of_piece;
            for (int by = 1; by < cuda::warp; by *= 2) {
                const std::uint32_t before = __shfl_up_sync(cuda::every_lane, up_to, by);
                if (lane_ >= by) up_to += before;
            }
            piece[c] = words + up_to - of_piece;
            place[c] = leads ? pieces + static_cast<std::uint32_t>(__popc(leaders & below)) : g_.none;
            words += from(up_to, cuda::warp - 1), pieces += static_cast<std::uint32_t>(__popc(leaders));
        }
        std::uint32_t gate = 0, word = 0, living = 0;
        if (lane_ == 0) reserve(words, pieces, gate, word, living);
        gate = from(gate, 0), word = from(word, 0), living = from(living, 0);
        if (word == g_.none) return;
#pragma unroll
        for (int c = 0; c < own; ++c)
            if (place[c] != g_.none) {
                const std::uint32_t of = piece[c] + word;
                m_.piece[c * cuda::warp + lane_] = g_.living[0][living + place[c]] = of;
                g_.pool[of] = size[c], g_.partner(of) = 0;
            }
        __syncwarp();
#pragma unroll
        for (int c = 0; c < own; ++c) {
            const int i = c * cuda::warp + lane_;
            if (i >= count_) continue;
            const std::int64_t at = first_ + m_.cell[i];
            const std::uint32_t number = gate + static_cast<std::uint32_t>(i);
            piece[c] = m_.piece[leader[c]];
            g_.gate(piece[c])[rank[c]] = number, g_.number[at] = number, g_.key[number] = w_.key[at];
            g_.place[number] = static_cast<std::uint32_t>(at), g_.piece[number] = piece[c], g_.slot[number] = rank[c];
        }
        std::uint32_t to[own]{};
        for (int j = 0; j < count_; ++j) {
            const int other = m_.gate[j];
#pragma unroll
            for (int c = 0; c < own; ++c) {
                if (leader[c] >= count_) continue;
                const std::uint32_t cost = m_.between(slot[c], other);
                if (cost < far) (g_.gate(piece[c]) + size[c])[to[c]++ * size[c] + rank[c]] = cost;
            }
        }
    }

private:
    static constexpr std::uint32_t far = gate_graph<Word>::far;
    static constexpr int up = few_axes - 2, left = few_axes - 1;
    static constexpr int slots = Chunks * cuda::warp;
    static constexpr int before = 4;  ///< neighbours before a cell: to the left, and three above it

    template <class T>
    [[nodiscard]] static __device__ T from(T value, int lane) {
        return __shfl_sync(cuda::every_lane, value, lane);
    }
    /// Finds the cells with a step to a cell of another part, and those from which keys spread. The lanes own the
    /// part's rows.
    __device__ void find_gates(std::int64_t part) {
        constexpr int last = part_side - 1;
        const std::int64_t word = g_.remaining.word(part, lane_);
        const remaining_cells::neighbours near =
            g_.remaining.beside(word / g_.remaining.along, word % g_.remaining.along);
        std::int64_t at[few_axes];
        w_.where.locate(first_ >> device_tile_bits, static_cast<int>(first_ & ((1 << device_tile_bits) - 1)), at);
        gate_ = g_.remaining.sources()[word];
        const std::int64_t start = at[left];
        at[up] += lane_;
        for (int s = 0; s < w_.step_count; ++s) {
            const device_step& step = w_.steps[s];
            const int y = lane_ + step.by[up], x = step.by[left];
            unsigned leaving = (y & ~last) != 0 ? ~0U : x == 0 ? 0U : x < 0 ? 1U : 1U << last;
            leaving &= open_ & ~gate_;
#pragma unroll
            for (int k = 0; k < 8; ++k)
                if (k == number_of(step.by[up], x)) leaving &= near.cell[k];
            if (step.between == 0) {
                gate_ |= leaving;
                continue;
            }
            for (; leaving != 0; leaving &= leaving - 1) {
                at[left] = start + __ffs(static_cast<int>(leaving)) - 1;
                if (is_open(w_, at, step)) gate_ |= leaving & -leaving;
            }
        }
    }
    /// Number of a neighbour in remaining_cells::neighbours.
    [[nodiscard]] static __device__ int number_of(int y, int x) {
        return y < 0 ? (x < 0 ? 7 : x) : y > 0 ? 4 - x : x > 0 ? 2 : 6;
    }
    __device__ void find_steps() {
        for (int s = 0; s < w_.step_count; ++s) {
            const device_step& step = w_.steps[s];
            const int y = step.by[up], x = step.by[left];
            if (y > 0 || (y == 0 && x >= 0)) continue;
#pragma unroll
            for (int k = 0; k < before; ++k)
                if (k == (y == 0 ? 0 : x + 2) && (price_[k] == 0 || step.price < price_[k]))
                    price_[k] = step.price, step_[k] = s;
            if (Pricing == pricing::plain && step.price >= far / 2 / part_cells) dear_ = true;
        }
    }
    /// Shifts a row so that bit x tells about the cell x + by.
    [[nodiscard]] static __device__ unsigned shifted(unsigned row, int by) { return by < 0 ? row << -by : row >> by; }
    /// Finds the cells of a row from which steps to earlier neighbours are open.
    __device__ void allow(unsigned row, unsigned above) {
#pragma unroll
        for (int k = 0; k < before; ++k) {
            may_[k] = price_[k] == 0 ? 0 : row & shifted(k == 0 ? row : above, k == 0 ? -1 : k - 2);
            if (may_[k] == 0) continue;
            const device_step& step = w_.steps[step_[k]];
            for (std::uint32_t b = 0; b < step.between; ++b) {
                const vector_of_step& by = w_.between[step.first_between + b].by;
                may_[k] &= shifted(by[up] == 0 ? row : above, by[left]);
            }
        }
    }
    /// Frees the slots of cells of the row above.
    __device__ void release(unsigned cells) {
        if ((cells >> lane_ & 1) != 0)
            m_.free[free_ + __popc(cells & ((1U << lane_) - 1))] = static_cast<std::uint16_t>(slot_above_);
        free_ += __popc(cells);
        __syncwarp();
    }
    __device__ void note_gates(unsigned gates, int cell) {
        if ((gates >> lane_ & 1) != 0) {
            const int i = count_ + __popc(gates & ((1U << lane_) - 1));
            m_.gate[i] = static_cast<std::uint16_t>(slot_), m_.cell[i] = static_cast<std::uint16_t>(cell);
        }
        count_ += __popc(gates);
    }

    /// Returns the lane's slot of a chunk.
    [[nodiscard]] __device__ int slot(int chunk) const { return chunk * cuda::warp + lane_; }
    /// Adds the cell x of the row. A lane computes its costs to the slots of the lane. The cell to the left, if there
    /// is one, was added before it, so that its costs are still known. Over 40 lines because all of it shares costs in
    /// registers.
    __device__ void add(int x, int own) {
        int other[before], row[before];
        std::uint32_t price[before];
#pragma unroll
        for (int k = 0; k < before; ++k) {
            const int there = (x + (k == 0 ? -1 : k - 2)) & (cuda::warp - 1);
            const bool is = (may_[k] >> x & 1) != 0;
            other[k] = from(k == 0 ? slot_ : slot_above_, there), other[k] = is ? other[k] : 0;
            row[k] = m_.row(other[k]), price[k] = price_[k];
            if constexpr (Pricing != pricing::plain) {
                const std::uint64_t whole = std::uint64_t{price[k]} *
                                            (from(cost_, x) + std::uint64_t{from(k == 0 ? cost_ : cost_above_, there)});
                price[k] = whole < far ? static_cast<std::uint32_t>(whole) : far;
            }
            price[k] = is ? price[k] : far;
        }
        if (lane_ == x) slot_ = own;
        bool meets = false;
#pragma unroll
        for (int k = 1; k < before; ++k)
#pragma unroll
            for (int j = 0; j < before; ++j) {
                if (j >= k) continue;
                const std::uint32_t known = m_.cost[other[k] > other[j] ? row[k] + other[j] : row[j] + other[k]];
                meets |= known > min(far, price[k] + price[j]);
            }
        const int own_row = m_.row(own);
#pragma unroll
        for (int c = 0; c < Chunks; ++c) {
            std::uint32_t best = min(far, last_[c] + price[0]);
#pragma unroll
            for (int k = 1; k < before; ++k)
                best = min(best, m_.cost[other[k] > slot(c) ? row[k] + slot(c) : row_[c] + other[k]] + price[k]);
            last_[c] = slot(c) == own ? 0 : best;
            if constexpr (Pricing != pricing::plain) dear_ = dear_ || (best >= far / 2 && best < far);
        }
        __syncwarp();
#pragma unroll
        for (int c = 0; c < Chunks; ++c) m_.cost[own > slot(c) ? own_row + slot(c) : row_[c] + own] = last_[c];
        __syncwarp();
        if (meets) spread();
    }
    /// Lowers the costs between all slots to those through the last cell.
    __device__ void spread() const {
#pragma unroll
        for (int c = 0; c < Chunks; ++c) {
            unsigned reached = __ballot_sync(cuda::every_lane, last_[c] < far ? 1 : 0);
            for (; reached != 0; reached &= reached - 1) {
                const int lane = __ffs(static_cast<int>(reached)) - 1, slot = c * cuda::warp + lane;
                const std::uint32_t own = from(last_[c], lane);
                std::uint32_t* const row = m_.cost + m_.row(slot);
#pragma unroll
                for (int k = 0; k < Chunks; ++k)
                    if (const int to = k * cuda::warp + lane_; k <= c && to < slot)
                        row[to] = min(row[to], own + last_[k]);
            }
        }
        __syncwarp();
    }

    /// Reserves memory for the part's gates and pieces; `word` is none if there is too little.
    __device__ void reserve(std::uint32_t words, std::uint32_t pieces, std::uint32_t& gate, std::uint32_t& word,
                            std::uint32_t& living) const {
        solver_counts& c = *w_.queue.counts;
        const auto gates = static_cast<std::uint32_t>(count_);
        gate = atomicAdd(&c.gates, gates);
        word = gate + gates <= g_.most ? g_.take(c, words) : g_.none;
        if (word == g_.none) c.too_dear = 1;
        else living = atomicAdd(&c.pieces, pieces);
    }

    const work<Word, few_axes>& w_;
    const gate_graph<Word>& g_;
    const front_memory m_;
    const std::int64_t first_;  ///< place of the part's first cell
    const int lane_ = static_cast<int>(threadIdx.x) % cuda::warp;
    unsigned open_ = 0, gate_ = 0;             ///< cells of the lane's row
    unsigned may_[before]{};                   ///< cells of a row with a step to each earlier neighbour
    std::uint32_t price_[before]{};            ///< of these steps; 0 if there is none
    int step_[before]{};                       ///< their numbers
    int slot_ = 0, slot_above_ = 0;            ///< of the lane's cell of the row, and of the row above
    std::uint32_t cost_ = 0, cost_above_ = 0;  ///< what these cells cost
    std::uint32_t last_[Chunks]{};             ///< costs of the last cell
    int row_[Chunks]{};                        ///< rows of the lane's slots
    int free_ = slots, count_ = 0;             ///< free slots; gates
    bool dear_ = false;                        ///< paths or cells cost too much
};

/// Lists the pieces of parts: of all, or of those that `again` marks, which needed more slots. A warp owns a part.
template <pricing Pricing, class Word, int Chunks>
__global__ void __launch_bounds__(cuda::warp)
    list_parts(const __grid_constant__ work<Word, few_axes> w, const __grid_constant__ gate_graph<Word> graph,
               std::uint32_t dearest, std::uint32_t* again) {
    extern __shared__ std::uint64_t memory[];
    const auto part = static_cast<std::int64_t>(blockIdx.x);
    if (end_of_stage(w) < 0 || !has_parts(w)) return;
    if (Chunks == front_memory::most_chunks && again[part] == 0) return;
    const front_memory m(memory, Chunks * cuda::warp);
    part_front<Pricing, Word, Chunks> front(w, graph, m, part);
    const bool done = front.is_empty() || front.run(dearest);
    if (threadIdx.x == 0) again[part] = done ? 0 : 1;
    if (!done) return;
    if (threadIdx.x == 0) atomicAdd(&w.queue.counts->parts, 1U);
    front.write();
}

template <pricing Pricing, class Word>
void list_all_parts(const device& on, const work<Word, few_axes>& w, const gate_graph<Word>& graph, int rounds,
                    std::uint32_t dearest, std::uint32_t* again) {
    cuda::launch_together(on, peel<Word>, cuda::blocks_at_once(peel<Word>, threads_of_block), dim3(threads_of_block), w,
                          graph.remaining, graph.number, graph.none, rounds);
    constexpr int few = front_memory::few_chunks, most = front_memory::most_chunks;
    const std::int64_t parts = w.where.tiles << (device_tile_bits - part_bits);
    cuda::launch(on, list_parts<Pricing, Word, few>, parts, dim3(cuda::warp), front_memory::bytes(few * cuda::warp), w,
                 graph, dearest, again);
    cuda::launch(on, list_parts<Pricing, Word, most>, parts, dim3(cuda::warp), front_memory::bytes(most * cuda::warp),
                 w, graph, dearest, again);
}

}  // namespace nearfield::geodesics
