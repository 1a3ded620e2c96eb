// Defines the verbs that look at volumes along rays: render and raycast.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> render_rows{
    input("volume to read, of 3 axes: a mask or gray values, or a mesh: .stl .obj .ply .off; '-' is stdin"),
    output("file for the picture, by suffix: .png .ppm .tif; with --turntable, numbers come before the suffix", true),
    {"--mode",
     "NAME",
     "surface (default): lit, with soft shadows; volume: a cloud in colours; isolines: a cut with values",
     &a::operation,
     {"surface", "volume", "isolines"}},
    {"--threshold", "T",
     "value of the surface, or least value of a cloud; otsu takes Otsu's threshold, auto (default) does so, and takes "
     "all labels that are not 0",
     &a::threshold},
    {"--transfer", "POINTS",
     "colours and opacities of a cloud by value, linear from point to point, such as "
     "0:#000000:0,80:#ff8800:0.02,255:#ffffff:0.8; instead of a threshold and the usual colours",
     &a::transfer},
    {"--size", "WxH", "pixels of the picture (default 800x600)", &a::size},
    {"--from", "TURN,UP",
     "position of the camera, in degrees (default 35,25): its turn round the first axis, from the far end of the "
     "second towards that of the last, and its elevation",
     &a::where},
    {"--turntable", "N", "draw N pictures, once round the first axis", &a::steps},
    {"--supersample", "N", "number of rays along each side of a pixel, 1 to 8 (default 1)", &a::supersample},
    {"--isolines", "D", "difference of values between isolines (default a sixteenth of the range)", &a::isolines},
    {"--background", "COLOUR", "colour behind the volume, such as #000000 (default #ffffff)", &a::background},
    cell,
    channel,
    max_bytes,
    allow_outside,
    overwrite,
    device,
    threads,
    json,
    quiet};

const std::vector<option> raycast_rows{
    input("mask to read, an image or volume whose cells that are not zero are occupied; '-' is stdin"),
    {"RAYS",
     "RAYS",
     "table of numbers, such as .npy, with one row for each ray: its origin and its direction, in cells, in array "
     "order",
     &a::other,
     {},
     true,
     true,
     false,
     true},
    {"-o,--output",
     "FILE",
     "file for the table: .csv with the cell, the face and t at it, or .npy with the same in float64; '-' is CSV on "
     "stdout (default)",
     &a::output,
     {},
     false,
     true},
    {"--skips",
     "HOW",
     "how to pass empty cells (default cubes): one by one, by cubes, or by cubes that lie ahead; the hits are the same",
     &a::operation,
     {"none", "cubes", "octants"}},
    threshold,
    channel,
    max_bytes,
    allow_outside,
    overwrite,
    device,
    threads,
    json,
    quiet};

}  // namespace

verb render_row() {
    return {"render",
            "Draw a volume or a mesh as a lit surface, a cloud or a cut",
            "Renders the surface on which a volume has a value, with soft shadows; or the volume as a cloud; or a cut "
            "with isolines. Meshes are drawn by their exact distances on a grid of 256 cells, with z up. Every machine "
            "writes the same bytes. docs/rays.md shows examples.",
            render_rows,
            "nearfield sample blobs -o blobs.npy --size 64x64x64\n"
            "nearfield render blobs.npy -o blobs.png --size 320x240",
            render_verb};
}

verb raycast_row() {
    return {"raycast",
            "Find the first occupied cell on each ray",
            "Walks along rays from cell to cell, skipping cubes of empty cells. It writes, for each ray, the first "
            "occupied cell, the face through which the ray enters it, and the ray's parameter t there. docs/rays.md "
            "has the definition.",
            raycast_rows,
            "nearfield sample blobs -o mask.npy --size 64x64\n"
            "nearfield sample labels -o rays.npy --size 5x4\n"
            "nearfield raycast mask.npy rays.npy -o hits.csv",
            raycast_verb};
}

}  // namespace nearfield::cli
