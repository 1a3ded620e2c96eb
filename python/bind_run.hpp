// A call that runs where its arrays are, or on a device to which the library copies them.
#pragma once

#include "edge/device_arrays.hpp"
#include "python/bind_call.hpp"
#include "python/bind_lock.hpp"

namespace nearfield::python {

/// Where the arrays are, and where the call runs: on device `ordinal` for arrays of the host where `staged`.
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

/// Rows of a table as they lie in memory, which Python reads by a type of NumPy.
template <class Row>
nb::bytes bytes_of(const std::vector<Row>& rows) {
    return nb::bytes(rows.data(), rows.size() * sizeof(Row));
}

}  // namespace nearfield::python
