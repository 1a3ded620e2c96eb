// The two ends of a call on a device: from the caller's image to packed sites, and from packed sites to the caller's
// fields. A thread takes four cells in a row, so that it moves sites by 16 bytes, and requests four such groups before
// it uses the first: requests of one byte a thread would leave the memory idle.
#pragma once

#include "base/cuda.cuh"
#include "base/divide.hpp"
#include "base/lines.hpp"
#include "methods/problem.hpp"

namespace nearfield::methods::ends_of_a_call {

inline constexpr int threads = 256, groups = 4;
inline constexpr std::int64_t cells_a_block = threads * groups * 4;

template <class T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) four {
    T of[4];
};

/// A cell's coordinates.
struct place {
    std::int32_t z, y, x;
};
/// Computes cells' coordinates. A grid has fewer than 2^31 cells, so numbers have 32 bits.
struct places {
    divisor nx, ny;

    explicit places(const grid& g) : nx(g.size[2]), ny(g.size[1]) {}
    __device__ place of(std::int64_t cell) const {
        const auto number = static_cast<std::uint32_t>(cell);
        const std::uint32_t row = nx.quotient(number), z = ny.quotient(row);
        return {static_cast<std::int32_t>(z), static_cast<std::int32_t>(row - z * ny.by),
                static_cast<std::int32_t>(number - row * nx.by)};
    }
    __device__ std::int32_t number(const place& at) const {
        return (at.z * static_cast<std::int32_t>(ny.by) + at.y) * static_cast<std::int32_t>(nx.by) + at.x;
    }
    __device__ void next(place& at) const {
        if (++at.x < static_cast<std::int32_t>(nx.by)) return;
        at.x = 0;
        if (++at.y < static_cast<std::int32_t>(ny.by)) return;
        at.y = 0, ++at.z;
    }
};

/// A caller's array in 3-D, with axes of length 1 in front. Kernels take it by value.
template <class T>
struct strided {
    using value = std::remove_const_t<T>;
    T* data;
    std::int64_t stride[3], cells;
    bool by_fours;  ///< true if it is contiguous and aligned for groups of four

    template <class Element>
    static strided of(const any_view<Element, device>& v, int rank) {
        strided s{static_cast<T*>(v.data), {}, 1, false};
        const std::int64_t *const size = v.shape.data() + v.rank - rank, *const stride =
                                                                             v.stride.data() + v.rank - rank;
        for (int axis = 0; axis < rank; ++axis) s.stride[3 - rank + axis] = stride[axis], s.cells *= size[axis];
        s.by_fours =
            is_contiguous(size, stride, rank) && reinterpret_cast<std::uintptr_t>(s.data) % alignof(four<value>) == 0;
        return s;
    }
    __device__ T& at(const place& p) const { return data[p.z * stride[0] + p.y * stride[1] + p.x * stride[2]]; }

    /// Reads up to four cells from `first` on; stops at the end of the array.
    __device__ four<value> get(std::int64_t first, const places& where) const {
        if (by_fours && first + 4 <= cells) return *reinterpret_cast<const four<value>*>(data + first);
        four<value> some{};
        place p = where.of(first);
#pragma unroll
        for (int k = 0; k < 4; ++k, where.next(p))
            if (first + k < cells) some.of[k] = at(p);
        return some;
    }
    __device__ void put(std::int64_t first, const places& where, const four<value>& some) const {
        if (by_fours && first + 4 <= cells) {
            *reinterpret_cast<four<value>*>(data + first) = some;
            return;
        }
        place p = where.of(first);
#pragma unroll
        for (int k = 0; k < 4; ++k, where.next(p))
            if (first + k < cells) at(p) = some.of[k];
    }
};

/// Views packed sites as an array.
template <class Key>
strided<Key> sites_in(const grid& g, Key* site) {
    return {site, {g.size[1] * g.size[2], g.size[2], 1}, g.cells(), true};
}

/// Calls put(first cell, result of get(first cell)) for the groups of four cells that the thread owns.
template <class Get, class Put>
__device__ void by_groups(std::int64_t cells, const Get& get, const Put& put) {
    const std::int64_t first = blockIdx.x * cells_a_block + threadIdx.x * 4;
    decltype(get(first)) held[groups];
#pragma unroll
    for (int k = 0; k < groups; ++k)
        if (first + k * threads * 4 < cells) held[k] = get(first + k * threads * 4);
#pragma unroll
    for (int k = 0; k < groups; ++k)
        if (first + k * threads * 4 < cells) put(first + k * threads * 4, held[k]);
}

template <class Bits, class Key>
__global__ void __launch_bounds__(threads)
    read_sites(packing keys, places where, strided<const Bits> image, Bits keep, bool zero_is_site, strided<Key> site) {
    by_groups(
        site.cells, [&](std::int64_t first) { return image.get(first, where); },
        [&](std::int64_t first, const four<Bits>& bits) {
            four<Key> found;
            place at = where.of(first);
#pragma unroll
            for (int k = 0; k < 4; ++k, where.next(at)) {
                const bool zero = (bits.of[k] & keep) == 0;
                found.of[k] = zero == zero_is_site ? keys.template pack<Key>(at.z, at.y, at.x) : none<Key>;
            }
            site.put(first, where, found);
        });
}

/// Computes the distance of a cell that has a site.
template <class V, class Key>
struct ruler {
    metric<V> m;
    places where;
    const std::int32_t* price;  ///< prices of paths; null if distances are those to the sites
    double first_weight;

    __device__ V squared(Key site, const place& at) const { return m.between(site, at.z, at.y, at.x); }
    __device__ double distance(Key site, std::int64_t cell, const place& at) const {
        return price != nullptr ? distance_of(price[cell], first_weight) : distance_of(squared(site, at));
    }
};

/// Stores value(site, cell, place) for every cell.
template <class T, class V, class Key, class Value>
__device__ void write_by(const ruler<V, Key>& by, const strided<const Key>& site, const strided<T>& to,
                         const Value& value) {
    by_groups(
        site.cells, [&](std::int64_t first) { return site.get(first, by.where); },
        [&](std::int64_t first, const four<Key>& keys) {
            four<T> out;
            place at = by.where.of(first);
#pragma unroll
            for (int k = 0; k < 4; ++k, by.where.next(at))
                out.of[k] = first + k < site.cells ? value(keys.of[k], first + k, at) : T{};
            to.put(first, by.where, out);
        });
}

template <class V, class Key>
__global__ void __launch_bounds__(threads)
    forget_far(ruler<V, Key> by, double limit, strided<const Key> site, strided<Key> to) {
    write_by(by, site, to, [&](Key key, std::int64_t cell, const place& at) {
        return key < 0 || by.distance(key, cell, at) > limit ? none<Key> : key;
    });
}

template <class T, class V, class Key>
__global__ void __launch_bounds__(threads) write_distance(ruler<V, Key> by, strided<const Key> site, strided<T> to) {
    write_by(by, site, to, [&](Key key, std::int64_t cell, const place& at) {
        return key < 0 ? static_cast<T>(INFINITY) : static_cast<T>(by.distance(key, cell, at));
    });
}

template <class T, class V, class Key>
__global__ void __launch_bounds__(threads)
    write_squared(ruler<V, Key> by, strided<const Key> site, T without, strided<T> to) {
    write_by(by, site, to, [&](Key key, std::int64_t, const place& at) {
        return key < 0 ? without : static_cast<T>(by.squared(key, at));
    });
}

/// Stores value(site) for every cell.
template <class T, class Key, class Value>
__device__ void write_of_sites(const places& where, const strided<const Key>& site, const strided<T>& to,
                               const Value& value) {
    by_groups(
        site.cells, [&](std::int64_t first) { return site.get(first, where); },
        [&](std::int64_t first, const four<Key>& keys) {
            four<T> out;
#pragma unroll
            for (int k = 0; k < 4; ++k) out.of[k] = first + k < site.cells ? value(keys.of[k]) : T{};
            to.put(first, where, out);
        });
}

template <class Key>
__device__ place place_of(const packing& keys, Key site) {
    return {keys.coordinate(site, 0), keys.coordinate(site, 1), keys.coordinate(site, 2)};
}

template <class T, class Key>
__global__ void __launch_bounds__(threads)
    write_index(packing keys, places where, strided<const Key> site, strided<T> to) {
    write_of_sites(where, site, to,
                   [&](Key key) { return key < 0 ? T{-1} : static_cast<T>(where.number(place_of(keys, key))); });
}

template <class Key>
__global__ void __launch_bounds__(threads)
    write_coordinate(packing keys, places where, int axis, strided<const Key> site, strided<std::int32_t> to) {
    write_of_sites(where, site, to, [&](Key key) { return key < 0 ? -1 : keys.coordinate(key, axis); });
}

template <class Bits, class Key>
__global__ void __launch_bounds__(threads)
    write_label(packing keys, places where, strided<const Key> site, strided<const Bits> image, strided<Bits> to) {
    write_of_sites(where, site, to, [&](Key key) { return key < 0 ? Bits{} : image.at(place_of(keys, key)); });
}

}  // namespace nearfield::methods::ends_of_a_call
