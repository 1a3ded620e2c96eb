#include "cli/method_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/generator.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

std::string row_of(const std::string& name, double ms) { return fmt::format("{:<24} {:>10.3f} ms\n", name, ms); }

/// True for a stage between the reading of sites and the writing of fields.
bool is_step(const method_stage& stage) { return stage.name != "initialise" && stage.name != "fields"; }

}  // namespace

bool uses_method(const arguments& args) { return !args.by_method.empty() || args.timings; }

void name_random_sites(arguments& args) {
    if (args.verb == "voronoi" && args.random_sites != 0) {
        if (args.random_sites < 0) refuse(fmt::format("--random-sites is {}; give 1 or more", args.random_sites));
        if (!args.inputs.empty()) refuse("--random-sites takes the place of an INPUT; leave one of them out");
        args.inputs = {"random"};
    } else if (args.verb == "voronoi" && !args.size.empty()) {
        refuse("--size sets the grid of --random-sites; give both or neither");
    } else if (args.verb == "voronoi" && args.seed != arguments{}.seed) {
        refuse("--seed starts the draws of --random-sites; give both or neither");
    }
    if (args.inputs.empty())
        refuse(fmt::format("INPUT is missing: give a file to read; see `nearfield help {}`", args.verb));
}

void check_method_words(const arguments& args) {
    if (!uses_method(args)) return;
    if (!args.by_method.empty()) static_cast<void>(method_from(args.by_method));
    const char* what = args.by_method.empty() ? "--timings" : "--method";
    if (args.inputs.size() > 1) refuse(fmt::format("{} takes one INPUT; give each a call of its own", what));
    if (!args.weights.empty()) refuse(fmt::format("--weights does not go with {}; leave one of them out", what));
    if (args.plan) refuse(fmt::format("--plan describes the exact engine; leave out --plan or {}", what));
}

loaded random_sites(const arguments& args) {
    const auto start = stopwatch{};
    loaded made;
    made.image =
        io::make_array(dtype::uint8, args.size.empty() ? std::vector<std::int64_t>{512, 512} : parse_size(args.size));
    const std::int64_t cells = made.image.cells();
    if (args.random_sites > cells || cells >= std::int64_t{1} << 32)
        refuse(fmt::format(
            "--random-sites is {} and the grid has {} cells; give at most as many, and fewer than 2^32 cells",
            args.random_sites, cells));
    auto* const cell = reinterpret_cast<std::uint8_t*>(made.image.data.get());
    std::fill_n(cell, cells, std::uint8_t{0});
    generator any(args.seed);
    // Floyd's algorithm: every set of this size is equally likely, and every draw adds a cell.
    for (std::int64_t last = cells - args.random_sites; last < cells; ++last) {
        const std::int64_t drawn = any.below(last + 1);
        cell[cell[drawn] == 0 ? drawn : last] = 255;
    }
    made.batch_axes = asked_batch_axes(args);
    made.per_axis = parse_spacing(args.spacing, {}, made.image.shape, made.batch_axes);
    made.read_ms = start.milliseconds();
    return made;
}

method on_gpu(method by) {
    if (auto* how = std::get_if<brushfire>(&by)) how->parallel = true;
    if (auto* how = std::get_if<chamfer_method>(&by)) how->iterated = true;
    return by;
}

computed compute_by_method(const arguments& args, field_run& run, method_report& took) {
    work<host> here{.jobs = {{run.input.image.in(), run.out}}, .options = run.options, .report = &took};
    here.by = args.by_method.empty() ? method{} : method_from(args.by_method);
    work<host> there = here;
    there.by = on_gpu(*here.by);
    return compute(args, placed_call{[&](const host& on) { edge::run(on, here); },
                                     [&](int ordinal, int warmups, int repeat) {
                                         // The first call loads its kernels, which takes longer than running them.
                                         return edge::run_on_device(ordinal, there, warmups + (args.timings ? 1 : 0),
                                                                    repeat);
                                     }});
}

json_report describe_stages(const method_report& took) {
    json_report said = json_report::array();
    for (const method_stage& each : took.stages)
        said.push_back(
            {{"stage", each.name}, {"ms", each.seconds * 1e3}, {"rounds", each.rounds}, {"bytes", each.bytes}});
    return said;
}

json_report describe_method(const arguments& args, const method_report& took, const computed& done) {
    const method asked = args.by_method.empty() ? method{} : method_from(args.by_method);
    return {{"method", text_of(done.device == "cuda" ? on_gpu(asked) : asked)},
            {"rounds", took.rounds},
            {"bytes", took.bytes},
            {"stages", describe_stages(took)}};
}

void print_stages(bool to_stderr, const field_run& run, const method_report& took, const computed& done,
                  double save_ms) {
    std::string text = row_of("input", run.input.read_ms);
    if (done.device == "cuda") text += row_of("copy to device", done.upload_ms);
    double stepping_ms = 0;
    std::int64_t rounds = 0;
    const auto cells = static_cast<double>(run.input.image.cells());
    for (const method_stage& each : took.stages) {
        text += row_of(each.name, each.seconds * 1e3);
        if (is_step(each)) stepping_ms += each.seconds * 1e3, rounds += each.rounds;
    }
    text += fmt::format("{:<24} {:>10.3f} ms {:>6} rounds {:>10.1f} Mcells/s\n", "all steps", stepping_ms, rounds,
                        cells / stepping_ms / 1e3);
    if (done.device == "cuda") text += row_of("copy to host", done.copy_ms - done.upload_ms);
    text += row_of("export", save_ms);
    if (to_stderr) std::fputs(text.c_str(), stderr);
    else print(text);
}

io::array shades_of(const io::array& index) {
    io::array gray = io::make_array(dtype::uint8, index.shape);
    auto* const shade = reinterpret_cast<std::uint8_t*>(gray.data.get());
    with_elements(index.data.get(), index.type, [&](const auto* site) {
        for (std::int64_t i = 0, n = index.cells(); i < n; ++i)
            shade[i] = static_cast<double>(site[i]) < 0
                           ? std::uint8_t{0}
                           : static_cast<std::uint8_t>(1 + scramble(static_cast<std::uint64_t>(site[i])) % 255);
    });
    return gray;
}

}  // namespace nearfield::cli
