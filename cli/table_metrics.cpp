// Defines the verb that compares segmentations: metrics.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> metrics_rows{
    {"A", "A", "image or volume to read: labels or a mask; '-' is stdin", &a::input, {}, true, true, false, true},
    {"B", "B", "image or volume to compare A with, of the same kind", &a::other, {}, true, true, false, true},
    {"-o,--output",
     "FILE.csv",
     "file for the table, with one row for each label, in a batch for each label of each image (default '-', stdout)",
     &a::output,
     {},
     false,
     true},
    {"--labels", "LIST",
     "values to compare, e.g. 1,2,5 (default all values but 0 that occur in either, which must be 1 to 65535)",
     &a::labels},
    {"--percentile", "LIST", "percentiles of the distances, e.g. 50,95 (default 95)", &a::percentile},
    {"--tolerance", "LIST",
     "distances up to which a point of a surface counts as right, in units of the spacing, e.g. 0.5,1 (default 1)",
     &a::tolerance},
    {"--surface",
     "KIND",
     "parts of a surface (default cells): cells with a neighbour outside, or elements of area between cells",
     &a::surface,
     {"cells", "elements"}},
    {"--spacing", "A,B,...",
     "length of a cell along each axis in array order, or one value for all axes; overrides the files', which must be "
     "equal",
     &a::spacing},
    batch_axes,
    plan_row,
    threshold,
    channel,
    max_bytes,
    allow_outside,
    overwrite,
    device,
    threads,
    rows_shared::json,
    quiet};

}  // namespace

verb metrics_row() {
    return {"metrics",
            "Compare two segmentations label by label",
            "Writes a table of the distances between the surfaces of two segmentations: Hausdorff distance, "
            "percentile, average and symmetric average distance, surface Dice and overlap within a tolerance, and Dice "
            "of the cells. docs/metrics.md has the definitions.",
            metrics_rows,
            "nearfield sample blobs -o truth.png --size 200x200\n"
            "nearfield morphology opening truth.png -o found.png --radius 4\n"
            "nearfield metrics found.png truth.png --percentile 50,95 -o table.csv",
            metrics_verb};
}

}  // namespace nearfield::cli
