#include "edge/arrays_run.hpp"

#include "edge/device_arrays.hpp"
#include "edge/staging.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::edge {
namespace {

/// Views host memory as if it were its copy; a rehearsal reads no array.
template <class Element>
any_view<Element, device> copy_of(const any_view<Element, host>& like) {
    any_view<Element, device> made;
    made.data = like.data, made.type = like.type, made.rank = like.rank;
    made.shape = like.shape, made.stride = like.stride;
    return made;
}

device_timing rehearse(std::span<const any_input<host>> in, std::span<const any_output<host>> out,
                       const device_work& work) {
    std::vector<any_input<device>> read;
    std::vector<any_output<device>> written;
    for (const any_input<host>& each : in) read.push_back(copy_of(each));
    for (const any_output<host>& each : out) written.push_back(copy_of(each));
    work(device{nullptr}, read, written);
    return {.compute_ms = {0}};
}

}  // namespace

device_timing run_arrays_on_device(int ordinal, std::span<const any_input<host>> in,
                                   std::span<const any_output<host>> out, const device_work& work, int warmups,
                                   int repeat) {
    if (planning()) return rehearse(in, out, work);
    const current_device current(ordinal);
    const stream on;
    mirror memory;
    device_timing timing;
    auto start = std::chrono::steady_clock::now();
    std::vector<any_input<device>> read;
    std::vector<any_output<device>> written;
    for (const any_input<host>& each : in) read.push_back(upload(memory, each, on));
    for (const any_output<host>& each : out) written.push_back(memory.add(each));
    check(cudaStreamSynchronize(on), "copying the image");
    timing.copy_ms = timing.upload_ms = since(start);
    for (int round = -warmups; round < repeat; ++round) {
        const double milliseconds = timed(on, [&] { work(device{on}, read, written); });
        if (round >= 0) timing.compute_ms.push_back(milliseconds);
    }
    start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < out.size(); ++i) copy_back(written[i], out[i], on);
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

}  // namespace nearfield::edge
