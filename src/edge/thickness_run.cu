#include "edge/thickness_run.hpp"

#include "edge/device_arrays.hpp"
#include "edge/staging.hpp"

namespace nearfield::edge {

device_timing thickness_on_device(int ordinal, const any_input<host>& image, const thickness_fields<host>& out,
                                  const thickness_options& options, bool radii_given) {
    const current_device current(ordinal);
    const stream on;
    mirror memory;
    auto start = std::chrono::steady_clock::now();
    const any_input<device> seen = upload(memory, image, on);
    thickness_fields<device> there;
    there.thickness = memory.add(out.thickness), there.squared = memory.add(out.squared);
    check(cudaStreamSynchronize(on), "copying the image");
    device_timing timing;
    timing.upload_ms = timing.copy_ms = since(start);
    timing.compute_ms.push_back(timed(on, [&] {
        if (radii_given) union_of_balls(device{on}, seen, there, options);
        else local_thickness(device{on}, seen, there, options);
    }));
    start = std::chrono::steady_clock::now();
    copy_back(there.thickness, out.thickness, on);
    copy_back(there.squared, out.squared, on);
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

}  // namespace nearfield::edge
