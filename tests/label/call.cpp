#include "label/call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "oracle/components.hpp"

namespace nearfield::test {
namespace {

__extension__ typedef __int128 wide;

/// A value of any element type, held exactly.
struct number {
    bool is_real = false;
    wide integer = 0;
    double real = 0;
};

template <class T>
number number_as(const guarded& from, std::int64_t i) {
    const T value = from.get<T>(i);
    if constexpr (std::is_floating_point_v<T>) return {true, 0, value};
    else return {false, value, 0};
}

number number_in(const guarded& from, std::int64_t i) {
    switch (from.type()) {
        case dtype::boolean:
        case dtype::uint8: return number_as<std::uint8_t>(from, i);
        case dtype::int8: return number_as<std::int8_t>(from, i);
        case dtype::int16: return number_as<std::int16_t>(from, i);
        case dtype::uint16: return number_as<std::uint16_t>(from, i);
        case dtype::int32: return number_as<std::int32_t>(from, i);
        case dtype::uint32: return number_as<std::uint32_t>(from, i);
        case dtype::int64: return number_as<std::int64_t>(from, i);
        case dtype::uint64: return number_as<std::uint64_t>(from, i);
        case dtype::float32: return number_as<float>(from, i);
        default: return number_as<double>(from, i);
    }
}

number number_of(const scalar& s) {
    if (s.is_real()) return {true, 0, s.real()};
    return {false, s.is_negative() ? wide{static_cast<std::int64_t>(s.bits())} : wide{s.bits()}, 0};
}

/// The value as a long double, which holds every 64-bit integer and every double exactly.
long double exact(const number& n) {
    return n.is_real ? static_cast<long double>(n.real) : static_cast<long double>(n.integer);
}

/// The difference; NaN if either is NaN.
long double difference(const number& a, const number& b) {
    if (exact(a) == exact(b)) return 0;
    if (a.is_real) return std::fabs(a.real - b.real);
    return static_cast<long double>(a.integer < b.integer ? b.integer - a.integer : a.integer - b.integer);
}

/// The options' rules for the cells of one image of the batch.
class meaning {
public:
    meaning(const label_call& c, std::int64_t first_cell)
        : image_(c.image),
          o_(c.options),
          first_(first_cell),
          channels_(o_.channels ? c.how.shape.back() : 1),
          rank_(static_cast<int>(c.how.shape.size()) - o_.batch_axes - (o_.channels ? 1 : 0)) {}

    [[nodiscard]] bool foreground(std::int64_t cell) const {
        if (o_.criterion == criterion::links) return true;
        if (o_.criterion != criterion::nonzero && !o_.has_background) return true;
        const number background = o_.criterion == criterion::nonzero ? number{} : number_of(o_.background);
        bool all = true;
        for (std::int64_t k = 0; k < channels_; ++k) {
            const long double v = exact(at(cell, k)), b = exact(background);
            all = all && (v == b || (std::isnan(v) && std::isnan(b)));
        }
        return !all;
    }

    /// True if a and b are linked; `step` numbers the step from a to b in C order over (-1, 0, 1).
    [[nodiscard]] bool linked(std::int64_t a, std::int64_t b, std::size_t step) const {
        if (o_.criterion == criterion::nonzero) return true;
        if (o_.criterion == criterion::links) {
            const std::size_t opposite = std::array{2U, 8U, 26U}[static_cast<std::size_t>(rank_ - 1)] - step;
            return names(a, step) || names(b, opposite);
        }
        const long double tolerance = o_.criterion == criterion::equal ? 0 : exact(number_of(o_.tolerance));
        long double largest = 0, sum = 0, sum2 = 0;
        for (std::int64_t k = 0; k < channels_; ++k) {
            const long double d = difference(at(a, k), at(b, k));
            if (std::isnan(d)) return false;
            largest = std::max(largest, d);
            sum = static_cast<double>(sum + d);
            sum2 = static_cast<double>(sum2 + static_cast<double>(d) * static_cast<double>(d));
        }
        if (channels_ == 1 || o_.norm == colour_norm::maximum || o_.criterion == criterion::equal)
            return largest <= tolerance;
        if (o_.norm == colour_norm::sum) return sum <= tolerance;
        const auto t = static_cast<double>(tolerance);
        return sum2 <= t * t;
    }

private:
    /// Order of a graph's bits from the lowest, x first, as the documentation of cc3d lists them.
    [[nodiscard]] bool names(std::int64_t cell, std::size_t step) const {
        using place = std::array<int, 3>;
        static const std::vector<place> line{{1}, {-1}},
            image{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}},
            volume{{1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},  {0, 0, 1},   {0, 0, -1}, {1, 1, 0},
                   {-1, 1, 0},  {1, -1, 0},  {-1, -1, 0}, {1, 0, 1},   {-1, 0, 1},  {0, 1, 1},  {0, -1, 1},
                   {1, 0, -1},  {-1, 0, -1}, {0, 1, -1},  {0, -1, -1}, {1, 1, 1},   {-1, 1, 1}, {1, -1, 1},
                   {-1, -1, 1}, {1, 1, -1},  {-1, 1, -1}, {1, -1, -1}, {-1, -1, -1}};
        place to{};
        for (int axis = rank_ - 1; axis >= 0; --axis, step /= 3)
            to[static_cast<std::size_t>(rank_ - 1 - axis)] = static_cast<int>(step % 3) - 1;
        const auto& order = rank_ == 1 ? line : rank_ == 2 ? image : volume;
        const auto bit = std::find(order.begin(), order.end(), to) - order.begin();
        return (at(cell, 0).integer >> bit & 1) != 0;
    }
    [[nodiscard]] number at(std::int64_t cell, std::int64_t channel) const {
        return number_in(image_, (first_ + cell) * channels_ + channel);
    }
    const guarded& image_;
    const label_options& o_;
    std::int64_t first_, channels_;
    int rank_;
};

shape_t label_shape(const label_case& how, const label_options& o) {
    shape_t shape = how.shape;
    if (o.channels) shape.pop_back();
    return shape;
}

std::int64_t images_of(const label_case& how, const label_options& o) {
    return cells_of({how.shape.begin(), how.shape.begin() + o.batch_axes});
}

int changes_asked(int connectivity, std::size_t axes) {
    if (connectivity <= static_cast<int>(axes)) return connectivity;
    if (connectivity == 4 || connectivity == 6 || (connectivity == 2 && axes == 1)) return 1;
    return connectivity == 26 ? 3 : 2;
}

oracle::component_answer expected_of(const label_call& c, std::int64_t image) {
    const shape_t all = label_shape(c.how, c.options);
    oracle::component_problem p;
    p.shape.assign(all.begin() + c.options.batch_axes, all.end());
    const meaning cells(c, image * cells_of(p.shape));
    p.foreground = [&](std::int64_t cell) { return cells.foreground(cell); };
    p.linked = [&](std::int64_t a, std::int64_t b, std::size_t step) { return cells.linked(a, b, step); };
    const auto axes = static_cast<int>(p.shape.size());
    p.steps = c.steps.empty() ? oracle::steps_of(axes, changes_asked(c.options.connectivity, p.shape.size())) : c.steps;
    for (int axis = 0; axis < axes; ++axis) p.periodic.push_back(c.options.border[axis] == border::periodic);
    const label_options& o = c.options;
    return oracle::filtered(oracle::flood_fill(p), p, {o.smallest, o.largest, o.keep_largest, o.clear_border});
}

template <class T>
std::vector<T> strange_values() {
    using limits = std::numeric_limits<T>;
    return {limits::quiet_NaN(), -limits::quiet_NaN(), limits::infinity(), -limits::infinity(), limits::denorm_min()};
}

template <class T>
void put(guarded& image, std::int64_t i, std::int64_t value, bool strange) {
    T v = static_cast<T>(value);
    if constexpr (std::is_floating_point_v<T>) {
        if (value == 0 && mix(static_cast<std::uint64_t>(i)) % 2 == 0) v = -v;
        const auto odd = strange_values<T>();
        if (strange && mix(static_cast<std::uint64_t>(i) + 77) % 6 == 0)
            v = odd[mix(static_cast<std::uint64_t>(i / 2)) % odd.size()];
    }
    std::memcpy(image.element(i), &v, sizeof v);
}

}  // namespace

label_call::label_call(const label_case& how_, const label_options& options_)
    : how(how_),
      options(options_),
      steps(options_.steps.begin(), options_.steps.end()),
      image(how.element, how.shape, how.image_layout, how.seed),
      label(how.label, label_shape(how, options), how.label_layout, how.seed + 1),
      count(dtype::int64, {images_of(how, options)}, layout::stepping, how.seed + 2) {}

void label_call::draw(const flags_t& foreground) { write_image(image, foreground, true); }

void label_call::write(const std::vector<std::int64_t>& values, bool strange) {
    for (std::int64_t i = 0; i < image.cells(); ++i) {
        const std::int64_t v = values[static_cast<std::size_t>(i)];
        switch (how.element) {
            case dtype::boolean: put<std::uint8_t>(image, i, v != 0, false); break;
            case dtype::int8:
            case dtype::uint8: put<std::uint8_t>(image, i, v, false); break;
            case dtype::int16:
            case dtype::uint16: put<std::uint16_t>(image, i, v, false); break;
            case dtype::int32:
            case dtype::uint32: put<std::uint32_t>(image, i, v, false); break;
            case dtype::float32: put<float>(image, i, v, strange); break;
            case dtype::float64: put<double>(image, i, v, strange); break;
            default: put<std::uint64_t>(image, i, v, false);
        }
    }
}

label_fields<host> label_call::fields() {
    label_fields<host> out;
    out.label = label.view_of<host>(static_cast<void*>(label.bytes().data()));
    out.count = count.view_of<host>(static_cast<void*>(count.bytes().data()));
    return out;
}

void label_on_host(label_call& c) {
    if (!c.steps.empty()) c.options.steps = c.steps;
    nearfield::label(host{c.how.threads}, c.image.view_of<host>(static_cast<const void*>(c.image.bytes().data())),
                     c.fields(), c.options);
}

std::string verdict(const label_call& c, const std::vector<std::byte>& image_before) {
    if (c.image.bytes() != image_before) return "the image was changed";
    for (const guarded* each : {&c.label, &c.count})
        if (const std::string broken = each->guards_broken(); !broken.empty()) return broken;
    const std::int64_t images = images_of(c.how, c.options);
    for (std::int64_t image = 0; image < images; ++image) {
        const oracle::component_answer expected = expected_of(c, image);
        const auto cells = static_cast<std::int64_t>(expected.label.size());
        if (c.count.get<std::int64_t>(image) != expected.count)
            return "count of image " + std::to_string(image) + " is " +
                   std::to_string(c.count.get<std::int64_t>(image)) + ", expected " + std::to_string(expected.count);
        for (std::int64_t i = 0; i < cells; ++i) {
            const std::int64_t right = expected.label[static_cast<std::size_t>(i)];
            if (const wide came = number_in(c.label, image * cells + i).integer; came != right)
                return "label of cell " + std::to_string(i) + " of image " + std::to_string(image) + " is " +
                       std::to_string(static_cast<std::int64_t>(came)) + ", expected " + std::to_string(right);
        }
    }
    return {};
}

std::string check(const label_engine& engine, label_call c) {
    c.label.paint(), c.count.paint();
    const std::vector<std::byte> before = c.image.bytes();
    engine(c);
    return verdict(c, before);
}

double value_in(const guarded& from, std::int64_t i) { return static_cast<double>(exact(number_in(from, i))); }

std::vector<std::int64_t> values_of(const shape_t& shape, std::uint64_t k) {
    const std::int64_t grain = std::array{1, 2, 5}[mix(k + 9) % 3];
    const std::uint64_t choices = std::array{2, 3, 9, 100}[mix(k + 10) % 4];
    return over(shape,
                [&](const shape_t& at) { return static_cast<std::int64_t>(grain_value(at, grain, choices, k)); });
}

label_options options_of(std::uint64_t k, criterion kind, int connectivity) {
    label_options o{.connectivity = connectivity, .criterion = kind};
    const scalar tolerances[] = {0, 1, 1.5, 3, 30}, backgrounds[] = {0, 1, 7, 300, -1, 0.5, std::nan("")};
    o.tolerance = tolerances[mix(k + 11) % 5];
    o.background = backgrounds[mix(k + 12) % 7];
    o.has_background = mix(k + 13) % 4 != 0;
    return o;
}

std::vector<std::int64_t> graph_of(const shape_t& shape, std::uint64_t k) {
    const std::int64_t grain = std::array{1, 2, 5}[mix(k + 9) % 3];
    // Average share of the bits that are kept: few, so that components wind; nearly all; or all, except across one
    // sheet.
    const std::uint64_t kind = mix(k + 10) % 5;
    std::uint64_t number = 0;
    return over(shape, [&](const shape_t& at) {
        const std::uint64_t a = mix(k * 77 + ++number), b = mix(a), c = mix(b);
        const std::uint64_t bits[] = {a, a & b, a & b & c & mix(c), a | b | c, mix(at.back() / grain % 3) | (a & b)};
        return static_cast<std::int64_t>(bits[kind] & 0x7fffffff);
    });
}

label_case dressed_graph(const shape_t& shape, int connectivity, std::uint64_t k) {
    label_case how = dressed(shape, k);
    const bool wide = shape.size() > 2 && connectivity > 1;
    how.element =
        wide ? std::array{dtype::int32, dtype::uint32, dtype::int64, dtype::uint64}[mix(k) % 4]
             : std::array{
                   dtype::uint8, dtype::int8, dtype::uint16, dtype::int16, dtype::uint32, dtype::int64}[mix(k) % 6];
    if (how.label == dtype::uint16 && cells_of(shape) > 65535) how.label = dtype::int32;
    return how;
}

label_case dressed(const shape_t& shape, std::uint64_t k) {
    label_case how;
    how.shape = shape, how.seed = k;
    how.element = label_elements[mix(k) % std::size(label_elements)];
    how.image_layout = all_layouts[mix(k + 1) % std::size(all_layouts)];
    how.label = label_types[mix(k + 2) % std::size(label_types)];
    how.label_layout = all_layouts[mix(k + 3) % std::size(all_layouts)];
    how.threads = std::array{1, 2, 7}[mix(k + 4) % 3];
    return how;
}

}  // namespace nearfield::test
