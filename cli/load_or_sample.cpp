#include "cli/load_or_sample.hpp"

#include "cli/parse.hpp"
#include "cli/sample.hpp"

namespace nearfield::cli {

loaded load_or_sample(const arguments& args, const std::vector<std::int64_t>& usual_size) {
    if (!args.input.empty()) return load(args.input, args);
    loaded made;
    made.image = make_sample(sample_kind_of(args.kind), {args.size.empty() ? usual_size : parse_size(args.size),
                                                         args.seed, args.density, args.scale, false});
    made.per_axis = parse_spacing(args.spacing, {}, made.image.shape, args.batch_axes);
    return made;
}

}  // namespace nearfield::cli
