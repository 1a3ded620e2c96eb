// The verbs of shapes: morphology.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> morphology_rows{
    {"OPERATION",
     "OPERATION",
     "erosion: what is farther than the radius from all outside; dilation: what is within it of the shape; opening: "
     "the "
     "balls that fit; closing: what no ball beside the shape reaches",
     &a::operation,
     {"erosion", "dilation", "opening", "closing"},
     true},
    input("image or volume to read: a mask (not zero is foreground) or labels; '-' is stdin"),
    output("where the answer goes, by suffix: .npy .tif .nrrd .nii .nii.gz .pgm; .png of an image is the mask, of a "
           "volume a picture; '-' is NPY on stdout"),
    {"--radius", "R", "of the ball, any length in units of the spacing", &a::radius, {}, true},
    {"--multilabel", "", "values are labels, each a shape of its own; the answer has labels too", &a::multilabel},
    cell,
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open): nothing; closed: background of an erosion or opening, "
     "foreground of a dilation or closing; or the other end; one for all axes or one per axis in array order",
     &a::border,
     {"open", "closed", "periodic"},
     false,
     false,
     true},
    batch_axes,
    picture};

}  // namespace

verb morphology_row() {
    return {
        "morphology",
        "Erode, dilate, open or close a shape by an exact ball",
        "Reads a mask or labels and writes the shape eroded, dilated, opened or closed by a Euclidean ball of any "
        "radius, of masks as 0 and 255. A picture shows what stays light, what is gone orange and what is new blue; "
        "labels in colours. Without -o and --picture it says how many cells are left. docs/morphology.md says what can "
        "be done with it.",
        and_the_usual(morphology_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield morphology opening blobs.png -o opened.png --radius 6.5",
        morphology_verb};
}

}  // namespace nearfield::cli
