// Defines the verb that finds medial axes: medial-axis.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> medial_axis_rows{
    input("image or volume to read; '-' is stdin"),
    output("file for the axis, uint8 of 0 and 1, by suffix: .npy .tif .nrrd .nii .nii.gz .pgm; .png draws a picture; "
           "'-' is NPY on stdout"),
    picture,
    {"--distances",
     "FILE",
     "also write the distances of all cells as float32, which are the radii on the axis; .png draws them",
     &a::distances,
     {},
     false,
     true},
    {"--method",
     "NAME",
     "integer (default): the integer medial axis; balls: centres of balls that no neighbour's ball is known to "
     "contain; reduced: those of these centres that own a cell in their power diagram",
     &a::axis_method,
     {"integer", "balls", "reduced"}},
    {"--pruning",
     "RULE",
     "for integer: rule for the pairs of neighbours that count, by the distance between their sites (default "
     "constant); docs/medial-axis.md has the formulas",
     &a::pruning,
     {"constant", "linear", "sqrt", "angle"}},
    {"--gamma", "X",
     "parameter of the pruning: a length (constant, default 1), a ratio (linear, 0.5), a factor (sqrt, 1), or degrees "
     "(angle, 60)",
     &a::gamma},
    any_sites("zero"),
    multilabel,
    cell,
    border,
    batch_axes,
    plan_row};

}  // namespace

verb medial_axis_row() {
    return {
        "medial-axis",
        "Medial axis of a shape, and the balls that make it up",
        "Reads an image or a volume and writes 1 for every cell of the shape's medial axis, else 0. The shape consists "
        "of the cells that are not zero, unless --sites says otherwise. The axis may be two cells thick and need not "
        "be connected. A picture colours the axis by its radii. docs/medial-axis.md explains each method and pruning.",
        and_the_usual(medial_axis_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield medial-axis blobs.png -o axis.npy --picture axis.png --pruning sqrt --distances radii.npy",
        medial_axis_verb};
}

}  // namespace nearfield::cli
