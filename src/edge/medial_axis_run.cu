#include "edge/medial_axis_run.hpp"

#include "edge/device_arrays.hpp"
#include "edge/staging.hpp"

namespace nearfield::edge {
namespace {

/// Times the copies there, the call, and the copies back.
template <class There, class Call, class Back>
device_timing staged(int ordinal, const There& there, const Call& call, const Back& back) {
    const current_device current(ordinal);
    const stream on;
    mirror memory;
    device_timing timing;
    auto start = std::chrono::steady_clock::now();
    const auto placed = there(memory, on);
    check(cudaStreamSynchronize(on), "copying the image");
    timing.copy_ms = timing.upload_ms = since(start);
    timing.compute_ms.push_back(timed(on, [&] { call(device{on}, placed); }));
    start = std::chrono::steady_clock::now();
    back(placed, on);
    check(cudaStreamSynchronize(on), "copying the answer");
    timing.copy_ms += since(start);
    return timing;
}

struct axis_arrays {
    any_input<device> image;
    medial_axis_fields<device> out;
};
struct ball_arrays {
    any_input<device> axis, squared;
    any_output<device> out;
};

}  // namespace

device_timing medial_axis_on_device(int ordinal, const any_input<host>& image, const medial_axis_fields<host>& out,
                                    const medial_axis_options& options) {
    return staged(
        ordinal,
        [&](mirror& memory, cudaStream_t on) {
            axis_arrays a{upload(memory, image, on), {}};
            a.out.axis = memory.add(out.axis), a.out.distance = memory.add(out.distance);
            a.out.squared = memory.add(out.squared), a.out.index = memory.add(out.index);
            a.out.second = memory.add(out.second);
            return a;
        },
        [&](const device& on, const axis_arrays& a) { medial_axis(on, a.image, a.out, options); },
        [&](const axis_arrays& a, cudaStream_t on) {
            copy_back(a.out.axis, out.axis, on), copy_back(a.out.distance, out.distance, on);
            copy_back(a.out.squared, out.squared, on), copy_back(a.out.index, out.index, on);
            copy_back(a.out.second, out.second, on);
        });
}

device_timing reconstruct_on_device(int ordinal, const any_input<host>& axis, const any_input<host>& squared,
                                    const any_output<host>& out, const reconstruct_options& options) {
    return staged(
        ordinal,
        [&](mirror& memory, cudaStream_t on) {
            return ball_arrays{upload(memory, axis, on), upload(memory, squared, on), memory.add(out)};
        },
        [&](const device& on, const ball_arrays& a) { reconstruct(on, a.axis, a.squared, a.out, options); },
        [&](const ball_arrays& a, cudaStream_t on) { copy_back(a.out, out, on); });
}

}  // namespace nearfield::edge
