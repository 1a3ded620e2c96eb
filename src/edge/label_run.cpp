#include "edge/label_run.hpp"

#include "edge/device_arrays.hpp"
#include "edge/staging.hpp"

namespace nearfield::edge {
namespace {

component_tables<device> placed(mirror& memory, const component_tables<host>& like, cudaStream_t on) {
    component_tables<device> there;
    for (std::size_t k = 0; k < table_members<host>().size(); ++k)
        there.*table_members<device>()[k] = memory.add(like.*table_members<host>()[k]);
    there.intensity = upload(memory, like.intensity, on);
    return there;
}

void copy_back(const component_tables<device>& from, const component_tables<host>& to, cudaStream_t on) {
    for (std::size_t k = 0; k < table_members<host>().size(); ++k)
        edge::copy_back(from.*table_members<device>()[k], to.*table_members<host>()[k], on);
}

/// The outputs on the device, and the host arrays to which they are copied back.
struct placed_fields {
    label_fields<device> there;
    component_tables<device> placed_tables;  ///< there.tables, or those that make_tables has made
    component_tables<host> tables;           ///< the host arrays that receive them

    placed_fields(mirror& memory, const label_fields<host>& out, cudaStream_t on) : tables(out.tables) {
        there.label = memory.add(out.label);
        there.count = memory.add(out.count);
        there.tables = placed_tables = placed(memory, tables, on);
        if (out.make_tables)
            there.make_tables = [this, &memory, &out, on](std::int64_t rows) {
                tables = out.make_tables(rows);
                return placed_tables = placed(memory, tables, on);
            };
    }
    placed_fields(const placed_fields&) = delete;
    placed_fields& operator=(const placed_fields&) = delete;
};

}  // namespace

device_timing label_on_device(int ordinal, const any_input<host>& image, const label_fields<host>& out,
                              const label_options& options) {
    const current_device current(ordinal);
    const stream on;
    mirror memory;
    auto start = std::chrono::steady_clock::now();
    const any_input<device> seen = upload(memory, image, on);
    placed_fields placed(memory, out, on);
    check(cudaStreamSynchronize(on), "copying the image");
    device_timing timing;
    timing.copy_ms = since(start);
    timing.compute_ms.push_back(timed(on, [&] { label(device{on}, seen, placed.there, options); }));
    start = std::chrono::steady_clock::now();
    edge::copy_back(placed.there.label, out.label, on);
    edge::copy_back(placed.there.count, out.count, on);
    copy_back(placed.placed_tables, placed.tables, on);
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

device_timing propagate_on_device(int ordinal, const any_input<host>& image, const any_output<host>& out,
                                  const label_options& options, const propagation_options& propagation,
                                  propagation_report& report) {
    const current_device current(ordinal);
    const stream on;
    mirror memory;
    auto start = std::chrono::steady_clock::now();
    const any_input<device> seen = upload(memory, image, on);
    const any_output<device> there = memory.add(out);
    check(cudaStreamSynchronize(on), "copying the image");
    device_timing timing;
    timing.copy_ms = since(start);
    timing.compute_ms.push_back(
        timed(on, [&] { report = label_by_propagation(device{on}, seen, there, options, propagation); }));
    start = std::chrono::steady_clock::now();
    edge::copy_back(there, out, on);
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

}  // namespace nearfield::edge
