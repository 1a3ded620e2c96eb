// Defines the verbs of shapes: morphology, skeleton.
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
    plan_row,
    picture};

const std::vector<option> skeleton_rows{
    input("image or volume to read: a mask, not zero is the shape; '-' is stdin"),
    output("where the skeleton goes, by suffix: .npy .tif .nrrd .nii .nii.gz .pgm; .png of an image is the mask, of a "
           "volume a picture; '-' is NPY on stdout"),
    {"--keep",
     "WHICH",
     "cells that stay although components, holes and cavities do not need them (default ends): ends of curves; "
     "isthmuses, which join parts of their surroundings; or nothing, so that a solid body becomes one cell",
     &a::keep,
     {"ends", "isthmuses", "nothing"}},
    {"--faces", "",
     "neighbours in the shape share a face, 4 in an image and 6 in a volume, instead of a face, an edge or a corner",
     &a::faces},
    {"--graph",
     "FILE",
     "also write the graph: .csv is a table of branches with skan's columns, radii as values; .swc a sample for each "
     "cell, as neuron tracing has it; '-' is CSV on stdout",
     &a::graph,
     {},
     false,
     true},
    {"--prune-length", "L", "cut off branches to a tip that are shorter, in units of the spacing", &a::prune_length},
    {"--prune-ratio", "R", "cut off branches to a tip that are shorter than R times the radius at their junction",
     &a::prune_ratio},
    {"--prune-angle", "DEGREES",
     "cut off branches to a tip from which both sides of the shape are seen under less, as in blunt corners",
     &a::prune_angle},
    cell,
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open): for distances nothing; closed: background; or the other "
     "end; one for all axes or one per axis in array order",
     &a::border,
     {"open", "closed", "periodic"},
     false,
     false,
     true},
    batch_axes,
    plan_row,
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

verb skeleton_row() {
    return {
        "skeleton",
        "Thin a shape to curves or points",
        "Reads a mask and writes its skeleton, thinned in the order of the distance to the outside, as 0 and 255: as "
        "many components, holes and cavities as the shape has. A picture shows the skeleton light and the rest of the "
        "shape orange. --graph measures its branches. Without any output it says how many cells are left. "
        "docs/skeletons.md says what can be done with it.",
        and_the_usual(skeleton_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield skeleton blobs.png -o skeleton.npy --picture skeleton.png --graph graph.csv --prune-ratio 1.5",
        skeleton_verb};
}

}  // namespace nearfield::cli
