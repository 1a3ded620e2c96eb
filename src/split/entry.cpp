// The public calls: each runs a few of the library's other calls, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/rehearsal.hpp"
#include "base/share.hpp"
#include "nearfield/components.hpp"
#include "nearfield/morphology.hpp"
#include "nearfield/split.hpp"
#include "nearfield/voronoi.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield {
namespace {

constexpr int most_axes = 3;
/// In units of a cell's shortest side: cells' outlines raise a peak by less than this (docs/objects.md has counts).
constexpr double usual_height = 0.75;

void check_place(const host& on, const split_options&, dtype) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}
void check_place(const device&, const split_options& o, dtype squared) {
    if (o.method == split_method::watershed && squared != dtype::uint32)
        fail(
            fmt::format("spacing makes squared distances of type {}; a device takes spacings and sizes that make "
                        "uint32: give integral ones, or use host{{}}",
                        name_of(squared)));
    if (o.method == split_method::lecture || o.method == split_method::voronoi)
        fail("method is one of the host's; a device takes watershed and geodesic: use host{}");
    if (o.method == split_method::geodesic && !o.h)
        fail("h is left out, and the largest distance would have to be waited for; give h, or use host{}");
}

template <class Place>
class call {
public:
    call(const Place& on, const any_input<Place>& mask, const any_output<Place>& out, const split_options& options,
         const any_output<Place>& count)
        : on_(on), mask_(mask), out_(out), count_(count), options_(options) {
        check();
        every_.connectivity = mask.rank, every_.border = options.border;
        distance_.spacing = options.spacing, distance_.border = options.border;
        squared_ = squared_distance_type(mask.shape.data(), mask.rank, distance_);
        check_place(on, options, squared_);
    }

    void run() const {
        with(dtype::boolean, [&](const any_output<Place>& inside) {
            morphology_options same;
            same.border = options_.border;
            dilation(part_of(on_, 0, 0.1), mask_, 0, inside, same);
            with(dtype::int32, [&](const any_output<Place>& found) {
                if (options_.method == split_method::watershed) by_watershed(inside, found);
                else by_parts(inside, found);
            });
        });
    }

private:
    void check() const {
        check_image<Place>("mask", mask_, std::int64_t{1} << 31);
        if (mask_.rank > most_axes) fail(fmt::format("mask has {} axes; give 1 to {}", mask_.rank, most_axes));
        if (!out_.wanted()) fail("out has no axes; give an array of the mask's shape");
        check_same_shape<Place>("out", out_, mask_);
        check_type("out", out_.type, {dtype::int32});
        if (options_.h && !(*options_.h >= 0)) fail(fmt::format("h is {}; give a length of at least 0", *options_.h));
        if (options_.smallest < 1)
            fail(fmt::format("smallest is {}; give a number of cells, 1 or more", options_.smallest));
        static_cast<void>(checked_spacing(options_.spacing, mask_.shape.data(), mask_.rank));
        for (const border each : checked_borders(options_.border, mask_.shape.data(), mask_.rank))
            if (each == border::closed) fail("border is closed along an axis; give open or periodic");
        if (count_.wanted()) check_type("count", count_.type, {dtype::int64});
        const named_view<Place> all[] = {{"mask", mask_}, {"out", out_}, {"count", count_}};
        check_data<Place>(all);
        check_apart<Place>(all);
    }

    /// Calls use(array) with a contiguous array of the mask's shape, which lives for the call.
    template <class Use>
    void with(dtype type, const Use& use) const {
        const std::span<const std::int64_t> shape(mask_.shape.data(), static_cast<std::size_t>(mask_.rank));
        with_bytes(on_, std::max<std::int64_t>(mask_.cells() * size_of(type), 1),
                   [&](void* memory) { use(any_output<Place>::contiguous(memory, type, shape)); });
    }

    void by_watershed(const any_output<Place>& inside, const any_output<Place>& found) const {
        const auto lengths = checked_spacing(options_.spacing, mask_.shape.data(), mask_.rank);
        watershed_options how;
        how.connectivity = mask_.rank, how.border = options_.border, how.maxima = true, how.roots = true;
        how.h =
            options_.h ? *options_.h : usual_height * *std::min_element(lengths.begin(), lengths.begin() + mask_.rank);
        with(squared_, [&](const any_output<Place>& squared) {
            squared_distance(part_of(on_, 0.1, 0.2), mask_, squared, distance_);
            watershed(part_of(on_, 0.3, 0.6), squared, {found, {}}, how, {}, inside);
        });
        number(found);
    }

    void by_parts(const any_output<Place>& inside, const any_output<Place>& found) const {
        with(dtype::int32, [&](const any_output<Place>& parts) {
            erosion(part_of(on_, 0.1, 0.2), mask_, height(), found_as_bits(found), morphology_of());
            label_fields<Place> labels;
            labels.label = parts;
            label(part_of(on_, 0.3, 0.1), found_as_bits(found), labels, every_);
            if (options_.method == split_method::geodesic) {
                watershed_options how;
                how.connectivity = mask_.rank, how.border = options_.border;
                watershed(part_of(on_, 0.4, 0.5), inside, {found, {}}, how, parts, inside);
                return number(found);
            }
            if constexpr (std::is_same_v<Place, host>) {
                if (options_.method == split_method::lecture) shrink(parts);
                expand_labels(part_of(on_, 0.4, 0.5), parts, found, distance_);
                number_without(inside, found);
            }
        });
    }

    [[nodiscard]] morphology_options morphology_of() const {
        morphology_options o;
        o.spacing = options_.spacing, o.border = options_.border;
        return o;
    }
    [[nodiscard]] any_output<Place> found_as_bits(const any_output<Place>& found) const {
        const std::span<const std::int64_t> shape(mask_.shape.data(), static_cast<std::size_t>(mask_.rank));
        return any_output<Place>::contiguous(found.data, dtype::boolean, shape);
    }

    /// The height that the caller gives, else half of the largest distance.
    [[nodiscard]] double height() const {
        double largest = 0;
        if (options_.h) return *options_.h;
        if constexpr (std::is_same_v<Place, host>)
            with(dtype::float64, [&](const any_output<host>& squared) {
                squared_distance(host{on_.threads, {}}, mask_, squared, distance_);
                if (rehearsing() != nullptr) return;
                for (const double each : values<double>(squared))
                    if (std::isfinite(each)) largest = std::max(largest, each);
            });
        return std::sqrt(largest) / 2;
    }

    template <class T>
    [[nodiscard]] std::span<T> values(const any_output<Place>& a) const {
        return {static_cast<T*>(a.data), static_cast<std::size_t>(a.cells())};
    }

    /// Replaces every part by its barycentre, rounded to a cell. If parts share a cell, the first one gets it.
    void shrink(const any_output<host>& parts) const {
        if (rehearsing() != nullptr) return;
        const auto cells = values<std::int32_t>(parts);
        const std::int64_t count = cells.empty() ? 0 : *std::max_element(cells.begin(), cells.end());
        const std::array<std::int64_t, 2> shape{count, mask_.rank};
        std::vector<double> centres(static_cast<std::size_t>(count * mask_.rank));
        component_tables<host> tables;
        tables.centroid = any_output<host>::contiguous(centres.data(), dtype::float64, shape);
        if (count > 0) component_statistics(host{on_.threads, {}}, parts, tables);
        std::fill(cells.begin(), cells.end(), 0);
        for (std::int64_t part = count; part > 0; --part) {
            std::int64_t cell = 0;
            for (int axis = 0; axis < mask_.rank; ++axis) {
                const double at = centres[static_cast<std::size_t>((part - 1) * mask_.rank + axis)];
                cell = cell * mask_.shape[static_cast<std::size_t>(axis)] +
                       static_cast<std::int64_t>(std::floor(at + 0.5));
            }
            cells[static_cast<std::size_t>(cell)] = static_cast<std::int32_t>(part);
        }
    }

    /// Numbers connected objects in raster order, and drops small ones.
    void number(const any_output<Place>& found) const {
        label_options how = every_;
        how.criterion = criterion::equal, how.smallest = options_.smallest;
        label_fields<Place> labels;
        labels.label = out_, labels.count = count_;
        label(part_of(on_, 0.9, 0.1), found, labels, how);
    }
    /// Numbers objects in raster order, which may be in several pieces; drops cells outside the mask and small objects.
    void number_without(const any_output<host>& inside, const any_output<host>& found) const {
        if (rehearsing() != nullptr) return;
        const auto cells = values<std::int32_t>(found);
        const auto within = values<bool>(inside);
        std::vector<std::int64_t> sizes(1);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (!within[i]) cells[i] = 0;
            const auto own = static_cast<std::size_t>(cells[i]);
            if (own >= sizes.size()) sizes.resize(own + 1);
            ++sizes[own];
        }
        for (auto& each : cells)
            if (sizes[static_cast<std::size_t>(each)] < options_.smallest) each = 0;
        relabel(part_of(on_, 0.9, 0.1), found, out_, count_);
    }

    const Place& on_;
    const any_input<Place>& mask_;
    const any_output<Place>& out_;
    const any_output<Place>& count_;
    const split_options& options_;
    label_options every_;
    distance_options distance_;
    dtype squared_ = dtype::uint32;
};

}  // namespace

void split(const host& on, const any_input<host>& mask, const any_output<host>& out, const split_options& options,
           const any_output<host>& count) {
    in_call([&] { call<host>(on, mask, out, options, count).run(); });
}
void split(const device& on, const any_input<device>& mask, const any_output<device>& out, const split_options& options,
           const any_output<device>& count) {
    in_call([&] { call<device>(on, mask, out, options, count).run(); });
}

}  // namespace nearfield
