#include "edge/arrays_run.hpp"

#include "edge/device_arrays.hpp"
#include "edge/staging.hpp"

namespace nearfield::edge {

device_timing run_arrays_on_device(int ordinal, std::span<const any_input<host>> in,
                                   std::span<const any_output<host>> out, const device_work& work, int warmups,
                                   int repeat) {
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
