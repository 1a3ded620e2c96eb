// Defines the verbs that fill missing values, fill and slices, and the verb pores.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> fill_rows{
    input("image or volume to read, with one value or a colour in each cell; '-' is stdin"),
    output("file for the filled image, by suffix, in the type of the input; '-' is NPY on stdout", true),
    {"--missing", "V", "value that marks a missing cell; a colour has it in every channel (default nan)", &a::missing},
    {"--where",
     "FILE",
     "mask whose cells that are not zero are missing; replaces --missing",
     &a::where,
     {},
     false,
     true,
     false,
     true},
    {"--method",
     "NAME",
     "nearest (default): take the value of the nearest cell that has one; natural: interpolate smoothly between "
     "natural neighbours, as float32, or float64 for a float64 image",
     &a::operation,
     {"nearest", "natural"}},
    {"--max-distance", "X", "leave cells alone that are farther than X from every value, in units of the spacing",
     &a::max_distance},
    cell,
    border,
    batch_axes,
    plan_row,
    channel,
    max_bytes,
    allow_outside,
    overwrite,
    device,
    threads,
    json,
    quiet};

const std::vector<option> slices_rows{
    input("volume or image of labels to read; '-' is stdin"),
    output("file for the labels, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on stdout"),
    {"--axis", "N", "axis across the slices (default 0)", &a::axis},
    {"--drawn", "LIST",
     "ascending numbers of the drawn slices (default those with a value other than zero); the others are made",
     &a::drawn},
    {"--steps", "N",
     "treat every slice as drawn, and make N steps from one to the next; the spacing shrinks; replaces --drawn",
     &a::steps},
    {"--align", "", "align the shapes of each label by their centroids first, for shapes that move", &a::align},
    cell,
    plan_row,
    picture};

const std::vector<option> pores_rows{
    input("mask to read, an image or volume whose cells that are not zero are pores; '-' is stdin"),
    {"-o,--output",
     "FILE.csv",
     "file for the network: a table of pores and throats with OpenPNM's names; '-' is stdout",
     &a::stats,
     {},
     false,
     true},
    {"--regions",
     "FILE",
     "also write the pore of each cell, by suffix: .npy .tif .nrrd .nii .nii.gz",
     &a::output,
     {},
     false,
     true},
    {"--height", "H",
     "least amount by which a ball must shrink on its way to a larger one to be a pore of its own, in units of the "
     "spacing (default the shortest side of a cell); a larger one gives fewer pores",
     &a::height},
    {"--boundaries", "", "add a pore without volume where a pore meets an open end of the sample", &a::boundaries},
    {"--connectivity", "N", "number of coordinates that a step between neighbours may change (default 1)",
     &a::connectivity},
    cell,
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open): unknown pores, solid, or the other end; give one for all "
     "axes or one per axis in array order",
     &a::border,
     {"open", "closed", "periodic"},
     false,
     false,
     true},
    plan_row,
    picture};

}  // namespace

verb fill_row() {
    return {"fill",
            "Fill missing values from the nearest cell that has one",
            "Reads an image and writes it with values in its missing cells: that of the nearest cell that has one, or "
            "values interpolated between natural neighbours. docs/fill.md shows examples.",
            fill_rows,
            "nearfield sample labels -o seeds.npy --size 256x256 --density 0.3\n"
            "nearfield fill seeds.npy -o filled.npy --missing 0\n"
            "nearfield fill seeds.npy -o smooth.npy --missing 0 --method natural",
            fill_verb};
}

verb slices_row() {
    return {"slices",
            "Make the slices between drawn slices",
            "Reads a label volume in which some slices are drawn, and writes it with the slices between them, computed "
            "from the signed distances to the outlines. A picture shows labels in colours. docs/fill.md has the "
            "definition.",
            and_the_usual(slices_rows),
            "nearfield sample labels -o drawn.npy --size 9x64x64\n"
            "nearfield slices drawn.npy -o all.npy --steps 4",
            slices_verb};
}

verb pores_row() {
    return {"pores",
            "Extract the network of pores and throats",
            "Reads a mask of pores and writes the pores, the throats between them, their sizes and lengths. The region "
            "of a pore is its basin in the watershed of the exact distance to the solid, from the peaks of that "
            "distance. A picture shows regions in colours. Without any output, it prints the numbers of pores and "
            "throats. docs/pores.md has the definitions.",
            and_the_usual(pores_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield pores blobs.png -o network.csv --regions regions.npy --picture regions.png",
            pores_verb};
}

}  // namespace nearfield::cli
