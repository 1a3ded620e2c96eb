// The image changes during a call, as the buffer of a camera does. Any result is allowed, but memory outside the
// outputs must not change (AddressSanitizer watches the rest) and the call must end. Data races are intended, so
// ThreadSanitizer leaves this program out.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>

#include "exact/cases.hpp"
#include "nearfield/nearfield.hpp"

namespace nearfield::test {
namespace {

constexpr std::int64_t planes = 3, side = 256, cells = planes * side * side;
using places = std::initializer_list<std::int64_t>;

/// The image's contents in turn: nothing, few labels, labels of any size and sign, a solid block.
const std::array<std::vector<std::int32_t>, 4>& contents() {
    static const auto all = [] {
        std::array<std::vector<std::int32_t>, 4> made;
        for (auto& each : made) each.resize(cells);
        for (std::size_t i = 0; i < cells; ++i) {
            const std::uint64_t drawn = mix(i);
            made[1][i] = static_cast<std::int32_t>(drawn % 9);
            made[2][i] = static_cast<std::int32_t>(drawn >> (drawn % 3 == 0 ? 32 : 44));
            made[3][i] = 7;
        }
        return made;
    }();
    return all;
}

/// Owns the image, and outputs with guards on both sides.
class arena {
public:
    arena() : image_(cells) {}
    void change(std::size_t to) { std::memcpy(image_.data(), contents()[to % 4].data(), cells * sizeof(std::int32_t)); }

    [[nodiscard]] any_input<host> image(bool flat = false) const {
        if (flat) return any_input<host>::contiguous(image_.data(), dtype::int32, places{planes * side, side});
        return any_input<host>::contiguous(image_.data(), dtype::int32, places{planes, side, side});
    }
    any_output<host> output(dtype type, places shape) {
        std::int64_t bytes = size_of(type);
        for (const std::int64_t n : shape) bytes *= n;
        memory_.emplace_back(static_cast<std::size_t>(bytes) + 2 * guard, filling);
        return any_output<host>::contiguous(memory_.back().data() + guard, type, shape);
    }
    any_output<host> field(dtype type) { return output(type, {planes, side, side}); }
    any_output<host> flat(dtype type) { return output(type, {planes * side, side}); }
    void expect_whole() {
        for (const auto& each : memory_)
            for (std::size_t i = 0; i < guard; ++i)
                ASSERT_TRUE(each[i] == filling && each[each.size() - 1 - i] == filling) << "written beyond an output";
        memory_.clear();
    }

private:
    static constexpr std::size_t guard = 4096;
    static constexpr unsigned char filling = 0xa5;
    std::vector<std::int32_t> image_;
    std::deque<std::vector<unsigned char>> memory_;
};

struct function {
    const char* name;
    void (*call)(const host& on, arena& a);
};

label_options with(criterion kind, int connectivity) {
    label_options o;
    o.criterion = kind, o.connectivity = connectivity, o.tolerance = 2;
    return o;
}

template <list_of What>
void lists(const host& on, arena& a) {
    const auto offsets = a.output(dtype::int64, {6});
    label_list_offsets(on, a.image(), offsets, What);
    const std::int64_t all = static_cast<const std::int64_t*>(offsets.data)[5];
    if (What == list_of::cells) label_lists(on, a.image(), offsets, a.output(dtype::int64, {all}), What);
    else label_lists(on, a.image(), offsets, a.output(dtype::int32, {all, 2}), What);
}

template <bool Hooked, bool Neighbours>
void propagate(const host& on, arena& a) {
    propagation_options how;
    how.hooked = Hooked, how.neighbours = Neighbours;
    label_by_propagation(on, a.image(), a.field(dtype::int32), with(criterion::equal, 3), how);
}

template <criterion Kind, int Connectivity, bool Filtered>
void label_with(const host& on, arena& a) {
    label_options o = with(Kind, Connectivity);
    if (Filtered) o.smallest = 3, o.keep_largest = 1000, o.clear_border = true;
    label_fields<host> out;
    out.label = a.field(dtype::int32), out.count = a.output(dtype::int64, {1});
    out.make_tables = [&](std::int64_t rows) {
        component_tables<host> t;
        t.intensity = a.image();
        t.size = a.output(dtype::int64, {rows}), t.box = a.output(dtype::int64, {rows, 2, 3});
        t.centroid = a.output(dtype::float64, {rows, 3}), t.faces = a.output(dtype::int64, {rows});
        t.lowest = a.output(dtype::int32, {rows}), t.variance = a.output(dtype::float64, {rows});
        return t;
    };
    label(on, a.image(), out, o);
}

/// Labels with the caller's own steps, which one engine serves for all steps.
template <criterion Kind>
void label_by_steps(const host& on, arena& a) {
    std::vector<std::uint8_t> steps(27, 1);
    label_options o = with(Kind, 1);
    o.steps = steps, o.smallest = 2;
    label<host>(on, a.image(), a.field(dtype::int32), o);
}

void statistics(const host& on, arena& a) {
    component_tables<host> t;
    t.intensity = a.image();
    t.size = a.output(dtype::int64, {9}), t.box = a.output(dtype::int64, {9, 2, 3});
    t.faces = a.output(dtype::int64, {9}), t.highest = a.output(dtype::int32, {9});
    t.sum = a.output(dtype::float64, {9});
    component_statistics(on, a.image(), t);
}

template <sites What, bool Signed>
void distances(const host& on, arena& a) {
    fields<host> out;
    distance_options o;
    o.sites = What;
    if (Signed) o.sign = sign::inside_negative;
    out.distance = a.field(dtype::float32), out.squared = a.field(dtype::uint32);
    if (Signed) out.squared = {};
    else out.index = a.field(dtype::int64), out.label = a.field(dtype::int32);
    if (!Signed) out.coordinates = a.output(dtype::int32, {3, planes, side, side});
    distance_transform(on, a.image(), out, o);
}
template <class Set>
void one_distance(const host& on, arena& a, const Set& set) {
    fields<host> out;
    distance_options o;
    set(out, o);
    distance_transform(on, a.image(), out, o);
}

void power(const host& on, arena& a) {
    fields<host> out;
    out.index = a.flat(dtype::int64), out.label = a.flat(dtype::int32), out.squared = a.flat(dtype::float64);
    power_diagram(on, a.image(true), any_input<host>(a.image(true)), out);
}

void chamfer(const host& on, arena& a) {
    const std::vector<std::int32_t> weights = step_weights(2, {5, 7});
    chamfer_options o;
    o.weights = weights;
    chamfer_fields<host> out;
    out.distance = a.flat(dtype::int32), out.index = a.flat(dtype::int64);
    chamfer_transform(on, a.image(true), out, o);
}

template <int Which>
void by_method(const host& on, arena& a) {
    constexpr const char* names[] = {"exact", "banding", "jump-flood", "plane-sweep", "brushfire", "chamfer"};
    fields<host> out;
    out.distance = a.flat(dtype::float32), out.index = a.flat(dtype::int64), out.label = a.flat(dtype::int32);
    nearest_sites(method_from(names[Which]), on, a.image(true), out);
}

void compared(const host& on, arena& a) {
    static_cast<void>(compare_sites(on, a.image(true), any_input<host>(a.image(true)), a.flat(dtype::float32)));
}

const function functions[] = {
    {"relabel", [](const host& on, arena& a) { relabel(on, a.image(), a.field(dtype::int32)); }},
    {"label_lists_of_cells", lists<list_of::cells>},
    {"label_lists_of_runs", lists<list_of::runs>},
    {"label_by_propagation", propagate<false, true>},
    {"label_by_propagation_hooked", propagate<true, true>},
    {"label_by_propagation_far", propagate<true, false>},
    {"label", label_with<criterion::nonzero, 1, false>},
    {"label_filtered", label_with<criterion::nonzero, 3, true>},
    {"label_equal", label_with<criterion::equal, 2, true>},
    {"label_within", label_with<criterion::within, 3, false>},
    {"label_links", label_with<criterion::links, 3, true>},
    {"label_by_steps", label_by_steps<criterion::nonzero>},
    {"label_by_steps_equal", label_by_steps<criterion::equal>},
    {"count_components",
     [](const host& on, arena& a) { static_cast<void>(count_components(on, a.image(), with(criterion::equal, 1))); }},
    {"component_statistics", statistics},
    {"contacts", [](const host& on, arena& a) { static_cast<void>(contacts(on, a.image(), 3)); }},
    {"remove_small", [](const host& on, arena& a) { remove_small(on, a.image(), a.field(dtype::int32), 5); }},
    {"remove_small_equal",
     [](const host& on, arena& a) {
         remove_small(on, a.image(), a.field(dtype::int32), 5, with(criterion::equal, 2));
     }},
    {"distance_alone",
     [](const host& on, arena& a) {
         one_distance(on, a, [&](auto& out, auto&) { out.distance = a.field(dtype::float32); });
     }},
    {"squared_alone",
     [](const host& on, arena& a) {
         one_distance(on, a, [&](auto& out, auto&) { out.squared = a.field(dtype::uint32); });
     }},
    {"index_alone",
     [](const host& on, arena& a) {
         one_distance(on, a, [&](auto& out, auto&) { out.index = a.field(dtype::int64); });
     }},
    {"index_periodic",
     [](const host& on, arena& a) {
         one_distance(on, a, [&](auto& out, auto& o) {
             out.index = a.field(dtype::int64), o.border = border::periodic, o.max_distance = 9;
         });
     }},
    {"distances", distances<sites::zero, false>},
    {"voronoi", distances<sites::nonzero, false>},
    {"distances_of_labels", distances<sites::other_labels, false>},
    {"signed_distances", distances<sites::zero, true>},
    {"signed_distances_of_labels", distances<sites::other_labels, true>},
    {"power_diagram", power},
    {"chamfer_transform", chamfer},
    {"method_exact", by_method<0>},
    {"method_banding", by_method<1>},
    {"method_jump_flood", by_method<2>},
    {"method_plane_sweep", by_method<3>},
    {"method_brushfire", by_method<4>},
    {"method_chamfer", by_method<5>},
    {"compare_sites", compared},
};

class Mutation : public testing::TestWithParam<function> {};

void call_once(const function& f, const host& on, arena& a) {
    try {
        f.call(on, a);
    } catch (const error&) {  // an invalid index or a number that does not fit: any result is allowed
    }
    a.expect_whole();
}

/// Changes the image between blocks of work of one thread, in the same way each time.
TEST_P(Mutation, BetweenBlocks) {
    arena a;
    for (std::size_t first = 0; first < 4; ++first) {
        std::size_t now = first;
        a.change(now);
        call_once(GetParam(), {1, [&](double) { return a.change(++now), true; }}, a);
    }
}

TEST_P(Mutation, AtAnyTime) {
    arena a;
    std::atomic<bool> ended{false};
    std::thread camera([&] {
        for (std::size_t now = 0; !ended; ++now) a.change(now);
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(0.3 * test_scale());
    do call_once(GetParam(), {2}, a);
    while (std::chrono::steady_clock::now() < until);
    ended = true;
    camera.join();
}

INSTANTIATE_TEST_SUITE_P(All, Mutation, testing::ValuesIn(functions),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace nearfield::test
