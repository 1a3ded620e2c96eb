// Output of a pass for the winners of its rows: keys of the next pass, or the caller's fields.
#pragma once

#include "exact/gpu/ground/column.cuh"
#include "exact/gpu/ground/items.cuh"

namespace nearfield::exact::gpu {
namespace {

/// A site and the row in which it was found.
template <class K>
struct site_of_row {
    K key;
    int row;
};

/// Writes the winners of the first `count` of Count rows from row m on; in a last pass, of the lane's line.
template <class C, bool Last>
class store_of {
    using V = typename C::V;
    using K = typename C::K;

public:
    __device__ explicit store_of(const C& c) : c_(c) {
        if (Last || c.g.values) border_ = end_beside(c.g.out.closed, c.g.out.closed_beside);
        if (Last && c.g.out.trusted) open_ = end_beside(c.g.out.open, c.g.out.open_beside);
    }

    template <int Count>
    __device__ void operator()(int m, int count, const winner<V, K> (&best)[Count]) const {
        put<Count, false, !C::values>(
            m, count, [&](int i) { return best[i].value; },
            [&](int i) { return site_of_row<K>{best[i].key, best[i].row}; });
    }
    /// Does the same for values below 2^23, and for sites that are computed on demand, if `Sites`.
    template <int Count, bool Sites, class Value, class Site>
    __device__ void put_near(int m, const Value& value, const Site& site) const {
        put<Count, true, Sites>(m, Count, value, site);
    }

private:
    template <int Count, bool Near, bool Sites, class Value, class Site>
    __device__ void put(int m, int count, const Value& value, const Site& site) const {
        const auto each = [&](const auto& body) {
            std::int64_t cell = c_.cell(m);
#pragma unroll
            for (int i = 0; i < Count; ++i, cell += c_.g.inner)
                if (Near || i < count) body(i, cell);
        };
        if constexpr (Last) put_fields<Count, Near, Sites>(m, count, value, site, each);
        else put_next<Near>(m, value, site, each);
    }

    /// Writes what the next pass reads.
    template <bool Near, class Value, class Site, class Each>
    __device__ void put_next(int m, const Value& value, const Site& site, const Each& each) const {
        const auto& to = c_.g.out;
        if (C::values || c_.g.values) {
            const auto store = [&](std::int64_t cell, V v) {
                static_cast<V*>(c_.g.to)[cell] = v > c_.g.limit ? no_site<V>() : v;
            };
            const auto closed = [&](int i) { return min(value(i), end_of(to.closed, border_, m + i)); };
            if (to.has_ends()) each([&](int i, std::int64_t cell) { store(cell, closed(i)); });
            else each([&](int i, std::int64_t cell) { store(cell, value(i)); });
            return;
        }
        each([&](int i, std::int64_t cell) {
            const site_of_row<K> s = site(i);
            const bool none = s.key < 0 || (Near && value(i) > c_.g.limit);
            K key = none ? c_.none() : c_.with_row(s.key, s.row);
            if constexpr (C::valued)
                if (!none && c_.g.axis > c_.g.m.first_axis) key |= static_cast<K>(value(i)) << 32;
            static_cast<K*>(c_.g.to)[cell] = key;
            if constexpr (C::powers) c_.g.after[cell] = value(i);
        });
    }

    template <int Count, bool Near, bool Sites, class Value, class Site, class Each>
    __device__ void put_fields(int m, int count, const Value& value, const Site& site, const Each& each) const {
        const auto& to = c_.g.out;
        V values[Count];
        bool nowhere[Count];
#pragma unroll
        for (int i = 0; i < Count; ++i) values[i] = value(i), nowhere[i] = false;
        // A closed end wins only if it is strictly nearer than every site of the grid.
        if (to.has_ends()) {
#pragma unroll
            for (int i = 0; i < Count; ++i) {
                const V border = end_of(to.closed, border_, m + i);
                if (border < values[i]) values[i] = border, nowhere[i] = true;
            }
        }
        if constexpr (!Near && C::clamps)
            if (to.beyond != nullptr)
                for (int i = 0; i < Count; ++i)
                    if (i < count && values[i] > to.limit) *to.beyond = 1;
        if (to.trusted) each([&](int i, std::int64_t cell) { to.trusted[cell] = is_trusted(values[i], m + i); });
        const bool written = put_alone<Near>(values, each),
                   sites = Sites && (to.out.index || to.out.index32 || to.label || to.out.coordinates);
        if (!written || (sites && !Near))
            each_once<Count>(count, values, [&](int k, V value_of_row) {
                const std::int64_t cell = c_.cell(m + k);
                if (!written) put_value<Near>(cell, value_of_row);
                if constexpr (!Near && Sites)
                    if (sites) put_site_once<Count>(cell, k, site, nowhere, value_of_row);
            });
        if constexpr (Near && Sites)
            if (sites) {
                const auto put_sites = [&](const auto& put) {
                    each([&](int i, std::int64_t cell) {
                        const site_of_row<K> s = site(i);
                        put(cell, s, s.key >= 0 && !nowhere[i] && !(values[i] > to.limit));
                    });
                };
                if (to.out.coordinates && has_all_axes() && !to.out.index && !to.out.index32 && !to.label)
                    put_sites([&](auto... of) { put_coordinates(of...); });
                else put_sites([&](auto... of) { put_site(of...); });
            }
    }

    /// Writes the values of all rows if the fields are a distance or a bit, or signed distances of near rows of 1 or 4
    /// bytes a cell, or if no values are wanted. Returns false for all others.
    template <bool Near, int Count, class Each>
    __device__ bool put_alone(const V (&values)[Count], const Each& each) const {
        const auto& to = c_.g.out;
        if (to.is_signed()) {
            if (!Near || !to.out.only_distance32) return false;
            float sign[Count];  // of all rows, so that no load waits for another
            const auto load = [&](const auto* image, auto keep) {
                each([&](int i, std::int64_t cell) {
                    sign[i] = static_cast<float>((image[cell] & keep) == 0 ? to.zero_sign : to.other_sign);
                });
            };
            if (to.image_bytes == 1) load(reinterpret_cast<const std::uint8_t*>(to.image), 0xff);
            else if (to.image_bytes == 4)
                load(reinterpret_cast<const std::uint32_t*>(to.image), to.floating ? ~0u >> 1 : ~0u);
            else return false;
            put_distances<Near>(values, [&](int i) { return sign[i]; }, each);
        } else if (to.out.only_distance32) {
            put_distances<Near>(values, [](int) { return 1.0f; }, each);
        } else if (to.out.only_within) {
            each([&](int i, std::int64_t cell) { to.out.within[cell] = !(values[i] > to.limit); });
        } else {
            return !to.out.distance32 && !to.out.distance64 && !to.out.distance16 && !to.out.within &&
                   !to.out.squared32 && !to.out.squared64 && !to.out.squared_float && !to.out.squared_float32;
        }
        return true;
    }

    /// Writes distances of 32 bits with a sign(i) for each row. What rows have in common is decided before them.
    template <bool Near, int Count, class Sign, class Each>
    __device__ void put_distances(const V (&values)[Count], const Sign& sign, const Each& each) const {
        const auto& to = c_.g.out;
        const auto put = [&](const auto& root) {
            each([&](int i, std::int64_t cell) { to.out.distance32[cell] = sign(i) * root(values[i]); });
        };
        if (Near && to.out.unit != 0) put([&](V value) { return near_root_of(value); });
        else put([&](V value) { return root32(value, to.limit, to.out.unit2); });
    }

    /// Calls body(k, values[k]) for one row after another: a copy of the code of all fields for each row would be most
    /// of a kernel.
    template <int Count, class Body>
    static __device__ void each_once(int count, const V (&values)[Count], const Body& body) {
#pragma unroll 1
        for (int k = 0; k < min(Count, count); ++k) {
            V value = values[0];
#pragma unroll
            for (int i = 1; i < Count; ++i) value = i == k ? values[i] : value;
            body(k, value);
        }
    }
    /// Writes a cell's value as any fields.
    template <bool Near>
    __device__ void put_value(std::int64_t cell, V value) const {
        const auto& to = c_.g.out;
        if (!to.is_signed()) return to.out.put_value(cell, value, to.limit);
        const std::uint64_t bits = load_bits(to.image, to.image_bytes, cell);
        put_signed<Near>(cell, value, is_zero(bits, to.image_bytes, to.floating));
    }
    /// Writes the site of row k of `Count`.
    template <int Count, class Site>
    __device__ void put_site_once(std::int64_t cell, int k, const Site& site, const bool (&nowhere)[Count],
                                  V value) const {
        site_of_row<K> s = site(0);
        bool none = nowhere[0];
#pragma unroll
        for (int i = 1; i < Count; ++i)
            if (i == k) s = site(i), none = nowhere[i];
        put_site(cell, s, s.key >= 0 && !none && !(value > c_.g.out.limit));
    }
    /// Returns the value of the nearest end of those of `axes` that are done, or `beside`. Keys may lack coordinates.
    [[nodiscard]] __device__ V end_beside(unsigned axes, V beside) const {
        if (axes == 0) return beside;
        std::int64_t rest = c_.cell(0) - c_.start();
        for (int i = 0; i < c_.g.m.rank - 1 - c_.g.axis; ++i) {
            const std::int64_t size = c_.g.done_size[i], above = quotient(rest, size);
            const int at = static_cast<int>(rest - above * size);
            if (axes >> (c_.g.m.rank - 1 - i) & 1)
                beside = min(beside, c_.to_end(c_.g.done_weight[i], at, c_.g.done_size[i], c_.g.done_most_steps[i]));
            rest = above;
        }
        return beside;
    }
    /// Returns the smaller one of that value and of the way to the nearest end of this axis, if it is one of `axes`.
    [[nodiscard]] __device__ V end_of(unsigned axes, V beside, int m) const {
        const bool has_end = (axes >> c_.g.axis & 1) != 0;
        return has_end ? min(beside, c_.to_end(c_.g.weight, m, c_.rows(), c_.g.most_steps)) : beside;
    }
    [[nodiscard]] __device__ bool is_trusted(V value, int m) const {
        const auto& to = c_.g.out;
        if (to.open == 0 && !(to.open_beside < no_site<V>())) return true;
        const V open = end_of(to.open, open_, m);
        return value > to.limit ? to.limited && open > to.limit : !(open < value);
    }
    /// Returns the distance. For a near value, which is below 2^23, it takes the fast root of a whole number if exact.
    template <bool Near>
    [[nodiscard]] __device__ float root_of(V value) const {
        const auto& to = c_.g.out;
        return Near && to.out.unit != 0 ? near_root_of(value) : root32(value, to.limit, to.out.unit2);
    }
    [[nodiscard]] __device__ float near_root_of(V value) const {
        const auto& to = c_.g.out;
        return value > to.limit ? endless() : root_of_whole(static_cast<float>(value)) * to.out.unit;
    }
    template <bool Near>
    __device__ void put_signed(std::int64_t cell, V value, bool zero) const {
        const auto& to = c_.g.out;
        const int sign = zero ? to.zero_sign : to.other_sign;
        const double infinite = __longlong_as_double(0x7ff0000000000000);
        if (to.out.distance32) to.out.distance32[cell] = static_cast<float>(sign) * root_of<Near>(value);
        if (to.out.distance64)
            to.out.distance64[cell] = sign * (value > to.limit ? infinite : __dsqrt_rn(in_unit(value, to.out.unit2)));
    }

    /// True if the problem has all axes of the image: none has length 1.
    [[nodiscard]] __device__ bool has_all_axes() const { return c_.g.out.out.image_rank == c_.done() + 1; }
    __device__ void put_coordinates(std::int64_t cell, const site_of_row<K>& best, bool found) const {
        const outputs& to = c_.g.out.out;
        std::int32_t* const coordinates = to.coordinates + cell;
        coordinates[0] = found ? c_.row_in(best.row) : -1;
#pragma unroll(C::unrolled)
        for (int i = 0; i < C::most_done; ++i)
            if (i < c_.done()) coordinates[(c_.done() - i) * to.cells] = found ? c_.coordinate(best.key, i) : -1;
    }
    __device__ void put_site(std::int64_t cell, const site_of_row<K>& best, bool found) const {
        const auto& to = c_.g.out;
        const int row = c_.row_in(best.row);
        std::int64_t linear = -1;
        if (found) {
            // If keys fit 31 bits, so do the numbers of cells of a plane.
            std::conditional_t<sizeof(K) == 4, std::int32_t, std::int64_t> plane = 0;
            for (int i = c_.done() - 1; i >= 0; --i) plane = plane * c_.g.done_size[i] + c_.coordinate(best.key, i);
            linear = row * c_.g.inner + plane;
        }
        if (to.out.index) to.out.index[cell] = linear;
        if (to.out.index32) to.out.index32[cell] = static_cast<std::int32_t>(linear);
        if (to.label)
            store_bits(static_cast<std::byte*>(to.label), to.image_bytes, cell,
                       found ? load_bits(to.image, to.image_bytes, c_.start() + linear) : 0);
        if (to.out.coordinates == nullptr) return;
        if (has_all_axes()) return put_coordinates(cell, best, found);
        for (int i = 0; i < to.out.image_rank; ++i) {
            const int axis = to.out.problem_axis[i];
            to.out.coordinates[i * to.out.cells + cell] = !found     ? -1
                                                          : axis < 0 ? 0
                                                          : axis == c_.g.axis
                                                              ? row
                                                              : c_.coordinate(best.key, c_.g.m.rank - 1 - axis);
        }
    }

    const C& c_;
    V border_ = no_site<V>(), open_ = no_site<V>();  ///< of the nearest closed and open end of the axes that are done
};

}  // namespace
}  // namespace nearfield::exact::gpu
