// The verbs for meshes: voxelize, isosurface, offset.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const option mesh_input = input("mesh to read: .stl .obj .ply .off, as text or binary");
const option mesh_output{
    "-o,--output", "FILE", "file for the mesh, by suffix: .stl .ply (binary) .obj .off", &a::output, {}, true, true};
const option winding{
    "--winding", "",
    "decide inside by the winding number: this accepts meshes with holes, and keeps regions that several shells cover",
    &a::winding};
const option pitch(const std::string& help) { return {"--pitch", "X", help, &a::pitch}; }
const option sharp{"--sharp", "", "keep edges and corners, by dual contouring", &a::sharp};

const std::vector<option> voxelize_rows{
    mesh_input,
    output("file for the volume, uint8 of 0 and 1, by suffix: .npy .tif .nrrd .nii .nii.gz; '-' is NPY on stdout",
           true),
    pitch("side of a cell, in the mesh's unit"),
    {"--size", "AxBxC", "cells along z, y and x, or one number for all, each as small as fits; replaces --pitch",
     &a::size},
    {"--shell", "", "mark the cells that a triangle touches, instead of those whose centre lies inside", &a::shell},
    winding,
    overwrite,
    device,
    threads,
    json,
    quiet};

const std::vector<option> isosurface_rows{
    input("volume to read; '-' is stdin"),
    mesh_output,
    {"--level", "L", "value on the surface (default 0.5, which separates a mask's 0 and 1)", &a::level},
    {"--below", "", "take values below the level as inside, as in signed distances; else those above it", &a::below},
    {"--closed", "", "treat the space beyond the ends of the volume as outside: caps close the surface there",
     &a::closed},
    sharp,
    cell,
    threshold,
    channel,
    max_bytes,
    allow_outside,
    overwrite,
    device,
    threads,
    json,
    quiet};

const std::vector<option> offset_rows{
    mesh_input,
    mesh_output,
    {"--distance",
     "D",
     "how far from the surface, in the mesh's unit: outside where positive, inside where negative",
     &a::radius,
     {},
     true},
    {"--hollow", "",
     "the wall between the surface and its offset; -D keeps the outside and hollows the part. Says how thick it is, "
     "and "
     "in .ply files keeps that of every vertex, as `thickness` and as colours: blue where it is D, red from 2 D on",
     &a::hollow},
    pitch("of the grid of distances, in the mesh's unit (default 1/256 of the longest side); the error grows with it"),
    {"--method",
     "NAME",
     "exact (default): by distances to the triangles; voxels: to the cells of a voxelised part",
     &a::operation,
     {"exact", "voxels"}},
    sharp,
    winding,
    overwrite,
    device,
    threads,
    json,
    quiet};

const std::string make_part =
    "nearfield sample blobs -o part.nrrd --size 40x40x40 --scale 12 --seed 3\n"
    "nearfield isosurface part.nrrd -o part.stl --level 127 --closed\n";

}  // namespace

verb voxelize_row() {
    return {"voxelize",
            "Mark the cells of a volume that lie inside a mesh",
            "Reads a mesh and writes a volume with a margin of one cell on every side. The tests are exact, so closed "
            "meshes have no leaks. The last axis is x. docs/surfaces.md has the definition.",
            voxelize_rows,
            make_part + "nearfield voxelize part.stl -o cells.nrrd --pitch 0.5",
            voxelize_verb};
}

verb isosurface_row() {
    return {"isosurface",
            "Make a mesh of the surface on which a volume has a value",
            "Reads a volume and writes a mesh whose faces look outwards. The mesh is closed if the surface stays away "
            "from the ends of the volume. x runs along the last axis; lengths are in units of the spacing. "
            "docs/surfaces.md has the definition.",
            isosurface_rows,
            "nearfield sample blobs -o part.nrrd --size 40x40x40 --scale 12\n"
            "nearfield isosurface part.nrrd -o part.stl --level 127 --closed",
            isosurface_verb};
}

verb offset_row() {
    return {
        "offset",
        "Grow, shrink or hollow a mesh",
        "Reads a mesh and writes the surface at a distance from it, or the wall between both, always closed. Says "
        "whether it is, its volume, the pitch, a bound of the error and the time. docs/surfaces.md has the definition.",
        offset_rows,
        make_part + "nearfield offset part.stl -o hollow.stl --distance -1 --hollow --pitch 0.25",
        offset_verb};
}

}  // namespace nearfield::cli
