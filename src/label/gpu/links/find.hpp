// Launches the kernels that find links of an image's cells (gpu/links/links.cuh), for separately compiled files.
#pragma once

#include "label/gpu/call.hpp"
#include "label/gpu/links/store.cuh"
#include "label/statistics.hpp"

namespace nearfield::labelling {

/// A request for links: how many kinds of slanted ones, the order of words, and the destination.
struct link_job {
    int kinds;
    tile_order order;
    link_store links;
};

/// Finds links of bytes that can be read 16 at a time (has_plain_bytes()).
void start_byte_links(const device_call<narrow_id>& call, const link_job& job);
/// Finds links of all other values.
void start_value_links(const device_call<narrow_id>& call, const link_job& job);
void start_colour_links(const device_call<narrow_id>& call, const link_job& job);
/// Finds links for criterion::links.
void start_graph_links(const device_call<narrow_id>& call, const link_job& job);

/// Returns the rule for natural numbers in the order of the values; floating point stays as it is.
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
