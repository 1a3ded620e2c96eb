// nearfield raycast
#include <fmt/format.h>

#include <cmath>

#include "cli/each_value.hpp"
#include "cli/files.hpp"
#include "cli/load.hpp"
#include "cli/mask_verb.hpp"
#include "cli/report.hpp"
#include "cli/table_rows.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/raycast.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Owns the tables of rays and hits, and their views.
struct raycast_run {
    loaded mask;
    std::int64_t axes = 0, rays = 0;
    std::vector<double> table, entry;
    std::vector<std::int32_t> cells;
    std::vector<std::int8_t> faces;
    std::vector<std::int32_t> steps;

    [[nodiscard]] any_input<host> half(std::int64_t first) const {
        any_input<host> v = any_input<host>::contiguous(table.data() + first, dtype::float64, std::vector{rays, axes});
        v.stride[0] = 2 * axes;
        return v;
    }
};

void read_rays(const arguments& args, raycast_run& run) {
    const io::array rays = read_file(args.other, args);
    run.axes = static_cast<std::int64_t>(run.mask.image.shape.size());
    if (rays.color || rays.shape.size() != 2 || rays.shape[1] != 2 * run.axes)
        refuse(fmt::format("{} is {}; give a row of {} numbers for each ray: origin and direction", args.other,
                           text_of_axes(rays), 2 * run.axes));
    run.rays = rays.shape[0];
    run.table.resize(static_cast<std::size_t>(rays.cells()));
    for_each_value(rays, [&](std::int64_t cell, double value) { run.table[static_cast<std::size_t>(cell)] = value; });
    const auto n = static_cast<std::size_t>(run.rays);
    run.cells.resize(n * run.mask.image.shape.size()), run.faces.resize(n), run.entry.resize(n), run.steps.resize(n);
}

computed cast(const arguments& args, raycast_run& run) {
    const raycast_options how{args.operation == "none"      ? ray_skips::none
                              : args.operation == "octants" ? ray_skips::octants
                                                            : ray_skips::cubes};
    const std::vector<std::int64_t> table{run.rays, run.axes}, flat{run.rays};
    const any_input<host> in[] = {run.mask.image.in(), run.half(0), run.half(run.axes)};
    const any_output<host> out[] = {any_output<host>::contiguous(run.cells.data(), dtype::int32, table),
                                    any_output<host>::contiguous(run.faces.data(), dtype::int8, flat),
                                    any_output<host>::contiguous(run.entry.data(), dtype::float64, flat),
                                    any_output<host>::contiguous(run.steps.data(), dtype::int32, flat)};
    const placed_call call{
        [&](const host& on) { raycast(on, in[0], in[1], in[2], {out[0], out[1], out[2], out[3]}, how); },
        [&](int ordinal, int warmups, int repeat) {
            std::vector<double> origins, directions;  // contiguous, as copies to a device must be
            for (std::int64_t i = 0; i < run.rays * run.axes; ++i) {
                const auto at = static_cast<std::size_t>(i / run.axes * 2 * run.axes + i % run.axes);
                origins.push_back(run.table[at]);
                directions.push_back(run.table[at + static_cast<std::size_t>(run.axes)]);
            }
            const any_input<host> packed[] = {in[0], any_input<host>::contiguous(origins.data(), dtype::float64, table),
                                              any_input<host>::contiguous(directions.data(), dtype::float64, table)};
            return edge::run_arrays_on_device(
                ordinal, packed, out,
                [&](const device& on, auto read, auto made) {
                    raycast(on, read[0], read[1], read[2], {made[0], made[1], made[2], made[3]}, how);
                },
                warmups, repeat);
        },
    };
    return compute(args, call);
}

std::string csv_of(const raycast_run& run) {
    constexpr const char* names[] = {"z", "y", "x"};
    std::string text;
    for (std::int64_t axis = 0; axis < run.axes; ++axis) text += fmt::format("{},", names[3 - run.axes + axis]);
    text += "face,t\n";
    for (std::size_t i = 0; i < run.faces.size(); ++i) {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(run.axes); ++axis)
            text += fmt::format("{},", run.cells[i * static_cast<std::size_t>(run.axes) + axis]);
        text += fmt::format("{},{}\n", run.faces[i], run.entry[i]);
    }
    return text;
}

/// Joins the results as one table of float64.
io::array table_of(const raycast_run& run) {
    io::array made = io::make_array(dtype::float64, {run.rays, run.axes + 2});
    auto* to = reinterpret_cast<double*>(made.data.get());
    for (std::size_t i = 0; i < run.faces.size(); ++i) {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(run.axes); ++axis)
            *to++ = run.cells[i * static_cast<std::size_t>(run.axes) + axis];
        *to++ = run.faces[i], *to++ = run.entry[i];
    }
    return made;
}

}  // namespace

int raycast_verb(const arguments& args) {
    const std::string to = args.output.empty() ? "-" : args.output;
    const bool csv = to == "-" || to.ends_with(".csv") || to.ends_with(".CSV");
    if (csv && to != "-") io::require_place(to);
    if (!csv) check_destination(to);
    in_words_of_options([&] {
        raycast_run run;
        run.mask = load_mask(args);
        read_rays(args, run);
        if (!csv) io::require_writable(to, dtype::float64, {run.rays, run.axes + 2});
        const computed done = cast(args, run);
        if (!done.note.empty()) note(args, done.note);
        if (csv) write_text(to, csv_of(run));
        else io::write(to, table_of(run));
        std::int64_t hits = 0, steps = 0;
        for (std::size_t i = 0; i < run.faces.size(); ++i)
            hits += std::isfinite(run.entry[i]) ? 1 : 0, steps += run.steps[i];
        json_report said = start_report(args);
        said["input"] = describe(run.mask.image), said["input"]["path"] = args.input;
        said["rays"] = run.rays, said["hits"] = hits, said["steps"] = steps;
        said["outputs"] = {{{"path", to}}};
        said["run"] = describe(done, run.mask.image.cells());
        finish(args, said,
               fmt::format("raycast: {}, {} rays, {} hits in {} on {} ({}){}", text_of_axes(run.mask.image), run.rays,
                           hits, text_of_ms(done.median_ms()), done.device, done.name, to == "-" ? "" : " -> " + to),
               to == "-");
    });
    return 0;
}

}  // namespace nearfield::cli
