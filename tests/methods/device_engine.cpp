#include "methods/device_engine.hpp"

namespace nearfield::test {
namespace {

/// Owns copies of arrays on the device, in the order in which they were added.
class there {
public:
    explicit there(const stream& on) : on_(on) {}

    void* add(void* here, std::size_t bytes) {
        here_.push_back(here);
        memory_.emplace_back(bytes);
        copy(memory_.back().data(), here, bytes, cudaMemcpyHostToDevice);
        return memory_.back().data();
    }
    void* add(guarded& array) { return add(array.bytes().data(), array.bytes().size()); }
    void bring_back() {
        for (std::size_t k = 0; k < memory_.size(); ++k)
            copy(here_[k], memory_[k].data(), memory_[k].bytes(), cudaMemcpyDeviceToHost);
        on_.wait();
    }

private:
    void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind which) const {
        if (bytes > 0) expect_cuda(cudaMemcpyAsync(to, from, bytes, which, on_.get()), "copying");
    }

    const stream& on_;
    std::vector<void*> here_;
    std::vector<device_memory> memory_;
};

device_answer sized(const flags_t& sites) {
    return {std::vector<double>(sites.size()),
            std::vector<std::int64_t>(sites.size()),
            std::vector<std::uint8_t>(sites.size()),
            {}};
}

}  // namespace

engine method_on_device(method by) {
    return [by = std::move(by)](call& c) {
        const stream on;
        there arrays(on);
        const void* const image = arrays.add(c.image);
        const auto output = [&](std::optional<guarded>& array) {
            return array ? array->view_of<device>(arrays.add(*array)) : any_output<device>{};
        };
        fields<device> out;
        out.distance = output(c.distance), out.squared = output(c.squared);
        out.index = output(c.index), out.coordinates = output(c.coordinates);
        static_cast<void>(nearest_sites(by, device{on.get()}, c.image.view_of<device>(image), out, c.options));
        arrays.bring_back();
    };
}

device_answer on_device(const method& by, const shape_t& shape, const flags_t& sites, double max_distance) {
    device_answer a = sized(sites);
    const stream on;
    there arrays(on);
    flags_t image = sites;
    const void* const seeds = arrays.add(image.data(), image.size());
    fields<device> out;
    out.distance =
        any_output<device>::contiguous(arrays.add(a.distance.data(), 8 * a.distance.size()), dtype::float64, shape);
    out.index = any_output<device>::contiguous(arrays.add(a.index.data(), 8 * a.index.size()), dtype::int64, shape);
    out.label = any_output<device>::contiguous(arrays.add(a.label.data(), a.label.size()), dtype::uint8, shape);
    a.report = nearest_sites(by, device{on.get()}, any_input<device>::contiguous(seeds, dtype::uint8, shape), out,
                             {.sites = sites::nonzero, .max_distance = max_distance});
    arrays.bring_back();
    return a;
}

device_answer on_host(const method& by, const shape_t& shape, const flags_t& sites, double max_distance) {
    device_answer a = sized(sites);
    fields<host> out;
    out.distance = any_output<host>::contiguous(a.distance.data(), dtype::float64, shape);
    out.index = any_output<host>::contiguous(a.index.data(), dtype::int64, shape);
    out.label = any_output<host>::contiguous(a.label.data(), dtype::uint8, shape);
    a.report = nearest_sites(by, host{2}, any_input<host>::contiguous(sites.data(), dtype::uint8, shape), out,
                             {.sites = sites::nonzero, .max_distance = max_distance});
    return a;
}

}  // namespace nearfield::test
