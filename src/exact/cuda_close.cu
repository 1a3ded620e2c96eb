#include "exact/cuda_close.hpp"

#include <cmath>

#include "exact/cuda_close_habit.cuh"
#include "exact/cuda_close_search.cuh"

namespace nearfield::exact {
namespace {

/// The one field of a call, contiguous and at a multiple of 16 bytes; null where it is another one.
void* only_field(const device_call& call) {
    const plan& p = call.p;
    const auto begins = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
    if (!begins(call.image.data) || !is_contiguous(p.size.data(), p.image_stride.data(), p.rank)) return nullptr;
    const any_output<device>&distance = call.out.distance, &index = call.out.index;
    if (call.out.squared.wanted() || call.out.coordinates.wanted() || distance.wanted() == index.wanted())
        return nullptr;
    if (distance.wanted() && (distance.type != dtype::float32 || p.unit2 != 1)) return nullptr;
    const any_output<device>& field = distance.wanted() ? distance : index;
    strides stride;
    for (int axis = 0; axis < p.rank; ++axis)
        stride.of[axis] = field.stride[static_cast<std::size_t>(p.source_axis[static_cast<std::size_t>(axis)])];
    return begins(field.data) && is_contiguous(p.size.data(), stride.of, p.rank) ? field.data : nullptr;
}

/// Images of two axes that are small for as many launches as the common way takes.
bool close_fits(const plan& p) {
    constexpr std::int64_t least_length = 1040, least_rows = 256, most = 4096;
    if (p.rank - p.first_axis != 2 || std::isfinite(p.limit) || p.cells > most * most) return false;
    if (!words_fit(p) && !site_words_fit(p)) return false;
    const auto last = static_cast<std::size_t>(p.rank - 1);
    const std::int64_t length = p.size[last], rows = p.size[last - 1];
    return length >= least_length && length <= most && length % 16 == 0 && rows >= least_rows && rows <= most;
}

close_images images_of(const plan& p) {
    int ordinal = 0;
    cuda::check(cudaGetDevice(&ordinal), "finding the current device");
    const auto last = static_cast<std::size_t>(p.rank - 1);
    return {ordinal, p.cells, p.size[last], 2 * p.size[last - 1] + (p.sites_wanted ? 1 : 0)};
}

template <class Out>
void launch_close(const device_call& call, const site_bytes& image, const close_turn& turn, void* out) {
    close_call<Out> c;
    c.image = image;
    c.rows = static_cast<int>(call.p.size[static_cast<std::size_t>(call.p.rank - 2)]);
    c.tiles_x = static_cast<int>(blocks_for(c.image.length, close_columns));
    c.tiles_y = static_cast<int>(blocks_for(c.rows, close_rows));
    c.out = static_cast<Out*>(out), c.many = turn.many, c.failed = turn.failed;
    cuda::launch_overlapped(call.on, search_close<Out>, c.image.lines / c.rows * c.tiles_x * c.tiles_y,
                            dim3(close_threads), 0, c, places_of_bits);
}

}  // namespace

bool search_if_close(const device_call& call) {
    const plan& p = call.p;
    if (call.measure_only || size_of(call.image.type) != 1 || !close_fits(p)) return false;
    void* const out = only_field(call);
    if (out == nullptr) return false;
    cudaStreamCaptureStatus recording = cudaStreamCaptureStatusNone;
    cuda::check(cudaStreamIsCapturing(cuda::stream_of(call.on), &recording),
                "asking whether the stream records a graph");
    if (recording != cudaStreamCaptureStatusNone) return false;
    const close_turn turn = close_habits::all().take(images_of(p));
    site_bytes image;
    image.read(call.image.data, call.image.type);
    image.zero_is_site = call.rule == sites::zero;
    image.length = p.size[static_cast<std::size_t>(p.rank - 1)], image.lines = p.cells / image.length;
    if (!turn.close) {
        if (turn.probe.told != nullptr)
            cuda::launch_overlapped(call.on, look_at_images, look_blocks(image), dim3(look_threads), 0, image,
                                    turn.probe);
        return false;
    }
    if (call.out.distance.wanted()) launch_close<float>(call, image, turn, out);
    else if (call.out.index.type == dtype::int32) launch_close<std::int32_t>(call, image, turn, out);
    else launch_close<std::int64_t>(call, image, turn, out);
    return true;
}

bool next_is_close(const plan& p) { return close_habits::all().close(images_of(p)); }

void forget_close_images() { close_habits::all().forget(); }

}  // namespace nearfield::exact
