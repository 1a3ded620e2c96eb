#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "nearfield/chunks.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

/// Fills all arrays in place, on `stream` of device `ordinal`, or on the CPU if that is -1.
void pass(const array& squared, const array* site, const array* label, int axis, double spacing, bool periodic,
          const std::vector<std::int64_t>& grid, bool half_cell, int ordinal, std::uintptr_t stream, int threads) {
    const partial_options options{spacing, periodic ? border::periodic : border::open, grid, half_cell};
    const auto field = [&]<class Element, class Place>(partial_field<Element, Place>) {
        return partial_field<Element, Place>{squared.view<Element, Place>(), view_of<Element, Place>(site),
                                             view_of<Element, Place>(label)};
    };
    const auto call = [&]<class Place>(const Place& on) {
        pass_along(on, field(partial_field<const void, Place>{}), axis, field(partial_field<void, Place>{}), options);
    };
    run(
        {ordinal, stream, false, threads, nb::none()}, squared.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); }, [](int) {});
}

using numbers = std::vector<std::int64_t>;

nb::bytes bytes_of_numbers(const numbers& values) {
    return nb::bytes(values.data(), values.size() * sizeof(std::int64_t));
}
/// An array of int64 in host memory, C order.
std::span<const std::int64_t> span_of(const array& values) {
    return {reinterpret_cast<const std::int64_t*>(values.data), static_cast<std::size_t>(values.cells())};
}

/// Calls of components and windows, on `stream` of device `ordinal`, or on the CPU if that is -1.
template <class Call>
void run_step(const array& of, int ordinal, std::uintptr_t stream, int threads, const Call& call) {
    const auto each = [&](const auto& on) { call(on); };
    run({ordinal, stream, false, threads, nb::none()}, of.cells(), each, each, [](int) {});
}

bool every_cell(const array& field, int ordinal, std::uintptr_t stream, int threads) {
    bool made = false;
    run_step(field, ordinal, stream, threads,
             [&]<class Place>(const Place& on) { made = every_cell_has_site(on, field.view<const void, Place>()); });
    return made;
}

/// Returns more, first, low and high of chunk_faces.
nb::tuple faces_of(const array& labels, std::int64_t count, const numbers& start, const numbers& size,
                   const numbers& grid, int ordinal, std::uintptr_t stream, int threads) {
    chunk_faces made;
    run_step(labels, ordinal, stream, threads, [&]<class Place>(const Place& on) {
        made = chunk_faces_of(on, labels.view<const void, Place>(), count, {start, size, grid});
    });
    return nb::make_tuple(made.more, bytes_of_numbers(made.first), bytes_of_numbers(made.low),
                          bytes_of_numbers(made.high));
}

/// `faces` holds size, more, first, low and high of each chunk. Returns the numbers of each, and how many there are.
nb::tuple merge_faces(const std::vector<std::tuple<numbers, numbers, const array*, const array*, const array*>>& faces,
                      const numbers& chunks) {
    merged_chunks made;
    {
        const unlocked released;
        std::vector<chunk_faces> all;
        const auto copy = [](const array* from) { return numbers(span_of(*from).begin(), span_of(*from).end()); };
        for (const auto& [size, more, first, low, high] : faces)
            all.push_back({size, more, copy(first), copy(low), copy(high)});
        made = merge(all, chunks);
    }
    nb::list of_chunk;
    for (const numbers& each : made.numbers) of_chunk.append(bytes_of_numbers(each));
    return nb::make_tuple(of_chunk, made.count);
}

nb::bytes joined(std::int64_t count, const array& a, const array& b) {
    return bytes_of_numbers(joined_sets(count, span_of(a), span_of(b)));
}

void renumbered(const array& labels, const array& table, const array& out, int ordinal, std::uintptr_t stream,
                int threads) {
    run_step(labels, ordinal, stream, threads, [&]<class Place>(const Place& on) {
        renumber(on, labels.view<const void, Place>(), span_of(table), out.view<void, Place>());
    });
}

numbers halo(double limit, const std::vector<double>& lengths, int rank) {
    return window_halo(limit, spacing(lengths.data(), lengths.size()), rank);
}

}  // namespace

void bind_chunks(nb::module_& module) {
    module.def("every_cell_has_site", &every_cell, nb::arg("field"), nb::arg("ordinal"), nb::arg("stream"),
               nb::arg("threads"));
    module.def("chunk_faces", &faces_of, nb::arg("labels"), nb::arg("count"), nb::arg("start"), nb::arg("size"),
               nb::arg("grid"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("threads"));
    module.def("merge_chunks", &merge_faces, nb::arg("faces"), nb::arg("chunks"));
    module.def("joined_sets", &joined, nb::arg("count"), nb::arg("a"), nb::arg("b"));
    module.def("renumber", &renumbered, nb::arg("labels"), nb::arg("numbers"), nb::arg("out"), nb::arg("ordinal"),
               nb::arg("stream"), nb::arg("threads"));
    module.def("window_halo", &halo, nb::arg("limit"), nb::arg("spacing"), nb::arg("rank"));
    module.def("pass_along", &pass, nb::arg("squared"), nb::arg("site").none(), nb::arg("label").none(),
               nb::arg("axis"), nb::arg("spacing"), nb::arg("periodic"), nb::arg("grid"), nb::arg("half_cell"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("threads"));
}

}  // namespace nearfield::python
