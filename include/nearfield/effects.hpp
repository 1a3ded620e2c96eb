// Effects from signed distance fields: alpha layers from a shape, painted on a canvas; padding of textures.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {
namespace effects {

/// The side of the outline on which an effect lies.
enum class side : std::uint8_t { outside, inside };

// Lengths are pixels; d is the signed distance, positive inside. Edges are one pixel soft: cover(d) is d + 1/2 clamped
// to [0, 1].

/// A line along the outline: cover(d + outer) - cover(d - inner).
struct outline {
    double inner = 0, outer = 2;  ///< reach to either side of the outline; at least 0
};
/// t^power, where t falls from 1 at the outline to 0 at `radius`. Outside: 1 in the shape; inside: 0 beside it.
struct glow {
    double radius = 12;
    effects::side side = side::outside;
    int power = 2;  ///< 1 to 16; 1 falls evenly, larger powers stay closer to the outline
};
/// The shape moved and blurred: d rises by 3 t^2 - 2 t^3 from 0 at -blur to 1 at blur.
struct shadow {
    double down = 6, right = 6, blur = 6;
    double spread = 0;  ///< growth of the shape before it moves; may be negative
};
/// The brightness of an edge that rises by `width` pixels inwards, minus that of a flat one: -1 to 1.
struct bevel {
    double width = 8;
    double azimuth = 135;   ///< direction of the light, degrees anticlockwise from the right
    double elevation = 45;  ///< elevation of the light above the plane, degrees
    bool round = true;      ///< a quarter of a circle; false: a slope of 45 degrees
};
/// Lines of equal distance, `every` pixels, on one side; each `width` wide.
struct contour {
    double every = 8, width = 1.5;
    effects::side side = side::outside;
};
/// The trace of the shape as it moves from (down, right) to its place: 1 in the shape, falling evenly to 0.
struct trail {
    double down = 0, right = 24;
};
/// The light of a lamp with soft shadows, by sphere tracing: 3 t^2 - 2 t^3 times (1 - (r / reach)^2)^2 at the distance
/// r from the lamp. t is the least of gap / (radius * s / r) on the way, clamped to [0, 1]: the distance to the shape
/// at s pixels from the pixel, divided by the radius of the cone that the lamp's disc makes there.
struct light {
    double row = 0, column = 0;  ///< centre of the lamp; pixel centres are whole numbers
    double radius = 6;           ///< radius of the lamp; a larger one has softer shadows
    double reach = 256;
};
/// Round dots on a rotated square lattice. They cover the share that the field gives, which is a tone in [0, 1] here,
/// not a distance. The tone is read at the centre of each dot.
struct halftone {
    double pitch = 8;
    double angle = 45;  ///< angle of the lattice, degrees anticlockwise
};
using effect = std::variant<outline, glow, shadow, bevel, contour, trail, light, halftone>;

/// Computes the layer of an effect: alpha in [0, 1] for every pixel, of a bevel -1 to 1.
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   field   float32, 2 axes, any strides: what sdf() gives; not changed
///   out     float32, shape of `field`, any strides; may not overlap it
///   border  open: beyond the ends lies the last pixel; periodic: the other end, so that layers tile
///
/// Sums, products and roots of float32 have one order: equal bits on host and device. Time O(pixels), of trails and
/// lights O(pixels * steps). No workspace.
///
/// Throws nearfield::error before any work is started: shapes, types, overlap, numbers that are not finite or out of
/// range.
///
/// Hart, "Sphere tracing", The Visual Computer 12, 1996, for trails and lights.
void layer(const host& on, const any_input<host>& field, const any_output<host>& out, const effect& what,
           const borders& border = {});
void layer(const device& on, const any_input<device>& field, const any_output<device>& out, const effect& what,
           const borders& border = {});

struct pad_options {
    double radius = std::numeric_limits<double>::infinity();  ///< pixels farther from every known one keep their colour
    double least = 0;                                         ///< pixels whose alpha, of 1, exceeds it are known
    borders border{};                                         ///< open or periodic
};

/// Pads the islands of a texture: every pixel that is not known gets the colour of the nearest known one, by the tie
/// rule of distance_transform. Alpha does not change.
///
///   image   shape (rows, columns, channels), uint8, uint16 or float32, any strides; straight alpha, not premultiplied.
///           If there are 2 or 4 channels the last one is alpha
///   known   bool or uint8, shape (rows, columns): pixels that are not zero are known. Required without alpha;
///           otherwise it replaces alpha
///   out     type and shape of `image`; may overlap neither
///
/// Order of work and errors as layer(). Workspace: that of distance_transform and 4 bytes a pixel, 8 from 2^31 on,
/// and without `known` another one.
void pad(const host& on, const any_input<host>& image, const any_output<host>& out, const pad_options& options = {},
         const any_input<host>& known = {});
void pad(const device& on, const any_input<device>& image, const any_output<device>& out,
         const pad_options& options = {}, const any_input<device>& known = {});

// ---- canvases: float32 of shape (rows, columns, 4), contiguous: linear red, green, blue times alpha; alpha ----------

/// A colour in linear light, not multiplied by alpha.
struct colour {
    float red = 0, green = 0, blue = 0, alpha = 1;
};
/// Parses "#f80", "#ff8800" or "#ff8800cc", in sRGB. Throws invalid_argument for other texts.
[[nodiscard]] colour colour_of(std::string_view text);

/// Order in which paint is composed: over the canvas, under it, or as light added to it.
enum class blend : std::uint8_t { over, under, add };

/// Paints a layer in one colour. The amount is `with.alpha` times the layer's value, clamped to [0, 1]. A negative
/// alpha paints where the layer is negative, as on the dark sides of a bevel.
void paint(const host& on, const any_output<host>& canvas, const any_input<host>& layer, const colour& with,
           blend how = blend::over);
/// Makes a canvas from an sRGB image, and back: shape (rows, columns, 1 to 4 channels: gray, gray and alpha, RGB,
/// RGBA), uint8 or uint16, straight alpha, contiguous. encode() writes 4 channels, or 3 over black; rounded to nearest.
void decode(const host& on, const any_input<host>& image, const any_output<host>& canvas);
void encode(const host& on, const any_input<host>& canvas, const any_output<host>& image);

}  // namespace effects
}  // namespace nearfield
