// Computes a pixel of a picture; host and device share it.
#pragma once

#include "nearfield/render.hpp"
#include "render/core.hpp"

namespace nearfield::pictures {

struct vec {
    double z = 0, y = 0, x = 0;

    NF_HD friend vec operator+(vec a, vec b) { return {a.z + b.z, a.y + b.y, a.x + b.x}; }
    NF_HD friend vec operator*(double k, vec a) { return {k * a.z, k * a.y, k * a.x}; }
};
NF_HD inline double dot(vec a, vec b) { return a.z * b.z + a.y * b.y + a.x * b.x; }
NF_HD inline vec unit(vec a) {
    const double length = std::sqrt(dot(a, a));
    return length > 0 ? (1 / length) * a : vec{};
}

struct paint {
    double red = 0, green = 0, blue = 0;

    NF_HD friend paint operator*(double k, paint a) { return {k * a.red, k * a.green, k * a.blue}; }
    NF_HD friend paint operator+(paint a, paint b) { return {a.red + b.red, a.green + b.green, a.blue + b.blue}; }
};

inline constexpr double quarters = 4;  ///< distances kept as bytes count this part of a cell's narrowest side

/// A camera's place, and the size of its picture.
struct viewpoint {
    std::int64_t width = 1, height = 1;
    vec eye, forward, right, down;  ///< right and down are as long as a pixel's side at distance 1

    /// Direction through a place of the picture, of length 1.
    NF_HD vec towards(double row, double column) const {
        const double v = row - static_cast<double>(height) / 2, u = column - static_cast<double>(width) / 2;
        return unit(forward + (u * right + v * down));
    }
    /// The line in cells with sides `h` from the eye; t is the distance from it.
    NF_HD line from_eye(vec direction, const double* h) const {
        return {{eye.z / h[0], eye.y / h[1], eye.x / h[2]},
                {direction.z / h[0], direction.y / h[1], direction.x / h[2]}};
    }
};

/// Colour and opacity of a value of a cloud.
struct tint {
    paint colour;
    double opacity = 0;
};
/// A point of a transfer function. Adjacent points without opacity between them have the same zone.
struct tint_point {
    double value, red, green, blue, opacity;
    int zone;
};
inline constexpr int most_points = 32;

/// A picture to be drawn.
struct scene : viewpoint {
    surface what;
    render_mode mode = render_mode::surface;
    std::int64_t step[3] = {};
    std::uint8_t* picture = nullptr;
    vec light;
    double pixel = 0;  ///< side of a pixel at distance 1
    /// Distances to the surface's inside in quarters of the narrowest side, at most 255. Null: the field is a distance
    /// itself, or none is wanted.
    const std::uint8_t* clear = nullptr;
    double narrow = 1;  ///< the narrowest side of a cell
    double shadows = 0, ambient = 0;
    paint colour, background;
    std::uint8_t map[768];
    double low = 0, high = 1, opacity = 0.1, interval = 0.1;
    int points = 0;  ///< of the transfer function; 0: the map, and an opacity that rises from the level
    tint_point point[most_points];
    int samples = 1;
    int cut = -1;  ///< axis of the cut, or -1
    double cut_at = 0;
    bool cut_low = true;  ///< true if the cut removes smaller coordinates

    /// Colour of a value. Pictures are computed in linear light, the square of stored values (gamma 2).
    NF_HD paint mapped(double value) const {
        const double place = (value - low) / (high - low) * 255;
        const double kept = place > 0 ? (place < 255 ? place : 255) : 0;
        const auto index = static_cast<int>(kept);
        const int next = index < 255 ? index + 1 : 255;
        const double share = kept - index;
        double c[3];
        for (int k = 0; k < 3; ++k) {
            const double v = (map[3 * index + k] + share * (map[3 * next + k] - map[3 * index + k])) / 255;
            c[k] = v * v;
        }
        return {c[0], c[1], c[2]};
    }
    /// Number of the last point of the transfer function that does not exceed a value, or 0.
    NF_HD int point_below(double value) const {
        int k = 0;
        while (k + 1 < points && !(value < point[k + 1].value)) ++k;
        return k;
    }
    NF_HD tint tint_of(double value) const {
        if (points == 0) {
            const double rise = (value - what.level) / (high - what.level), most = rise < 1 ? rise : 1;
            return {mapped(value), most * (opacity < 1 ? opacity : 1)};
        }
        const int k = point_below(value);
        const tint_point &a = point[k], &b = point[k + 1 < points ? k + 1 : k];
        const double share = value > a.value && b.value > a.value ? (value - a.value) / (b.value - a.value) : 0;
        const auto between = [&](double from, double to) { return from + share * (to - from); };
        const double red = between(a.red, b.red), green = between(a.green, b.green), blue = between(a.blue, b.blue);
        return {{red * red, green * green, blue * blue}, between(a.opacity, b.opacity)};
    }
    /// A byte for a cell. A block of cells is free if all of its bytes are 0 or, with a transfer function, if they are
    /// the same bit: then no opacity lies between their values either. NaN counts as large.
    NF_HD std::uint8_t mark_of(double value) const {
        if (points == 0) return value < what.level ? 0 : 1;
        const int zone = point[point_below(value < 1e18 ? value : 1e18)].zone;
        return zone < 6 && !(tint_of(value).opacity > 0) ? static_cast<std::uint8_t>(1 << zone) : 0xc0;
    }
    /// Whether the union of a block's bytes says that it is not free.
    NF_HD bool is_taken(std::uint8_t bytes) const { return points == 0 ? bytes != 0 : (bytes & (bytes - 1)) != 0; }
};

// ---- the surface ----------------------------------------------------------------------------------------------------

NF_HD inline float in_float(std::uint8_t value) { return value; }
NF_HD inline float in_float(float value) { return value < 1e18F ? (value > -1e18F ? value : -1e18F) : 1e18F; }

/// Adds the gradient of the field smoothed by a cubic B-spline, which reads 64 cells, up to two cells away; per cell.
/// It is computed in float, from values less the level, which are small near the surface.
template <class T>
NF_HD inline void add_slope(const surface& s, const double* point, float* g) {
    const volume& f = s.field;
    const auto level = static_cast<float>(s.level);
    constexpr float sixth = 1.0F / 6;
    float weight[3][4], slope[3][4];
    std::int64_t at[3][4];  // offsets
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t base = base_of(point[axis], f.size[axis]);
        const auto inside = static_cast<float>(point[axis] - static_cast<double>(base));
        const float a = inside < 0 ? 0 : inside > 1 ? 1 : inside, b = 1 - a;
        weight[axis][0] = b * b * b * sixth, weight[axis][1] = (4 - a * a * (6 - 3 * a)) * sixth;
        weight[axis][2] = (4 - b * b * (6 - 3 * b)) * sixth, weight[axis][3] = a * a * a * sixth;
        slope[axis][0] = -b * b / 2, slope[axis][1] = a * (3 * a - 4) / 2;
        slope[axis][2] = -(b * (3 * b - 4)) / 2, slope[axis][3] = a * a / 2;
        for (int k = 0; k < 4; ++k) at[axis][k] = clamped(base + k - 1, f.size[axis] - 1) * f.step[axis];
    }
    for (int z = 0; z < 4; ++z)
        for (int y = 0; y < 4; ++y) {
            const T* const from = static_cast<const T*>(f.data) + (at[0][z] + at[1][y]);
            float sum = 0, tilt = 0;
            for (int x = 0; x < 4; ++x) {
                const float v = in_float(from[at[2][x]]) - level;
                sum += weight[2][x] * v, tilt += slope[2][x] * v;
            }
            g[0] += slope[0][z] * weight[1][y] * sum, g[1] += weight[0][z] * slope[1][y] * sum;
            g[2] += weight[0][z] * weight[1][y] * tilt;
        }
}
/// Unit normal towards free space: averages slopes around a point, so that the steps of a mask's cells do not show.
NF_HD inline vec normal_at(const surface& s, const double* point) {
    constexpr double away = 1.1;
    float g[3] = {0, 0, 0};
    for (int k = 0; k < 4; ++k) {
        const double z = k < 2 ? away : -away, y = k % 2 == 0 ? away : -away, x = k == 0 || k == 3 ? away : -away;
        const double beside[3] = {point[0] + z, point[1] + y, point[2] + x};
        if (s.field.bytes) add_slope<std::uint8_t>(s, beside, g);
        else add_slope<float>(s, beside, g);
    }
    const double* h = s.field.length;
    return unit({s.sense * g[0] / h[0], s.sense * g[1] / h[1], s.sense * g[2] / h[2]});
}

/// A line of shades, in cells and in float, which is precise enough for them.
struct beam {
    float from[3], way[3];

    NF_HD beam(const scene& s, vec place, vec direction) {
        const double *h = s.what.field.length, at[] = {place.z, place.y, place.x},
                     to[] = {direction.z, direction.y, direction.x};
        for (int axis = 0; axis < 3; ++axis)
            from[axis] = static_cast<float>(at[axis] / h[axis]), way[axis] = static_cast<float>(to[axis] / h[axis]);
    }
};

/// Distance from a point of a beam to the surface, at most 63 of the narrowest sides; negative inside if the field is a
/// distance. Infinite outside the grid.
NF_HD inline float clearance(const scene& s, const beam& b, float t) {
    const volume& f = s.what.field;
    std::int32_t base[3];
    float point[3], share[3];
    for (int axis = 0; axis < 3; ++axis) {
        point[axis] = b.from[axis] + t * b.way[axis];
        const auto size = static_cast<std::int32_t>(f.size[axis]);
        if (!(point[axis] >= 0 && point[axis] <= static_cast<float>(size - 1)))
            return std::numeric_limits<float>::infinity();
        const auto whole = static_cast<std::int32_t>(point[axis]), most = size > 1 ? size - 2 : 0;
        base[axis] = whole < most ? whole : most, share[axis] = point[axis] - static_cast<float>(base[axis]);
    }
    if (s.clear == nullptr) {
        const double at[] = {point[0], point[1], point[2]};
        const std::int64_t first[] = {base[0], base[1], base[2]};
        return static_cast<float>(cell_at(s.what, first, at).value());
    }
    const std::int64_t x = f.size[2] > 1 ? 1 : 0, y = f.size[1] > 1 ? f.size[2] : 0,
                       z = f.size[0] > 1 ? f.size[1] * f.size[2] : 0;
    const std::uint8_t* const first = s.clear + (base[0] * f.size[1] + base[1]) * f.size[2] + base[2];
    const auto along = [&](const std::uint8_t* from) {
        const float low = from[0];
        return low + share[2] * (static_cast<float>(from[x]) - low);
    };
    const auto across = [&](const std::uint8_t* from) {
        const float low = along(from);
        return low + share[1] * (along(from + y) - low);
    };
    const float low = across(first), quarter = low + share[0] * (across(first + z) - low);
    return quarter * static_cast<float>(s.narrow / quarters);
}

/// Share of the light that reaches a place: the least ratio of clearance to distance along the ray, scaled.
NF_HD inline double lit(const scene& s, vec place, vec normal) {
    constexpr float blur = 8;
    const auto narrow = static_cast<float>(s.narrow);
    float free = 1, t = narrow;
    const beam ray(s, place + (1.5 * s.narrow) * normal, s.light);
    for (int step = 0; step < 200; ++step) {
        const float near = clearance(s, ray, t);
        if (near < 0.02F * narrow) return 0;
        if (near == std::numeric_limits<float>::infinity()) break;
        if (blur * near < free * t) free = blur * near / t;
        if (free < 1.0F / 64) return 0;  // less than a quarter of a byte's step
        t += near > 0.5F * narrow ? near : 0.5F * narrow;
    }
    return free * free * (3 - 2 * free);
}

/// Share of the sky that a place sees: compares clearances along its normal with those in open space.
NF_HD inline double open_sky(const scene& s, vec place, vec normal) {
    float hidden = 0, weight = 0.5F, reach = 2 * static_cast<float>(s.narrow);
    const beam ray(s, place, normal);
    for (int k = 0; k < 5; ++k) {
        const float near = clearance(s, ray, reach), lack = (reach - near) / reach;
        if (lack > 0) hidden += weight * (lack < 1 ? lack : 1);
        weight = weight * 0.75F, reach = reach * 1.9F;
    }
    const float share = 1 - hidden * 0.9F;
    return share > 0 ? share : 0;
}

NF_HD inline paint shaded(const scene& s, vec place, vec normal, vec towards, paint colour) {
    const double sun = dot(normal, s.light), sky = s.ambient > 0 ? 1 - s.ambient * (1 - open_sky(s, place, normal)) : 1;
    double direct = sun > 0 ? sun : 0;
    if (direct > 0 && s.shadows > 0) direct = direct * (1 - s.shadows * (1 - lit(s, place, normal)));
    const double above = 0.5 - 0.5 * dot(normal, s.down) / std::sqrt(dot(s.down, s.down));
    const vec between = unit(s.light + towards);
    double shine = dot(normal, between);
    shine = shine > 0 ? shine * shine : 0, shine = shine * shine, shine = shine * shine, shine = shine * shine;
    const double ground = sky * (0.2 + 0.25 * above);
    return (ground + 0.8 * direct) * colour + (0.12 * direct * shine) * paint{1, 1, 1};
}

// ---- the three kinds of pictures ------------------------------------------------------------------------------------

NF_HD inline vec place_of(const scene& s, const line& l, double t) {
    const double* h = s.what.field.length;
    return {l.at(0, t) * h[0], l.at(1, t) * h[1], l.at(2, t) * h[2]};
}

NF_HD inline paint surface_colour(const scene& s, const line& l, const passage& p, vec towards) {
    const meeting m = meet(s.what, l, p);
    if (!m.hit()) return s.background;
    double point[3];
    for (int axis = 0; axis < 3; ++axis) point[axis] = l.at(axis, m.t);
    vec normal = normal_at(s.what, point);
    if (m.at_entry && p.face >= 0) {
        const double along = p.face == 0 ? l.d[0] : p.face == 1 ? l.d[1] : l.d[2], away = along > 0 ? -1 : 1;
        normal = {p.face == 0 ? away : 0, p.face == 1 ? away : 0, p.face == 2 ? away : 0};
    }
    return shaded(s, place_of(s, l, m.t), normal, towards, s.colour);
}

/// Colour of a cloud. Samples lie at fixed places of the line, half a cell's side apart, even if some are skipped.
NF_HD inline paint cloud_colour(const scene& s, const line& l, const passage& p, vec towards) {
    paint sum;
    double through_all = 1;
    if (!(p.first <= p.last)) return s.background;
    const double apart = 0.5 * s.narrow;
    auto k = static_cast<std::int64_t>(p.first / apart) + 1;
    walk w(s.what, l, p.first);
    while (static_cast<double>(k) * apart <= p.last && through_all > 0.004) {
        w.go_to(static_cast<double>(k) * apart);
        const volume& f = s.what.field;
        if (const std::int64_t wide = w.free_blocks(); wide > 0) {
            double when = 0;
            w.exit(wide, when);
            const auto next =
                when < p.last ? static_cast<std::int64_t>(when / apart) : static_cast<std::int64_t>(p.last / apart);
            k = next > k ? next : k + 1;
            continue;
        }
        ++k;
        double point[3];
        w.point(point);
        const cell c = cell_at(s.what, w.base, point);
        const double value = s.what.level - c.value();  // c.value() has the sense -1
        const tint own = s.tint_of(value);
        if (!(own.opacity > 0)) continue;
        const double alpha = 1 - std::sqrt(1 - own.opacity);  // of half a side
        double g[3];
        c.gradient(g);
        const vec normal = unit({g[0] / f.length[0], g[1] / f.length[1], g[2] / f.length[2]});
        const double facing = dot(normal, s.light), sun = facing > 0 ? facing : 0;
        const vec between = unit(s.light + towards);
        double shine = dot(normal, between);
        shine = shine > 0 ? shine * shine : 0, shine = shine * shine, shine = shine * shine;
        const paint colour = (0.55 + 0.6 * sun) * own.colour + (0.15 * shine) * paint{1, 1, 1};
        sum = sum + (through_all * alpha) * colour;
        through_all = through_all * (1 - alpha);
    }
    return sum + through_all * s.background;
}

NF_HD inline paint isoline_colour(const scene& s, const line& l, passage p, vec towards) {
    const double d = l.d[s.cut], away = s.cut_at - l.o[s.cut];
    const double crossing = d != 0 ? away / d : std::numeric_limits<double>::infinity();
    if (s.cut_low == (d > 0) && d != 0) {  // the line goes from the removed side to the kept one
        if (crossing > p.last) return s.background;
        if (crossing >= p.first) {
            const volume& f = s.what.field;
            double point[3];
            std::int64_t base[3];
            for (int axis = 0; axis < 3; ++axis)
                point[axis] = axis == s.cut ? s.cut_at : l.at(axis, crossing),
                base[axis] = base_of(point[axis], f.size[axis]);
            const cell c = cell_at(s.what, base, point);
            const double value = s.what.level + s.what.sense * c.value();
            double g[3];
            c.gradient(g);
            vec slope{g[0] / f.length[0], g[1] / f.length[1], g[2] / f.length[2]};
            (s.cut == 0 ? slope.z : s.cut == 1 ? slope.y : slope.x) = 0;
            const double steep = std::sqrt(dot(slope, slope)), reach = crossing * s.pixel;
            const auto ink = [&](double off, double width) {
                const double dark = width + 0.5 - std::fabs(off) / (steep * reach + 1e-12);
                return dark > 0 ? (dark < 1 ? dark : 1) : 0;
            };
            const double turns = std::floor((value - s.what.level) / s.interval + 0.5);
            const double line_ink = 0.6 * ink(value - s.what.level - turns * s.interval, 0.4);
            const double edge = ink(value - s.what.level, 1.2), most = edge > line_ink ? edge : line_ink;
            return (1 - most) * s.mapped(value);
        }
    } else if (s.cut_low != (d > 0) && crossing < p.last) {
        p.last = crossing;  // the line goes from the kept side to the removed one
    }
    if (d == 0 && (l.o[s.cut] < s.cut_at) == s.cut_low) return s.background;
    return surface_colour(s, l, p, towards);
}

NF_HD inline std::uint8_t byte_of(double light) {
    const double root = std::sqrt(light > 0 ? light : 0) * 255 + 0.5;
    return static_cast<std::uint8_t>(root < 255 ? root : 255);
}

/// Draws a pixel of a scene whose mode is `mode`, which is a constant where that saves registers.
NF_HD inline void draw(const scene& s, render_mode mode, std::int64_t row, std::int64_t column) {
    paint sum;
    for (int k = 0; k < s.samples * s.samples; ++k) {
        const vec towards = s.towards(static_cast<double>(row) + (k / s.samples + 0.5) / s.samples,
                                      static_cast<double>(column) + (k % s.samples + 0.5) / s.samples);
        const line l = s.from_eye(towards, s.what.field.length);
        const passage p = through(s.what.field, l);
        const vec back = -1.0 * towards;
        sum = sum + (mode == render_mode::volume     ? cloud_colour(s, l, p, back)
                     : mode == render_mode::isolines ? isoline_colour(s, l, p, back)
                                                     : surface_colour(s, l, p, back));
    }
    std::uint8_t* const to = s.picture + row * s.step[0] + column * s.step[1];
    const double each = 1.0 / (s.samples * s.samples);
    to[0] = byte_of(sum.red * each), to[s.step[2]] = byte_of(sum.green * each),
    to[2 * s.step[2]] = byte_of(sum.blue * each);
}

}  // namespace nearfield::pictures
