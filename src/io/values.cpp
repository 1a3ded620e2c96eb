// Arrays of untrusted sizes, and helpers for values and units.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/memory.hpp"
#include "io/bytes.hpp"
#include "io/formats.hpp"

namespace nearfield::io {

std::optional<std::int64_t> byte_count(dtype type, std::span<const std::int64_t> shape) {
    if (std::ranges::any_of(shape, [](std::int64_t n) { return n < 0; })) return std::nullopt;
    // A zero size makes the product zero, but strides of such a shape must not overflow either.
    std::int64_t product = size_of(type);
    for (std::int64_t n : shape)
        if (__builtin_mul_overflow(product, std::max<std::int64_t>(n, 1), &product) ||
            product > (std::int64_t{1} << 62))
            return std::nullopt;
    return std::ranges::find(shape, 0) == shape.end() ? product : 0;
}

std::string shape_text(std::span<const std::int64_t> shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

array make_array(dtype type, std::vector<std::int64_t> shape) {
    const auto bytes = byte_count(type, shape);
    if (!bytes)
        throw error(error_code::invalid_argument,
                    fmt::format("shape: got {}, expected sizes of 0 or more whose array fits into 2^62 bytes",
                                shape_text(shape)));
    constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
    const std::int64_t available = *bytes > most_unchecked_bytes ? free_memory().value_or(unknown) : unknown;
    array made;
    made.type = type;
    try {
        if (*bytes > available) throw std::bad_alloc();
        made.data.reset(new std::byte[static_cast<std::size_t>(*bytes)]);
    } catch (const std::bad_alloc&) {
        throw error(
            error_code::out_of_memory,
            fmt::format("an array of shape {} and type {} needs {}{}; use a smaller one or a machine with more memory",
                        shape_text(shape), name_of(type), bytes_text(*bytes),
                        available != unknown ? fmt::format(", free are {}", bytes_text(available)) : ""));
    }
    made.shape = std::move(shape);
    return made;
}

std::int64_t usual_max_bytes() {
    const auto available = free_memory();
    return available ? *available / 4 : std::int64_t{1} << 40;
}

array claimed_array(std::string_view name, dtype type, std::vector<std::int64_t> shape, const read_limits& limits,
                    std::optional<std::int64_t> available) {
    const auto bytes = byte_count(type, shape);
    if (!bytes) throw bad_file(name, fmt::format("claims the shape {}, which no array can have", shape_text(shape)));
    if (available && *bytes > *available)
        throw bad_file(
            name, fmt::format("claims {} of {} values ({}), but holds at most {}; the file is truncated or damaged",
                              shape_text(shape), name_of(type), bytes_text(*bytes), bytes_text(*available)));
    if (*bytes > limits.max_bytes)
        throw bad_file(name,
                       fmt::format("claims {} of {} values ({}), more than the limit of {}; if you know where it "
                                   "comes from, give a larger --max-bytes than the usual quarter of free memory",
                                   shape_text(shape), name_of(type), bytes_text(*bytes), bytes_text(limits.max_bytes)));
    return make_array(type, std::move(shape));
}

array read_array(stream& from, dtype type, std::vector<std::int64_t> shape, const read_limits& limits) {
    constexpr std::int64_t trusted = std::int64_t{1} << 26;
    const auto bytes = byte_count(type, shape);
    if (from.at_most() || !bytes || *bytes <= trusted) {
        array made = claimed_array(from.name(), type, std::move(shape), limits, from.at_most());
        from.exact(made.data.get(), static_cast<std::size_t>(made.bytes()), "the data");
        return made;
    }
    // A pipe may claim any size: the first part must arrive before the rest is allocated.
    std::vector<std::byte> first(static_cast<std::size_t>(trusted));
    from.exact(first.data(), first.size(), "the data");
    array made = claimed_array(from.name(), type, std::move(shape), limits, std::nullopt);
    std::memcpy(made.data.get(), first.data(), first.size());
    from.exact(made.data.get() + first.size(), static_cast<std::size_t>(made.bytes()) - first.size(), "the data");
    return made;
}

void swap_bytes(void* data, std::int64_t elements, std::int64_t element_size) {
    auto swap_as = [&]<class T>(T, auto swapped) {
        auto* at = static_cast<std::byte*>(data);
        for (std::int64_t i = 0; i < elements; ++i, at += sizeof(T)) {
            T value;
            std::memcpy(&value, at, sizeof(T));
            value = static_cast<T>(swapped(value));
            std::memcpy(at, &value, sizeof(T));
        }
    };
    if (element_size == 2) swap_as(std::uint16_t{}, [](std::uint16_t v) { return __builtin_bswap16(v); });
    if (element_size == 4) swap_as(std::uint32_t{}, [](std::uint32_t v) { return __builtin_bswap32(v); });
    if (element_size == 8) swap_as(std::uint64_t{}, [](std::uint64_t v) { return __builtin_bswap64(v); });
}

void normalise_booleans(array& values) {
    if (values.type != dtype::boolean) return;
    for (std::int64_t i = 0, n = values.cells(); i < n; ++i)
        values.data[static_cast<std::size_t>(i)] = std::byte{values.data[static_cast<std::size_t>(i)] != std::byte{0}};
}

array permuted(const array& from, std::span<const std::size_t> order) {
    // Trailing axes that keep their places move as one block.
    std::size_t moved = order.size();
    while (moved > 0 && order[moved - 1] == moved - 1) --moved;
    const auto product = [&](std::size_t first) {
        std::int64_t bytes = size_of(from.type);
        for (std::size_t a = first; a < from.shape.size(); ++a) bytes *= from.shape[a];
        return bytes;
    };
    std::vector<std::int64_t> shape = from.shape;
    for (std::size_t a = 0; a < moved; ++a) shape[a] = from.shape[order[a]];
    array made = make_array(from.type, shape);
    made.color = from.color, made.unit = from.unit, made.axes = from.axes, made.spacing = from.spacing;
    for (std::size_t a = 0; a < moved; ++a) {
        if (!from.axes.empty()) made.axes[a] = from.axes[order[a]];
        if (!from.spacing.empty()) made.spacing[a] = from.spacing[order[a]];
    }
    const std::int64_t block = product(moved);
    std::vector<std::int64_t> index(moved, 0);
    std::byte* to = made.data.get();
    for (const std::byte* const end = to + made.bytes(); to != end; to += block) {
        std::int64_t at = 0;
        for (std::size_t a = 0; a < moved; ++a) at += index[a] * product(order[a] + 1);
        std::memcpy(to, from.data.get() + at, static_cast<std::size_t>(block));
        for (std::size_t a = moved; a-- > 0;) {
            if (++index[a] < shape[a]) break;
            index[a] = 0;
        }
    }
    return made;
}

array with_axes(array values, std::vector<axis_kind> axes) {
    const auto is_space = [](axis_kind kind) { return kind == axis_kind::space; };
    if (std::ranges::all_of(axes, is_space)) return values;
    std::vector<std::size_t> order(axes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_partition(order, [&](std::size_t a) { return !is_space(axes[a]); });
    values.axes = std::move(axes);
    if (std::ranges::is_sorted(order) || values.cells() == 0) {
        if (!std::ranges::is_sorted(order)) values.axes.clear();
        return values;
    }
    return permuted(values, order);
}

double shortest_decimal(float value) {
    if (!std::isfinite(value)) return static_cast<double>(value);
    char text[64];
    const auto [end, code] = std::to_chars(text, text + sizeof text, value);
    double decimal = 0;
    if (code == std::errc{}) std::from_chars(text, end, decimal);
    return decimal;
}

std::vector<double> usable_spacing(std::vector<double> claimed) {
    bool any = false;
    for (double& d : claimed) {
        d = std::abs(d);
        const bool known = d > 0 && std::isfinite(d);
        any = any || known;
        if (!known) d = 1;
    }
    return any ? claimed : std::vector<double>{};
}

bool deflates(compression wanted, dtype type) {
    if (wanted != compression::automatic) return wanted == compression::deflate;
    return size_of(type) <= 2;
}

namespace {

struct unit_name {
    std::string_view name, canonical;
    double metres;
};
constexpr std::array units{unit_name{"m", "m", 1.0},
                           unit_name{"meter", "m", 1.0},
                           unit_name{"metre", "m", 1.0},
                           unit_name{"cm", "cm", 1e-2},
                           unit_name{"centimeter", "cm", 1e-2},
                           unit_name{"centimetre", "cm", 1e-2},
                           unit_name{"mm", "mm", 1e-3},
                           unit_name{"millimeter", "mm", 1e-3},
                           unit_name{"millimetre", "mm", 1e-3},
                           unit_name{"um", "um", 1e-6},
                           unit_name{"micron", "um", 1e-6},
                           unit_name{"micrometer", "um", 1e-6},
                           unit_name{"micrometre", "um", 1e-6},
                           unit_name{"\u00b5m", "um", 1e-6},
                           unit_name{"\u03bcm", "um", 1e-6},
                           unit_name{"\\u00B5m", "um", 1e-6},  // as ImageJ writes it into TIFF
                           unit_name{"nm", "nm", 1e-9},
                           unit_name{"nanometer", "nm", 1e-9},
                           unit_name{"nanometre", "nm", 1e-9},
                           unit_name{"inch", "inch", 0.0254},
                           unit_name{"in", "inch", 0.0254}};

const unit_name* find_unit(std::string_view unit) {
    for (const auto& u : units) {
        const bool plural = u.name.size() > 3 && unit.size() == u.name.size() + 1 && unit.back() == 's';
        if (unit == u.name || (plural && unit.substr(0, unit.size() - 1) == u.name)) return &u;
    }
    return nullptr;
}

}  // namespace

std::optional<double> metres_of(std::string_view unit) {
    const unit_name* found = find_unit(unit);
    return found ? std::optional(found->metres) : std::nullopt;
}

std::string canonical_unit(std::string_view unit) {
    const unit_name* found = find_unit(unit);
    if (found) return std::string(found->canonical);
    return printable(unit) == unit ? std::string(unit) : "";
}

}  // namespace nearfield::io
