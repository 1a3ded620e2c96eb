#include "label/gpu/links/given.cuh"

#include "label/gpu/links/find.hpp"

namespace nearfield::labelling {
namespace {

template <bool Deep, bool Slanted>
void start(const device_call<narrow_id>& call, const link_job& job) {
    using walk = graph_walk<Deep, Slanted>;
    using element = typename walk::element;
    typename walk::source from{static_cast<const element*>(call.image.data), call.strides_of(call.image)};
    // Only the lowest bytes of wider elements are read.
    const std::int64_t wider = size_of(call.image.type) / static_cast<std::int64_t>(sizeof(element));
    for (std::int64_t& each : from.at.along) each *= wider;
    for (int axis = 0; axis < from.at.batch_axes; ++axis) from.at.image_stride[axis] *= wider;
    const auto strips = link_strips::make(call.grid);
    cuda::launch_overlapped(call.on, find_links<Deep, walk>, cuda::blocks_for(strips.count(call.grid), walk::warps),
                            walk::warps * cuda::warp, 0, call.grid, from, strips, job.kinds, job.order, job.links);
}

}  // namespace

void start_graph_links(const device_call<narrow_id>& call, const link_job& job) {
    const bool deep = call.p.rank > 2, slanted = call.p.changes > 1;
    if (deep && slanted) start<true, true>(call, job);
    else if (deep) start<true, false>(call, job);
    else if (slanted) start<false, true>(call, job);
    else start<false, false>(call, job);
}

}  // namespace nearfield::labelling
