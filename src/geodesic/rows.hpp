// Access to the caller's arrays, row by row of a tile.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "geodesic/problem.hpp"

namespace nearfield::geodesics {

/// Kinds of cells. All neighbours of an `inner` cell are in the same tile.
inline constexpr std::uint8_t wall = 0, inner = 1, rim = 2;  ///< rim: some neighbour is not

/// Calls body(number of the first cell within the tile, its coordinates, number of cells inside the grid) for each row
/// along the last axis. The number may be 0.
template <class Body>
void for_rows(const tiling& t, std::int64_t tile, const Body& body) {
    const int last = t.axes - 1;
    std::int64_t origin[max_rank]{}, at[max_rank]{};
    t.origin(tile, origin);
    for (std::int32_t local = 0; local < t.cells_a_tile(); local += static_cast<std::int32_t>(t.side(last))) {
        bool inside = true;
        for (int axis = 0; axis < t.axes; ++axis) {
            at[axis] = origin[axis] + t.within(local, axis);
            inside = inside && at[axis] < t.size[axis];
        }
        body(local, at, inside ? std::min(t.side(last), t.size[last] - at[last]) : 0);
    }
}

/// Element offset of a cell in an array.
template <class View>
std::int64_t offset_in(const problem& p, const View& v, const std::int64_t* at, int more = 0) {
    std::int64_t sum = 0;
    for (int axis = 0; axis < p.where.axes; ++axis)
        sum += at[axis] * v.stride[static_cast<std::size_t>(p.axis_of[static_cast<std::size_t>(axis)] + more)];
    return sum;
}
template <class View>
std::int64_t stride_in(const problem& p, const View& v, int more = 0) {
    return v.stride[static_cast<std::size_t>(p.axis_of.back() + more)];
}

/// Fetches what a later row of the same tile reads. Rows of a tile lie apart, so that the processor does not foresee
/// which memory is next.
template <class T>
void prefetch_row(const T* row, std::int64_t to_next, std::int64_t count) {
    constexpr std::int64_t rows_ahead = 6, line = 64 / static_cast<std::int64_t>(sizeof(T));
    const auto later =
        reinterpret_cast<std::uintptr_t>(row) + static_cast<std::uintptr_t>(rows_ahead * to_next) * sizeof(T);
    for (std::int64_t i = 0; i < count + line - 1; i += line)
        __builtin_prefetch(reinterpret_cast<const void*>(later + static_cast<std::uintptr_t>(i) * sizeof(T)));
}

class row_reader {
public:
    explicit row_reader(const problem& p) : p_(p), t_(p.where) {}

    /// Reads the kinds of a row's cells, and costs if wanted. Fills the tile's whole row; `count` cells are inside.
    void cells(const std::int64_t* at, std::int64_t count, std::uint8_t* kind, std::uint32_t* cost) const {
        const std::int64_t side = t_.side(t_.axes - 1);
        std::fill(kind + count, kind + side, wall);
        if (cost != nullptr) std::fill(cost + count, cost + side, 0);
        if (count == 0) return;
        const auto* const mask = static_cast<const std::uint8_t*>(p_.mask.data) + offset_in(p_, p_.mask, at);
        const std::int64_t step = stride_in(p_, p_.mask), reach = p_.reach;
        if (step == 1) prefetch_row(mask, to_next_row(p_.mask), count);
        bool ends = false;
        for (int axis = t_.batch; axis < t_.axes - 1; ++axis) ends = ends || at_end(axis, at[axis]);
        const auto there = static_cast<std::uint8_t>(ends ? rim : inner);
        if (step == 1) {
            for (std::int64_t i = 0; i < count; ++i) kind[i] = mask[i] == 0 ? wall : there;
        } else {
            for (std::int64_t i = 0; i < count; ++i) kind[i] = mask[i * step] == 0 ? wall : there;
        }
        const auto mark = [&](std::int64_t first, std::int64_t end) {
            for (std::int64_t i = std::max<std::int64_t>(0, first); i < std::min(count, end); ++i)
                if (kind[i] == inner) kind[i] = rim;
        };
        const int last = t_.axes - 1;
        mark(0, reach), mark(side - reach, side);
        if (t_.wraps[last]) mark(t_.size[last] - reach - at[last], count);
        if (cost != nullptr) costs(at, count, kind, cost);
    }

    /// Calls found(cell of the row, seed's number) for each seed.
    template <class Found>
    void seeds(const std::int64_t* at, std::int64_t count, const Found& found) const {
        if (count == 0) return;
        switch (size_of(p_.seeds.type)) {
            case 1: return seeds_of<std::uint8_t>(at, count, found);
            case 2: return seeds_of<std::uint16_t>(at, count, found);
            case 4: return seeds_of<std::uint32_t>(at, count, found);
            default: return seeds_of<std::uint64_t>(at, count, found);
        }
    }

private:
    template <class View>
    [[nodiscard]] std::int64_t to_next_row(const View& v) const {
        const auto before = static_cast<std::size_t>(std::max(0, t_.axes - 2));
        return v.stride[static_cast<std::size_t>(p_.axis_of[before])];
    }
    [[nodiscard]] bool at_end(int axis, std::int64_t x) const {
        const std::int64_t within = x & (t_.side(axis) - 1);
        return within < p_.reach || within >= t_.side(axis) - p_.reach ||
               (t_.wraps[axis] && x >= t_.size[axis] - p_.reach);
    }
    void costs(const std::int64_t* at, std::int64_t count, std::uint8_t* kind, std::uint32_t* cost) const {
        switch (p_.cost.type) {
            case dtype::int8: return costs_of<std::int8_t>(at, count, kind, cost);
            case dtype::int16: return costs_of<std::int16_t>(at, count, kind, cost);
            case dtype::uint16: return costs_of<std::uint16_t>(at, count, kind, cost);
            case dtype::int32: return costs_of<std::int32_t>(at, count, kind, cost);
            case dtype::uint32: return costs_of<std::uint32_t>(at, count, kind, cost);
            default: return costs_of<std::uint8_t>(at, count, kind, cost);
        }
    }
    template <class T>
    void costs_of(const std::int64_t* at, std::int64_t count, std::uint8_t* kind, std::uint32_t* cost) const {
        const T* const from = static_cast<const T*>(p_.cost.data) + offset_in(p_, p_.cost, at);
        const std::int64_t given = stride_in(p_, p_.cost);
        if (given == 1) prefetch_row(from, to_next_row(p_.cost), count);
        const auto read = [=](auto step) {
            for (std::int64_t i = 0; i < count; ++i) {
                const T c = from[i * step];
                cost[i] = c > 0 ? static_cast<std::uint32_t>(c) : 0;
                kind[i] = c > 0 ? kind[i] : wall;
            }
        };
        if (given == 1) read(std::integral_constant<std::int64_t, 1>{});
        else read(given);
    }
    template <class T, class Found>
    void seeds_of(const std::int64_t* at, std::int64_t count, const Found& found) const {
        const T* const from = static_cast<const T*>(p_.seeds.data) + offset_in(p_, p_.seeds, at);
        const std::int64_t step = stride_in(p_, p_.seeds);
        const int last = t_.axes - 1;
        std::int64_t there[max_rank];
        std::copy_n(at, t_.axes, there);
        if (step == 1) prefetch_row(from, to_next_row(p_.seeds), count);
        constexpr std::int64_t some = 64;
        for (std::int64_t first = 0; first < count; first += some) {
            const std::int64_t end = std::min(count, first + some);
            T any{};
            if (step == 1)
                for (std::int64_t i = first; i < end; ++i) any = static_cast<T>(any | from[i]);
            else
                for (std::int64_t i = first; i < end; ++i) any = static_cast<T>(any | from[i * step]);
            for (std::int64_t i = first; any != 0 && i < end; ++i)
                if (from[i * step] != 0) there[last] = at[last] + i, found(i, t_.number_of(there));
        }
    }

    const problem& p_;
    const tiling& t_;
};

/// The keys of a row's cells.
template <class Key>
struct row_of_keys {
    using number = std::conditional_t<sizeof(typename Key::word) == 4, std::uint32_t, std::uint64_t>;

    const typename Key::word* key;
    const std::uint8_t* kind;
    number most;  ///< the largest cost of a path

    row_of_keys(const typename Key::word* keys, const std::uint8_t* kinds, std::uint64_t most_cost)
        : key(keys),
          kind(kinds),
          most(static_cast<number>(std::min<std::uint64_t>(most_cost, std::numeric_limits<number>::max()))) {}
    [[nodiscard]] number cost(std::int64_t i) const { return static_cast<number>(Key::cost(key[i])); }
    [[nodiscard]] std::uint64_t seed(std::int64_t i) const { return Key::seed(key[i]); }
    [[nodiscard]] bool is_reached(std::int64_t i) const {
        return (kind[i] != wall) & (key[i] != Key::unreached) & (cost(i) <= most);
    }
};

/// Writes rows of results. One object writes many rows and caches the last seed, which neighbours mostly share.
class row_writer {
public:
    explicit row_writer(const problem& p) : p_(p), t_(p.where) {}

    template <class Keys>
    void write(const std::int64_t* at, std::int64_t count, const Keys& row) {
        if (count == 0) return;
        if (p_.out.cost.wanted()) write_costs(at, count, row);
        if (!p_.out.index.wanted() && !p_.out.coordinates.wanted() && !p_.out.label.wanted()) return;
        known_ = false;  // the row may belong to another image
        for (std::int64_t i = 0; i < count; ++i) {
            const bool reached = row.is_reached(i);
            if (reached && (!known_ || row.seed(i) != seed_)) locate(row.seed(i), at);
            write_seed(at, i, reached);
        }
    }

private:
    template <class Keys>
    void write_costs(const std::int64_t* at, std::int64_t count, const Keys& row) {
        switch (p_.out.cost.type) {
            case dtype::int32: return write_costs<std::int32_t>(at, count, row);
            case dtype::uint32: return write_costs<std::uint32_t>(at, count, row);
            case dtype::int64: return write_costs<std::int64_t>(at, count, row);
            case dtype::uint64: return write_costs<std::uint64_t>(at, count, row);
            case dtype::float32: return write_costs<float>(at, count, row);
            default: return write_costs<double>(at, count, row);
        }
    }
    template <class T, class Keys>
    void write_costs(const std::int64_t* at, std::int64_t count, const Keys row) {
        using limits = std::numeric_limits<T>;
        T* const to = static_cast<T*>(p_.out.cost.data) + offset_in(p_, p_.out.cost, at);
        const std::int64_t step = stride_in(p_, p_.out.cost);
        const double unit = p_.unit;
        const auto value = [row, unit](std::int64_t i) {
            const auto cost = row.cost(i);
            if constexpr (limits::is_integer) return row.is_reached(i) ? static_cast<T>(cost) : limits::max();
            else return row.is_reached(i) ? static_cast<T>(static_cast<double>(cost) * unit) : limits::infinity();
        };
        if (step == 1) {
            for (std::int64_t i = 0; i < count; ++i) to[i] = value(i);
        } else {
            for (std::int64_t i = 0; i < count; ++i) to[i * step] = value(i);
        }
    }

    void locate(std::uint64_t seed, const std::int64_t* at) {
        seed_ = seed, known_ = true;
        std::copy_n(at, t_.batch, site_);
        for (int axis = t_.batch; axis < t_.axes; ++axis) {
            const auto size = static_cast<std::uint64_t>(t_.size[axis]);
            site_[axis] = static_cast<std::int64_t>(seed % size), seed /= size;
        }
        index_ = 0;
        for (int axis = t_.batch; axis < t_.axes; ++axis) index_ = index_ * t_.size[axis] + site_[axis];
        label_ = static_cast<const char*>(p_.seeds.data) + size_of(p_.seeds.type) * offset_in(p_, p_.seeds, site_);
    }
    void write_seed(const std::int64_t* at, std::int64_t i, bool reached) {
        if (const auto& v = p_.out.index; v.wanted()) {
            const std::int64_t to = offset_in(p_, v, at) + i * stride_in(p_, v), number = reached ? index_ : -1;
            if (v.type == dtype::int64) static_cast<std::int64_t*>(v.data)[to] = number;
            else static_cast<std::int32_t*>(v.data)[to] = static_cast<std::int32_t>(number);
        }
        if (const auto& v = p_.out.coordinates; v.wanted()) {
            std::int32_t* const to =
                static_cast<std::int32_t*>(v.data) + offset_in(p_, v, at, 1) + i * stride_in(p_, v, 1);
            const int batch = p_.rank - static_cast<int>(v.shape[0]);
            for (int axis = 0; axis < v.shape[0]; ++axis) to[axis * v.stride[0]] = reached ? 0 : -1;
            for (int axis = t_.batch; axis < t_.axes && reached; ++axis)
                to[(p_.axis_of[static_cast<std::size_t>(axis)] - batch) * v.stride[0]] =
                    static_cast<std::int32_t>(site_[axis]);
        }
        if (const auto& v = p_.out.label; v.wanted()) {
            const auto size = static_cast<std::size_t>(size_of(v.type));
            char* const to = static_cast<char*>(v.data) +
                             static_cast<std::int64_t>(size) * (offset_in(p_, v, at) + i * stride_in(p_, v));
            if (reached) std::memcpy(to, label_, size);
            else std::memset(to, 0, size);
        }
    }

    const problem& p_;
    const tiling& t_;
    bool known_ = false;
    std::uint64_t seed_ = 0;
    std::int64_t site_[max_rank]{}, index_ = 0;
    const char* label_ = nullptr;
};

}  // namespace nearfield::geodesics
