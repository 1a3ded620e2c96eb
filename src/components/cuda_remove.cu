// Calls on a device that label an image of their own: remove_small() and count_components().
#include <vector>

#include "base/lines.hpp"
#include "components/background.hpp"
#include "components/cuda_common.cuh"
#include "components/engine.hpp"

namespace nearfield::components {
namespace {

struct elements {
    std::int64_t size[max_rank], from_step[max_rank], to_step[max_rank], channels;
    int rank;
    bool dense;
};

/// A thread copies an element whose cell has a label, and puts the background where there is none.
template <class Bits>
__global__ void __launch_bounds__(threads_of_block)
    copy_labelled(const elements e, std::int64_t count, const void* labels, bool narrow, const Bits* from, Bits* to,
                  Bits background) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= count) return;
    const std::int64_t cell = e.channels == 1 ? i : quotient(i, e.channels);
    const bool kept = narrow ? static_cast<const std::int32_t*>(labels)[cell] != 0
                             : static_cast<const std::int64_t*>(labels)[cell] != 0;
    const std::int64_t at = e.dense ? i : offset_of(i, e.size, e.to_step, e.rank);
    to[at] = kept ? from[e.dense ? i : offset_of(i, e.size, e.from_step, e.rank)] : background;
}

}  // namespace

void keep_labelled(const device& on, const any_input<device>& image, const any_output<device>& out,
                   const label_options& options) {
    const cuda::device_guard guard(on);
    const dtype type = label_type(image.shape.data(), image.rank, options);
    const int axes = image.rank - (options.channels ? 1 : 0);
    const std::span<const std::int64_t> shape(image.shape.data(), static_cast<std::size_t>(axes));
    cuda::workspace memory(on);
    const auto labels_at = memory.reserve<std::byte>(cells_between(shape.data(), 0, axes) * size_of(type));
    memory.allocate();
    void* const labels = memory.get<std::byte>(labels_at);
    label<device>(on, image, any_output<device>::contiguous(labels, type, shape), options);

    elements e{};
    e.rank = image.rank, e.channels = options.channels ? image.shape[static_cast<std::size_t>(axes)] : 1;
    for (int axis = 0; axis < image.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        e.size[k] = image.shape[k], e.from_step[k] = image.stride[k], e.to_step[k] = out.stride[k];
    }
    e.dense = is_contiguous(e.size, e.from_step, e.rank) && is_contiguous(e.size, e.to_step, e.rank);
    with_bits_of(image.type, options, [&]<class Bits>(Bits background) {
        cuda::launch(on, copy_labelled<Bits>, blocks_for(image.cells(), threads_of_block), dim3(threads_of_block), 0, e,
                     image.cells(), labels, type == dtype::int32, static_cast<const Bits*>(image.data),
                     static_cast<Bits*>(out.data), background);
    });
}

std::int64_t count_of(const device& on, const any_input<device>& image, const label_options& options) {
    const cuda::device_guard guard(on);
    const std::int64_t images = images_of(image, options);
    cuda::workspace memory(on);
    const auto counts_at = memory.reserve<std::int64_t>(images);
    memory.allocate();
    label_fields<device> wanted;
    wanted.count = any_output<device>::contiguous(static_cast<void*>(memory.get<std::int64_t>(counts_at)), dtype::int64,
                                                  std::initializer_list<std::int64_t>{images});
    label(on, image, wanted, options);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(images));
    if (images > 0)
        cuda::check(cudaMemcpyAsync(counts.data(), wanted.count.data, counts.size() * sizeof(std::int64_t),
                                    cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                    "fetching the number of components");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "counting components");
    std::int64_t sum = 0;
    for (const std::int64_t each : counts) sum += each;
    return sum;
}

}  // namespace nearfield::components
