// Pictures of volumes: lit surfaces, clouds, and cuts with isolines.
#pragma once

#include <cstdint>
#include <span>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// The view of a picture. Positions are in units of the spacing, in array order, from the centre of cell 0.
struct camera {
    double eye[3] = {}, target[3] = {}, up[3] = {1, 0, 0};
    double field_of_view = 30;  ///< from the lower to the upper edge, in degrees
};

/// Makes a camera that has the whole volume in its picture, which is `aspect` times as wide as high. The first axis
/// points up. It looks along the second axis from its far end, `turn` degrees round the first axis towards the far end
/// of the last one, and from `elevation` degrees above. Throws nearfield::error unless there are 3 axes and angles are
/// finite.
[[nodiscard]] camera camera_for(const std::int64_t* shape, int rank, const nearfield::spacing& spacing = {},
                                double turn = 35, double elevation = 25, double aspect = 1);

enum class render_mode : std::uint8_t {
    surface,  ///< the surface where the volume has the value `threshold`, lit
    volume,   ///< the whole volume as a cloud: values above `threshold` in the colours of the map, or `transfer`
    isolines  ///< the volume cut open across the axis that faces the camera most: values and isolines there
};

struct rgb {
    double red = 1, green = 1, blue = 1;  ///< 0 to 1, as in a picture
};

/// A point of a transfer function.
struct transfer_point {
    double value = 0;
    rgb colour{};
    double opacity = 0;  ///< 0 to 1, of a way as long as a cell's narrowest side
};

struct render_options {
    render_mode mode = render_mode::surface;
    nearfield::spacing spacing{};
    nearfield::camera camera{};  ///< see camera_for()
    double threshold = 0.5;
    /// The volume is a distance field: cells below the threshold are inside, rays step by its values, and it casts the
    /// shadows. Otherwise cells of at least the threshold are inside, and rays skip cubes without such cells.
    bool distance_field = false;
    double light[3] = {-0.8, -0.45, -0.4};  ///< direction to the light, in array order
    bool light_from_camera = true;          ///< `light` counts up, right and back from the camera's view instead
    double shadows = 0.8, ambient = 0.7;    ///< darkness of shadows and corners, 0 to 1
    rgb colour{0.86, 0.82, 0.76}, background{1, 1, 1};
    /// 256 colours, 3 bytes each, from value `low` to `high`; empty: from black to white. The caller's memory on the
    /// host, read during the call.
    std::span<const std::uint8_t> colormap{};
    double low = 0, high = 1;
    double opacity = 0.1;  ///< opacity of a cell at `high` in a cloud; it rises evenly from `threshold`
    /// Colours and opacities of a cloud by value: 2 to 32 points, in ascending order of their values. Both are linear
    /// from point to point, and those of the first and the last point hold beyond these; two points with the same value
    /// make a step. Then `threshold`, `colormap`, `low`, `high` and `opacity` are not used, and rays skip the parts
    /// whose opacity is 0. The caller's memory on the host, read during the call.
    std::span<const transfer_point> transfer{};
    double interval = 0.1;  ///< difference of values between isolines
    int samples = 1;        ///< rays a pixel along each side, 1 to 8
};

/// Renders a volume.
///
/// The field is linear between the centres of cells. Shadows and ambient light use the distance to the surface: a
/// shadow is soft where the ray to the light passes near a surface, and a corner is dark where cells along its normal
/// are nearer to a surface than they would be in the open. Each call recomputes distances and cubes to skip for its
/// threshold.
///
///   on       host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   volume   uint8, bool or float32, 3 axes, any strides; not changed. Values that are not finite count as large
///   picture  uint8, shape (height, width, 3), any strides
///
/// Values are computed in double, each operation rounded once and in the same order: the same bytes on host and device,
/// for any number of threads.
///
/// Time: O(cells) for the distances; a step of a ray crosses a cube of blocks of 2^3 cells, or free space. Workspace:
/// 5/4 bytes a cell and that of chessboard_distance for an eighth of the cells; shadows and ambient light of a volume
/// that is not a distance field take 5 more and that of distance_transform.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; no memory; no GPU.
///
/// Levoy, "Display of surfaces from volume data", IEEE CG&A 8(3), 1988; Deakin, Knackstedt, "Efficient ray casting of
/// volumetric images using distance maps for empty space skipping", Computational Visual Media 6, 2020, for cubes made
/// anew.
void render(const host& on, const any_input<host>& volume, const any_output<host>& picture,
            const render_options& options = {});
void render(const device& on, const any_input<device>& volume, const any_output<device>& picture,
            const render_options& options = {});

}  // namespace nearfield
