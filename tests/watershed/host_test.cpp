// The watershed on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

#include "oracle/watershed.hpp"
#include "refused.hpp"
#include "scale.hpp"
#include "watershed/cases.hpp"
#include "watershed/core.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Watershed, IsDijkstras) {
    check_watersheds([](const watershed_case& c) { return on_host(c, 1 + static_cast<int>(c.value.size() % 3)); }, 0,
                     3000, 4);
}

TEST(Watershed, ReconstructionIsDijkstras) {
    check_reconstructions(
        [](const watershed_case& c) { return reconstructed_on_host(c, 1 + static_cast<int>(c.value.size() % 2)); },
        10000, 11500, 4);
}

TEST(Watershed, PeaksOfLabelsAreThoseOfEachAlone) {
    check_peaks([](const watershed_case& c) { return peaks_on_host(c, 1 + static_cast<int>(c.value.size() % 2)); },
                70000, 71000, 4);
}

/// Replaces the least and the greatest value of an image by those of its type.
template <class Value>
void widen(std::vector<std::byte>& image) {
    Value* const value = reinterpret_cast<Value*>(image.data());
    const std::span<Value> all(value, image.size() / sizeof(Value));
    const auto [least, most] = std::ranges::minmax(all);
    for (Value& each : all)
        if (each == least) each = std::numeric_limits<Value>::lowest();
        else if (each == most) each = std::numeric_limits<Value>::max();
}

/// Minima without labels, which need no basins. Every fourth image holds the least and the greatest 8-byte integer.
TEST(Watershed, MinimaAloneAreTheOracles) {
    for (std::uint64_t seed = 80000; seed < share(80000, 81500) && !testing::Test::HasFailure(); ++seed) {
        watershed_case c = drawn_case(seed, 4);
        c.marker.clear();
        if (seed % 3 != 0) c.options.h = seed % 3 == 1 ? 0 : 1, c.options.roots = false;
        if (seed % 4 == 0) c.type = seed % 8 == 0 || c.options.roots ? dtype::uint64 : dtype::int64;
        for (double& v : c.value)
            if (seed % 4 == 0) v = std::isfinite(v) ? std::floor(std::abs(v)) : 5;
        std::vector<std::byte> image = bytes_of(c.value, c.type);
        if (seed % 4 == 0 && c.options.h <= 1 && !c.options.roots)
            c.type == dtype::uint64 ? widen<std::uint64_t>(image) : widen<std::int64_t>(image);
        watershed_options options = c.options;
        if (!c.ends.empty()) options.border = {c.ends.data(), c.ends.size()};
        const auto from = any_input<host>::contiguous(image.data(), c.type, c.shape);
        const auto mask =
            c.mask.empty() ? any_input<host>{} : any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape);
        std::vector<std::uint8_t> marks(c.value.size(), 7);
        const host on{1 + static_cast<int>(seed % 2), {}};
        watershed(on, from, {{}, {}, any_output<host>::contiguous(marks.data(), dtype::uint8, c.shape)}, options, {},
                  mask);
        EXPECT_EQ(marks, expected(c).extrema) << c.text() << ", seed " << seed;
        std::vector<std::int64_t> cells, want;
        for (const peak& each : peaks(on, from, options, mask)) {
            cells.push_back(each.cell);
            const auto at = static_cast<std::size_t>(each.cell) * static_cast<std::size_t>(size_of(c.type));
            const std::vector<std::byte> bytes(image.begin() + static_cast<std::ptrdiff_t>(at),
                                               image.begin() + static_cast<std::ptrdiff_t>(at) + size_of(c.type));
            EXPECT_EQ(each.value, values_of(bytes, c.type)[0]);
        }
        for (const oracle::minimum& each : high_minima(c, false)) want.push_back(each.cell);
        EXPECT_EQ(cells, want) << c.text() << ", seed " << seed;
    }
}

TEST(Watershed, SortedPeaksAreApart) {
    std::mt19937_64 random(3);
    for (const shape_t& shape : {shape_t{900}, shape_t{70, 1, 90}, shape_t{30, 40, 50}, shape_t{9, 8, 7, 6}})
        for (const double apart : {0.0, 1.0, 1.5, 3.0, 7.25, 1e9})
            for (const bool maxima : {false, true}) {
                std::vector<peak> found, want;
                for (std::int64_t cell = 0; cell < cells_of(shape); ++cell)
                    if (random() % 5 == 0) found.push_back({cell, static_cast<double>(random() % 20) / 3 - 2});
                std::vector<peak> sorted = found;
                std::ranges::shuffle(found, random);
                std::ranges::stable_sort(sorted, {}, [&](const peak& p) { return maxima ? -p.value : p.value; });
                std::vector<std::int64_t> cells;
                for (const peak& each : sorted) cells.push_back(each.cell);
                for (const std::size_t nth : oracle::apart_from_all_before(cells, shape, apart))
                    want.push_back(sorted[nth]);
                EXPECT_EQ(sorted_peaks(found, shape, maxima, apart), want) << apart;
            }
}

/// Images large enough for several threads, chunks and blocks; one thread and several; and rows in reverse order.
TEST(Watershed, LargerImagesDependOnNothing) {
    for (const shape_t& shape : {shape_t{700, 900}, shape_t{60, 70, 80}, shape_t{200000}})
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            watershed_case c = landscape(shape, seed, dtype::uint8);
            c.options.connectivity = static_cast<int>(shape.size());
            const watershed_result once = on_host(c, 1);
            EXPECT_EQ(on_host(c, 4), once) << c.text();
            watershed_case other = c;  // an increasing map of the values to another type
            other.type = seed == 0 ? dtype::float32 : seed == 1 ? dtype::int64 : dtype::uint16;
            for (double& v : other.value) v = 2 * v + 7;
            watershed_result mapped = on_host(other, 2);
            for (double& v : mapped.passes) v = (v - 7) / 2;
            EXPECT_EQ(mapped, once) << c.text();
            other = c, other.options.maxima = true, other.type = dtype::int32;
            for (double& v : other.value) v = -v;
            watershed_result turned = on_host(other, 2);
            for (double& v : turned.passes) v = -v;
            EXPECT_EQ(turned, once) << c.text();
        }
}

std::vector<std::int64_t> labels_of(watershed_case c) { return on_host(c, 2).label; }

TEST(Watershed, HandCases) {
    watershed_case c;
    c.shape = {9}, c.value = {0, 1, 2, 1, 0, 3, 3, 3, 1};
    EXPECT_EQ(labels_of(c), (std::vector<std::int64_t>{1, 1, 1, 2, 2, 2, 2, 3, 3}));
    c.options.lines = true;
    EXPECT_EQ(labels_of(c), (std::vector<std::int64_t>{1, 1, 0, 2, 2, 2, 0, 3, 3}));
    c.options = {.h = 2};
    EXPECT_EQ(labels_of(c), (std::vector<std::int64_t>{1, 1, 1, 2, 2, 2, 2, 3, 3}));
    c.options.h = 2.5;
    EXPECT_EQ(labels_of(c), (std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 1, 1, 1}));
    // Regions share a plateau by steps; the middle cell goes to the region with the smaller coordinate.
    c = {}, c.shape = {7}, c.value = {0, 5, 5, 5, 5, 5, 0};
    EXPECT_EQ(labels_of(c), (std::vector<std::int64_t>{1, 1, 1, 1, 2, 2, 2}));
    // A ring is one minimum, and its middle is a hill within that basin.
    c = {}, c.shape = {5, 5};
    c.value = {1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 3, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    EXPECT_EQ(labels_of(c), std::vector<std::int64_t>(25, 1));
    // Cells that no marker reaches are 0, and so are cells outside the mask.
    c = {}, c.shape = {6}, c.value = {1, 2, 0, 3, 2, 1}, c.mask = {1, 1, 0, 1, 1, 1}, c.marker = {0, 0, 0, 0, 0, 9};
    EXPECT_EQ(on_host(c, 1), (watershed_result{{0, 0, 0, 9, 9, 9}, {255, 255, 255, 3, 2, 1}, {}}));
}

/// Two discs whose distances meet in a saddle; the saddle's height decides.
TEST(Watershed, TwoDiscsByTheHeightOfRoots) {
    watershed_case c;
    c.shape = {41, 70}, c.type = dtype::uint32, c.options = {.connectivity = 2, .maxima = true, .roots = true};
    for (double y = 0; y < 41; ++y)
        for (double x = 0; x < 70; ++x) {
            const double a = 20 - std::hypot(y - 20, x - 20), b = 20 - std::hypot(y - 20, x - 49);
            const double r = std::max({a, b, 0.0});
            c.value.push_back(std::floor(r * r)), c.mask.push_back(r * r >= 1 ? 1 : 0);
        }
    for (const auto& [h, count] : {std::pair{1.0, 2}, std::pair{14.0, 2}, std::pair{15.0, 1}}) {
        c.options.h = h;
        const auto label = labels_of(c);
        EXPECT_EQ(*std::max_element(label.begin(), label.end()), count) << h;
        EXPECT_EQ(expected(c).label, label);
    }
}

/// Roots of squares and of their neighbours differ by h, by the least bit less, and by the least bit more.
TEST(Watershed, HeightsOfRootsAreExact) {
    for (std::uint64_t seed = 0; seed < share(0, 20000); ++seed) {
        const std::uint64_t n = mix(seed) >> (32 + seed % 31), m = n + (mix(seed + 1) >> (33 + seed % 29)), p = m - n;
        if (m >> 32 != 0) continue;
        const std::uint64_t a = m * m, b = n * n, h = p << watersheds::height_bits;
        EXPECT_TRUE(watersheds::roots_differ(a, b, h)) << m << ' ' << n;
        EXPECT_FALSE(watersheds::roots_differ(a, b, h + 1)) << m << ' ' << n;
        EXPECT_EQ(watersheds::roots_differ(a, b + 1, h), false) << m << ' ' << n;
        if (h > 0) {
            EXPECT_TRUE(watersheds::roots_differ(a, b, h - 1)) << m << ' ' << n;
            EXPECT_FALSE(watersheds::roots_differ(a - 1, b, h)) << m << ' ' << n;
        }
    }
}

TEST(Basins, ExtremaAndMarksAreTheOracles) {
    for (std::uint64_t seed = 20000; seed < share(20000, 21500) && !testing::Test::HasFailure(); ++seed) {
        watershed_case c = drawn_case(seed, 3);
        if (!c.marker.empty()) c.options.h = static_cast<double>(seed % 4) / 2;
        const basins found = basins_of(c);
        std::vector<std::int64_t> cells, want;
        std::vector<peak> sorted;
        for (const extremum& each : found.extrema(c.options.h, c.options.roots)) {
            cells.push_back(each.cell), sorted.push_back({each.cell, each.value});
            EXPECT_EQ(each.value, c.value[static_cast<std::size_t>(each.cell)]);
            EXPECT_TRUE(each.into >= 0 || each.saddle == (c.options.maxima ? -inf : inf));
        }
        for (const oracle::minimum& each : high_minima(c, false)) want.push_back(each.cell);
        EXPECT_EQ(cells, want) << c.text() << ", seed " << seed;
        const double sign = c.options.maxima ? -1 : 1;
        std::ranges::stable_sort(sorted, {}, [&](const peak& each) { return sign * each.value; });
        EXPECT_EQ(found.peaks(c.options.h, c.options.roots), sorted) << c.text() << ", seed " << seed;
        std::vector<std::uint8_t> marked(c.value.size()), marks(c.value.size());
        found.mark(host{2, {}}, c.options.h, c.options.roots,
                   any_output<host>::contiguous(marked.data(), dtype::uint8, c.shape));
        for (const oracle::minimum& each : high_minima(c, true))
            for (const std::int64_t cell : oracle::plateau_of(problem_of(c), each.cell))
                marks[static_cast<std::size_t>(cell)] = 1;
        EXPECT_EQ(marked, marks) << c.text() << ", seed " << seed;
    }
}

/// An extremum leads to the lowest of those that connect at its saddle; if that one is not high enough for the list, to
/// the next one that is.
TEST(Basins, ExtremaLeadToTheLowestBeyondTheirSaddle) {
    int led = 0;
    for (std::uint64_t seed = 22000; seed < share(22000, 22600) && !testing::Test::HasFailure(); ++seed) {
        watershed_case c = drawn_case(seed, 2);
        c.options.roots = false, c.options.h = static_cast<double>(seed % 3);
        const auto found = basins_of(c).extrema(c.options.h);
        for (const extremum& each : found) {
            if (each.into < 0) continue;
            const extremum& next = found[static_cast<std::size_t>(each.into)];
            const double sign = c.options.maxima ? -1 : 1;
            // The next one's saddle is higher, so it is the lowest of those that connect below its saddle.
            EXPECT_TRUE(sign * next.value < sign * each.value || (next.value == each.value && next.cell < each.cell));
            EXPECT_TRUE(next.into < 0 || sign * each.saddle < sign * next.saddle) << c.text() << ", seed " << seed;
            ++led;
            if (c.options.h > 0) continue;
            EXPECT_EQ(basins_of(c).passes({each.cell}, {next.cell})[0], each.saddle) << c.text() << ", seed " << seed;
        }
    }
    EXPECT_GT(led, 5 * (share(22000, 22600) - 22000) / 6);
}

TEST(Basins, PassesAreTheOracles) {
    for (std::uint64_t seed = 30000; seed < share(30000, 30300) && !testing::Test::HasFailure(); ++seed) {
        const watershed_case c = drawn_case(seed, 3);
        const oracle::watershed_problem p = problem_of(c);
        const auto count = static_cast<std::int64_t>(c.value.size());
        const std::int64_t from = static_cast<std::int64_t>(mix(seed) % static_cast<std::uint64_t>(count));
        std::vector<double> start(c.value.size(), std::nan(""));
        start[static_cast<std::size_t>(from)] = p.value[static_cast<std::size_t>(from)];
        std::vector<std::int64_t> a, b;
        for (std::int64_t i = 0; i < count; ++i) a.push_back(from), b.push_back(i);
        std::vector<double> want = oracle::lowest_paths(p, start);
        for (double& each : want) each = c.options.maxima ? -each : each;
        EXPECT_EQ(basins_of(c).passes(a, b), want) << c.text() << ", seed " << seed;
    }
}

TEST(Basins, WatershedsAreThoseOfTheFunction) {
    watershed_case c = landscape({90, 80}, 1, dtype::uint8);
    const basins kept = basins_of(c);
    std::vector<std::int32_t> label(c.value.size()), markers(c.marker.begin(), c.marker.end());
    const auto out = any_output<host>::contiguous(label.data(), dtype::int32, c.shape);
    kept.watershed(host{}, {out, {}}, {}, any_input<host>::contiguous(markers.data(), dtype::int32, c.shape));
    EXPECT_EQ(std::vector<std::int64_t>(label.begin(), label.end()), labels_of(c));
    c.marker.clear(), c.options.h = 8;
    kept.watershed(host{}, {out, {}}, {.h = 8});
    EXPECT_EQ(std::vector<std::int64_t>(label.begin(), label.end()), labels_of(c));
}

TEST(WatershedArguments, AreRefusedBeforeAnyWork) {
    std::vector<std::uint8_t> image(12, 1), mask(12, 1);
    std::vector<std::int32_t> out(12, 7), markers(12, 1);
    const shape_t shape{3, 4}, other{4, 3};
    const auto in = any_input<host>::contiguous(image.data(), dtype::uint8, shape);
    const auto to = any_output<host>::contiguous(out.data(), dtype::int32, shape);
    const auto given = any_input<host>::contiguous(markers.data(), dtype::int32, shape);
    const auto refused = [&](const watershed_fields<host>& fields, const watershed_options& options,
                             const any_input<host>& markers_, const any_input<host>& mask_,
                             std::initializer_list<const char*> words) {
        expect_refused([&] { watershed(host{}, in, fields, options, markers_, mask_); }, words);
    };
    refused({}, {}, {}, {}, {"out", "label", "passes", "extrema"});
    const auto bits = any_output<host>::contiguous(mask.data(), dtype::uint8, shape);
    refused({to, {}, bits}, {}, given, {}, {"extrema", "markers"});
    refused({{}, {}, to}, {}, {}, {}, {"out.extrema", "int32"});
    refused({to, {}}, {.connectivity = 3}, {}, {}, {"connectivity", "3"});
    refused({to, {}}, {.border = border::closed}, {}, {}, {"border", "closed"});
    refused({to, {}}, {.h = -1}, {}, {}, {"h is -1"});
    refused({to, {}}, {.h = 1}, given, {}, {"h", "markers"});
    refused({to, {}}, {}, any_input<host>::contiguous(markers.data(), dtype::int32, other), {}, {"markers", "4x3"});
    refused({to, {}}, {}, any_input<host>::contiguous(markers.data(), dtype::float32, shape), {}, {"markers"});
    refused({to, {}}, {}, {}, any_input<host>::contiguous(markers.data(), dtype::int32, shape), {"mask", "int32"});
    refused({any_output<host>::contiguous(out.data(), dtype::int64, shape), {}}, {}, {}, {}, {"out.label", "int64"});
    refused({{}, to}, {}, {}, {}, {"out.passes", "int32", "uint8"});
    expect_refused(
        [&] {
            watershed(host{}, any_input<host>::contiguous(out.data(), dtype::int32, shape), {to, {}}, {.roots = true});
        },
        {"image", "int32", "roots"});
    const basins kept(host{}, in);
    expect_refused([&] { (void)kept.passes({1, 2}, {3}); }, {"a has 2", "b 1"});
    expect_refused([&] { (void)kept.passes({1}, {12}); }, {"12", "11"});
    std::vector<std::int64_t> wide(12, -1);
    expect_refused(
        [&] { (void)peaks(host{}, in, {}, {}, any_input<host>::contiguous(wide.data(), dtype::int64, shape)); },
        {"labels", "relabel"});
    expect_refused(
        [&] { (void)peaks(host{}, in, {}, {}, any_input<host>::contiguous(markers.data(), dtype::int32, other)); },
        {"labels", "4x3"});
    EXPECT_EQ(out, std::vector<std::int32_t>(12, 7));
}

TEST(Watershed, StopsWhereItsCallerSaysSo) {
    const watershed_case c = landscape({400, 500}, 0, dtype::uint8);
    const std::vector<std::byte> image = bytes_of(c.value, c.type);
    std::vector<std::int32_t> label(c.value.size());
    const auto in = any_input<host>::contiguous(image.data(), c.type, c.shape);
    const watershed_fields<host> out{any_output<host>::contiguous(label.data(), dtype::int32, c.shape), {}};
    double last = 0;
    watershed(host{1,
                   [&](double done) {
                       EXPECT_GE(done, last);
                       last = done;
                       return true;
                   }},
              in, out);
    EXPECT_GT(last, 0.8);
    for (const double stop : {0.0, 0.6})
        EXPECT_THROW(watershed(host{2, [stop](double done) { return done < stop; }}, in, out), error);
}

TEST(Watershed, EmptyImagesAndOneCell) {
    watershed_case c;
    c.shape = {3, 0, 2};
    EXPECT_EQ(on_host(c, 1), watershed_result{});
    c.shape = {1, 1}, c.value = {5};
    EXPECT_EQ(on_host(c, 1), (watershed_result{{1}, {5}, {1}}));
}

}  // namespace
}  // namespace nearfield::test
