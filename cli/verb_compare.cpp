// nearfield compare
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "cli/chart.hpp"
#include "cli/files.hpp"
#include "cli/load_or_sample.hpp"
#include "cli/method_run.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/sample.hpp"

namespace nearfield::cli {
namespace {

constexpr const char* usual_methods =
    "exact banding jump-flood jump-flood:order=doubling jump-flood:after=1 jump-flood:before=1 jump-flood:sites=2 "
    "jump-flood:runs=2 plane-sweep brushfire chamfer";
constexpr double chart_densities[] = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9};

/// The result of one method on one input.
struct contest {
    std::string name;
    method_report took;
    computed run;
    method_errors sites;
    std::int64_t wrong_distances = 0;
    double mean_error = 0, largest_error = 0;  ///< magnitudes; the mean is taken over wrong distances
    io::array error;                           ///< float32; +inf if a site is missing
};

struct subject {
    loaded input;
    distance_options options;
    io::array exact;  ///< float64
};

std::vector<method> methods_of(const arguments& args) {
    std::vector<method> list;
    for (const std::string& name : split(args.methods.empty() ? usual_methods : args.methods, ' '))
        if (!name.empty()) list.push_back(method_from(name));
    return list;
}

subject subject_of(loaded input, const arguments& args) {
    if (input.batch_axes > 0)
        throw error(
            error_code::invalid_argument,
            fmt::format("compare takes one image or volume, and {} has {}; save one of them to a file of its own",
                        input_name(args), text_of_axes(input.image)));
    subject s{std::move(input), {}, {}};
    s.options = options_for(args, sites::nonzero, s.input);
    s.exact = make_like(s.input.image, dtype::float64, s.input.image.shape);
    distance(host{static_cast<int>(args.threads)}, s.input.image.in(), s.exact.out(), s.options);
    return s;
}

/// Compares the distances with the exact ones. Chamfer distances are compared as they are, not by their sites.
void compare_distances(const subject& s, const io::array& distances, contest& to) {
    to.error = make_like(distances, dtype::float32, distances.shape);
    const auto *came = reinterpret_cast<const double*>(distances.data.get()),
               *right = reinterpret_cast<const double*>(s.exact.data.get());
    auto* error = reinterpret_cast<float*>(to.error.data.get());
    double sum = 0;
    std::int64_t finite = 0;
    for (std::int64_t i = 0, n = distances.cells(); i < n; ++i) {
        const double off = came[i] == right[i] ? 0 : std::abs(came[i] - right[i]);
        error[i] = static_cast<float>(off);
        to.wrong_distances += off != 0;
        if (off == 0 || !std::isfinite(off)) continue;
        ++finite, sum += off;
        to.largest_error = std::max(to.largest_error, off);
    }
    if (finite > 0) to.mean_error = sum / static_cast<double>(finite);
}

contest run(const arguments& args, const subject& s, const method& by) {
    contest c;
    const io::array& image = s.input.image;
    io::array index = make_like(image, dtype::int64, image.shape),
              distances = make_like(image, dtype::float64, image.shape);
    fields<host> out;
    out.index = index.out(), out.distance = distances.out();
    work<host> here{.jobs = {{image.in(), out}}, .options = s.options, .by = by, .report = &c.took};
    work<host> there = here;
    there.by = on_gpu(by);
    c.run = compute(args,
                    placed_call{[&](const host& on) { edge::run(on, here); },
                                [&](int ordinal, int warmups, int repeat) {
                                    return edge::run_on_device(ordinal, there, warmups, repeat);
                                }},
                    args.repeat > 1 ? 1 : 0, static_cast<int>(args.repeat));
    c.name = text_of(c.run.device == "cuda" ? there.by.value() : by);
    c.sites = compare_sites(host{static_cast<int>(args.threads)}, image.in(), index.in(), {}, s.options);
    compare_distances(s, distances, c);
    return c;
}

/// Runs all methods on one input. Leaves out, with a note, methods of the usual list that cannot take it. If the exact
/// engine, which comes first, cannot take it, there is nothing to compare with, so the error stands.
std::vector<contest> run_all(const arguments& args, const subject& s) {
    std::vector<contest> all;
    for (const method& by : methods_of(args)) {
        try {
            all.push_back(run(args, s, by));
        } catch (const error& problem) {
            const bool may_be_left_out =
                problem.code() == error_code::invalid_argument || problem.code() == error_code::unsupported;
            if (!args.methods.empty() || !may_be_left_out || all.empty()) throw;
            note(args, fmt::format("{} is left out: {}", text_of(by), problem.what()));
        }
    }
    return all;
}

std::string table_of(const std::vector<contest>& all, std::int64_t cells) {
    const double per_cell = cells > 0 ? 1 / static_cast<double>(cells) : 0;
    std::string text = fmt::format("{:<34}{:>12}{:>10}{:>12}{:>11}{:>11}{:>11}{:>8}{:>10}\n", "method", "wrong sites",
                                   "share", "wrong dist.", "mean error", "largest", "ms", "rounds", "MB");
    for (const contest& c : all)
        text += fmt::format("{:<34}{:>12}{:>9.4f}%{:>12}{:>11.4g}{:>11.4g}{:>11.3f}{:>8}{:>10.1f}\n", c.name,
                            c.sites.wrong_sites + c.sites.missing,
                            100.0 * static_cast<double>(c.sites.wrong_sites + c.sites.missing) * per_cell,
                            c.wrong_distances, c.mean_error, c.largest_error, c.run.median_ms(), c.took.rounds,
                            static_cast<double>(c.took.bytes) * 1e-6);
    return text;
}

json_report as_json(const contest& c) {
    json_report said{{"method", c.name},
                     {"wrong_sites", c.sites.wrong_sites},
                     {"missing_sites", c.sites.missing},
                     {"other_ties", c.sites.other_ties},
                     {"wrong_distances", c.wrong_distances},
                     {"mean_error", c.mean_error},
                     {"largest_error", c.largest_error},
                     {"rounds", c.took.rounds},
                     {"bytes", c.took.bytes},
                     {"ms", c.run.median_ms()},
                     {"device", c.run.device}};
    said["stages"] = describe_stages(c.took);
    return said;
}

/// File name for a method: "jump-flood-after-1.png" for "jump-flood:after=1".
std::string file_of(const std::string& name) {
    std::string file = name;
    std::replace_if(file.begin(), file.end(), [](char c) { return c == ':' || c == '=' || c == ',' || c == '/'; }, '-');
    return file + ".png";
}

void draw_errors(const arguments& args, const subject& s, const std::vector<contest>& all) {
    const sheet on =
        with_legend(arrange(s.input.image.shape, s.input.per_axis, page_of(args, s.input), s.input.rows_up));
    const distance_style style{.flat = true, .unit = s.input.image.unit};
    for (const contest& c : all)
        io::write(std::filesystem::path(args.pictures) / file_of(c.name), to_array(draw_distance(on, c.error, style)));
}

/// Draws errors and times over the share of sites, for random images of the sizes in --size.
void draw_chart(const arguments& args) {
    const sample_options grid{args.size.empty() ? std::vector<std::int64_t>{512, 512} : parse_size(args.size),
                              args.seed};
    std::map<std::string, series> wrong, times;
    std::vector<std::string> order;
    for (const double share : chart_densities) {
        loaded input;
        sample_options sparse = grid;
        sparse.density = share;
        input.image = make_sample(sample_kind::random, sparse);
        input.per_axis = parse_spacing(args.spacing, {}, input.image.shape);
        const auto cells = static_cast<double>(input.image.cells());
        for (const contest& c : run_all(args, subject_of(std::move(input), args))) {
            if (!wrong.contains(c.name)) order.push_back(c.name);
            wrong[c.name].name = times[c.name].name = c.name;
            wrong[c.name].points.emplace_back(share * 100,
                                              100 * static_cast<double>(c.sites.wrong_sites + c.sites.missing) / cells);
            times[c.name].points.emplace_back(share * 100, c.run.median_ms());
        }
    }
    const std::string size = text_of(grid.shape);
    std::vector<chart> both{{"Cells with a wrong site, " + size, "sites, %", "wrong, %", {}},
                            {"Time, " + size, "sites, %", "ms", {}}};
    for (const std::string& name : order) both[0].lines.push_back(wrong[name]), both[1].lines.push_back(times[name]);
    write_text(args.chart, svg_of(both));
}

void check_words(const arguments& args) {
    if (args.repeat < 1 || args.repeat > 1'000'000)
        throw error(error_code::invalid_argument, fmt::format("--repeat is {}; give 1 to 1000000", args.repeat));
    if (methods_of(args).empty())
        throw error(error_code::invalid_argument, "--methods names none; leave it out or name some");
    std::vector<named_file> pictures;
    if (!args.pictures.empty())
        for (const method& each : methods_of(args))
            pictures.push_back(
                {"--pictures", (std::filesystem::path(args.pictures) / file_of(text_of(each))).string()});
    refuse_lost_files(args, pictures);
    if (!args.pictures.empty()) make_folder(args.pictures);
    for (const named_file& each : pictures) io::require_place(each.path);
    if (args.chart.empty()) return;
    if (!args.chart.ends_with(".svg"))
        throw error(error_code::invalid_argument,
                    fmt::format("--chart is {}; charts are SVG, e.g. --chart errors.svg", args.chart));
    io::require_place(args.chart);
}

}  // namespace

int compare_verb(const arguments& args) {
    check_words(args);
    check_picture_size(args);
    const subject s = subject_of(load_or_sample(args, {512, 512}), args);
    if (!args.pictures.empty())  // reports a slice that does not fit
        static_cast<void>(arrange(s.input.image.shape, s.input.per_axis, page_of(args, s.input), false));
    const std::vector<contest> all = run_all(args, s);
    if (!args.pictures.empty()) draw_errors(args, s, all);
    if (!args.chart.empty()) draw_chart(args);
    json_report said = start_report(args);
    said["input"] = describe(s.input.image);
    said["input"]["from"] = input_name(args);
    said["methods"] = json_report::array();
    for (const contest& c : all) said["methods"].push_back(as_json(c));
    if (args.json) finish(args, said, {});
    else print(table_of(all, s.input.image.cells()));
    return 0;
}

}  // namespace nearfield::cli
