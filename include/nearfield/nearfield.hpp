// All of the library.
#pragma once

#include "nearfield/chamfer.hpp"
#include "nearfield/components.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"
#include "nearfield/label.hpp"
#include "nearfield/link_propagation.hpp"
#include "nearfield/medial_axis.hpp"
#include "nearfield/methods.hpp"
#include "nearfield/morphology.hpp"
#include "nearfield/plan.hpp"
#include "nearfield/skeleton.hpp"
#include "nearfield/system.hpp"
#include "nearfield/thickness.hpp"
#include "nearfield/voronoi.hpp"
#include "nearfield/watershed.hpp"
