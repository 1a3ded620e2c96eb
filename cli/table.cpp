// The table of verbs.
#include "cli/arguments.hpp"
#include "cli/sample.hpp"

namespace nearfield::cli {
namespace {

using a = arguments;
using rows = std::vector<option>;

const option json{"--json", "", "print a report as JSON: to stdout, or to stderr when stdout carries data", &a::json};
const option quiet{"-q,--quiet", "", "print nothing but errors", &a::quiet};
const option threads{"-j,--threads", "N", "CPU threads; 0 is every core this process may use", &a::threads};
const option device{"--device",
                    "NAME",
                    "where to run; auto takes a GPU if there is one, cuda:1 is the second one",
                    &a::device,
                    {"auto", "cpu", "cuda"}};
const option threshold{"--threshold", "T",
                       "turn a gray image into a mask: cells above T are nonzero; auto takes Otsu's threshold, local "
                       "does so after removing uneven light",
                       &a::threshold};
const option channel{"--channel",
                     "NAME",
                     "which value of a colour image counts (default luminance)",
                     &a::channel,
                     {"luminance", "alpha", "red", "green", "blue"}};
const option cell{"--spacing", "A,B,...",
                  "size of a cell along each axis in array order, or one value for all; overrides the file's",
                  &a::spacing};
const option picture{"--picture", "FILE.png", "also draw a picture", &a::picture, {}, false, true};
const option slice{
    "--slice", "AXIS:INDEX",
    "which plane of a volume to draw; a negative index counts from the end; without it, the three middle planes",
    &a::slice};
const option seed{"--seed", "N", "the same seed gives the same bits on every machine", &a::seed};
const option density{"--density", "F", "share of nonzero cells: of random (default 0.01) and of blobs (default 0.4)",
                     &a::density};
const option feature{"--scale", "N",
                     "size of a feature in cells: blob, cell, corridor, thickest vessel, square, diameter", &a::scale};

option input(const std::string& help) { return {"INPUT", "INPUT", help, &a::input, {}, true, true}; }
option output(const std::string& help, bool required = false) {
    return {"-o,--output", "FILE", help, &a::output, {}, required, true};
}
option sites(const std::string& otherwise) {
    return {"--sites", "WHICH", "which cells are sites (default " + otherwise + ")", &a::sites, {"zero", "nonzero"}};
}

verb distance() {
    return {
        "distance",
        "Exact Euclidean distance from every cell to the nearest site",
        "Reads an image or a volume and writes, for every cell, how far the nearest site is. A site is a cell whose "
        "value is "
        "zero, unless --sites says otherwise. Distances are in units of the spacing, and exact. Without any site every "
        "distance is +inf.",
        rows{input("image or volume to read; '-' is NPY on stdin"),
             output("where the distances go, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY "
                    "on stdout"),
             sites("zero"),
             cell,
             {"--squared", "", "squared distances instead: integers where the spacing is integral", &a::squared},
             {"--dtype", "TYPE", "type of the distances (default float32)", &a::dtype, {"float32", "float64"}},
             {"--indices",
              "FILE",
              "also write the nearest site of every cell: its linear index, int64",
              &a::indices,
              {},
              false,
              true},
             {"--coordinates", "", "with --indices: coordinates instead, int32 of shape (axes, ...)", &a::coordinates},
             picture,
             {"--isolines", "LIST", "lines of equal distance in the picture: 5,10,20 or auto or none", &a::isolines},
             slice,
             threshold,
             channel,
             device,
             threads,
             json,
             quiet},
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield distance blobs.png -o distance.npy --picture distance.png --isolines auto",
        field_verb};
}

verb voronoi() {
    return {
        "voronoi",
        "The nearest site of every cell",
        "Reads seeds and writes, for every cell, which site is nearest. A site is a cell whose value is not zero, "
        "unless "
        "--sites says otherwise. Among equally near sites the one with the smallest coordinate along the last axis is "
        "taken, then along the axis before it, and so on, as SciPy does. Without any site every index is -1. A picture "
        "colours whole label regions where the seeds carry labels, else connected groups of sites.",
        rows{
            input("seeds to read; '-' is NPY on stdin"),
            output("where the indices go, by suffix: .npy .nrrd and others that hold int64; .png draws a picture; '-' "
                   "is NPY on stdout"),
            sites("nonzero"),
            cell,
            {"--coordinates", "", "coordinates instead of linear indices: int32 of shape (axes, ...)", &a::coordinates},
            picture,
            slice,
            threshold,
            channel,
            device,
            threads,
            json,
            quiet},
        "nearfield sample random -o seeds.npy --size 200x300 --density 0.002\n"
        "nearfield voronoi seeds.npy -o nearest.npy --picture voronoi.png",
        field_verb};
}

verb info() {
    return {"info",
            "What this build and this machine can do",
            "Prints version, compiler, instruction set, cores, and CUDA devices, or why there is none.",
            rows{json},
            "nearfield info",
            info_verb};
}

verb sample() {
    std::string about =
        "Makes a uint8 image or volume to try things on: 0 and 255, the same bits for a seed on every machine. Kinds:";
    for (const sample_info& each : sample_kinds()) about += std::string(" ") + each.name + " (" + each.about + "),";
    about.back() = '.';
    return {"sample",
            "Make a test image or volume",
            about,
            rows{{"KIND", "KIND", "what to make", &a::kind, sample_names(), true},
                 output("where it goes, by suffix; '-' is NPY on stdout", true),
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
            "Reads one format and writes another; values and spacing stay as they are. --threshold makes a mask of 0 "
            "and 255, "
            "--channel takes one value of a colour image.",
            rows{input("file to read; '-' is NPY on stdin"),
                 output("where it goes, by suffix; '-' is NPY on stdout", true),
                 cell,
                 threshold,
                 {"--channel",
                  "NAME",
                  "one value of a colour image instead of all",
                  &a::channel,
                  {"luminance", "alpha", "red", "green", "blue"}},
                 json,
                 quiet},
            "nearfield sample circle -o circle.png --size 64x64\n"
            "nearfield convert circle.png -o circle.npy",
            convert_verb};
}

verb bench() {
    return {"bench",
            "Time the fields on this machine",
            "Times the chosen fields on an input or, without one, on a sample with nonzero sites. Prints the median "
            "and the best "
            "time over the repeats, after one run that is not counted, and millions of cells per second of the median. "
            "On a GPU "
            "the time is that of the work alone; copies are reported separately.",
            rows{{"INPUT", "INPUT", "image or volume to read; without it a sample is made", &a::input, {}, false, true},
                 {"--kind", "KIND", "which sample (default random)", &a::kind, sample_names()},
                 {"--size", "AxBxC", "size of the sample (default 256x256x256)", &a::size},
                 seed,
                 density,
                 feature,
                 {"--fields", "LIST",
                  "what to compute in one pass: distance, squared, index, coordinates, joined by commas", &a::fields},
                 {"--repeat", "N", "how often (default 5)", &a::repeat},
                 sites("nonzero"),
                 cell,
                 threshold,
                 channel,
                 device,
                 threads,
                 json,
                 quiet},
            "nearfield bench --size 64x64x64 --density 0.1 --fields distance,index --repeat 3",
            bench_verb};
}

verb demo() {
    return {"demo",
            "Draw distances, isolines and Voronoi cells of an image and a volume",
            "Writes pictures of a 2-D image and of a 3-D volume into one folder and prints what ran, on what size, how "
            "long it "
            "took and where. A gray image becomes a mask: Otsu's threshold after removing uneven light, without "
            "specks. Without --image or --volume a sample stands in.",
            rows{{"--image", "FILE", "2-D image", &a::image, {}, false, true},
                 {"--volume", "FILE", "3-D volume", &a::volume, {}, false, true},
                 output("folder for the pictures; made if it is not there", true),
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
    static const std::vector<verb> table{distance(), voronoi(), info(), sample(),     convert(),
                                         bench(),    demo(),    help(), completion(), man()};
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
        {130, "cancelled with Ctrl-C"},
    };
    return table;
}

}  // namespace nearfield::cli
