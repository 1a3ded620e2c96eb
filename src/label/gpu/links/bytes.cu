#include "label/gpu/links/bytes.cuh"

#include "label/gpu/links/find.hpp"

namespace nearfield::labelling {
namespace {

template <class T>
byte_source source_of(const device_call<narrow_id>& call) {
    const auto decide = rule_of_numbers<std::uint8_t>(make_rule<T>(call.p.options));
    constexpr std::uint32_t any = std::numeric_limits<std::uint8_t>::max();  // all foreground cells are connected
    return {static_cast<const std::uint8_t*>(call.image.data), decide.has_background, decide.background,
            static_cast<std::uint8_t>(statistics::natural_zero<T>),
            decide.kind == criterion::within && decide.tolerance < any ? static_cast<std::uint32_t>(decide.tolerance)
                                                                       : any};
}

}  // namespace

void start_byte_links(const device_call<narrow_id>& call, const link_job& job) {
    const byte_source from =
        call.image.type == dtype::int8 ? source_of<std::int8_t>(call) : source_of<std::uint8_t>(call);
    const auto strips = byte_strips::make(call.grid);
    const auto start = [&](auto kernel) {
        cuda::launch_overlapped(call.on, kernel, strips.blocks(call.grid), byte_strips::threads, 0, call.grid, from,
                                strips, job.kinds, job.order, job.links);
    };
    const bool deep = call.p.rank > 2;
    if (call.p.options.criterion == criterion::equal)
        start(deep ? find_byte_links<true, unequal_words> : find_byte_links<false, unequal_words>);
    else start(deep ? find_byte_links<true, distant_words> : find_byte_links<false, distant_words>);
}

}  // namespace nearfield::labelling
