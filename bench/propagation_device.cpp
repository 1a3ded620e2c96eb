// The GPU's part of `bench_all propagation`.
#include <cstring>
#include <memory>

#include "device.hpp"
#include "propagation.hpp"

namespace nearfield::bench {
namespace {

/// Page-locked memory of the host.
class locked_memory {
public:
    explicit locked_memory(std::size_t bytes) { expect(cudaMallocHost(&data_, bytes), "cudaMallocHost"); }
    ~locked_memory() { cudaFreeHost(data_); }
    locked_memory(const locked_memory&) = delete;
    locked_memory& operator=(const locked_memory&) = delete;
    [[nodiscard]] void* get() const { return data_; }

private:
    void* data_ = nullptr;
};

/// The image and its labels on the device, and where they come from and go to.
struct arrays {
    explicit arrays(const propagation_image& image)
        : bytes(image.values.size()),
          label_bytes(4 * static_cast<std::size_t>(cells_of(image.shape))),
          in(static_cast<std::int64_t>(bytes)),
          out(static_cast<std::int64_t>(label_bytes)),
          from(bytes),
          to(label_bytes) {
        std::memcpy(from.get(), image.values.data(), bytes);
        expect(cudaMemcpy(in.get(), from.get(), bytes, cudaMemcpyHostToDevice), "upload");
    }
    std::size_t bytes, label_bytes;
    device_memory in, out;
    locked_memory from, to;
};

class device_timer final : public propagation_timer {
public:
    explicit device_timer(const timer& t) : timer_(t) {}

    void take(const propagation_image& image) override {
        image_ = &image;
        arrays_.reset();
        arrays_ = std::make_unique<arrays>(image);
    }

    propagation_timing time(int connectivity, const propagation_options& how, bool extra) override {
        const device on{timer_.stream()};
        const void* const pixels = arrays_->in.get();
        const auto in = image_->view<device>(pixels);
        const auto out = any_output<device>::contiguous(arrays_->out.get(), dtype::int32, image_->shape);
        const label_options look = image_->look(connectivity);
        propagation_timing took;
        const auto call = [&] {
            took.report = label_by_propagation(on, in, out, look, how);
            timer_.wait();
        };
        took.ms = median(time_runs(call, 1, 11, 0.1));
        if (!extra) return took;
        const auto with_transfers = [&] {
            expect(cudaMemcpyAsync(arrays_->in.get(), arrays_->from.get(), arrays_->bytes, cudaMemcpyHostToDevice,
                                   timer_.stream()),
                   "upload");
            label_by_propagation(on, in, out, look, how);
            expect(cudaMemcpyAsync(arrays_->to.get(), arrays_->out.get(), arrays_->label_bytes, cudaMemcpyDeviceToHost,
                                   timer_.stream()),
                   "download");
            timer_.wait();
        };
        took.ms_with_transfers = median(time_runs(with_transfers, 3, 11, 0.1));
        const auto fast = [&] {
            label(on, in, out, look);
            timer_.wait();
        };
        took.label_ms = median(time_runs(fast, 3, 11, 0.1));
        return took;
    }

private:
    const timer& timer_;
    const propagation_image* image_ = nullptr;
    std::unique_ptr<arrays> arrays_;
};

}  // namespace

propagation_session measure_propagation_on_device(const propagation_request& wanted) {
    expect_device();
    const timer t;
    propagation_session s;
    s.head = device_session(t);
    device_timer by(t);
    measure_propagation(s, wanted, by);
    return s;
}

}  // namespace nearfield::bench
