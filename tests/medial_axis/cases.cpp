#include "medial_axis/checks.hpp"

namespace nearfield::test {
namespace {

constexpr dtype label_types[] = {dtype::uint8, dtype::int32, dtype::int16, dtype::uint64, dtype::int64, dtype::int8};
constexpr double golden = 1.3090169943749475;  // no rational multiple of the other lengths

template <class T>
void put(guarded& to, std::int64_t i, T value) {
    std::memcpy(to.element(i), &value, sizeof(T));
}

/// Draws a value: shapes with holes, single cells, blocks; numbers if there are labels.
std::int64_t draw_value(const axis_case& c, std::int64_t cell, std::uint64_t density) {
    const bool blocks = c.draw(70) % 2 == 0;
    std::int64_t group = cell;
    if (blocks) {  // blocks of two cells a side, without some single cells
        std::int64_t rest = cell;
        group = 0;
        for (std::size_t axis = c.shape.size(); axis-- > 0;)
            group = group * 64 + rest % c.shape[axis] / 3, rest /= c.shape[axis];
    }
    const std::uint64_t here = c.draw(100 + static_cast<std::uint64_t>(group));
    if (here % 100 >= density || (blocks && c.draw(1000000 + static_cast<std::uint64_t>(cell)) % 50 == 0)) return 0;
    return c.labels ? 1 + static_cast<std::int64_t>(here / 100 % 3) : 1;
}

}  // namespace

axis_case draw_case(std::uint64_t seed, int axes, std::int64_t longest) {
    axis_case c;
    c.seed = seed;
    for (int axis = 0; axis < axes; ++axis)
        c.shape.push_back(1 + static_cast<std::int64_t>(c.draw(10 + static_cast<std::uint64_t>(axis)) %
                                                        static_cast<std::uint64_t>(longest)));
    c.images = c.draw(20) % 4 == 0 ? 2 : 0;
    c.labels = c.draw(21) % 3 == 0, c.nonzero = !c.labels && c.draw(22) % 2 == 0;
    constexpr double lengths[][3] = {{1, 1, 1},         {1, 1, 1},       {2, 1, 3},
                                     {0.5, 0.25, 0.75}, {0.7, 0.7, 0.7}, {golden, 1, 0.9}};
    constexpr double units[] = {1, 1, 1, 0.25, 0.7, 1};
    const std::size_t kind = c.draw(23) % std::size(units);
    c.spacing.assign(lengths[kind], lengths[kind] + axes), c.unit = units[kind];
    // The common length of the remaining axes.
    if (kind == 3 && axes == 1) c.unit = 0.5;
    if (kind == 2 && axes == 1) c.unit = 2;
    if (kind == 5 && axes == 1) c.unit = golden;
    for (int axis = 0; axis < axes; ++axis) {
        const std::uint64_t drawn = c.draw(30 + static_cast<std::uint64_t>(axis)) % 5;
        c.ends.push_back(drawn == 0 ? border::closed : drawn == 1 ? border::periodic : border::open);
    }
    c.prune = static_cast<pruning>(c.draw(40) % 4);
    constexpr double gammas[4][4] = {{1, 1.5, 2.25, 0}, {0.25, 0.5, 1, 2}, {1, 0.5, 0.25, 2}, {60, 90, 120, 33}};
    c.gamma = gammas[static_cast<int>(c.prune)][c.draw(41) % 4];
    const std::uint64_t density = c.draw(42) % 12 == 0 ? 100 : 40 + c.draw(43) % 60;
    for (std::int64_t image = 0; image < std::max<std::int64_t>(1, c.images); ++image)
        for (std::int64_t cell = 0; cell < c.cells(); ++cell)
            c.value.push_back(draw_value(c, cell + image * 7919 * c.shape.back(), density));
    return c;
}

void make_plain(axis_case& c) {
    c.labels = false, c.tight = true, c.unit = 1;
    c.spacing.assign(c.shape.size(), 1);
    c.ends.assign(c.shape.size(), border::open);
    for (std::int64_t& each : c.value) each = each != 0 ? 1 : 0;
}

axis_case large_case(const shape_t& shape, std::uint64_t seed) {
    axis_case c = draw_case(seed, static_cast<int>(shape.size()), 1);
    c.shape = shape, c.images = 0;
    constexpr fill fills[] = {fill::holes, fill::percent, fill::shells, fill::sparse3};
    c.value.clear();
    for (const std::uint8_t site : make_fill(fills[seed % 4], shape, seed)) c.value.push_back(site != 0 ? 0 : 1);
    make_plain(c);
    return c;
}

axis_case case_of_few_sites(const shape_t& shape, std::uint64_t seed) {
    axis_case c = large_case(shape, seed);
    c.prune = pruning::constant, c.gamma = 1;
    c.value.assign(c.value.size(), 1);
    for (std::uint64_t k = 0; k < 3 + seed % 4; ++k) c.value[c.draw(100 + k) % c.value.size()] = 0;
    return c;
}

axis_case case_of_corners(const shape_t& shape) {
    axis_case c = large_case(shape, 0);
    c.prune = pruning::constant, c.gamma = 1;
    c.value.assign(c.value.size(), 1);
    c.value.front() = c.value.back() = 0;
    return c;
}

shape_t axis_case::full_shape() const {
    shape_t full = shape;
    if (images > 0) full.insert(full.begin(), images);
    return full;
}

guarded axis_case::array(dtype type, std::uint64_t which) const {
    const layout how = tight ? layout::contiguous : all_layouts[draw(which + 50) % std::size(all_layouts)];
    guarded made(type, full_shape(), how, seed + which);
    made.paint();
    return made;
}

medial_axis_options axis_case::options() const {
    medial_axis_options o;
    o.spacing = {spacing.data(), spacing.size()}, o.border = {ends.data(), ends.size()};
    std::vector<double> lengths = spacing;
    std::vector<border> all = ends;
    if (images > 0) {
        lengths.insert(lengths.begin(), 5), all.insert(all.begin(), border::open);
        o.spacing = {lengths.data(), lengths.size()}, o.border = {all.data(), all.size()}, o.batch_axes = 1;
    }
    o.sites = labels ? sites::other_labels : nonzero ? sites::nonzero : sites::zero;
    o.prune = prune, o.gamma = gamma;
    return o;
}

reconstruct_options axis_case::rebuilding() const {
    const medial_axis_options o = options();
    return {o.spacing, o.border, o.batch_axes};
}

oracle::axis_problem axis_case::problem(std::int64_t image) const {
    oracle::axis_problem p;
    p.shape = shape, p.labels = labels, p.spacing = spacing, p.unit = unit, p.gamma = gamma;
    p.prune = static_cast<oracle::axis_pruning>(prune);
    for (const border each : ends) p.border.push_back(static_cast<oracle::axis_border>(each));
    const auto first = static_cast<std::ptrdiff_t>(image * cells());
    p.value.assign(value.begin() + first, value.begin() + first + static_cast<std::ptrdiff_t>(cells()));
    return p;
}

guarded axis_case::image() const {
    const dtype type = labels ? label_types[draw(60) % std::size(label_types)]
                              : std::array{dtype::uint8, dtype::boolean, dtype::float32, dtype::int16}[draw(60) % 4];
    guarded made = array(type, 1);
    if (labels) {
        for (std::int64_t i = 0; i < made.cells(); ++i) write_whole(made, i, value[static_cast<std::size_t>(i)]);
        return made;
    }
    flags_t outside;
    for (const std::int64_t each : value) outside.push_back(each == 0 ? 1 : 0);
    write_image(made, outside, nonzero);
    return made;
}

std::string axis_case::text() const {
    std::string said = "seed " + std::to_string(seed) + ", shape";
    for (const std::int64_t side : full_shape()) said += " " + std::to_string(side);
    said += labels ? ", labels" : nonzero ? ", nonzero" : "";
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        said += ", " + std::to_string(spacing[axis]) + "ocp"[static_cast<std::size_t>(ends[axis])];
    return said + ", pruning " + std::to_string(static_cast<int>(prune)) + " " + std::to_string(gamma);
}

std::int64_t read_whole(const guarded& from, std::int64_t i) {
    switch (from.type()) {
        case dtype::int8: return from.get<std::int8_t>(i);
        case dtype::int16: return from.get<std::int16_t>(i);
        case dtype::int32: return from.get<std::int32_t>(i);
        case dtype::uint32: return from.get<std::uint32_t>(i);
        case dtype::int64:
        case dtype::uint64: return from.get<std::int64_t>(i);
        default: return from.get<std::uint8_t>(i);
    }
}

void write_whole(guarded& to, std::int64_t i, std::int64_t value) {
    switch (size_of(to.type())) {
        case 1: return put(to, i, static_cast<std::int8_t>(value));
        case 2: return put(to, i, static_cast<std::int16_t>(value));
        case 4: return put(to, i, static_cast<std::int32_t>(value));
        default: return put(to, i, value);
    }
}

namespace {

/// Finds the cell to which step `step` of 3^axes leads from `cell`; false if it leaves the grid or is no step.
bool moved(const axis_case& c, std::int64_t cell, std::int64_t step, std::vector<std::int64_t>& way,
           std::int64_t& there) {
    std::int64_t stride = 1;
    bool inside = true, any = false;
    there = 0;
    for (std::size_t axis = c.shape.size(); axis-- > 0; step /= 3) {
        way[axis] = step % 3 - 1;
        any = any || way[axis] != 0;
        std::int64_t x = cell % c.shape[axis] + way[axis];
        cell /= c.shape[axis];
        if (c.ends[axis] == border::periodic) x = (x + c.shape[axis]) % c.shape[axis];
        inside = inside && x >= 0 && x < c.shape[axis];
        there += x * stride, stride *= c.shape[axis];
    }
    return inside && any;
}

/// Tests the formula of the header; if it holds, the ball must lie in the neighbour's.
bool known_in_neighbour(const axis_case& c, const std::vector<double>& squared, std::int64_t cell) {
    const double r2 = squared[static_cast<std::size_t>(cell)];
    std::vector<double> lengths;
    for (const double each : c.spacing) lengths.push_back(std::round(each / c.unit));
    std::vector<std::int64_t> way(c.shape.size());
    bool known = false;
    for (std::int64_t step = 0, there = 0; step < 27; ++step) {
        if (!moved(c, cell, step, way, there)) continue;
        double v2 = 0;
        for (std::size_t axis = 0; axis < way.size(); ++axis)
            v2 += lengths[axis] * lengths[axis] * static_cast<double>(way[axis] * way[axis]);
        const double other2 = squared[static_cast<std::size_t>(there)];
        if (!(other2 > r2 - 1 + v2 + 2 * std::floor(std::sqrt((r2 - 1) * v2)))) continue;
        known = true;
        EXPECT_TRUE(oracle::ball_in_ball(way, lengths, r2, other2)) << "cell " << cell << ", step " << step;
    }
    return known;
}

}  // namespace

bool check_containment(const axis_case& c, std::int64_t image, const guarded& balls) {
    const oracle::axis_answer found = oracle::medial_axis(c.problem(image));
    bool all_reached = true;
    for (std::int64_t cell = 0; cell < c.cells() && !testing::Test::HasFailure(); ++cell) {
        const double r2 = found.squared[static_cast<std::size_t>(cell)];
        const bool reached = std::isfinite(r2);
        all_reached = all_reached && reached;
        EXPECT_EQ(read_whole(balls, image * c.cells() + cell) != 0,
                  r2 > 0 && reached && !known_in_neighbour(c, found.squared, cell))
            << "cell " << cell << " of squared radius " << r2;
    }
    return all_reached;
}

}  // namespace nearfield::test
