// The rung for few sites: compares every cell with all sites that can win near it. See few.cu.
#pragma once

#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/gpu/ground/line_pass.hpp"

namespace nearfield::exact::gpu {

constexpr std::int64_t few_box_cells = 4096;  // cells of a block

/// True if the rung is tried, for a call whose fields are contiguous. The device decides whether sites are few.
bool tries_few(const plan& p);
/// True if it is tried for a call in unit spacing without options. Values fit 32 bits if only the keys of sites do not.
inline bool tries_few_plainly(const plan& p) {
    return p.numbers != tier::float64 && p.largest < largest_narrow && tries_few(p);
}
/// True if it is tried before words, which serve distances or indices alone.
inline bool tries_few_alone(const plan& p) {
    return p.rank - p.first_axis == 3 && p.cells >= few_limit.least_alone && tries_few_plainly(p);
}

/// Returns the number of its counters. The second one is what line_pass::many describes.
std::int64_t few_counters(const plan& p);
/// Returns the bytes of its lists, which nothing needs afterwards.
std::int64_t few_bytes(const plan& p);

/// Returns the list of sites for kernels that read the image anyway; the counters must have been cleared.
template <class V>
few_sites<V> few_list(const plan& p, std::int32_t* counters, std::byte* memory);

/// Clears the counters and lists the sites, for all other calls.
template <class V>
void list_few(const option_call& call, const elements& image, std::int32_t* counters, std::byte* memory);

/// Writes the fields if sites are few.
template <class V>
void compare_few(const option_call& call, const written_fields<V>& to, std::int32_t* counters, std::byte* memory);

}  // namespace nearfield::exact::gpu
