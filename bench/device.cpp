#include "device.hpp"

#include "nearfield/system.hpp"

namespace nearfield::bench {

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

namespace {

/// The peers make their images by random_sites' rule, so the GPU's must follow it.
void check_random(const timer& t) {
    constexpr std::int64_t n = std::int64_t{1} << 20;
    const device_memory image(n);
    std::vector<std::uint8_t> made(n);
    expect(fill_random(image.get(), n, 0.1, t.stream()), "fill_random");
    expect(cudaMemcpyAsync(made.data(), image.get(), n, cudaMemcpyDeviceToHost, t.stream()), "download");
    t.wait();
    if (made != random_sites(n, 0.1)) throw error(error_code::device, "the GPU's random image is not the host's");
}

}  // namespace

void expect_device() {
    const system_info system = query_system();
    if (system.devices.empty()) throw error(error_code::unsupported, "no CUDA device: " + system.why_no_device);
}

session device_session(const timer& t) {
    const system_info system = query_system();
    session s;
    s.place = "device";
    s.device = system.devices[0].name;
    s.details = fmt::format("CUDA {}.{}", system.cuda_runtime / 1000, system.cuda_runtime % 1000 / 10);
    check_random(t);
    s.copy_gb_s.emplace_back(0, device_copy_gb_s(t));
    return s;
}

namespace {

/// Arrays of one call are an image of n bytes and a field of 4 n; all copies together are three caches large.
std::int64_t copies_beyond_the_cache(std::int64_t cells) {
    int cache_bytes = 0;
    expect(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, 0), "cudaDeviceGetAttribute");
    return std::clamp<std::int64_t>(3 * std::int64_t{cache_bytes} / (5 * cells) + 1, 1, 64);
}

}  // namespace

device_image::device_image(const timer& t, const std::string& data, const shape_t& shape, double density,
                           const painter& pictures)
    : shape_(shape), density_(density) {
    const std::int64_t n = cells_of(shape);
    for (std::int64_t k = copies_beyond_the_cache(n); k > 0; --k) in_.emplace_back(n);
    if (data == "random") {
        expect(fill_random(in_.front().get(), n, density, t.stream()), "fill_random");
    } else {
        const std::vector<std::uint8_t> image = pictures.paint(data, shape);
        density_ = share_of_sites(image);
        expect(cudaMemcpyAsync(in_.front().get(), image.data(), image.size(), cudaMemcpyHostToDevice, t.stream()),
               "upload");
        t.wait();
    }
    for (std::size_t k = 1; k < in_.size(); ++k) {
        expect(cudaMemcpyAsync(in_[k].get(), in_[0].get(), static_cast<std::size_t>(n), cudaMemcpyDeviceToDevice,
                               t.stream()),
               "copy");
    }
    t.wait();
}

any_input<device> device_image::copy(std::int64_t k) const {
    const void* cells = in_[static_cast<std::size_t>(k % copies())].get();
    return any_input<device>::contiguous(cells, dtype::uint8, shape_);
}

device_call::device_call(const timer& t, const device_image& image, const std::string& field)
    : timer_(t), image_(image), field_(field) {
    for (std::int64_t k = 0; k < image.copies(); ++k) memory_.emplace_back(image.cells() * field_bytes(field));
}

void device_call::operator()(int k) const {
    void* to = memory_[static_cast<std::size_t>(k % image_.copies())].get();
    fields<device> wanted;
    if (field_ == "distance") wanted.distance = any_output<device>::contiguous(to, dtype::float32, image_.shape());
    else
        wanted.index =
            any_output<device>::contiguous(to, field_ == "index" ? dtype::int64 : dtype::int32, image_.shape());
    distance_transform(device{timer_.stream()}, image_.copy(k), wanted);
}

std::pair<double, int> device_call::measure() const {
    const std::int64_t cells = image_.cells();
    timer_.time(cells > 1'000'000'000 ? 1 : 3, std::cref(*this));
    const int runs = cells > 1'000'000'000 ? 5 : cells > 100'000'000 ? 7 : cells > 4'000'000 ? 15 : 65;
    return {median(timer_.time(runs, std::cref(*this))), runs};
}

}  // namespace nearfield::bench
