// Defines the verbs of shapes: morphology, skeleton.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> morphology_rows{
    {"OPERATION",
     "OPERATION",
     "erosion: cells farther than the radius from all cells outside; dilation: cells within the radius of the shape; "
     "opening: all balls that fit the shape; closing: cells that no ball beside the shape reaches",
     &a::operation,
     {"erosion", "dilation", "opening", "closing"},
     true},
    input("image or volume to read: labels, or a mask whose cells that are not zero are foreground; '-' is stdin"),
    output("file for the answer, by suffix: .npy .tif .nrrd .nii .nii.gz .pgm; a .png holds the mask of an image, or a "
           "picture of a volume; '-' is NPY on stdout"),
    {"--radius", "R", "radius of the ball: any length, in units of the spacing", &a::radius, {}, true},
    {"--multilabel", "", "treat values as labels, each a shape of its own; the answer has labels too", &a::multilabel},
    cell,
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open, nothing); closed: background for an erosion or opening, "
     "foreground for a dilation or closing; periodic: the other end; give one for all axes or one per axis in array "
     "order",
     &a::border,
     {"open", "closed", "periodic"},
     false,
     false,
     true},
    batch_axes,
    plan_row,
    picture};

const std::vector<option> skeleton_rows{
    input("mask to read, an image or volume whose cells that are not zero are the shape; '-' is stdin"),
    output("file for the skeleton, by suffix: .npy .tif .nrrd .nii .nii.gz .pgm; a .png holds the mask of an image, or "
           "a picture of a volume; '-' is NPY on stdout"),
    {"--keep",
     "WHICH",
     "cells that stay although components, holes and cavities do not need them: ends of curves (default); isthmuses, "
     "which join parts of their surroundings; or nothing, so that a solid body shrinks to one cell",
     &a::keep,
     {"ends", "isthmuses", "nothing"}},
    {"--faces", "",
     "take only cells that share a face as neighbours in the shape, 4 in an image and 6 in a volume, instead of those "
     "that share a face, an edge or a corner",
     &a::faces},
    {"--graph",
     "FILE",
     "also write the graph: .csv is a table of branches with skan's columns, whose values are radii; .swc has a sample "
     "for each cell, as in neuron tracing; '-' is CSV on stdout",
     &a::graph,
     {},
     false,
     true},
    {"--prune-length", "L", "cut off branches to a tip that are shorter than L, in units of the spacing",
     &a::prune_length},
    {"--prune-ratio", "R", "cut off branches to a tip that are shorter than R times the radius at their junction",
     &a::prune_ratio},
    {"--prune-angle", "DEGREES",
     "cut off branches to a tip from which both sides of the shape are seen under a smaller angle, as in blunt corners",
     &a::prune_angle},
    cell,
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis for distances (default open, nothing); closed: background; periodic: the "
     "other end; give one for all axes or one per axis in array order",
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
    return {"morphology",
            "Erode, dilate, open or close a shape by an exact ball",
            "Reads a mask or labels and writes the shape eroded, dilated, opened or closed by a Euclidean ball of any "
            "radius; masks are written as 0 and 255. A picture shows cells that stay in white, removed ones in orange "
            "and new ones in blue, or labels in colours. Without -o and --picture, it prints the number of cells of "
            "the result. docs/morphology.md shows examples.",
            and_the_usual(morphology_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield morphology opening blobs.png -o opened.png --radius 6.5",
            morphology_verb};
}

verb skeleton_row() {
    return {"skeleton",
            "Thin a shape to curves or points",
            "Reads a mask and writes its skeleton as 0 and 255, thinned in the order of the distance to the outside. "
            "The skeleton has as many components, holes and cavities as the shape. A picture shows the skeleton in "
            "white and the rest of the shape in orange. --graph measures its branches. Without any output, it prints "
            "the number of cells of the skeleton. docs/skeletons.md shows examples.",
            and_the_usual(skeleton_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield skeleton blobs.png -o skeleton.npy --picture skeleton.png --graph graph.csv --prune-ratio 1.5",
            skeleton_verb};
}

}  // namespace nearfield::cli
