// Weights of Crofton's formula for cells of any spacing.
#pragma once

#include <array>

namespace nearfield::components {

/// Weights of crossings in the perimeter (2 axes) or the surface (3 axes), by the directions' numbers in forward_steps.
/// A direction stands for all directions that are nearer to it than to others. Legland, Kieu, Devaux, "Computation of
/// Minkowski measures on 2D and 3D binary images", Image Analysis & Stereology 26, 2007.
template <int Axes>
std::array<double, 13> crofton_weights(const double* length);

}  // namespace nearfield::components
