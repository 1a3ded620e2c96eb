// On the host, for images in which every cell is near a site.
#pragma once

#include "base/parallel.hpp"
#include "chessboard/core.hpp"

namespace nearfield::chessboard {

/// Solves a problem of two or three axes by sets of cells: those within 0, 1, 2, ... steps of a site, one bit a cell.
/// A cell's distance is the number of sets without it. Returns false, and has written nothing, if there would be more
/// than 17 sets, or if their growth says so. Counts p.cells units of progress, and all the rest if it returns true.
bool solve_by_levels(const problem& p, workers& crew);

}  // namespace nearfield::chessboard
