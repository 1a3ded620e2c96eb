#include "exact/options_call.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace nearfield::test {
namespace {

oracle::option_problem problem_of(const shape_t& shape, const distance_options& options) {
    oracle::option_problem p;
    p.shape = shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        p.spacing.push_back(options.spacing[static_cast<int>(axis)]);
        p.border.push_back(static_cast<oracle::edge>(options.border[static_cast<int>(axis)]));
    }
    p.sites = static_cast<oracle::rule>(options.sites);
    p.sign = static_cast<oracle::side>(options.sign);
    p.half_cell = options.half_cell;
    p.max_distance = options.max_distance;
    p.batch_axes = options.batch_axes;
    return p;
}
static_assert(static_cast<int>(sites::other_labels) == static_cast<int>(oracle::rule::other_labels));
static_assert(static_cast<int>(sign::outside_negative) == static_cast<int>(oracle::side::outside_negative));
static_assert(static_cast<int>(border::periodic) == static_cast<int>(oracle::edge::periodic));

std::uint64_t mask_of(dtype type) {
    const auto bits = static_cast<int>(8 * size_of(type));
    return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

bool is_zero(dtype type, std::uint64_t bits) {
    const std::uint64_t sign_bit = type >= dtype::float16 ? std::uint64_t{1} << (8 * size_of(type) - 1) : 0;
    return (bits & ~sign_bit) == 0;
}

/// Bits of a code: integers that differ in low or high bytes only, negative ones; infinities, NaNs and denormals.
std::uint64_t bits_of(dtype type, std::uint32_t code, std::uint64_t cell) {
    const std::uint64_t mask = mask_of(type), top = std::uint64_t{1} << (8 * size_of(type) - 1);
    if (type == dtype::boolean) return code != 0;
    if (code == 0) return type >= dtype::float16 && mix(cell) % 2 == 0 ? top : 0;
    if (type >= dtype::float16) {
        const std::uint64_t exponent = type == dtype::float16   ? 0x7c00u
                                       : type == dtype::float32 ? 0x7f800000u
                                                                : 0x7ff0000000000000u;
        const std::uint64_t kinds[] = {code, top | code, exponent, exponent | top, exponent | code, exponent - code};
        return kinds[code % 6] & mask;
    }
    const std::uint64_t kinds[] = {code, (code & 255u) * (top >> 7), ~std::uint64_t{code}, (top >> 1) + code,
                                   code * std::uint64_t{0x0101010101010101}};
    return kinds[code % 5] & mask;
}

guarded filled(dtype type, const shape_t& shape, layout how, std::uint64_t seed,
               const std::vector<std::uint64_t>& bits) {
    guarded array(type, shape, how, seed);
    for (std::size_t i = 0; i < bits.size(); ++i)
        std::memcpy(array.element(static_cast<std::int64_t>(i)), &bits[i], static_cast<std::size_t>(size_of(type)));
    return array;
}

template <class T>
std::uint64_t raw_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/// Random weight bits: mostly small, sometimes large, and for floats sometimes not finite.
std::uint64_t weight_bits(dtype type, dice& random, double& value) {
    const auto small = static_cast<double>(random.below(40) - 10);
    const bool whole = type < dtype::float16;
    const bool negative =
        type == dtype::int8 || type == dtype::int16 || type == dtype::int32 || type == dtype::int64 || !whole;
    const int digits = std::min(static_cast<int>(8 * size_of(type)) - (negative ? 1 : 0), 53);
    const double most = !whole ? 1e6 : std::ldexp(1.0, digits) - 1;
    value = random.one_in(12) ? most - static_cast<double>(random.below(9)) : small;
    if (!negative) value = std::fabs(value);
    if (whole) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & mask_of(type);
    if (random.one_in(3)) value += random.share();
    if (random.one_in(15)) value = std::numeric_limits<double>::quiet_NaN();
    if (random.one_in(30)) value = -std::numeric_limits<double>::infinity();
    if (random.one_in(300)) value = std::numeric_limits<double>::infinity();
    if (random.one_in(100)) value = random.one_in(2) ? 1e30 : -1e30;
    if (type == dtype::float64) return raw_bits(value);
    const auto single = static_cast<float>(value);
    value = single;
    return raw_bits(single);
}

}  // namespace

std::uint16_t half_bits(double value) {
    const auto finite = [](unsigned bits) {
        const int exponent = static_cast<int>(bits >> 10);
        const unsigned fraction = bits & 1023u;
        return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    };
    if (std::isnan(value)) return 0x7e00;
    const unsigned top = std::signbit(value) ? 0x8000u : 0;
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520) return static_cast<std::uint16_t>(top | 0x7c00u);
    unsigned below = 0, above = 0x7c00;  // finite(below) <= magnitude < finite(above)
    while (above - below > 1) {
        const unsigned middle = (below + above) / 2;
        (finite(middle) <= magnitude ? below : above) = middle;
    }
    const double down = magnitude - finite(below), up = finite(above) - magnitude;
    return static_cast<std::uint16_t>(top | (down < up || (down == up && below % 2 == 0) ? below : above));
}

option_item::option_item(const shape_t& shape, dtype type, const codes_t& codes, const distance_options& options,
                         const wanted_fields& wanted, std::uint64_t seed)
    : problem(problem_of(shape, options)), image(type, shape, wanted.image_layout, seed) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        problem.value.push_back(bits_of(type, codes[i], i + seed));
        problem.zero.push_back(is_zero(type, problem.value.back()));
    }
    image = filled(type, shape, wanted.image_layout, seed, problem.value);
    std::uint64_t salt = seed;
    const auto make = [&](std::optional<dtype> of, std::optional<guarded>& field, const shape_t& sizes) {
        if (of) field.emplace(*of, sizes, wanted.output_layout, mix(++salt));
    };
    make(wanted.squared, squared, shape);
    make(wanted.distance, distance, shape);
    make(wanted.index, index, shape);
    make(wanted.trusted, trusted, shape);
    if (wanted.label) make(type, label, shape);
    shape_t with_axes = shape;
    with_axes.insert(with_axes.begin(), static_cast<std::int64_t>(shape.size()) - options.batch_axes);
    if (wanted.coordinates) make(dtype::int32, coordinates, with_axes);
}

void option_item::weigh(dtype type, layout how, std::uint64_t seed) {
    dice random(seed);
    std::vector<std::uint64_t> bits;
    problem.sites = oracle::rule::nonzero;
    problem.whole_power = type < dtype::float16;
    problem.power.clear();
    for (std::size_t i = 0; i < problem.value.size(); ++i) {
        double weight = 0;
        bits.push_back(weight_bits(type, random, weight));
        problem.power.push_back(weight);
    }
    weights = filled(type, image.shape(), how, seed, bits);
}

void option_item::leave_out(layout how, std::uint64_t seed) {
    dice random(seed);
    const std::int64_t kept = 1 + random.below(8);  // share of cells, in eighths
    std::vector<std::uint64_t> bits;
    for (std::size_t i = 0; i < problem.value.size(); ++i) bits.push_back(random.below(8) < kept ? 1 : 0);
    problem.part.assign(bits.begin(), bits.end());
    where = filled(random.one_in(2) ? dtype::boolean : dtype::uint8, image.shape(), how, seed, bits);
}

std::vector<guarded*> option_item::arrays() {
    std::vector<guarded*> list{&image};
    for (auto* array : {&weights, &where, &squared, &distance, &index, &coordinates, &label, &trusted}) {
        if (*array) list.push_back(&**array);
    }
    return list;
}

std::vector<guarded*> option_call::arrays() {
    std::vector<guarded*> list;
    for (option_item& item : items) {
        for (guarded* array : item.arrays()) list.push_back(array);
    }
    return list;
}

template <class Place>
void option_call::start(const Place& on, const std::vector<void*>& memory) {
    std::size_t k = 0;
    const auto next = [&](std::optional<guarded>& array) {
        return array ? array->view_of<Place, void>(memory[k++]) : any_output<Place>{};
    };
    std::vector<job<Place>> jobs;
    any_input<Place> weights, where;
    for (option_item& item : items) {  // in the order of option_item::arrays()
        job<Place> one;
        one.image = item.image.view_of<Place, const void>(memory[k++]);
        weights = next(item.weights);
        where = next(item.where);
        one.out.squared = next(item.squared);
        one.out.distance = next(item.distance);
        one.out.index = next(item.index);
        one.out.coordinates = next(item.coordinates);
        one.out.label = next(item.label);
        one.out.trusted = next(item.trusted);
        jobs.push_back(one);
    }
    if (form == form_value::list) {
        distance_transform(on, std::span<const job<Place>>(jobs), options);
    } else if (where.wanted()) {
        distance_transform_where(on, jobs[0].image, where, jobs[0].out, options, {true, true, true, true, true, true});
    } else if (form == form_value::power) {
        power_diagram(on, jobs[0].image, weights, jobs[0].out, options);
    } else {
        distance_transform(on, jobs[0].image, jobs[0].out, options);
    }
}
template void option_call::start<host>(const host&, const std::vector<void*>&);
template void option_call::start<device>(const device&, const std::vector<void*>&);

option_engine host_options_engine() {
    return [](option_call& c) {
        std::vector<void*> memory;
        for (guarded* array : c.arrays()) memory.push_back(array->bytes().data());
        host on;
        on.threads = c.threads;
        c.start(on, memory);
    };
}

}  // namespace nearfield::test
