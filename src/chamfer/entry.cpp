// The public calls: they check their arguments, then run the engine.
#include <fmt/format.h>

#include <algorithm>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "chamfer/core.hpp"
#include "chamfer/host.hpp"

namespace nearfield {
namespace {

// Site numbers, and their count, take 32 bits beside the distance.
constexpr std::int64_t most_cells_with_sites = (std::int64_t{1} << 32) - 1;
constexpr std::int64_t most_cells_in_int32 = std::int64_t{1} << 31;

void check_outputs(const any_input<host>& image, const chamfer_fields<host>& out) {
    if (!out.distance.wanted() && !out.index.wanted() && !out.coordinates.wanted())
        fail("out asks for nothing; give at least one of distance, index and coordinates");
    if (out.distance.wanted()) check_type("out.distance", out.distance.type, {dtype::int32, dtype::uint32});
    if (out.index.wanted()) check_type("out.index", out.index.type, {dtype::int64, dtype::int32});
    if (out.coordinates.wanted()) check_type("out.coordinates", out.coordinates.type, {dtype::int32});
    check_same_shape<host>("out.distance", out.distance, image);
    check_same_shape<host>("out.index", out.index, image);
    check_coordinate_shape<host>("out.coordinates", out.coordinates, image, 0);
    const named_view<host> all[] = {{"image", image},
                                    {"out.distance", out.distance},
                                    {"out.index", out.index},
                                    {"out.coordinates", out.coordinates}};
    check_data<host>(all);
    check_apart<host>(all);
}

std::vector<std::int32_t> checked_weights(std::span<const std::int32_t> given, int rank) {
    const auto steps = static_cast<std::size_t>(chamfer::three_to(rank));
    std::vector<std::int32_t> weight(given.begin(), given.end());
    if (given.empty()) weight.assign(steps, 1);
    if (weight.size() != steps)
        fail(fmt::format(
            "weights has {} values for a {}-D image; give {}, one per cell of a block of three cells a side",
            given.size(), rank, steps));
    weight[static_cast<std::size_t>(chamfer::middle_of(rank))] = 0;
    for (std::size_t step = 0; step < steps; ++step)
        if (weight[step] < 0)
            fail(fmt::format("weights[{}] is {}; give prices above 0, or 0 for no step", step, weight[step]));
    return weight;
}

chamfer::problem make_problem(const any_input<host>& image, const chamfer_fields<host>& out,
                              std::span<const std::int32_t> weight, const chamfer_options& options) {
    chamfer::problem p;
    p.rank = image.rank, p.cells = image.cells(), p.weight = weight;
    p.nonzero = options.sites == sites::nonzero, p.first_found = options.ties == tie_rule::first_found;
    std::copy_n(image.shape.begin(), p.rank, p.size.begin());
    p.dearest = *std::max_element(weight.begin(), weight.end());
    p.two_passes = chamfer::regular(weight, p.rank);
    const double longest = chamfer::longest_path(p.size.data(), p.rank, p.two_passes, p.dearest);
    if (p.cells > 0 && longest >= chamfer::unreached(p.dearest))
        fail(fmt::format(
            "weights go up to {}, so that distances in an image of shape {} could reach {:.0f}, which int32 "
            "cannot hold; give smaller weights",
            p.dearest, shape_text(p.size.data(), p.rank), longest));
    if ((out.index.wanted() || out.coordinates.wanted()) && p.cells > most_cells_with_sites)
        fail(fmt::format("image has {} cells; nearest sites can be told among fewer than 2^32", p.cells));
    if (out.index.wanted() && out.index.type == dtype::int32 && p.cells > most_cells_in_int32)
        fail(fmt::format("out.index has element type int32, which ends at 2147483647; {} cells need int64", p.cells));
    return p;
}

}  // namespace

std::vector<std::int32_t> step_weights(int rank, std::initializer_list<std::int32_t> by_changes) {
    if (rank < 1 || rank > max_rank) fail_rank("step_weights", rank);
    if (by_changes.size() > static_cast<std::size_t>(rank))
        fail(fmt::format("step_weights has {} values for {} axes; give at most one per axis", by_changes.size(), rank));
    std::vector<std::int32_t> weight(static_cast<std::size_t>(chamfer::three_to(rank)), 0);
    for (std::size_t step = 0; step < weight.size(); ++step) {
        std::size_t changes = 0;
        for (int axis = 0; axis < rank; ++axis)
            if (chamfer::along(static_cast<std::int64_t>(step), axis, rank) != 0) ++changes;
        if (changes > 0 && changes <= by_changes.size()) weight[step] = by_changes.begin()[changes - 1];
    }
    return weight;
}

void chamfer_transform(const host& on, const any_input<host>& image, const chamfer_fields<host>& out,
                       const chamfer_options& options) {
    in_call([&] {
        if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
        check_image<host>("image", image, std::int64_t{1} << 31);
        check_outputs(image, out);
        if (options.sites != sites::zero && options.sites != sites::nonzero)
            fail("sites is neither zero nor nonzero; other_labels needs distance_transform");
        if (options.ties > tie_rule::first_found)
            fail(fmt::format("ties is {}; give last_axis_first or first_found", static_cast<int>(options.ties)));
        const std::vector<std::int32_t> weight = checked_weights(options.weights, image.rank);
        const chamfer::problem p = make_problem(image, out, weight, options);
        const expected_outputs written{out.distance, out.index, out.coordinates};
        if (p.cells > 0) chamfer::run(on, p, image, out);
    });
}

}  // namespace nearfield
