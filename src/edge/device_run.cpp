#include "edge/device_run.hpp"

#include "edge/device_arrays.hpp"
#include "edge/staging.hpp"

namespace nearfield::edge {
namespace {

work<device> upload(mirror& memory, const work<host>& what, cudaStream_t on) {
    work<device> there{{},
                       upload(memory, what.weights, on),
                       what.options,
                       what.by,
                       what.report,
                       upload(memory, what.bounds, on),
                       upload(memory, what.where, on),
                       what.cleared};
    const auto place = [&](const any_output<host>& field) {
        const any_output<device> to = memory.add(field);
        // With a mask `where`, other cells keep their values, so these are copied too.
        if (what.where.wanted()) copy(to.data, field.data, bytes_of(field), cudaMemcpyHostToDevice, on);
        return to;
    };
    for (const job<host>& each : what.jobs) {
        const fields<host>& out = each.out;
        there.jobs.push_back({upload(memory, each.image, on),
                              {place(out.distance), place(out.squared), place(out.index), place(out.coordinates),
                               place(out.label), place(out.trusted)}});
    }
    return there;
}

void download(const fields<device>& from, const fields<host>& to, cudaStream_t on) {
    copy_back(from.distance, to.distance, on), copy_back(from.squared, to.squared, on);
    copy_back(from.index, to.index, on), copy_back(from.coordinates, to.coordinates, on);
    copy_back(from.label, to.label, on), copy_back(from.trusted, to.trusted, on);
}

}  // namespace

device_timing run_on_device(int ordinal, const work<host>& what, int warmups, int repeat) {
    const current_device current(ordinal);
    const stream on;
    mirror memory;
    device_timing timing;
    auto start = std::chrono::steady_clock::now();
    const work<device> there = upload(memory, what, on);
    check(cudaStreamSynchronize(on), "copying the image");
    timing.copy_ms = timing.upload_ms = since(start);
    for (int round = -warmups; round < repeat; ++round) {
        const double milliseconds = timed(on, [&] { run(device{on}, there); });
        if (round >= 0) timing.compute_ms.push_back(milliseconds);
    }
    start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < what.jobs.size(); ++i) download(there.jobs[i].out, what.jobs[i].out, on);
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

}  // namespace nearfield::edge
