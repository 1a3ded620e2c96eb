// The GPU's part of `bench_all exact`. Times are those of CUDA events on the stream, with runs queued one behind the
// other.
#include "device.hpp"
#include "nearfield/system.hpp"

namespace nearfield::bench {

session measure_device(const request& wanted) {
    expect_device();
    const painter pictures(wanted.atlas);
    const timer t;
    session s = device_session(t);
    print_header(s);
    const auto run = [&](const std::string& data, const shape_t& shape, double density) {
        const device_image image(t, data, shape, density, pictures);
        for (const std::string& field : wanted.fields) {
            const auto [ms, runs] = device_call(t, image, field).measure();
            report(s, {data, shape, image.density(), field, 0, ms, runs});
        }
    };
    for (const shape_t& shape : wanted.shapes) {
        for (double density : wanted.densities) run("random", shape, density);
        for (const std::string& picture : wanted.pictures) run(picture, shape, 0);
        release_device_memory();  // so that a larger image finds the memory that this one's workspace was cut from
    }
    return s;
}

}  // namespace nearfield::bench
