#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "edge/device_arrays.hpp"
#include "nearfield/components.hpp"
#include "nearfield/link_propagation.hpp"
#include "python/bind_label.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// Place of the arrays and of the call: the CPU if `ordinal` is negative.
struct place {
    int ordinal = -1;
    std::uintptr_t stream = 0;
    int threads = 0;
};

/// Calls run(host) or run(device), without the interpreter's lock.
template <class Run>
void run_there(const place& where, std::int64_t cells, const Run& run) {
    if (where.ordinal < 0) {
        run_watched(cells, nb::none(),
                    [&](std::function<bool(double)> told) { run(host{where.threads, std::move(told)}); });
        return;
    }
    const unlocked released;
    const edge::current_device current(where.ordinal);
    run(device{reinterpret_cast<void*>(where.stream)});
}

template <class Place>
any_input<Place> in(const Place&, const array& a) {
    return a.view<const void, Place>();
}
template <class Place>
any_output<Place> out(const Place&, const array& a) {
    return a.view<void, Place>();
}

list_of list_kind(bool runs) { return runs ? list_of::runs : list_of::cells; }

void statistics(const array& labels, const nb::tuple& tables, const place& where) {
    const auto here = tables_of<host>(tables);
    const auto there = tables_of<device>(tables);
    run_there(where, labels.cells(), [&]<class Place>(const Place& on) {
        if constexpr (std::is_same_v<Place, host>) component_statistics(on, in(on, labels), here);
        else component_statistics(on, in(on, labels), there);
    });
}

/// `make_tables` gets the number of rows: the largest label on the device, of 32 bits.
void statistics_of_all(const array& labels, const nb::object& make_tables, const place& where) {
    nb::object tables;
    const unlocked released;
    const edge::current_device current(where.ordinal);
    component_statistics(device{reinterpret_cast<void*>(where.stream)}, labels.view<const void, device>(),
                         [&](std::int64_t rows) {
                             const locked held;
                             tables = called(make_tables, nb::int_(rows));
                             if (!tables.is_valid()) throw nb::python_error();
                             return tables_of<device>(nb::cast<nb::tuple>(tables));
                         });
}

void list_offsets(const array& labels, const array& offsets, bool runs, const place& where) {
    run_there(where, labels.cells(),
              [&](const auto& on) { label_list_offsets(on, in(on, labels), out(on, offsets), list_kind(runs)); });
}

void lists(const array& labels, const array& offsets, const array& entries, bool runs, const place& where) {
    run_there(where, labels.cells(), [&](const auto& on) {
        label_lists(on, in(on, labels), in(on, offsets), out(on, entries), list_kind(runs));
    });
}

/// Returns the number of values if that is requested.
std::int64_t renumber(const array& labels, const array& to, bool counted, const place& where) {
    std::int64_t count = 0;
    const auto give_back = [&](void* data) { edge::release(where.ordinal, data); };
    run_there(where, labels.cells(), [&]<class Place>(const Place& on) {
        if constexpr (std::is_same_v<Place, host>) {
            const auto counter = any_output<host>::contiguous(&count, dtype::int64, std::array{1});
            relabel(on, in(on, labels), out(on, to), counted ? counter : any_output<host>{});
        } else {
            std::unique_ptr<void, decltype(give_back)> memory(
                counted ? edge::reserve(where.ordinal, sizeof count) : nullptr, give_back);
            const auto counter = any_output<device>::contiguous(memory.get(), dtype::int64, std::array{1});
            relabel(on, in(on, labels), out(on, to), counted ? counter : any_output<device>{});
            if (counted) edge::read_back(where.ordinal, on.stream, &count, memory.get(), sizeof count);
        }
    });
    return count;
}

void without_small(const array& image, const array& to, std::int64_t smallest, const label_words& words, int ordinal,
                   std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    over<1, 1>({ordinal, stream, staged, threads, progress}, {&image}, {&to},
               [&](const auto& on, const auto& in, const auto& out) {
                   remove_small(on, in[0], out[0], smallest, words.options());
               });
}

/// Returns an array with four values of 8 bytes for each pair of labels: a, b, pairs of cells, the area as a double.
nb::object touching(const array& labels, int connectivity, const std::vector<double>& spacing, const place& where) {
    constexpr std::size_t values = 4;
    static_assert(sizeof(contact) == values * sizeof(std::int64_t));
    auto* const kept = new std::vector<contact>;
    const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<contact>*>(memory); });
    const nearfield::spacing cell(spacing.data(), spacing.size());
    run_there(where, labels.cells(), [&](const auto& on) { *kept = contacts(on, in(on, labels), connectivity, cell); });
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t>(kept->data(), {kept->size(), values}, owner));
}

/// Returns values of 8 bytes, in the layout of component_shape.
nb::bytes shapes(const array& labels, std::int64_t rows, const std::vector<double>& spacing, const place& where) {
    static_assert(sizeof(component_shape) == 28 * 8);
    std::vector<component_shape> found;
    const nearfield::spacing cell(spacing.data(), spacing.size());
    run_there(where, labels.cells(), [&](const auto& on) { found = shape_measures(on, in(on, labels), rows, cell); });
    return nb::bytes(found.data(), found.size() * sizeof(component_shape));
}

nb::dict propagated(const array& image, const array& to, const label_words& words,
                    const propagation_options& propagation, const place& where) {
    propagation_report said;
    run_there(where, image.cells(), [&](const auto& on) {
        said = label_by_propagation(on, in(on, image), out(on, to), words.options(), propagation);
    });
    nb::dict d;
    d["rounds"] = said.rounds, d["link_steps"] = said.link_steps, d["components"] = said.components;
    d["seconds_links"] = said.seconds_links, d["seconds_rounds"] = said.seconds_rounds;
    return d;
}

}  // namespace

void bind_components(nb::module_& module) {
    nb::class_<place>(module, "Place")
        .def(
            "__init__",
            [](place* made, int ordinal, std::uintptr_t stream, int threads) {
                new (made) place{ordinal, stream, threads};
            },
            nb::arg("ordinal"), nb::arg("stream"), nb::arg("threads"));
    nb::class_<propagation_options>(module, "PropagationOptions")
        .def(
            "__init__",
            [](propagation_options* made, bool links, bool neighbours, bool masters, bool hooked, int gather_length,
               std::int64_t most_rounds) {
                new (made) propagation_options{.neighbours = neighbours,
                                               .links = links,
                                               .masters = masters,
                                               .hooked = hooked,
                                               .gather_length = gather_length,
                                               .most_rounds = most_rounds};
            },
            nb::arg("links"), nb::arg("neighbours"), nb::arg("masters"), nb::arg("hooked"), nb::arg("gather_length"),
            nb::arg("most_rounds"));
    module.def("component_statistics", &statistics, nb::arg("labels"), nb::arg("tables"), nb::arg("place"));
    module.def("component_statistics_of_all", &statistics_of_all, nb::arg("labels"), nb::arg("make_tables"),
               nb::arg("place"));
    module.def("label_list_offsets", &list_offsets, nb::arg("labels"), nb::arg("offsets"), nb::arg("runs"),
               nb::arg("place"));
    module.def("label_lists", &lists, nb::arg("labels"), nb::arg("offsets"), nb::arg("entries"), nb::arg("runs"),
               nb::arg("place"));
    module.def("relabel", &renumber, nb::arg("labels"), nb::arg("out"), nb::arg("counted"), nb::arg("place"));
    module.def("remove_small", &without_small, nb::arg("image"), nb::arg("out"), nb::arg("smallest"),
               nb::arg("options"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("contacts", &touching, nb::arg("labels"), nb::arg("connectivity"), nb::arg("spacing"), nb::arg("place"));
    module.def("shape_measures", &shapes, nb::arg("labels"), nb::arg("rows"), nb::arg("spacing"), nb::arg("place"));
    module.def("label_by_propagation", &propagated, nb::arg("image"), nb::arg("out"), nb::arg("options"),
               nb::arg("propagation"), nb::arg("place"));
}

}  // namespace nearfield::python
