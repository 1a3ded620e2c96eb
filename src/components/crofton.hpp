// Weights of Crofton's formula for cells of any spacing.
#pragma once

#include <array>

namespace nearfield::components {

/// Weight of a crossing in the perimeter (2 axes) or the surface (3), by the number of its direction
/// (forward_steps): lines of a direction stand for all that are nearer to it than to others. Legland, Kieu, Devaux,
/// "Computation of Minkowski measures on 2D and 3D binary images", Image Analysis & Stereology 26, 2007.
template <int Axes>
std::array<double, 13> crofton_weights(const double* length);

}  // namespace nearfield::components
