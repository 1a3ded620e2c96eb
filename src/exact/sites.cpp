#include "exact/sites.hpp"

namespace nearfield {
namespace {

/// Marks the sites of a line. Elements are read as unsigned integers; shifting out the sign bit makes -0.0 zero.
template <class Bits, bool Float>
void read_line(const void* first, std::int64_t stride, std::int64_t count, bool zero_is_site, std::uint8_t* site) {
    const Bits* element = static_cast<const Bits*>(first);
    const auto is_site = [zero_is_site](Bits bits) {
        const Bits magnitude = Float ? static_cast<Bits>(bits << 1) : bits;
        return static_cast<std::uint8_t>((magnitude == 0) == zero_is_site);
    };
    if (stride == 1) {
        for (std::int64_t i = 0; i < count; ++i) site[i] = is_site(element[i]);
    } else {
        for (std::int64_t i = 0; i < count; ++i) site[i] = is_site(element[i * stride]);
    }
}

}  // namespace

void read_sites(const void* first, dtype type, std::int64_t stride, std::int64_t count, sites rule,
                std::uint8_t* site) {
    const bool zero = rule == sites::zero;
    switch (type) {
        case dtype::boolean:
        case dtype::int8:
        case dtype::uint8: return read_line<std::uint8_t, false>(first, stride, count, zero, site);
        case dtype::int16:
        case dtype::uint16: return read_line<std::uint16_t, false>(first, stride, count, zero, site);
        case dtype::float16: return read_line<std::uint16_t, true>(first, stride, count, zero, site);
        case dtype::int32:
        case dtype::uint32: return read_line<std::uint32_t, false>(first, stride, count, zero, site);
        case dtype::float32: return read_line<std::uint32_t, true>(first, stride, count, zero, site);
        case dtype::int64:
        case dtype::uint64: return read_line<std::uint64_t, false>(first, stride, count, zero, site);
        case dtype::float64: return read_line<std::uint64_t, true>(first, stride, count, zero, site);
    }
}

}  // namespace nearfield
