// One field on the host and on a device, for tests in which the grid's shape selects the device's path.
#pragma once

#include "exact/device_engine.hpp"
#include "exact/fills.hpp"

namespace nearfield::test {

/// Marks the cells for which `rule(z, y, x)` is true.
template <class Rule>
flags_t sites_where(const shape_t& shape, const Rule& rule) {
    flags_t sites(static_cast<std::size_t>(cells_of(shape)));
    std::size_t i = 0;
    for (std::int64_t z = 0; z < shape[0]; ++z)
        for (std::int64_t y = 0; y < shape[1]; ++y)
            for (std::int64_t x = 0; x < shape[2]; ++x, ++i) sites[i] = rule(z, y, x) ? 1 : 0;
    return sites;
}

enum class wanted : std::uint8_t { site, distance, squared };

/// Computes one field of `sites` on the host and on the device, and keeps the bytes of both.
class one_field {
public:
    one_field(const shape_t& shape, const flags_t& sites, double max_distance, int batch_axes = 0)
        : shape_(shape), sites_(sites) {
        options_.sites = sites::nonzero, options_.max_distance = max_distance, options_.batch_axes = batch_axes;
    }

    /// Computes indices, coordinates if `arrays` is more than 1, or the field that `field` names.
    template <class T>
    std::string differs(dtype type, int arrays, const char* name, wanted field = wanted::site) {
        std::vector<T> expected(sites_.size() * static_cast<std::size_t>(arrays)), found(expected.size());
        shape_t whole = shape_;
        if (arrays > 1) whole.insert(whole.begin(), arrays);
        fields<host> at_home;
        of(at_home, arrays, field) = any_output<host>::contiguous(expected.data(), type, whole);
        distance_transform(host{}, any_input<host>::contiguous(sites_.data(), dtype::uint8, shape_), at_home, options_);

        const stream on;
        const device_memory image(sites_.size()), out(found.size() * sizeof(T));
        const auto copy = [&](void* to, const void* from, std::size_t bytes) {
            expect_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.get()), "copy");
        };
        copy(image.data(), sites_.data(), sites_.size());
        fields<device> there;
        of(there, arrays, field) = any_output<device>::contiguous(static_cast<T*>(out.data()), type, whole);
        distance_transform(device{on.get()}, any_input<device>::contiguous(image.data(), dtype::uint8, shape_), there,
                           options_);
        copy(found.data(), out.data(), out.bytes());
        on.wait();
        for (std::size_t i = 0; i < found.size(); ++i)
            if (found[i] != expected[i])
                return name + (" " + std::to_string(i)) + ": " + std::to_string(found[i]) + ", on the host " +
                       std::to_string(expected[i]);
        return "";
    }

private:
    template <class Place>
    static any_output<Place>& of(fields<Place>& all, int arrays, wanted field) {
        if (field == wanted::distance) return all.distance;
        if (field == wanted::squared) return all.squared;
        return arrays > 1 ? all.coordinates : all.index;
    }

    const shape_t& shape_;
    const flags_t& sites_;
    distance_options options_;
};

}  // namespace nearfield::test
