// Defines the verb that compares methods.
#include "cli/table_rows.hpp"

namespace nearfield::cli {

using namespace rows_shared;

// Over 40 lines because it is one row of the table of verbs.
verb compare_row() {
    using a = arguments;
    return {
        "compare",
        "Compare published methods with the exact answer",
        "Runs methods on one input and prints, for each, the cells whose site is farther than the nearest one, "
        "those whose "
        "distance is not the exact one, the mean of these errors and the largest, in units of the spacing, the "
        "time, the "
        "rounds over the grid and the bytes that they read and write at least. Without an INPUT a sample is made. "
        "docs/methods.md explains the methods.",
        and_the_usual(
            {{"INPUT",
              "INPUT",
              "image or volume to read; without it a sample is made",
              &a::input,
              {},
              false,
              true,
              false,
              true},
             {"--methods", "LIST",
              "which, between blanks: 'jump-flood jump-flood:after=1 brushfire' (default: one or more of each kind)",
              &a::methods},
             {"--pictures",
              "FOLDER",
              "a picture of every method's errors: where it is wrong, and by how much",
              &a::pictures,
              {},
              false,
              true},
             {"--chart",
              "FILE.svg",
              "also run on random images of 0.01 % to 90 % sites, and draw errors and times over that",
              &a::chart,
              {},
              false,
              true},
             {"--kind", "KIND", "which sample (default random)", &a::kind, sample_names()},
             {"--size", "AxBxC", "size of the sample, and of the chart's images (default 512x512)", &a::size},
             seed,
             density,
             feature,
             {"--repeat", "N", "how often; the median counts (default 5)", &a::repeat},
             sites("nonzero"),
             cell,
             max_distance}),
        "nearfield compare --size 200x200 --density 0.01 --repeat 1 --methods 'jump-flood jump-flood:after=1 "
        "brushfire'\n"
        "nearfield compare --kind blobs --size 128x128 --repeat 1 --pictures errors",
        compare_verb};
}

}  // namespace nearfield::cli
