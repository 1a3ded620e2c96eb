// Erosion, dilation, opening and closing on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "morphology/cases.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// An array whose elements lie `apart` from each other, given for the last axis first.
template <class Element>
any_view<Element, host> spread(Element* data, dtype type, const shape_t& shape, std::int64_t apart) {
    auto view = any_view<Element, host>::contiguous(data, type, shape);
    for (int axis = 0; axis < view.rank; ++axis) view.stride[static_cast<std::size_t>(axis)] *= apart;
    return view;
}

std::vector<std::uint64_t> on_host(operation what, const morphology_case& c, int threads, std::int64_t apart) {
    const auto size = static_cast<std::size_t>(size_of(c.type));
    const std::vector<std::byte> tight = packed(c.value, c.type);
    std::vector<std::byte> image(tight.size() * static_cast<std::size_t>(apart) + 1);
    for (std::size_t i = 0; i < c.value.size(); ++i)
        std::copy_n(tight.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                    image.begin() + static_cast<std::ptrdiff_t>(i * size * static_cast<std::size_t>(apart)));
    const dtype to = c.labels ? c.type : c.bits;
    const auto step = static_cast<std::size_t>(size_of(to) * apart);
    std::vector<std::byte> out(c.value.size() * step + 1, std::byte{0x5a});
    run_on<host>(what, host{threads, {}}, spread<const void>(image.data(), c.type, c.shape, apart), c.radius,
                 spread<void>(out.data(), to, c.shape, apart), c.options());
    std::vector<std::byte> answer;
    for (std::size_t i = 0; i < c.value.size(); ++i)
        for (std::int64_t b = 0; b < size_of(to); ++b) answer.push_back(out[i * step + static_cast<std::size_t>(b)]);
    return unpacked(answer, to);
}

TEST(Morphology, EveryCellAgainstEveryCell) {
    check_morphology(
        [](operation what, const morphology_case& c) {
            return on_host(what, c, 1 + static_cast<int>(c.value.size() % 3), 1 + c.shape[0] % 2);
        },
        0, 1500);
}

/// A larger case, parts of which the engine solves in different ways.
morphology_case large_case(bool labels, double radius) {
    morphology_case c;
    c.shape = {40, 50, 60}, c.radius = radius, c.labels = labels;
    if (labels) c.type = dtype::uint16;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const std::int64_t x = i % 60, y = i / 60 % 50, z = i / 3000;
        const double wave = std::sin(0.21 * static_cast<double>(x)) + std::cos(0.17 * static_cast<double>(y)) +
                            std::sin(0.13 * static_cast<double>(z));
        c.value.push_back(wave > 0.2 ? 1 + (labels ? static_cast<std::uint64_t>(x / 20 + y / 25 * 3) : 0) : 0);
    }
    return c;
}

TEST(Morphology, ErosionAndDilationAreDual) {
    for (const border end : {border::open, border::closed, border::periodic})
        for (const double radius : {1.0, 2.5, 7.3}) {
            morphology_case c = large_case(false, radius), other = c;
            c.ends = other.ends = {end};
            for (auto& v : other.value) v = v == 0;
            const auto pairs = {std::pair{operation::erosion, operation::dilation},
                                std::pair{operation::opening, operation::closing}};
            for (const auto& [a, b] : pairs) {
                auto inside = on_host(a, c, 2, 1), outside = on_host(b, other, 2, 1);
                for (auto& v : outside) v = v == 0;
                EXPECT_EQ(inside, outside) << c.text(a);
            }
        }
}

TEST(Morphology, OpeningTwiceIsOpeningOnce) {
    for (const bool labels : {false, true})
        for (const operation what : {operation::opening, operation::closing}) {
            morphology_case c = large_case(labels, 3.2);
            const auto once = on_host(what, c, 2, 1);
            EXPECT_NE(once, c.value);
            c.value = once;
            EXPECT_EQ(on_host(what, c, 2, 1), once) << c.text(what);
        }
}

TEST(Morphology, LabelsAreTheLoopOverMasks) {
    const morphology_case c = large_case(true, 2.3);
    for (const operation what : {operation::erosion, operation::opening}) {
        std::vector<std::uint64_t> loop(c.value.size());
        for (std::uint64_t label = 1; label <= 9; ++label) {
            morphology_case one = c;
            one.labels = false;
            for (auto& v : one.value) v = v == label;
            const auto part = on_host(what, one, 2, 1);
            for (std::size_t i = 0; i < loop.size(); ++i) loop[i] += part[i] * label;
        }
        EXPECT_EQ(on_host(what, c, 2, 1), loop) << c.text(what);
    }
}

/// The result of a periodic image equals the middle of the result for its tiling.
TEST(Morphology, PeriodicIsTheMiddleOfATiling) {
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const operation what : operations) {
            morphology_case c = drawn_case(seed);
            if (c.shape.size() != 2 || c.radius == inf || c.batch_axes != 0) continue;
            c.ends = {border::periodic}, c.spacing = {1}, c.labels = false;
            const std::int64_t h = c.shape[0], w = c.shape[1], tiles = 9;
            morphology_case tiled = c;
            tiled.ends.clear(), tiled.shape = {h * tiles, w * tiles}, tiled.value.clear();
            for (std::int64_t y = 0; y < h * tiles; ++y)
                for (std::int64_t x = 0; x < w * tiles; ++x)
                    tiled.value.push_back(c.value[static_cast<std::size_t>(y % h * w + x % w)]);
            const auto all = on_host(what, tiled, 2, 1), own = on_host(what, c, 2, 1);
            for (std::int64_t i = 0; i < h * w; ++i) {
                const std::int64_t y = tiles / 2 * h + i / w, x = tiles / 2 * w + i % w;
                ASSERT_EQ(own[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(y * w * tiles + x)])
                    << c.text(what) << ", seed " << seed;
            }
        }
}

TEST(Morphology, EmptyImages) {
    for (const operation what : operations)
        for (const bool labels : {false, true}) {
            morphology_case c;
            c.shape = {3, 0, 2}, c.labels = labels;
            EXPECT_EQ(on_host(what, c, 1, 1), std::vector<std::uint64_t>{});
        }
}

TEST(MorphologyArguments, AreRefusedBeforeAnyWork) {
    std::vector<std::uint8_t> image(12, 1), out(12, 7);
    std::vector<float> real(12, 1);
    const shape_t shape{3, 4};
    const auto in = any_input<host>::contiguous(image.data(), dtype::uint8, shape);
    const auto to = any_output<host>::contiguous(out.data(), dtype::boolean, shape);
    const auto reals = any_input<host>::contiguous(real.data(), dtype::float32, shape);
    const host on;
    for (const operation what : operations) {
        const auto refused = [&](const any_input<host>& image_, double radius, const any_output<host>& out_,
                                 const morphology_options& options, std::initializer_list<const char*> words) {
            expect_refused([&] { run_on<host>(what, on, image_, radius, out_, options); }, words);
        };
        refused(in, -1, to, {}, {"radius", "-1"});
        refused(in, std::nan(""), to, {}, {"radius", "nan"});
        refused(in, 1, {}, {}, {"out"});
        refused(in, 1, any_output<host>::contiguous(out.data(), dtype::boolean, shape_t{4, 3}), {}, {"out", "4x3"});
        refused(in, 1, any_output<host>::contiguous(real.data(), dtype::float32, shape), {},
                {"out", "float32", "bool"});
        refused(in, 1, any_output<host>::contiguous(image.data(), dtype::uint8, shape), {}, {"out", "image"});
        refused(in, 1, to, {.labels = true}, {"out", "bool", "uint8"});
        refused(reals, 1, to, {.labels = true}, {"image", "float32", "labels"});
        refused(in, 1, to, {.spacing = 0.0}, {"spacing"});
        refused(in, 1, to, {.batch_axes = 2}, {"batch_axes"});
        run_on<host>(what, on, reals, 1, to, {});
    }
}

TEST(Morphology, StopsWhereItsCallerSaysSo) {
    const morphology_case c = large_case(false, 3);
    const std::vector<std::byte> image = packed(c.value, c.type);
    std::vector<std::uint8_t> out(image.size());
    double last = 0;
    host on{1, [&](double done) {
                EXPECT_GE(done, last);
                last = done;
                return true;
            }};
    const auto in = any_input<host>::contiguous(image.data(), c.type, c.shape);
    opening(on, in, 3, any_output<host>::contiguous(out.data(), dtype::uint8, c.shape));
    EXPECT_GT(last, 0.9);
    on.progress = [](double) { return false; };
    EXPECT_THROW(opening(on, in, 3, any_output<host>::contiguous(out.data(), dtype::uint8, c.shape)), error);
}

}  // namespace
}  // namespace nearfield::test
