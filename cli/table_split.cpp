// The verb that separates objects: split.
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
    {"--table",
     "FILE.csv",
     "also write a table with a row for each object: cells, box, centroid, whether it touches an end, faces; '-' is "
     "stdout",
     &a::stats,
     {},
     false,
     true},
    cell,
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open): nothing, or the other end; one for all axes or one per axis "
     "in array order",
     &a::border,
     {"open", "periodic"},
     false,
     false,
     true},
    plan_row,
    picture};

}  // namespace

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
