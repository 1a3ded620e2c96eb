// All of the library.
#pragma once

#include "nearfield/chamfer.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"
#include "nearfield/plan.hpp"
#include "nearfield/system.hpp"
#include "nearfield/voronoi.hpp"
