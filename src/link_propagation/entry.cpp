// The public calls: they check their arguments, then run the backend.
#include <fmt/format.h>

#include <algorithm>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "link_propagation/run.hpp"

namespace nearfield {
namespace link_propagation {
namespace {

constexpr int most_length = std::numeric_limits<std::uint16_t>::max();  // limit of a link's two bytes

void check_switches(const propagation_options& o) {
    if (!o.neighbours && !o.links) fail("propagation has neither neighbours nor links; labels would never move");
    if (o.gather_length < 1 || o.gather_length > most_length)
        fail(fmt::format("gather_length is {}; give 1 to {} cells", o.gather_length, most_length));
    if (o.most_rounds < 0)
        fail(fmt::format("most_rounds is {}; give 0 for no limit, or a number of rounds", o.most_rounds));
}

void check_unused(const label_options& o, int rank) {
    if (o.criterion == criterion::links) fail("criterion is links; propagation compares cells, label() takes graphs");
    if (o.batch_axes != 0) fail("batch_axes is set; propagation labels one image at a time");
    if (!o.steps.empty()) fail("steps is given; propagation takes connectivity");
    for (int axis = 0; axis < rank; ++axis)
        if (o.border[axis] != border::open)
            fail(fmt::format("border along axis {} is not open; propagation knows no other", axis));
    const label_options none;
    if (o.smallest > none.smallest || o.largest != none.largest || o.keep_largest != none.keep_largest ||
        o.clear_border)
        fail("a filter is set; propagation finds all components, label() filters");
}

template <class Place>
void check_views(const any_input<Place>& image, const any_output<Place>& out, const label_options& o) {
    if (o.channels) {
        check_type("image", image.type, {dtype::uint8, dtype::uint16, dtype::float32, dtype::float64});
    } else if (image.type == dtype::float16) {
        fail("image has element type float16; give float32");
    }
    if (!out.wanted()) fail("out is not given; propagation finds labels alone");
    check_type("out", out.type, {dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64});
    any_input<Place> cells = image;
    cells.rank -= o.channels ? 1 : 0;
    check_same_shape<Place>("out", out, cells);
    const named_view<Place> all[] = {{"image", image}, {"out", out}};
    check_data<Place>(all);
    check_apart<Place>(all);
}

template <class Place>
problem checked(const any_input<Place>& image, const any_output<Place>& out, const label_options& look,
                const propagation_options& how) {
    check_switches(how);
    check_image<Place>("image", image, std::int64_t{1} << 62);
    // label() checks rank, criterion, connectivity and channels.
    static_cast<void>(most_components(image.shape.data(), image.rank, look));
    problem p;
    p.rank = image.rank - (look.channels ? 1 : 0), p.look = look, p.how = how;
    if (p.rank > 3) fail(fmt::format("image has {} axes besides channels; propagation takes 1 to 3", p.rank));
    check_unused(look, p.rank);
    check_views(image, out, look);
    if (look.channels) p.channels = static_cast<int>(image.shape[static_cast<std::size_t>(p.rank)]);
    if (p.channels == 1) p.look.norm = colour_norm::maximum;  // exact for integers
    std::copy_n(image.shape.begin(), p.rank, p.grid.size + 3 - p.rank);
    if (p.grid.cells() > most_cells)
        fail(fmt::format("image has {} cells; propagation labels up to {}, label() any number", p.grid.cells(),
                         most_cells));
    p.ways = directions_of(p.grid, p.rank, labelling::changes_of(look.connectivity, p.rank));
    const std::int64_t longest = *std::max_element(p.grid.size, p.grid.size + 3) - 1;
    p.length =
        how.links ? static_cast<int>(std::clamp<std::int64_t>(how.gather_length, 1, std::max<std::int64_t>(longest, 1)))
                  : 1;
    return p;
}

}  // namespace

void fail_unfinished(std::int64_t rounds, bool limited) {
    fail(fmt::format("propagation left the labels unfinished after {} round{}; {}", rounds, rounds == 1 ? "" : "s",
                     limited ? "give a larger most_rounds, or 0 for no limit"
                             : "links alone skip cells: set neighbours, or a gather_length of 1"));
}

void check_number(dtype out, std::int64_t components) {
    if (components <= labelling::largest_label(out)) return;
    fail(fmt::format("out has element type {}, which numbers {} components; the image has {}; give int32", name_of(out),
                     labelling::largest_label(out), components));
}

}  // namespace link_propagation

propagation_report label_by_propagation(const host& on, const any_input<host>& image, const any_output<host>& out,
                                        const label_options& options, const propagation_options& propagation) {
    return in_call([&] {
        if (on.threads < 0)
            fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
        const auto p = link_propagation::checked(image, out, options, propagation);
        const expected_outputs written{out};
        return p.grid.cells() == 0 ? propagation_report{} : link_propagation::run(on, p, image, out);
    });
}

propagation_report label_by_propagation(const device& on, const any_input<device>& image, const any_output<device>& out,
                                        const label_options& options, const propagation_options& propagation) {
    return in_call([&] {
        const auto p = link_propagation::checked(image, out, options, propagation);
        return p.grid.cells() == 0 ? propagation_report{} : link_propagation::run(on, p, image, out);
    });
}

}  // namespace nearfield
