// A call on the host: turns the image into packed sites, runs the method, and turns packed sites into fields.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "methods/problem.hpp"

namespace nearfield::methods {
namespace {

constexpr std::int64_t cells_a_task = 1 << 15;

class host_stages final : public stages {
public:
    explicit host_stages(method_report& report) : report_(report) {}
    void done(std::string name, std::int64_t rounds, std::int64_t bytes) override {
        const auto now = std::chrono::steady_clock::now();
        report_.stages.push_back({std::move(name), std::chrono::duration<double>(now - last_).count(), rounds, bytes});
        last_ = now;
    }

private:
    method_report& report_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// A row along the last axis of a caller's array.
template <class T>
struct row_of {
    T* first;
    std::int64_t step;

    template <class Element>
    row_of(const any_view<Element, host>& v, int rank, std::int64_t row, std::int64_t plane = 0) {
        const std::int64_t *size = v.shape.data() + v.rank - rank, *stride = v.stride.data() + v.rank - rank;
        step = stride[rank - 1];
        first = static_cast<T*>(v.data) + (rank == 1 ? 0 : offset_of(row, size, stride, rank - 1)) + plane;
    }
    T& operator[](std::int64_t x) const { return first[x * step]; }
};

template <class V, class Key>
class ends {
public:
    ends(const host& on, const problem& p, const any_input<host>& image, const fields<host>& out)
        : p_(p), image_(image), out_(out), m_(metric_of<V>(p.g)), at_end_{on.threads, {}}, crew_(at_end_, 1) {
        if (on.progress) at_end_.progress = [this, &on](double) { return on.progress(share_); };
    }

    void read(Key* site) {
        with_bits(image_.type, [&]<class Bits>(Bits, Bits keep) {
            each_row([&](std::int64_t row, std::int32_t z, std::int32_t y) {
                const row_of<const Bits> from(image_, p_.g.rank, row);
                Key* const to = site + row * width();
                for (std::int64_t x = 0; x < width(); ++x) {
                    const bool zero = (from[x] & keep) == 0;
                    to[x] = zero == p_.zero_is_site ? p_.g.keys.template pack<Key>(z, y, x) : none<Key>;
                }
            });
        });
    }

    /// Writes the fields. `price`: the distances if they are not those to the sites; else null.
    void write(Key* site, const std::int32_t* price) {
        share_ = 1;
        each_row([&](std::int64_t row, std::int32_t z, std::int32_t y) {
            Key* const from = site + row * width();
            const std::int32_t* const costs = price == nullptr ? nullptr : price + row * width();
            if (p_.limit < std::numeric_limits<double>::infinity()) forget_far(from, costs, z, y);
            write_distances(from, costs, row, z, y);
            write_sites(from, row);
        });
    }

private:
    [[nodiscard]] std::int64_t width() const { return p_.g.size[2]; }

    template <class Body>
    void each_row(const Body& body) {
        const std::int64_t ny = p_.g.size[1];
        crew_.for_each(p_.g.size[0] * ny, std::max<std::int64_t>(1, cells_a_task / width()), width(),
                       [&](std::int64_t first, std::int64_t last, int) {
                           for (std::int64_t row = first; row < last; ++row)
                               body(row, static_cast<std::int32_t>(row / ny), static_cast<std::int32_t>(row % ny));
                       });
    }

    [[nodiscard]] double distance(Key site, const std::int32_t* costs, std::int32_t z, std::int32_t y,
                                  std::int64_t x) const {
        if (site < 0) return std::numeric_limits<double>::infinity();
        if (costs != nullptr) return distance_of(costs[x], p_.first_weight);
        return distance_of(m_.between(site, z, y, static_cast<std::int32_t>(x)));
    }

    void forget_far(Key* site, const std::int32_t* costs, std::int32_t z, std::int32_t y) const {
        for (std::int64_t x = 0; x < width(); ++x)
            if (distance(site[x], costs, z, y, x) > p_.limit) site[x] = none<Key>;
    }

    template <class T, class Value>
    void put(const any_output<host>& to, std::int64_t row, const Value& value) const {
        const row_of<T> cells(to, p_.g.rank, row);
        for (std::int64_t x = 0; x < width(); ++x) cells[x] = static_cast<T>(value(x));
    }
    template <class T, class Value>
    void put_integers(const any_output<host>& to, std::int64_t row, const Value& value) const {
        put<T>(to, row, [&](std::int64_t x) { return value(x, std::numeric_limits<T>::max()); });
    }

    void write_distances(const Key* site, const std::int32_t* costs, std::int64_t row, std::int32_t z,
                         std::int32_t y) const {
        const auto in_double = [&](std::int64_t x) { return distance(site[x], costs, z, y, x); };
        const auto squared = [&]<class T>(std::int64_t x, T without) {
            return site[x] < 0 ? without : static_cast<T>(m_.between(site[x], z, y, static_cast<std::int32_t>(x)));
        };
        if (out_.distance.wanted()) {
            if (out_.distance.type == dtype::float32) put<float>(out_.distance, row, in_double);
            else put<double>(out_.distance, row, in_double);
        }
        if (!out_.squared.wanted()) return;
        if (out_.squared.type == dtype::uint32) put_integers<std::uint32_t>(out_.squared, row, squared);
        else if (out_.squared.type == dtype::uint64) put_integers<std::uint64_t>(out_.squared, row, squared);
        else
            put<double>(out_.squared, row,
                        [&](std::int64_t x) { return squared(x, std::numeric_limits<double>::infinity()); });
    }

    [[nodiscard]] std::int64_t index(Key site) const {
        const packing& k = p_.g.keys;
        return (k.coordinate(site, 0) * p_.g.size[1] + k.coordinate(site, 1)) * p_.g.size[2] + k.coordinate(site, 2);
    }

    void write_sites(const Key* site, std::int64_t row) const {
        const auto linear = [&](std::int64_t x) { return site[x] < 0 ? std::int64_t{-1} : index(site[x]); };
        if (out_.index.wanted()) {
            if (out_.index.type == dtype::int32) put<std::int32_t>(out_.index, row, linear);
            else put<std::int64_t>(out_.index, row, linear);
        }
        for (int axis = 0; axis < p_.g.rank && out_.coordinates.wanted(); ++axis) {
            const row_of<std::int32_t> to(out_.coordinates, p_.g.rank, row, axis * out_.coordinates.stride[0]);
            for (std::int64_t x = 0; x < width(); ++x)
                to[x] = site[x] < 0 ? -1 : p_.g.keys.coordinate(site[x], 3 - p_.g.rank + axis);
        }
        if (!out_.label.wanted()) return;
        with_bits(image_.type, [&]<class Bits>(Bits, Bits) {
            const auto* const values = static_cast<const Bits*>(image_.data);
            const row_of<Bits> to(out_.label, p_.g.rank, row);
            for (std::int64_t x = 0; x < width(); ++x) {
                const std::int64_t from = site[x] < 0 ? -1 : index(site[x]);
                to[x] =
                    from < 0 ? Bits{} : values[offset_of(from, image_.shape.data(), image_.stride.data(), p_.g.rank)];
            }
        });
    }

    const problem& p_;
    const any_input<host>& image_;
    const fields<host>& out_;
    const metric<V> m_;
    // The method's room reports progress: the share is 0 while the image is read, and 1 while fields are written.
    double share_ = 0;
    host at_end_;
    workers crew_;
};

}  // namespace

void run(const host& on, const method& by, const problem& p, const any_input<host>& image, const fields<host>& out,
         method_report& report) {
    host_stages clock(report);
    with_types(p.g, [&]<class V, class Key>(const metric<V>&, Key) {
        const bool priced = std::holds_alternative<chamfer_method>(by);
        const host_scratch<Key> now(p.g.cells()), spare(p.g.cells());
        const host_scratch<std::int32_t> price(priced ? p.g.cells() : 0);
        buffers site{now.get(), spare.get()};
        ends<V, Key> both(on, p, image, out);
        both.read(now.get());
        const std::int64_t key_bytes = p.g.cells() * p.g.key_bytes();
        clock.done("initialise", 1, p.g.cells() * size_of(image.type) + key_bytes);
        solve_by(on, p, by, site, price.get(), clock);
        both.write(site.in<Key>(), price.get());
        clock.done("fields", 1, key_bytes + bytes_of_arrays(image, out) - p.g.cells() * size_of(image.type));
    });
}

void run_exact(const host& on, const any_input<host>& image, const fields<host>& out, const distance_options& options,
               method_report& report) {
    host_stages clock(report);
    distance_transform(on, image, out, options);
    clock.done("exact", 1, bytes_of_arrays(image, out));
}

}  // namespace nearfield::methods
