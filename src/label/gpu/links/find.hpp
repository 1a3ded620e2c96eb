// Orders what finds links of an image's cells (gpu/links/links.cuh), for the files that are compiled apart.
#pragma once

#include "label/gpu/call.hpp"
#include "label/gpu/links/store.cuh"
#include "label/statistics.hpp"

namespace nearfield::labelling {

/// What is to be found: how many kinds of slanted links, the order of words, and where they go.
struct link_job {
    int kinds;
    tile_order order;
    link_store links;
};

/// Of bytes that can be read 16 at a time (has_plain_bytes()).
void start_byte_links(const device_call<narrow_id>& call, const link_job& job);
/// Of all others.
void start_value_links(const device_call<narrow_id>& call, const link_job& job);
void start_colour_links(const device_call<narrow_id>& call, const link_job& job);
/// Of criterion::links.
void start_graph_links(const device_call<narrow_id>& call, const link_job& job);

/// The same decisions about natural numbers in the order of the values; floating point as it is.
template <class Number, class T>
rule<Number> rule_of_numbers(const rule<T>& r) {
    if constexpr (std::is_floating_point_v<T>) return r;
    else
        return {r.kind,
                r.has_background,
                r.nan_background,
                r.norm,
                static_cast<Number>(statistics::key_of(r.background)),
                r.tolerance,
                r.tolerance2};
}

}  // namespace nearfield::labelling
