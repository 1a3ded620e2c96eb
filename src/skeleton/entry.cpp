// The public call: computes exact squared distances, then thins in their order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/rehearsal.hpp"
#include "base/share.hpp"
#include "nearfield/distance.hpp"
#include "skeleton/core.hpp"

namespace nearfield {
namespace {

constexpr double share_of_distances = 0.2;  // share of a call's time on the host, for progress

template <class Place>
class thinning {
public:
    thinning(const any_input<Place>& image, const any_output<Place>& out, const skeleton_options& options,
             const any_input<Place>& anchors)
        : image_(image), out_(out), anchors_(anchors), options_(options) {
        check();
        distances_.batch_axes = options.batch_axes, distances_.border = options.border;
        const bool even = is_even(spacing_);
        if (!even) distances_.spacing = options.spacing;
        type_ = squared_distance_type(image.shape.data(), image.rank, distances_);
        double shortest = std::numeric_limits<double>::infinity(), farthest2 = 0;
        for (int axis = 0; axis < image.rank; ++axis) {
            const auto k = static_cast<std::size_t>(axis);
            const int at = 3 - image.rank + axis;
            if (axis < options.batch_axes) {
                shape_.images *= image.shape[k];
                continue;
            }
            shape_.size[at] = image.shape[k];
            shape_.wraps[at] = ends_[k] == border::periodic && image.shape[k] > 1;
            const double length = even ? 1 : spacing_[k];
            if (image.shape[k] > 1) shortest = std::min(shortest, length);
            farthest2 += std::pow(length * static_cast<double>(image.shape[k]), 2);
        }
        if (shape_.cells() > 1) shape_.thickness = shortest / skeleton::layers_a_cell;
        shape_.layers = skeleton::layer_of(farthest2, shape_.thickness) + 2;
    }

    void run(const Place& on) const {
        if (image_.cells() == 0) return;
        const std::span<const std::int64_t> shape(image_.shape.data(), static_cast<std::size_t>(image_.rank));
        with_bytes(on, image_.cells() * size_of(type_), [&](void* memory) {
            fields<Place> wanted;
            wanted.squared = any_output<Place>::contiguous(memory, type_, shape);
            distance_transform(part_of(on, 0, share_of_distances), image_, wanted, distances_);
            skeleton::thin(part_of(on, share_of_distances, 1 - share_of_distances), shape_,
                           {options_.faces, options_.keep}, wanted.squared, anchors_, out_);
        });
        rehearse_step("simple cells removed, layer by layer; as if all cells were foreground");
    }

private:
    void check() {
        check_image<Place>("image", image_, std::int64_t{1} << 31);
        if (options_.batch_axes < 0 || options_.batch_axes >= image_.rank || image_.rank - options_.batch_axes > 3)
            fail(fmt::format("image has {} axes and batch_axes is {}; give 1 to 3 axes besides those of batches",
                             image_.rank, options_.batch_axes));
        if (!out_.wanted()) fail("out has no axes; give an array of the image's shape");
        check_same_shape<Place>("out", out_, image_);
        check_type("out", out_.type, {dtype::boolean, dtype::uint8});
        if (options_.keep > kept_cells::nothing)
            fail(fmt::format("keep is {}; give ends, isthmuses or nothing", static_cast<int>(options_.keep)));
        if (anchors_.wanted()) {
            check_same_shape<Place>("anchors", anchors_, image_);
            check_type("anchors", anchors_.type, {dtype::boolean, dtype::uint8});
        }
        spacing_ = checked_spacing(options_.spacing, image_.shape.data(), image_.rank);
        ends_ = checked_borders(options_.border, image_.shape.data(), image_.rank);
        const named_view<Place> all[] = {{"image", image_}, {"anchors", anchors_}, {"out", out_}};
        const named_view<Place> without[] = {all[0], all[2]};
        const auto views = anchors_.wanted() ? std::span<const named_view<Place>>(all) : std::span(without);
        check_data<Place>(views);
        check_apart<Place>(views, views.size() - 1);
    }
    /// Returns whether all axes have equal spacing: cells of length 1, with integer squares, then give the same order.
    [[nodiscard]] bool is_even(const std::array<double, max_rank>& spacing) const {
        const auto* const first = spacing.data() + options_.batch_axes;
        return std::all_of(first, spacing.data() + image_.rank, [&](double each) { return each == *first; });
    }

    const any_input<Place>& image_;
    const any_output<Place>& out_;
    const any_input<Place>& anchors_;
    const skeleton_options& options_;
    std::array<double, max_rank> spacing_{};
    std::array<border, max_rank> ends_{};
    distance_options distances_;
    skeleton::shape_of_call shape_;
    dtype type_ = dtype::uint32;
};

}  // namespace

void skeletonize(const host& on, const any_input<host>& image, const any_output<host>& out,
                 const skeleton_options& options, const any_input<host>& anchors) {
    in_call([&] { thinning<host>(image, out, options, anchors).run(on); });
}
void skeletonize(const device& on, const any_input<device>& image, const any_output<device>& out,
                 const skeleton_options& options, const any_input<device>& anchors) {
    in_call([&] { thinning<device>(image, out, options, anchors).run(on); });
}

}  // namespace nearfield
