// Defines the verbs that fill missing values, fill and slices, and the verb pores.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> fill_rows{
    input("image or volume to read, of one value a cell or of colours; '-' is stdin"),
    output("where the filled image goes, by suffix, with the type of the input; '-' is NPY on stdout", true),
    {"--missing", "V", "value of cells that are missing, of a colour that of all channels (default nan)", &a::missing},
    {"--where",
     "FILE",
     "instead: a mask of the cells that are missing, not zero",
     &a::where,
     {},
     false,
     true,
     false,
     true},
    {"--method",
     "NAME",
     "nearest (default): the value of the nearest cell that has one; natural: smooth, by natural neighbours, as "
     "float32, of a float64 image float64",
     &a::operation,
     {"nearest", "natural"}},
    {"--max-distance", "X", "cells farther than X from every value stay as they are, in units of the spacing",
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
    output("where the labels go, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on stdout"),
    {"--axis", "N", "the axis across the slices (default 0)", &a::axis},
    {"--drawn", "LIST",
     "numbers of the slices that are drawn, ascending (default those in which something is not zero); the others are "
     "made",
     &a::drawn},
    {"--steps", "N", "instead: every slice is drawn, and N steps lead from one to the next; the spacing shrinks",
     &a::steps},
    {"--align", "", "shapes move: lay those of each label on each other by their centroids first", &a::align},
    cell,
    plan_row,
    picture};

const std::vector<option> pores_rows{
    input("image or volume to read: a mask, not zero is a pore; '-' is stdin"),
    {"-o,--output",
     "FILE.csv",
     "where the network goes: a table of pores and throats with OpenPNM's names; '-' is stdout",
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
     "how much smaller a ball must become on its way to a larger one to be a pore of its own, in units of the spacing "
     "(default the shortest side of a cell); more makes fewer pores",
     &a::height},
    {"--boundaries", "", "also a pore without volume where a pore meets an open end of the sample", &a::boundaries},
    {"--connectivity", "N", "how many coordinates a step between neighbours may change (default 1)", &a::connectivity},
    cell,
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open): pores that nobody knows, solid, or the other end; one for "
     "all axes or one per axis in array order",
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
            "Reads an image and writes it with the value of the nearest cell that is not missing in every cell that "
            "is, or with values interpolated between natural neighbours. docs/fill.md says what can be done with it.",
            fill_rows,
            "nearfield sample labels -o seeds.npy --size 256x256 --density 0.3\n"
            "nearfield fill seeds.npy -o filled.npy --missing 0\n"
            "nearfield fill seeds.npy -o smooth.npy --missing 0 --method natural",
            fill_verb};
}

verb slices_row() {
    return {"slices",
            "Make the slices between drawn ones",
            "Reads labels of which some slices are drawn and writes the volume with the slices between them, by the "
            "signed distances to the outlines. A picture shows labels in colours. docs/fill.md has the definition.",
            and_the_usual(slices_rows),
            "nearfield sample labels -o drawn.npy --size 9x64x64\n"
            "nearfield slices drawn.npy -o all.npy --steps 4",
            slices_verb};
}

verb pores_row() {
    return {"pores",
            "Extract the network of pores and throats",
            "Reads a mask of pores and writes the pores, the throats between them, their sizes and lengths: regions "
            "are the watershed of the exact distance to the solid, from its peaks. A picture shows regions in colours. "
            "Without any output it says how many there are. docs/pores.md has the definitions.",
            and_the_usual(pores_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield pores blobs.png -o network.csv --regions regions.npy --picture regions.png",
            pores_verb};
}

}  // namespace nearfield::cli
