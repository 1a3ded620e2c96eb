// pass_along on a GPU, against a search over all pairs of cells of a line, and against the host.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "exact/partial_fields.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

class PartialDevice : public device_test {};

/// A field on the device, which comes back when this goes.
template <class V, class S>
class on_device {
public:
    on_device(field<V, S>& of, const stream& on) : of_(of), on_(on) {
        each([&](auto& values, const device_memory& there) {
            expect_cuda(
                cudaMemcpyAsync(there.data(), values.data(), there.bytes() - 1, cudaMemcpyHostToDevice, on.get()),
                "upload");
        });
        on_.wait();
    }
    void fetch() {
        each([&](auto& values, const device_memory& there) {
            expect_cuda(
                cudaMemcpyAsync(values.data(), there.data(), there.bytes() - 1, cudaMemcpyDeviceToHost, on_.get()),
                "download");
        });
        on_.wait();
    }
    template <class Element>
    [[nodiscard]] partial_field<Element, device> view(bool sites, bool labels) const {
        return of_.template view_at<Element, device>(squared_.data(), site_.data(), label_.data(), sites, labels);
    }

private:
    template <class Each>
    void each(const Each& work) {
        work(of_.squared, squared_), work(of_.site, site_), work(of_.label, label_);
    }
    template <class T>
    static std::size_t bytes(const std::vector<T>& values) {
        return values.size() * sizeof(T) + 1;
    }
    field<V, S>& of_;
    const stream& on_;
    device_memory squared_{bytes(of_.squared)}, site_{bytes(of_.site)}, label_{bytes(of_.label)};
};

template <class V, class S>
void run(field<V, S>& from, field<V, S>& to, int axis, bool sites, bool labels, const partial_options& options) {
    static const stream on;
    const on_device<V, S> source(from, on);
    on_device<V, S> made(to, on);
    const auto& read = &from == &to ? made : source;
    pass_along(device(on.get()), read.template view<const void>(sites, labels), axis,
               made.template view<void>(sites, labels), options);
    made.fetch();
}

TEST_F(PartialDevice, EqualsTheSearchOverAllPairs) {
    expect_all_searched([](auto& from, auto& to, bool sites, bool labels, const partial_options& options) {
        run(from, to, 0, sites, labels, options);
    });
}

TEST_F(PartialDevice, HalfCellsEqualTheSearchOverAllPairs) {
    expect_all_searched([](auto& from, auto& to, bool sites, bool labels,
                           const partial_options& options) { run(from, to, 0, sites, labels, options); },
                        true);
}

/// Rows that win from far away; the last axis, whose lines are rows in memory; lines that are behind others.
TEST_F(PartialDevice, LongLinesAreTheHosts) {
    const shape_t shape{2, 300, 2, 70};
    for (const int axis : {0, 1, 2, 3})
        for (const double density : {0.0005, 0.01})
            for (const bool periodic : {false, true}) {
                auto from = random_field<std::uint32_t, std::int32_t>(shape, 9000, density, 7, axis);
                auto wanted = from, made = from;
                const partial_options options{2, periodic ? border::periodic : border::open, shape};
                pass_along(host{2, {}}, from.view<const void>(true, true), axis, wanted.view<void>(true, true),
                           options);
                run(from, made, axis, true, true, options);
                EXPECT_TRUE(made == wanted) << axis;
            }
}

TEST_F(PartialDevice, SumsBeyondTheTypeAreNoSite) {
    field<std::uint32_t, std::int32_t> from{{3}, {4294967290U, 4294967295U, 4294967295U}, {0, -1, -1}, {7, 0, 0}};
    auto made = from;
    run(from, made, 0, true, true, {2, border::open, {3}});
    EXPECT_EQ(made.squared, (std::vector<std::uint32_t>{4294967290U, 4294967294U, 4294967295U}));
    EXPECT_EQ(made.site, (std::vector<std::int32_t>{0, 0, -1}));
    EXPECT_EQ(made.label, (std::vector<std::uint16_t>{7, 7, 0}));
    expect_refused([&] { run(from, made, 0, false, false, {40000, border::open}); }, {"beyond its type"});
}

}  // namespace
}  // namespace nearfield::test
