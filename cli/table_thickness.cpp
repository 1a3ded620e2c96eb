// Defines the verbs that measure shapes: thickness, porosimetry.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const option values = output(
    "file for the diameters, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on stdout");
const option sizes{
    "--sizes", "LIST",
    "round the diameter of each ball down to one of these, ascending and in units of the spacing: 2,4,8; smaller "
    "balls are left out",
    &a::sizes};
const option table{
    "--table",
    "FILE.csv",
    "also write a table with one row for each size: squared radius, diameter, cells, and length, area or volume in "
    "the spacing's unit",
    &a::stats,
    {},
    false,
    true};

const std::vector<option> thickness_rows{
    input("image or volume to read; '-' is stdin"),
    values,
    picture,
    {"--squared", "",
     "write squared radii of the balls instead of their diameters: exact integers if the spacing is integral",
     &a::squared},
    sizes,
    {"--multilabel", "", "treat every value other than 0 as a shape of its own", &a::multilabel},
    {"--dtype",
     "TYPE",
     "type of the thickness (default float32); the uint types need --squared, whose default is the narrowest of "
     "uint32, uint64 and float64 that holds every answer",
     &a::dtype,
     {"float32", "float64", "uint32", "uint64"}},
    table,
    cell,
    border,
    batch_axes,
    plan_row};

const std::vector<option> porosimetry_rows{
    input("image or volume to read, whose cells that are not zero are pores; '-' is stdin"),
    values,
    picture,
    {"--inlets",
     "LIST",
     "faces of the array through which balls enter (default all): front and back are the first and the last slice, top "
     "and bottom the first and the last row, left and right the first and the last column",
     &a::inlets,
     {"left", "right", "top", "bottom", "front", "back", "all"},
     false,
     false,
     true},
    sizes,
    {"--dtype", "TYPE", "type of the diameters (default float32)", &a::dtype, {"float32", "float64"}},
    table,
    cell,
    border,
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

verb porosimetry_row() {
    return {
        "porosimetry",
        "Porosimetry: the largest ball that comes from outside to every cell of the pores",
        "Reads an image or a volume and writes, for every cell that is not zero, the diameter of the largest ball that "
        "covers it, fits into the cells that are not zero, and gets there from the inlets without leaving them; the "
        "others get 0. So wide pores behind narrow throats have small values, as when mercury enters a rock. A "
        "picture shows pores that no ball reaches in gray. Prints the mean, the standard deviation and the largest "
        "value of the cells that are reached. docs/shapes.md has the definition.",
        and_the_usual(porosimetry_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield porosimetry blobs.png -o reached.npy --inlets left --picture reached.png --table sizes.csv",
        thickness_verb};
}

}  // namespace nearfield::cli
