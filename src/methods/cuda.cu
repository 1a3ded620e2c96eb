// A call on a device: the image to packed sites, the method's room, packed sites to fields. One thread a cell; neighbouring
// threads own neighbouring cells of the last axis, so that packed sites are read and written in whole lines.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/cuda.cuh"
#include "base/lines.hpp"
#include "methods/problem.hpp"

namespace nearfield::methods {
namespace {

constexpr int threads = 256;

/// Where an array of the caller's lies: what offset_of needs, passed to kernels by value.
template <class T>
struct strided {
    T* data;
    std::int64_t size[3], stride[3];
    int rank;
    bool contiguous;

    template <class Element>
    static strided of(const any_view<Element, device>& v, int rank) {
        strided s{static_cast<T*>(v.data), {}, {}, rank, false};
        for (int axis = 0; axis < rank; ++axis) {
            s.size[axis] = v.shape[static_cast<std::size_t>(v.rank - rank + axis)];
            s.stride[axis] = v.stride[static_cast<std::size_t>(v.rank - rank + axis)];
        }
        s.contiguous = is_contiguous(s.size, s.stride, rank);
        return s;
    }
    __device__ T& at(std::int64_t cell) const { return data[contiguous ? cell : offset_of(cell, size, stride, rank)]; }
};

__device__ inline std::int64_t own_cell() { return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; }

/// A cell's coordinates.
struct place {
    std::int32_t z, y, x;
};
__device__ inline place place_of(const grid& g, std::int64_t cell) {
    // Fewer than 2^31 cells: divisions of 32 bits, which take a fraction of the others' time.
    const auto nx = static_cast<std::uint32_t>(g.size[2]), ny = static_cast<std::uint32_t>(g.size[1]);
    const auto number = static_cast<std::uint32_t>(cell);
    const std::uint32_t row = number / nx, z = row / ny;
    return {static_cast<std::int32_t>(z), static_cast<std::int32_t>(row - z * ny),
            static_cast<std::int32_t>(number - row * nx)};
}

template <class Bits, class Key>
__global__ void __launch_bounds__(threads)
    read_sites(grid g, strided<const Bits> image, Bits keep, bool zero_is_site, Key* site) {
    const std::int64_t cell = own_cell();
    if (cell >= g.cells()) return;
    const place at = place_of(g, cell);
    const bool zero = (image.at(cell) & keep) == 0;
    site[cell] = zero == zero_is_site ? g.keys.template pack<Key>(at.z, at.y, at.x) : none<Key>;
}

/// The distance of a cell that has a site.
template <class V, class Key>
struct ruler {
    grid g;
    metric<V> m;
    const std::int32_t* price;  ///< null: distances are those of the sites
    double first_weight;

    __device__ V squared(Key site, std::int64_t cell) const {
        const place at = place_of(g, cell);
        return m.between(site, at.z, at.y, at.x);
    }
    __device__ double distance(Key site, std::int64_t cell) const {
        return price != nullptr ? distance_of(price[cell], first_weight) : distance_of(squared(site, cell));
    }
};

template <class V, class Key>
__global__ void __launch_bounds__(threads) forget_far(ruler<V, Key> by, double limit, Key* site) {
    const std::int64_t cell = own_cell();
    if (cell >= by.g.cells() || site[cell] < 0) return;
    if (by.distance(site[cell], cell) > limit) site[cell] = none<Key>;
}

template <class T, class V, class Key>
__global__ void __launch_bounds__(threads) write_distance(ruler<V, Key> by, const Key* site, strided<T> to) {
    const std::int64_t cell = own_cell();
    if (cell >= by.g.cells()) return;
    const Key key = site[cell];
    to.at(cell) = key < 0 ? static_cast<T>(INFINITY) : static_cast<T>(by.distance(key, cell));
}

template <class T, class V, class Key>
__global__ void __launch_bounds__(threads) write_squared(ruler<V, Key> by, const Key* site, T without, strided<T> to) {
    const std::int64_t cell = own_cell();
    if (cell >= by.g.cells()) return;
    const Key key = site[cell];
    to.at(cell) = key < 0 ? without : static_cast<T>(by.squared(key, cell));
}

template <class Key>
__device__ std::int32_t index_of(const grid& g, Key key) {
    const auto nx = static_cast<std::int32_t>(g.size[2]), ny = static_cast<std::int32_t>(g.size[1]);
    return (g.keys.coordinate(key, 0) * ny + g.keys.coordinate(key, 1)) * nx + g.keys.coordinate(key, 2);
}

template <class T, class Key>
__global__ void __launch_bounds__(threads) write_index(grid g, const Key* site, strided<T> to) {
    const std::int64_t cell = own_cell();
    if (cell >= g.cells()) return;
    const Key key = site[cell];
    to.at(cell) = key < 0 ? T{-1} : static_cast<T>(index_of(g, key));
}

template <class Key>
__global__ void __launch_bounds__(threads)
    write_coordinate(grid g, int axis, const Key* site, strided<std::int32_t> to) {
    const std::int64_t cell = own_cell();
    if (cell >= g.cells()) return;
    const Key key = site[cell];
    to.at(cell) = key < 0 ? -1 : g.keys.coordinate(key, axis);
}

template <class Bits, class Key>
__global__ void __launch_bounds__(threads)
    write_label(grid g, const Key* site, strided<const Bits> image, strided<Bits> to) {
    const std::int64_t cell = own_cell();
    if (cell >= g.cells()) return;
    const Key key = site[cell];
    to.at(cell) = key < 0 ? Bits{} : image.at(index_of(g, key));
}

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

/// What is launched over all cells of a call.
template <class V, class Key>
class ends {
public:
    ends(const device& on, const problem& p, const any_input<device>& image, const fields<device>& out)
        : on_(on), p_(p), image_(image), out_(out) {}

    void read(Key* site) const {
        with_bits(image_.type, [&]<class Bits>(Bits, Bits keep) {
            over_cells(read_sites<Bits, Key>, p_.g, in<const Bits>(image_), keep, p_.zero_is_site, site);
        });
    }

    void write(Key* site, const std::int32_t* price) const {
        const ruler<V, Key> by{p_.g, metric_of<V>(p_.g), p_.first_weight > 0 ? price : nullptr, p_.first_weight};
        if (p_.limit < std::numeric_limits<double>::infinity()) over_cells(forget_far<V, Key>, by, p_.limit, site);
        if (out_.distance.wanted()) {
            if (out_.distance.type == dtype::float32)
                over_cells(write_distance<float, V, Key>, by, site, in<float>(out_.distance));
            else over_cells(write_distance<double, V, Key>, by, site, in<double>(out_.distance));
        }
        if (out_.squared.wanted()) squares(by, site);
        if (out_.index.wanted()) {
            if (out_.index.type == dtype::int32)
                over_cells(write_index<std::int32_t, Key>, p_.g, site, in<std::int32_t>(out_.index));
            else over_cells(write_index<std::int64_t, Key>, p_.g, site, in<std::int64_t>(out_.index));
        }
        for (int axis = 0; axis < p_.g.rank && out_.coordinates.wanted(); ++axis) {
            strided<std::int32_t> to = in<std::int32_t>(out_.coordinates);
            to.data += axis * out_.coordinates.stride[0];
            over_cells(write_coordinate<Key>, p_.g, 3 - p_.g.rank + axis, site, to);
        }
        if (!out_.label.wanted()) return;
        with_bits(image_.type, [&]<class Bits>(Bits, Bits) {
            over_cells(write_label<Bits, Key>, p_.g, site, in<const Bits>(image_), in<Bits>(out_.label));
        });
    }

private:
    template <class T, class Element>
    strided<T> in(const any_view<Element, device>& v) const {
        return strided<T>::of(v, p_.g.rank);
    }
    template <class... Parameters, class... Arguments>
    void over_cells(void (*kernel)(Parameters...), const Arguments&... arguments) const {
        cuda::launch(on_, kernel, (p_.g.cells() + threads - 1) / threads, dim3(threads), 0, arguments...);
    }
    void squares(const ruler<V, Key>& by, const Key* site) const {
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
