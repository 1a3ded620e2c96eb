// The public calls: check, find labels, process them in groups, and turn their sums into measures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/rehearsal.hpp"
#include "exact/room.hpp"
#include "metrics/labels.hpp"

namespace nearfield {
namespace metrics {
namespace {

constexpr std::int64_t most_jobs = 4096;

/// Largest number of box cells that are measured together. Four times as many are listed together.
constexpr std::int64_t most_cells(const host&) { return std::int64_t{1} << 26; }
constexpr std::int64_t most_cells(const device&) { return std::int64_t{1} << 28; }

template <class Place>
void check_views(const any_input<Place>& a, const any_input<Place>& b, int batch_axes) {
    const named_view<Place> views[] = {{"a", a}, {"b", b}};
    for (const auto& [name, image] : views) {
        check_image<Place>(name, image, (std::int64_t{1} << 31) - 1);
        if (image.type >= dtype::float16)
            fail(fmt::format("{} has element type {}; give bool or integers", name, name_of(image.type)));
    }
    check_same_shape<Place>("b", b, a);
    check_data<Place>(views);
    if (batch_axes < 0 || batch_axes >= a.rank || a.rank - batch_axes > most_axes)
        fail(fmt::format("a has {} axes and batch_axes is {}; give 1 to {} axes besides those of batches", a.rank,
                         batch_axes, most_axes));
}

void check_asked(const char* name, const std::vector<double>& asked, double most, const char* what) {
    if (asked.size() > most_asked)
        fail(fmt::format("{} has {} values; give at most {}", name, asked.size(), most_asked));
    for (const double each : asked)
        if (!(each >= 0 && each <= most)) fail(fmt::format("{} has {}; give {}", name, each, what));
}

/// A call after its checks.
struct task {
    problem p;
    weights w;
    distance_options distances;
    exact::counting units;  ///< of squared distances in a box as large as the image
    bool one_unit = false;  ///< of boxes of any size
    std::vector<std::int64_t> labels;
};

/// Sets cell lengths: those of existing axes, and 1 for missing ones.
template <class Place>
void set_axes(const any_input<Place>& a, const surface_options& options, task& t, double (&length)[most_axes]) {
    const auto lengths = checked_spacing(options.spacing, a.shape.data(), a.rank);
    const auto batch = static_cast<std::size_t>(options.batch_axes);
    problem& p = t.p;
    p.axes = a.rank - options.batch_axes, p.elements = options.surface == surface::elements;
    std::array<std::int64_t, max_rank> points{};
    for (int axis = 0; axis < a.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        if (axis < options.batch_axes) {
            p.images *= a.shape[k];
            continue;
        }
        const int to = most_axes - a.rank + axis;
        p.size[to] = a.shape[k], length[to] = lengths[k];
        points[k - batch] = a.shape[k] + (p.elements ? 1 : 0);
    }
    t.distances.spacing = spacing(lengths.data() + batch, static_cast<std::size_t>(p.axes));
    t.distances.sites = sites::nonzero;
    p.squared = squared_distance_type(points.data(), p.axes, t.distances);
    const std::array<std::int64_t, most_axes> least{1, 1, 1};
    const exact::counting of_least = exact::counting_of(least.data(), p.axes, t.distances);
    t.units = exact::counting_of(points.data(), p.axes, t.distances);
    t.one_unit = t.units.length == of_least.length && t.units.unit2 == of_least.unit2;
}

/// Sets the areas of points, and the units of sums.
void set_weights(const double (&length)[most_axes], task& t) {
    problem& p = t.p;
    if (p.elements) set_areas(length, t.w);
    else t.w.area[1] = 1;
    double far2 = 0, points = 1;
    for (int axis = 0; axis < most_axes; ++axis) {
        const double cells = static_cast<double>(p.size[axis]) + 1, far = cells * length[axis];
        far2 += far * far, points *= cells;
    }
    const double most = *std::max_element(t.w.area, t.w.area + 256), moment = most * std::sqrt(far2);
    for (const double each : {most, moment})
        if (!(each > 1e-250 && each < 1e250))
            fail(fmt::format("spacing makes areas and distances as large as {}; give lengths nearer to 1", each));
    p.per_area = std::ldexp(1.0, 93 - std::ilogb(most)), p.per_moment = std::ldexp(1.0, 93 - std::ilogb(moment));
    const int rank_bits = p.elements ? 60 - std::ilogb(points) - std::ilogb(most) : 0;
    for (int code = 1; code < 256; ++code) {
        t.w.area_parts[code] = parts_of(t.w.area[code], p.per_area);
        t.w.rank[code] = static_cast<std::uint64_t>(std::max(1LL, std::llrint(std::ldexp(t.w.area[code], rank_bits))));
    }
}

template <class Place>
task task_of(const any_input<Place>& a, const any_input<Place>& b, const surface_options& options) {
    check_views(a, b, options.batch_axes);
    check_asked("percentiles", options.percentiles, 100, "percentages from 0 to 100");
    check_asked("tolerances", options.tolerances, std::numeric_limits<double>::infinity(), "lengths from 0 on");
    task t;
    double length[most_axes] = {1, 1, 1};
    set_axes(a, options, t, length);
    set_weights(length, t);
    t.p.percentiles = static_cast<int>(options.percentiles.size());
    t.p.tolerances = static_cast<int>(options.tolerances.size());
    std::ranges::copy(options.percentiles, t.p.percentile);
    std::ranges::copy(options.tolerances, t.p.tolerance);
    return t;
}

// ---- groups ---------------------------------------------------------------------------------------------------------

std::span<const std::int64_t> size_of_box(const problem& p, const job& j) {
    return {j.size + most_axes - p.axes, static_cast<std::size_t>(p.axes)};
}
/// Adds a job to a group, unless it would hold more than `most` cells.
bool add_job(group& g, job j, std::int64_t most) {
    const std::int64_t cells = (j.cells() + cells_step - 1) / cells_step * cells_step;
    if (!g.jobs.empty() && g.cells + cells > most) return false;
    j.far = g.cells, g.cells += cells;
    g.jobs.push_back(j);
    return true;
}
/// Room for one side's points: bytes on the host, words on a device.
std::int64_t room_for(const host&, const job& j) { return j.cells(); }
std::int64_t room_for(const device&, const job& j) { return j.words(); }

/// Makes jobs for the rows from `row` on, as many as fit; advances `row` to the first that did not.
template <class Place>
group next_group(const Place& on, const task& t, const std::vector<tally>& rows, std::size_t& row) {
    const problem& p = t.p;
    group g;
    for (; row < rows.size() && std::ssize(g.jobs) < most_jobs; ++row) {
        const tally& of = rows[row];
        if (of.cells[0] == 0 && of.cells[1] == 0) continue;
        job j;
        j.row = static_cast<std::int64_t>(row), j.base = g.room;
        for (int axis = 0; axis < most_axes; ++axis) {
            j.first[axis] = of.low[axis];
            j.size[axis] = of.high[axis] - of.low[axis] + 1 + (p.elements && p.has(axis) ? 1 : 0);
        }
        const exact::counting units =
            t.one_unit ? t.units : exact::counting_of(size_of_box(p, j).data(), p.axes, t.distances);
        for (int axis = 0; axis < p.axes; ++axis) {
            const double length = units.length[static_cast<std::size_t>(axis)];
            j.square[most_axes - p.axes + axis] = length * length;
        }
        j.unit2 = units.unit2;
        if (!add_job(g, j, 4 * most_cells(on))) break;
        g.room += (room_for(on, j) + points_step - 1) / points_step * points_step;
    }
    return g;
}

/// Lets one label fill the image in a rehearsal, because no group has a larger box.
void suppose_whole(const problem& p, std::vector<tally>& rows) {
    rows.front().cells[0] = rows.front().cells[1] = 1;
    for (int axis = 0; axis < most_axes; ++axis) rows.front().low[axis] = 0, rows.front().high[axis] = p.size[axis] - 1;
}

/// Returns a job's mask. On a device it is made from bits.
const std::uint8_t* mask_for(const host&, const group& g, int side, const job& j) { return g.mask[side] + j.base; }
const std::uint8_t* mask_for(const device&, const group& g, int side, const job& j) { return g.mask[side] + j.far; }

/// Measures distances to the points of the other side.
template <class Place>
void measure_distances(const Place& on, const task& t, const group& g, int side) {
    std::vector<nearfield::job<Place>> calls;
    for (const job& j : g.jobs) {
        if (j.points[1 - side] == 0) continue;
        const std::span<const std::int64_t> sizes = size_of_box(t.p, j);
        nearfield::job<Place> call;
        call.image = any_input<Place>::contiguous(mask_for(on, g, 1 - side, j), dtype::uint8, sizes);
        call.out.squared = any_output<Place>::contiguous(
            static_cast<std::byte*>(g.squared) + j.far * size_of(t.p.squared), t.p.squared, sizes);
        calls.push_back(call);
    }
    if (!calls.empty()) distance_transform(on, std::span<const nearfield::job<Place>>(calls), t.distances);
}

/// Measures the far points of those jobs of a group that have some, as many jobs at a time as fit.
template <class Place>
void measure_far(const Place& on, const task& t, const group& g, const std::vector<std::uint8_t>& far) {
    constexpr bool makes_masks = std::is_same_v<Place, device>;
    for (std::size_t next = 0; next < g.jobs.size();) {
        group some = g;
        some.jobs.clear(), some.cells = 0;
        for (; next < g.jobs.size(); ++next)
            if (far[next] != 0 && !add_job(some, g.jobs[next], most_cells(on))) break;
        if (some.jobs.empty()) return;
        const std::int64_t of_mask = makes_masks ? some.cells : 0;
        with_bytes(on, of_mask + some.cells * size_of(t.p.squared), [&](void* memory) {
            some.squared = static_cast<std::uint8_t*>(memory) + of_mask;
            if (makes_masks) some.mask[0] = some.mask[1] = static_cast<std::uint8_t*>(memory);
            for (int side = 0; side < 2; ++side) {
                if constexpr (makes_masks) fill_mask(on, some, 1 - side);
                measure_distances(part_of(on, 0.5 * side, 0.5 * side + 0.45), t, some, side);
                look_up(part_of(on, 0.5 * side + 0.45, 0.5 * side + 0.5), t.p.squared, some, side);
            }
        });
    }
}

/// The ranks that determine a side's percentiles.
wanted_ranks ranks_of(const problem& p, const job& j, int side) {
    wanted_ranks wanted;
    if (j.points[side] == 0) return wanted;
    const auto points = static_cast<std::uint64_t>(j.points[side]);
    for (int k = 0; k < p.percentiles; ++k) {
        if (p.elements) {
            const auto share = std::ceil(p.percentile[k] * static_cast<double>(j.weight[side]) / 100);
            wanted.of[k] = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(share), 1, j.weight[side]);
            continue;
        }
        const auto below = static_cast<std::uint64_t>(static_cast<double>(points - 1) * (p.percentile[k] / 100));
        wanted.of[2 * k] = std::min(below + 1, points), wanted.of[2 * k + 1] = std::min(below + 2, points);
    }
    return wanted;
}

/// Lends a group memory for its points.
void with_points(const device& on, group& g, const std::function<void()>& use) {
    with_bytes(on, 2 * g.room * 4, [&](void* memory) {
        for (int side = 0; side < 2; ++side) g.bits[side] = static_cast<std::uint32_t*>(memory) + side * g.room;
        use();
    });
}
void with_points(const host& on, group& g, const std::function<void()>& use) {
    with_bytes(on, 2 * g.room, [&](void* memory) {
        for (int side = 0; side < 2; ++side) g.mask[side] = static_cast<std::uint8_t*>(memory) + side * g.room;
        use();
    });
}

template <class Place>
std::vector<side_sums> solve_group(const Place& on, const task& t, const coded& codes, group& g) {
    std::vector<side_sums> sums;
    with_points(on, g, [&] {
        mark(part_of(on, 0, 0.1), t.p, t.w, codes, g);
        if (rehearsing() != nullptr) g.jobs.front().points[0] = g.jobs.front().points[1] = 1;
        std::int64_t points = 0;
        std::vector<wanted_ranks> wanted;
        for (job& j : g.jobs)
            for (int side = 0; side < 2; ++side) {
                j.start[side] = points, points += j.points[side];
                wanted.push_back(ranks_of(t.p, j, side));
            }
        with_bytes(on, 9 * points, [&](void* lists) {
            g.key = static_cast<std::uint64_t*>(lists);
            g.code = reinterpret_cast<std::uint8_t*>(g.key + points);
            const std::vector<std::uint8_t> far = list_near(part_of(on, 0.1, 0.5), t.p, codes, g);
            measure_far(part_of(on, 0.5, 0.9), t, g, far);
            sums = sum(part_of(on, 0.9, 1), t.p, t.w, g, wanted);
        });
    });
    return sums;
}

// ---- the call -------------------------------------------------------------------------------------------------------

template <class Place>
void measure_rows(const Place& on, const task& t, const coded& codes, std::span<const std::int64_t> wanted,
                  std::vector<surface_distances>& rows) {
    std::vector<tally> counts = count(part_of(on, 0.1, 0.15), t.p, codes);
    for (std::size_t i = 0; i < rows.size() && !wanted.empty(); ++i)
        if (std::ranges::find(wanted, rows[i].label) == wanted.end()) counts[i] = {};
    if (rehearsing() != nullptr) suppose_whole(t.p, counts);
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (int side = 0; side < 2; ++side) rows[i].cells[side] = counts[i].cells[side];
    for (std::size_t next = 0, first = 0; next < rows.size(); first = next) {
        group g = next_group(on, t, counts, next);
        if (g.jobs.empty()) continue;
        const auto share = [&](std::size_t row) {
            return 0.15 + 0.85 * static_cast<double>(row) / static_cast<double>(rows.size());
        };
        const std::vector<side_sums> sums = solve_group(part_of(on, share(first), share(next)), t, codes, g);
        for (std::size_t k = 0; k < g.jobs.size(); ++k) {
            const auto row = static_cast<std::size_t>(g.jobs[k].row);
            set_measured(t.p, g.jobs[k], counts[row], sums.data() + 2 * k, rows[row]);
        }
    }
}

template <class Place>
std::vector<surface_distances> solve(const Place& on, const any_input<Place>& a, const any_input<Place>& b,
                                     std::span<const std::int64_t> labels, const surface_options& options) {
    return in_call([&] {
        task t = task_of(a, b, options);
        const bool own = are_codes(a, b, labels, t.p.images);
        if (own) {
            static_cast<void>(coding_of({labels.begin(), labels.end()}));  // which refuses a label that comes twice
            t.labels.resize(own_codes), std::iota(t.labels.begin(), t.labels.end(), 1);
        } else {
            t.labels = labels_of(on, a, b, labels);
        }
        const coding by = coding_of(t.labels);
        t.p.labels = static_cast<int>(t.labels.size());
        std::vector<surface_distances> rows(static_cast<std::size_t>(t.p.images) * t.labels.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].image = static_cast<std::int64_t>(i / t.labels.size());
            rows[i].label = t.labels[i % t.labels.size()];
        }
        const std::int64_t side = own ? 0 : t.p.cells() * (t.p.wide_codes() ? 4 : 1);
        if (!rows.empty() && a.cells() > 0)
            // A device reads whole words.
            with_bytes(on, (2 * side + 3) / 4 * 4, [&](void* memory) {
                if (own) return measure_rows(on, t, {a.data, b.data}, labels, rows);
                encode(part_of(on, 0.05, 0.1), t.p, by, a, b, memory);
                measure_rows(on, t, {memory, static_cast<std::byte*>(memory) + side}, {}, rows);
            });
        rehearse_step("surfaces and their distances; 9 bytes for each of their points");
        if (own) rows = wanted_of(rows, t.p, labels);
        for (surface_distances& row : rows)
            if (row.cells[0] == 0 || row.cells[1] == 0) set_empty(t.p, row);
        return rows;
    });
}

}  // namespace

std::vector<std::int64_t> listed(const std::vector<std::uint8_t>& seen) {
    std::vector<std::int64_t> values;
    for (std::size_t value = 1; value < seen.size(); ++value)
        if (seen[value] != 0) values.push_back(static_cast<std::int64_t>(value));
    if (seen[0] != 0) values.push_back(-1);
    return values;
}

}  // namespace metrics

std::vector<surface_distances> compare_surfaces(const host& on, const any_input<host>& a, const any_input<host>& b,
                                                std::span<const std::int64_t> labels, const surface_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    return metrics::solve(on, a, b, labels, options);
}
std::vector<surface_distances> compare_surfaces(const device& on, const any_input<device>& a,
                                                const any_input<device>& b, std::span<const std::int64_t> labels,
                                                const surface_options& options) {
    return metrics::solve(on, a, b, labels, options);
}

}  // namespace nearfield
