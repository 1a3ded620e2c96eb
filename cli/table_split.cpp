// The verbs that separate objects: split, watershed, peaks.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> split_rows{
    input("image or volume to read: a mask, not zero is an object; '-' is stdin"),
    output("where the labels of the objects go, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is "
           "NPY on stdout"),
    {"--method",
     "NAME",
     "watershed (default): an object is the basin of a peak of the distance to the background; the others start from "
     "what is farther than H from the background: lecture, the cells nearest to the barycentre of such a part; "
     "voronoi, those nearest to the part; geodesic, those that are reached from it first by steps within the mask",
     &a::operation,
     {"watershed", "lecture", "voronoi", "geodesic"}},
    {"--height", "H",
     "a length in units of the spacing. Of watershed: how much farther from the background than its way to a larger "
     "object the middle of an object lies (default 0.75 of the shortest side of a cell); more makes fewer objects. Of "
     "the "
     "others: how far from the background a part is (default half of the largest distance)",
     &a::height},
    {"--min-size", "N", "drop objects of fewer cells", &a::min_size},
    {"--fill-holes", "", "fill holes of the mask first: background that no way leads to from an open end",
     &a::fill_holes},
    {"--table",
     "FILE.csv",
     "also write a table with a row for each object: cells, box, centroid, whether it touches an end, faces; '-' is "
     "stdout",
     &a::stats,
     {},
     false,
     true},
    cell,
    open_border,
    plan_row,
    picture};

const option mask{"--mask",  "FILE", "array of the same shape: only its cells that are not zero count",
                  &a::where, {},     false,
                  true,      false,  true};

const std::vector<option> watershed_rows{
    input("image or volume to read, whose values are heights; '-' is stdin"),
    output("where the labels go, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on stdout"),
    {"--markers",
     "FILE",
     "array of integers of the same shape, where what is not zero is a marker, and its label; without it every minimum "
     "is one",
     &a::seeds,
     {},
     false,
     true,
     false,
     true},
    mask,
    {"--height", "H", "how much a minimum rises to a lower one, at least (default 0: every minimum)", &a::height},
    {"--connectivity", "N",
     "how many coordinates a step to a neighbour may change, 1 (default) to the number of axes; or the number of "
     "neighbours: 4 or 8 of an image, 6, 18 or 26 of a volume",
     &a::connectivity},
    {"--maxima", "", "look at the image upside down: regions lie round maxima", &a::maxima},
    {"--lines", "", "cells between regions get 0", &a::line},
    open_border,
    plan_row,
    picture};

const std::vector<option> peaks_rows{
    input("image or volume to read, such as a distance; what is 0 or less is background; '-' is stdin"),
    output("where coordinates and values go, the highest peak first: .csv; '-' is stdout"),
    {"--height", "H", "how much a peak stands above its pass to a higher one, at least (default 0)", &a::height},
    {"--min-distance", "X", "of two peaks nearer to each other than this, in cells, only the higher one is kept",
     &a::radius},
    {"--minima", "", "find minima instead, among all cells", &a::minima},
    mask,
    {"--marks",
     "FILE",
     "also write an image with 255 in all cells of the peaks of this height, else 0, by suffix; of equal peaks all are "
     "marked, and --min-distance does not count",
     &a::labels,
     {},
     false,
     true},
    open_border,
    plan_row};

}  // namespace

verb watershed_row() {
    return {"watershed",
            "Divide an image into the basins of its minima or of markers",
            "Reads an image of heights and writes for each cell the label of the marker, or of the minimum, from which "
            "water reaches it first. A picture shows labels in colours. docs/objects.md has the definition.",
            and_the_usual(watershed_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield distance blobs.png -o distance.tif\n"
            "nearfield watershed distance.tif --maxima --height 2 --mask blobs.png -o labels.tif --picture labels.png",
            watershed_verb};
}

verb peaks_row() {
    return {"peaks",
            "Find the peaks of an image",
            "Reads an image and writes one cell for each maximum that stands high enough above its pass to a higher "
            "one. Without -o it says how many there are. docs/objects.md has the definition.",
            and_the_usual(peaks_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield distance blobs.png -o distance.tif\n"
            "nearfield peaks distance.tif --height 2 -o peaks.csv --marks marks.png",
            peaks_verb};
}

verb split_row() {
    return {
        "split",
        "Separate objects that touch",
        "Reads a mask and writes a label for each object, from 1 in raster order: by default the watershed of the "
        "exact "
        "distance to the background, from its peaks. A picture shows labels in colours. Without -o and --picture it "
        "says how many objects there are. docs/objects.md has the definition.",
        and_the_usual(split_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield split blobs.png -o labels.tif --picture labels.png --table objects.csv",
        split_verb};
}

}  // namespace nearfield::cli
