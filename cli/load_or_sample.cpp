#include "cli/load_or_sample.hpp"

#include <fmt/format.h>

#include "cli/parse.hpp"
#include "cli/sample.hpp"

namespace nearfield::cli {

namespace {

std::string kind_of(const arguments& args) { return args.kind.empty() ? "random" : args.kind; }

/// Throws if there is an INPUT but also options of a sample. A chart has samples too, with shares of its own.
void refuse_words_of_samples(const arguments& args) {
    const auto refuse = [](const char* word, const char* of) {
        throw error(error_code::invalid_argument,
                    fmt::format("{} {} a sample, which takes the place of an INPUT; leave one of them out", word, of));
    };
    if (!args.kind.empty()) refuse("--kind", "names");
    if (args.density != 0) refuse("--density", "is of");
    if (args.scale != 0) refuse("--scale", "is of");
    if (!args.chart.empty()) return;
    if (!args.size.empty()) refuse("--size", "is of");
    if (args.seed != arguments{}.seed) refuse("--seed", "is of");
}

}  // namespace

loaded load_or_sample(const arguments& args, const std::vector<std::int64_t>& usual_size) {
    if (!args.input.empty()) {
        refuse_words_of_samples(args);
        return load(args.input, args);
    }
    loaded made;
    made.image = make_sample(sample_kind_of(kind_of(args)), {args.size.empty() ? usual_size : parse_size(args.size),
                                                             args.seed, args.density, args.scale, false});
    made.batch_axes = asked_batch_axes(args);
    made.per_axis = parse_spacing(args.spacing, {}, made.image.shape, made.batch_axes);
    return made;
}

std::string input_name(const arguments& args) { return args.input.empty() ? "sample " + kind_of(args) : args.input; }

}  // namespace nearfield::cli
