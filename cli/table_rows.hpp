// Rows that several verbs share, and declarations of the verbs in table_*.cpp. Internal to these files.
#pragma once

#include "cli/arguments.hpp"
#include "cli/sample.hpp"

namespace nearfield::cli {

[[nodiscard]] verb distance_row();
[[nodiscard]] verb voronoi_row();
[[nodiscard]] verb label_row();
[[nodiscard]] verb morphology_row();
[[nodiscard]] verb skeleton_row();
[[nodiscard]] verb split_row();
[[nodiscard]] verb watershed_row();
[[nodiscard]] verb peaks_row();
[[nodiscard]] verb metrics_row();
[[nodiscard]] verb stipple_row();
[[nodiscard]] verb sdf_row();
[[nodiscard]] verb effect_row();
[[nodiscard]] verb fill_row();
[[nodiscard]] verb slices_row();
[[nodiscard]] verb pores_row();
[[nodiscard]] verb raycast_row();
[[nodiscard]] verb render_row();
[[nodiscard]] verb geodesic_row();
[[nodiscard]] verb path_row();
[[nodiscard]] verb roadmap_row();
[[nodiscard]] verb esdf_row();
[[nodiscard]] verb voxelize_row();
[[nodiscard]] verb isosurface_row();
[[nodiscard]] verb offset_row();
[[nodiscard]] verb bench_row();
[[nodiscard]] verb compare_row();
[[nodiscard]] verb medial_axis_row();
[[nodiscard]] verb thickness_row();
[[nodiscard]] verb porosimetry_row();

int raycast_verb(const arguments& args);
int render_verb(const arguments& args);

namespace rows_shared {

inline const option json{"--json", "", "print a report as JSON: to stdout, or to stderr when stdout carries data",
                         &arguments::json};
inline const option overwrite{"--overwrite", "", "let an output replace the file of an input", &arguments::overwrite};
inline const option quiet{"-q,--quiet", "", "print nothing but errors", &arguments::quiet};
inline const option threads{"-j,--threads", "N", "CPU threads; 0 is every core this process may use",
                            &arguments::threads};
inline const option device{"--device",
                           "NAME",
                           "where to compute: auto takes a GPU if there is one; cuda:1 is the second GPU",
                           &arguments::device,
                           {"auto", "cpu", "cuda"}};
inline const option threshold{"--threshold", "T",
                              "turn a gray image into a mask: cells above T are nonzero; otsu (or auto) takes Otsu's "
                              "threshold, local does so after removing uneven light",
                              &arguments::threshold};
inline const option channel{"--channel",
                            "NAME",
                            "value to read from a colour image (default luminance), or the number of a channel, from 0",
                            &arguments::channel,
                            {"luminance", "alpha", "red", "green", "blue"}};
inline const option max_bytes{"--max-bytes", "N",
                              "refuse a file, before memory is taken, if its header claims an array of more than N "
                              "bytes; K, M, G or T may follow (default a quarter of the free memory)",
                              &arguments::max_bytes};
inline const option allow_outside{
    "--allow-outside", "",
    "let a detached NRRD header name a data file outside its own folder; use it only for headers that you trust",
    &arguments::allow_outside};
inline const option cell{
    "--spacing", "A,B,...",
    "length of a cell along each axis in array order, or one value for all axes; overrides the file's",
    &arguments::spacing};
inline const option unit{"--unit", "WORD",
                         "unit of the spacing, such as um, in tables, legends and files (default: the file's)",
                         &arguments::unit};
inline const option plan_row{
    "--plan", "", "print what the call would do and how much memory it needs, and stop there; --json prints JSON",
    &arguments::plan};
inline const option picture{"--picture",
                            "FILE.png",
                            "also draw a picture; without a name, that of -o with the suffix .png",
                            &arguments::picture,
                            {},
                            false,
                            true,
                            false,
                            false,
                            true};
inline const option picture_size{
    "--picture-size", "N",
    "approximate number of pixels of a picture's longest side, unless the array has more (default 800)",
    &arguments::picture_size};
inline const option slice{
    "--slice", "AXIS:INDEX",
    "plane of a volume to draw; a negative index counts from the end (default the three middle planes)",
    &arguments::slice};
inline const option seed{
    "--seed", "N", "start of the random numbers; the same seed gives the same bits on every machine", &arguments::seed};
inline const option density{"--density", "F",
                            "share of nonzero cells in random (default 0.01), blobs (0.4) and labels (0.8)",
                            &arguments::density};
inline const option feature{
    "--scale", "N", "size of a feature in cells: of a blob, cell, corridor, thickest vessel, square or diameter",
    &arguments::scale};

inline const option method{
    "--method", "NAME[:SWITCHES]",
    "compute by a published method instead of the exact engine: jump-flood:order=doubling,after=1 and the like; "
    "docs/methods.md lists them",
    &arguments::by_method};
inline const option timings{"--timings", "", "print a table of the method's stages; on a GPU, a second run is timed",
                            &arguments::timings};

inline option input(const std::string& help) {
    return {"INPUT", "INPUT", help, &arguments::input, {}, true, true, false, true};
}
inline option output(const std::string& help, bool required = false) {
    return {"-o,--output", "FILE", help, &arguments::output, {}, required, true};
}
inline const option multilabel{"--multilabel", "", "the same as --sites other-labels", &arguments::multilabel};
inline const option half_cell{
    "--half-cell", "",
    "measure to the faces of a site's cell instead of to its centre: half a cell less along each axis",
    &arguments::half_cell};
inline const option sign{"--signed",
                         "SIDE",
                         "make distances of one side negative (inside are the cells that are no sites), and measure "
                         "sites too: to the nearest cell that is no site",
                         &arguments::sign,
                         {"inside", "outside"}};
inline const option border{"--border",
                           "LIST",
                           "what lies beyond the ends of an axis (default open): nothing, only sites, or the other "
                           "end; give one for all axes or one per axis in array order",
                           &arguments::border,
                           {"open", "closed", "periodic"},
                           false,
                           false,
                           true};
inline const option open_border{"--border",
                                "LIST",
                                "what lies beyond the ends of an axis (default open): nothing, or the other end; give "
                                "one for all axes or one per axis in array order",
                                &arguments::border,
                                {"open", "periodic"},
                                false,
                                false,
                                true};
inline const option max_distance{"--max-distance", "X",
                                 "largest distance that counts, in units of the spacing; cells that are farther have "
                                 "no site, and a small X is faster",
                                 &arguments::max_distance};
inline const option batch_axes{"--batch-axes", "N",
                               "treat the first N axes as numbers of images, and solve each image by itself (default: "
                               "the axes that the file names time or channels, else 0)",
                               &arguments::batch_axes};

inline option sites(const std::string& otherwise) {
    return {"--sites",
            "WHICH",
            "which cells are sites (default " + otherwise + ")",
            &arguments::sites,
            {"zero", "nonzero"}};
}
/// The option --sites for verbs that take labels.
inline option any_sites(const std::string& otherwise) {
    return {"--sites",
            "WHICH",
            "which cells are sites (default " + otherwise +
                "); with other-labels, the sites of a cell are all cells of another value, and cells that are zero are "
                "sites for all",
            &arguments::sites,
            {"zero", "nonzero", "other-labels"}};
}

/// Appends the common rows: how pictures are drawn, how the input is read, where the call runs, what is printed.
inline std::vector<option> and_the_usual(std::vector<option> rows) {
    for (const option* each : {&picture_size, &slice, &unit, &threshold, &channel, &max_bytes, &allow_outside,
                               &overwrite, &device, &threads, &json, &quiet})
        rows.push_back(*each);
    return rows;
}

}  // namespace rows_shared
}  // namespace nearfield::cli
