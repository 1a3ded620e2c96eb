#include "label/gpu/links/start.cuh"

namespace nearfield::labelling {

void start_value_links(const device_call<narrow_id>& call, const link_job& job) {
    switch (call.image.type) {
        case dtype::int8: return choose_links<std::int8_t, 1>(call, job);
        case dtype::int16: return choose_links<std::int16_t, 1>(call, job);
        case dtype::uint16: return choose_links<std::uint16_t, 1>(call, job);
        case dtype::int32: return choose_links<std::int32_t, 1>(call, job);
        case dtype::uint32: return choose_links<std::uint32_t, 1>(call, job);
        case dtype::int64: return choose_links<std::int64_t, 1>(call, job);
        case dtype::uint64: return choose_links<std::uint64_t, 1>(call, job);
        case dtype::float32: return choose_links<float, 1>(call, job);
        case dtype::float64: return choose_links<double, 1>(call, job);
        default: return choose_links<std::uint8_t, 1>(call, job);
    }
}

}  // namespace nearfield::labelling
