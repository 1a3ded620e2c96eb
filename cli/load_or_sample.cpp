#include "cli/load_or_sample.hpp"

#include "cli/parse.hpp"
#include "cli/sample.hpp"

namespace nearfield::cli {

namespace {

std::string kind_of(const arguments& args) { return args.kind.empty() ? "random" : args.kind; }

}  // namespace

loaded load_or_sample(const arguments& args, const std::vector<std::int64_t>& usual_size) {
    if (!args.input.empty() && !args.kind.empty())
        throw error(error_code::invalid_argument,
                    "--kind names a sample, which takes the place of an INPUT; leave one of them out");
    if (!args.input.empty()) return load(args.input, args);
    loaded made;
    made.image = make_sample(sample_kind_of(kind_of(args)), {args.size.empty() ? usual_size : parse_size(args.size),
                                                             args.seed, args.density, args.scale, false});
    made.per_axis = parse_spacing(args.spacing, {}, made.image.shape, args.batch_axes);
    return made;
}

std::string input_name(const arguments& args) { return args.input.empty() ? "sample " + kind_of(args) : args.input; }

}  // namespace nearfield::cli
