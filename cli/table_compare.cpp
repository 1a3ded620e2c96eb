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
        "Runs methods on one input. For each it prints the number of cells whose site is farther than the nearest one, "
        "the number of cells whose distance is wrong, the mean and the largest of these errors in units of the "
        "spacing, the time, the rounds over the grid, and the bytes that these read and write at least. Without an "
        "INPUT, it makes a sample. docs/methods.md explains the methods.",
        and_the_usual({{"INPUT",
                        "INPUT",
                        "image or volume to read (default: make a sample)",
                        &a::input,
                        {},
                        false,
                        true,
                        false,
                        true},
                       {"--methods", "LIST",
                        "methods to run, separated by blanks: 'jump-flood jump-flood:after=1 brushfire' (default: one "
                        "or more of each kind)",
                        &a::methods},
                       {"--pictures",
                        "FOLDER",
                        "also draw the errors of every method: where it is wrong, and by how much",
                        &a::pictures,
                        {},
                        false,
                        true},
                       {"--chart",
                        "FILE.svg",
                        "also run on random images of 0.01 % to 90 % sites, and draw errors and times over this share",
                        &a::chart,
                        {},
                        false,
                        true},
                       {"--kind", "KIND", "kind of sample (default random)", &a::kind, sample_names()},
                       {"--size", "AxBxC", "size of the sample, and of the chart's images (default 512x512)", &a::size},
                       seed,
                       density,
                       feature,
                       {"--repeat", "N", "number of runs, of which the median counts (default 5)", &a::repeat},
                       sites("nonzero"),
                       cell,
                       max_distance}),
        "nearfield compare --size 200x200 --density 0.01 --repeat 1 --methods 'jump-flood jump-flood:after=1 "
        "brushfire'\n"
        "nearfield compare --kind blobs --size 128x128 --repeat 1 --pictures errors",
        compare_verb};
}

}  // namespace nearfield::cli
