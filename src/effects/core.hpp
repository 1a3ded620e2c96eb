// Code shared by host and device: the formulas of layers, and the values of padded pixels.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/annotate.hpp"
#include "base/quotient.hpp"
#include "nearfield/effects.hpp"

namespace nearfield::effects {

/// Number of steps of the table of dots' radii by tone.
inline constexpr int tones = 64;

/// A layer to compute, with everything that does not depend on the pixel.
struct layer_work {
    const float* field;
    float* out;
    std::int64_t rows, columns, row_step, column_step, out_row_step, out_column_step;
    bool wraps[2];
    int kind;    ///< index in `effect`
    float p[6];  ///< parameters of the effect
    bool flag;
    int power;
    float dot[tones + 1];  ///< radius of a dot by tone, in pitches

    NF_HD std::int64_t row(std::int64_t y) const { return within(y, rows, wraps[0]); }
    NF_HD std::int64_t column(std::int64_t x) const { return within(x, columns, wraps[1]); }
    NF_HD float at(std::int64_t y, std::int64_t x) const { return field[row(y) * row_step + column(x) * column_step]; }
    /// Interpolates between pixels; never mixes infinities with finite values.
    NF_HD float sample(float y, float x) const {
        const float fy = std::floor(y), fx = std::floor(x), ty = y - fy, tx = x - fx;
        const auto iy = static_cast<std::int64_t>(fy), ix = static_cast<std::int64_t>(fx);
        const float a = at(iy, ix), b = at(iy, ix + 1), c = at(iy + 1, ix), d = at(iy + 1, ix + 1);
        if (!(a - a == 0 && b - b == 0 && c - c == 0 && d - d == 0)) return a;
        return (a * (1 - tx) + b * tx) * (1 - ty) + (c * (1 - tx) + d * tx) * ty;
    }

private:
    NF_HD static std::int64_t within(std::int64_t at, std::int64_t size, bool wrap) {
        if (at >= 0 && at < size) return at;
        if (!wrap) return at < 0 ? 0 : size - 1;
        at %= size;
        return at < 0 ? at + size : at;
    }
};

NF_HD inline float clamped(float v) { return v > 0 ? (v < 1 ? v : 1) : 0; }
NF_HD inline float cover(float d) { return clamped(d + 0.5F); }
NF_HD inline float smooth(float t) { return t * t * (3 - 2 * t); }
NF_HD inline float distance_between(float y, float x) { return std::sqrt(y * y + x * x); }

NF_HD inline float glow_of(const layer_work& w, float d) {
    const float t = w.flag ? clamped(1 - d / w.p[0]) : clamped(1 + d / w.p[0]);
    float value = 1;
    for (int k = 0; k < w.power; ++k) value *= t;
    return w.flag ? value * cover(d) : value;
}

NF_HD inline float shadow_of(const layer_work& w, std::int64_t y, std::int64_t x) {
    const float d = w.sample(static_cast<float>(y) - w.p[0], static_cast<float>(x) - w.p[1]) + w.p[3];
    return w.p[2] <= 0.5F ? cover(d) : smooth(clamped((d + w.p[2]) / (2 * w.p[2])));
}

NF_HD inline float bevel_of(const layer_work& w, std::int64_t y, std::int64_t x, float d) {
    const float t = d / w.p[0];
    if (!(d > -0.5F) || t >= 1) return 0;
    const float gy = (w.at(y + 1, x) - w.at(y - 1, x)) / 2, gx = (w.at(y, x + 1) - w.at(y, x - 1)) / 2;
    if (!(gy - gy == 0 && gx - gx == 0)) return 0;
    const float rest = t > 0 ? 1 - t : 1, under = 1 - rest * rest;
    const float slope = w.flag ? rest / std::sqrt(under > 0.04F ? under : 0.04F) : 1;
    const float ny = -slope * gy, nx = -slope * gx, length = std::sqrt(ny * ny + nx * nx + 1);
    const float shade = ((ny * w.p[1] + nx * w.p[2] + w.p[3]) / length - w.p[3]) * cover(d);
    return shade > -1 ? shade : -1;
}

NF_HD inline float contour_of(const layer_work& w, float d) {
    const float away = w.flag ? d : -d;
    if (!(away > -w.p[1]) || !(away - away == 0)) return 0;
    const float turns = away / w.p[0], rest = turns - std::floor(turns + 0.5F);
    return clamped(w.p[1] / 2 - (rest < 0 ? -rest : rest) * w.p[0] + 0.5F);
}

NF_HD inline float trail_of(const layer_work& w, std::int64_t y, std::int64_t x) {
    const float length = distance_between(w.p[0], w.p[1]);
    float best = cover(w.at(y, x));
    if (length == 0) return best;
    for (float s = 0; s < length;) {
        const float share = s / length;
        const float d = w.sample(static_cast<float>(y) - share * w.p[0], static_cast<float>(x) - share * w.p[1]);
        const float value = cover(d) * (1 - share);
        if (value > best) best = value;
        if (d >= 0.5F) break;
        const float safe = -d - 0.5F;
        s += safe > 0.5F ? safe : 0.5F;
    }
    return best;
}

/// Light at a pixel: the narrowest gap on the way to the lamp, as a share of the width of the cone of light there.
NF_HD inline float light_of(const layer_work& w, std::int64_t y, std::int64_t x) {
    const auto fy = static_cast<float>(y), fx = static_cast<float>(x);
    const float dy = w.p[0] - fy, dx = w.p[1] - fx, length = distance_between(dy, dx);
    const float near = 1 - (length / w.p[3]) * (length / w.p[3]);
    if (!(near > 0) || w.at(y, x) >= 0.5F) return 0;
    float free = 1;
    for (float s = 1; s < length && free > 0;) {
        const float share = s / length, clear = -w.sample(fy + share * dy, fx + share * dx);
        const float seen = clear / (w.p[2] * share);
        if (seen < free) free = seen;
        s += clear > 1 ? clear / 2 : 0.5F;  // steps shorter than the free distance find narrow gaps
    }
    return smooth(clamped(free)) * near * near * cover(-w.at(y, x));
}

NF_HD inline float halftone_of(const layer_work& w, std::int64_t y, std::int64_t x) {
    const auto fy = static_cast<float>(y), fx = static_cast<float>(x);
    const float v = (fx * w.p[2] - fy * w.p[1]) / w.p[0], u = (fx * w.p[1] + fy * w.p[2]) / w.p[0];
    float best = 0;
    for (int k = 0; k < 4; ++k) {  // dots reach beyond their own square
        const float cu = std::floor(u) + static_cast<float>(k / 2), cv = std::floor(v) + static_cast<float>(k % 2);
        const float my = (cu * w.p[2] - cv * w.p[1]) * w.p[0], mx = (cu * w.p[1] + cv * w.p[2]) * w.p[0];
        const float tone = clamped(w.sample(my, mx)) * tones;
        const int low = tone < tones ? static_cast<int>(tone) : tones - 1;
        const float radius = w.dot[low] + (w.dot[low + 1] - w.dot[low]) * (tone - static_cast<float>(low));
        const float value = radius > 0 ? cover(radius * w.p[0] - distance_between(my - fy, mx - fx)) : 0;
        if (value > best) best = value;
    }
    return best;
}

NF_HD inline void shade(const layer_work& w, std::int64_t y, std::int64_t x) {
    const float d = w.at(y, x);
    float value = 0;
    switch (w.kind) {
        case 0: value = cover(d + w.p[1]) - cover(d - w.p[0]); break;
        case 1: value = glow_of(w, d); break;
        case 2: value = shadow_of(w, y, x); break;
        case 3: value = bevel_of(w, y, x, d); break;
        case 4: value = contour_of(w, d); break;
        case 5: value = trail_of(w, y, x); break;
        case 6: value = light_of(w, y, x); break;
        default: value = halftone_of(w, y, x); break;
    }
    w.out[y * w.out_row_step + x * w.out_column_step] = value;
}

/// A texture to pad.
struct pad_work {
    const void* image;
    void* out;
    dtype type;
    bool has_alpha;
    bool four;  ///< a pixel has four adjacent bytes, at an address divisible by four
    double least;
    std::int64_t rows, columns, channels, step[3], out_step[3];
    std::uint8_t* mark;  ///< of pixels known by alpha
    void* site;
    bool wide;

    template <class T>
    NF_HD const T* from(std::int64_t y, std::int64_t x) const {
        return static_cast<const T*>(image) + y * step[0] + x * step[1];
    }
    /// Returns the cell whose colour a cell gets.
    NF_HD std::int64_t source(std::int64_t cell) const {
        const std::int64_t found =
            wide ? static_cast<const std::int64_t*>(site)[cell] : static_cast<const std::int32_t*>(site)[cell];
        return found < 0 ? cell : found;
    }
};

NF_HD inline void mark_pixel(const pad_work& w, std::int64_t y, std::int64_t x) {
    bool is_known = false;
    const std::int64_t last = (w.channels - 1) * w.step[2];
    if (w.type == dtype::uint8) is_known = w.from<std::uint8_t>(y, x)[last] > w.least * 255;
    else if (w.type == dtype::uint16) is_known = w.from<std::uint16_t>(y, x)[last] > w.least * 65535;
    else is_known = w.from<float>(y, x)[last] > w.least;
    w.mark[y * w.columns + x] = is_known ? 1 : 0;
}

template <class T>
NF_HD inline void fill_as(const pad_work& w, std::int64_t y, std::int64_t x) {
    const std::int64_t site = w.source(y * w.columns + x), sy = quotient(site, w.columns);
    const T *const own = w.from<T>(y, x), *const nearest = w.from<T>(sy, site - sy * w.columns);
    T* const to = static_cast<T*>(w.out) + y * w.out_step[0] + x * w.out_step[1];
    const std::int64_t colours = w.channels - (w.has_alpha ? 1 : 0);
    for (std::int64_t k = 0; k < colours; ++k) to[k * w.out_step[2]] = nearest[k * w.step[2]];
    if (w.has_alpha) to[colours * w.out_step[2]] = own[colours * w.step[2]];
}
/// Four bytes that are read and written together.
struct alignas(4) four_bytes {
    std::uint8_t of[4];
};
NF_HD inline void fill_four(const pad_work& w, std::int64_t y, std::int64_t x) {
    const std::int64_t cell = y * w.columns + x;
    const auto* const from = static_cast<const four_bytes*>(w.image);
    four_bytes made = from[w.source(cell)];
    made.of[3] = from[cell].of[3];
    static_cast<four_bytes*>(w.out)[cell] = made;
}
NF_HD inline void fill_pixel(const pad_work& w, std::int64_t y, std::int64_t x) {
    if (w.four) fill_four(w, y, x);
    else if (w.type == dtype::uint8) fill_as<std::uint8_t>(w, y, x);
    else if (w.type == dtype::uint16) fill_as<std::uint16_t>(w, y, x);
    else fill_as<float>(w, y, x);
}

/// Loops over all pixels.
void shade_all(const host& on, const layer_work& w);
void shade_all(const device& on, const layer_work& w);
void mark_all(const host& on, const pad_work& w);
void mark_all(const device& on, const pad_work& w);
void fill_all(const host& on, const pad_work& w);
void fill_all(const device& on, const pad_work& w);

}  // namespace nearfield::effects
