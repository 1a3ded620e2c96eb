// From the levels of basins to the labels of cells: levels, steps, parents, the ends of the chains.
#pragma once

#include <algorithm>

#include "watershed/host_graph.hpp"

namespace nearfield::watersheds {

template <class Key>
class cells_of_call {
public:
    /// Levels and steps are written to two arrays of the caller: one element per place and a spare chunk.
    cells_of_call(workers& team, const problem& p, const neighbours& near, Key* level, std::int32_t* steps)
        : team_(team), p_(p), f_(p.where), near_(near), level_(level), steps_(steps), way_(f_.places) {}

    /// Writes the level of every cell. `key` and `basin` may be the arrays that it overwrites.
    void raise(const Key* key, const std::int32_t* basin, const list<Key>& of_basin, const list<std::uint8_t>& reached);
    /// Chooses every cell's parent by level, and by steps among equal levels.
    void choose_parents(const list<marker>& markers);
    void write_labels(const list<marker>& markers);

private:
    static constexpr std::int32_t unreached = std::numeric_limits<std::int32_t>::max(), open = unreached - 1;

    [[nodiscard]] bool none_reached(std::int64_t first, std::int64_t count) const {
        const std::int32_t* const from = steps_ + first;
        return std::all_of(from, from + count, [](std::int32_t steps) { return steps == unreached; });
    }
    void choose_by_level();
    void count_steps(const list<marker>& markers);
    void choose_by_steps();
    [[nodiscard]] bool less(std::int64_t a, std::int64_t b) const;
    void choose(std::int64_t place);
    [[nodiscard]] bool on_line(std::int64_t place, const std::int32_t* code, const list<marker>& markers) const;

    workers& team_;
    const problem& p_;
    const frame& f_;
    const neighbours& near_;
    Key* level_;
    std::int32_t* steps_;
    host_scratch<way> way_;    ///< of each cell: its parent
    list<std::int32_t> open_;  ///< cells without a neighbour of a smaller level
};

extern template class cells_of_call<std::int32_t>;
extern template class cells_of_call<std::int64_t>;

}  // namespace nearfield::watersheds
