// nearfield pores
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/regions.hpp"
#include "nearfield/pores.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

pore_options pore_options_for(const arguments& args, const loaded& input) {
    const distance_options given = options_for(args, sites::zero, input);
    const auto axes = static_cast<std::int64_t>(input.image.shape.size());
    if (axes > 3) refuse(fmt::format("{} has {} axes; pores takes 1 to 3, so give one image", args.input, axes));
    if (args.connectivity < 1 || args.connectivity > axes)
        refuse(fmt::format("--connectivity is {} for {} axes; give 1 to {}", args.connectivity, axes, axes));
    return {given.spacing, given.border, static_cast<int>(args.connectivity), -1, args.boundaries};
}

void report(const arguments& args, const region_run& run, const computed& done, const pore_network& network,
            bool stdout_carries_data) {
    json_report said = start_mask_report(args, run, done);
    said["height"] = run.height;
    said["pores"] = network.pores.size(), said["throats"] = network.throats.size();
    finish(
        args, said,
        fmt::format("pores: {} {}, height {:g}: {} pores, {} throats in {} on {} ({}){}", text_of_axes(run.input.image),
                    nearfield::name_of(run.input.image.type), run.height, network.pores.size(), network.throats.size(),
                    text_of_ms(done.median_ms()), done.device, done.name, text_of_files(args)),
        stdout_carries_data);
}

}  // namespace

int pores_verb(const arguments& args) {
    const bool stdout_carries_data = check_outputs_with_table(args, "-o");
    static_cast<void>(height_of(args, {})), static_cast<void>(options_of(args, sites::zero));
    in_words_of_options([&] {
        region_run run;
        run.input = load_mask(args);
        const pore_options options = pore_options_for(args, run.input);
        make_result(args, run, dtype::int32);
        const computed done = find_regions(args, run, options.connectivity);
        const pore_network network =
            network_of_regions(host{static_cast<int>(args.threads), {}}, run.result.in(), run.squared.in(), options);
        count_cells(run, false);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, false);
        if (!args.stats.empty()) write_text(args.stats, csv_of(network));
        report(args, run, done, network, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
