#include "exact/call.hpp"

#include <cmath>
#include <sstream>

namespace nearfield::test {
namespace {

dtype narrowest(const oracle::answer& a) {
    if (a.type == oracle::width::u32) return dtype::uint32;
    return a.type == oracle::width::u64 ? dtype::uint64 : dtype::float64;
}

dtype type_of(outputs::squared_t wanted, const oracle::answer& a) {
    if (wanted == outputs::squared_t::float64 || a.type == oracle::width::f64) return dtype::float64;
    return wanted == outputs::squared_t::uint64 ? dtype::uint64 : narrowest(a);
}

/// Compares one element with the expected value, bit for bit.
template <class T>
std::string differs(const guarded& got, std::int64_t i, T expected) {
    const T value = got.get<T>(i);
    if (std::memcmp(&value, &expected, sizeof(T)) == 0) return {};
    std::ostringstream text;
    text.precision(20);
    text << name_of(got.type()) << " element " << i << " is " << value << ", expected " << expected;
    return text.str();
}

std::string wrong_squared(const guarded& got, std::int64_t i, const oracle::answer& a) {
    const auto k = static_cast<std::size_t>(i);
    switch (got.type()) {
        case dtype::uint32:
            // no_site cut to 32 bits is the maximum of 32 bits
            return differs(got, i, static_cast<std::uint32_t>(a.exact[k]));
        case dtype::uint64: return differs(got, i, a.exact[k]);
        default: return differs(got, i, a.squared[k]);
    }
}

std::string wrong_distance(const guarded& got, std::int64_t i, const oracle::answer& a) {
    const double root = std::sqrt(a.squared[static_cast<std::size_t>(i)]);
    return got.type() == dtype::float32 ? differs(got, i, static_cast<float>(root)) : differs(got, i, root);
}

std::string wrong_coordinates(const guarded& got, std::int64_t i, const oracle::answer& a, const shape_t& shape) {
    const std::int64_t site = a.index[static_cast<std::size_t>(i)];
    const shape_t at = site < 0 ? shape_t(shape.size(), -1) : oracle::coordinates_of(site, shape);
    const std::int64_t cells = cells_of(shape);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::string bad =
            differs(got, static_cast<std::int64_t>(axis) * cells + i, static_cast<std::int32_t>(at[axis]));
        if (!bad.empty()) return "axis " + std::to_string(axis) + ": " + bad;
    }
    return {};
}

template <class Wrong>
std::string first_wrong(const char* name, const std::optional<guarded>& got, std::int64_t cells, Wrong&& wrong) {
    if (!got) return {};
    for (std::int64_t i = 0; i < cells; ++i) {
        const std::string bad = wrong(*got, i);
        if (!bad.empty()) return std::string(name) + " of cell " + std::to_string(i) + ": " + bad;
    }
    const std::string guards = got->guards_broken();
    return guards.empty() ? guards : std::string(name) + ": " + guards;
}

template <class Place>
any_output<Place> output_view(std::optional<guarded>& array) {
    if (!array) return {};
    return array->view_of<Place, void>(array->bytes().data());
}

std::string describe(const solved& s, const outputs& wanted, const dress& how) {
    std::ostringstream text;
    std::size_t sites = 0;
    for (std::uint8_t site : s.problem.site) sites += site;
    text << text_of(s.problem.shape) << ", " << sites << " sites, spacing";
    for (double v : s.problem.spacing) text << ' ' << v;
    text << ", image " << name_of(how.image) << " layout " << static_cast<int>(how.image_layout) << ", output layout "
         << static_cast<int>(how.output_layout) << ", seed " << how.seed << ", sites are "
         << (how.sites_are_nonzero ? "nonzero" : "zero") << ", outputs distance " << static_cast<int>(wanted.distance)
         << " squared " << static_cast<int>(wanted.squared) << " index " << wanted.index << " coordinates "
         << wanted.coordinates;
    return text.str();
}

}  // namespace

dress dress::number(std::uint64_t k) {
    dress d;
    d.image = static_cast<dtype>(k % 12);
    d.image_layout = all_layouts[k / 12 % 6];
    d.output_layout = all_layouts[(k + k / 72) % 6];
    d.sites_are_nonzero = mix(k) % 2 == 0;
    d.seed = k;
    return d;
}

solved solve(const shape_t& shape, const flags_t& sites, const spacing_case& cell) {
    solved s;
    s.problem = {shape, per_axis(cell, shape.size()), sites};
    if (cell.values.size() == 1) s.spacing = nearfield::spacing(cell.values[0]);
    if (cell.values.size() > 1) s.spacing = nearfield::spacing(s.problem.spacing.data(), shape.size());
    s.answer = oracle::by_lines(s.problem);
    return s;
}

call::call(const solved& s, const outputs& wanted, const dress& how)
    : image(how.image, s.problem.shape, how.image_layout, how.seed) {
    options.spacing = s.spacing;
    options.sites = how.sites_are_nonzero ? sites::nonzero : sites::zero;
    const auto make = [&](dtype type, const shape_t& shape, std::uint64_t salt) {
        return guarded(type, shape, how.output_layout, mix(how.seed + salt));
    };
    if (wanted.distance != outputs::distance_t::none) {
        const bool single = wanted.distance == outputs::distance_t::float32;
        distance = make(single ? dtype::float32 : dtype::float64, s.problem.shape, 1);
    }
    if (wanted.squared != outputs::squared_t::none)
        squared = make(type_of(wanted.squared, s.answer), s.problem.shape, 2);
    if (wanted.index) index = make(dtype::int64, s.problem.shape, 3);
    shape_t with_rank = s.problem.shape;
    with_rank.insert(with_rank.begin(), static_cast<std::int64_t>(with_rank.size()));
    if (wanted.coordinates) coordinates = make(dtype::int32, with_rank, 4);
    write_image(image, s.problem.site, how.sites_are_nonzero);
}

std::vector<guarded*> call::arrays() {
    std::vector<guarded*> list{&image};
    for (std::optional<guarded>* out : {&distance, &squared, &index, &coordinates}) {
        if (*out) list.push_back(&**out);
    }
    return list;
}

void call::refill(const flags_t& sites) {
    for (guarded* array : arrays()) array->paint();
    write_image(image, sites, options.sites == sites::nonzero);
}

std::string verdict(const call& done, const call& before, const solved& expected) {
    if (done.image.bytes() != before.image.bytes()) return "the image or the bytes round it were changed";
    const std::int64_t cells = cells_of(expected.problem.shape);
    const oracle::answer& a = expected.answer;
    std::string bad = first_wrong("squared", done.squared, cells,
                                  [&](const guarded& got, std::int64_t i) { return wrong_squared(got, i, a); });
    if (bad.empty()) {
        bad = first_wrong("distance", done.distance, cells,
                          [&](const guarded& got, std::int64_t i) { return wrong_distance(got, i, a); });
    }
    if (bad.empty()) {
        bad = first_wrong("index", done.index, cells, [&](const guarded& got, std::int64_t i) {
            return differs(got, i, a.index[static_cast<std::size_t>(i)]);
        });
    }
    if (bad.empty()) {
        bad = first_wrong("coordinates", done.coordinates, cells, [&](const guarded& got, std::int64_t i) {
            return wrong_coordinates(got, i, a, expected.problem.shape);
        });
    }
    return bad;
}

engine host_engine(int threads) {
    return [threads](call& c) {
        fields<host> out;
        out.distance = output_view<host>(c.distance);
        out.squared = output_view<host>(c.squared);
        out.index = output_view<host>(c.index);
        out.coordinates = output_view<host>(c.coordinates);
        host on;
        on.threads = threads;
        const void* image = c.image.bytes().data();
        distance_transform(on, c.image.view_of<host>(image), out, c.options);
    };
}

std::string check(const engine& run, const solved& s, const outputs& wanted, const dress& how) {
    call c(s, wanted, how);
    const call before = c;
    std::string bad;
    try {
        run(c);
        bad = verdict(c, before, s);
    } catch (const std::exception& e) {
        bad = std::string("threw: ") + e.what();
    }
    return bad.empty() ? bad : bad + "\n  in " + describe(s, wanted, how);
}

}  // namespace nearfield::test
