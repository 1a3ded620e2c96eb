#include "exact/cuda_whole.hpp"

#include <algorithm>

#include "exact/cuda_whole_image.cuh"
#include "exact/cuda_whole_volume.cuh"

namespace nearfield::exact {
namespace {

template <bool Sites, bool Fields>
void launch_whole(const device& on, const whole_call& c, bool volume) {
    const auto start = [&](const auto& kernel, int threads, std::size_t shared) {
        cuda::launch<cuda::order::overlapped>(on, kernel,
                                              cuda::grid{c.images * c.clusters * whole_blocks,
                                                         dim3(static_cast<unsigned>(threads)), shared, whole_blocks},
                                              c);
    };
    if (volume) start(search_volume<Sites, Fields>, volume_words<Sites>::threads, sizeof(volume_memory<Sites>));
    else start(search_image<Sites, Fields>, image_threads, sizeof(image_memory));
}

}  // namespace

void search_whole(const device& on, const plan& p, const std::uint8_t* image, bool zero_is_site, const outputs& out) {
    const auto size = [&](int axis) {
        return axis < p.first_axis ? 1 : static_cast<int>(p.size[static_cast<std::size_t>(axis)]);
    };
    whole_call c;
    c.data = image, c.zero_is_site = zero_is_site;
    c.depth = size(p.rank - 3), c.height = size(p.rank - 2), c.width = size(p.rank - 1);
    c.images = p.cells / c.image_cells();
    c.clusters = static_cast<int>(whole_clusters(p));
    c.rank = p.rank;
    c.limit = std::min(last_value<std::int32_t>(), plan::bound<std::int32_t>(p.limit));
    c.out = out;
    const bool volume = p.rank - p.first_axis == 3;
    if (p.sites_wanted) {
        const bool only_index32 = out.index32 && !out.index && !out.coordinates && !out.distance32 && !out.distance64 &&
                                  !out.squared32 && !out.squared64 && !out.squared_float;
        if (only_index32) launch_whole<true, false>(on, c, volume);
        else launch_whole<true, true>(on, c, volume);
    } else if (out.only_distance32 && out.unit2 == 1) {
        launch_whole<false, false>(on, c, volume);
    } else {
        launch_whole<false, true>(on, c, volume);
    }
}

}  // namespace nearfield::exact
