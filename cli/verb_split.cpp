// nearfield split
#include <fmt/format.h>

#include <algorithm>

#include "cli/component_columns.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "cli/regions.hpp"
#include "io/bytes.hpp"
#include "nearfield/components.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

struct split_run : region_run {
    std::int64_t objects = 0;
};

/// Drops small objects and numbers the others in raster order.
void number(const arguments& args, split_run& run) {
    auto* const cells = reinterpret_cast<std::int32_t*>(run.result.data.get());
    std::vector<std::int64_t> sizes(1);
    for (std::int64_t i = 0; i < run.result.cells(); ++i) {
        if (cells[i] >= std::ssize(sizes)) sizes.resize(static_cast<std::size_t>(cells[i]) + 1);
        ++sizes[static_cast<std::size_t>(cells[i])];
    }
    for (std::int64_t i = 0; i < run.result.cells(); ++i)
        if (sizes[static_cast<std::size_t>(cells[i])] < args.min_size) cells[i] = 0;
    io::array numbered = make_like(run.result, dtype::int32, run.result.shape);
    const std::int64_t one = 1;
    relabel(host{static_cast<int>(args.threads), {}}, run.result.in(), numbered.out(),
            any_output<host>::contiguous(&run.objects, dtype::int64, std::span(&one, 1)));
    run.result = std::move(numbered);
}

void write_table(const arguments& args, const split_run& run) {
    if (args.stats.empty()) return;
    component_columns columns;
    component_statistics(host{static_cast<int>(args.threads), {}}, run.result.in(),
                         columns.make(run.objects, static_cast<int>(run.result.shape.size()), {}));
    const measure lengths{run.input.per_axis, run.input.image.unit};
    if (args.stats == "-")
        return columns.csv(lengths, {run.objects}, [](std::string_view piece) { print(std::string(piece)); });
    io::output file(args.stats);
    columns.csv(lengths, {run.objects}, [&](std::string_view piece) { file.write(piece); });
    file.commit();
}

void report(const arguments& args, const split_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_mask_report(args, run, done);
    said["height"] = run.height;
    said["objects"] = run.objects;
    if (!args.stats.empty()) said["outputs"].push_back({{"path", args.stats}});
    finish(args, said,
           fmt::format("split: {} {}, height {:g}: {} object{} in {} on {} ({}){}", text_of_axes(run.input.image),
                       nearfield::name_of(run.input.image.type), run.height, run.objects, run.objects == 1 ? "" : "s",
                       text_of_ms(done.median_ms()), done.device, done.name,
                       args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
           stdout_carries_data);
}

}  // namespace

int split_verb(const arguments& args) {
    if (args.min_size < 1) refuse(fmt::format("--min-size is {}; give a number of cells, 1 or more", args.min_size));
    const bool stdout_carries_data = check_outputs_with_table(args, "--table");
    static_cast<void>(height_of(args, {})), static_cast<void>(options_of(args, sites::zero));
    in_words_of_options([&] {
        split_run run;
        run.input = load(args.input, args);
        if (run.input.image.shape.size() > 3)
            refuse(fmt::format("{} has {} axes; split takes 1 to 3", args.input, run.input.image.shape.size()));
        make_result(args, run, dtype::int32);
        const computed done = find_regions(args, run, static_cast<int>(run.input.image.shape.size()));
        number(args, run);
        count_cells(run, false);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, false);
        write_table(args, run);
        report(args, run, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
