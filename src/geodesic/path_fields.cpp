// The fields of paths in memory of the host, by public calls.
#include "geodesic/path_fields.hpp"

#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "nearfield/label.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::geodesics {

namespace {

/// Serves the steps before the last one: their progress callback is asked whether to go on, and hears of no progress.
host without_progress(const host& on) {
    host made{on.threads, {}};
    if (on.progress) made.progress = [&on](double) { return on.progress(0); };
    return made;
}

}  // namespace

host_fields::host_fields(const host& on, const any_input<host>& obstacles)
    : path_fields(tiling_of(obstacles, 0)),
      on_(on),
      obstacles_(obstacles),
      cells_(obstacles.cells()),
      quiet_(without_progress(on)),
      squared_(cells_),
      cost_(cells_) {}

template <class Body>
void host_fields::for_cells(const Body& body) const {
    constexpr std::int64_t cells_at_once = 1 << 14;
    workers team(quiet_, cells_);
    team.for_each(cells_, cells_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t i = first; i < last; ++i) body(i);
    });
}

host_scratch<std::uint8_t> host_fields::open_cells(const cell_rule& rule) const {
    host_scratch<std::uint8_t> open(cells_);
    for_cells([&](std::int64_t i) { open.get()[i] = rule.is_open(squared_.get()[i]) ? 1 : 0; });
    return open;
}

void host_fields::measure(const distance_options& how) {
    fields<host> out;
    out.squared = any_output<host>::contiguous(squared_.get(), dtype::float64, shape());
    distance_transform(quiet_, obstacles_, out, how);
}

void host_fields::flood(const cell_rule& rule, std::span<const std::int64_t> seeds, const geodesic_options& how) {
    const host_scratch<std::uint8_t> open = open_cells(rule), seed(cells_);
    const host_scratch<std::uint16_t> price(rule.priced ? cells_ : 0);
    for_cells([&](std::int64_t i) {
        seed.get()[i] = 0;
        if (price.get() != nullptr) price.get()[i] = rule.price(squared_.get()[i]);
    });
    for (const std::int64_t cell : seeds) seed.get()[cell] = 1;
    geodesic_fields<host> out;
    out.cost = any_output<host>::contiguous(cost_.get(), dtype::int64, shape());
    any_input<host> prices;
    if (price.get() != nullptr) prices = any_input<host>::contiguous(price.get(), dtype::uint16, shape());
    geodesic(on_, any_input<host>::contiguous(open.get(), dtype::uint8, shape()),
             any_input<host>::contiguous(seed.get(), dtype::uint8, shape()), out, how, prices);
}

/// Only steps along axes count: a diagonal step needs the cells beside it, so it is never the wider way.
std::vector<double> widths_of(const host& on, const any_input<host>& squared, const any_input<host>& open,
                              std::span<const std::int64_t> starts, std::span<const std::int64_t> goals,
                              const borders& ends) {
    rehearse_step("basins of clearances; up to 48 bytes for each and for each pair that touches");
    watershed_options w;
    w.maxima = true, w.border = ends;
    const basins of(on, squared, w, open);
    std::vector<double> best;
    for (const std::int64_t start : starts) {
        const std::vector<double> found =
            of.passes(std::vector<std::int64_t>(goals.size(), start), {goals.begin(), goals.end()});
        best.push_back(std::max(-1.0, *std::max_element(found.begin(), found.end())));
    }
    return best;
}

std::vector<double> host_fields::widths(const cell_rule& rule, std::span<const std::int64_t> starts,
                                        std::span<const std::int64_t> goals, const borders& ends) {
    const host_scratch<std::uint8_t> open = open_cells(rule);
    return widths_of(quiet_, any_input<host>::contiguous(squared_.get(), dtype::float64, shape()),
                     any_input<host>::contiguous(open.get(), dtype::uint8, shape()), starts, goals, ends);
}

std::vector<std::int64_t> host_fields::components(const cell_rule& rule, std::span<const std::int64_t> cells,
                                                  const borders& ends) {
    const host_scratch<std::uint8_t> open = open_cells(rule);
    const host_scratch<std::int64_t> numbers(cells_);
    label_options l;
    l.border = ends;
    label(quiet_, any_input<host>::contiguous(open.get(), dtype::uint8, shape()),
          any_output<host>::contiguous(numbers.get(), dtype::int64, shape()), l);
    std::vector<std::int64_t> found;
    for (const std::int64_t cell : cells) found.push_back(numbers.get()[cell]);
    return found;
}

host_scratch<std::uint8_t> host_fields::thinned(const cell_rule& rule, const skeleton_options& how) {
    host_scratch<std::uint8_t> made(cells_);
    const host_scratch<std::uint8_t> open = open_cells(rule);
    skeletonize(quiet_, any_input<host>::contiguous(open.get(), dtype::uint8, shape()),
                any_output<host>::contiguous(made.get(), dtype::uint8, shape()), how);
    return made;
}

}  // namespace nearfield::geodesics
