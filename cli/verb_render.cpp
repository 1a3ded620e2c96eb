// nearfield render
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/colour.hpp"
#include "cli/each_value.hpp"
#include "cli/load.hpp"
#include "cli/mask_verb.hpp"
#include "cli/mesh_facts.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "cli/table_rows.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/effects.hpp"
#include "nearfield/mesh_distance.hpp"
#include "nearfield/render.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

struct request {
    std::vector<std::int64_t> size{600, 800};
    double turn = 35, elevation = 25;
    std::int64_t pictures = 1;
    std::vector<std::uint8_t> map;
    std::vector<transfer_point> points;
    render_options how;
};

/// Parses a colour such as #ff8800 into the numbers of a picture.
nearfield::rgb stored_colour(const std::string& text) {
    const effects::colour c = effects::colour_of(text);
    const auto stored = [](float light) {
        return light <= 0.0031308F ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
    };
    return {stored(c.red), stored(c.green), stored(c.blue)};
}

std::vector<transfer_point> parse_transfer(const std::string& text) {
    const std::string example = "--transfer 0:#000000:0,80:#ff8800:0.02,255:#ffffff:0.8";
    std::vector<transfer_point> points;
    if (text.empty()) return points;
    for (const std::string& item : split(text, ',')) {
        const std::vector<std::string> parts = split(item, ':');
        if (parts.size() != 3)
            refuse(fmt::format("--transfer has the point {}; give value, colour and opacity, e.g. {}", item, example));
        points.push_back({parse_number("--transfer", parts[0], example), stored_colour(parts[1]),
                          parse_number("--transfer", parts[2], example)});
    }
    return points;
}

/// Parses everything that does not depend on the input.
request request_of(const arguments& args) {
    request r;
    if (!args.size.empty()) {
        r.size = parse_size(args.size);
        if (r.size.size() != 2)
            refuse(fmt::format("--size is {}; give width and height, e.g. --size 800x600", args.size));
        std::swap(r.size[0], r.size[1]);
    }
    if (!args.where.empty()) {
        const std::vector<double> angles = parse_numbers("--from", args.where, "--from 35,25");
        if (angles.size() != 2) refuse(fmt::format("--from is {}; give two angles, e.g. --from 35,25", args.where));
        r.turn = angles[0], r.elevation = angles[1];
    }
    if (args.steps < 0 || args.steps > 100000)
        refuse(fmt::format("--turntable is {}; give a number of pictures, e.g. --turntable 36", args.steps));
    r.pictures = std::max<std::int64_t>(args.steps, 1);
    if (args.supersample < 0 || args.supersample > 8)
        refuse(fmt::format("--supersample is {}; give 1 to 8", args.supersample));
    r.how.samples = static_cast<int>(std::max<std::int64_t>(args.supersample, 1));
    r.how.mode = args.operation == "volume"     ? render_mode::volume
                 : args.operation == "isolines" ? render_mode::isolines
                                                : render_mode::surface;
    if (!args.background.empty()) {
        r.how.background = stored_colour(args.background);
    }
    r.points = parse_transfer(args.transfer);
    if (!r.points.empty() && (r.how.mode != render_mode::volume || !args.threshold.empty()))
        refuse("--transfer goes with --mode volume, without --threshold");
    for (int k = 0; k < 256; ++k) {
        const rgb c = ramp(k / 255.0);
        r.map.insert(r.map.end(), {c.red, c.green, c.blue});
    }
    return r;
}

/// Keeps bytes and float32; converts other types to float32.
io::array for_rays(io::array image) {
    if (image.type == dtype::uint8 || image.type == dtype::boolean || image.type == dtype::float32) return image;
    io::array made = make_like(image, dtype::float32, image.shape);
    auto* const to = reinterpret_cast<float*>(made.data.get());
    for_each_value(image, [&](std::int64_t cell, double value) { to[cell] = static_cast<float>(value); });
    return made;
}

/// Makes a volume of a mesh: exact distances near it, positive inside, of 256 cells along the longest side.
loaded load_mesh(const arguments& args) {
    if (!args.threshold.empty() || !args.spacing.empty() || (!args.operation.empty() && args.operation != "surface"))
        refuse(fmt::format("{} is a mesh; leave out --mode, --threshold and --spacing", args.input));
    mesh m = read_mesh(args.input);
    for (auto& at : m.vertices) std::swap(at[0], at[2]);  // x is the last axis of a volume
    const mesh_grid grid = grid_around(m, grid_around(m, {256, 256, 256}, 8).pitch[0], 8);
    loaded made;
    made.image = io::make_array(dtype::float32, {grid.shape.begin(), grid.shape.end()});
    made.per_axis.assign(grid.pitch.begin(), grid.pitch.end());
    const double reach = 6 * grid.pitch[0];  // normals look four cells away along each axis
    const bool is_open = measure_mesh(m).open_edges > 0;
    mesh_distance(host{static_cast<int>(args.threads), {}}, m, grid, {made.image.out(), {}}, {true, is_open, reach});
    auto* const cells = reinterpret_cast<float*>(made.image.data.get());
    const auto most = static_cast<float>(reach), half = static_cast<float>(0.75 * grid.pitch[0]);
    for (std::int64_t i = 0; i < made.image.cells(); ++i) {
        cells[i] = std::clamp(-cells[i], -most, most);
        // Faces of an open mesh are sheets, which may have no inside.
        if (is_open) cells[i] = std::max(cells[i], half - std::abs(cells[i]));
    }
    return made;
}

/// True if the values of a volume are those of labels: whole numbers, of which no one is that of more than three
/// quarters of the cells that are not 0, and neighbours that are not 0 are mostly equal. Gray values differ.
bool holds_labels(const io::array& volume) {
    std::vector<std::int64_t> cells_of(1 << 16);
    double before = 0;
    std::int64_t pairs = 0, equal = 0, filled = 0;
    bool whole = true;
    for_each_value(volume, [&](std::int64_t, double value) {
        whole = whole && value >= 0 && value < 1 << 16 && value == std::floor(value);
        if (whole && value != 0) {
            ++cells_of[static_cast<std::size_t>(value)], ++filled;
            if (before != 0) ++pairs, equal += value == before ? 1 : 0;
        }
        before = value;
    });
    return whole && filled > 0 && 3 * equal >= 2 * pairs && 4 * std::ranges::max(cells_of) <= 3 * filled;
}

/// The cells that a picture is to show: those above the threshold, or all.
struct shown_cells {
    std::int64_t low[3] = {}, size[3] = {};

    shown_cells(const io::array& volume, const render_options& how, bool all) {
        std::int64_t end[3] = {};
        for (std::size_t k = 0; k < 3; ++k) low[k] = all ? 0 : volume.shape[k], end[k] = all ? volume.shape[k] : 0;
        if (!all)
            for_each_value(volume, [&](std::int64_t cell, double value) {
                if (!(value > how.threshold)) return;
                const std::int64_t line = cell / volume.shape[2],
                                   at[3] = {line / volume.shape[1], line % volume.shape[1],
                                            cell - line * volume.shape[2]};
                for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], at[k]), end[k] = std::max(end[k], at[k] + 1);
            });
        for (std::size_t k = 0; k < 3; ++k) {
            if (end[k] == 0) low[k] = 0, end[k] = volume.shape[k];
            size[k] = end[k] - low[k];
        }
    }
    /// A camera that has them in its picture.
    [[nodiscard]] camera seen_from(const spacing& length, double turn, double elevation, double aspect) const {
        camera made = camera_for(size, 3, length, turn, elevation, aspect);
        for (int k = 0; k < 3; ++k)
            for (double* const each : {made.eye, made.target}) each[k] += static_cast<double>(low[k]) * length[k];
        return made;
    }
};

void set_values(const arguments& args, const loaded& in, const io::array& volume, request& r) {
    double low = INFINITY, high = -INFINITY;
    for_each_value(volume, [&](std::int64_t, double value) {
        if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    });
    if (!(low < high))
        refuse(fmt::format("{} has the same value everywhere, so there is nothing to draw; give a volume with contents",
                           args.input));
    const bool automatic = args.threshold.empty() || args.threshold == "auto";
    if (is_mesh(args.input)) {
        r.how.threshold = 0;
    } else if (automatic && holds_labels(volume)) {
        r.how.threshold = 0.5;
    } else if (automatic || args.threshold == "otsu") {  // midway between the two classes
        const double below = otsu_threshold(volume);
        double above = high;
        for_each_value(volume, [&](std::int64_t, double value) {
            if (value > below) above = std::min(above, value);
        });
        r.how.threshold = (below + above) / 2;
    } else {
        r.how.threshold = parse_number("--threshold", args.threshold, "--threshold 0.5");
    }
    r.how.low = r.how.mode == render_mode::volume ? r.how.threshold : low, r.how.high = high;
    r.how.interval =
        args.isolines == "none" ? (high - low) / 16 : parse_number("--isolines", args.isolines, "--isolines 10");
    r.how.spacing = in.cell(), r.how.colormap = r.map, r.how.transfer = r.points;
}

std::string numbered(const arguments& args, std::int64_t which) {
    if (args.steps == 0) return args.output;
    const std::size_t dot = args.output.rfind('.');
    return fmt::format("{}-{:03}{}", args.output.substr(0, dot), which, args.output.substr(dot));
}

computed draw(const arguments& args, const io::array& volume, const shown_cells& shown, request& r, std::int64_t which,
              io::array& picture) {
    const double turn = r.turn + 360.0 * static_cast<double>(which) / static_cast<double>(r.pictures);
    r.how.camera = shown.seen_from(r.how.spacing, turn, r.elevation,
                                   static_cast<double>(r.size[1]) / static_cast<double>(r.size[0]));
    const any_input<host> in = volume.in();
    const any_output<host> out = picture.out();
    const placed_call call{
        [&](const host& on) { render(on, in, out, r.how); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&in, 1}, {&out, 1},
                [&](const device& on, auto read, auto made) { render(on, read[0], made[0], r.how); }, warmups, repeat);
        },
    };
    return compute(args, call);
}

}  // namespace

int render_verb(const arguments& args) {
    request r = request_of(args);
    check_destination(numbered(args, 0));
    arguments as_it_is = args;
    as_it_is.threshold.clear();
    in_words_of_options([&] {
        loaded in = is_mesh(args.input) ? load_mesh(args) : load(args.input, as_it_is);
        if (in.image.shape.size() != 3 || in.batch_axes > 0)
            refuse(fmt::format("{} is {}; render takes a volume of 3 axes", args.input, text_of_axes(in.image)));
        io::array picture = io::make_array(dtype::uint8, {r.size[0], r.size[1], 3});
        picture.color = true;
        io::require_writable(numbered(args, 0), dtype::uint8, picture.shape, true);
        const io::array volume = for_rays(std::move(in.image));
        set_values(args, in, volume, r);
        const shown_cells shown(volume, r.how, r.how.mode == render_mode::isolines || !r.points.empty());
        computed done;
        json_report outputs = json_report::array();
        for (std::int64_t which = 0; which < r.pictures; ++which) {
            const computed one = draw(args, volume, shown, r, which, picture);
            if (which == 0) done = one;
            else done.add(one);
            io::write(numbered(args, which), picture);
            outputs.push_back({{"path", numbered(args, which)}});
        }
        if (!done.note.empty()) note(args, done.note);
        json_report said = start_report(args);
        said["input"] = describe(volume), said["input"]["path"] = args.input;
        if (r.points.empty()) said["threshold"] = r.how.threshold;
        said["outputs"] = outputs;
        said["run"] = describe(done, volume.cells());
        finish(
            args, said,
            fmt::format("render: {}, {}, {}x{} in {} on {} ({}) -> {}", text_of(volume.shape),
                        r.points.empty() ? fmt::format("threshold {:g}", r.how.threshold) : "transfer function",
                        r.size[1], r.size[0], text_of_ms(done.median_ms()), done.device, done.name, numbered(args, 0)),
            args.output == "-");
    });
    return 0;
}

}  // namespace nearfield::cli
