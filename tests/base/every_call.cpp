#include "base/every_call.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <random>

namespace nearfield::test {
namespace {

/// The arrays of all calls. Outputs are reused, so that only the library allocates memory.
struct arrays {
    arrays(std::int64_t rows, std::int64_t columns) : shape{rows, columns} {
        const auto cells = static_cast<std::size_t>(shape.cells());
        std::mt19937 random(1);
        for (std::size_t i = 0; i < cells; ++i) {
            mask.push_back(random() % 100 < 60);
            labels.push_back(static_cast<std::int32_t>(random() % 50));
            denormal.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random() % 4)));
            weight.push_back(0.1F * static_cast<float>(random() % 97));
            value.push_back(0.1 * static_cast<double>(random() % 1000));
        }
        real.resize(cells), whole.resize(cells), offsets.resize(51), rows_of.resize(100 * 4);
    }

    template <class T>
    view<T, 2, host> in(std::vector<T>& memory) {
        return {memory.data(), shape};
    }
    view<std::uint64_t, 2, host> places() { return {whole.data(), shape}; }

    [[nodiscard]] std::uint64_t hash() {
        std::uint64_t sum = 14695981039346656037ULL;
        const auto add = [&](auto& all) {
            for (auto& each : all) {
                std::uint64_t bits = 0;
                std::memcpy(&bits, &each, sizeof(each));
                sum = (sum ^ bits) * 1099511628211ULL;
                each = {};
            }
        };
        add(real), add(whole), add(offsets), add(rows_of);
        return sum;
    }

    extent<2> shape;
    std::vector<std::uint8_t> mask;
    std::vector<std::int32_t> labels;
    std::vector<float> denormal, weight;
    std::vector<double> value;
    std::vector<float> real;
    std::vector<std::uint64_t> whole;
    std::vector<std::int64_t> offsets;
    std::vector<double> rows_of;
};

template <class T>
any_output<host> as(std::vector<std::uint64_t>& memory, const extent<2>& shape) {
    return view<T, 2, host>(reinterpret_cast<T*>(memory.data()), shape);
}

using made = std::vector<named_call>;

template <class Call>
void add(made& to, const std::shared_ptr<arrays>& a, const char* name, const Call& call) {
    to.push_back({name, [a, call](const host& on) {
                      call(*a, on);
                      return a->hash();
                  }});
}

void add_distances(made& to, const std::shared_ptr<arrays>& all) {
    const auto with = [&](const char* name, const distance_options& options, bool indices) {
        add(to, all, name, [options, indices](arrays& a, const host& on) {
            fields<host> out;
            out.distance = a.in(a.real);
            if (indices) out.index = as<std::int64_t>(a.whole, a.shape);
            distance_transform(on, a.in(a.mask), out, options);
        });
    };
    with("distance", {}, false);
    with("distance and index", {}, true);
    with("uneven spacing", {.spacing = {1.0 / 3, 0.1}}, true);
    with("even spacing, limit", {.spacing = {0.7}, .max_distance = 0.7 * 3}, false);
    with("signed half cells", {.spacing = {0.3, 1.7}, .sign = sign::inside_negative, .half_cell = true}, false);
    with("periodic", {.spacing = {0.3, 1.7}, .border = border::periodic}, true);
    add(to, all, "other labels", [](arrays& a, const host& on) {
        distance(on, a.in(a.labels), a.in(a.real), distance_options{.sites = sites::other_labels});
    });
    add(to, all, "several arrays", [](arrays& a, const host& on) {
        fields<host> out;
        out.distance = a.in(a.real);
        const job<host> jobs[] = {{a.in(a.mask), out}};
        distance_transform(on, jobs, {.spacing = {1.0 / 3, 0.1}});
    });
    add(to, all, "power diagram", [](arrays& a, const host& on) {
        fields<host> out;
        out.squared = as<double>(a.whole, a.shape);
        power_diagram(on, a.in(a.mask), a.in(a.weight), out, {.spacing = {1.0 / 3, 0.1}});
    });
    add(to, all, "expand_labels", [](arrays& a, const host& on) {
        expand_labels(on, a.in(a.labels), as<std::int32_t>(a.whole, a.shape), {.max_distance = 2.5});
    });
    add(to, all, "plan", [](arrays& a, const host& on) {
        fields<host> out;
        out.distance = a.in(a.real);
        const call_plan what = plan(on, a.in(a.mask), out, {.spacing = {1.0 / 3, 0.1}});
        a.offsets[0] = what.output_bytes, a.offsets[1] = static_cast<std::int64_t>(what.passes.size());
    });
}

void add_methods(made& to, const std::shared_ptr<arrays>& all) {
    for (const char* by : {"exact", "banding", "jump-flood", "plane-sweep", "brushfire:parallel", "chamfer"})
        add(to, all, by, [by](arrays& a, const host& on) {
            fields<host> out;
            out.distance = a.in(a.real);
            out.index = as<std::int64_t>(a.whole, a.shape);
            nearest_sites(method_from(by), on, a.in(a.mask), out);
        });
    add(to, all, "compare_sites", [](arrays& a, const host& on) {
        for (std::size_t i = 0; i < a.whole.size(); ++i) a.whole[i] = i % 7;
        const method_errors e =
            compare_sites(on, a.in(a.mask), as<std::int64_t>(a.whole, a.shape), a.in(a.real), {.spacing = {0.3, 1.7}});
        a.rows_of[0] = e.mean_error, a.rows_of[1] = e.largest_relative_error;
    });
    add(to, all, "chamfer_transform", [](arrays& a, const host& on) {
        chamfer_fields<host> out;
        out.distance = as<std::int32_t>(a.whole, a.shape);
        const auto weights = step_weights(2, {5, 7});
        chamfer_options options;
        options.weights = weights;
        chamfer_transform(on, a.in(a.mask), out, options);
    });
}

void add_labels(made& to, const std::shared_ptr<arrays>& all) {
    add(to, all, "label", [](arrays& a, const host& on) {
        label(on, a.in(a.mask), as<std::int32_t>(a.whole, a.shape), {.connectivity = 2});
    });
    add(to, all, "label of short rows, with a table", [](arrays& a, const host& on) {
        const extent<2> turned{a.shape.cells() / 2, 2};
        label_fields<host> out;
        out.label = as<std::int32_t>(a.whole, turned);
        out.tables.size = view<std::int64_t, 1, host>(a.offsets.data(), {50});
        label(on, view<std::uint8_t, 2, host>(a.mask.data(), turned), out);
    });
    add(to, all, "label of denormals",
        [](arrays& a, const host& on) { label(on, a.in(a.denormal), as<std::int32_t>(a.whole, a.shape)); });
    add(to, all, "label of values", [](arrays& a, const host& on) {
        label(on, a.in(a.value), as<std::int32_t>(a.whole, a.shape),
              {.criterion = criterion::within, .tolerance = 0.1});
    });
    add(to, all, "label, filtered, of denormals", [](arrays& a, const host& on) {
        label(on, a.in(a.denormal), as<std::int32_t>(a.whole, a.shape), {.criterion = criterion::equal, .smallest = 3});
    });
    add(to, all, "label of links", [](arrays& a, const host& on) {
        label(on, a.in(a.labels), as<std::int32_t>(a.whole, a.shape),
              {.connectivity = 2, .criterion = criterion::links});
    });
    add(to, all, "label_by_propagation", [](arrays& a, const host& on) {
        label_by_propagation(on, a.in(a.labels), as<std::int32_t>(a.whole, a.shape), {.criterion = criterion::equal});
    });
    add(to, all, "count_components",
        [](arrays& a, const host& on) { a.offsets[0] = count_components(on, a.in(a.denormal)); });
    add(to, all, "remove_small",
        [](arrays& a, const host& on) { remove_small(on, a.in(a.mask), as<std::uint8_t>(a.whole, a.shape), 4); });
}

void add_components(made& to, const std::shared_ptr<arrays>& all) {
    const auto measure = [&](const char* name, auto of) {
        add(to, all, name, [of](arrays& a, const host& on) {
            component_tables<host> tables;
            tables.intensity = any_input<host>(a.in(a.*of));
            double* const row = a.rows_of.data();
            tables.mean = view<double, 1, host>(row, {50});
            tables.variance = view<double, 1, host>(row + 50, {50});
            tables.sum = view<double, 1, host>(row + 100, {50});
            using value = std::remove_reference_t<decltype((a.*of)[0])>;
            tables.lowest = view<value, 1, host>(reinterpret_cast<value*>(row + 150), {50});
            component_statistics(on, a.in(a.labels), tables);
        });
    };
    measure("component_statistics", &arrays::value);
    measure("component_statistics of denormals", &arrays::denormal);
    add(to, all, "label lists", [](arrays& a, const host& on) {
        const any_output<host> offsets = view<std::int64_t, 1, host>(a.offsets.data(), {50});
        label_list_offsets(on, a.in(a.labels), offsets);
        label_lists(on, a.in(a.labels), offsets,
                    view<std::int64_t, 1, host>(reinterpret_cast<std::int64_t*>(a.whole.data()), {a.shape.cells()}));
    });
    add(to, all, "relabel",
        [](arrays& a, const host& on) { relabel(on, a.in(a.labels), as<std::int32_t>(a.whole, a.shape)); });
    add(to, all, "shape_measures", [](arrays& a, const host& on) {
        std::size_t row = 0;
        for (const component_shape& each : shape_measures(on, a.in(a.labels), 50, {1.0 / 3, 0.1})) {
            double* const to_row = a.rows_of.data() + 8 * row++;
            to_row[0] = each.perimeter_crofton, to_row[1] = each.inertia_tensor_eigvals[1],
            to_row[2] = each.orientation;
            to_row[3] = each.axis_major_length, to_row[4] = each.eccentricity, to_row[5] = each.solidity;
            to_row[6] = each.feret_diameter_max, to_row[7] = each.equivalent_diameter_area;
        }
    });
    add(to, all, "contacts", [](arrays& a, const host& on) {
        for (const contact& each : contacts(on, a.in(a.labels), 1, {1.0 / 3, 0.1}))
            a.rows_of[static_cast<std::size_t>((each.a * 7 + each.b) % 400)] = each.area;
    });
}

void add_shapes(made& to, const std::shared_ptr<arrays>& all) {
    const auto with = [&](const char* name, const thickness_options& options, std::vector<double> sizes) {
        add(to, all, name, [options, sizes](arrays& a, const host& on) {
            thickness_options with_sizes = options;
            with_sizes.sizes = sizes;
            thickness_fields<host> out;
            out.thickness = a.in(a.real), out.squared = as<double>(a.whole, a.shape);
            local_thickness(on, a.in(a.mask), out, with_sizes);
        });
    };
    with("local_thickness", {}, {});
    with("local_thickness, sizes", {.spacing = {0.7, 0.3}, .border = border::periodic}, {1, 1.5, 2});
    with("local_thickness in doubles", {.spacing = {1.0 / 3, 0.1 * 1.4142}}, {});
    add(to, all, "union_of_balls", [](arrays& a, const host& on) {
        thickness_fields<host> out;
        out.thickness = a.in(a.real);
        union_of_balls(on, a.in(a.labels), out);
    });
    add(to, all, "porosimetry", [](arrays& a, const host& on) {
        thickness_fields<host> out;
        out.thickness = a.in(a.real);
        porosimetry(on, a.in(a.mask), a.in(a.labels), out);
    });
}

}  // namespace

std::vector<named_call> every_call(std::int64_t rows, std::int64_t columns) {
    const auto all = std::make_shared<arrays>(rows, columns);
    made calls;
    add_distances(calls, all);
    add_methods(calls, all);
    add_labels(calls, all);
    add_components(calls, all);
    add_shapes(calls, all);
    add_volume_calls(calls, {4, rows, columns / 4});
    return calls;
}

}  // namespace nearfield::test
