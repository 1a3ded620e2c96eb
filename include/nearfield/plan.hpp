// What a call would do, before it runs: passes, tiles, bytes.
#pragma once

#include <functional>
#include <span>

#include "nearfield/call_plan.hpp"
#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// What distance_transform would do with these arguments. Checks them as it does, but reads no data, so that views
/// without data (null pointers) may be given; needs no GPU. Throws unsupported for a device in a build without CUDA.
[[nodiscard]] call_plan plan(const host& on, const any_input<host>& image, const fields<host>& out,
                             const distance_options& options = {});
[[nodiscard]] call_plan plan(const device& on, const any_input<device>& image, const fields<device>& out,
                             const distance_options& options = {});

/// What distance_transform would do with a list of jobs: which are solved together, and the largest workspace of all.
[[nodiscard]] call_plan plan(const host& on, std::span<const job<host>> jobs, const distance_options& options = {});
[[nodiscard]] call_plan plan(const device& on, std::span<const job<device>> jobs, const distance_options& options = {});

/// What power_diagram would do with these arguments.
[[nodiscard]] call_plan plan_power_diagram(const host& on, const any_input<host>& seeds, const any_input<host>& weights,
                                           const fields<host>& out, const distance_options& options = {});
[[nodiscard]] call_plan plan_power_diagram(const device& on, const any_input<device>& seeds,
                                           const any_input<device>& weights, const fields<device>& out,
                                           const distance_options& options = {});

/// What the calls that `calls` makes on this thread would do: those of distances, morphology, thickness, balls, natural
/// neighbours, medial axes, skeletons, watersheds, split, components, surface metrics, filling, geodesic distances and
/// pores; on the host also those of meshes, isosurfaces, rays, pictures, stippling and centroidal diagrams; others have
/// no plan. They check arguments and take their steps, but read and write no cells: arrays need addresses, but no
/// memory there; meshes, rays and sites are read. What they return means nothing. Needs no GPU. Throws what calls do.
///
///   call_plan p = plan([&] { local_thickness(device{}, image, {.thickness = out}); });
///
/// Arrays are those of the first call; workspace_bytes is the peak of all, without what depends on the values of cells,
/// which the steps name: basins of a watershed, points of a surface, rows of tables. Skeletons are planned as if all
/// cells were foreground, surfaces as if one label filled the image.
[[nodiscard]] call_plan plan(const std::function<void()>& calls);

/// Whether plan(calls) runs what this thread does.
[[nodiscard]] bool planning() noexcept;

}  // namespace nearfield
