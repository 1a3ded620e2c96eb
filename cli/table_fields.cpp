// Defines the verbs that compute fields: distance, voronoi, bench.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;
using rows = std::vector<option>;

/// An option that names a file to write.
option file(const std::string& name, const std::string& help, std::string arguments::*into) {
    return {name, "FILE", help, into, {}, false, true};
}

option inputs(const std::string& what) {
    return {"INPUT",
            "INPUT",
            what +
                "; '-' is stdin. Several inputs share one call; -o and the other outputs then name folders, which get "
                "NAME.npy (NAME.png from --picture) for each input",
            &a::inputs,
            {},
            true,
            true,
            false,
            true};
}

const option coordinates_row{"--coordinates", "",
                             "write nearest sites as coordinates instead of linear indices: int32 of shape (axes, ...)",
                             &a::coordinates};
const option index_dtype{
    "--index-dtype", "TYPE", "type of the linear indices (default int64)", &a::index_dtype, {"int32", "int64"}};
const option trust_row =
    file("--trust",
         "also write uint8: 1 if no content beyond the open borders can change the distance, else 0; .png draws it",
         &a::trust);

const option where_row{"--where",
                       "FILE",
                       "array of the input's shape: cells where it is zero take no part, they are neither sites nor "
                       "answered (inf, -1, 0); nodata leaves out the cells that the input, a GeoTIFF, marks so",
                       &a::where,
                       {},
                       false,
                       true,
                       false,
                       true};

const rows distance_rows{
    inputs("image or volume to read"),
    output(
        "file for the distances, by suffix: .npy .tif .nrrd .nii .nii.gz; .png draws a picture; '-' is NPY on stdout"),
    any_sites("zero"),
    multilabel,
    sign,
    half_cell,
    cell,
    border,
    max_distance,
    where_row,
    batch_axes,
    method,
    timings,
    {"--squared", "", "write squared distances: exact integers if the spacing is integral", &a::squared},
    {"--dtype",
     "TYPE",
     "type of the distances (default float32); the uint types need --squared, whose default is the narrowest of "
     "uint32, uint64 and float64 that holds every answer",
     &a::dtype,
     {"float16", "float32", "float64", "uint16", "uint32", "uint64"}},
    file("--indices", "also write the linear index of every cell's nearest site; .png draws the Voronoi cells",
         &a::indices),
    index_dtype,
    coordinates_row,
    file("--labels", "also write the image's value at the nearest site; .png draws it", &a::labels),
    trust_row,
    plan_row,
    picture,
    {"--isolines", "LIST", "draw lines of equal distance in the picture: 5,10,20 or auto or none", &a::isolines},
    {"--numbers", "", "write the values into the cells of the picture; for small images", &a::numbers}};

option optional_inputs(const std::string& what) {
    option row = inputs(what);
    row.required = false;
    return row;
}

const rows voronoi_rows{
    optional_inputs("seeds to read; leave it out with --random-sites"),
    output("file for the indices, by suffix: .npy .nrrd and others that hold int64; .png draws a picture, .pgm gives "
           "each site a gray; '-' is NPY on stdout"),
    file("--labels",
         "also write the value of every cell's nearest seed, in the seeds' type: labels grow without overlap; .png "
         "draws them",
         &a::labels),
    file("--distances", "also write the distances as float32; .png draws them", &a::distances),
    {"--random-sites", "N", "make N random cells of a grid the sites, instead of reading an INPUT", &a::random_sites},
    {"--size", "AxBxC", "cells of that grid along each axis in array order (default 512x512)", &a::size},
    seed,
    sites("nonzero"),
    cell,
    border,
    max_distance,
    where_row,
    batch_axes,
    method,
    timings,
    {"--weights",
     "FILE",
     "array of the seeds' shape with a weight for every seed, in squared units of the spacing: the power diagram, "
     "where a seed of weight R*R reaches as far as a ball of radius R",
     &a::weights,
     {},
     false,
     true,
     false,
     true},
    file("--power", "also write the powers, squared distance less weight, as float64; needs --weights; .png draws them",
         &a::power),
    index_dtype,
    coordinates_row,
    trust_row,
    plan_row,
    picture};

const rows bench_rows{
    {"INPUT", "INPUT", "image or volume to read (default: make a sample)", &a::input, {}, false, true, false, true},
    {"--kind", "KIND", "kind of sample (default random)", &a::kind, sample_names()},
    {"--size", "AxBxC", "size of the sample (default 256x256x256)", &a::size},
    seed,
    density,
    feature,
    {"--fields",
     "LIST",
     "what to compute in one pass (default distance)",
     &a::fields,
     {"distance", "squared", "index", "coordinates", "label", "trusted"},
     false,
     false,
     true},
    {"--repeat", "N", "number of runs to time (default 5)", &a::repeat},
    any_sites("nonzero"),
    multilabel,
    sign,
    half_cell,
    cell,
    border,
    max_distance,
    batch_axes,
    threshold,
    channel,
    max_bytes,
    allow_outside,
    device,
    threads,
    json,
    quiet};

}  // namespace

verb distance_row() {
    return {"distance",
            "Exact Euclidean distance from every cell to the nearest site",
            "Reads an image or a volume and writes, for every cell, the distance to the nearest site. Sites are the "
            "cells whose value is zero, unless --sites says otherwise. Distances are exact, in units of the spacing. "
            "Without any site, every distance is +inf. docs/semantics.md explains each option, with pictures.",
            and_the_usual(distance_rows),
            "nearfield sample blobs -o blobs.png --size 256x256\n"
            "nearfield distance blobs.png -o distance.npy --picture distance.png --isolines auto\n"
            "nearfield distance blobs.png -o signed.npy --signed inside --half-cell --max-distance 20",
            field_verb};
}

verb voronoi_row() {
    return {"voronoi",
            "Nearest site of every cell",
            "Reads seeds and writes, for every cell, the index or the label of the nearest site. Sites are the cells "
            "whose value is not zero, unless --sites says otherwise. If several sites are equally near, the one with "
            "the smallest coordinate along the last axis wins, then along the axis before it, and so on, as in SciPy. "
            "Without any site, every index is -1 and every label 0. A picture gives each label region a colour if the "
            "seeds have labels, else each connected group of sites.",
            and_the_usual(voronoi_rows),
            "nearfield sample random -o seeds.npy --size 200x300 --density 0.002\n"
            "nearfield voronoi seeds.npy -o nearest.npy --picture voronoi.png\n"
            "nearfield voronoi seeds.npy --labels grown.npy --max-distance 10\n"
            "nearfield voronoi --random-sites 500 --size 320x320 --method jump-flood -o out.pgm --timings",
            field_verb};
}

verb bench_row() {
    return {"bench",
            "Time the fields on this machine",
            "Times the chosen fields on an input or, without one, on a sample with nonzero sites. Prints the median "
            "and the best time of the runs, after one run that does not count, and millions of cells per second by the "
            "median. On a GPU the time excludes copies, which are reported separately.",
            bench_rows,
            "nearfield bench --size 64x64x64 --density 0.1 --fields distance,index --repeat 3",
            bench_verb};
}

}  // namespace nearfield::cli
