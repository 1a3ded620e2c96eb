// nearfield demo
#include <fmt/format.h>

#include <filesystem>

#include "cli/compute.hpp"
#include "cli/files.hpp"
#include "cli/label_words.hpp"
#include "cli/load.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/report.hpp"
#include "cli/sample.hpp"
#include "cli/values.hpp"
#include "edge/label_run.hpp"
#include "io/bytes.hpp"
#include "nearfield/components.hpp"

namespace nearfield::cli {
namespace {

struct demo_row {
    std::string what, input, picture;
    computed run;
    std::vector<std::int64_t> shape;
};

std::filesystem::path picture_path(const arguments& args, const std::string& name, const std::string& what) {
    return std::filesystem::path(args.output) / (name + "-" + what + ".png");
}

struct demo {
    const arguments& args;
    std::vector<demo_row> rows;

    void save(const picture& image, const std::string& what, const std::string& name, const loaded& input,
              computed run) {
        const std::filesystem::path path = picture_path(args, name, what);
        io::write(path, to_array(image));
        rows.push_back({what, name, path.string(), std::move(run), input.image.shape});
    }

    /// Draws four pictures: depth inside the shapes, lines of equal distance around them, the cells nearest to each
    /// shape, and the shapes one by one.
    void draw(const loaded& input, const std::string& name) {
        const sheet on = arrange(input.image.shape, input.per_axis, {}, input.rows_up);
        io::array field = io::make_array(dtype::float32, input.image.shape);
        fields<host> out;
        out.distance = field.out();
        const auto field_of = [&](nearfield::sites which) {
            distance_options options;
            options.spacing = input.cell(), options.sites = which;
            return compute(args, {{{input.image.in(), out}}, {}, options});
        };
        computed run = field_of(sites::zero);
        save(draw_distance(on, field, {.unit = input.image.unit}), "distance", name, input, std::move(run));
        run = field_of(sites::nonzero);
        save(draw_distance(on, field, {.isolines = "auto", .unit = input.image.unit}), "isolines", name, input,
             std::move(run));
        field = io::make_array(dtype::int64, input.image.shape);
        out = {};
        out.index = field.out();
        run = field_of(sites::nonzero);
        save(draw_voronoi(on, field, input.per_axis, group_seeds(input.image, false)), "voronoi", name, input,
             std::move(run));
        save_components(on, name, input);
    }

    /// Draws components of equal value, so that an atlas shows its regions.
    void save_components(const sheet& on, const std::string& name, const loaded& input) {
        io::array labels = io::make_array(dtype::int32, input.image.shape);
        label_options options;
        options.criterion = is_floating(input.image.type) ? criterion::nonzero : criterion::equal;
        options.connectivity = static_cast<int>(input.image.shape.size());
        label_fields<host> out;
        out.label = labels.out();
        const io::array values = comparable(input.image);
        const any_input<host> image = values.shape.empty() ? input.image.in() : values.in();
        computed run = compute(
            args, placed_call{[&](const host& here) { label(here, image, out, options); },
                              [&](int gpu, int, int) { return edge::label_on_device(gpu, image, out, options); }});
        save(draw_labels(on, labels), "components", name, input, std::move(run));
    }
};

/// True if there are more than two values: a gray image, which Otsu's threshold turns into a mask.
bool is_gray(const io::array& image) {
    return with_elements(image.data.get(), image.type, [&](const auto* cells) {
        double other = 0;
        for (std::int64_t i = 0, n = image.cells(); i < n; ++i) {
            const auto value = static_cast<double>(cells[i]);
            if (value == 0) continue;
            if (other != 0 && value != other) return true;
            other = value;
        }
        return false;
    });
}

/// Clears components below a ten-thousandth of the cells: noise, which would get Voronoi cells of its own.
void drop_specks(io::array& mask) {
    label_options touching;
    touching.connectivity = 2;
    remove_small(host{}, mask.in(), mask.out(), (mask.cells() + 9'999) / 10'000, touching);
}

loaded demo_input(const arguments& args, const std::string& path, const std::vector<std::int64_t>& size) {
    if (path.empty()) {
        loaded made;
        made.image =
            make_sample(sample_kind::blobs, {.shape = size, .seed = 1, .density = 0.12, .scale = 0, .invert = false});
        made.per_axis.assign(size.size(), 1.0);
        return made;
    }
    const std::size_t axes = size.size();
    loaded input = load(path, args);
    if (input.image.shape.size() != axes || input.batch_axes > 0)
        throw error(error_code::invalid_argument,
                    fmt::format("{} has {} axes (shape {}); --{} takes {} of space", path, input.image.shape.size(),
                                text_of_axes(input.image), axes == 2 ? "image" : "volume", axes));
    if (axes == 2 && is_gray(input.image)) {
        input.image = apply_threshold(input.image, "local");
        drop_specks(input.image);
    }
    return input;
}

void tell(const arguments& args, const demo& made) {
    json_report said = start_report(args);
    said["pictures"] = json_report::array();
    std::string table =
        fmt::format("{:<10} {:<8} {:>14} {:>12}  {:<24} {}\n", "what", "input", "size", "time", "device", "picture");
    for (const demo_row& row : made.rows) {
        table += fmt::format("{:<10} {:<8} {:>14} {:>9.2f} ms  {:<24} {}\n", row.what, row.input, text_of(row.shape),
                             row.run.median_ms(), fmt::format("{} ({})", row.run.device, row.run.name),
                             std::filesystem::path(row.picture).filename().string());
        std::int64_t cells = 1;
        for (std::int64_t n : row.shape) cells *= n;
        json_report entry{{"what", row.what}, {"input", row.input}, {"shape", row.shape}, {"path", row.picture}};
        entry["run"] = describe(row.run, cells);
        said["pictures"].push_back(entry);
    }
    if (args.json) return finish(args, said, {});
    if (!args.quiet)
        print(table + fmt::format("\nThe pictures are in {}\n",
                                  io::printable(std::filesystem::absolute(args.output).lexically_normal().string())));
}

}  // namespace

int demo_verb(const arguments& args) {
    make_folder(args.output);
    std::vector<named_file> pictures;
    for (const char* name : {"image", "volume"})
        for (const char* what : {"distance", "isolines", "voronoi", "components"})
            pictures.push_back({"-o", picture_path(args, name, what).string()});
    refuse_lost_files(args, pictures);
    for (const named_file& each : pictures) io::require_place(each.path);
    const loaded image = demo_input(args, args.image, {600, 800});
    const loaded volume = demo_input(args, args.volume, {128, 160, 160});
    demo made{args, {}};
    made.draw(image, "image"), made.draw(volume, "volume");
    tell(args, made);
    return 0;
}

}  // namespace nearfield::cli
