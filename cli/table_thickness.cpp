// Defines the verb that measures shapes: thickness.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> thickness_rows{
    input("image or volume to read; '-' is stdin"),
    output("where the thickness goes, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on "
           "stdout"),
    picture,
    {"--squared", "", "squared radii of the balls instead of their diameters: integers where the spacing is integral",
     &a::squared},
    {"--sizes", "LIST",
     "round the diameter of each ball down to one of these, in units of the spacing and ascending: 2,4,8; smaller "
     "balls are left out",
     &a::sizes},
    {"--multilabel", "", "every value other than 0 is a shape of its own", &a::multilabel},
    {"--dtype",
     "TYPE",
     "type of the thickness (default float32); the uint types only with --squared, whose default is the narrowest of "
     "uint32, uint64, float64 that holds every answer",
     &a::dtype,
     {"float32", "float64", "uint32", "uint64"}},
    {"--table",
     "FILE.csv",
     "also write a table with a row for each size: squared radius, diameter, cells, and in the spacing's unit length, "
     "area or volume",
     &a::stats,
     {},
     false,
     true},
    cell,
    border,
    batch_axes,
    plan_row};

}  // namespace

verb thickness_row() {
    return {"thickness",
            "Local thickness: the largest ball over every cell that fits into the shape",
            "Reads an image or a volume and writes, for every cell that is not zero, the diameter of the largest ball "
            "that covers it and fits into the cells that are not zero; 0 for the others. Exact, on any spacing. Prints "
            "mean, standard deviation and the largest value. docs/shapes.md has the definition.",
            and_the_usual(thickness_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield thickness blobs.png -o thickness.npy --picture thickness.png --table sizes.csv",
            thickness_verb};
}

}  // namespace nearfield::cli
