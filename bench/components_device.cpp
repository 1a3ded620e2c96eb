// The GPU's part of `bench_all components`.
#include "components.hpp"
#include "device.hpp"

namespace nearfield::bench {
namespace {

void upload(const timer& t, void* to, const void* from, std::size_t bytes) {
    expect(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, t.stream()), "upload");
    t.wait();
}

}  // namespace

session measure_components_on_device(const component_request& wanted) {
    expect_device();
    const timer t;
    session s = device_session(t);
    print_header(s);
    for (const shape_t& shape : wanted.shapes)
        for (const int grain : wanted.grains) {
            const label_data data = make_label_data(shape, grain);
            std::vector<device_memory> memory;
            const component_calls<device> calls(data,
                                                [&](std::int64_t bytes) { return memory.emplace_back(bytes).get(); });
            upload(t, calls.labels(), data.labels.data(), data.labels.size() * sizeof(std::int32_t));
            const auto bytes = byte_values(cells_of(shape));
            upload(t, calls.bytes(), bytes.data(), bytes.size());
            const auto reals = real_values(cells_of(shape));
            upload(t, calls.reals(), reals.data(), reals.size() * sizeof(float));
            for (const auto& [name, call] : calls.all()) {
                const auto run = [&](int) { call(device{t.stream()}); };
                t.time(2, run);
                constexpr int runs = 9;
                report(s, {data.name, shape, data.density, name, 0, median(t.time(runs, run)), runs});
            }
        }
    return s;
}

}  // namespace nearfield::bench
