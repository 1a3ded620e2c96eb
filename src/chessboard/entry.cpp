// The public calls: check, set sizes and limits, and run the engine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "chessboard/core.hpp"

namespace nearfield {
namespace chessboard {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max() - 2;

template <class Place>
void check(const any_input<Place>& image, const any_output<Place>& out, const step_options& options) {
    check_image<Place>("image", image, largest);
    if (!out.wanted()) fail("out has no axes; give an array of the image's shape");
    check_type("out", out.type, {dtype::int32, dtype::uint32, dtype::uint8, dtype::uint16});
    check_same_shape<Place>("out", out, image);
    const named_view<Place> all[] = {{"image", image}, {"out", out}};
    check_data<Place>(all);
    check_apart<Place>(all);
    if (options.sites == sites::other_labels) fail("sites is other_labels; give zero or nonzero");
    if (options.batch_axes < 0 || options.batch_axes >= image.rank)
        fail(fmt::format("batch_axes is {} for an image of {} axes; leave one axis to search", options.batch_axes,
                         image.rank));
    if (!(options.max_distance > 0))
        fail(fmt::format("max_distance is {}; give a positive number", options.max_distance));
    for (const int one : options.side)
        if (one < -1 || one > 1) fail(fmt::format("side has the value {}; give -1, 0 or 1 for every axis", one));
}

template <class Place>
problem problem_of(const any_input<Place>& image, const any_output<Place>& out, const step_options& options,
                   bool diagonal) {
    problem p;
    p.diagonal = diagonal, p.nonzero = options.sites == sites::nonzero;
    p.rank = image.rank, p.batch = options.batch_axes, p.cells = image.cells();
    p.image = image.data, p.image_type = image.type, p.out = out.data, p.out_type = out.type;
    const auto ends = checked_borders(options.border, image.shape.data(), image.rank);
    for (int axis = 0; axis < image.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        p.size[axis] = image.shape[k], p.image_step[axis] = image.stride[k], p.out_step[axis] = out.stride[k];
        p.ends[axis] = ends[k], p.side[axis] = options.side[k];
        if (axis < p.batch) continue;
        p.most = diagonal ? std::max(p.most, p.size[axis]) : p.most + p.size[axis];
    }
    if (p.most > largest)
        fail(fmt::format("image of {} cells allows distances beyond {}; give a smaller one", shape_text(p.size, p.rank),
                         largest));
    p.limit = options.max_distance >= static_cast<double>(p.most)
                  ? p.most
                  : static_cast<std::int64_t>(std::floor(options.max_distance));
    return p;
}

template <class Place>
void solve(const Place& on, const any_input<Place>& image, const any_output<Place>& out, const step_options& options,
           bool diagonal) {
    in_call([&] {
        check(image, out, options);
        const problem p = problem_of(image, out, options, diagonal);
        if constexpr (std::is_same_v<Place, host>) {
            if (on.threads < 0)
                fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
        } else if (std::ranges::any_of(p.side, [](int one) { return one != 0; })) {
            fail("side is given, which goes with the host only; leave it out");
        }
        if (p.cells == 0) return;
        const expected_outputs outputs{out};
        run(on, p);
    });
}

}  // namespace
}  // namespace chessboard

void chessboard_distance(const host& on, const any_input<host>& image, const any_output<host>& out,
                         const step_options& options) {
    chessboard::solve(on, image, out, options, true);
}
void chessboard_distance(const device& on, const any_input<device>& image, const any_output<device>& out,
                         const step_options& options) {
    chessboard::solve(on, image, out, options, true);
}
void cityblock_distance(const host& on, const any_input<host>& image, const any_output<host>& out,
                        const step_options& options) {
    chessboard::solve(on, image, out, options, false);
}
void cityblock_distance(const device& on, const any_input<device>& image, const any_output<device>& out,
                        const step_options& options) {
    chessboard::solve(on, image, out, options, false);
}

}  // namespace nearfield
