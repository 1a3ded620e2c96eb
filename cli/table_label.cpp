// Defines the verb that finds components: label.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> label_rows{
    {"INPUT",
     "INPUT",
     "image or volume to read; '-' is stdin. Several: each is labelled by itself, one after another, and -o, --picture "
     "and --stats name folders that get NAME.npy, NAME.png and NAME.csv for each input",
     &a::inputs,
     {},
     true,
     true,
     false,
     true},
    output("where the labels go, by suffix: .npy .tif .nrrd .nii .nii.gz .pgm; .png draws a picture; '-' is NPY on "
           "stdout"),
    picture,
    {"--over",
     "FILE",
     "draw the labels over this picture or volume of the input's shape: outlines, and a breath of colour inside",
     &a::over,
     {},
     false,
     true,
     false,
     true},
    {"--numbers", "", "write each label's number into the picture", &a::numbers},
    {"--stats",
     "FILE",
     "also write a table with a row for each component, .csv or .json: size in cells, bounding box (start_0 up to but "
     "not including stop_0 along axis 0), border (1 where it touches one), faces, and in the spacing's unit length, "
     "area or volume, and centroid; '-' is CSV on stdout",
     &a::stats,
     {},
     false,
     true},
    {"--intensity",
     "FILE",
     "array of the same shape to measure: adds lowest, highest, sum, mean and variance of its values to the table",
     &a::intensity,
     {},
     false,
     true,
     false,
     true},
    {"--shapes", "",
     "add columns to the table that say how components are shaped, by the names of scikit-image's regionprops: extent, "
     "euler_number, inertia, axes and others; perimeter, orientation, solidity of images, surface_area of volumes "
     "(docs/measures.md)",
     &a::shapes},
    {"--criterion", "WHICH",
     "which neighbours belong together (default nonzero): all cells that are not zero; equal: cells of equal value; a "
     "number: cells whose values differ by at most that much; links: of which one names the other by a bit of its "
     "value (docs/labels.md). Of colour images equal and a number compare colours",
     &a::criterion},
    {"--connectivity", "N",
     "how many coordinates a step to a neighbour may change, 1 (default) to the number of axes; or the number of "
     "neighbours: 4 or 8 of an image, 6, 18 or 26 of a volume",
     &a::connectivity},
    {"--background", "VALUE",
     "with equal or a number: cells of this value (a colour: in every channel) get label 0; none: every cell is "
     "labelled (default 0)",
     &a::background},
    {"--norm",
     "NORM",
     "how far two colours are from each other: the largest difference of a channel (default), their sum, or the root "
     "of the sum of squares",
     &a::norm,
     {"maximum", "sum", "euclidean"}},
    {"--min-size", "N", "drop components of fewer cells", &a::min_size},
    {"--max-size", "N", "drop components of more cells", &a::max_size},
    {"--largest", "K", "of what is left keep the K components with the most cells", &a::largest},
    {"--clear-border", "", "drop components that touch an end of an axis that is not periodic", &a::clear_border},
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open): nothing, or the other end; one for all axes or one per axis "
     "in array order",
     &a::border,
     {"open", "periodic"},
     false,
     false,
     true},
    {"--periodic", "", "the same as --border periodic", &a::periodic},
    {"--batch-axes", "N",
     "the first N axes number images, each of which is labelled by itself (default: what the file says of time and "
     "channels, else 0)",
     &a::batch_axes},
    {"--dtype",
     "TYPE",
     "type of the labels (default int32; uint16 where the format holds no int32); more components than it can number "
     "are an error",
     &a::dtype,
     {"uint16", "int32", "uint32", "int64", "uint64"}},
    {"--method",
     "NAME",
     "fast (default), or propagation along links, the published method to study, without filters, batch and table: the "
     "same labels, and how many rounds they took",
     &a::method,
     {"fast", "propagation"}},
    {"--gather-length", "N", "of propagation: longest link, in cells (default 64)", &a::gather_length},
    {"--hooked", "", "of propagation: write better labels into the cells that labels address, for far fewer rounds",
     &a::hooked},
    {"--no-links", "", "of propagation: look at neighbours only", &a::no_links},
    {"--no-neighbours", "", "of propagation: look at the far ends of links only, which may not be enough",
     &a::no_neighbours},
    {"--no-masters", "", "of propagation: do not ask the cell that a label addresses", &a::no_masters},
    {"--most-rounds", "N", "of propagation: an error, and no labels, where these are not enough (default no limit)",
     &a::most_rounds},
    cell};

}  // namespace

verb label_row() {
    return {"label",
            "Connected components: number, measure and filter them",
            "Reads an image or a volume and writes, for every cell, the number of the connected component it belongs "
            "to: 1, 2, ... in the order in which the first cells of the components come, 0 for background. Components "
            "that a filter drops become background before the rest is numbered. A picture gives each component a "
            "colour unlike its neighbours'. Without -o, --picture and --stats it says how many components there are. "
            "docs/labels.md shows what can be done with it.",
            and_the_usual(label_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield label blobs.png -o labels.npy --picture labels.png --stats components.csv\n"
            "nearfield label blobs.png --picture largest.png --connectivity 8 --min-size 20 --clear-border --largest 5",
            label_verb};
}

}  // namespace nearfield::cli
