// From the levels of basins to the labels of cells: levels, steps, parents, the ends of the chains.
#pragma once

#include <algorithm>

#include "watershed/host_graph.hpp"

namespace nearfield::watersheds {

template <class Key>
class cells_of_call {
public:
    cells_of_call(workers& team, const problem& p, const neighbours& near)
        : team_(team), p_(p), f_(p.where), near_(near), level_(f_.places), steps_(f_.places) {}

    /// The level of every cell.
    void raise(const Key* key, const std::int32_t* basin, const list<Key>& of_basin, const list<std::uint8_t>& reached);
    /// Steps within a level, breadth first from the cells that have none.
    void count_steps(const list<marker>& markers);
    void choose_parents(const list<marker>& markers);
    void write_labels(const list<marker>& markers);

private:
    static constexpr std::int32_t unreached = std::numeric_limits<std::int32_t>::max(), open = unreached - 1;

    [[nodiscard]] bool none_reached(std::int64_t first, std::int64_t count) const {
        const std::int32_t* const from = steps_.get() + first;
        return std::all_of(from, from + count, [](std::int32_t steps) { return steps == unreached; });
    }
    void find_open();
    template <bool ByLevel>
    void choose_in_rows();
    [[nodiscard]] bool less(std::int64_t a, std::int64_t b) const;
    void choose(std::int64_t place);
    [[nodiscard]] bool on_line(std::int64_t place, const list<marker>& markers) const;

    workers& team_;
    const problem& p_;
    const frame& f_;
    const neighbours& near_;
    host_scratch<Key> level_;
    host_scratch<std::int32_t> steps_, up_;
    list<std::int32_t> open_;  ///< cells without a neighbour of a smaller level
};

extern template class cells_of_call<std::int32_t>;
extern template class cells_of_call<std::int64_t>;

}  // namespace nearfield::watersheds
