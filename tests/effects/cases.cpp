#include "effects/cases.hpp"

#include "nearfield/sdf.hpp"

namespace nearfield::test {
namespace {

class draw {
public:
    explicit draw(std::uint64_t seed) : state_(mix(seed + 99)) {}
    std::int64_t below(std::uint64_t n) {
        state_ = mix(state_ + 1);
        return static_cast<std::int64_t>(state_ % n);
    }
    /// A random multiple of 1/4.
    double number(int low, int high) {
        return low + static_cast<double>(below(static_cast<std::uint64_t>(high - low) * 4)) / 4;
    }
    effects::side side() { return below(2) == 0 ? effects::side::outside : effects::side::inside; }

private:
    std::uint64_t state_;
};

effects::effect drawn_effect(draw& d, std::uint64_t kind) {
    using namespace effects;
    switch (kind % 8) {
        case 0: return outline{d.number(0, 5), d.number(0, 5)};
        case 1: return glow{d.number(1, 9), d.side(), static_cast<int>(1 + d.below(4))};
        case 2: return shadow{d.number(-6, 6), d.number(-6, 6), d.number(0, 6), d.number(-1, 2)};
        case 3: return bevel{d.number(1, 6), d.number(0, 360), d.number(10, 80), d.below(2) == 0};
        case 4: return contour{d.number(2, 7), d.number(0, 3), d.side()};
        case 5: return trail{d.number(-12, 12), d.number(-12, 12)};
        case 6: return light{d.number(0, 20), d.number(0, 20), d.number(1, 6), d.number(5, 40)};
        default: return halftone{d.number(2, 9), d.number(0, 90)};
    }
}

}  // namespace

layer_case drawn_layer_case(std::uint64_t seed) {
    draw d(seed);
    layer_case c;
    for (int k = 0; k < 2; ++k) c.shape.push_back(1 + d.below(d.below(4) == 0 ? 3 : 30));
    const border ends[] = {d.below(2) == 0 ? border::open : border::periodic,
                           d.below(2) == 0 ? border::open : border::periodic};
    c.ends = {ends, 2};
    c.what = drawn_effect(d, seed);
    const auto cells = static_cast<std::size_t>(cells_of(c.shape));
    c.field.resize(cells);
    if (seed % 8 == 7) {
        for (float& tone : c.field) tone = static_cast<float>(d.number(0, 5)) / 4;
        return c;
    }
    std::vector<std::uint8_t> image(cells);
    const std::int64_t zoom = 1 + d.below(7), share = d.below(10);
    for (std::size_t i = 0; i < cells; ++i) {
        const auto y = static_cast<std::int64_t>(i) / c.shape[1] / zoom,
                   x = static_cast<std::int64_t>(i) % c.shape[1] / zoom;
        image[i] =
            static_cast<std::int64_t>(mix(seed * 7 + static_cast<std::uint64_t>(y * 1000 + x)) % 10) < share ? 255 : 0;
    }
    sdf(host{1, {}}, any_input<host>::contiguous(image.data(), dtype::uint8, c.shape),
        any_output<host>::contiguous(c.field.data(), dtype::float32, c.shape), {.border = c.ends});
    return c;
}

std::vector<float> on_host(const layer_case& c, int threads) {
    std::vector<float> out(c.field.size(), 7);
    effects::layer(host{threads, {}}, any_input<host>::contiguous(c.field.data(), dtype::float32, c.shape),
                   any_output<host>::contiguous(out.data(), dtype::float32, c.shape), c.what, c.ends);
    return out;
}

pad_case drawn_pad_case(std::uint64_t seed) {
    draw d(seed);
    pad_case c;
    c.shape = {1 + d.below(24), 1 + d.below(24), 4};
    const border ends[] = {d.below(2) == 0 ? border::open : border::periodic,
                           d.below(2) == 0 ? border::open : border::periodic};
    c.options.border = {ends, 2};
    if (d.below(2) == 0) c.options.radius = d.number(0, 8);
    c.options.least = static_cast<double>(d.below(3)) / 4;
    const std::int64_t rare = 1 + d.below(60);
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
        c.image.push_back(
            static_cast<std::uint8_t>(i % 4 != 3 || d.below(static_cast<std::uint64_t>(rare)) == 0 ? d.below(256) : 0));
    return c;
}

std::vector<std::uint8_t> on_host(const pad_case& c, int threads) {
    std::vector<std::uint8_t> out(c.image.size(), 7);
    effects::pad(host{threads, {}}, any_input<host>::contiguous(c.image.data(), dtype::uint8, c.shape),
                 any_output<host>::contiguous(out.data(), dtype::uint8, c.shape), c.options);
    return out;
}

}  // namespace nearfield::test
