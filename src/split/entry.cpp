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
#include "split/room.hpp"

namespace nearfield {
namespace {

constexpr int most_axes = 3;

void check_place(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}
void check_place(const device&) {}

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
        check_place(on);
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
        const std::array<std::int64_t, 1> one{1};
        with(dtype::int32, [&](const any_output<Place>& parts) {
            with_bytes(on_, 8, [&](void* memory) {
                erosion(part_of(on_, 0.1, 0.2), mask_, height(), found_as_bits(found), morphology_of());
                label_fields<Place> labels;
                labels.label = parts, labels.count = any_output<Place>::contiguous(memory, dtype::int64, one);
                label(part_of(on_, 0.3, 0.1), found_as_bits(found), labels, every_);
                if (options_.method == split_method::geodesic) return by_steps(inside, parts, found);
                const std::int64_t count = rehearsing() != nullptr ? 0 : splitting::read(on_, labels.count);
                if (options_.method == split_method::lecture && rehearsing() == nullptr)
                    splitting::shrink(on_, parts, count);
                expand_labels(part_of(on_, 0.4, 0.5), parts, found, distance_);
                if (rehearsing() != nullptr) return;
                splitting::keep_large(on_, inside, found, count, options_.smallest);
                relabel(part_of(on_, 0.9, 0.1), found, out_, count_);
            });
        });
    }
    void by_steps(const any_output<Place>& inside, const any_output<Place>& parts,
                  const any_output<Place>& found) const {
        watershed_options how;
        how.connectivity = mask_.rank, how.border = options_.border;
        watershed(part_of(on_, 0.4, 0.5), inside, {found, {}}, how, parts, inside);
        number(found);
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
        if (options_.h) return *options_.h;
        double largest = 0;
        with(dtype::float64, [&](const any_output<Place>& squared) {
            squared_distance(part_of(on_, 0.1, 0), mask_, squared, distance_);
            if (rehearsing() == nullptr) largest = splitting::largest_of(on_, squared);
        });
        return std::sqrt(largest) / 2;
    }

    /// Numbers connected objects in raster order, and drops small ones.
    void number(const any_output<Place>& found) const {
        label_options how = every_;
        how.criterion = criterion::equal, how.smallest = options_.smallest;
        label_fields<Place> labels;
        labels.label = out_, labels.count = count_;
        label(part_of(on_, 0.9, 0.1), found, labels, how);
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
