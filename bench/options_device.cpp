// The GPU's part of `bench_all options`: options, batches and lists of images.
#include "bench.hpp"
#include "device.hpp"
#include "nearfield/system.hpp"
#include "nearfield/voronoi.hpp"
#include "options.hpp"

namespace nearfield::bench {
namespace {

constexpr int runs = 9;

template <class T>
device_memory uploaded(const std::vector<T>& data) {
    device_memory memory(static_cast<std::int64_t>(std::max<std::size_t>(data.size(), 1) * sizeof(T)));
    expect(cudaMemcpy(memory.get(), data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
    return memory;
}

double time_case(const timer& t, const option_case& c, const shape_t& shape, const std::vector<std::uint32_t>& cells) {
    const std::vector<std::uint8_t> bytes(cells.begin(), cells.end());
    const auto n = static_cast<std::int64_t>(cells.size());
    const device_memory in = reads_labels(c) ? uploaded(cells) : uploaded(bytes);
    std::vector<std::int32_t> weight(c.weighted ? cells.size() : 0);
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<std::int32_t>(mix(i) % 100);
    const device_memory weights = uploaded(weight);
    const device_memory distance(c.distance ? 4 * n : 1), index(c.index ? 8 * n : 1), label(c.label ? 4 * n : 1),
        trusted(c.trusted ? n : 1);
    fields<device> out;
    if (c.distance) out.distance = any_output<device>::contiguous(distance.get(), dtype::float32, shape);
    if (c.index) out.index = any_output<device>::contiguous(index.get(), dtype::int64, shape);
    if (c.label) out.label = any_output<device>::contiguous(label.get(), dtype::uint32, shape);
    if (c.trusted) out.trusted = any_output<device>::contiguous(trusted.get(), dtype::uint8, shape);
    const void* from = in.get();
    const auto image = any_input<device>::contiguous(from, reads_labels(c) ? dtype::uint32 : dtype::uint8, shape);
    const void* from_weights = weights.get();
    const device on{t.stream()};
    const auto work = [&](int) {
        if (c.weighted)
            power_diagram(on, image, any_input<device>::contiguous(from_weights, dtype::int32, shape), out, c.options);
        else distance_transform(on, image, out, c.options);
    };
    t.time(2, work);
    return median(t.time(runs, work));
}

/// Images of one shape in one call, beside the time that its floor takes.
void measure_batch(option_session& s, const timer& t) {
    for (const double density : {0.0001, 0.01, 0.1, 0.5}) {
        const shape_t shape{256, 1024, 1024};
        const std::int64_t n = cells_of(shape);
        const device_memory in = uploaded(random_sites(n, density)), out(4 * n);
        const void* from = in.get();
        fields<device> wanted;
        wanted.distance = any_output<device>::contiguous(out.get(), dtype::float32, shape);
        const auto work = [&](int) {
            distance_transform(device{t.stream()}, any_input<device>::contiguous(from, dtype::uint8, shape), wanted,
                               {.batch_axes = 1});
        };
        t.time(2, work);
        const double floor = 5.0 * static_cast<double>(n) / (copy_of(s.head, 0) * 1e9) * 1e3;
        report(s, fmt::format("batch, {:g} % sites (times: the floor)", 100 * density), "floor", shape,
               median(t.time(runs, work)), floor);
    }
}

/// 1000 images of 64 to 255 cells a side, in one call and in a loop.
void measure_list(option_session& s, const timer& t) {
    std::vector<job<device>> jobs;
    std::vector<device_memory> memory;
    std::int64_t cells = 0;
    for (std::uint64_t k = 0; k < 1000; ++k) {
        const shape_t shape{static_cast<std::int64_t>(64 + mix(k) % 192),
                            static_cast<std::int64_t>(64 + mix(k + 1000) % 192)};
        const std::int64_t n = cells_of(shape);
        memory.push_back(uploaded(random_sites(n, 0.01)));
        const void* from = memory.back().get();
        memory.emplace_back(4 * n);
        fields<device> wanted;
        wanted.distance = any_output<device>::contiguous(memory.back().get(), dtype::float32, shape);
        jobs.push_back({any_input<device>::contiguous(from, dtype::uint8, shape), wanted});
        cells += n;
    }
    const device on{t.stream()};
    const auto loop = [&](int) {
        for (const job<device>& each : jobs) distance_transform(on, each.image, each.out);
    };
    t.time(2, loop);
    const double looped = median(t.time(5, loop));
    const char* name = "1000 images of 64 to 255, a loop";
    report(s, name, name, {1000, cells / 1000}, looped, looped);
    const auto list = [&](int) { distance_transform(on, std::span<const job<device>>(jobs)); };
    t.time(2, list);
    report(s, "1000 images of 64 to 255, one list", name, {1000, cells / 1000}, median(t.time(5, list)), looped);
}

}  // namespace

option_session measure_options_on_device(const std::vector<shape_t>& shapes) {
    expect_device();
    const timer t;
    option_session s;
    s.head = device_session(t);
    for (const shape_t& shape : shapes) {
        measure_options(s, shape, [&](const option_case& c, const std::vector<std::uint32_t>& image) {
            return time_case(t, c, shape, image);
        });
    }
    measure_batch(s, t);
    measure_list(s, t);
    return s;
}

}  // namespace nearfield::bench
