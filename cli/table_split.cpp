// The verbs that separate objects: split, watershed, peaks.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> split_rows{
    input("mask to read, an image or volume whose cells that are not zero are objects, or a gray image of them; '-' is "
          "stdin"),
    output("file for the labels of the objects, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is "
           "NPY on stdout"),
    {"--method",
     "NAME",
     "watershed (default): an object is the basin of a peak of the distance to the background. The others start from "
     "the parts farther than H from the background. lecture takes the cells nearest to a part's barycentre; voronoi "
     "those nearest to the part; geodesic those that steps within the mask reach first from it",
     &a::operation,
     {"watershed", "lecture", "voronoi", "geodesic"}},
    {"--height", "H",
     "a length in units of the spacing. For watershed: least height of a peak of the distance above its pass to a "
     "higher one (default 0.75 of the shortest side of a cell); a larger one gives fewer objects. For the others: "
     "distance from the background beyond which parts lie (default half of the largest distance)",
     &a::height},
    {"--min-size", "N",
     "drop objects of fewer than N cells (default 1; for a gray image a twentieth of its objects' size)", &a::min_size},
    {"--fill-holes", "", "fill holes of the mask first: background without a path to an open end", &a::fill_holes},
    {"--table",
     "FILE.csv",
     "also write a table with one row for each object: cells, box, centroid, whether it touches an end, faces; '-' is "
     "stdout",
     &a::stats,
     {},
     false,
     true},
    cell,
    open_border,
    plan_row,
    picture};

const option mask{"--mask",  "FILE", "array of the input's shape: only cells that are not zero in it take part",
                  &a::where, {},     false,
                  true,      false,  true};

const std::vector<option> watershed_rows{
    input("image or volume to read, whose values are heights; '-' is stdin"),
    output("file for the labels, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on stdout"),
    {"--markers",
     "FILE",
     "array of integers of the input's shape; a value that is not zero marks its cell with that label (default: every "
     "minimum is a marker)",
     &a::seeds,
     {},
     false,
     true,
     false,
     true},
    mask,
    {"--height", "H", "least height of a minimum below its pass to a lower one (default 0, which takes every minimum)",
     &a::height},
    {"--connectivity", "N",
     "number of coordinates that a step to a neighbour may change, 1 (default) to the number of axes; or number of "
     "neighbours: 4 or 8 in an image, 6, 18 or 26 in a volume",
     &a::connectivity},
    {"--maxima", "", "turn the image upside down: regions lie round maxima", &a::maxima},
    {"--lines", "", "give cells between regions 0", &a::line},
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
            "Reads an image of heights and writes, for each cell, the label of the marker or minimum from which water "
            "reaches it first. A picture shows labels in colours. docs/objects.md has the definition.",
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
        "Reads a mask and writes a label for each object, from 1 in raster order. By default the objects come from "
        "the watershed of the exact distance to the background, from its peaks. If values change from cell to cell, "
        "as in a gray image, or --threshold is objects, a mask of the bright objects is made first, in units of "
        "their own size; --threshold dark does so for dark objects; --threshold 0 takes all cells that are not zero. A "
        "picture shows labels in colours. "
        "Without -o and --picture, it prints the number of objects. docs/objects.md has the definitions.",
        and_the_usual(split_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield split blobs.png -o labels.tif --picture labels.png --table objects.csv",
        split_verb};
}

}  // namespace nearfield::cli
