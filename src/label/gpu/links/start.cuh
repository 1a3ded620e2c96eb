// Launches the kernels that find links of values.
#pragma once

#include "label/gpu/links/find.hpp"
#include "label/gpu/links/values.cuh"

namespace nearfield::labelling {

template <class T, int Channels, bool Within>
void start_links(const device_call<narrow_id>& call, const link_job& job) {
    using number = std::conditional_t<std::is_floating_point_v<T>, T, statistics::bits_of<T>>;
    T zero{};
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) zero = std::numeric_limits<T>::lowest();
    pixel_source<number, Channels, Within> from(
        static_cast<const number*>(call.image.data), call.strides_of(call.image),
        rule_of_numbers<number>(make_rule<T>(call.p.options)), static_cast<number>(zero));
    if (call.p.colour) {
        from.channels = call.p.channels;
        from.channel_stride = call.image.stride[static_cast<std::size_t>(call.image.rank - 1)];
    }
    const auto strips = link_strips::make(call.grid);
    const auto start = [&]<bool Deep>() {
        using walk = value_walk<Deep, number, Channels, Within>;
        cuda::launch_overlapped(call.on, find_links<Deep, walk>, cuda::blocks_for(strips.count(call.grid), walk::warps),
                                walk::warps * cuda::warp, 0, call.grid, from, strips, job.kinds, job.order, job.links);
    };
    if (call.p.rank > 2) start.template operator()<true>();
    else start.template operator()<false>();
}

template <class T, int Channels>
void choose_links(const device_call<narrow_id>& call, const link_job& job) {
    if (call.p.options.criterion == criterion::within) start_links<T, Channels, true>(call, job);
    else start_links<T, Channels, false>(call, job);
}

}  // namespace nearfield::labelling
