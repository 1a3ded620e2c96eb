#include "watershed/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "scale.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr dtype types[] = {dtype::boolean, dtype::int8,    dtype::uint8, dtype::int16,  dtype::uint16, dtype::int32,
                           dtype::uint32,  dtype::float32, dtype::int64, dtype::uint64, dtype::float64};

template <class Use>
void with_type(dtype type, const Use& use) {
    switch (type) {
        case dtype::int8: return use(std::int8_t{});
        case dtype::int16: return use(std::int16_t{});
        case dtype::uint16: return use(std::uint16_t{});
        case dtype::int32: return use(std::int32_t{});
        case dtype::uint32: return use(std::uint32_t{});
        case dtype::int64: return use(std::int64_t{});
        case dtype::uint64: return use(std::uint64_t{});
        case dtype::float32: return use(float{});
        case dtype::float64: return use(double{});
        default: return use(std::uint8_t{});
    }
}

bool is_real(dtype type) { return type == dtype::float32 || type == dtype::float64; }
bool is_signed(dtype type) {
    return is_real(type) || type == dtype::int8 || type == dtype::int16 || type == dtype::int32 || type == dtype::int64;
}
/// The largest or least value of a type that a double holds.
double extreme_of(dtype type, bool largest) {
    double found = 0;
    with_type(type, [&]<class Value>(Value) {
        using limits = std::numeric_limits<Value>;
        if constexpr (std::is_floating_point_v<Value>) found = largest ? inf : -inf;
        else if constexpr (sizeof(Value) < 8) found = static_cast<double>(largest ? limits::max() : limits::lowest());
        else found = largest ? 1 : 0;
    });
    return type == dtype::boolean && largest ? 1 : found;
}

struct dice {
    std::uint64_t state;
    std::uint64_t below(std::uint64_t n) { return (state = mix(state)) % n; }
};

void draw_values(watershed_case& c, dice& d) {
    const std::uint64_t ranges[] = {1, 2, 4, 21, 100}, range = c.type == dtype::boolean ? 2 : ranges[d.below(5)];
    const bool waves = d.below(3) == 0, extremes = d.below(6) == 0;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        double v = static_cast<double>(d.below(range));
        if (waves && c.type != dtype::boolean)
            v = std::floor(9 + 8 * std::sin(0.7 * static_cast<double>(i % c.shape.back())) + v / 8);
        if (is_signed(c.type)) v -= static_cast<double>(range / 2);
        if (is_real(c.type)) v = d.below(40) == 0 ? std::nan("") : d.below(30) == 0 ? -0.0 : v / 4;
        if (extremes && d.below(4) == 0) v = extreme_of(c.type, d.below(2) == 0);
        c.value.push_back(v);
        c.seed.push_back(d.below(8) != 0 ? extreme_of(c.type, !c.options.maxima) : c.value[d.below(c.value.size())]);
    }
}

}  // namespace

std::vector<std::byte> bytes_of(const std::vector<double>& value, dtype type) {
    std::vector<std::byte> bytes(value.size() * static_cast<std::size_t>(size_of(type)));
    with_type(type, [&]<class Value>(Value) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            const auto v = static_cast<Value>(value[i]);
            std::memcpy(bytes.data() + i * sizeof(Value), &v, sizeof(Value));
        }
    });
    return bytes;
}

std::vector<double> values_of(const std::vector<std::byte>& bytes, dtype type) {
    std::vector<double> value(bytes.size() / static_cast<std::size_t>(size_of(type)));
    with_type(type, [&]<class Value>(Value) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            Value v{};
            std::memcpy(&v, bytes.data() + i * sizeof(Value), sizeof(Value));
            value[i] = static_cast<double>(v);
        }
    });
    return value;
}

std::string watershed_case::text() const {
    std::ostringstream s;
    s << name_of(type);
    for (const std::int64_t n : shape) s << ' ' << n;
    s << ", connectivity " << options.connectivity << (options.maxima ? ", maxima" : "")
      << (options.lines ? ", lines" : "") << ", h " << options.h << (options.roots ? " of roots" : "")
      << (marker.empty() ? "" : ", markers") << (mask.empty() ? "" : ", mask");
    for (const border each : ends) s << (each == border::periodic ? ", periodic" : ", open");
    return s.str();
}

watershed_case drawn_case(std::uint64_t seed, int axes) {
    dice d{mix(seed)};
    watershed_case c;
    const int rank = 1 + static_cast<int>(d.below(static_cast<std::uint64_t>(axes)));
    for (int axis = 0; axis < rank; ++axis)
        c.shape.push_back(1 + static_cast<std::int64_t>(d.below(rank == 1 ? 90 : rank == 2 ? 14 : rank == 3 ? 7 : 4)));
    c.type = types[d.below(std::size(types))];
    c.options.maxima = d.below(3) == 0, c.options.lines = d.below(3) == 0;
    c.options.connectivity = 1 + static_cast<int>(d.below(static_cast<std::uint64_t>(rank)));
    draw_values(c, d);
    for (int axis = 0; axis < rank && seed % 2 == 0; ++axis)
        c.ends.push_back(d.below(2) == 0 ? border::periodic : border::open);
    const std::uint64_t share = d.below(4);
    for (std::size_t i = 0; i < c.value.size() && d.below(3) != 0 && share > 0; ++i)
        if (c.mask.empty()) c.mask.assign(c.value.size(), 1);
    for (auto& m : c.mask) m = d.below(10) < 3 * share / 2 ? 0 : 1;
    if (d.below(3) == 0) {
        c.options.h = std::vector<double>{0, 0.25, 1, 1.5, 2, 6}[d.below(6)];
        c.options.roots = c.options.h > 0 && !is_signed(c.type) && d.below(2) == 0;
        return c;
    }
    c.marker_type =
        std::vector<dtype>{dtype::int32, dtype::uint8, dtype::int16, dtype::int64, dtype::uint32}[d.below(5)];
    const std::uint64_t every = std::vector<std::uint64_t>{3, 10, 60}[d.below(3)];
    for (std::size_t i = 0; i < c.value.size(); ++i)
        c.marker.push_back(d.below(every) == 0 ? 1 + static_cast<std::int64_t>(d.below(100)) : 0);
    return c;
}

oracle::watershed_problem problem_of(const watershed_case& c) {
    oracle::watershed_problem p{c.shape, {}, c.options.connectivity, c.value, c.marker, c.options.lines};
    for (std::size_t axis = 0; axis < c.shape.size(); ++axis)
        p.wraps.push_back(!c.ends.empty() && c.ends[axis] == border::periodic ? 1 : 0);
    for (std::size_t i = 0; i < p.value.size(); ++i) {
        if (c.options.maxima) p.value[i] = -p.value[i];
        if (!c.mask.empty() && c.mask[i] == 0) p.value[i] = std::nan("");
    }
    return p;
}

std::vector<oracle::minimum> high_minima(const watershed_case& c, bool strict) {
    const oracle::watershed_problem p = problem_of(c);
    std::vector<oracle::minimum> found;
    for (const oracle::minimum& each : oracle::minima_of(p, strict)) {
        const double own = p.value[static_cast<std::size_t>(each.cell)], h = c.options.h;
        double rises = each.saddle - own - h;
        if (c.options.roots && each.saddle < inf) {  // exact, because all values are small multiples of 1/16
            const double less = std::min(std::abs(own), std::abs(each.saddle)),
                         apart = std::abs(each.saddle - own) - h * h;
            rises = apart < 0 ? -1 : apart * apart - 4 * h * h * less;
        }
        if (each.saddle == inf || rises >= 0) found.push_back(each);
    }
    return found;
}

watershed_result expected(const watershed_case& c) {
    oracle::watershed_problem p = problem_of(c);
    if (c.marker.empty()) {
        p.marker.assign(c.value.size(), 0);
        std::int64_t number = 0;
        for (const oracle::minimum& each : high_minima(c, false))
            p.marker[static_cast<std::size_t>(each.cell)] = ++number;
    }
    const oracle::watershed_answer found = oracle::flooded(p);
    watershed_result result{found.label, found.level};
    if (c.marker.empty()) {
        result.extrema.assign(c.value.size(), 0);
        for (const oracle::minimum& each : high_minima(c, true))
            for (const std::int64_t cell : oracle::plateau_of(problem_of(c), each.cell))
                result.extrema[static_cast<std::size_t>(cell)] = 1;
    }
    for (std::size_t i = 0; i < result.passes.size(); ++i) {
        double& level = result.passes[i];
        if (level == inf && found.label[i] == 0) level = extreme_of(c.type, !c.options.maxima);
        else if (c.options.maxima) level = -level;
    }
    return result;
}

std::vector<double> expected_reconstruction(const watershed_case& c) {
    watershed_case whole = c;
    whole.mask.clear();
    std::vector<double> start = c.seed;
    for (double& each : start) each = c.options.maxima ? -each : each;
    std::vector<double> level = oracle::lowest_paths(problem_of(whole), start);
    for (double& each : level) each = c.options.maxima ? -each : each;
    return level;
}

void check_watersheds(const watershed_runner& run, std::uint64_t first, std::uint64_t end, int axes) {
    for (std::uint64_t seed = first; seed < share(first, end) && !testing::Test::HasFailure(); ++seed) {
        const watershed_case c = drawn_case(seed, axes);
        const watershed_result want = expected(c), got = run(c);
        EXPECT_EQ(got.label, want.label) << c.text() << ", seed " << seed;
        EXPECT_EQ(got.extrema, want.extrema) << c.text() << ", seed " << seed;
        const bool wide = size_of(c.type) == 8;  // no double equals the largest of these integers
        for (std::size_t i = 0; i < want.passes.size(); ++i) {
            if (wide && want.label[i] == 0) continue;
            ASSERT_EQ(got.passes[i], want.passes[i]) << c.text() << ", seed " << seed;
        }
    }
}

/// Checks peaks; each label counts as an image of its own.
void check_peaks(const peaks_runner& run, std::uint64_t first, std::uint64_t end, int axes) {
    for (std::uint64_t seed = first; seed < share(first, end) && !testing::Test::HasFailure(); ++seed) {
        watershed_case c = drawn_case(seed, axes);
        if (c.marker.empty() && seed % 2 == 0)
            for (std::size_t i = 0; i < c.value.size(); ++i)
                c.marker.push_back(static_cast<std::int64_t>(mix(seed + i / 3) % 3));
        std::vector<std::int64_t> labels = c.marker;
        std::sort(labels.begin(), labels.end());
        labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
        if (labels.empty()) labels.push_back(1);
        std::vector<peak> want;
        for (const std::int64_t label : labels) {
            watershed_case part = c;
            part.marker.clear();
            if (part.mask.empty()) part.mask.assign(c.value.size(), 1);
            for (std::size_t i = 0; i < c.marker.size(); ++i)
                if (c.marker[i] != label || label == 0) part.mask[i] = 0;
            for (const oracle::minimum& each : high_minima(part, false))
                want.push_back({each.cell, c.value[static_cast<std::size_t>(each.cell)]});
        }
        std::sort(want.begin(), want.end(), [](const peak& a, const peak& b) { return a.cell < b.cell; });
        EXPECT_EQ(run(c), want) << c.text() << ", seed " << seed;
    }
}

void check_reconstructions(const reconstruct_runner& run, std::uint64_t first, std::uint64_t end, int axes) {
    for (std::uint64_t seed = first; seed < share(first, end) && !testing::Test::HasFailure(); ++seed) {
        const watershed_case c = drawn_case(seed, axes);
        if (std::any_of(c.value.begin(), c.value.end(), [](double v) { return std::isnan(v); })) continue;
        EXPECT_EQ(run(c), expected_reconstruction(c)) << c.text() << ", seed " << seed;
    }
}

watershed_case landscape(const shape_t& shape, std::uint64_t seed, dtype type) {
    watershed_case c;
    c.shape = shape, c.type = type;
    dice d{mix(seed)};
    const double wave = 0.05 + 0.01 * static_cast<double>(d.below(20));
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const auto x = static_cast<double>(i % shape.back()), y = static_cast<double>(i / shape.back());
        const double v = 60 + 25 * std::sin(wave * x) * std::cos(0.6 * wave * y) + 9 * std::sin(0.31 * (x + y));
        c.value.push_back(std::floor(v + 0.2 * static_cast<double>(d.below(seed % 3 == 0 ? 100 : 10))));
        c.marker.push_back(d.below(400) == 0 ? i + 1 : 0);
    }
    return c;
}

basins basins_of(const watershed_case& c) {
    const std::vector<std::byte> image = bytes_of(c.value, c.type);
    watershed_options options = c.options;
    if (!c.ends.empty()) options.border = {c.ends.data(), c.ends.size()};
    const auto mask =
        c.mask.empty() ? any_input<host>{} : any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape);
    return {host{2, {}}, any_input<host>::contiguous(image.data(), c.type, c.shape), options, mask};
}

watershed_result on_host(const watershed_case& c, int threads) {
    const std::vector<std::byte> image = bytes_of(c.value, c.type);
    const std::vector<std::byte> markers =
        bytes_of(std::vector<double>(c.marker.begin(), c.marker.end()), c.label_type());
    std::vector<std::byte> label(c.value.size() * static_cast<std::size_t>(size_of(c.label_type()))),
        passes(image.size());
    watershed_options options = c.options;
    if (!c.ends.empty()) options.border = {c.ends.data(), c.ends.size()};
    const auto mask =
        c.mask.empty() ? any_input<host>{} : any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape);
    const auto given =
        c.marker.empty() ? any_input<host>{} : any_input<host>::contiguous(markers.data(), c.marker_type, c.shape);
    watershed_result result;
    result.extrema.assign(c.marker.empty() ? c.value.size() : 0, 7);
    watershed(host{threads, {}}, any_input<host>::contiguous(image.data(), c.type, c.shape),
              {any_output<host>::contiguous(label.data(), c.label_type(), c.shape),
               any_output<host>::contiguous(passes.data(), c.type, c.shape),
               c.marker.empty() ? any_output<host>::contiguous(result.extrema.data(), dtype::uint8, c.shape)
                                : any_output<host>{}},
              options, given, mask);
    result.passes = values_of(passes, c.type);
    for (const double each : values_of(label, c.label_type())) result.label.push_back(static_cast<std::int64_t>(each));
    return result;
}

std::vector<peak> peaks_on_host(const watershed_case& c, int threads) {
    const std::vector<std::byte> image = bytes_of(c.value, c.type);
    const std::vector<std::byte> labels =
        bytes_of(std::vector<double>(c.marker.begin(), c.marker.end()), c.label_type());
    watershed_options options = c.options;
    if (!c.ends.empty()) options.border = {c.ends.data(), c.ends.size()};
    return peaks(
        host{threads, {}}, any_input<host>::contiguous(image.data(), c.type, c.shape), options,
        c.mask.empty() ? any_input<host>{} : any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape),
        c.marker.empty() ? any_input<host>{} : any_input<host>::contiguous(labels.data(), c.label_type(), c.shape));
}

std::vector<double> reconstructed_on_host(const watershed_case& c, int threads) {
    const std::vector<std::byte> image = bytes_of(c.value, c.type), seed = bytes_of(c.seed, c.type);
    std::vector<std::byte> out(image.size());
    watershed_options options = c.options;
    options.h = 0, options.roots = false;
    if (!c.ends.empty()) options.border = {c.ends.data(), c.ends.size()};
    reconstruct_gray(host{threads, {}}, any_input<host>::contiguous(seed.data(), c.type, c.shape),
                     any_input<host>::contiguous(image.data(), c.type, c.shape),
                     any_output<host>::contiguous(out.data(), c.type, c.shape), options);
    return values_of(out, c.type);
}

}  // namespace nearfield::test
