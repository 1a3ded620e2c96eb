#include "exact/guarded.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace nearfield::test {
namespace {

std::byte pattern(std::size_t at) { return static_cast<std::byte>(0xa5 ^ (at * 7)); }

template <class T>
std::vector<std::byte> raw(std::initializer_list<T> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
}

template <class T>
std::vector<std::byte> integers() {
    using limits = std::numeric_limits<T>;
    // 1 << (bits - 8) is zero in every byte but the highest.
    return raw<T>({T{1}, static_cast<T>(-1), limits::max(), static_cast<T>(limits::min() | 2),
                   static_cast<T>(T{1} << (8 * sizeof(T) - 8)), static_cast<T>(T{1} << (8 * sizeof(T) - 2))});
}

template <class T>
std::vector<std::byte> floats() {
    using limits = std::numeric_limits<T>;
    return raw<T>({T{1}, T{-1}, limits::quiet_NaN(), -limits::quiet_NaN(), limits::infinity(), -limits::infinity(),
                   limits::denorm_min(), -limits::denorm_min(), limits::min(), limits::max()});
}

/// Nonzero values of the type, one after another.
std::vector<std::byte> not_zero(dtype type) {
    switch (type) {
        case dtype::boolean: return raw<std::uint8_t>({1});
        case dtype::int8: return integers<std::int8_t>();
        case dtype::uint8: return integers<std::uint8_t>();
        case dtype::int16: return integers<std::int16_t>();
        case dtype::uint16: return integers<std::uint16_t>();
        case dtype::int32: return integers<std::int32_t>();
        case dtype::uint32: return integers<std::uint32_t>();
        case dtype::int64: return integers<std::int64_t>();
        case dtype::uint64: return integers<std::uint64_t>();
        // 1, -2, NaN, -NaN, inf, the smallest denormal, its negative, the largest
        case dtype::float16:
            return raw<std::uint16_t>({0x3c00, 0xc000, 0x7e00, 0xfe00, 0x7c00, 0x0001, 0x8001, 0x7bff});
        case dtype::float32: return floats<float>();
        default: return floats<double>();
    }
}

std::vector<std::byte> zeros(dtype type) {
    switch (type) {
        case dtype::float16: return raw<std::uint16_t>({0, 0x8000});
        case dtype::float32: return raw<float>({0.0F, -0.0F});
        case dtype::float64: return raw<double>({0.0, -0.0});
        default: return std::vector<std::byte>(static_cast<std::size_t>(size_of(type)));
    }
}

}  // namespace

guarded::guarded(dtype type, const shape_t& shape, layout how, std::uint64_t seed) : guarded(type, shape) {
    std::vector<std::size_t> order(shape.size());  // axes from the slowest to the fastest
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (how == layout::transposed) std::reverse(order.begin(), order.end());
    if (how == layout::scrambled) {
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return mix(seed + a) < mix(seed + b); });
    }
    place(order, how, seed);
}

void guarded::place(const std::vector<std::size_t>& order, layout how, std::uint64_t seed) {
    const bool steps = how == layout::stepping || how == layout::scrambled;
    std::int64_t span = steps ? 2 + static_cast<std::int64_t>(mix(seed) % 2) : 1;
    std::int64_t backwards = 0;
    for (std::size_t k = order.size(); k-- > 0;) {
        const std::size_t axis = order[k];
        const bool negative = how == layout::reversed || (how == layout::scrambled && mix(seed + 10 + axis) % 2 == 0);
        stride_[axis] = negative ? -span : span;
        if (negative) backwards += span * std::max<std::int64_t>(shape_[axis] - 1, 0);
        span *= std::max<std::int64_t>(shape_[axis], 1);
        if (steps) span += static_cast<std::int64_t>(mix(seed + 20 + axis) % 3);
    }
    const std::int64_t zone = how == layout::tight ? 0 : 64 + static_cast<std::int64_t>(mix(seed + 30) % 17);
    first_ = zone + backwards;
    // A tight array ends with its last element; other layouts have a zone of at least 64 elements after it.
    const std::int64_t elements = how == layout::tight ? cells() : span + 2 * zone;
    bytes_.resize(static_cast<std::size_t>(elements * size_of(type_)));
    paint();
}

guarded guarded::broadcast(dtype type, const shape_t& shape, std::size_t axis) {
    shape_t memory = shape;
    memory[axis] = std::min<std::int64_t>(memory[axis], 1);
    guarded array(type, memory, layout::contiguous);
    array.shape_ = shape;
    array.stride_[axis] = 0;
    return array;
}

std::int64_t guarded::offset_of(std::int64_t i) const {
    std::int64_t offset = first_;
    for (std::size_t axis = shape_.size(); axis-- > 0; i /= shape_[axis]) offset += i % shape_[axis] * stride_[axis];
    return offset * size_of(type_);
}

std::byte* guarded::element(std::int64_t i) { return bytes_.data() + offset_of(i); }
const std::byte* guarded::element(std::int64_t i) const { return bytes_.data() + offset_of(i); }

void guarded::paint() {
    for (std::size_t at = 0; at < bytes_.size(); ++at) bytes_[at] = pattern(at);
}

std::string guarded::guards_broken() const {
    std::vector<bool> element_byte(bytes_.size(), false);
    const std::int64_t n = cells();
    for (std::int64_t i = 0; i < n; ++i) {
        const auto begin = static_cast<std::size_t>(offset_of(i));
        for (std::size_t b = 0; b < static_cast<std::size_t>(size_of(type_)); ++b) element_byte[begin + b] = true;
    }
    for (std::size_t at = 0; at < bytes_.size(); ++at) {
        if (!element_byte[at] && bytes_[at] != pattern(at)) {
            return "guard byte " + std::to_string(at) + " of " + std::to_string(bytes_.size()) + " was overwritten";
        }
    }
    return {};
}

void write_image(guarded& image, const flags_t& sites, bool nonzero) {
    const auto size = static_cast<std::size_t>(size_of(image.type()));
    const std::vector<std::byte> zero = zeros(image.type()), other = not_zero(image.type());
    for (std::size_t i = 0; i < sites.size(); ++i) {
        const std::vector<std::byte>& from = (sites[i] != 0) == nonzero ? other : zero;
        const std::size_t pick = mix(i) % (from.size() / size);
        std::memcpy(image.element(static_cast<std::int64_t>(i)), from.data() + pick * size, size);
    }
}

}  // namespace nearfield::test
