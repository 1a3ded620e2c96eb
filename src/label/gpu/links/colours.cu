#include "label/gpu/links/start.cuh"

namespace nearfield::labelling {

void start_colour_links(const device_call<narrow_id>& call, const link_job& job) {
    switch (call.image.type) {
        case dtype::uint8: return choose_links<std::uint8_t, 4>(call, job);
        case dtype::uint16: return choose_links<std::uint16_t, 4>(call, job);
        case dtype::float32: return choose_links<float, 4>(call, job);
        default: return choose_links<double, 4>(call, job);
    }
}

}  // namespace nearfield::labelling
