// Defines the verbs of paths: geodesic, path, roadmap, esdf.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const option isolines{"--isolines", "LIST", "draw lines at these values, e.g. 5,10,20; auto draws about eight; or none",
                      &a::isolines};
const option unknown{
    "--unknown", "WHAT", "meaning of unknown cells of a map (default obstacle)", &a::unknown, {"obstacle", "free"}};
const char* const map_help =
    "grid to read, whose cells that are not zero are obstacles; or a map.yaml of ROS; '-' is stdin";

const std::vector<option> geodesic_rows{
    input("mask to read, whose cells that are not zero are inside; '-' is stdin"),
    output(
        "file for the costs, float32, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws them; '-' is NPY on stdout"),
    {"--seeds",
     "FILE",
     "array of the mask's shape; a value that is not zero makes its cell a seed with that label",
     &a::seeds,
     {},
     false,
     true,
     false,
     true},
    {"--start", "CELLS", "cells to start from, in array order: 10,10 or 10,10;500,700; replaces --seeds", &a::start},
    {"--weights", "LIST",
     "prices of steps that change 1, 2, ... coordinates, e.g. 3,4; or cityblock, chessboard, 5-7-11, quasi-euclidean "
     "(default: lengths), quasi-euclidean-2, quasi-euclidean-3 (more directions)",
     &a::step_weights},
    {"--cost",
     "FILE",
     "array of integers of the mask's shape: a step costs its price times the value of the cell that it enters",
     &a::cost,
     {},
     false,
     true,
     false,
     true},
    {"--no-corners", "", "forbid steps past cells outside the mask that their line touches", &a::no_corners},
    {"--max-cost", "X", "largest cost of a path; cells that cost more have none", &a::max_cost},
    {"--labels", "FILE", "also write the label of each cell's seed", &a::labels, {}, false, true},
    cell,
    open_border,
    plan_row,
    picture,
    isolines};

const option radius{
    "--radius", "R",
    "radius of the robot, in units of the spacing: a free cell is farther than that from every obstacle (default 0)",
    &a::radius};
const option world{
    "--world", "",
    "read --start and --goal, and write the cells of a path, as x,y in metres in the frame of a map.yaml", &a::world};
const option inflation{
    "--inflation", "A,B,C",
    "inscribed radius, inflation radius and cost_scaling_factor of the costmap (default 0.1,0.55,10)", &a::inflation};
const option smooth{"--smooth", "", "replace parts of the path by straight lines", &a::smooth};

const std::vector<option> path_rows{
    input(map_help),
    output("file for the cells of the path: .csv; '-' is stdout"),
    {"--start", "CELL", "cell at which the path begins, in array order: 10,10", &a::start, {}, true},
    {"--goal", "CELLS", "cell at which it ends: 500,700; the best of several: 500,700;20,30", &a::goal, {}, true},
    radius,
    {"--objective",
     "NAME",
     "what to optimise: least length (default), least length times a price that grows near obstacles, or largest least "
     "clearance",
     &a::objective,
     {"shortest", "safe", "widest"}},
    {"--clearance-weight", "W", "for safe: additional price of a unit of length at an obstacle (default 4)",
     &a::clearance_weight},
    {"--clearance-decay", "X", "for safe: length over which that price falls to 1/e (default 8 cells)",
     &a::clearance_decay},
    {"--clearance-costs", "LIST",
     "for safe: instead, rising clearances with the cost of a unit of length up to there (1 beyond): 2,10;5,3.5; or "
     "nav2, whose costmap has --inflation, times --clearance-weight",
     &a::clearance_costs},
    inflation,
    smooth,
    world,
    unknown,
    cell,
    open_border,
    plan_row,
    picture,
    isolines};

const std::vector<option> roadmap_rows{
    input(map_help),
    output("file for the graph, one row for each road with its ends, length and clearance: .csv; '-' is stdout"),
    {"--start", "CELL", "cell at which a path begins, in array order: 10,10", &a::start},
    {"--goal", "CELL", "cell at which it ends: 500,700", &a::goal},
    {"--path", "FILE", "file for the cells of the path: .csv; '-' is stdout", &a::path, {}, false, true},
    radius,
    smooth,
    world,
    unknown,
    cell,
    plan_row,
    picture,
    isolines};

const std::vector<option> esdf_rows{
    input(map_help),
    output("file for the distances, float32, by suffix; .png draws them; '-' is NPY on stdout"),
    {"--gradient", "FILE", "also write the gradient, float32: one array for each axis", &a::gradient, {}, false, true},
    {"--indices",
     "FILE",
     "also write the coordinates of the nearest obstacle, int32: one array for each axis",
     &a::indices,
     {},
     false,
     true},
    {"--signed", "", "give cells of obstacles minus the distance to the nearest cell that is none", &a::is_signed},
    {"--costmap",
     "FILE",
     "also write a costmap, inflated as ROS nav2 does: .png .pgm .npy ..., or a .yaml with a .pgm beside it",
     &a::costmap,
     {},
     false,
     true},
    inflation,
    unknown,
    cell,
    max_distance,
    plan_row,
    picture,
    isolines};

}  // namespace

verb geodesic_row() {
    return {"geodesic",
            "Measure distances along paths inside a mask",
            "Reads a mask and writes, for each cell, the cost of the cheapest path inside the mask from a seed, exact "
            "in integer prices of steps. Cells without a path have an infinite cost. docs/paths.md has the definition.",
            and_the_usual(geodesic_rows),
            "nearfield sample maze -o maze.png --size 256x256\n"
            "nearfield geodesic maze.png -o costs.npy --start 8,8 --picture costs.png --isolines auto",
            geodesic_verb};
}

verb path_row() {
    return {"path",
            "Plan a path for a robot among obstacles",
            "Reads a grid of obstacles and writes the cells of the best path from the start to a goal for a round "
            "robot. A picture shows the path on the distances to obstacles. If there is no path, the command says why. "
            "docs/paths.md has the definition.",
            and_the_usual(path_rows),
            "nearfield sample blobs -o map.png --size 256x256 --density 0.2\n"
            "nearfield path map.png --start 0,0 --goal 255,255 --radius 2 -o path.csv --picture path.png",
            path_verb};
}

verb roadmap_row() {
    return {
        "roadmap",
        "Make a graph of the free space between obstacles, and find paths on it",
        "Reads a grid of obstacles and writes the skeleton of its free cells as a graph: roads far from obstacles, one "
        "for each way round them. A path leads along roads and takes microseconds to find; it is usually longer than "
        "that of the verb path. A picture shows both. The verb runs on the CPU. docs/paths.md has the definition.",
        and_the_usual(roadmap_rows),
        "nearfield sample blobs -o map.png --size 256x256 --density 0.2\n"
        "nearfield roadmap map.png -o graph.csv --start 0,0 --goal 255,255 --radius 2 --picture roads.png",
        roadmap_verb};
}

verb esdf_row() {
    return {"esdf",
            "Compute distances to obstacles, their gradient and a costmap",
            "Reads a grid of obstacles or a map of ROS, and writes the exact distance to the nearest obstacle, its "
            "coordinates, the direction away from it, and the costmap of ROS nav2. docs/paths.md has the definition.",
            and_the_usual(esdf_rows),
            "nearfield sample blobs -o map.png --size 256x256 --density 0.2\n"
            "nearfield esdf map.png -o distance.npy --gradient gradient.npy --costmap costs.yaml --inflation 3,20,0.2",
            esdf_verb};
}

}  // namespace nearfield::cli
