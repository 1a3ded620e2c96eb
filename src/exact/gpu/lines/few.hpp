// The rung for few sites: compares every cell with all sites that can win near it. See few.cu.
#pragma once

#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/ground/marks.hpp"
#include "exact/gpu/lines/few_limits.hpp"

namespace nearfield::exact::gpu {

constexpr std::int64_t few_box_cells = 4096;  // cells of a block

/// True if the rung is tried, for a call whose fields are contiguous. The device decides whether sites are few.
bool tries_few(const plan& p);

/// Returns the bytes of its lists, which nothing needs afterwards.
std::int64_t few_bytes(const plan& p);

/// Writes the fields if sites are few. `counters` receives the number of sites and what line_pass::many describes.
template <class V>
void solve_few(const option_call& call, const elements& image, const written_fields<V>& to, std::int32_t* counters,
               std::byte* lists);

}  // namespace nearfield::exact::gpu
