// Defines the verb that measures shapes: thickness.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> thickness_rows{
    input("image or volume to read; '-' is stdin"),
    output(
        "file for the thickness, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on stdout"),
    picture,
    {"--squared", "",
     "write squared radii of the balls instead of their diameters: exact integers if the spacing is integral",
     &a::squared},
    {"--sizes", "LIST",
     "round the diameter of each ball down to one of these, ascending and in units of the spacing: 2,4,8; smaller "
     "balls are left out",
     &a::sizes},
    {"--multilabel", "", "treat every value other than 0 as a shape of its own", &a::multilabel},
    {"--dtype",
     "TYPE",
     "type of the thickness (default float32); the uint types need --squared, whose default is the narrowest of "
     "uint32, uint64 and float64 that holds every answer",
     &a::dtype,
     {"float32", "float64", "uint32", "uint64"}},
    {"--table",
     "FILE.csv",
     "also write a table with one row for each size: squared radius, diameter, cells, and length, area or volume in "
     "the spacing's unit",
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
    return {
        "thickness",
        "Local thickness: the largest ball over every cell that fits the shape",
        "Reads an image or a volume and writes, for every cell that is not zero, the diameter of the largest ball that "
        "covers it and fits into the cells that are not zero; the others get 0. The answer is exact on any spacing. "
        "Prints the mean, the standard deviation and the largest value. docs/shapes.md has the definition.",
        and_the_usual(thickness_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield thickness blobs.png -o thickness.npy --picture thickness.png --table sizes.csv",
        thickness_verb};
}

}  // namespace nearfield::cli
