// The public calls: each is one or two thresholds of exact distances, which the engine's last pass writes as bits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/rehearsal.hpp"
#include "base/share.hpp"
#include "morphology/core.hpp"
#include "nearfield/morphology.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield {
namespace {

template <class Place>
class ball {
public:
    ball(const Place& on, const any_input<Place>& image, double radius, const any_output<Place>& out,
         const morphology_options& options)
        : on_(on), image_(image), out_(out), options_(options), bits_(out) {
        check(radius);
        bits_.type = dtype::boolean;
        limits_.spacing = options.spacing, limits_.border = options.border;
        limits_.max_distance = radius, limits_.batch_axes = options.batch_axes;
    }

    void erode() const {
        if (!options_.labels) {
            within(image_, sites::zero, bits_, 0, 1);
            return choose(bits_, morphology::kept::unmarked, {}, out_);
        }
        with_marks([&](const any_output<Place>& marks) {
            within(image_, sites::other_labels, marks, 0, 1);
            choose(marks, morphology::kept::unmarked, image_, out_);
        });
    }

    void dilate() const {
        if (options_.labels) grow(0, 1);
        else within(image_, sites::nonzero, bits_, 0, 1);
    }

    /// Opens the mask or labels. The cells that the erosion keeps are those without a mark.
    void open() const {
        with_marks([&](const any_output<Place>& marks) {
            within(image_, options_.labels ? sites::other_labels : sites::zero, marks, 0, 0.5);
            if (!options_.labels) return within(marks, sites::zero, bits_, 0.5, 0.5);
            // A cell within the radius of a cell of an eroded label has that label, so marks suffice.
            with_marks([&](const any_output<Place>& opened) {
                within(marks, sites::zero, opened, 0.5, 0.5);
                choose(opened, morphology::kept::marked, image_, out_);
            });
        });
    }

    void close() const {
        with_marks([&](const any_output<Place>& dilated) {
            within(image_, sites::nonzero, dilated, 0, options_.labels ? 0.3 : 0.5);
            if (!options_.labels) {
                within(dilated, sites::zero, bits_, 0.5, 0.5);
                return choose(bits_, morphology::kept::unmarked, {}, out_);
            }
            with_marks([&](const any_output<Place>& beside) {
                within(dilated, sites::zero, beside, 0.3, 0.3);
                grow(0.6, 0.4);
                choose(beside, morphology::kept::unmarked, out_, out_);
            });
        });
    }

private:
    void check(double radius) const {
        if (!(radius >= 0)) fail(fmt::format("radius is {}; give a length of at least 0", radius));
        check_image<Place>("image", image_, std::int64_t{1} << 31);
        if (!out_.wanted()) fail("out has no axes; give an array of the image's shape");
        check_same_shape<Place>("out", out_, image_);
        if (options_.labels && image_.type >= dtype::float16)
            fail(fmt::format("image has element type {}, which holds no labels; give integers, or leave labels out",
                             name_of(image_.type)));
        if (options_.labels) check_type("out", out_.type, {image_.type});
        else check_type("out", out_.type, {dtype::boolean, dtype::uint8});
        const named_view<Place> all[] = {{"image", image_}, {"out", out_}};
        check_data<Place>(all);
        check_apart<Place>(all);
    }

    /// Marks the cells with a site within the radius. A second step reads the marks of the first, and sees no sites
    /// beyond closed ends.
    void within(const any_input<Place>& image, sites rule, const any_output<Place>& marks, double from,
                double share) const {
        distance_options how = limits_;
        how.sites = rule;
        if (image.data != image_.data) how.border = ends_of_second();
        fields<Place> out;
        out.distance = marks;
        distance_transform(part_of(on_, from, share), image, out, how);
    }
    [[nodiscard]] borders ends_of_second() const {
        const auto given = static_cast<std::size_t>(options_.border.count());
        std::array<border, max_rank> ends{};
        for (std::size_t axis = 0; axis < std::min(given, ends.size()); ++axis) {
            ends[axis] = options_.border[static_cast<int>(axis)];
            if (ends[axis] == border::closed) ends[axis] = border::open;
        }
        return {ends.data(), given};
    }
    void grow(double from, double share) const {
        fields<Place> out;
        out.label = out_;
        voronoi(part_of(on_, from, share), image_, out, limits_);
    }
    void choose(const any_input<Place>& marks, morphology::kept which, const any_input<Place>& from,
                const any_output<Place>& out) const {
        rehearse_step("cells chosen by marks");
        if (image_.cells() > 0) morphology::choose(on_, marks, which, from, out);
    }
    template <class Use>
    void with_marks(const Use& use) const {
        const std::span<const std::int64_t> shape(image_.shape.data(), static_cast<std::size_t>(image_.rank));
        with_bytes(on_, std::max<std::int64_t>(image_.cells(), 1),
                   [&](void* memory) { use(any_output<Place>::contiguous(memory, dtype::boolean, shape)); });
    }

    const Place& on_;
    const any_input<Place>& image_;
    const any_output<Place>& out_;
    const morphology_options& options_;
    any_output<Place> bits_;
    distance_options limits_;
};

}  // namespace

void erosion(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
             const morphology_options& options) {
    in_call([&] { ball<host>(on, image, radius, out, options).erode(); });
}
void erosion(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
             const morphology_options& options) {
    in_call([&] { ball<device>(on, image, radius, out, options).erode(); });
}
void dilation(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
              const morphology_options& options) {
    in_call([&] { ball<host>(on, image, radius, out, options).dilate(); });
}
void dilation(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
              const morphology_options& options) {
    in_call([&] { ball<device>(on, image, radius, out, options).dilate(); });
}
void opening(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
             const morphology_options& options) {
    in_call([&] { ball<host>(on, image, radius, out, options).open(); });
}
void opening(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
             const morphology_options& options) {
    in_call([&] { ball<device>(on, image, radius, out, options).open(); });
}
void closing(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
             const morphology_options& options) {
    in_call([&] { ball<host>(on, image, radius, out, options).close(); });
}
void closing(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
             const morphology_options& options) {
    in_call([&] { ball<device>(on, image, radius, out, options).close(); });
}

}  // namespace nearfield
