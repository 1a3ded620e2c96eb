// Sphere tracing and pictures on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "exact/cases.hpp"
#include "nearfield/chessboard.hpp"
#include "refused.hpp"
#include "render/cases.hpp"
#include "render/room.hpp"

namespace nearfield::test {
namespace {

/// Checks in steps of 1/64 cell that nothing lies before the hit, and that something lies at it.
void check_ray(const trace_case& c, std::size_t ray, double t) {
    const std::size_t axes = c.shape.size();
    const double *o = c.origins.data() + ray * axes, *d = c.directions.data() + ray * axes;
    double first = 0, last = 1e9, longest = 0;
    for (std::size_t k = 0; k < axes; ++k) {
        const auto most = static_cast<double>(c.shape[k] - 1);
        longest = std::max(longest, std::fabs(d[k]));
        if (d[k] == 0 && (o[k] < 0 || o[k] > most)) last = -1;
        if (d[k] == 0) continue;
        first = std::max(first, std::min(-o[k] / d[k], (most - o[k]) / d[k]));
        last = std::min(last, std::max(-o[k] / d[k], (most - o[k]) / d[k]));
    }
    const auto value = [&](double at) {
        std::vector<double> point(axes);
        for (std::size_t k = 0; k < axes; ++k)
            point[k] = std::clamp(o[k] + at * d[k], 0.0, static_cast<double>(c.shape[k] - 1));
        return field_at(c, point);
    };
    if (t <= last) {
        ASSERT_LE(value(t), c.level + 1e-7);
    }
    for (double at = first; longest > 0 && at < std::min(t, last) - 1e-9; at += 1 / (64 * longest))
        ASSERT_GT(value(at), c.level - 1e-7) << "at " << at << " before " << t;
}

TEST(SphereTrace, MeetsTheFirstPoint) {
    const auto cases = static_cast<std::uint64_t>(std::ceil(120 * test_scale()));
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        const trace_case c = drawn_trace(seed, 60);
        const trace_table found = traced_on_host(c, 2);
        for (std::size_t i = 0; i < found.entry.size(); ++i) {
            check_ray(c, i, found.entry[i]);
            if (HasFatalFailure()) FAIL() << "seed " << seed << ", ray " << i;
        }
        EXPECT_EQ(found, traced_on_host(c, 1));
    }
}

TEST(SphereTrace, BallByFormulaInFewSteps) {
    trace_case c;
    c.shape = {101, 101, 101}, c.spacing = {1, 1, 1}, c.level = 0.25;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const auto z = static_cast<double>(i / 10201) - 50, y = static_cast<double>(i / 101 % 101) - 50,
                   x = static_cast<double>(i % 101) - 50;
        c.field.push_back(static_cast<float>(std::sqrt(z * z + y * y + x * x) - 20));
    }
    for (int k = 0; k < 20; ++k)
        c.origins.insert(c.origins.end(), {50.0 + k, 50, -30}), c.directions.insert(c.directions.end(), {0, 0, 2});
    const trace_table t = traced_on_host(c, 1);
    for (int k = 0; k < 20; ++k) {
        const double wanted = 50 - std::sqrt(20.25 * 20.25 - k * k),
                     got = 2 * t.entry[static_cast<std::size_t>(k)] - 30;
        EXPECT_NEAR(got, wanted, k < 19 ? 0.02 : 0.2);
        EXPECT_NEAR(t.normals[static_cast<std::size_t>(3 * k)], k / 20.25, 0.03);
        EXPECT_LT(t.steps[static_cast<std::size_t>(k)], k < 18 ? 15 : 40);
    }
}

/// A camera's picture is the table of its rays, here computed by trigonometry.
TEST(SphereTrace, CamerasSendTheirRays) {
    std::int64_t hits = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        trace_case c = drawn_trace(seed, 0);
        if (c.shape.size() != 3) continue;
        const camera from =
            camera_for(c.shape.data(), 3, {c.spacing.data(), 3}, 0, 0, 1.2);  // looks along -y, z is up, x to the left
        const double half = std::tan(from.field_of_view * 3.14159265358979323846 / 360);
        for (std::int64_t i = 0; i < picture_width * picture_height; ++i) {
            const auto row = static_cast<double>(i / picture_width), column = static_cast<double>(i % picture_width);
            const double up = half * (1 - (row + 0.5) / 20), left = half * (1 - (column + 0.5) / 24) * 1.2,
                         length = std::sqrt(1 + up * up + left * left);
            const double way[] = {up / length, -1 / length, left / length};
            for (std::size_t k = 0; k < 3; ++k)
                c.origins.push_back(from.eye[k] / c.spacing[k]), c.directions.push_back(way[k] / c.spacing[k]);
        }
        const trace_table seen = traced_by_camera(c, from, 2), one = traced_on_host(c, 1);
        EXPECT_EQ(seen, traced_by_camera(c, from, 1));
        std::int64_t other = 0;  // rays that graze a surface or go along faces of cells may differ
        for (std::size_t i = 0; i < one.entry.size(); ++i) {
            hits += std::isfinite(one.entry[i]) ? 1 : 0;
            const bool same = seen.entry[i] == one.entry[i] || std::fabs(seen.entry[i] - one.entry[i]) < 1e-9;
            if (!same || std::fabs(seen.normals[3 * i + 2] - one.normals[3 * i + 2]) > 1e-5) ++other;
        }
        EXPECT_LT(other, 10) << "seed " << seed;
    }
    EXPECT_GT(hits, 1000);
}

TEST(SphereTrace, RaysThatMeetNothingAndRefusals) {
    trace_case c = drawn_trace(4, 4);
    const std::size_t axes = c.shape.size();
    c.origins[0] = NAN, c.directions[axes] = std::numeric_limits<double>::infinity();
    std::fill_n(c.directions.begin() + static_cast<std::ptrdiff_t>(2 * axes), axes, 0);
    const trace_table t = traced_on_host(c, 1);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isinf(t.entry[i]));
    const float field[8] = {};
    const double rays[6] = {};
    double entry[2];
    const view<const float, 3, host> in{field, extent{2, 2, 2}};
    const view<const double, 2, host> two{rays, extent{2, 3}};
    const view<double, 1, host> to{entry, extent{2}};
    expect_refused([&] { sphere_trace(host{}, two, two, two, {.entry = to}); }, {"field", "float64"});
    expect_refused(
        [&] { sphere_trace(host{}, in, two, view<const double, 2, host>{rays, extent{3, 2}}, {.entry = to}); },
        {"directions"});
    expect_refused([&] { sphere_trace(host{}, in, two, two, {}); }, {"out"});
    expect_refused([&] { sphere_trace(host{}, in, two, two, {.entry = to}, {.level = NAN}); }, {"level"});
    expect_refused([&] { sphere_trace(host{}, in, two, two, {.entry = to}, {.spacing = {0.0}}); }, {"spacing"});
    const camera from = camera_for(std::array<std::int64_t, 3>{2, 2, 2}.data(), 3);
    const view<double, 2, host> picture{entry, extent{1, 2}};
    expect_refused([&] { sphere_trace(host{}, in, from, {.entry = to}); }, {"out.entry", "height"});
    expect_refused([&] { sphere_trace(host{}, in, camera{}, {.entry = picture}); }, {"camera"});
    expect_refused(
        [&] { sphere_trace(host{}, view<const float, 2, host>{field, extent{2, 4}}, from, {.entry = picture}); },
        {"field has 2 axes", "3"});
}

/// Chessboard distances between blocks of two cells a side; blocks with a corner of 100 or more have 0.
std::vector<std::uint8_t> free_blocks(const std::vector<std::uint8_t>& bytes, const shape_t& shape) {
    const shape_t blocks{(shape[0] + 1) / 2, (shape[1] + 1) / 2, (shape[2] + 1) / 2};
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(cells_of(blocks))), skip(taken.size());
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const std::int64_t z = i / shape[2] / shape[1], y = i / shape[2] % shape[1], x = i % shape[2];
        if (bytes[static_cast<std::size_t>(i)] < 100) continue;
        for (std::int64_t k = std::max<std::int64_t>(z - 1, 0) / 2; k <= z / 2; ++k)
            for (std::int64_t j = std::max<std::int64_t>(y - 1, 0) / 2; j <= y / 2; ++j)
                for (std::int64_t b = std::max<std::int64_t>(x - 1, 0) / 2; b <= x / 2; ++b)
                    taken[static_cast<std::size_t>((k * blocks[1] + j) * blocks[2] + b)] = 1;
    }
    chessboard_distance(host{}, any_input<host>::contiguous(taken.data(), dtype::uint8, blocks),
                        any_output<host>::contiguous(skip.data(), dtype::uint8, blocks), {.sites = sites::nonzero});
    return skip;
}

/// Skipping cubes changes no hit, for bytes of noise and of an object.
TEST(Render, SkippingChangesNoHit) {
    const shape_t shape{24, 30, 28};
    for (const double share : {0.0, 0.0005, 0.01, 0.2}) {
        std::vector<std::uint8_t> bytes = make_random(shape, share, 3);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint8_t>(bytes[i] * (101 + mix(i) % 155) + mix(i) % 90 * (1 - bytes[i]));
        if (share == 0) bytes = drawn_object(shape);
        const std::vector<std::uint8_t> skip = free_blocks(bytes, shape);
        pictures::surface plain;
        plain.field = {bytes.data(), true, {24, 30, 28}, {30 * 28, 28, 1}, {1, 1, 1}};
        plain.level = 100, plain.sense = -1;
        pictures::surface quick = plain;
        quick.skip = skip.data();
        const trace_case rays = drawn_trace(9, 0);
        std::int64_t with = 0, without = 0;
        for (std::uint64_t i = 0; i < 3000; ++i) {
            const auto real = [&](std::uint64_t k) {
                return std::ldexp(static_cast<double>(mix(6 * i + k) >> 11), -53);
            };
            pictures::line l;
            for (std::uint64_t k = 0; k < 3; ++k) l.o[k] = real(k) * 60 - 15, l.d[k] = real(k + 3) * 28 - l.o[k];
            const pictures::meeting one = meet(plain, l, through(plain.field, l)),
                                    two = meet(quick, l, through(quick.field, l));
            ASSERT_EQ(one.hit(), two.hit());
            if (one.hit()) {
                ASSERT_NEAR(one.t, two.t, 1e-9);
            }
            with += two.steps, without += one.steps;
        }
        EXPECT_LT(with, without);
    }
}

/// A scene of bytes without shadows, seen from a corner.
pictures::scene bare_scene(const std::vector<std::uint8_t>& bytes, const shape_t& shape,
                           std::vector<std::uint8_t>& to) {
    const camera c = camera_for(shape.data(), 3);
    const auto vec_of = [](const double* from) { return pictures::vec{from[0], from[1], from[2]}; };
    pictures::scene s;
    s.what.field = {bytes.data(), true, {shape[0], shape[1], shape[2]}, {shape[1] * shape[2], shape[2], 1}, {1, 1, 1}};
    s.what.level = 100, s.what.sense = -1;
    s.width = s.height = 60, s.picture = to.data(), s.step[0] = 180, s.step[1] = 3, s.step[2] = 1;
    s.eye = vec_of(c.eye), s.forward = pictures::unit(vec_of(c.target) + -1.0 * s.eye);
    s.right = {0, -0.01 * s.forward.x, 0.01 * s.forward.y}, s.down = {-0.01, 0, 0}, s.light = {0, 0, 1};
    s.colour = {0.5, 0.5, 0.5}, s.background = {1, 1, 1};
    return s;
}

/// Pictures with blocks that are skipped are those of a walk through all cells, for sizes of all remainders.
TEST(Render, BlocksChangeNoPixel) {
    for (const shape_t& shape : {shape_t{24, 30, 28}, {9, 7, 5}, {17, 33, 31}, {1, 6, 16}, {2, 1, 1}, {16, 3, 40}})
        for (const double share : {0.0, 0.003, 0.05}) {
            std::vector<std::uint8_t> bytes = make_random(shape, share, 5), with(60 * 60 * 3), without(60 * 60 * 3);
            for (std::uint8_t& each : bytes) each *= 255;
            pictures::run(host{2, {}}, bare_scene(bytes, shape, with), {.skip = true});
            pictures::run(host{2, {}}, bare_scene(bytes, shape, without), {});
            for (std::size_t i = 0; i < with.size(); ++i) ASSERT_NEAR(with[i], without[i], 1);
            EXPECT_TRUE(std::set<int>(with.begin(), with.end()).size() > 1 || share < 0.05 || shape[0] <= 2);
        }
}

/// Free zones of a transfer function change no pixel either.
TEST(Render, ZonesChangeNoPixel) {
    const shape_t shape{24, 30, 28};
    std::vector<std::uint8_t> smooth = drawn_object(shape), with(60 * 60 * 3), without(60 * 60 * 3);
    for (const bool noise : {false, true}) {
        if (noise)
            for (std::size_t i = 0; i < smooth.size(); ++i) smooth[i] = mix(i) % 50 == 0 ? 255 : smooth[i] / 3 * 3;
        const auto scene_to = [&](std::vector<std::uint8_t>& to) {
            pictures::scene s = bare_scene(smooth, shape, to);
            s.mode = render_mode::volume, s.what.level = 0, s.points = 6;
            const pictures::tint_point points[] = {{30, 0, 0, 1, 0, 0},  {50, 0, 1, 0, 0.4, 1},  {70, 0, 1, 0, 0, 2},
                                                   {120, 1, 0, 0, 0, 2}, {140, 1, 0, 0, 0.2, 3}, {200, 1, 1, 1, 0, 4}};
            std::copy(std::begin(points), std::end(points), s.point);
            return s;
        };
        pictures::run(host{2, {}}, scene_to(with), {.skip = true});
        pictures::run(host{2, {}}, scene_to(without), {});
        EXPECT_EQ(with, without);
        EXPECT_GT(std::set<int>(with.begin(), with.end()).size(), 20U);
    }
}

/// With the points of the ramp a transfer function draws the usual cloud.
TEST(Render, TransferFunctions) {
    const shape_t shape{40, 44, 48};
    const auto volume = drawn_object(shape);
    render_options o = picture_options(shape)[1];
    o.low = o.threshold;
    const auto usual = drawn_on_host(volume, shape, o, 1);
    const transfer_point ramp[] = {{100, {0, 0, 0}, 0}, {255, {1, 1, 1}, 0.1}};
    o.transfer = ramp;
    const auto same = drawn_on_host(volume, shape, o, 1);
    for (std::size_t i = 0; i < same.size(); ++i) ASSERT_NEAR(usual[i], same[i], 1);
    // A film between two values without cells in between lies around a mask.
    auto mask = volume;
    for (std::uint8_t& each : mask) each = each < 100 ? 0 : 255;
    const transfer_point film[] = {{100, {1, 0, 0}, 0}, {125, {1, 0, 0}, 0.9}, {150, {1, 0, 0}, 0}};
    o.transfer = film;
    const auto red = drawn_on_host(mask, shape, o, 1);
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < red.size(); i += 3) seen += red[i] > red[i + 1] + 80 ? 1 : 0;
    EXPECT_GT(seen, 50);
    // Through cells of one value, opacity 0.03 for each, 0.97 to the power of their number of the background shines.
    const std::vector<std::uint8_t> even(static_cast<std::size_t>(cells_of(shape)), 150);
    const transfer_point points[] = {{100, {0, 0, 0}, 0.01}, {200, {1, 0.5, 0}, 0.05}};
    o.transfer = points, o.camera = {{19.5, -200, 23.5}, {19.5, 0, 23.5}, {1, 0, 0}, 5};
    const auto slab = drawn_on_host(even, shape, o, 1);
    const std::size_t middle = 3 * (20 * 48 + 24);
    const double wanted[] = {0.5, 0.25, 0}, through = std::pow(0.97, 43.0);
    for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(slab[middle + k], 255 * std::sqrt(0.55 * wanted[k] * wanted[k] * (1 - through) + through), 1.5);
}

TEST(Render, PicturesOfAllKinds) {
    const shape_t shape{40, 44, 48};
    const auto volume = drawn_object(shape);
    std::set<std::string> all;
    for (const render_options& o : picture_options(shape)) {
        const auto picture = drawn_on_host(volume, shape, o, 1);
        EXPECT_EQ(picture, drawn_on_host(volume, shape, o, 3));
        all.emplace(picture.begin(), picture.end());
    }
    EXPECT_EQ(all.size(), 7U);
    // A corner shows the background, the middle the object, which is darker with shadows.
    const auto options = picture_options(shape);
    const auto lit = drawn_on_host(volume, shape, options[0], 1), bare = drawn_on_host(volume, shape, options[3], 1);
    EXPECT_EQ(lit[0], 255);
    const std::size_t middle = 3 * (20 * 48 + 24);
    EXPECT_LT(lit[middle], 240);
    double sum = 0, sum_bare = 0;
    for (std::size_t i = 0; i < lit.size(); ++i) sum += lit[i], sum_bare += bare[i];
    EXPECT_LT(sum, sum_bare);
}

/// A ball as a distance field and as gray values has the outline of the formula.
TEST(Render, DistanceFieldAndOutline) {
    const shape_t shape{41, 41, 41};
    std::vector<float> field;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const auto z = static_cast<double>(i / 1681) - 20, y = static_cast<double>(i / 41 % 41) - 20,
                   x = static_cast<double>(i % 41) - 20;
        field.push_back(static_cast<float>(std::sqrt(z * z + y * y + x * x) - 12));
    }
    render_options o;
    o.camera = camera_for(shape.data(), 3), o.threshold = 0, o.distance_field = true;
    std::vector<std::uint8_t> picture(3 * 100 * 100);
    const auto in = any_input<host>::contiguous(field.data(), dtype::float32, shape);
    const auto to = any_output<host>::contiguous(picture.data(), dtype::uint8, shape_t{100, 100, 3});
    render(host{}, in, to, o);
    double away2 = 0;
    for (int k = 0; k < 3; ++k) away2 += (o.camera.eye[k] - 20) * (o.camera.eye[k] - 20);
    const double radius = 12 / std::sqrt(away2 - 144) / (2 * std::tan(15 * 3.14159265358979 / 180) / 100);
    std::int64_t inside = 0;
    for (std::size_t i = 0; i < picture.size(); i += 3) inside += picture[i] != 255 || picture[i + 1] != 255;
    EXPECT_NEAR(static_cast<double>(inside), 3.14159265 * radius * radius, 40);
}

TEST(Render, Refusals) {
    const std::uint8_t cells[8] = {};
    std::uint8_t bytes[12];
    const view<const std::uint8_t, 3, host> in{cells, extent{2, 2, 2}};
    const view<std::uint8_t, 3, host> to{bytes, extent{2, 2, 3}};
    const shape_t shape{2, 2, 2};
    render_options good;
    good.camera = camera_for(shape.data(), 3);
    const auto with = [&](const auto& change) {
        render_options o = good;
        change(o);
        return [=] { render(host{}, in, to, o); };
    };
    EXPECT_NO_THROW(with([](auto&) {})());
    expect_refused(with([](auto& o) { o.samples = 9; }), {"samples"});
    expect_refused(with([](auto& o) { o.shadows = 2; }), {"shadows"});
    expect_refused(with([](auto& o) { o.threshold = NAN; }), {"threshold"});
    expect_refused(with([](auto& o) { o.mode = render_mode::volume, o.high = 0.5; }), {"high", "threshold"});
    expect_refused(with([](auto& o) { o.camera.field_of_view = 180; }), {"camera", "180"});
    expect_refused(with([](auto& o) { o.camera = {}; }), {"camera"});
    expect_refused(with([](auto& o) { o.interval = 0; }), {"interval"});
    static constexpr transfer_point points[] = {{1, {}, 0}, {0, {}, 2}};
    const std::span<const transfer_point> all(points);
    expect_refused(with([&](auto& o) { o.transfer = all; }), {"transfer", "clouds"});
    expect_refused(with([&](auto& o) { o.mode = render_mode::volume, o.transfer = all; }), {"transfer", "ascending"});
    expect_refused(with([&](auto& o) { o.mode = render_mode::volume, o.transfer = all.first(1); }), {"transfer", "2"});
    static constexpr transfer_point bright[] = {{0, {}, 0}, {1, {}, 2}};
    expect_refused(with([&](auto& o) { o.mode = render_mode::volume, o.transfer = bright; }), {"transfer", "point 1"});
    expect_refused(with([&](auto& o) { o.colormap = bytes; }), {"colormap"});
    expect_refused([&] { render(host{}, in, view<std::uint8_t, 2, host>{bytes, extent{4, 3}}, good); }, {"picture"});
    expect_refused([&] { render(host{}, view<const std::uint8_t, 2, host>{cells, extent{2, 4}}, to, good); },
                   {"volume", "2 axes"});
    expect_refused([&] { static_cast<void>(camera_for(shape.data(), 2)); }, {"shape"});
    EXPECT_THROW(render(host{1, [](double) { return false; }}, in, to, good), error);
}

}  // namespace
}  // namespace nearfield::test
