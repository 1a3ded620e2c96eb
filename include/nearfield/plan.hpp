// Plans of calls, made before they run: passes, tiles, bytes.
#pragma once

#include <functional>
#include <span>

#include "nearfield/call_plan.hpp"
#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Plans distance_transform for these arguments. Checks them as it does, but reads no data, so that views without data
/// (null pointers) may be given; needs no GPU. Throws unsupported for a device in a build without CUDA.
[[nodiscard]] call_plan plan(const host& on, const any_input<host>& image, const fields<host>& out,
                             const distance_options& options = {});
[[nodiscard]] call_plan plan(const device& on, const any_input<device>& image, const fields<device>& out,
                             const distance_options& options = {});

/// Plans distance_transform for a list of jobs: which jobs are solved together, and the largest workspace of all.
[[nodiscard]] call_plan plan(const host& on, std::span<const job<host>> jobs, const distance_options& options = {});
[[nodiscard]] call_plan plan(const device& on, std::span<const job<device>> jobs, const distance_options& options = {});

/// Plans power_diagram for these arguments.
[[nodiscard]] call_plan plan_power_diagram(const host& on, const any_input<host>& seeds, const any_input<host>& weights,
                                           const fields<host>& out, const distance_options& options = {});
[[nodiscard]] call_plan plan_power_diagram(const device& on, const any_input<device>& seeds,
                                           const any_input<device>& weights, const fields<device>& out,
                                           const distance_options& options = {});

/// Plans the calls that `calls` makes on this thread: those of distances, morphology, thickness, balls, natural
/// neighbours, medial axes, skeletons and graphs, watersheds, split, components, surface metrics, filling, geodesic
/// distances, robots' fields, paths, roadmaps, pores; on the host also meshes, isosurfaces, rays, pictures, stippling
/// and centroidal diagrams; others have no plan. They check arguments and take their steps, but touch no cells: arrays
/// need addresses, but no memory; meshes, rays, sites are read. Results mean nothing. Needs no GPU. Throws as they do.
///
///   call_plan p = plan([&] { local_thickness(device{}, image, {.thickness = out}); });
///
/// Array bytes are those of the first call; workspace_bytes is the peak of all, without memory that depends on the
/// values of cells, which the steps name: basins of a watershed, points of a surface, rows of tables. Skeletons are
/// planned as if all cells were foreground, surfaces as if one label filled the image.
[[nodiscard]] call_plan plan(const std::function<void()>& calls);

/// True while plan(calls) runs `calls` on this thread.
[[nodiscard]] bool planning() noexcept;

}  // namespace nearfield
