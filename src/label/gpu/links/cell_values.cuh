// Values of cells: where they are read, and the rule that connects two of them.
#pragma once

#include "label/core.hpp"
#include "label/statistics.hpp"

namespace nearfield::labelling {

/// A value, or up to four channels of a colour, in registers. Missing channels are 0.
template <class T, int Channels>
struct alignas(Channels * sizeof(T) > 16 ? 16 : Channels * sizeof(T)) pixel {
    T of[Channels];
    [[nodiscard]] __device__ pixel from_lane_before() const {
        pixel p;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            if constexpr (sizeof(T) < 4)
                p.of[c] = static_cast<T>(__shfl_up_sync(cuda::every_lane, static_cast<int>(of[c]), 1));
            else p.of[c] = __shfl_up_sync(cuda::every_lane, of[c], 1);
        }
        return p;
    }
};

/// Source of the cells, and the rule for them: equal, or `Within` a tolerance. No branch depends on values. Signed
/// integers that are subtracted become natural numbers in the same order, by `flip`. Short integers take a
/// register.
template <class T, int Channels, bool Within>
struct pixel_source {
    using number = std::conditional_t<Channels == 1 && sizeof(T) < 4, std::uint32_t, T>;
    using value = pixel<number, Channels>;
    using sum = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>>;
    static_assert(std::is_floating_point_v<T> || Channels * sizeof(T) <= 8, "sums of differences fit");
    const T* data;
    strides at;
    int channels;
    std::int64_t channel_stride;
    bool all_linked;  ///< cells are only zero or nonzero: do not call `linked`
    bool has_background, nan_background;
    colour_norm norm;
    T background, flip;
    sum tolerance;
    double tolerance2;

    pixel_source(const T* cells, const strides& where, const rule<T>& r, T zero)
        : data(cells),
          at(where),
          channels(1),
          channel_stride(0),
          all_linked(r.kind == criterion::nonzero),
          has_background(all_linked || r.has_background),
          nan_background(!all_linked && r.nan_background),
          norm(r.norm),
          background(static_cast<T>(all_linked ? T{} : of_cell(r.background, zero))),
          flip(Within ? zero : T{}),
          tolerance(limited(r.tolerance)),
          tolerance2(r.tolerance2) {}

    [[nodiscard]] __device__ const T* image(std::int64_t number) const { return data + at.image(number); }
    [[nodiscard]] __device__ value load(const T* cell) const { return in_order(load_raw(cell)); }
    /// Loads a value as stored; in_order() converts it later, so that several loads are in flight.
    [[nodiscard]] __device__ value load_raw(const T* cell) const {
        value v{};
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            if (Channels > 1 && c >= channels) continue;
            v.of[c] = Channels == 1 ? *cell : cell[c * channel_stride];
        }
        return v;
    }
    [[nodiscard]] __device__ value in_order(value v) const {
        if constexpr (std::is_integral_v<T> && Within)
#pragma unroll
            for (int c = 0; c < Channels; ++c) v.of[c] = static_cast<number>(v.of[c] ^ flip);
        return v;
    }
    /// True if the value is not the background, if there is one.
    [[nodiscard]] __device__ bool stands_out(const value& v) const {
        bool differs = false, is_number = false;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            const bool there = Channels == 1 || c < channels;
            differs = differs | (there & (v.of[c] != background));
            is_number = is_number | (there & (v.of[c] == v.of[c]));
        }
        if constexpr (std::is_integral_v<T>) return differs;
        else return nan_background ? is_number : differs;
    }
    [[nodiscard]] __device__ bool foreground(const value& v) const { return !has_background || stands_out(v); }
    [[nodiscard]] __device__ static bool equal(const value& a, const value& b) {
        bool equal = true;
#pragma unroll
        for (int c = 0; c < Channels; ++c) equal = equal & (a.of[c] == b.of[c]);
        return equal;
    }
    [[nodiscard]] __device__ bool linked(const value& a, const value& b) const {
        if constexpr (!Within) return equal(a, b);
        bool near = true;
        sum total{};
        double squares = 0;
#pragma unroll
        for (int c = 0; c < Channels; ++c) {
            const sum d = difference(a.of[c], b.of[c]);
            near = near & (d <= tolerance);
            if constexpr (Channels > 1) {
                total += d;
                if (norm == colour_norm::euclidean) squares += static_cast<double>(d) * static_cast<double>(d);
            }
        }
        if constexpr (Channels == 1) return near;
        return norm == colour_norm::maximum ? near
               : norm == colour_norm::sum   ? total <= tolerance
                                            : squares <= tolerance2;
    }

private:
    /// Returns the background in the order of the values; if they are not subtracted, cells stay as they are.
    [[nodiscard]] static T of_cell(T background, T zero) {
        if constexpr (std::is_integral_v<T> && !Within) return static_cast<T>(background ^ zero);
        else return background;
    }
    [[nodiscard]] __device__ static sum difference(number a, number b) {
        if constexpr (std::is_floating_point_v<T>) {
            const double d = static_cast<double>(a) - static_cast<double>(b);
            return a == b ? 0 : d < 0 ? -d : d;  // equal infinities
        } else {
            return static_cast<sum>(a < b ? b - a : a - b);
        }
    }
    [[nodiscard]] static sum limited(measure<T> t) {
        if constexpr (!std::is_floating_point_v<T>)
            if (t > std::numeric_limits<sum>::max()) return std::numeric_limits<sum>::max();
        return static_cast<sum>(t);
    }
};

}  // namespace nearfield::labelling
