// Turns a choice of values into a call: draws shapes, contents, spacings, borders and limits.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "exact/options_call.hpp"

namespace nearfield::test {
namespace {

/// Draws a shape. Axes are often thin, sometimes empty; any axis may be the long one.
shape_t draw_shape(dice& random, std::size_t rank, std::int64_t most_cells) {
    shape_t shape;
    std::int64_t left = 1 + random.below(most_cells);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const std::int64_t longest = axis + 1 == rank ? left : std::min<std::int64_t>(left, rank > 3 ? 5 : 20);
        const std::int64_t n = random.one_in(6) ? 1 : 1 + random.below(longest);
        shape.push_back(random.one_in(120) ? 0 : n);
        left = std::max<std::int64_t>(left / n, 1);
    }
    for (std::size_t k = rank; k > 1; --k)
        std::swap(shape[k - 1], shape[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(k)))]);
    return shape;
}

/// Draws one code for every block of 1 to 4 cells a side; a tenth of them is zero.
codes_t draw_blocks(dice& random, const shape_t& shape) {
    codes_t codes;
    const std::int64_t side = 1 + random.below(4);
    const std::uint64_t seed = random.bits(), labels = 1 + random.bits() % 6;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::uint64_t key = seed;
        std::int64_t rest = i;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            key = mix(key + static_cast<std::uint64_t>(rest % shape[axis] / side));
        codes.push_back(key % 10 == 0 ? 0 : static_cast<std::uint32_t>(1 + key / 16 % labels));
    }
    return codes;
}

codes_t draw_codes(dice& random, const shape_t& shape, content_value content) {
    if (content == content_value::blocks) return draw_blocks(random, shape);
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    const auto code = [&] { return static_cast<std::uint32_t>(1 + random.below(250)); };
    const std::uint32_t a = random.one_in(2) ? 0 : code(), b = code();
    const double density = std::pow(10.0, -2 * random.share());
    codes_t codes(cells, content == content_value::constant || content == content_value::holes ? b : 0);
    if (content == content_value::one_cell) {
        std::fill(codes.begin(), codes.end(), a);
        if (cells > 0) codes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(cells)))] = a == 0 ? b : 0;
    }
    for (std::uint32_t& v : codes) {
        if (content == content_value::two_values) v = random.share() < density ? a : b;
        if (content == content_value::many_labels) v = static_cast<std::uint32_t>(random.below(250));
        if (content == content_value::holes && random.one_in(20)) v = 0;
        if (content == content_value::seeds && random.one_in(20)) v = code();
    }
    return codes;
}

nearfield::spacing draw_spacing(dice& random, spacing_value kind, std::size_t rank, int batch_axes) {
    std::vector<double> values;
    const auto cycle = [&](std::initializer_list<double> of) {
        const auto turn = static_cast<std::size_t>(random.below(2));
        for (std::size_t axis = 0; axis < rank; ++axis) values.push_back(of.begin()[(axis + turn) % of.size()]);
    };
    switch (kind) {
        case spacing_value::none: return {};
        case spacing_value::one: return {static_cast<double>(1 + random.below(3))};
        case spacing_value::half: return {0.5};
        case spacing_value::integral:
            for (std::size_t axis = 0; axis < rank; ++axis) values.push_back(static_cast<double>(1 + random.below(5)));
            break;
        case spacing_value::third: cycle({1.0 / 3, 0.1}); break;
        case spacing_value::close: cycle({0.7, 0.31}); break;
        case spacing_value::stack: cycle({5, 0.4, 0.4}); break;
        case spacing_value::wide: cycle({1, 1000003}); break;
        case spacing_value::huge: cycle({1e12, 3}); break;
        case spacing_value::same: {
            const double length = std::array{0.65, 1.0 / 3, 1e-30, 20000.0, 1e12}[random.bits() % 5];
            values.assign(rank, length);
            break;
        }
    }
    // Values at a batch axis must have no effect, so they are arbitrary.
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(batch_axes); ++axis)
        values[axis] = random.one_in(2) ? 0.37 : 9;
    return {values.data(), values.size()};
}

borders draw_borders(dice& random, int value, std::size_t rank, int batch_axes) {
    const std::vector<border> kinds = border_kinds(value);
    if (kinds.size() == 1 && random.one_in(2)) {
        if (kinds[0] == border::open && random.one_in(2)) return {};
        return {kinds[0]};
    }
    std::vector<border> values;
    for (std::size_t axis = static_cast<std::size_t>(batch_axes); axis < rank; ++axis) {
        const std::size_t k = values.size();
        values.push_back(k < kinds.size() ? kinds[k] : kinds[random.bits() % kinds.size()]);
    }
    for (std::size_t k = values.size(); k > 1; --k) std::swap(values[k - 1], values[random.bits() % k]);
    for (int axis = 0; axis < batch_axes; ++axis)
        values.insert(values.begin(),
                      static_cast<border>(kinds[0] == border::closed ? random.below(3) : 2 * random.below(2)));
    return {values.data(), values.size()};
}

/// Draws a limit that equals one of the grid's distances, or differs from it by one unit in the last place.
double draw_limit(dice& random, limit_value kind, const oracle::option_problem& p) {
    if (kind == limit_value::none) return std::numeric_limits<double>::infinity();
    if (kind == limit_value::zero) return 0;
    const std::int64_t cells = cells_of(p.shape);
    const shape_t inner(p.shape.begin() + p.batch_axes, p.shape.end());
    double length = 1;
    if (cells > 0) {
        const auto site = random.below(std::min(cells_of(inner), std::int64_t{1} + random.below(cells)));
        length = std::sqrt(oracle::value_between(p, 0, site));
    }
    switch (kind) {
        case limit_value::reached: return length;
        case limit_value::just_missed: return length > 0 ? std::nextafter(length, 0.0) : 0;
        case limit_value::small: return 3 * random.share() * p.spacing.back();
        default: return 1e300;
    }
}

wanted_fields wanted_by(const choice& c) {
    wanted_fields w;
    w.squared = c.type(dim::squared);
    w.distance = c.type(dim::distance);
    w.index = c.type(dim::index);
    w.trusted = c.type(dim::trusted);
    w.coordinates = c[dim::coordinates] != 0;
    w.label = c[dim::label] != 0;
    w.image_layout = static_cast<layout>(c[dim::image_layout]);
    w.output_layout = static_cast<layout>(c[dim::output_layout]);
    return w;
}

std::string tell(const choice& c, const option_call& call) {
    std::ostringstream text;
    text.precision(20);
    text << text_of(c) << "\n     max_distance " << call.options.max_distance;
    for (const option_item& item : call.items) {
        text << "\n     shape";
        for (std::int64_t n : item.problem.shape) text << ' ' << n;
        text << " spacing";
        for (double s : item.problem.spacing) text << ' ' << s;
        text << " border";
        for (oracle::edge e : item.problem.border) text << ' ' << "ocp"[static_cast<int>(e)];
        if (item.problem.value.size() > 64) continue;
        text << " values" << std::hex;
        for (std::uint64_t v : item.problem.value) text << ' ' << v;
        text << std::dec;
    }
    return text.str();
}

}  // namespace

option_call make_case(const choice& c, dice& random, std::int64_t most_cells) {
    option_call call;
    const auto rank = static_cast<std::size_t>(c[dim::axes] + 1 + c[dim::batch]);
    call.form = static_cast<form_value>(c[dim::form]);
    call.threads = std::array{1, 2, 3, 7}[static_cast<std::size_t>(c[dim::threads])];
    distance_options& o = call.options;
    o.batch_axes = c[dim::batch];
    o.half_cell = c[dim::half_cell] != 0;
    o.sign = static_cast<sign>(c[dim::sign]);
    o.spacing = draw_spacing(random, static_cast<spacing_value>(c[dim::spacing]), rank, o.batch_axes);
    o.border = draw_borders(random, c[dim::border], rank, o.batch_axes);
    // power_diagram() requires this option to keep its default.
    if (call.form != form_value::power) o.sites = static_cast<sites>(c[dim::rule]);
    const auto count = call.form == form_value::list ? static_cast<int>(random.below(6)) : 1;
    for (int k = 0; k < count; ++k) {
        const shape_t shape = draw_shape(random, rank, most_cells);
        const auto content = static_cast<content_value>(c[dim::content]);
        call.items.emplace_back(shape, static_cast<dtype>(c[dim::image]), draw_codes(random, shape, content), o,
                                wanted_by(c), random.bits());
        option_item& item = call.items.back();
        if (k == 0) o.max_distance = draw_limit(random, static_cast<limit_value>(c[dim::limit]), item.problem);
        item.problem.max_distance = o.max_distance;
        if (const auto weights = c.type(dim::weights))
            item.weigh(*weights, static_cast<layout>(c[dim::image_layout]), random.bits());
        item.solve();
    }
    call.story = tell(c, call);
    return call;
}

}  // namespace nearfield::test
