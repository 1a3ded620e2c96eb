// The parsed words of a command line, and the table of verbs from which parsing, help, docs and completion are made.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace nearfield::cli {

inline constexpr std::int64_t usual_picture_size = std::numeric_limits<std::int64_t>::min();

/// Values of all options of all verbs; a verb reads only those that its rows of the table name.
struct arguments {
    static constexpr std::int64_t as_the_file_says = std::numeric_limits<std::int64_t>::min();

    std::string verb;
    std::vector<std::string> inputs;  ///< for distance, voronoi, label and info
    std::string input, output, indices, labels, distances, trust, weights, power, picture;
    std::string spacing, sites, sign, border, max_distance, dtype, index_dtype, threshold, channel;
    std::string device = "auto", isolines = "none", slice, kind, size, topic;
    std::string image, volume, fields = "distance", max_bytes;
    bool squared = false, coordinates = false, multilabel = false, half_cell = false, plan = false, numbers = false;
    bool overwrite = false, json = false, quiet = false, invert = false, markdown = false, allow_outside = false;
    std::int64_t threads = 0, repeat = 5, scale = 0, batch_axes = as_the_file_says, picture_size = usual_picture_size;
    std::uint64_t seed = 1;
    double density = 0;
    // Methods.
    std::string by_method, methods, pictures, chart;
    std::int64_t random_sites = 0;
    bool timings = false;
    std::string sizes, inlets = "all";  // thickness and porosimetry
    // Verb label.
    std::string criterion = "nonzero", norm, background, stats, intensity, unit, over;
    std::int64_t connectivity = 1, min_size = 1, max_size = std::numeric_limits<std::int64_t>::max(),
                 largest = std::numeric_limits<std::int64_t>::max();
    bool clear_border = false, shapes = false, periodic = false, no_links = false, no_neighbours = false,
         no_masters = false, hooked = false;
    // Shapes.
    std::string operation, radius, keep = "ends", graph, prune_length, prune_ratio, prune_angle;
    bool faces = false;
    std::string other, percentile, tolerance, surface;  // metrics
    std::string height;                                 // of split, pores, watershed and peaks
    bool maxima = false, minima = false;                // of watershed and peaks
    bool fill_holes = false;                            // split
    bool boundaries = false;                            // pores
    std::string missing = "nan", where, drawn;          // fill and slices
    std::int64_t axis = 0, steps = 0;
    bool align = false;
    // Paths.
    std::string seeds, start, goal, cost, max_cost, objective = "shortest", path, clearance_weight, clearance_decay,
                                                    clearance_costs, gradient;
    std::string step_weights = "quasi-euclidean", costmap, inflation, unknown = "obstacle";
    bool no_corners = false, smooth = false, world = false, is_signed = false;
    std::string method = "fast";
    std::int64_t gather_length = 64, most_rounds = 0;
    // Verb stipple.
    std::string stipple_method = "lloyd", dots = "ink", frames;
    bool equal_ink = false;
    std::int64_t points = -1, rounds = -1;
    double dot_size = 0, dot_scale = 1, paper_width = 200;
    bool cmyk = false, line = false, mosaic = false;
    // Verb medial-axis.
    std::string axis_method = "integer", pruning = "constant", gamma;
    // Meshes and pictures.
    std::string pitch, level, transfer;
    bool winding = false, shell = false, below = false, closed = false, sharp = false, hollow = false;
    // Verbs sdf and effect.
    std::string cutoff, font, characters, metrics, effects, fill;
    std::int64_t supersample = 0, margin = 0;
    bool mask = false;
};

/// The member that receives an option's value; its type says how the text is read.
using member = std::variant<bool arguments::*, std::string arguments::*, std::vector<std::string> arguments::*,
                            std::int64_t arguments::*, std::uint64_t arguments::*, double arguments::*>;

struct option {
    std::string names;  ///< "-o,--output", or a positional's name as the table writes it: "INPUT"
    std::string value;  ///< placeholder of the value; empty for a flag
    std::string help;
    member into;
    std::vector<std::string> choices{};
    bool required = false;
    bool file = false;    ///< true if shells complete file names
    bool list = false;    ///< true if the value may be several of `choices`, joined by commas
    bool reads = false;   ///< for files: true for an input, false for an output
    bool beside = false;  ///< for outputs: may come without a value, which is then the name of -o with the suffix .png

    [[nodiscard]] bool positional() const { return names[0] != '-'; }
    [[nodiscard]] bool flag() const { return std::holds_alternative<bool arguments::*>(into); }
    /// True for a positional that takes several words.
    [[nodiscard]] bool many() const { return std::holds_alternative<std::vector<std::string> arguments::*>(into); }
    /// "--output" of "-o,--output"
    [[nodiscard]] std::string long_name() const { return names.substr(names.rfind(',') + 1); }
};

struct verb {
    std::string name;
    std::string summary;  ///< one line without a full stop
    std::string about;    ///< one paragraph
    std::vector<option> options;
    std::string example;  ///< shell commands, one a line, which the tests run as they stand
    int (*run)(const arguments&) = nullptr;
};

[[nodiscard]] const std::vector<verb>& verbs();
/// The verb with this name; nullptr if there is none.
[[nodiscard]] const verb* find_verb(const std::string& name);

struct exit_status {
    int code;
    std::string meaning;
};
[[nodiscard]] const std::vector<exit_status>& exit_statuses();

int field_verb(const arguments& args);  ///< distance and voronoi
int label_verb(const arguments& args);
int morphology_verb(const arguments& args);
int medial_axis_verb(const arguments& args);
int thickness_verb(const arguments& args);  ///< thickness and porosimetry
int skeleton_verb(const arguments& args);
int split_verb(const arguments& args);
int watershed_verb(const arguments& args);
int peaks_verb(const arguments& args);
int metrics_verb(const arguments& args);
int stipple_verb(const arguments& args);
int sdf_verb(const arguments& args);
int effect_verb(const arguments& args);
int pores_verb(const arguments& args);
int fill_verb(const arguments& args);
int slices_verb(const arguments& args);
int geodesic_verb(const arguments& args);
int path_verb(const arguments& args);
int roadmap_verb(const arguments& args);
int esdf_verb(const arguments& args);
int voxelize_verb(const arguments& args);
int isosurface_verb(const arguments& args);
int offset_verb(const arguments& args);
int info_verb(const arguments& args);
int sample_verb(const arguments& args);
int convert_verb(const arguments& args);
int bench_verb(const arguments& args);
int compare_verb(const arguments& args);
int demo_verb(const arguments& args);
int help_verb(const arguments& args);
int completion_verb(const arguments& args);
int man_verb(const arguments& args);

}  // namespace nearfield::cli
