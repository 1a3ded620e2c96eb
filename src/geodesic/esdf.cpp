// Distance fields for robots, built on distance_transform().
#include "nearfield/esdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/lines.hpp"
#include "base/unwritten.hpp"
#include "geodesic/esdf_core.hpp"
#include "nearfield/distance.hpp"

namespace nearfield {
namespace geodesics {
namespace {

/// A box of cells, first to end.
struct box {
    std::array<std::int64_t, max_rank> first{}, end{};
};

/// The part of an array within a box.
template <class Place>
any_input<Place> part_of(any_input<Place> v, const box& b) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(v.rank); ++axis)
        offset += b.first[axis] * v.stride[axis], v.shape[axis] = b.end[axis] - b.first[axis];
    v.data = static_cast<const char*>(v.data) + offset * size_of(v.type);
    return v;
}

template <class Place>
class field {
public:
    field(const Place& on, const any_input<Place>& occupancy, const esdf_fields<Place>& out, const esdf_options& o)
        : on_(on), occupancy_(occupancy), out_(out), o_(o), rank_(static_cast<std::size_t>(occupancy.rank)) {
        check_image<Place>("occupancy", occupancy, std::int64_t{1} << 31);
        if (!out.distance.wanted() && !out.site.wanted() && !out.gradient.wanted())
            fail("out asks for nothing; give at least one of distance, site and gradient");
        if (out.distance.wanted()) check_type("out.distance", out.distance.type, {dtype::float32, dtype::float64});
        if (out.site.wanted()) check_type("out.site", out.site.type, {dtype::int32});
        if (out.gradient.wanted()) check_type("out.gradient", out.gradient.type, {dtype::float32});
        check_same_shape<Place>("out.distance", out.distance, occupancy);
        check_coordinate_shape<Place>("out.site", out.site, occupancy, 0);
        check_coordinate_shape<Place>("out.gradient", out.gradient, occupancy, 0);
        const named_view<Place> all[] = {{"occupancy", occupancy},
                                         {"out.distance", out.distance},
                                         {"out.site", out.site},
                                         {"out.gradient", out.gradient}};
        check_data<Place>(all);
        check_apart<Place>(all);
        length_ = checked_spacing(o.spacing, occupancy.shape.data(), occupancy.rank);
        if (!(o.max_distance >= 0))
            fail(fmt::format("max_distance is {}; give a length of at least 0", o.max_distance));
    }

    void fill() {
        box all;
        std::copy_n(occupancy_.shape.begin(), rank_, all.end.begin());
        const expected_outputs written{out_.distance, out_.site, out_.gradient};
        if (occupancy_.cells() > 0) fill(all, all);
    }
    void update(std::span<const std::int64_t> first, std::span<const std::int64_t> end) {
        if (first.size() != rank_ || end.size() != first.size())
            fail(fmt::format("box has corners of {} and {} coordinates for {} axes; give one for each axis",
                             first.size(), end.size(), rank_));
        box read, written;
        bool none = false;
        for (std::size_t k = 0; k < rank_; ++k) {
            const std::int64_t size = occupancy_.shape[k];
            if (first[k] < 0 || first[k] > end[k] || end[k] > size)
                fail(fmt::format("box leads from {} to {} along axis {}; give a range within 0 to {}", first[k], end[k],
                                 k, size));
            none = none || first[k] == end[k];
            const double cells = o_.max_distance / length_[k];
            const std::int64_t pad = cells < 0x1p31 ? static_cast<std::int64_t>(cells) + 1 : size;
            const auto wider = [&](std::int64_t by) {
                return std::pair(std::max<std::int64_t>(0, first[k] - by), std::min(size, end[k] + by));
            };
            std::tie(written.first[k], written.end[k]) = wider(pad);
            std::tie(read.first[k], read.end[k]) = wider(2 * pad);
        }
        if (!none) fill(read, written);
    }

private:
    /// Solves the box `read`, and writes the cells of the box `to`.
    void fill(const box& read, const box& to) {
        const any_input<Place> from = part_of(occupancy_, read);
        const std::span<const std::int64_t> shape(from.shape.data(), rank_);
        const std::int64_t cells = from.cells();
        // A part is solved into memory of its own, because its box exceeds the cells that may be written.
        const bool whole = cells == occupancy_.cells(), beside = !whole && out_.distance.wanted();
        field_writing w = writing(read, to);
        const bool numbers = out_.site.wanted() || out_.gradient.wanted();
        w.wide = cells > std::numeric_limits<std::int32_t>::max();
        // A host finds coordinates, in the caller's array if it can; a device finds numbers, which it does faster.
        constexpr bool on_host = std::is_same_v<Place, host>;
        const bool in_place = on_host && whole && out_.site.wanted();
        const std::int64_t found = on_host ? 4 * static_cast<std::int64_t>(rank_) : w.wide ? 8 : 4;
        const std::int64_t bytes = numbers && !in_place ? (cells * found + 7) / 8 * 8 : 0;
        w.measures = numbers && whole && sites_suffice();
        fields<Place> wanted;
        if (whole && !w.measures) wanted.distance = out_.distance;
        const auto solve = [&](void* memory) {
            if (numbers && on_host) {
                std::vector<std::int64_t> vectors(shape.begin(), shape.end());
                vectors.insert(vectors.begin(), static_cast<std::int64_t>(rank_));
                wanted.coordinates =
                    in_place ? out_.site : any_output<Place>::contiguous(memory, dtype::int32, vectors);
                w.found = array_of(wanted.coordinates, static_cast<std::size_t>(w.axes()) - rank_, 1);
            } else if (numbers) {
                wanted.index = any_output<Place>::contiguous(memory, w.wide ? dtype::int64 : dtype::int32, shape);
            }
            if (beside)
                wanted.distance =
                    any_output<Place>::contiguous(static_cast<char*>(memory) + bytes, out_.distance.type, shape);
            distance_options d;
            d.spacing = o_.spacing, d.sites = sites::nonzero, d.max_distance = o_.max_distance;
            d.sign = o_.negative_inside ? sign::outside_negative : sign::none;
            distance_transform(on_, from, wanted, d);
            w.index = wanted.index.data, w.solved = beside ? wanted.distance.data : nullptr;
            if (numbers || beside) write_fields(on_, w);
        };
        if (bytes == 0 && !beside) solve(nullptr);
        else with_bytes(on_, bytes + (beside ? cells * size_of(out_.distance.type) : 0), solve);
    }

    /// True if distances of the whole grid are left to write_fields(), as a device finds sites faster than sites and
    /// distances. The squared lengths must be exact in double.
    [[nodiscard]] bool sites_suffice() const {
        double largest = 0;
        for (std::size_t k = 0; k < rank_; ++k) {
            if (length_[k] != 1) return false;
            largest += static_cast<double>(occupancy_.shape[k]) * static_cast<double>(occupancy_.shape[k]);
        }
        return std::is_same_v<Place, device> && out_.distance.wanted() && !o_.negative_inside &&
               std::isinf(o_.max_distance) && largest < 0x1p53;
    }

    [[nodiscard]] field_writing writing(const box& read, const box& to) const {
        field_writing w;
        w.rank = static_cast<int>(rank_), w.negative_inside = o_.negative_inside;
        const auto skipped = static_cast<std::size_t>(w.axes()) - rank_;
        std::fill_n(w.solved_size, skipped, 1), std::fill_n(w.size, skipped, 1), std::fill_n(w.length, skipped, 1.0);
        for (std::size_t k = 0; k < rank_; ++k) {
            const std::size_t axis = skipped + k;
            w.length[axis] = length_[k];
            w.solved_first[axis] = read.first[k], w.solved_size[axis] = read.end[k] - read.first[k];
            w.first[axis] = to.first[k], w.size[axis] = to.end[k] - to.first[k], w.cells *= w.size[axis];
            if (w.solved_size[axis] < std::int64_t{1} << 31)
                w.by_solved_size[axis] = divisor(w.solved_size[axis]), w.by_size[axis] = divisor(w.size[axis]);
        }
        const auto in_order = [&](const auto& v, std::size_t more) {
            return !v.wanted() || is_contiguous(v.shape.data() + more, v.stride.data() + more, occupancy_.rank);
        };
        w.flat = w.cells == occupancy_.cells() && in_order(occupancy_, 0) && in_order(out_.distance, 0) &&
                 in_order(out_.site, 1) && in_order(out_.gradient, 1);
        w.occupancy = array_of(occupancy_, skipped, 0), w.distance = array_of(out_.distance, skipped, 0);
        w.site = array_of(out_.site, skipped, 1), w.gradient = array_of(out_.gradient, skipped, 1);
        return w;
    }
    /// Describes a caller's array, which has `more` axes in front of those of the grid.
    template <class View>
    cell_array array_of(const View& v, std::size_t skipped, std::size_t more) const {
        cell_array made{const_cast<void*>(static_cast<const void*>(v.data)), v.type, more == 0 ? 0 : v.stride[0], {}};
        std::copy_n(v.stride.begin() + static_cast<std::ptrdiff_t>(more), v.wanted() ? rank_ : 0, made.step + skipped);
        return made;
    }

    const Place& on_;
    const any_input<Place>& occupancy_;
    const esdf_fields<Place>& out_;
    const esdf_options& o_;
    std::size_t rank_;
    std::array<double, max_rank> length_{};
};

// ---- costmaps -------------------------------------------------------------------------------------------------------

template <class Place>
void check(const any_input<Place>& costmap, const any_output<Place>& out, const inflation_options& o) {
    check_image<Place>("costmap", costmap, std::int64_t{1} << 31);
    if (costmap.rank != 2) fail(fmt::format("costmap has {} axes; give 2", costmap.rank));
    check_type("costmap", costmap.type, {dtype::uint8});
    if (!out.wanted()) fail("out has no axes; give an array of the costmap's shape");
    check_type("out", out.type, {dtype::uint8});
    check_same_shape<Place>("out", out, costmap);
    const named_view<Place> all[] = {{"costmap", costmap}, {"out", out}};
    check_data<Place>(all);
    check_apart<Place>(all);
    check_inflation(o);
}

std::uint8_t cost_near(std::int64_t squared, const inflation_options& o) {
    const double away = std::sqrt(static_cast<double>(squared)) * o.resolution;
    if (squared == 0) return costmap_lethal;
    if (away <= o.inscribed_radius) return costmap_inscribed;
    return static_cast<std::uint8_t>((costmap_inscribed - 1) *
                                     std::exp(-o.cost_scaling_factor * (away - o.inscribed_radius)));
}

/// Finds the farthest squared distance that has each cost, by bisection: costs fall with the distance.
void set_farthest(inflating& w, const inflation_options& o, std::int64_t reach) {
    for (int cost = 0; cost < costmap_unknown; ++cost) {
        std::int64_t near = -1, far = reach * reach + 1;
        while (far - near > 1) {
            const std::int64_t middle = near + (far - near) / 2;
            if (cost_near(middle, o) >= cost) near = middle;
            else far = middle;
        }
        w.farthest[cost] = static_cast<std::int32_t>(near);
    }
}

template <class View>
cell_array image_of(const View& v) {
    return {const_cast<void*>(static_cast<const void*>(v.data)), v.type, 0, {v.stride[0], v.stride[1]}};
}

void spread_costs(const device& on, inflating& w, std::int64_t reach) {
    const std::int64_t shape[] = {w.rows, w.columns}, padded = (w.cells() + 15) / 16 * 16;  // for loads of 16 bytes
    with_bytes(on, 5 * padded, [&](void* memory) {
        w.lethal = static_cast<std::uint8_t*>(memory);
        auto* const squared = reinterpret_cast<std::uint32_t*>(w.lethal + padded);
        w.squared = squared;
        mark_lethal(on, w);
        find_squared(on, w.lethal, squared, shape, reach);
        write_costs(on, w);
    });
}

template <class Place>
void inflate(const Place& on, const any_input<Place>& costmap, const any_output<Place>& out,
             const inflation_options& o) {
    const auto reach = static_cast<std::int64_t>(std::ceil(o.inflation_radius / o.resolution));
    inflating w;
    w.from = image_of(costmap), w.to = image_of(out), w.rows = costmap.shape[0], w.columns = costmap.shape[1];
    w.inflate_unknown = o.inflate_unknown, w.around_unknown = o.around_unknown;
    set_farthest(w, o, reach);
    spread_costs(on, w, reach);
}

void check_place(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}
void check_place(const device&) {}

template <class Place>
void run(const Place& on, const any_input<Place>& costmap, const any_output<Place>& out, const inflation_options& o) {
    in_call([&] {
        check_place(on);
        check(costmap, out, o);
        const expected_outputs written{out};
        if (costmap.cells() > 0) inflate(on, costmap, out, o);
    });
}
template <class Place, class Work>
void run(const Place& on, const any_input<Place>& occupancy, const esdf_fields<Place>& out, const esdf_options& o,
         const Work& work) {
    in_call([&] {
        check_place(on);
        field<Place> f(on, occupancy, out, o);
        work(f);
    });
}

}  // namespace

void check_inflation(const inflation_options& o) {
    const std::pair<const char*, double> lengths[] = {{"inscribed_radius", o.inscribed_radius},
                                                      {"inflation_radius", o.inflation_radius},
                                                      {"cost_scaling_factor", o.cost_scaling_factor}};
    for (const auto& [name, value] : lengths)
        if (!(value >= 0) || !std::isfinite(value)) fail(fmt::format("{} is {}; give at least 0", name, value));
    if (!(o.resolution > 0) || !std::isfinite(o.resolution))
        fail(fmt::format("resolution is {}; give the length of a cell", o.resolution));
    if (o.inflation_radius / o.resolution > 8192)
        fail(fmt::format("inflation_radius is {} with a resolution of {}; give at most 8192 cells", o.inflation_radius,
                         o.resolution));
}

}  // namespace geodesics

using namespace geodesics;

void esdf(const host& on, const any_input<host>& occupancy, const esdf_fields<host>& out, const esdf_options& options) {
    run(on, occupancy, out, options, [](auto& f) { f.fill(); });
}
void esdf(const device& on, const any_input<device>& occupancy, const esdf_fields<device>& out,
          const esdf_options& options) {
    run(on, occupancy, out, options, [](auto& f) { f.fill(); });
}
void update_esdf(const host& on, const any_input<host>& occupancy, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> end, const esdf_fields<host>& out, const esdf_options& options) {
    run(on, occupancy, out, options, [&](auto& f) { f.update(first, end); });
}
void update_esdf(const device& on, const any_input<device>& occupancy, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> end, const esdf_fields<device>& out, const esdf_options& options) {
    run(on, occupancy, out, options, [&](auto& f) { f.update(first, end); });
}
void inflate_costmap(const host& on, const any_input<host>& costmap, const any_output<host>& out,
                     const inflation_options& options) {
    run(on, costmap, out, options);
}
void inflate_costmap(const device& on, const any_input<device>& costmap, const any_output<device>& out,
                     const inflation_options& options) {
    run(on, costmap, out, options);
}

}  // namespace nearfield
