// pass_along on a GPU: a thread searches outward from its cell, and beyond 32 steps by groups of rows.
#include <limits>

#include "base/cuda_each.cuh"
#include "exact/gpu/ground/items.cuh"
#include "exact/partial.hpp"

namespace nearfield::exact {
namespace {

constexpr int group = 32;  ///< rows with a common least value, and steps that a cell searches first

/// Passed to kernels by value.
template <class V, class S>
struct partial_lines {
    std::int64_t rows, after, count;  ///< rows of a line, neighbouring lines, and all cells
    std::int64_t groups, farthest;
    const V* from;
    V* to;
    const S* site;  ///< null if not wanted
    S* site_to;
    const std::byte* label;  ///< null if not wanted
    std::byte* label_to;
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
    else return sum < value ? gpu::top<V>() : sum;
}

/// The nearest site so far of one cell.
template <class V, class S>
struct search {
    const partial_lines<V, S>& p;
    std::int64_t line;  ///< element of the line's first row
    V best = gpu::top<V>();
    S site = -1;
    std::int64_t at = -1;

    __device__ void relax(std::int64_t row, V term) {
        const std::int64_t from = line + row * p.after;
        const V value = plus(p.from[from], term);
        if (!(value <= best) || !(value < gpu::top<V>())) return;
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
            if (!(value <= bound) || !(value < gpu::top<V>())) continue;
            for (std::int64_t r = low; r <= high; ++r) relax(r, p.term(apart(q, r, p.rows, p.periodic)));
        }
    }
};

/// Finds the least value of a group of a line; neighbouring threads have neighbouring lines.
template <class V, class S>
struct find_least {
    partial_lines<V, S> p;

    __device__ void operator()(std::int64_t i) const {
        const std::int64_t column = i % p.after, number = i / p.after, before = number / p.groups;
        const std::int64_t low = (number - before * p.groups) * group, high = min(low + group, p.rows);
        V least = gpu::top<V>();
        for (std::int64_t r = low; r < high; ++r) {
            const std::int64_t from = (before * p.rows + r) * p.after + column;
            const V value = p.from[from];
            if (value < least && (p.site == nullptr || p.is_site(p.site[from]))) least = value;
        }
        p.least[i] = least;
    }
};

/// Searches the line of a cell.
template <class V, class S>
struct search_line {
    partial_lines<V, S> p;

    __device__ void operator()(std::int64_t i) const {
        const std::int64_t column = i % p.after, number = i / p.after, before = number / p.rows;
        const std::int64_t q = number - before * p.rows;
        search<V, S> cell{p, before * p.rows * p.after + column};
        if (!cell.near(q)) cell.far(q, p.least + before * p.groups * p.after + column);
        p.to[i] = cell.best;
        if (p.site != nullptr) p.site_to[i] = cell.site;
        if (p.label != nullptr)
            store_bits(p.label_to, p.label_bytes, i, cell.at < 0 ? 0 : load_bits(p.label, p.label_bytes, cell.at));
    }
};

template <class V, class S>
void solve_as(const device& on, const partial_pass& p) {
    partial_lines<V, S> g{};
    g.rows = p.rows, g.after = p.after, g.count = p.cells(), g.farthest = p.farthest();
    g.groups = g.farthest > group ? cuda::blocks_for(p.rows, group) : 0;
    const std::int64_t groups = p.before * g.groups * p.after;
    cuda::workspace memory(on);
    const partial_array* const arrays[] = {&p.squared, &p.site, &p.label};
    const void* from[3];
    std::int64_t copies[3]{};
    const auto is_output = [](const partial_array& a) { return a.to != nullptr && a.from == a.to; };
    const auto bytes_of = [&](const partial_array& a) { return g.count * size_of(a.type); };
    for (int k = 0; k < 3; ++k)
        if (is_output(*arrays[k])) copies[k] = memory.reserve<std::byte>(bytes_of(*arrays[k]));
    const std::int64_t least = memory.reserve<V>(groups);
    memory.allocate();
    for (int k = 0; k < 3; ++k) {
        from[k] = arrays[k]->from;
        if (!is_output(*arrays[k])) continue;
        cuda::copy(on, memory.get<std::byte>(copies[k]), from[k], bytes_of(*arrays[k]));
        from[k] = memory.get<std::byte>(copies[k]);
    }
    g.from = static_cast<const V*>(from[0]), g.to = static_cast<V*>(p.squared.to);
    g.site = static_cast<const S*>(from[1]), g.site_to = static_cast<S*>(p.site.to);
    g.label = static_cast<const std::byte*>(from[2]), g.label_to = static_cast<std::byte*>(p.label.to);
    g.label_bytes = static_cast<int>(size_of(p.label.type)), g.rank = p.rank;
    g.weight = g.farthest > 0 ? static_cast<V>(p.weight) : V{0};
    g.periodic = p.periodic, g.half_cell = p.half_cell, g.least = memory.get<V>(least);
    g.grid_cells = 1;
    for (int k = 0; k < p.rank; ++k) {
        g.size[k] = p.size[static_cast<std::size_t>(k)];
        g.grid_cells *= g.size[k];
    }
    cuda::for_each(on, groups, find_least<V, S>{g});
    cuda::for_each(on, g.count, search_line<V, S>{g});
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
