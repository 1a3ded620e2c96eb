// A call on a device: turns the image into packed sites, runs the method, and turns packed sites into fields.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/cuda.cuh"
#include "methods/cuda_ends.cuh"

namespace nearfield::methods {
namespace {

using namespace ends_of_a_call;

class device_stages final : public stages {
public:
    device_stages(const device& on, method_report& report) : on_(on), report_(report) { mark(); }
    ~device_stages() override {
        for (cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
    }
    device_stages(const device_stages&) = delete;
    device_stages& operator=(const device_stages&) = delete;

    void done(std::string name, std::int64_t rounds, std::int64_t bytes) override {
        report_.stages.push_back({std::move(name), 0, rounds, bytes});
        mark();
    }
    /// Waits for the last stage.
    void read() {
        cuda::check(cudaEventSynchronize(events_.back()), "waiting for a method");
        for (std::size_t k = 0; k + 1 < events_.size(); ++k) {
            float milliseconds = 0;
            cuda::check(cudaEventElapsedTime(&milliseconds, events_[k], events_[k + 1]), "taking the time");
            report_.stages[k].seconds = static_cast<double>(milliseconds) / 1000;
        }
    }

private:
    void mark() {
        cudaEvent_t fresh = nullptr;
        cuda::check(cudaEventCreate(&fresh), "making an event");
        events_.push_back(fresh);
        cuda::check(cudaEventRecord(fresh, cuda::stream_of(on_)), "taking the time");
    }

    const device& on_;
    method_report& report_;
    std::vector<cudaEvent_t> events_;
};

/// Launches the kernels at both ends of a call, over all cells.
template <class V, class Key>
class ends {
public:
    ends(const device& on, const problem& p, const any_input<device>& image, const fields<device>& out)
        : on_(on), p_(p), image_(image), out_(out) {}

    void read(Key* site) const {
        with_bits(image_.type, [&]<class Bits>(Bits, Bits keep) {
            over_cells(read_sites<Bits, Key>, p_.g.keys, places(p_.g), in<const Bits>(image_), keep, p_.zero_is_site,
                       sites_in(p_.g, site));
        });
    }

    void write(Key* sites, const std::int32_t* price) const {
        const ruler<V, Key> by{metric_of<V>(p_.g), places(p_.g), p_.first_weight > 0 ? price : nullptr,
                               p_.first_weight};
        const strided<const Key> site = sites_in<const Key>(p_.g, sites);
        if (p_.limit < std::numeric_limits<double>::infinity())
            over_cells(forget_far<V, Key>, by, p_.limit, site, sites_in(p_.g, sites));
        if (out_.distance.wanted()) {
            if (out_.distance.type == dtype::float32)
                over_cells(write_distance<float, V, Key>, by, site, in<float>(out_.distance));
            else over_cells(write_distance<double, V, Key>, by, site, in<double>(out_.distance));
        }
        if (out_.squared.wanted()) squares(by, site);
        if (out_.index.wanted()) {
            if (out_.index.type == dtype::int32)
                over_cells(write_index<std::int32_t, Key>, p_.g.keys, by.where, site, in<std::int32_t>(out_.index));
            else over_cells(write_index<std::int64_t, Key>, p_.g.keys, by.where, site, in<std::int64_t>(out_.index));
        }
        for (int axis = 0; axis < p_.g.rank && out_.coordinates.wanted(); ++axis) {
            any_output<device> plane = out_.coordinates;
            plane.data = static_cast<std::int32_t*>(plane.data) + axis * plane.stride[0];
            const strided<std::int32_t> to = in<std::int32_t>(plane);
            over_cells(write_coordinate<Key>, p_.g.keys, by.where, 3 - p_.g.rank + axis, site, to);
        }
        if (!out_.label.wanted()) return;
        with_bits(image_.type, [&]<class Bits>(Bits, Bits) {
            over_cells(write_label<Bits, Key>, p_.g.keys, by.where, site, in<const Bits>(image_), in<Bits>(out_.label));
        });
    }

private:
    template <class T, class Element>
    strided<T> in(const any_view<Element, device>& v) const {
        return strided<T>::of(v, p_.g.rank);
    }
    template <class... Parameters, class... Arguments>
    void over_cells(void (*kernel)(Parameters...), const Arguments&... arguments) const {
        cuda::launch(on_, kernel, cuda::blocks_for(p_.g.cells(), cells_a_block), dim3(threads), 0, arguments...);
    }
    void squares(const ruler<V, Key>& by, const strided<const Key>& site) const {
        const auto as = [&]<class T>(T without) {
            over_cells(write_squared<T, V, Key>, by, site, without, in<T>(out_.squared));
        };
        if (out_.squared.type == dtype::uint32) as(std::numeric_limits<std::uint32_t>::max());
        else if (out_.squared.type == dtype::uint64) as(std::numeric_limits<std::uint64_t>::max());
        else as(std::numeric_limits<double>::infinity());
    }

    const device& on_;
    const problem& p_;
    const any_input<device>& image_;
    const fields<device>& out_;
};

}  // namespace

void run(const device& on, const method& by, const problem& p, const any_input<device>& image,
         const fields<device>& out, method_report& report) {
    const cuda::device_guard guard(on);
    with_types(p.g, [&]<class V, class Key>(const metric<V>&, Key) {
        cuda::workspace memory(on);
        const std::int64_t now = memory.reserve<Key>(p.g.cells()), spare = memory.reserve<Key>(p.g.cells());
        const std::int64_t price =
            memory.reserve<std::int32_t>(std::holds_alternative<chamfer_method>(by) ? p.g.cells() : 0);
        memory.allocate();
        buffers site{memory.get<Key>(now), memory.get<Key>(spare)};
        device_stages clock(on, report);
        const ends<V, Key> both(on, p, image, out);
        both.read(site.in<Key>());
        const std::int64_t key_bytes = p.g.cells() * p.g.key_bytes();
        clock.done("initialise", 1, p.g.cells() * size_of(image.type) + key_bytes);
        solve_by(on, p, by, site, memory.get<std::int32_t>(price), clock);
        both.write(site.in<Key>(), memory.get<std::int32_t>(price));
        clock.done("fields", 1, key_bytes + bytes_of_arrays(image, out) - p.g.cells() * size_of(image.type));
        clock.read();
    });
}

void run_exact(const device& on, const any_input<device>& image, const fields<device>& out,
               const distance_options& options, method_report& report) {
    const cuda::device_guard guard(on);
    device_stages clock(on, report);
    distance_transform(on, image, out, options);
    clock.done("exact", 1, bytes_of_arrays(image, out));
    clock.read();
}

}  // namespace nearfield::methods
