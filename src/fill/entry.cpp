// fill_nearest(): finds the nearest site of each cell, then gathers its elements.
#include <fmt/format.h>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "fill/core.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/fill.hpp"

namespace nearfield {
namespace fill {
namespace {

template <class Place>
void check_views(const any_input<Place>& image, const any_input<Place>& missing, const any_output<Place>& out) {
    check_image<Place>("image", image, std::int64_t{1} << 62);
    check_type("missing", missing.type, {dtype::boolean, dtype::uint8});
    any_input<Place> cells = image;
    if (missing.rank == image.rank - 1) --cells.rank;
    if (!missing.wanted()) fail("missing has no axes; give an array of bool of the image's shape");
    check_same_shape<Place>("missing", missing, cells);
    if (!out.wanted()) fail("out has no axes; give an array of the image's shape");
    check_type("out", out.type, {image.type});
    check_same_shape<Place>("out", out, image);
    const named_view<Place> all[] = {{"image", image}, {"missing", missing}, {"out", out}};
    check_data<Place>(all);
    check_apart<Place>(all, 2);
}

template <class Place>
void solve(const Place& on, const any_input<Place>& image, const any_input<Place>& missing,
           const any_output<Place>& out, const fill_options& options) {
    in_call([&] {
        check_views(image, missing, out);
        distance_options how;
        how.spacing = options.spacing, how.border = options.border;
        how.max_distance = options.max_distance, how.batch_axes = options.batch_axes;
        const std::span<const std::int64_t> shape(missing.shape.data(), static_cast<std::size_t>(missing.rank));
        static_cast<void>(squared_distance_type(shape.data(), missing.rank, how));  // checks the shape
        gathering g{cells_at::of(image), cells_at::of(out)};
        g.cells = missing.cells(), g.channels = missing.rank < image.rank ? image.shape[shape.size()] : 1;
        if (image.cells() == 0) return;
        const expected_outputs outputs{out};
        for (std::size_t axis = static_cast<std::size_t>(options.batch_axes); axis < shape.size(); ++axis)
            g.image_cells *= shape[axis];
        g.wide = g.image_cells >= std::int64_t{1} << 31;
        with_bytes(on, g.cells * (g.wide ? 8 : 4), [&](void* index) {
            fields<Place> wanted;
            wanted.index = any_output<Place>::contiguous(index, g.wide ? dtype::int64 : dtype::int32, shape);
            distance_transform(on, missing, wanted, how);
            g.index = index;
            rehearse_step("cells gathered from their nearest ones");
            gather(on, g);
        });
    });
}

}  // namespace
}  // namespace fill

void fill_nearest(const host& on, const any_input<host>& image, const any_input<host>& missing,
                  const any_output<host>& out, const fill_options& options) {
    fill::solve(on, image, missing, out, options);
}
void fill_nearest(const device& on, const any_input<device>& image, const any_input<device>& missing,
                  const any_output<device>& out, const fill_options& options) {
    fill::solve(on, image, missing, out, options);
}

}  // namespace nearfield
