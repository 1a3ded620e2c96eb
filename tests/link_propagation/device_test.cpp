// Label propagation on a device: the host's cases, the host's rounds, and a short walk for compute-sanitizer.
#include <gtest/gtest.h>

#include <cstring>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "link_propagation/call.hpp"

namespace nearfield::test {
namespace {

/// Copies the bytes of `from`, including guards, to the device.
device_memory uploaded(const guarded& from, const stream& on) {
    device_memory to(from.bytes().size());
    if (to.bytes() > 0)
        expect_cuda(cudaMemcpyAsync(to.data(), from.bytes().data(), to.bytes(), cudaMemcpyHostToDevice, on.get()),
                    "upload");
    return to;
}
void download(const device_memory& from, guarded& to, const stream& on) {
    if (from.bytes() > 0)
        expect_cuda(cudaMemcpyAsync(to.bytes().data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, on.get()),
                    "download");
    on.wait();
}

propagation_report propagate_on_device(label_call& c, const propagation_options& how) {
    const stream on;
    const device_memory image = uploaded(c.image, on), label = uploaded(c.label, on);
    propagation_report report;
    try {
        report = label_by_propagation(device{on.get()}, c.image.view_of<device>(static_cast<const void*>(image.data())),
                                      c.label.view_of<device>(label.data()), c.options, how);
    } catch (...) {
        download(label, c.label, on);
        throw;
    }
    download(image, c.image, on);
    download(label, c.label, on);
    std::memcpy(c.count.element(0), &report.components, sizeof report.components);
    return report;
}

class LinkPropagationDevice : public device_test {};

TEST_F(LinkPropagationDevice, EveryFigureOnEveryShape) { walk_figures(propagate_on_device, 3); }
TEST_F(LinkPropagationDevice, EveryCriterionTypeAndLayout) { walk_criteria(propagate_on_device, 3); }
TEST_F(LinkPropagationDevice, RoundsAreThoseOfTheText) { walk_rounds(propagate_on_device, 24); }
TEST_F(LinkPropagationDevice, NeverUnfinishedInSilence) { walk_unfinished(propagate_on_device); }

TEST_F(LinkPropagationDevice, ShortWalkForTheSanitizer) {
    for (const int connectivity : {1, 3})
        for (const bool hooked : {false, true})
            for (const int length : {1, 5, 300}) {
                const label_call c = drawn({5, 37, 70}, make_figure(figure::percolation6, {5, 37, 70}), connectivity);
                ASSERT_EQ(check_propagation(propagate_on_device, c, {.hooked = hooked, .gather_length = length}), "");
            }
}

/// The device takes as many rounds and doublings as the host.
TEST_F(LinkPropagationDevice, RoundsAreThoseOfTheHost) {
    for (const shape_t& shape : {shape_t{300, 500}, shape_t{257, 255}, shape_t{40, 50, 130}, shape_t{20000, 3}})
        for (const figure kind : {figure::spiral, figure::percolation4, figure::giant, figure::comb, figure::grains16})
            for (const int length : {1, 64, 300}) {
                if (!chosen(static_cast<std::uint64_t>(length) + 1000 * static_cast<std::uint64_t>(kind))) continue;
                label_call c = drawn(shape, make_figure(kind, shape), 1), d = c;
                const propagation_options how{.gather_length = length};
                const propagation_report here = propagate_on_host(c, how), there = propagate_on_device(d, how);
                EXPECT_EQ(here.rounds, there.rounds) << name_of(kind) << ' ' << length;
                EXPECT_EQ(here.link_steps, there.link_steps);
                EXPECT_EQ(here.components, there.components);
                EXPECT_EQ(c.label.bytes(), d.label.bytes());
                label_call hooked = d;
                propagate_on_device(hooked, {.hooked = true, .gather_length = length});
                EXPECT_EQ(c.label.bytes(), hooked.label.bytes());
            }
}

/// Twenty runs give the same labels, though runs in place take different numbers of rounds.
TEST_F(LinkPropagationDevice, TwentyRunsAreOne) {
    const shape_t shape{300, 400};
    const label_call first = drawn(shape, make_figure(figure::percolation4, shape), 1);
    for (const bool hooked : {false, true}) {
        label_call expected = first;
        const std::int64_t rounds = propagate_on_device(expected, {.hooked = hooked}).rounds;
        for (int run = 1; run < 20; ++run) {
            label_call again = first;
            const propagation_report came = propagate_on_device(again, {.hooked = hooked});
            ASSERT_EQ(again.label.bytes(), expected.label.bytes());
            if (!hooked) {
                ASSERT_EQ(came.rounds, rounds);
            }
        }
    }
}

TEST_F(LinkPropagationDevice, HilbertCurve) {
    const label_call c = drawn({256, 256}, hilbert_curve(256), 1);
    propagation_report pulled, hooked;
    EXPECT_EQ(check_propagation(propagate_on_device, c, {}, &pulled), "");
    EXPECT_EQ(check_propagation(propagate_on_device, c, {.hooked = true}, &hooked), "");
    EXPECT_EQ(pulled.rounds, 6656);
    EXPECT_LE(hooked.rounds, 40);
}

/// The numbering has more blocks of 2^13 cells than one step of its scan takes, which is 2^10.
TEST_F(LinkPropagationDevice, ManyMasters) {
    const shape_t shape{2999, 3011};
    label_case how;
    how.shape = shape;
    label_call c(how, {.connectivity = 2});
    flags_t image(static_cast<std::size_t>(cells_of(shape)));
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = mix(i) % 5 == 0;
    c.draw(image);
    label_call d = c;
    c.how.threads = 0;
    const propagation_report here = propagate_on_host(c, {}), there = propagate_on_device(d, {});
    EXPECT_EQ(here.components, there.components);
    EXPECT_EQ(here.rounds, there.rounds);
    EXPECT_EQ(c.label.bytes(), d.label.bytes());
}

}  // namespace
}  // namespace nearfield::test
