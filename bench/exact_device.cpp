// The GPU's part of bench_exact. Times are those of CUDA events on the stream, with runs queued one behind the other.
#include "bench.hpp"
#include "device.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/system.hpp"

namespace nearfield::bench {
namespace {

double device_copy_gb_s(const timer& t) {
    constexpr std::int64_t bytes = std::int64_t{4} << 30;
    const device_memory from(bytes), to(bytes);
    expect(cudaMemsetAsync(from.get(), 1, bytes, t.stream()), "cudaMemsetAsync");
    const auto copy = [&](int) {
        expect(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice, t.stream()), "cudaMemcpyAsync");
    };
    t.time(2, copy);
    return 2.0 * static_cast<double>(bytes) / (median(t.time(9, copy)) * 1e-3) * 1e-9;
}

void measure(session& s, const timer& t, const shape_t& shape, double density,
             const std::vector<std::string>& fields_wanted, std::int64_t cache_bytes) {
    const std::vector<std::uint8_t> image = random_sites(cells_of(shape), density);
    const auto cells = static_cast<std::int64_t>(image.size());
    // As many copies as it takes that no run finds its arrays in the cache.
    const auto copies = std::clamp<std::int64_t>(3 * cache_bytes / (5 * cells) + 1, 1, 64);
    std::vector<device_memory> in;
    for (std::int64_t k = 0; k < copies; ++k) {
        in.emplace_back(cells);
        expect(cudaMemcpyAsync(in.back().get(), image.data(), image.size(), cudaMemcpyHostToDevice, t.stream()),
               "upload");
    }
    t.wait();
    for (const std::string& field : fields_wanted) {
        const bool sites = field == "index";
        std::vector<device_memory> out;
        for (std::int64_t k = 0; k < copies; ++k) out.emplace_back(cells * (sites ? 8 : 4));
        const auto run = [&](int k) {
            const auto pick = static_cast<std::size_t>(k % copies);
            fields<device> wanted;
            (sites ? wanted.index : wanted.distance) =
                any_output<device>::contiguous(out[pick].get(), sites ? dtype::int64 : dtype::float32, shape);
            const void* from = in[pick].get();
            distance_transform(device{t.stream()}, any_input<device>::contiguous(from, dtype::uint8, shape), wanted);
        };
        t.time(3, run);
        const int runs = cells > 100'000'000 ? 7 : 15;
        report(s, {"random", shape, density, field, 0, median(t.time(runs, run)), runs});
    }
}

}  // namespace

session measure_device(const request& wanted) {
    const system_info system = query_system();
    if (system.devices.empty()) throw error(error_code::unsupported, "no CUDA device: " + system.why_no_device);
    session s;
    s.place = "device";
    s.device = system.devices[0].name;
    s.details = fmt::format("CUDA {}.{}", system.cuda_runtime / 1000, system.cuda_runtime % 1000 / 10);
    // Workspace stays in the pool between runs, as in a program that calls more than once.
    cudaMemPool_t pool = nullptr;
    expect(cudaDeviceGetDefaultMemPool(&pool, 0), "cudaDeviceGetDefaultMemPool");
    std::uint64_t keep = ~std::uint64_t{0};
    expect(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
    int cache_bytes = 0;
    expect(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, 0), "cudaDeviceGetAttribute");
    const timer t;
    s.copy_gb_s.emplace_back(0, device_copy_gb_s(t));
    print_header(s);
    for (const shape_t& shape : wanted.shapes) {
        for (double density : wanted.densities) measure(s, t, shape, density, wanted.fields, cache_bytes);
    }
    return s;
}

}  // namespace nearfield::bench
