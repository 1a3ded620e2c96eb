// The GPU's part of `bench_all methods`.
#include "device.hpp"
#include "methods.hpp"

namespace nearfield::bench {
namespace {

class device_subject final : public method_subject {
public:
    device_subject(const std::vector<std::uint8_t>& image, const shape_t& shape)
        : shape_(shape), image_(cells_of(shape)), index_(4 * cells_of(shape)) {
        expect(cudaMemcpyAsync(image_.get(), image.data(), image.size(), cudaMemcpyHostToDevice, timer_.stream()),
               "upload");
        timer_.wait();
    }
    method_report run(const method& by) override {
        fields<device> out;
        out.index = any_output<device>::contiguous(index_.get(), dtype::int32, shape_);
        return nearest_sites(
            by, device{timer_.stream()},
            any_input<device>::contiguous(static_cast<const void*>(image_.get()), dtype::uint8, shape_), out);
    }
    std::vector<std::int32_t> sites() override {
        std::vector<std::int32_t> index(static_cast<std::size_t>(cells_of(shape_)));
        expect(cudaMemcpyAsync(index.data(), index_.get(), 4 * index.size(), cudaMemcpyDeviceToHost, timer_.stream()),
               "download");
        timer_.wait();
        return index;
    }

    double copy_ms() override {
        const auto bytes = static_cast<std::size_t>(4 * cells_of(shape_));
        const device_memory other(4 * cells_of(shape_));
        const auto copy = [&](int) {
            expect(cudaMemcpyAsync(other.get(), index_.get(), bytes, cudaMemcpyDeviceToDevice, timer_.stream()),
                   "copying sites");
        };
        timer_.time(3, copy);  // warms up
        return median(timer_.time(21, copy));
    }

private:
    timer timer_;
    shape_t shape_;
    device_memory image_, index_;
};

}  // namespace

std::unique_ptr<method_subject> subject_on_device(const std::vector<std::uint8_t>& image, const shape_t& shape) {
    return std::make_unique<device_subject>(image, shape);
}

session method_session_on_device() {
    expect_device();
    const timer t;
    return device_session(t);
}

}  // namespace nearfield::bench
