// Defines the verbs that look at volumes along rays: render and raycast.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> render_rows{
    input("volume to read, of 3 axes: a mask or gray values; '-' is stdin"),
    output("where the picture goes, by suffix: .png .ppm .tif; with --turntable the pictures get numbers before it",
           true),
    {"--mode",
     "NAME",
     "surface (default), lit, with soft shadows; volume, a cloud in colours; isolines, a cut with "
     "values",
     &a::operation,
     {"surface", "volume", "isolines"}},
    {"--threshold", "T", "value of the surface, and where a cloud begins; auto (default) takes Otsu's threshold",
     &a::threshold},
    {"--size", "WxH", "pixels of the picture (default 800x600)", &a::size},
    {"--from", "TURN,UP",
     "where the camera is, in degrees (default 35,25): round the first axis, from the far end of the second towards "
     "that of the last, and above",
     &a::where},
    {"--turntable", "N", "N pictures, all the way round the first axis", &a::steps},
    {"--supersample", "N", "rays a pixel along each side, 1 to 8 (default 1)", &a::supersample},
    {"--isolines", "D", "values between isolines (default a sixteenth of the range)", &a::isolines},
    {"--background", "COLOUR", "such as #000000 (default #ffffff)", &a::background},
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
    input("image or volume to read: a mask, not zero is occupied; '-' is stdin"),
    {"RAYS",
     "RAYS",
     "a row for each ray: its origin and its direction, in cells, in array order; a table of numbers, such as .npy",
     &a::other,
     {},
     true,
     true,
     false,
     true},
    {"-o,--output",
     "FILE",
     "where the table goes: .csv, with the cell, the face and t at it, or .npy, the same in float64; '-' is CSV on "
     "stdout (default)",
     &a::output,
     {},
     false,
     true},
    {"--skips",
     "HOW",
     "how empty cells are passed (default cubes): one by one, by cubes, or by cubes that lie ahead; the hits are equal",
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
            "Draw a volume as a lit surface, a cloud or a cut",
            "Renders the surface on which a volume has a value, with soft shadows, all of it as a cloud, or a cut with "
            "isolines. The same bytes on every machine. docs/rays.md shows what comes out.",
            render_rows,
            "nearfield sample blobs -o blobs.npy --size 64x64x64\n"
            "nearfield render blobs.npy -o blobs.png --size 320x240",
            render_verb};
}

verb raycast_row() {
    return {"raycast",
            "Find the first occupied cell on each ray",
            "Walks along rays from cell to cell, skipping cubes of empty cells, and says which cell each enters first, "
            "by which face, and when. docs/rays.md has the definition.",
            raycast_rows,
            "nearfield sample blobs -o mask.npy --size 64x64\n"
            "nearfield sample labels -o rays.npy --size 5x4\n"
            "nearfield raycast mask.npy rays.npy -o hits.csv",
            raycast_verb};
}

}  // namespace nearfield::cli
