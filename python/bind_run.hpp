// A call that runs where its arrays are, or on a device to which the library copies them.
#pragma once

#include <array>
#include <vector>

#include "edge/arrays_run.hpp"
#include "edge/device_arrays.hpp"
#include "python/bind_call.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {

/// Place of the arrays and of the call. If `staged`, arrays of the host are processed on device `ordinal`.
struct run_at {
    int ordinal;
    std::uintptr_t stream;
    bool staged;
    int threads;
    const nb::object& progress;
};

/// Calls here(host), there(device), or copied(ordinal).
template <class Here, class There, class Copied>
void run(const run_at& where, std::int64_t cells, const Here& here, const There& there, const Copied& copied) {
    if (where.ordinal < 0) {
        run_watched(cells, where.progress,
                    [&](std::function<bool(double)> told) { here(host{where.threads, std::move(told)}); });
        return;
    }
    const unlocked released;
    if (where.staged) return copied(where.ordinal), end_plan();
    const edge::current_device current(where.ordinal);
    there(device{reinterpret_cast<void*>(where.stream)});
}

/// Runs call(place, inputs, outputs) on these arrays. All but the first input may be missing.
template <std::size_t In, std::size_t Out, class Call>
void over(const run_at& where, const std::array<const array*, In>& in, const std::array<const array*, Out>& out,
          const Call& call) {
    const auto at = [&]<class Place>(const Place& on) {
        std::array<any_input<Place>, In> read;
        std::array<any_output<Place>, Out> to;
        for (std::size_t k = 0; k < In; ++k) read[k] = view_of<const void, Place>(in[k]);
        for (std::size_t k = 0; k < Out; ++k) to[k] = view_of<void, Place>(out[k]);
        call(on, read, to);
    };
    run(
        where, in[0]->cells(), [&](const host& on) { at(on); }, [&](const device& on) { at(on); },
        [&](int ordinal) {
            std::vector<any_input<host>> read;
            std::vector<any_output<host>> to;
            for (const array* each : in) read.push_back(view_of<const void, host>(each));
            for (const array* each : out) to.push_back(view_of<void, host>(each));
            edge::run_arrays_on_device(ordinal, read, to, call);
        });
}

/// Rows of a table as bytes, which Python reads through a type of NumPy.
template <class Row>
nb::bytes bytes_of(const std::vector<Row>& rows) {
    return nb::bytes(rows.data(), rows.size() * sizeof(Row));
}

}  // namespace nearfield::python
