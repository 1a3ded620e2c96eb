// Distance fields for robots, made of distance_transform().
#include "nearfield/esdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "base/unwritten.hpp"
#include "nearfield/distance.hpp"

namespace nearfield {
namespace geodesics {
namespace {

constexpr std::int64_t cells_at_once = 1 << 14;

/// A box of a grid.
struct box {
    std::array<std::int64_t, max_rank> first{}, end{};
};

/// The part of an array within a box; `more` axes stand in front.
template <class Void>
any_view<Void, host> part_of(any_view<Void, host> v, const box& b, int more) {
    if (!v.wanted()) return v;
    std::int64_t offset = 0;
    for (std::size_t axis = static_cast<std::size_t>(more); axis < static_cast<std::size_t>(v.rank); ++axis) {
        const std::size_t k = axis - static_cast<std::size_t>(more);
        offset += b.first[k] * v.stride[axis], v.shape[axis] = b.end[k] - b.first[k];
    }
    using byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
    v.data = static_cast<byte*>(v.data) + offset * size_of(v.type);
    return v;
}

class field {
public:
    field(const host& on, const any_input<host>& occupancy, const esdf_fields<host>& out, const esdf_options& o)
        : on_(on), occupancy_(occupancy), out_(out), o_(o), rank_(occupancy.rank) {
        if (on.threads < 0)
            fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
        check_image<host>("occupancy", occupancy, std::int64_t{1} << 31);
        if (!out.distance.wanted() && !out.site.wanted() && !out.gradient.wanted())
            fail("out asks for nothing; give at least one of distance, site and gradient");
        if (out.distance.wanted()) check_type("out.distance", out.distance.type, {dtype::float32, dtype::float64});
        if (out.site.wanted()) check_type("out.site", out.site.type, {dtype::int32});
        if (out.gradient.wanted()) check_type("out.gradient", out.gradient.type, {dtype::float32});
        check_same_shape<host>("out.distance", out.distance, occupancy);
        check_coordinate_shape<host>("out.site", out.site, occupancy, 0);
        check_coordinate_shape<host>("out.gradient", out.gradient, occupancy, 0);
        const named_view<host> all[] = {{"occupancy", occupancy},
                                        {"out.distance", out.distance},
                                        {"out.site", out.site},
                                        {"out.gradient", out.gradient}};
        check_data<host>(all);
        check_apart<host>(all);
        const auto lengths = checked_spacing(o.spacing, occupancy.shape.data(), rank_);
        std::copy_n(lengths.begin(), rank_, length_);
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
        if (first.size() != static_cast<std::size_t>(rank_) || end.size() != first.size())
            fail(fmt::format("box has corners of {} and {} coordinates for {} axes; give one for each axis",
                             first.size(), end.size(), rank_));
        box read, written;
        bool none = false;
        for (std::size_t k = 0; k < first.size(); ++k) {
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
    /// Solves the box `read`, and writes what lies in `to`.
    void fill(const box& read, const box& to) {
        const any_input<host> from = part_of(occupancy_, read, 0);
        std::vector<std::int64_t> shape(from.shape.begin(), from.shape.begin() + rank_), sites{rank_};
        sites.insert(sites.end(), shape.begin(), shape.end());
        const std::int64_t cells = from.cells();
        const bool whole = cells == occupancy_.cells();
        // A part is solved beside the fields: more of it is read than may be written.
        const dtype type = out_.distance.wanted() ? out_.distance.type : dtype::float32;
        const host_scratch<char> own_distance(whole || !out_.distance.wanted() ? 0 : cells * size_of(type));
        const host_scratch<std::int32_t> own_site(whole && out_.site.wanted() ? 0 : cells * rank_);
        fields<host> wanted;
        if (out_.distance.wanted())
            wanted.distance = whole ? out_.distance : any_output<host>::contiguous(own_distance.get(), type, shape);
        wanted.coordinates =
            whole && out_.site.wanted() ? out_.site : any_output<host>::contiguous(own_site.get(), dtype::int32, sites);
        distance_options d;
        d.spacing = o_.spacing, d.sites = sites::nonzero, d.max_distance = o_.max_distance;
        d.sign = o_.negative_inside ? sign::outside_negative : sign::none;
        distance_transform(on_, from, wanted, d);
        write(wanted, read, to, whole);
    }

    void write(const fields<host>& solved, const box& read, const box& to, bool whole) {
        std::array<std::int64_t, max_rank> size{};
        std::int64_t cells = 1;
        for (std::size_t k = 0; k < static_cast<std::size_t>(rank_); ++k)
            size[k] = to.end[k] - to.first[k], cells *= size[k];
        const host quiet{on_.threads, {}};
        workers team(quiet, cells);
        team.for_each(cells, cells_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
            std::int64_t at[max_rank]{};
            for (std::int64_t i = first; i < last; ++i) {
                for (std::int64_t rest = i, k = rank_ - 1; k >= 0; rest /= size[static_cast<std::size_t>(k)], --k)
                    at[k] = to.first[static_cast<std::size_t>(k)] + rest % size[static_cast<std::size_t>(k)];
                write_cell(solved, read, at, whole);
            }
        });
    }
    void write_cell(const fields<host>& solved, const box& read, const std::int64_t* at, bool whole) {
        std::int64_t in = 0, out = 0, site_in = 0, site_out = 0, gradient_out = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(rank_); ++k) {
            const std::int64_t there = at[k] - read.first[k];
            in += there * solved.distance.stride[k], site_in += there * solved.coordinates.stride[k + 1];
            out += at[k] * out_.distance.stride[k], site_out += at[k] * out_.site.stride[k + 1];
            gradient_out += at[k] * out_.gradient.stride[k + 1];
        }
        const auto* const site = static_cast<const std::int32_t*>(solved.coordinates.data) + site_in;
        const std::int64_t step = solved.coordinates.stride[0];
        std::int64_t by[max_rank]{};
        double away[max_rank]{}, square = 0;
        for (int k = 0; k < rank_; ++k) {
            const std::int64_t s = site[k * step];
            by[k] = s < 0 ? -1 : s + read.first[static_cast<std::size_t>(k)];
            away[k] = s < 0 ? 0 : length_[k] * static_cast<double>(at[k] - by[k]);
            square += away[k] * away[k];
        }
        if (!whole && out_.distance.wanted()) {
            if (out_.distance.type == dtype::float64) move<double>(out_.distance, out, solved.distance, in);
            else move<float>(out_.distance, out, solved.distance, in);
        }
        for (int k = 0; k < rank_ && !whole && out_.site.wanted(); ++k)
            static_cast<std::int32_t*>(out_.site.data)[site_out + k * out_.site.stride[0]] =
                static_cast<std::int32_t>(by[k]);
        if (!out_.gradient.wanted()) return;
        const double distance = std::sqrt(square) * (o_.negative_inside && occupied(at) ? -1 : 1);
        for (int k = 0; k < rank_; ++k)
            static_cast<float*>(out_.gradient.data)[gradient_out + k * out_.gradient.stride[0]] =
                square > 0 ? static_cast<float>(away[k] / distance) : 0.0F;
    }
    template <class T>
    static void move(const any_output<host>& to, std::int64_t out, const any_output<host>& from, std::int64_t in) {
        static_cast<T*>(to.data)[out] = static_cast<const T*>(from.data)[in];
    }
    [[nodiscard]] bool occupied(const std::int64_t* at) const {
        std::int64_t from = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(rank_); ++k) from += at[k] * occupancy_.stride[k];
        switch (occupancy_.type) {
            case dtype::float16: return (static_cast<const std::uint16_t*>(occupancy_.data)[from] & 0x7fffU) != 0;
            case dtype::float32: return static_cast<const float*>(occupancy_.data)[from] != 0;
            case dtype::float64: return static_cast<const double*>(occupancy_.data)[from] != 0;
            default: break;
        }
        const std::int64_t bytes = size_of(occupancy_.type);
        const char* const cell = static_cast<const char*>(occupancy_.data) + from * bytes;
        return std::any_of(cell, cell + bytes, [](char c) { return c != 0; });
    }

    const host& on_;
    const any_input<host>& occupancy_;
    const esdf_fields<host>& out_;
    const esdf_options& o_;
    int rank_;
    double length_[max_rank]{};
};

// ---- costmaps -------------------------------------------------------------------------------------------------------

void check(const host& on, const any_input<host>& costmap, const any_output<host>& out, const inflation_options& o) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    check_image<host>("costmap", costmap, std::int64_t{1} << 31);
    if (costmap.rank != 2) fail(fmt::format("costmap has {} axes; give 2", costmap.rank));
    check_type("costmap", costmap.type, {dtype::uint8});
    if (!out.wanted()) fail("out has no axes; give an array of the costmap's shape");
    check_type("out", out.type, {dtype::uint8});
    check_same_shape<host>("out", out, costmap);
    const named_view<host> all[] = {{"costmap", costmap}, {"out", out}};
    check_data<host>(all);
    check_apart<host>(all);
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

/// The cost of every squared distance, in cells, up to the inflation radius.
std::vector<std::uint8_t> cost_table(const inflation_options& o, std::int64_t reach) {
    std::vector<std::uint8_t> table(static_cast<std::size_t>(reach * reach) + 1);
    for (std::size_t square = 0; square < table.size(); ++square) {
        const double away = std::sqrt(static_cast<double>(square)) * o.resolution;
        if (square == 0) table[square] = costmap_lethal;
        else if (away <= o.inscribed_radius) table[square] = costmap_inscribed;
        else
            table[square] = static_cast<std::uint8_t>((costmap_inscribed - 1) *
                                                      std::exp(-o.cost_scaling_factor * (away - o.inscribed_radius)));
    }
    return table;
}

void inflate(const host& on, const any_input<host>& costmap, const any_output<host>& out, const inflation_options& o) {
    const auto reach = static_cast<std::int64_t>(std::ceil(o.inflation_radius / o.resolution));
    const std::vector<std::uint8_t> table = cost_table(o, reach);
    const std::int64_t rows = costmap.shape[0], columns = costmap.shape[1];
    const std::int64_t shape[] = {rows, columns};
    const host_scratch<std::uint8_t> lethal(rows * columns);
    const host_scratch<std::uint32_t> squared(rows * columns);
    const auto* const from = static_cast<const std::uint8_t*>(costmap.data);
    auto* const to = static_cast<std::uint8_t*>(out.data);
    const host quiet{on.threads, {}};
    workers team(quiet, 1);
    const auto for_cells = [&](const auto& body) {
        team.for_each(rows, std::max<std::int64_t>(1, cells_at_once / columns), 0,
                      [&](std::int64_t first, std::int64_t last, int) {
                          for (std::int64_t y = first; y < last; ++y)
                              for (std::int64_t x = 0; x < columns; ++x)
                                  body(y * columns + x, from[y * costmap.stride[0] + x * costmap.stride[1]],
                                       to[y * out.stride[0] + x * out.stride[1]]);
                      });
    };
    for_cells([&](std::int64_t i, std::uint8_t cost, std::uint8_t&) {
        lethal.get()[i] = cost == costmap_lethal || (o.around_unknown && cost == costmap_unknown) ? 1 : 0;
    });
    fields<host> wanted;
    wanted.squared = any_output<host>::contiguous(squared.get(), dtype::uint32, shape);
    distance_options d;
    d.sites = sites::nonzero, d.max_distance = static_cast<double>(reach);
    distance_transform(on, any_input<host>::contiguous(lethal.get(), dtype::uint8, shape), wanted, d);
    const std::uint8_t least_of_unknown = o.inflate_unknown ? 1 : costmap_inscribed;
    for_cells([&](std::int64_t i, std::uint8_t old, std::uint8_t& cell) {
        const std::uint32_t square = squared.get()[i];
        const std::uint8_t cost = square < table.size() ? table[square] : costmap_free;
        cell = old == costmap_unknown && cost >= least_of_unknown ? cost : std::max(old, cost);
    });
}

[[noreturn]] void refuse(const char* name) {
    throw error(error_code::unsupported,
                fmt::format("device: {} runs on the host only; use host{{}} and arrays of the host", name));
}

}  // namespace
}  // namespace geodesics

using namespace geodesics;

void esdf(const host& on, const any_input<host>& occupancy, const esdf_fields<host>& out, const esdf_options& options) {
    in_call([&] { field(on, occupancy, out, options).fill(); });
}
void update_esdf(const host& on, const any_input<host>& occupancy, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> end, const esdf_fields<host>& out, const esdf_options& options) {
    in_call([&] { field(on, occupancy, out, options).update(first, end); });
}
void inflate_costmap(const host& on, const any_input<host>& costmap, const any_output<host>& out,
                     const inflation_options& options) {
    in_call([&] {
        check(on, costmap, out, options);
        const expected_outputs written{out};
        if (costmap.cells() > 0) inflate(on, costmap, out, options);
    });
}

void esdf(const device&, const any_input<device>&, const esdf_fields<device>&, const esdf_options&) { refuse("esdf"); }
void inflate_costmap(const device&, const any_input<device>&, const any_output<device>&, const inflation_options&) {
    refuse("inflate_costmap");
}

}  // namespace nearfield
