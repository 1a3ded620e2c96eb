// The table of verbs; verbs with many options are defined in files of their own.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;
using rows = std::vector<option>;

verb info() {
    return {"info",
            "Describe a file, or this build and this machine",
            "Prints for every file its shape and axes, element type, spacing, range of the values, and the option that "
            "makes a mask of them; for a mesh, its faces, whether they are closed, volume, area and box. Without a "
            "file, it prints the version, compiler, instruction set, cores, and CUDA devices, or why there is none.",
            rows{{"INPUT", "INPUT", "files to look at; '-' is stdin", &a::inputs, {}, false, true, false, true},
                 max_bytes,
                 allow_outside,
                 json},
            "nearfield sample labels -o labels.png --size 64x64\n"
            "nearfield info labels.png\n"
            "nearfield info",
            info_verb};
}

verb sample() {
    std::string about =
        "Makes an image or volume to try things on: uint8 of 0 and 255, except for labels. A seed gives the same bits "
        "on every machine. Kinds:";
    for (const sample_info& each : sample_kinds()) about += std::string(" ") + each.name + " (" + each.about + "),";
    about.back() = '.';
    return {"sample",
            "Make a test image or volume",
            about,
            rows{{"KIND", "KIND", "what to make", &a::kind, sample_names(), true},
                 output("file to write, by suffix; '-' is NPY on stdout", true),
                 {"--size", "AxBxC", "cells along each axis in array order (default 512x512)", &a::size},
                 seed,
                 density,
                 feature,
                 {"--invert", "", "swap 0 and 255", &a::invert},
                 cell,
                 json,
                 quiet},
            "nearfield sample vessels -o vessels.png --size 300x400 --seed 7",
            sample_verb};
}

verb convert() {
    return {"convert",
            "Change the file format of an array",
            "Reads one format and writes another; values and spacing do not change. --threshold makes a mask of 0 and "
            "255, and --channel takes one value of a colour image.",
            rows{input("file to read; '-' is stdin"),
                 output("file to write, by suffix; '-' is NPY on stdout", true),
                 cell,
                 threshold,
                 {"--channel",
                  "NAME",
                  "write only this value of a colour image, or the channel of this number, from 0",
                  &a::channel,
                  {"luminance", "alpha", "red", "green", "blue"}},
                 max_bytes,
                 allow_outside,
                 overwrite,
                 json,
                 quiet},
            "nearfield sample circle -o circle.png --size 64x64\n"
            "nearfield convert circle.png -o circle.npy",
            convert_verb};
}

verb demo() {
    return {"demo",
            "Draw distances, isolines, Voronoi cells and components of an image and a volume",
            "Writes pictures of a 2-D image and of a 3-D volume into one folder, and prints what ran, on which size, "
            "where, and how long it took. A gray image becomes a mask by Otsu's threshold after uneven light and "
            "specks are removed. A sample replaces a missing --image or --volume.",
            rows{{"--image", "FILE", "2-D image", &a::image, {}, false, true, false, true},
                 {"--volume", "FILE", "3-D volume", &a::volume, {}, false, true, false, true},
                 output("folder for the pictures; it is made if it does not exist", true),
                 max_bytes,
                 allow_outside,
                 overwrite,
                 device,
                 threads,
                 json,
                 quiet},
            "nearfield demo -o pictures",
            demo_verb};
}

verb help() {
    return {"help",
            "Explain a verb",
            "Prints what a verb does, its options and an example; without a verb, the list of verbs.",
            rows{{"VERB", "VERB", "which verb", &a::topic}},
            "nearfield help distance",
            help_verb};
}

verb completion() {
    return {"completion",
            "Print a shell's completion script",
            "Prints a script for bash, zsh or fish. For bash: source <(nearfield completion bash).",
            rows{{"SHELL", "SHELL", "which shell", &a::topic, {"bash", "zsh", "fish"}, true}},
            "nearfield completion bash > nearfield.bash",
            completion_verb};
}

verb man() {
    return {"man",
            "Print the manual page",
            "Prints the manual page in man's own format; --markdown prints docs/cli.md.",
            rows{{"--markdown", "", "as Markdown", &a::markdown}},
            "nearfield man > nearfield.1",
            man_verb};
}

}  // namespace

const std::vector<verb>& verbs() {
    static const std::vector<verb> table{distance_row(),  voronoi_row(),
                                         label_row(),     morphology_row(),
                                         thickness_row(), medial_axis_row(),
                                         skeleton_row(),  split_row(),
                                         watershed_row(), peaks_row(),
                                         geodesic_row(),  path_row(),
                                         roadmap_row(),   esdf_row(),
                                         pores_row(),     porosimetry_row(),
                                         fill_row(),      slices_row(),
                                         sdf_row(),       effect_row(),
                                         stipple_row(),   render_row(),
                                         raycast_row(),   metrics_row(),
                                         voxelize_row(),  isosurface_row(),
                                         offset_row(),    info(),
                                         sample(),        convert(),
                                         bench_row(),     compare_row(),
                                         demo(),          help(),
                                         completion(),    man()};
    return table;
}

const verb* find_verb(const std::string& name) {
    for (const verb& each : verbs())
        if (each.name == name) return &each;
    return nullptr;
}

const std::vector<exit_status>& exit_statuses() {
    static const std::vector<exit_status> table{
        {0, "success"},
        {1, "any other failure"},
        {2, "wrong usage or an invalid argument"},
        {3, "a file or stream cannot be read or written, or is not what it claims"},
        {4, "out of memory"},
        {5, "the device failed, or this build or machine cannot serve the request"},
        {129, "cancelled: the terminal was closed (SIGHUP)"},
        {130, "cancelled with Ctrl-C (SIGINT)"},
        {143, "cancelled with `kill` (SIGTERM)"},
        {128, "plus n: ended by signal n (QUIT 131, USR1 138, USR2 140, ALRM 142, XCPU 152)"},
    };
    return table;
}

}  // namespace nearfield::cli
