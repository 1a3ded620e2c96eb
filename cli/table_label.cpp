// Defines the verb that finds components: label.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> label_rows{
    {"INPUT",
     "INPUT",
     "image or volume to read; '-' is stdin. Several inputs are labelled one after another; -o, --picture and --stats "
     "then name folders, which get NAME.npy, NAME.png and NAME.csv for each input",
     &a::inputs,
     {},
     true,
     true,
     false,
     true},
    output("file for the labels, by suffix: .npy .tif .nrrd .nii .nii.gz .pgm; .png draws a picture; '-' is NPY on "
           "stdout"),
    picture,
    {"--over",
     "FILE",
     "draw the labels over this picture or volume of the input's shape, as outlines with pale colour inside",
     &a::over,
     {},
     false,
     true,
     false,
     true},
    {"--numbers", "", "write each label's number into the picture", &a::numbers},
    {"--stats",
     "FILE",
     "also write a table with one row for each component, .csv or .json: size in cells, bounding box (start_0 up to "
     "but not including stop_0 along axis 0), border (1 if it touches one), faces, centroid, and length, area or "
     "volume in the spacing's unit; '-' is CSV on stdout",
     &a::stats,
     {},
     false,
     true},
    {"--intensity",
     "FILE",
     "array of the input's shape to measure: adds lowest, highest, sum, mean and variance of its values to the table",
     &a::intensity,
     {},
     false,
     true,
     false,
     true},
    {"--shapes", "",
     "add shape measures to the table, by the names of scikit-image's regionprops: extent, euler_number, inertia, axes "
     "and others; images also get perimeter, orientation and solidity, volumes surface_area (docs/measures.md)",
     &a::shapes},
    {"--criterion", "WHICH",
     "which neighbours belong together (default nonzero, all cells that are not zero); equal: cells of equal value; a "
     "number: cells whose values differ by at most that much; links: cells of which one names the other by a bit of "
     "its value (docs/labels.md). For colour images, equal and a number compare colours",
     &a::criterion},
    {"--connectivity", "N",
     "number of coordinates that a step to a neighbour may change, 1 (default) to the number of axes; or number of "
     "neighbours: 4 or 8 in an image, 6, 18 or 26 in a volume",
     &a::connectivity},
    {"--background", "VALUE",
     "value of cells that get label 0, for the criteria equal and a number (a colour has it in every channel); none "
     "labels every cell (default 0)",
     &a::background},
    {"--norm",
     "NORM",
     "distance of two colours: the largest difference of a channel (default), the sum of the differences, or the root "
     "of the sum of their squares",
     &a::norm,
     {"maximum", "sum", "euclidean"}},
    {"--min-size", "N", "drop components of fewer than N cells", &a::min_size},
    {"--max-size", "N", "drop components of more than N cells", &a::max_size},
    {"--largest", "K", "keep the K components with the most cells, of those that the other filters leave", &a::largest},
    {"--clear-border", "", "drop components that touch an end of an axis that is not periodic", &a::clear_border},
    {"--border",
     "LIST",
     "what lies beyond the ends of an axis (default open): nothing, or the other end; give one for all axes or one per "
     "axis in array order",
     &a::border,
     {"open", "periodic"},
     false,
     false,
     true},
    {"--periodic", "", "the same as --border periodic", &a::periodic},
    {"--batch-axes", "N",
     "treat the first N axes as numbers of images, and label each image by itself (default: the axes that the file "
     "names time or channels, else 0)",
     &a::batch_axes},
    {"--dtype",
     "TYPE",
     "type of the labels (default int32; uint16 if the format holds no int32); more components than it can number are "
     "an error",
     &a::dtype,
     {"uint16", "int32", "uint32", "int64", "uint64"}},
    {"--method",
     "NAME",
     "algorithm: fast (default), or propagation along links, a published method for study. It gives the same labels, "
     "reports its rounds, and takes no filters, batch axes or table",
     &a::method,
     {"fast", "propagation"}},
    {"--gather-length", "N", "for propagation: longest link, in cells (default 64)", &a::gather_length},
    {"--hooked", "",
     "for propagation: write better labels into the cells that labels address, which takes far fewer rounds",
     &a::hooked},
    {"--no-links", "", "for propagation: inspect neighbours only", &a::no_links},
    {"--no-neighbours", "", "for propagation: inspect the far ends of links only, which may not be enough",
     &a::no_neighbours},
    {"--no-masters", "", "for propagation: do not read the cell that a label addresses", &a::no_masters},
    {"--most-rounds", "N", "for propagation: fail, without labels, if N rounds are not enough (default no limit)",
     &a::most_rounds},
    cell};

}  // namespace

verb label_row() {
    return {"label",
            "Connected components: number, measure and filter them",
            "Reads an image or a volume and writes, for every cell, the number of the connected component it belongs "
            "to: 1, 2, ... in the order of the components' first cells, and 0 for background. Components that a filter "
            "drops become background before the others are numbered. A picture gives each component a colour that "
            "differs from its neighbours'. Without -o, --picture and --stats, it prints the number of components. "
            "docs/labels.md shows examples.",
            and_the_usual(label_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield label blobs.png -o labels.npy --picture labels.png --stats components.csv\n"
            "nearfield label blobs.png --picture largest.png --connectivity 8 --min-size 20 --clear-border --largest 5",
            label_verb};
}

}  // namespace nearfield::cli
