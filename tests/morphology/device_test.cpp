// Erosion, dilation, opening and closing on a GPU, plain and recorded as a graph.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "morphology/cases.hpp"

namespace nearfield::test {
namespace {

class MorphologyDevice : public device_test {};

std::vector<std::uint64_t> on_device(operation what, const morphology_case& c, bool graph) {
    static const stream on;
    const dtype to = c.labels ? c.type : c.bits;
    const std::vector<std::byte> image = packed(c.value, c.type);
    std::vector<std::byte> answer(c.value.size() * static_cast<std::size_t>(size_of(to)));
    const device_memory in(image.size() + 1), out(answer.size() + 1);
    const auto start = [&] {
        run_on<device>(what, device(on.get()), any_input<device>::contiguous(in.data(), c.type, c.shape), c.radius,
                       any_output<device>::contiguous(out.data(), to, c.shape), c.options());
    };
    const auto upload = [&] {
        expect_cuda(cudaMemcpyAsync(in.data(), image.data(), image.size(), cudaMemcpyHostToDevice, on.get()), "upload");
        expect_cuda(cudaMemsetAsync(out.data(), 0x5a, out.bytes(), on.get()), "memset");
    };
    if (graph) {
        const recorded work(start, on);
        upload();
        work.replay();
    } else {
        upload();
        start();
    }
    expect_cuda(cudaMemcpyAsync(answer.data(), out.data(), answer.size(), cudaMemcpyDeviceToHost, on.get()),
                "download");
    on.wait();
    return unpacked(answer, to);
}

TEST_F(MorphologyDevice, EveryCellAgainstEveryCell) {
    check_morphology([](operation what, const morphology_case& c) { return on_device(what, c, false); }, 0, 150);
}

TEST_F(MorphologyDevice, RecordedAsAGraph) {
    check_morphology([](operation what, const morphology_case& c) { return on_device(what, c, true); }, 300, 330);
}

/// Images larger than a tile equal the host's results.
TEST_F(MorphologyDevice, LargerImagesAreTheHosts) {
    for (const bool labels : {false, true})
        for (const shape_t& shape : {shape_t{300, 700}, shape_t{33, 130, 70}}) {
            morphology_case c;
            c.shape = shape, c.labels = labels, c.type = labels ? dtype::int32 : dtype::uint8, c.radius = 4.5;
            for (std::int64_t i = 0; i < cells_of(shape); ++i)
                c.value.push_back(
                    mix(static_cast<std::uint64_t>(i / 9)) % 4 == 0 ? 0 : 1 + (i / 40 % 5) * (labels ? 1 : 0));
            for (const operation what : operations) {
                std::vector<std::byte> image = packed(c.value, c.type);
                const dtype to = labels ? c.type : c.bits;
                std::vector<std::byte> answer(c.value.size() * static_cast<std::size_t>(size_of(to)));
                run_on<host>(what, host{}, any_input<host>::contiguous(image.data(), c.type, shape), c.radius,
                             any_output<host>::contiguous(answer.data(), to, shape), c.options());
                EXPECT_EQ(on_device(what, c, false), unpacked(answer, to)) << c.text(what);
            }
        }
}

}  // namespace
}  // namespace nearfield::test
