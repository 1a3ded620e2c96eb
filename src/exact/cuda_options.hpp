// The device engine with options: half cells, borders, classes and signs, a limit, power diagrams, batches, every
// field.
#pragma once

#include <span>

#include "exact/cuda_options_item.cuh"
#include "exact/plan.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::exact {

/// A problem, and where its cells go.
struct option_call {
    const device& on;
    const plan& p;                     ///< of the problem: with a list, one batch axis and padded sizes
    const any_input<device>& image;    ///< of the first item: its element type
    const fields<device>& out;         ///< of the first item: which fields, and their types
    const any_input<device>* weights;  ///< of a power diagram
    std::span<const item> list;        ///< one item is the call itself: its image is read where it lies
    call_plan* described = nullptr;    ///< when given, gets the passes, and nothing is started
};

/// The part of an item that follows from a call's own plan.
item item_for(const plan& p, const any_input<device>& image, const fields<device>& out);

// Return the bytes of workspace.
std::int64_t options_int32(const option_call& call);
std::int64_t options_int64(const option_call& call);
std::int64_t options_float64(const option_call& call);
std::int64_t with_options(const option_call& call);

/// Many calls of any sizes, alike else. Images whose sizes along every axis are within a factor of 1.4 (equal along
/// periodic axes) are solved as one batch, padded to the largest by repeating their last cells: a padded cell is
/// farther than the one it repeats, so it wins nowhere. Costs a copy of the images, the work and workspace of the
/// padded cells (up to 2.8 times as many in 3-D; for 2^26 cells at a time, for fewer where memory is short), and a
/// launch per six images that carries their pointers. Large images, which fill a GPU alone, are solved one by one.
void run_list(const device& on, std::span<const plan> plans, std::span<const job<device>> jobs);

}  // namespace nearfield::exact
