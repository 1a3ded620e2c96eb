// Compares a device's indices of nearest sites with the host's, for paths that serve indices alone.
#pragma once

#include "exact/device_engine.hpp"
#include "exact/fills.hpp"

namespace nearfield::test {

template <class Place, class Index>
fields<Place> indices_to(Index* out, const shape_t& shape) {
    fields<Place> to;
    to.index = any_output<Place>::contiguous(out, sizeof(Index) == 4 ? dtype::int32 : dtype::int64, shape);
    return to;
}

/// Returns "" or the place in an image of bytes where the two differ. Image and indices begin this many cells into
/// their memory on the device.
template <class Index>
std::string sites_differ(const shape_t& shape, int batch_axes, const flags_t& seeds, sites rule = sites::nonzero,
                         std::size_t skipped = 0) {
    distance_options options;
    options.sites = rule, options.batch_axes = batch_axes;
    std::vector<Index> expected(seeds.size()), found(seeds.size(), Index{-5});
    distance_transform(host{}, any_input<host>::contiguous(seeds.data(), dtype::uint8, shape),
                       indices_to<host>(expected.data(), shape), options);
    const stream on;
    const device_memory image(seeds.size() + skipped), out((seeds.size() + skipped) * sizeof(Index));
    auto* const cells = static_cast<std::uint8_t*>(image.data()) + skipped;
    auto* const to = static_cast<Index*>(out.data()) + skipped;
    const auto copy = [&](void* into, const void* from, std::size_t bytes) {
        expect_cuda(cudaMemcpyAsync(into, from, bytes, cudaMemcpyDefault, on.get()), "copy");
    };
    copy(cells, seeds.data(), seeds.size());
    copy(to, found.data(), found.size() * sizeof(Index));
    distance_transform(device{on.get()}, any_input<device>::contiguous(cells, dtype::uint8, shape),
                       indices_to<device>(to, shape), options);
    copy(found.data(), to, found.size() * sizeof(Index));
    on.wait();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (expected[i] != found[i])
            return "cell " + std::to_string(i) + ": " + std::to_string(found[i]) + ", on the host " +
                   std::to_string(expected[i]);
    return {};
}

}  // namespace nearfield::test
