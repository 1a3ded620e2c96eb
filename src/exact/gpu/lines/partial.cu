// pass_along on a GPU: a thread searches outward from its cell, and beyond 32 steps by groups of rows.
#include <limits>

#include "base/cuda.cuh"
#include "exact/partial.hpp"

namespace nearfield::exact {
namespace {

constexpr int threads_of_block = 256;
constexpr int group = 32;  ///< rows with a common least value, and steps that a cell searches first

template <class V>
NF_HD constexpr V none_of() {
    if constexpr (std::is_floating_point_v<V>) return std::numeric_limits<V>::infinity();
    else return std::numeric_limits<V>::max();
}

/// Passed to kernels by value.
template <class V, class S>
struct pass {
    std::int64_t rows, after, count;  ///< rows of a line, neighbouring lines, and all cells
    std::int64_t groups, farthest;
    const V* from;
    V* to;
    const S* site;  ///< null if not wanted
    S* site_to;
    const void* label;  ///< null if not wanted
    void* label_to;
    int label_bytes, rank;
    V weight;
    bool periodic, half_cell;
    V* least;  ///< least value of each group of each line
    std::int64_t size[max_rank], grid_cells;

    [[nodiscard]] __device__ V term(std::int64_t steps) const { return along(weight, reach(steps, half_cell)); }
    [[nodiscard]] __device__ bool is_site(S s) const { return s >= 0 && s < grid_cells; }
    [[nodiscard]] __device__ bool comes_before(std::int64_t a, std::int64_t b) const {
        for (int k = rank - 1; k >= 0; --k) {
            const std::int64_t next_a = a / size[k], next_b = b / size[k];
            const std::int64_t at_a = a - next_a * size[k], at_b = b - next_b * size[k];
            if (at_a != at_b) return at_a < at_b;
            a = next_a, b = next_b;
        }
        return false;
    }
    /// Returns the steps from row q to the nearest of the rows [low, high].
    [[nodiscard]] __device__ std::int64_t gap(std::int64_t q, std::int64_t low, std::int64_t high) const {
        if (q < low) return periodic ? min(low - q, q + rows - high) : low - q;
        if (q > high) return periodic ? min(q - high, low + rows - q) : q - high;
        return 0;
    }
};

/// Adds a term. Integers stay at the maximum, so that a cell without a site keeps none.
template <class V>
__device__ V plus(V value, V term) {
    const V sum = value + term;
    if constexpr (std::is_floating_point_v<V>) return sum;
    else return sum < value ? none_of<V>() : sum;
}

/// The nearest site so far of one cell.
template <class V, class S>
struct search {
    const pass<V, S>& p;
    std::int64_t line;  ///< element of the line's first row
    V best = none_of<V>();
    S site = -1;
    std::int64_t at = -1;

    __device__ void relax(std::int64_t row, V term) {
        const std::int64_t from = line + row * p.after;
        const V value = plus(p.from[from], term);
        if (!(value <= best) || !(value < none_of<V>())) return;
        if (p.site != nullptr) {
            const S s = p.site[from];
            if (!p.is_site(s) || (value == best && (s == site || !p.comes_before(s, site)))) return;
            site = s, at = from;
        }
        best = value;
    }
    /// Searches near rows; returns true when no row beyond can win.
    __device__ bool near(std::int64_t q) {
        relax(q, V{0});
        const std::int64_t last = min(p.farthest, std::int64_t{group});
        for (std::int64_t d = 1; d <= last; ++d) {
            const V term = p.term(d);
            if (term > best) return true;
            const std::int64_t low = q - d, high = q + d;
            if (low >= 0 || p.periodic) relax(low >= 0 ? low : low + p.rows, term);
            if (high < p.rows || p.periodic) relax(high < p.rows ? high : high - p.rows, term);
        }
        return last == p.farthest;
    }
    __device__ void far(std::int64_t q, const V* least) {
        V bound = best;
        for (std::int64_t g = 0; g < p.groups; ++g) {
            const std::int64_t low = g * group, high = min(low + group, p.rows) - 1;
            const V value = plus(least[g * p.after], p.term(min(p.gap(q, low, high) + (high - low), p.farthest)));
            bound = value < bound ? value : bound;
        }
        for (std::int64_t g = 0; g < p.groups; ++g) {
            const std::int64_t low = g * group, high = min(low + group, p.rows) - 1;
            const V value = plus(least[g * p.after], p.term(p.gap(q, low, high)));
            if (!(value <= bound) || !(value < none_of<V>())) continue;
            for (std::int64_t r = low; r <= high; ++r) relax(r, p.term(apart(q, r, p.rows, p.periodic)));
        }
    }
};

/// Finds the least values. A thread owns a group of a line; neighbouring threads have neighbouring lines.
template <class V, class S>
__global__ void __launch_bounds__(threads_of_block) find_least(const __grid_constant__ pass<V, S> p) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const std::int64_t column = i % p.after, number = i / p.after, before = number / p.groups;
    if (before * p.rows * p.after >= p.count) return;
    const std::int64_t low = (number - before * p.groups) * group, high = min(low + group, p.rows);
    V least = none_of<V>();
    for (std::int64_t r = low; r < high; ++r) {
        const std::int64_t from = (before * p.rows + r) * p.after + column;
        const V value = p.from[from];
        if (value < least && (p.site == nullptr || p.is_site(p.site[from]))) least = value;
    }
    p.least[i] = least;
}

template <class Bits>
__device__ void copy_label(void* to, std::int64_t i, const void* from, std::int64_t at) {
    static_cast<Bits*>(to)[i] = at < 0 ? Bits{0} : static_cast<const Bits*>(from)[at];
}

/// Searches lines. A thread owns a cell.
template <class V, class S>
__global__ void __launch_bounds__(threads_of_block) search_lines(const __grid_constant__ pass<V, S> p) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.count) return;
    const std::int64_t column = i % p.after, number = i / p.after, before = number / p.rows;
    const std::int64_t q = number - before * p.rows;
    search<V, S> cell{p, before * p.rows * p.after + column};
    if (!cell.near(q)) cell.far(q, p.least + before * p.groups * p.after + column);
    p.to[i] = cell.best;
    if (p.site != nullptr) p.site_to[i] = cell.site;
    if (p.label == nullptr) return;
    if (p.label_bytes == 1) copy_label<std::uint8_t>(p.label_to, i, p.label, cell.at);
    else if (p.label_bytes == 2) copy_label<std::uint16_t>(p.label_to, i, p.label, cell.at);
    else if (p.label_bytes == 4) copy_label<std::uint32_t>(p.label_to, i, p.label, cell.at);
    else copy_label<std::uint64_t>(p.label_to, i, p.label, cell.at);
}

/// The inputs: copies of those arrays that are their own output.
class inputs {
public:
    inputs(cuda::workspace& memory, const partial_pass& p) : memory_(memory), cells_(p.cells()) {
        for (const partial_array* a : {&p.squared, &p.site, &p.label})
            if (a->to != nullptr && a->from == a->to)
                copy_[kept_++] = {a, memory_.reserve<std::byte>(cells_ * size_of(a->type))};
    }
    [[nodiscard]] const void* of(const device& on, const partial_array& a) const {
        for (int k = 0; k < kept_; ++k) {
            if (copy_[k].array != &a) continue;
            auto* const copied = memory_.get<std::byte>(copy_[k].place);
            cuda::check(cudaMemcpyAsync(copied, a.from, static_cast<std::size_t>(cells_ * size_of(a.type)),
                                        cudaMemcpyDeviceToDevice, cuda::stream_of(on)),
                        "copying a field");
            return copied;
        }
        return a.from;
    }

private:
    struct copied {
        const partial_array* array;
        std::int64_t place;
    };
    cuda::workspace& memory_;
    std::int64_t cells_;
    copied copy_[3]{};
    int kept_ = 0;
};

template <class V, class S>
void solve_as(const device& on, const partial_pass& p) {
    pass<V, S> g{};
    g.rows = p.rows, g.after = p.after, g.count = p.cells(), g.farthest = p.farthest();
    g.groups = g.farthest > group ? cuda::blocks_for(p.rows, group) : 0;
    const std::int64_t groups = p.before * g.groups * p.after;
    cuda::workspace memory(on);
    const inputs from(memory, p);
    const std::int64_t least = memory.reserve<V>(groups);
    memory.allocate();
    g.from = static_cast<const V*>(from.of(on, p.squared)), g.to = static_cast<V*>(p.squared.to);
    g.site = static_cast<const S*>(from.of(on, p.site)), g.site_to = static_cast<S*>(p.site.to);
    g.label = from.of(on, p.label), g.label_to = p.label.to;
    g.label_bytes = static_cast<int>(size_of(p.label.type)), g.rank = p.rank;
    g.weight = g.farthest > 0 ? static_cast<V>(p.weight) : V{0};
    g.periodic = p.periodic, g.half_cell = p.half_cell, g.least = memory.get<V>(least);
    g.grid_cells = 1;
    for (int k = 0; k < p.rank; ++k) {
        g.size[k] = p.size[static_cast<std::size_t>(k)];
        g.grid_cells *= g.size[k];
    }
    cuda::launch(on, find_least<V, S>, cuda::blocks_for(groups, threads_of_block), threads_of_block, 0, g);
    cuda::launch(on, search_lines<V, S>, cuda::blocks_for(g.count, threads_of_block), threads_of_block, 0, g);
}

template <class V>
void solve_values(const device& on, const partial_pass& p) {
    if (p.site.type == dtype::int32) solve_as<V, std::int32_t>(on, p);
    else solve_as<V, std::int64_t>(on, p);
}

}  // namespace

void solve_partial(const device& on, const partial_pass& p) {
    check_fits(p, p.most());
    const cuda::device_guard current(on);
    if (p.squared.type == dtype::uint32) solve_values<std::uint32_t>(on, p);
    else if (p.squared.type == dtype::uint64) solve_values<std::uint64_t>(on, p);
    else solve_values<double>(on, p);
}

}  // namespace nearfield::exact
